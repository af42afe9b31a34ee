"""Tables of this state of the data beside the same tables of an earlier one: what they print together of both, taken as differences.

A table and its earlier version are compared cell by cell (:mod:`privrelease.audit.comparison.earlier.table_changes`). What other tables of either state
print adds to that: municipalities that are suppressed in both, and the county that they lie in. Contributors to a difference are the persons whose
contribution is not the same in both states; where the earlier rows cannot be read, it is of one, or of as many as a change of the count proves.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.tables.table_recount import cells_of
from privrelease.disclosure.tables.linked import TooManyCellsError
from privrelease.disclosure.tables.rules import group_is_safe
from privrelease.disclosure.tables.two_states import known_differences, known_from_elsewhere
from privrelease.errors import InputError
from privrelease.plan.tables.plan import joined, joint_source
from privrelease.relational.tables import TableQuery
from privrelease.texts.sentences import listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.tables.published_tables import TableOut
    from privrelease.audit.tables.rows import TableRow
    from privrelease.disclosure.tables.absent_cells import LinkedCell
    from privrelease.disclosure.tables.linked import Linked
    from privrelease.disclosure.tables.two_states import Combination
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.tables import Contributions, TableCells
    from privrelease.texts.sentences import Listed, Said

__all__ = ["Together", "differences_together"]

#: A table that is out, or is to go out: by which plan it is read, and what it prints.
Printed = tuple["TablePlan", "tuple[TableRow, ...]"]


@dataclass(frozen=True, slots=True)
class Together:
    """Findings of tables of two states. ``small``: differences that break a rule; ``given``: small cells that follow; ``unknown``: too many cells to tell."""

    small: Said | None = None
    given: Said | None = None
    unknown: bool = False


def differences_together(
    own: Printed, others: Sequence[Printed], out: Sequence[TableOut], staged: Staged, engine: MeasuringEngine
) -> dict[str, Together]:
    """Return what follows with the tables of each earlier state, by the name of one of them. ``own``: the table that is audited; ``others``: those of the
    same state; ``out``: all that are out.
    """
    found: dict[str, Together] = {}
    for releases in _states(out):
        tables = [own[0]]
        for other, _ in (*others, *(reading for _, reading in releases)):
            if not any(_same_table(other, one) for one in tables):
                tables.append(other)
        if len(tables) > 1:
            first = next((one for one, reading in releases if _same_cells(reading[0], own[0])), releases[0][0])
            pair = _Pair(tables, first, staged, engine)
            try:
                small, given = pair.unsafe([own, *others], [reading for _, reading in releases])
            except (InputError, TooManyCellsError):
                found[first.name] = Together(unknown=True)
                continue
            found[first.name] = Together(
                say("difference_together", name=first.name, cells=pair.words(small)) if small else None,
                say("given_together", name=first.name, cells=pair.words(given)) if given else None,
            )
    return found


def _states(out: Sequence[TableOut]) -> Iterator[list[tuple[EarlierRelease, Printed]]]:
    """Yield what is out of each state of the data: every release that recipients hold, with the plan that its file fits."""
    found: dict[tuple[str, ...], list[tuple[EarlierRelease, Printed]]] = {}
    for one in out:
        inputs = one.release.inputs
        state = tuple(each.hmac_sha256 for each in inputs if each.label == inputs[0].label)
        if state and one.release.held:
            found.setdefault(state, []).append((one.release, one.made))
    yield from found.values()


def _same_cells(one: TablePlan, other: TablePlan) -> bool:
    return (one.by, one.keys, one.where) == (other.by, other.keys, other.where)


def _same_table(one: TablePlan, other: TablePlan) -> bool:
    return _same_cells(one, other) and one.margins == other.margins


def _figures(plan: TablePlan, row: TableRow) -> Iterator[tuple[str, float]]:
    """Yield what a row prints: the count under no name, sums by their columns, a mean with its count as their sum."""
    printed = {one.name: figure for one, figure in zip(plan.measures, row.figures, strict=True) if figure is not None}
    count = next((printed.get(one.name) for one in plan.measures if one.kind == "count"), None)
    if plan.round_up > 1:
        count = None
    if count is not None:
        yield "", float(count)
    for one in plan.measures:
        figure = printed.get(one.name)
        if one.column is not None and figure is not None and (one.kind != "mean" or count is not None):
            yield one.column, float(figure * count if one.kind == "mean" and count is not None else figure)


@dataclass(eq=False, slots=True)
class _Entries:
    """Changes of persons, or all that they have: entries of the cells of all columns, ``places`` along each side by its name."""

    found: Contributions
    places: Mapping[str, NDArray[np.int64]]
    sums: tuple[str, ...]

    def of(self, combination: Combination, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up ``values``, by entry, of a combination of cells by person."""
        every = np.zeros(len(values), np.int64)
        for cell, factor in combination.items():
            inside = np.ones(len(values), np.bool_)
            for name, place in cell:
                inside &= self.places[name] == place
            every += factor * np.where(inside, values, 0)
        persons, code = np.unique(self.found.persons, return_inverse=True)
        summed = np.zeros(len(persons), np.int64)
        np.add.at(summed, code, every)
        if self.found.alike is None:
            return summed
        alike = np.zeros(len(persons), np.int64)
        alike[code] = self.found.alike
        return np.repeat(summed, alike)

    def figure(self, combination: Combination, column: str) -> NDArray[np.int64]:
        """Add up a figure, the count under no name."""
        return self.of(combination, self.found.sums[self.sums.index(column)] if column else self.found.rows)


