"""Parts of the runtime that can be left out: a model is refused exactly where it needs one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from gen_kernels.selective.models import Model, load_models
from gen_kernels.selective.runtime_features import FEATURES, used_features
from gen_kernels.selective.selection import Origin, SelectedOperator, Selection

from tests.support.cpp import build_runtime, run
from tests.support.models import MODELS, TREE

from .test_memory_plan import PROBE, assembly, table

PLATFORM = TREE / "platform" / "common"
OK, NOT_SUPPORTED = "0x0", "0x10"
# What these are for is seen when a method runs or a kernel is registered.
LATER = {"NUMBER_INPUTS", "PRIM_OPERATORS", "KERNEL_KEYS"}


def models() -> list[Model]:
    found, _ = load_models([str(MODELS / "*.pte"), str(TREE / "examples")])
    return list(found)


def selection(*kinds: str) -> Selection:
    origins = tuple(Origin(kind, "") for kind in kinds)
    return Selection((SelectedOperator("aten::add.out", origins=origins),))


def uses(model: Model) -> set[str]:
    return set(used_features([model], selection("model"), keyed_kernels=False))


def test_only_models_tell_what_is_needed() -> None:
    """Another selector means that other programs may come: nothing is left out then."""
    one = models()[:1]
    assert set(used_features(one, selection("model"), keyed_kernels=False)) < set(FEATURES)
    assert used_features(one, selection("model", "op"), keyed_kernels=False) == FEATURES
    assert used_features([], selection("all"), keyed_kernels=False) == FEATURES
    assert "KERNEL_KEYS" in used_features(one, selection("model"), keyed_kernels=True)


@pytest.mark.slow
@pytest.mark.parametrize("feature", sorted(set(FEATURES) - LATER))
def test_refused_without(feature: str, tmp_path: Path) -> None:
    """Every test model, with a runtime that lacks one part: NotSupported if it needs that part."""
    found = models()
    needs = {Path(m.display).name for m in found if feature in uses(m)}
    runtime = build_runtime(tmp_path, "-O1", f"-DGEN_KERNELS_WITH_{feature}=0")
    (tmp_path / "models.S").write_text(assembly(found))
    (tmp_path / "table.h").write_text(table(found, 8))
    include = [f"-I{tmp_path}", f"-I{TREE / 'runtime' / 'include'}", f"-I{PLATFORM}"]
    command = ["c++", "-std=c++17", "-O1", *include, str(PROBE), str(tmp_path / "models.S")]
    command += [str(PLATFORM / "host.cpp"), str(runtime), "-o", str(tmp_path / "probe")]
    done = run(command)
    assert done.returncode == 0, done.stderr
    lines = subprocess.run(
        [str(tmp_path / "probe")], check=True, capture_output=True, text=True, timeout=300
    ).stdout.splitlines()
    got = [line.split()[1:] for line in lines if line[:1].isdigit()]
    methods = [(Path(m.display).name, method.name) for m in found for method in m.program.methods]
    refused = set()
    for (name, _), words in zip(methods, got, strict=True):
        # "program 0x10" when already the program is refused
        error = words[1] if words[0] == "program" else words[0]
        assert error in (OK, NOT_SUPPORTED), (name, words)
        if error == NOT_SUPPORTED:
            refused.add(name)
    assert refused == needs
    assert feature == "INLINE_CONSTANTS" or needs
