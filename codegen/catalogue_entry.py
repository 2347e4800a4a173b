"""One entry of a catalogue: YAML nodes -> CatalogueEntry, every mistake a diagnostic.

The format is ExecuTorch's (functions.yaml, custom_ops.yaml) with two keys of ours: a kernel's
`source` names the file below kernels/ that defines it, and `boxed: true` marks an operator whose
kernel takes the whole stack (prim operators).
"""

from __future__ import annotations

import re
from collections.abc import Sequence as Lines

from .aten_schemas import aten_names, aten_overloads, aten_schema
from .catalogue_aliases import Aliases, read_aliases
from .cpp import cpp_identifier
from .diagnostics import Location, Severity
from .model import CatalogueEntry, KernelSpec
from .node_reader import NodeReader, did_you_mean, nearest
from .schema import Schema, Span
from .schema_parser import SchemaError, parse_schema
from .specialise import ArgumentMeta, SpecialiseError, expand_keys
from .yaml_nodes import Mapping, Node, Scalar, Sequence

ENTRY_KEYS = (
    *("op", "func", "kernels", "type_alias", "dim_order_alias", "variants", "tags"),
    *("manual_kernel_registration", "boxed"),
)
"""Keys of an entry that mean something here."""

FOREIGN_KEYS = frozenset(
    {
        *("autogen", "category_override", "cpp_no_default_args", "device_check", "device_guard"),
        *("dispatch", "manual_cpp_binding", "precomputed", "python_module", "structured"),
        *("structured_delegate", "structured_inherits", "ufunc_inner_loop"),
        *("use_const_ref_for_mutable_tensors",),
    }
)
"""Keys of PyTorch's native_functions.yaml, allowed in an entry and without effect here."""

KERNEL_KEYS = ("arg_meta", "kernel_name", "source")
"""Keys of one kernel."""

VARIANTS = ("function", "method")
"""What `variants` may list."""

_CPP_NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*", re.ASCII)
_SOURCE = re.compile(r"(?:[\w+-][\w.+-]*/)*[\w+-][\w.+-]*\.(?:cpp|cc|cxx|c|S)", re.ASCII)

_LONG_NAME = 300  # characters; nothing is like such a name, and the search for it is slow


