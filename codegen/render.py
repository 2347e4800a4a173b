"""Render: a context through the Jinja2 templates gives the text of every output file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from ..selective.selection import Selection
from .context import Context, build_context, template_values
from .model import Plan
from .options import REGISTRATION, Options
from .template_cache import TemplateCache

if TYPE_CHECKING:
    from ..selective.models import Model

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
"""The folder of this package's templates; each is named like its output, with ".j2" behind."""


def environment(template_dir: Path | None) -> jinja2.Environment:
    """Return the template environment; templates in `template_dir` replace the bundled ones."""
    folders = [template_dir, TEMPLATES] if template_dir is not None else [TEMPLATES]
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([str(f) for f in folders]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        bytecode_cache=TemplateCache(TEMPLATES),
    )


def output_names(options: Options) -> tuple[str, ...]:
    """Names of the files that a generation writes, sorted."""
    return tuple(sorted((*_templates(options), "selected_operators.yaml")))


def _templates(options: Options) -> dict[str, str]:
    """Output file -> the template that it is made from."""
    names = [
        "RegisterKernels.h",
        "NativeFunctions.h",
        "Functions.h",
        "selected_op_variants.h",
        "selected_max_kernel_num.h",
        "selected_prim_ops.h",
        "memory_plan.h",
        "runtime_features.h",
        "kernel_sources.txt",
    ]
    if options.pytorch:
        names += [
            "CustomOpsNativeFunctions.h",
            "RegisterCPUCustomOps.cpp",
            "RegisterCPUStub.cpp",
            "RegisterSchema.cpp",
        ]
    templates = {name: name for name in names}
    templates[options.registration_source] = REGISTRATION
    if options.aten:
        templates[options.registration_source] = "RegisterAtenKernels.cpp"
        templates["NativeFunctions.h"] = "CustomOpsNativeFunctions.h"
        templates["Functions.h"] = "AtenFunctions.h"
    return templates


def render(
    plan: Plan, selection: Selection, options: Options, models: Sequence[Model] = ()
) -> dict[str, str]:
    """Return the generated files, name -> text. Raises jinja2.TemplateError for a bad template."""
    from ..selective.memory_header import memory_table
    from ..selective.oplist import format_operator_list
    from ..selective.runtime_features import FEATURES, used_features

    context = build_context(plan, selection)
    kernels = {o.entry.name: o.entry.kernels[0].symbol for o in plan.operators}
    keyed = any(row.key for row in context.rows)
    used = used_features(models, selection, keyed_kernels=keyed)
    extra = {
        "memory": memory_table(models, kernels),
        "used_features": FEATURES if options.whole_runtime else used,
    }
    files = render_context(context, plan, options, extra)
    files["selected_operators.yaml"] = format_operator_list(selection)
    return files


def render_context(
    context: Context, plan: Plan, options: Options, extra: Mapping[str, Any]
) -> dict[str, str]:
    """Render every template of `options`; `extra` are the variables that come from the models."""
    values: dict[str, Any] = {**template_values(context, plan, options), **extra}
    templates = environment(options.template_dir)
    return {
        name: templates.get_template(f"{template}.j2").render(values)
        for name, template in _templates(options).items()
    }
