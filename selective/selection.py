"""Selections: which operators, for which dtypes and kernel keys, and who asked for each."""

from __future__ import annotations

from typing import NamedTuple


class Origin(NamedTuple):
    """Why an operator is selected.

    `kind` is "model", "op", "ops-file" or "all"; `source` the option's value as the user wrote
    it. For a model, `method` names the method and `instruction` is (chain, index in chain) of the
    first call.
    """

    kind: str
    source: str
    method: str = ""
    instruction: tuple[int, int] = (-1, -1)


class SelectedOperator(NamedTuple):
    """One operator.

    `dtypes`: ScalarType numbers of tensors in its calls, sorted; None: every dtype.
    `keys`: kernel keys of its calls, sorted; empty: unknown (register the fallback only).
    `root`: it is called by a model or by name, and so registered. Others stand in an operator list
    with `is_root_operator: false` (kernels of root operators call them) and stay in the list.
    """

    name: str
    dtypes: tuple[int, ...] | None = None
    keys: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    root: bool = True


class Selection(NamedTuple):
    """A union of selectors, sorted by operator name.

    `include_all`: every operator of the catalogues is wanted (dtypes unrestricted).
    """

    operators: tuple[SelectedOperator, ...] = ()
    include_all: bool = False