class EntryReader(NodeReader):
    """Reads entries of the catalogue with the short name `catalogue`."""

    def __init__(self, display: str, lines: Lines[str], catalogue: str, bundled: bool) -> None:
        super().__init__(display, lines)
        self.catalogue = catalogue
        self.bundled = bundled

    def entry(self, node: Node) -> CatalogueEntry | None:
        """Read one item of the file's list. None when something is wrong (then it is said)."""
        before = len(self.diagnostics)
        keys = self.keys(node, (*ENTRY_KEYS, *FOREIGN_KEYS), "an entry")
        if keys is None:
            return None
        schema, name_node = self.schema(node, keys)
        aliases = read_aliases(self, keys.get("type_alias"), keys.get("dim_order_alias"))
        boxed = self.flag(keys.get("boxed"), "boxed")
        manual = self.flag(keys.get("manual_kernel_registration"), "manual_kernel_registration")
        variants = self.words(keys.get("variants"), "variants", VARIANTS) or ("function",)
        tags = self.words(keys.get("tags"), "tags")
        kernels: tuple[KernelSpec, ...] = ()
        listed = keys.get("kernels")
        if schema is not None and (listed is not None or not self.failed_since(before)):
            kernels = self.kernels(node, listed, schema, aliases, boxed)
        if schema is None or name_node is None or self.failed_since(before):
            return None
        for kind, unused in aliases.unused():
            message = f"{kind} '{unused.text}' is not used"
            self.report("GK172", message, unused, severity=Severity.WARNING)
        name_length = len(name_node.text.partition("(")[0])
        places: tuple[Location, ...] = ()
        if "func" in keys and not self.bundled:
            places = tuple(self.inside(name_node, a.span) for a in schema.arguments)
        return CatalogueEntry(
            schema,
            kernels,
            self.catalogue,
            self.inside(name_node, Span(0, name_length)),
            bundled=self.bundled,
            boxed=boxed,
            manual_registration=manual,
            variants=variants,
            tags=tags,
            argument_places=places,
        )

    def schema(self, node: Node, keys: dict[str, Node]) -> tuple[Schema | None, Scalar | None]:
        """The entry's schema, from `func` or looked up for `op`."""
        given = [key for key in ("op", "func") if key in keys]
        if len(given) != 1:
            which = "both 'op' and 'func'" if given else "neither 'op' nor 'func'"
            hint = "name an ATen operator with op:, give any other a schema with func:"
            self.report("GK155", f"the entry has {which}", keys.get("func", node), hint)
            return None, None
        text_node = keys[given[0]]
        if not isinstance(text_node, Scalar) or not text_node.text.strip():
            what = "an operator name" if given == ["op"] else "a schema"
            self.report("GK155", f"'{given[0]}' is {what}", text_node)
            return None, None
        text = text_node.text
        if given == ["op"]:
            found = aten_schema(text)
            if found is None:
                self.report("GK156", f"ATen has no operator '{text}'", text_node, op_hint(text))
                return None, None
            text = found
        try:
            schema = parse_schema(text)
        except SchemaError as error:
            self.report("GK100", error.message, self.inside(text_node, error.span), error.hint)
            return None, None
        return with_namespace(schema), text_node

    # Kernels

    def kernels(
        self, entry: Node, node: Node | None, schema: Schema, aliases: Aliases, boxed: bool
    ) -> tuple[KernelSpec, ...]:
        """The kernels of an entry; two that serve the same key are a mistake."""
        if not isinstance(node, Sequence) or not node.items:
            hint = "kernels: [{arg_meta: null, kernel_name: <namespace>::<function>}]"
            where = entry if node is None else node
            self.report("GK157", f"{schema.name} has no list of kernels", where, hint)
            return ()
        kernels: list[KernelSpec] = []
        served: dict[str, KernelSpec] = {}
        for item in node.items:
            kernel = self.kernel(item, schema, aliases, boxed)
            if kernel is None:
                continue
            kernels.append(kernel)
            for key in kernel.keys or ("",):
                first = served.setdefault(key, kernel)
                if first is not kernel:
                    what = f"kernel key {key}" if key else "fallback (a kernel without arg_meta)"
                    message = f"a second kernel of {schema.name} for the same {what}"
                    self.report("GK165", message, kernel.location, notes=(_first(first),))
                    break
        return tuple(kernels)

    def kernel(
        self, node: Node, schema: Schema, aliases: Aliases, boxed: bool
    ) -> KernelSpec | None:
        """One kernel; None when it is unusable."""
        before = len(self.diagnostics)
        keys = self.keys(node, KERNEL_KEYS, "a kernel")
        if keys is None:
            return None
        name = keys.get("kernel_name")
        if name is None and self.failed_since(before):
            return None  # a misspelt key, most likely
        if not isinstance(name, Scalar) or name.is_null:
            hint = "kernel_name: <namespace>::<function>"
            self.report("GK158", "the kernel has no kernel_name", name or node, hint)
            return None
        if not _CPP_NAME.fullmatch(name.text):
            self.report("GK158", f"'{name.text}' is not the name of a C++ function", name)
        for part in name.text.split("::"):
            if part != "context" and cpp_identifier(part) != part:
                self.report("GK158", f"'{part}' is a keyword of C++", name)
        meta = self.arg_meta(keys.get("arg_meta"), aliases)
        key_texts: tuple[str, ...] = ()
        if meta and boxed:
            self.report("GK166", "a boxed operator has one kernel only", keys["arg_meta"])
        elif meta and not self.failed_since(before):
            try:
                metas = [m for _, m in meta]
                key_texts = expand_keys(schema, metas, aliases.dtypes, aliases.dim_orders)
            except SpecialiseError as error:
                at: Node = keys["arg_meta"]
                for argument, m in meta:
                    at = argument if m.argument == error.argument else at
                names = [a.name for a in schema.arguments]
                hint = error.hint or did_you_mean(error.argument, names)
                self.report("GK161", error.message, at, hint)
        source = self.source(keys.get("source"))
        if self.failed_since(before):
            return None
        symbol = name.text if boxed else cpp_symbol(name.text)
        return KernelSpec(symbol, key_texts, source, self.place(name))

    def source(self, node: Node | None) -> str | None:
        """The file of a kernel, relative to kernels/."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return None
        if not isinstance(node, Scalar) or not _SOURCE.fullmatch(node.text):
            hint = "source: portable/binary.cpp"
            self.report("GK159", "'source' is a file below kernels/, with '/'", node, hint)
            return None
        return node.text

    def arg_meta(
        self, node: Node | None, aliases: Aliases
    ) -> list[tuple[Scalar, ArgumentMeta]] | None:
        """What arg_meta says, with the place of each argument's name; None: the fallback."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return None
        keys = self.keys(node, (), "arg_meta")
        if keys is None or not isinstance(node, Mapping):
            return None
        if not keys:
            self.report("GK160", "arg_meta is empty", node, "arg_meta: null is the fallback")
            return None
        meta: list[tuple[Scalar, ArgumentMeta]] = []
        for argument, value in node.pairs:
            pair = value.items if isinstance(value, Sequence) else []
            words = [item for item in pair if isinstance(item, Scalar)]
            if not isinstance(argument, Scalar) or len(words) != 2 or len(pair) != 2:
                hint = "<argument>: [<type alias>, <dim order alias>]"
                self.report("GK160", "arg_meta wants two aliases for an argument", value, hint)
                continue
            aliases.check(self, "type_alias", words[0])
            aliases.check(self, "dim_order_alias", words[1])
            meta.append((argument, ArgumentMeta(argument.text, words[0].text, words[1].text)))
        return meta


def cpp_symbol(kernel_name: str) -> str:
    """The C++ function of a kernel_name, by ExecuTorch's rule: in the namespace `native` there.

    torch::executor::add_out -> torch::executor::native::add_out; add_out -> at::native::add_out.
    """
    namespace, _, function = kernel_name.rpartition("::")
    return f"{namespace or 'at'}::native::{function}"


def with_namespace(schema: Schema) -> Schema:
    """The schema with namespace `aten` when it has none."""
    if schema.name.namespace:
        return schema
    return schema._replace(name=schema.name._replace(namespace="aten"))


def op_hint(name: str) -> str:
    """What to do about an `op:` that ATen does not have."""
    if len(name) > _LONG_NAME:
        return ""
    if "(" in name:
        return "a whole schema belongs under func:"
    bare = name.removeprefix("aten::")
    if "::" in bare:
        return "only ATen operators have a known schema: give this one's under func:"
    base = bare.partition(".")[0]
    overloads = [schema.partition("(")[0] for schema in aten_overloads(base)]
    if overloads:
        return did_you_mean(bare, overloads) or f"its overloads: {', '.join(overloads)}"
    bases = nearest(base, {known.partition(".")[0] for known in aten_names()})
    if not bases:
        return ""
    complete = (near + bare[len(base) :] for near in bases)
    return f"did you mean {next(filter(aten_schema, complete), bases[0])}?"


def _first(kernel: KernelSpec) -> str:
    place = kernel.location
    return f"the first is {kernel.symbol} at {place.file}:{place.line}:{place.column}"
