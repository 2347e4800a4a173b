"""Plan -> context: every name, type and number that the templates print, computed here."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from ..selective.kernel_key import SCALAR_TYPES
from ..selective.selection import Selection
from .cpp import (
    Conversion,
    argument_conversion,
    cpp_identifier,
    parameter_names,
    return_type,
    split_symbol,
)
from .model import KernelSpec, Plan
from .options import Options
from .schema import Schema

PRIM_CONDITION = "defined(GEN_KERNELS_RUNTIME)"
"""Rows of prim operators stand under it: ExecuTorch's own runtime has its own."""

RUNTIME_PRIM_KERNELS = 28
"""Prim operators that ExecuTorch's own runtime registers, besides ours (1.5.1)."""

_FLOAT = 6
_COMPUTED_IN_FLOAT = frozenset({5, 15})


class Signature(NamedTuple):
    """A C++ signature that kernels share.

    `parameters` come behind the context. `kinds` are the conversions' names. `logged`: how many
    arguments at the end are outputs that the event tracer logs, 0: the return slot. `boxes`: the
    result goes into the return slot (out variants have it there already).
    """

    returns: str
    parameters: tuple[str, ...]
    kinds: tuple[str, ...]
    logged: int
    boxes: bool

    @property
    def function(self) -> str:
        """The C++ function type without the context parameter."""
        return f"{self.returns}({', '.join(self.parameters)})"


class Function(NamedTuple):
    """One kernel of one operator. `number` is that of its boxed function."""

    number: int
    operator: str
    symbol: str
    schema: Schema
    signature: int

    @property
    def scope(self) -> str:
        """Name of the profiling scope, as ExecuTorch's generator spells it."""
        return "native_call_" + self.operator.partition("::")[2]


class Row(NamedTuple):
    """A row of the registration table; `key` is "" for the fallback."""

    operator: str
    key: str
    function: str
    prim: bool

    @property
    def text(self) -> str:
        """The row as C++."""
        key = f'"{self.key}", ' if self.key else ""
        return f'Kernel("{self.operator}", {key}{self.function})'


class RowGroup(NamedTuple):
    """Rows one behind the other under the same preprocessor condition ("": always there)."""

    condition: str
    rows: tuple[Row, ...]


class Declaration(NamedTuple):
    """A kernel as NativeFunctions.h declares it."""

    operators: tuple[str, ...]
    name: str
    returns: str
    parameters: tuple[str, ...]


class Namespace(NamedTuple):
    """Declarations of one C++ namespace."""

    name: str
    declarations: tuple[Declaration, ...]


class DirectCall(NamedTuple):
    """A function of Functions.h. `name` is the typed API's, `symbol` the kernel it calls."""

    schema: str
    name: str
    returns: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    symbol: str


class Variants(NamedTuple):
    """One operator of selected_op_variants.h; no `dtypes`: all of them."""

    name: str
    dtypes: tuple[str, ...]

    @property
    def condition(self) -> str:
        """C++ condition on `scalar_type`; "" when every type is included."""
        return " || ".join(f"scalar_type == Type::{t}" for t in self.dtypes)


