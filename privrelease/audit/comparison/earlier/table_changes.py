"""Differences between a table and an earlier version of it: each is a cell of its own, of the persons whose contribution changed.

One person joins, and the difference of two sums is that person's value. So a difference must satisfy every rule of the table: enough
contributors, none of whom dominates it or can be estimated, no group whose changes all share one key. Where the rows that the earlier table was made of
can be read, contributors are the persons whose contribution is not the same in both states. Where they cannot, a difference is taken to be
of one contributor, or of as many as a change of the count proves: n rows are of n / m persons at least, m being the most rows of one person. Of a sum
or mean rows prove contributors only if they joined and no row lacks a value now: of those that left no one knows whether they had one.

A difference is known where both tables print a figure, as such or as the sum of parts that are all printed, where a total leaves one part
open, and for the sum of the parts that a total leaves open together.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from itertools import combinations, product
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.rules import group_is_safe
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.tables.previous_releases import CellKeys, PrintedCells
    from privrelease.plan.tables.plan import MeasurePlan, TablePlan
    from privrelease.relational.tables import Contributions

__all__ = ["Changes", "shared_key_differences", "small_differences", "unchanged"]

_COUNT, _SUM, _MEAN, _WEIGHTED = "count", "sum_", "mean_", "weighted_count_"
_ADDED = (_SUM, _MEAN, _WEIGHTED)


@dataclass(frozen=True, eq=False, slots=True)
class Changes:
    """Changes between two states: signed contributions by inner cell of ``by`` with ``keys``; ``sums``: columns added up."""

    found: Contributions
    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    sums: tuple[str, ...]


@dataclass(eq=False, slots=True)
class _Box:
    """The cells that both tables can have figures of: by their common columns, totals included. ``parts``: of each total, along each side."""

    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    totals: list[tuple[CellKeys, tuple[CellKeys, ...]]] = field(default_factory=list)

    @property
    def cells(self) -> Iterator[CellKeys]:
        for place in product(*((*keys, None) for keys in self.keys)):
            yield frozenset((name, key) for name, key in zip(self.by, place, strict=True) if key is not None)

    def relate(self) -> None:
        """Note what every total is the sum of."""
        for cell in self.cells:
            known = {name for name, _ in cell}
            for name, keys in zip(self.by, self.keys, strict=True):
                if name not in known:
                    self.totals.append((cell, tuple(cell | {(name, key)} for key in keys)))


def small_differences(
    plan: TablePlan,
    printed: PrintedCells,
    by: Sequence[str],
    before: PrintedCells,
    changes: Changes | None,
    complete: Collection[str] = (),
) -> list[tuple[CellKeys, ...]]:
    """Return the differences, each of one cell or of several together, that break a rule of the table. ``complete``: columns added up of which no
    row lacks a value now.
    """
    slack, printed, before = _with_sums(plan, printed, before)
    box, ours, earlier = _in_common(plan, printed, by, before)
    counts = _gaps(_COUNT, ours, earlier)
    judge = _Judge(plan, box, changes, _with_rest(box, counts), complete, slack)
    found: dict[tuple[CellKeys, ...], None] = {}
    if plan.round_up == 1:
        found |= dict.fromkeys(group for group, gap in judge.counts.items() if gap and not judge.is_safe(group, gap, None))
    for name in sorted({name for figures in ours.values() for name in figures} - {_COUNT}):
        gaps = _gaps(name, ours, earlier)
        if name.startswith(_MEAN):  # a mean with its count is a sum; parts of means do not add up
            known: dict[tuple[CellKeys, ...], Fraction] = {(cell,): gap for cell, gap in gaps.items()}
            known |= {group: Fraction(1) for group in known if judge.counts.get(group)}
        else:
            known = _with_rest(box, gaps)
        column = name.removeprefix(next(one for one in _ADDED if name.startswith(one)))
        found |= dict.fromkeys(group for group, gap in known.items() if gap and not judge.is_safe(group, gap, name, column))
    return list(found)


def shared_key_differences(
    plan: TablePlan, printed: PrintedCells, by: Sequence[str], before: PrintedCells
) -> list[tuple[CellKeys, ...]]:
    """Return the cells in which all changes of a group are: of a figure that did not change in any other cell of it, no one came or left there."""
    _, printed, before = _with_sums(plan, printed, before)
    box, ours, earlier = _in_common(plan, printed, by, before)
    names = {name for figures in ours.values() for name in figures}
    found: dict[tuple[CellKeys, ...], None] = {}
    for name in sorted(names):
        found |= dict.fromkeys(_one_key(box, _gaps(name, ours, earlier)))
    return list(found)


def _in_common(
    plan: TablePlan, printed: PrintedCells, by: Sequence[str], before: PrintedCells
) -> tuple[_Box, dict[CellKeys, dict[str, Fraction]], dict[CellKeys, dict[str, Fraction]]]:
    """Return the cells that both tables can have figures of, and the figures of either."""
    common = tuple(name for name in plan.by if name in by)
    box = _Box(common, tuple(keys for name, keys in zip(plan.by, plan.keys, strict=True) if name in common))
    box.relate()
    theirs = tuple(dict.fromkeys(key for cell in before for column, key in cell if column == name) for name in by)
    ours = _derived(box, plan.by, plan.keys, printed)
    return box, ours, _derived(box, by, [tuple(one) for one in theirs], before)


def unchanged(changes: Changes, known: Mapping[CellKeys, Mapping[str, Fraction]]) -> dict[CellKeys, dict[str, Fraction]]:
    """Return the figures of an earlier table that are still those of the data: of cells in which nobody's contribution changed."""
    found = {}
    for cell, figures in known.items():
        still = {}
        for name, figure in figures.items():
            column = next((name.removeprefix(one) for one in _ADDED if name.startswith(one)), None)
            if column is None or column in changes.sums:
                place = None if column is None else changes.sums.index(column)
                values = [changes.found.rows] if place is None else [changes.found.sums[place], changes.found.known[place]]
                if not any(_by_person(changes, (cell,), one).any() for one in values):
                    still[name] = figure
        found[cell] = still
    return found