class _Pair:
    """Tables of the same cells in two states. ``tables``: the audited one first; ``earlier``: a release of the earlier state."""

    def __init__(self, tables: Sequence[TablePlan], earlier: EarlierRelease, staged: Staged, engine: MeasuringEngine) -> None:
        self.tables = [replace(one, rules=replace(one.rules, class_disclosure=False, classes_judged=False)) for one in tables]
        self.keys: dict[str, tuple[str, ...]] = {}
        for table in tables:
            for name, keys in zip(table.by, table.keys, strict=True):
                self.keys[name] = tuple(dict.fromkeys((*self.keys.get(name, ()), *keys)))
        self.staged, self.engine = staged, engine
        self.before = self._state(earlier)
        members = tuple(dict.fromkeys(table.printed.membership for table in tables))
        sums = tuple(dict.fromkeys(name for table in tables for name in table.query.sums))
        unit = None if tables[0].unit is None else tables[0].unit.column
        by = tuple(self.keys)
        self.query = TableQuery(
            by, tuple(self.keys[name] for name in by), sums, unit, margins=False, others=True, members=members
        )
        self.sides = (*by, *map(repr, members))

    def _state(self, earlier: EarlierRelease) -> Staged | None:
        if earlier.state is None:
            return None
        source = replace(joint_source(tuple(self.tables)), path=str(earlier.state), label=earlier.state.name)
        try:
            return self.engine.stage(source)
        except InputError:
            return None

    def _linked(self, staged: Staged) -> Linked:
        """Return the tables as one system. Raises InputError where they have too many cells."""

        def fetch(asked: TableQuery) -> TableCells:
            return cells_of(self.engine.contributions(staged, asked), asked)

        return joined(self.tables, most=1, fetch=fetch)

    def unsafe(self, now: Sequence[Printed], before: Sequence[Printed]) -> tuple[list[Combination], list[Combination]]:
        """Return the sums of cells of which the difference breaks a rule, and those that break one and follow since nobody changed in others.

        Raises InputError, TooManyCellsError where the tables have too many cells together.
        """
        changes = (
            None
            if self.before is None
            else self._entries(self.engine.changed_contributions(self.staged, self.before, self.query))
        )
        if changes is not None and not len(changes.found.cells):
            return [], []
        after = self._linked(self.staged)
        states = (after if self.before is None else self._linked(self.before), after)
        found: dict[bytes | frozenset[LinkedCell], Combination] = {}
        proved: dict[frozenset[LinkedCell], float] = {}
        given: dict[bytes, Combination] = {}
        for column in ("", *self.query.sums):
            first, second = (self._printed(one, column, some) for one, some in zip(states, (before, now), strict=True))
            if np.isnan(first).all() or np.isnan(second).all():
                continue
            for combination, gap in known_differences(states, (first, second)):
                cells = frozenset(combination)
                if not column:
                    proved[cells] = gap
                if not self._is_safe(combination, column, gap, proved.get(cells, 0.0), changes):
                    same = cells if changes is None else changes.of(combination, changes.found.rows).tobytes()
                    if same not in found or _sides(combination) < _sides(found[same]):
                        found[same] = combination
            if self.before is not None and changes is not None:
                given |= self._given(states, (first, second), column, changes, (self.before, self.staged))
        return list(found.values()), list(given.values())

    def _given(
        self,
        states: tuple[Linked, Linked],
        printed: tuple[NDArray[np.float64], NDArray[np.float64]],
        column: str,
        changes: _Entries,
        staged: tuple[Staged, Staged],
    ) -> dict[bytes, Combination]:
        """Return what follows in either state since nobody changed in cells that the other gives, and breaks a rule."""
        found: dict[bytes, Combination] = {}
        for state in (0, 1):
            entries: _Entries | None = None
            for combination in known_from_elsewhere(
                states, printed, state, lambda one: not changes.figure(one, column).any() and not changes.figure(one, "").any()
            ):
                entries = entries or self._entries(self.engine.contributions(staged[state], self.query))
                parts = sorted((int(one) for one in np.abs(entries.figure(combination, column)) if one), reverse=True)
                if parts and not group_is_safe(
                    self.tables[0].rules, len(parts), [(sum(parts), parts)] if self._adds(column) else []
                ):
                    same = entries.figure(combination, "").tobytes()
                    if same not in found or _sides(combination) < _sides(found[same]):
                        found[same] = combination
        return found

    def _adds(self, column: str) -> bool:
        return any(one.column == column and one.kind in {"sum", "mean"} for table in self.tables for one in table.measures)

    def _entries(self, found: Contributions) -> _Entries:
        places = np.unravel_index(found.cells, self.query.inner)
        return _Entries(found, dict(zip(self.sides, places, strict=True)), self.query.sums)

    def _printed(self, linked: Linked, column: str, out: Sequence[Printed]) -> NDArray[np.float64]:
        """Return a figure by numbered cell, NaN where no table prints it."""
        found = np.full(linked.table.layout.size, np.nan)
        for table, places in zip(self.tables, linked.places, strict=True):
            for plan, rows in out:
                if _same_table(plan, table):
                    for row, place in zip(rows, places, strict=True):
                        for name, figure in _figures(plan, row):
                            if name == column:
                                found[place] = figure
        return found

    def _is_safe(self, combination: Combination, column: str, gap: float, rows: float, changes: _Entries | None) -> bool:
        plan = self.tables[0]
        measures = [one for table in self.tables for one in table.measures if one.column == column]
        added = self._adds(column)
        if changes is None:
            return self._is_proved(column, gap, rows, added=added)
        found = changes.found
        net = changes.figure(combination, column)
        parts = sorted((int(part) for part in np.abs(net[net != 0])), reverse=True)
        if not parts:
            return True
        two = next((one for one in measures if one.two_values is not None), None)
        if two is not None:
            valued = changes.of(combination, found.known[changes.sums.index(column)])
            higher = net - two.low * valued
            many = [int(np.count_nonzero(side)) for side in (higher, valued - higher)]
            if any(0 < one < plan.rules.min_count for one in many):
                return False
        return group_is_safe(plan.rules, len(parts), [(sum(parts), parts)] if added else [])

    def _is_proved(self, column: str, gap: float, rows: float, *, added: bool) -> bool:
        """Return True if a difference is none, or a change of the count proves enough persons."""
        plan = self.tables[0]
        if abs(gap) < _NONE:
            return True
        if column and (rows <= 0 or (added and plan.rules.largest)):
            return False
        most = 1 if plan.unit is None else plan.unit.max_rows
        persons = 1 if most is None else max(1, ceil(abs(rows if column else gap) / most))
        return persons >= plan.rules.min_count

    def words(self, unsafe: Sequence[Combination]) -> Said:
        """Name the first sums of cells by their keys."""
        names = [listed((self._cell(cell) for cell in one), "with") for one in unsafe[:_NAMED]]
        found = listed(names, "semicolon")
        more = len(unsafe) - _NAMED
        return say("names_more", names=found, n=more) if more > 0 else say("names", names=found)

    def _cell(self, cell: LinkedCell) -> Listed:
        places = dict(cell)
        words = [
            say("no_listed_key") if places[name] == len(keys) else keys[places[name]]
            for name, keys in self.keys.items()
            if name in places
        ]
        return listed(words or [say("total")], "slash")


def _sides(combination: Combination) -> int:
    return sum(map(len, combination))


_NAMED = 3

_NONE = 1e-6