class Context(NamedTuple):
    """What the templates print."""

    library: str
    direct_calls: dict[str, tuple[DirectCall, ...]]
    conversions: tuple[Conversion, ...] = ()
    signatures: tuple[Signature, ...] = ()
    functions: tuple[Function, ...] = ()
    rows: tuple[Row, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    prim_namespaces: tuple[Namespace, ...] = ()
    variants: tuple[Variants, ...] = ()
    include_all: bool = False

    @property
    def kernel_count(self) -> int:
        """Rows that ExecuTorch's own runtime sees."""
        return sum(not r.prim for r in self.rows)

    @property
    def registry_size(self) -> int:
        """Rows in the registry of ExecuTorch's own runtime, its prim operators included."""
        return self.kernel_count + RUNTIME_PRIM_KERNELS


def build_context(plan: Plan, selection: Selection) -> Context:
    """Compute the context of a plan that resolve has checked."""
    signatures: dict[Signature, int] = {}
    conversions: dict[str, Conversion] = {}
    functions: list[Function] = []
    rows: list[Row] = []
    prims: dict[str, list[Declaration]] = {}
    for planned in plan.operators:
        entry = planned.entry
        if entry.manual_registration:
            continue
        for kernel in entry.kernels:
            if entry.boxed:
                rows.append(Row(entry.name, "", f"::{kernel.symbol}", prim=True))
                namespace, name = split_symbol(kernel.symbol)
                prims.setdefault(namespace, []).append(Declaration((entry.name,), name, "", ()))
                continue
            converted = _conversions(entry.schema)
            conversions.update((c.name, c) for c in converted)
            signature = signatures.setdefault(_signature(entry.schema, converted), len(signatures))
            function = Function(len(functions), entry.name, kernel.symbol, entry.schema, signature)
            functions.append(function)
            rows.extend(
                Row(entry.name, key, f"boxed<{function.number}>", prim=False)
                for key in kernel.keys or ("",)
            )
    compiled = {o.entry.name: o.selected.dtypes for o in plan.operators if not o.entry.boxed}
    # Not registered, but kernels of others ask for their dtypes.
    compiled.update((o.name, o.dtypes) for o in selection.operators if not o.root)
    return Context(
        library=plan.library,
        conversions=tuple(conversions[name] for name in sorted(conversions)),
        signatures=tuple(signatures),
        functions=tuple(functions),
        rows=tuple(sorted(rows, key=lambda r: (r.operator, r.key))),
        namespaces=_declarations(functions, tuple(signatures)),
        prim_namespaces=tuple(
            Namespace(name, tuple(declared)) for name, declared in sorted(prims.items())
        ),
        direct_calls=_direct_calls(plan),
        variants=tuple(_variants(name, dtypes) for name, dtypes in sorted(compiled.items())),
        include_all=selection.include_all,
    )


def _conversions(schema: Schema) -> tuple[Conversion, ...]:
    return tuple(c for a in schema.arguments if (c := argument_conversion(a)) is not None)


def _signature(schema: Schema, converted: Iterable[Conversion]) -> Signature:
    conversions = tuple(converted)
    return Signature(
        returns=return_type(schema) or "void",
        parameters=tuple(c.parameter for c in conversions),
        kinds=tuple(c.name for c in conversions),
        logged=len(schema.out),
        boxes=bool(schema.returns) and not schema.out,
    )


def _declare(names: Iterable[str], types: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{t} {n}" for t, n in zip(types, names, strict=True))


def _declarations(
    functions: Iterable[Function], signatures: tuple[Signature, ...]
) -> tuple[Namespace, ...]:
    """Declare each kernel once, whatever the number of operators that it serves."""
    namespaces: dict[str, dict[tuple[str, tuple[str, ...]], Declaration]] = {}
    for function in functions:
        namespace, name = split_symbol(function.symbol)
        signature = signatures[function.signature]
        declared = namespaces.setdefault(namespace, {})
        key = (name, signature.parameters)
        earlier = declared.get(key)
        operators = (*(earlier.operators if earlier else ()), function.operator)
        declared[key] = Declaration(
            operators=tuple(dict.fromkeys(operators)),
            name=name,
            returns=signature.returns,
            parameters=_declare(parameter_names(function.schema), signature.parameters),
        )
    return tuple(
        Namespace(name, tuple(declared.values())) for name, declared in sorted(namespaces.items())
    )


def _direct_calls(plan: Plan) -> dict[str, tuple[DirectCall, ...]]:
    """Functions.h: namespace of the operator -> its functions.

    An out variant `base.overload` is `base_outf`, as in ExecuTorch's Functions.h. Where two
    overloads have the same parameters, the later one carries its overload in the name.
    """
    calls: dict[str, list[DirectCall]] = {}
    seen: set[tuple[str, str, tuple[str, ...]]] = set()
    for planned in plan.operators:
        entry = planned.entry
        kernel = _fallback(entry.kernels)
        if entry.boxed or entry.manual_registration or kernel is None:
            continue
        schema = entry.schema
        namespace = "::".join(map(cpp_identifier, schema.name.namespace.split("::")))
        converted = _conversions(schema)
        types = tuple(c.parameter for c in converted)
        name = cpp_identifier(schema.name.base + ("_outf" if schema.out else ""))
        if (namespace, name, types) in seen:
            name = cpp_identifier(f"{schema.name.base}_{schema.name.overload}")
        seen.add((namespace, name, types))
        names = parameter_names(schema)
        calls.setdefault(namespace, []).append(
            DirectCall(
                schema=str(schema),
                name=name,
                returns=return_type(schema) or "void",
                parameters=_declare(names, types),
                arguments=names,
                symbol=f"::{kernel.symbol}",
            )
        )
    return {name: tuple(calls[name]) for name in sorted(calls)}


def _fallback(kernels: Iterable[KernelSpec]) -> KernelSpec | None:
    return next((k for k in kernels if not k.keys), None)


def _variants(name: str, dtypes: tuple[int, ...] | None) -> Variants:
    short = name.removeprefix("aten::")
    if dtypes is None:
        return Variants(short, ())
    numbers = set(dtypes)
    if numbers & _COMPUTED_IN_FLOAT:
        numbers.add(_FLOAT)
    return Variants(
        short, tuple(sorted(name for name, number in SCALAR_TYPES.items() if number in numbers))
    )


def template_values(context: Context, plan: Plan, options: Options) -> dict[str, Any]:
    """Return the variables of the templates."""
    values = _values(context, plan, options)
    if options.aten or options.pytorch:
        from .pytorch import aten_values, torch_values

        operators = [
            o for o in plan.operators if not (o.entry.boxed or o.entry.manual_registration)
        ]
        values.update(torch_values(operators, custom_only=not options.aten))
        if options.aten:
            values.update(aten_values(operators))
    return values


def _values(context: Context, plan: Plan, options: Options) -> dict[str, Any]:
    kind_lists: dict[tuple[str, ...], int] = {}
    for signature in context.signatures:
        kind_lists.setdefault(signature.kinds, len(kind_lists))
    return {
        "library": context.library,
        "aten": options.aten,
        "stack_api": options.stack_api,
        "static_registration": options.static_registration,
        "exception_boundary": options.exception_boundary,
        # The macro came with 0.7; ATen mode sets it.
        "runtime": f"::executorch::{'runtime' if options.stack_api else 'ET_RUNTIME_NAMESPACE'}",
        "stack_type": "::executorch::runtime::EValue**"
        if options.stack_api
        else "::executorch::runtime::Span<::executorch::runtime::EValue*>",
        "table_qualifier": "const" if options.stack_api else "constexpr",
        "conversions": context.conversions,
        "signatures": context.signatures,
        "signature_index_type": "uint8_t" if len(context.signatures) <= 256 else "uint16_t",
        "kind_lists": tuple(kind_lists),
        "signature_kinds": tuple(kind_lists[s.kinds] for s in context.signatures),
        "functions": context.functions,
        "row_groups": _row_groups(context.rows),
        "table_condition": PRIM_CONDITION if context.rows and not context.functions else "",
        "namespaces": context.namespaces,
        "prim_namespaces": context.prim_namespaces,
        "direct_calls": context.direct_calls,
        "variants": context.variants,
        "everything": context.include_all,
        "kernel_count": context.kernel_count,
        "registry_size": context.registry_size,
        "runtime_prims": RUNTIME_PRIM_KERNELS,
        "prim_macros": tuple(_prim_macro(o.entry.name) for o in plan.operators if o.entry.boxed),
        "sources": plan.sources,
    }


def _row_groups(rows: tuple[Row, ...]) -> tuple[RowGroup, ...]:
    if all(r.prim for r in rows):
        return (RowGroup("", rows),) if rows else ()
    return tuple(
        RowGroup(PRIM_CONDITION if prim else "", tuple(group))
        for prim, group in groupby(rows, key=lambda r: r.prim)
    )


def _prim_macro(name: str) -> str:
    """`executorch_prim::et_view.default` -> INCLUDE_EXECUTORCH_PRIM_ET_VIEW_DEFAULT."""
    words = name.replace("::", "_").replace(".", "_").split("_")
    return "_".join(["INCLUDE", *(w.upper() for w in words if w)])