def _grid(plan: TablePlan, name: str | None, column: str) -> Fraction:
    return next((one.grid for one in plan.measures if one.name == name or (column and one.column == column)), Fraction(1))


def _with_sums(
    plan: TablePlan, printed: PrintedCells, before: PrintedCells
) -> tuple[dict[str, Fraction], PrintedCells, PrintedCells]:
    """Give both tables the sum of a column that they print figures of, and none of one kind: a mean times its count, a weighted count. Return also how far
    a difference of such sums may be from the true one, by the figure's name, since means are rounded.
    """
    ours, theirs = (
        {
            (one, name.removeprefix(one))
            for figures in cells.values()
            for name in figures
            for one in _ADDED
            if name.startswith(one)
        }
        for cells in (printed, before)
    )
    apart = {column for _, column in ours} & {column for _, column in theirs} - {column for _, column in ours & theirs}
    if not apart:
        return {}, printed, before
    slack = {
        _SUM + column: sum((_rounded(plan, cells, column) for cells in (printed, before)), Fraction(0)) for column in apart
    }
    return slack, _summed(plan, printed, apart), _summed(plan, before, apart)


def _rounded(plan: TablePlan, printed: PrintedCells, column: str) -> Fraction:
    """Return how far the sums that follow from all printed means of a column may be from the true ones together. Means are printed in thousandths of the
    column's steps: of fewer than 1,000 rows the sum is the nearest whole step, and exact.
    """
    rows = [figures.get(_COUNT) or Fraction(0) for figures in printed.values() if figures.get(_MEAN + column) is not None]
    return _grid(plan, None, column) * sum((one / 2000 + Fraction(1, 2) for one in rows if one >= 1000), Fraction(0))


