"""The values that flow between stages: catalogue entries, the plan.

load -> CatalogueEntry; select -> Selection (selective/selection.py); resolve -> Plan.
"""

from __future__ import annotations

from typing import NamedTuple

from ..selective.selection import SelectedOperator
from .diagnostics import Location
from .schema import Schema

NOWHERE = Location("")
"""The place of what no file says."""


class KernelSpec(NamedTuple):
    """One kernel of an operator.

    `symbol` is the C++ function with its whole namespace (`torch::executor::native::add_out`).
    `keys` are the kernel keys it is registered under ("v1/6;0,1|..."); empty: the fallback.
    `source` is the file below kernels/ that defines it ("portable/binary.cpp"); None: not ours
    (a user's kernel, or one that is not written yet, see `CatalogueEntry.bundled`).
    """

    symbol: str
    keys: tuple[str, ...] = ()
    source: str | None = None
    location: Location = NOWHERE


class CatalogueEntry(NamedTuple):
    """One operator of one catalogue file.

    `catalogue` is the catalogue's short name (the file's stem: "functions", "cortex_m").
    `bundled` is true for the catalogues of this package: there a kernel without a source is one
    that is not written yet. `boxed` kernels (prim operators) take the stack as it is.
    `argument_places` is where each argument of the schema stands, when the file spells it out.
    """

    schema: Schema
    kernels: tuple[KernelSpec, ...]
    catalogue: str
    location: Location
    bundled: bool = False
    boxed: bool = False
    manual_registration: bool = False
    variants: tuple[str, ...] = ("function",)
    tags: tuple[str, ...] = ()
    argument_places: tuple[Location, ...] = ()

    @property
    def name(self) -> str:
        """The operator's name with namespace and overload: "aten::add.out"."""
        return str(self.schema.name)

    @property
    def stack_size(self) -> int:
        """Values of a boxed call: the arguments, and the return slot.

        Only boxed operators go without the slot, when their schema returns nothing.
        """
        return len(self.schema.arguments) + (not self.boxed or bool(self.schema.returns))


class PlannedOperator(NamedTuple):
    """An operator to register: what was selected, and the catalogue entry that serves it."""

    entry: CatalogueEntry
    selected: SelectedOperator


class Plan(NamedTuple):
    """Everything to generate, sorted by operator name. `library` is a C identifier."""

    operators: tuple[PlannedOperator, ...]
    library: str

    @property
    def sources(self) -> tuple[str, ...]:
        """Kernel sources to compile, relative to kernels/, sorted, each once."""
        return tuple(
            sorted({k.source for o in self.operators for k in o.entry.kernels if k.source})
        )
