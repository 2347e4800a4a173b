"""Selectors -> Selection: models, operators by name, operator lists; united, then excluded from.

Dtypes are narrowed only where everything that is known about an operator names dtypes: a model's
calls do, `--op name:Float` does, an operator named alone does not, and then every dtype stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ..codegen.diagnostics import Diagnostic, Location, Severity
from .compute_types import call_dtypes, computed_in, named_dtypes
from .kernel_key import DEFAULT, call_key, dtype_key, key_dtypes
from .models import Model
from .operator_text import OperatorTextError, expand, parse_operator, split_operators
from .oplist import OperatorList, read_operator_list
from .program import calls
from .selection import Origin, SelectedOperator, Selection

COMMAND_LINE = "<command line>"


@dataclass
class _Entry:
    """What is known of one operator while selectors are united."""

    keys: set[str] = field(default_factory=set)
    dtypes: set[int] = field(default_factory=set)
    every_dtype: bool = False
    origins: set[Origin] = field(default_factory=set)
    root: bool = False

    def add(
        self, key: str, origin: Origin, dtypes: Iterable[int] | None, root: bool = True
    ) -> None:
        self.origins.add(origin)
        self.root |= root
        if dtypes is None:
            self.every_dtype = True
        else:
            self.keys.add(key)
            self.dtypes.update(dtypes)


def select(
    models: Sequence[Model] = (),
    *,
    ops: Sequence[str] = (),
    ops_files: Sequence[str] = (),
    include_all: bool = False,
    exclude: Sequence[str] = (),
    known: Collection[str] = (),
) -> tuple[Selection, tuple[Diagnostic, ...]]:
    """The union of all selectors without the excluded operators, sorted by name.

    `ops` and `exclude` are written "aten::add.out", "add.out" (aten is meant), "aten::add" (every
    overload in `known`) or with `*` and `?`; `ops` take dtypes too: "add.out:Float,Int".
    `ops_files` are paths of selected_operators.yaml, catalogues or plain lists. `known` are the
    operators of the catalogues. With `include_all` each of them is selected, for every dtype.
    """
    entries: dict[str, _Entry] = {}
    diagnostics: list[Diagnostic] = []
    for model in models:
        _add_model(entries, model)
    for text in ops:
        meant, errors = _meant(text, known)
        diagnostics.extend(errors)
        for name, dtypes in meant:
            _add(entries, name, dtypes, Origin("op", text))
    for path in ops_files:
        listed, problems = read_operator_list(path)
        diagnostics.extend(problems)
        include_all = include_all or listed.include_all
        _add_list(entries, listed, Origin("ops-file", path), known)
    if include_all:
        for name in known:
            _add(entries, name, None, Origin("all", "--all"))
        for entry in entries.values():
            entry.every_dtype = entry.root = True
    diagnostics.extend(_remove(entries, exclude))
    operators = tuple(_selected(name, entries[name]) for name in sorted(entries))
    return Selection(operators, include_all), tuple(diagnostics)


def _add_model(entries: dict[str, _Entry], model: Model) -> None:
    for method in model.program.methods:
        for name in method.operators:  # also those that no instruction calls: they are resolved
            entries.setdefault(name, _Entry())
        first: dict[str, Origin] = {}
        for call in calls(method):
            origin = first.setdefault(
                call.operator, Origin("model", model.display, method.name, call.position)
            )
            entries[call.operator].add(call_key(call), origin, call_dtypes(call))
        for name in method.operators:
            if name not in first:
                entries[name].add("", Origin("model", model.display, method.name), None)


def _add(
    entries: dict[str, _Entry], name: str, dtypes: tuple[int, ...] | None, origin: Origin
) -> None:
    entry = entries.setdefault(name, _Entry())
    if dtypes is None:
        entry.add(DEFAULT, origin, None)
    else:
        for dtype in dtypes:
            entry.add(dtype_key(dtype), origin, named_dtypes(name, dtype))


def _add_list(
    entries: dict[str, _Entry], listed: OperatorList, origin: Origin, known: Collection[str]
) -> None:
    for operator in listed.operators:
        names = expand(operator.name, known) if operator.expand else (operator.name,)
        for name in names:
            entry = entries.setdefault(name, _Entry())
            for key in operator.keys:
                dtypes = key_dtypes(key)
                if dtypes is not None:
                    dtypes = (*dtypes, *computed_in(name, dtypes))
                entry.add(key, origin, dtypes, operator.root)


def _meant(
    text: str, known: Collection[str]
) -> tuple[list[tuple[str, tuple[int, ...] | None]], list[Diagnostic]]:
    """The operators, with their dtypes, that the value of an option means."""
    found: list[tuple[str, tuple[int, ...] | None]] = []
    diagnostics: list[Diagnostic] = []
    for part in split_operators(text):
        try:
            pattern, dtypes = parse_operator(part)
        except OperatorTextError as error:
            diagnostics.append(_complain(f"--op: {error}", error.hint))
            continue
        names = expand(pattern, known)
        if not names:
            diagnostics.append(_complain(f"--op: no operator matches '{part}'"))
        found.extend((name, dtypes) for name in names)
    if not found and not diagnostics:
        diagnostics.append(_complain("--op needs an operator's name", "as in aten::add.out"))
    return found, diagnostics


def _complain(message: str, hint: str = "") -> Diagnostic:
    return Diagnostic("GK300", message, Location(COMMAND_LINE), hint)


def _remove(entries: dict[str, _Entry], exclude: Sequence[str]) -> list[Diagnostic]:
    """Take the excluded operators out; warn of those that were never in."""
    diagnostics: list[Diagnostic] = []
    for text in exclude:
        for part in split_operators(text):
            try:
                pattern, dtypes = parse_operator(part)
            except OperatorTextError as error:
                diagnostics.append(_complain(f"--exclude: {error}", error.hint))
                continue
            if dtypes is not None:
                diagnostics.append(_complain(f"--exclude: '{part}' names dtypes", "only names"))
            elif not [name for name in expand(pattern, entries) if entries.pop(name, None)]:
                message = f"--exclude: '{part}' was not selected"
                location = Location(COMMAND_LINE)
                diagnostics.append(
                    Diagnostic("GK304", message, location, severity=Severity.WARNING)
                )
    return diagnostics


def _selected(name: str, entry: _Entry) -> SelectedOperator:
    return SelectedOperator(
        name,
        None if entry.every_dtype else tuple(sorted(entry.dtypes)),
        tuple(sorted(entry.keys)),
        tuple(sorted(entry.origins)),
        entry.root,
    )