def _summed(plan: TablePlan, printed: PrintedCells, columns: Collection[str]) -> PrintedCells:
    found = {}
    for cell, figures in printed.items():
        found[cell] = dict(figures)
        for column in columns:
            mean, count = figures.get(_MEAN + column), figures.get(_COUNT)
            value = figures.get(_SUM + column, figures.get(_WEIGHTED + column))
            if value is None and mean is not None and count is not None:
                grid = _grid(plan, None, column)
                value = round(mean * count / grid) * grid
            found[cell][_SUM + column] = value
    return found


def _derived(
    box: _Box, by: Sequence[str], keys: Sequence[tuple[str, ...]], printed: PrintedCells
) -> dict[CellKeys, dict[str, Fraction]]:
    """Return the table's figures of each cell of the box: printed as such, or the sum of inner cells that are all there and
    printed; no means.
    """
    groups: dict[frozenset[str], dict[CellKeys, list[Mapping[str, Fraction | None]]]] = {}
    for size in range(len(box.by) + 1):
        for kept in combinations(box.by, size):
            parts = groups.setdefault(frozenset(kept), {})
            for cell, figures in printed.items():
                if len(cell) == len(by):
                    parts.setdefault(frozenset(pair for pair in cell if pair[0] in kept), []).append(figures)
    many = dict(zip(by, map(len, keys), strict=True))
    found = {}
    for cell in box.cells:
        mine = {name: figure for name, figure in printed.get(cell, {}).items() if figure is not None}
        columns = frozenset(name for name, _ in cell)
        parts_ = groups[columns].get(cell, [])
        needed = 1
        for name, size in many.items():
            needed *= 1 if name in columns else size
        if parts_ and len(parts_) == needed:
            for name in parts_[0]:
                values = [part.get(name) for part in parts_]
                if name not in mine and not name.startswith(_MEAN) and None not in values:
                    mine[name] = sum((value for value in values if value is not None), Fraction(0))
        found[cell] = mine
    return found


def _gaps(
    name: str, ours: Mapping[CellKeys, Mapping[str, Fraction]], theirs: Mapping[CellKeys, Mapping[str, Fraction]]
) -> dict[CellKeys, Fraction]:
    return {
        cell: figures[name] - theirs[cell][name] for cell, figures in ours.items() if name in figures and name in theirs[cell]
    }


def _with_rest(box: _Box, gaps: Mapping[CellKeys, Fraction]) -> dict[tuple[CellKeys, ...], Fraction]:
    """The known differences, with what totals leave: of one part, which is then known, and of several together."""
    known = dict(gaps)
    grown = True
    while grown:
        grown = False
        for total, parts in box.totals:
            free = [part for part in parts if part not in known]
            if total not in known and not free:
                known[total] = sum((known[part] for part in parts), Fraction(0))
                grown = True
            elif total in known and len(free) == 1:
                known[free[0]] = known[total] - sum((known[part] for part in parts if part != free[0]), Fraction(0))
                grown = True
    found: dict[tuple[CellKeys, ...], Fraction] = {(cell,): gap for cell, gap in known.items()}
    for total, parts in box.totals:
        free = [part for part in parts if part not in known]
        if total in known and 0 < len(free) < len(parts):
            found[tuple(free)] = known[total] - sum((known[part] for part in parts if part in known), Fraction(0))
    return found


def _one_key(box: _Box, changes: Mapping[CellKeys, Fraction]) -> Iterator[tuple[CellKeys, ...]]:
    """Groups whose changes are all in one key, where everything else is known not to have changed."""
    for _, parts in box.totals:
        gaps = [changes.get(part) for part in parts]
        moved = [part for part, gap in zip(parts, gaps, strict=True) if gap]
        if None not in gaps and len(moved) == 1 and len(parts) > 1:
            yield (moved[0],)


@dataclass(eq=False, slots=True)
class _Judge:
    plan: TablePlan
    box: _Box
    changes: Changes | None
    counts: dict[tuple[CellKeys, ...], Fraction]
    complete: Collection[str]
    slack: Mapping[str, Fraction]

    def is_safe(self, group: tuple[CellKeys, ...], gap: Fraction, name: str | None, column: str = "") -> bool:
        """Return True if a difference could be published as a cell. ``name``: of the figure, None for the count; ``column``:
        that it adds up.
        """
        explained = self._explained(group, gap, name, column)
        if name in self.slack and explained is not None and not explained.any():
            return True  # nobody's contribution changed: the means were rounded
        rules = self.plan.rules
        added = name is not None and not name.startswith(_WEIGHTED)  # a weight is no contribution
        two = next((one for one in self.plan.measures if column and one.name == name and one.two_values is not None), None)
        if two is not None and not self._two_are_safe(group, gap, two):
            return False
        if explained is not None:
            parts = np.abs(explained[explained != 0])
            ordered = sorted((int(part) for part in parts), reverse=True)
            return group_is_safe(rules, len(parts), [(sum(ordered), ordered)] if added else [])
        if added and rules.largest:
            return False
        unit, rows = self.plan.unit, self.counts.get(group, Fraction(0))
        if column and (rows < 0 or column not in self.complete):
            rows = Fraction(0)
        most = 1 if unit is None else unit.max_rows
        persons = 1 if most is None else max(1, ceil(abs(rows) / most))
        return persons >= rules.min_count

    def _two_are_safe(self, group: tuple[CellKeys, ...], gap: Fraction, figure: MeasurePlan) -> bool:
        """Return True if the numbers of who has the one and who has the other of two values changed by enough persons each, or not at all. Such
        a sum gives both away (see :mod:`privrelease.disclosure.tables.two_values`).
        """
        column, unit = figure.column or "", self.plan.unit
        summed = self._explained(group, gap, figure.name, column)
        if summed is not None and self.changes is not None:
            valued = _by_person(self.changes, group, self.changes.found.known[self.changes.sums.index(column)])
            higher = summed - figure.low * valued
            changed = [int(np.count_nonzero(side)) for side in (higher, valued - higher)]
        else:
            rows, most = self.counts.get(group, Fraction(0)), 1 if unit is None else unit.max_rows
            if figure.kind == "mean" or rows <= 0 or most is None or column not in self.complete:
                return False
            more = gap / figure.grid - figure.low * rows
            changed = [ceil(abs(side) / most) for side in (more, rows - more)]
        return all(many == 0 or many >= self.plan.rules.min_count for many in changed)

    def _explained(self, group: tuple[CellKeys, ...], gap: Fraction, name: str | None, column: str) -> np.ndarray | None:
        """Return each person's changes in a group of cells; None where they are not known, or are not what the figures show."""
        changes = self.changes
        if changes is None or (column and column not in changes.sums):
            return None
        found = _by_person(
            changes, group, changes.found.rows if name is None else changes.found.sums[changes.sums.index(column)]
        )
        grid = _grid(self.plan, name, column)
        if (name is None or not name.startswith(_MEAN)) and abs(int(found.sum()) * grid - gap) > self.slack.get(
            name or "", Fraction(0)
        ):
            return None
        return found


def _by_person(changes: Changes, group: tuple[CellKeys, ...], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up what each person with a change in a group of cells changed of ``values``, given by entry."""
    inside = np.zeros(len(changes.found.cells), np.bool_)
    places = np.unravel_index(changes.found.cells, tuple(map(len, changes.keys))) if changes.by else ()
    for cell in group:
        mine = np.ones(len(inside), np.bool_)
        for key_name, key in cell:
            side = changes.by.index(key_name)
            mine &= places[side] == changes.keys[side].index(key)
        inside |= mine
    persons = changes.found.persons[inside]
    _, code = np.unique(persons, return_inverse=True)
    found = np.zeros(int(code.max(initial=-1)) + 1, np.int64)
    np.add.at(found, code, values[inside])
    return found
