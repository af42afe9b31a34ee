"""Versions of tables by columns of which one determines the other: municipalities that lie in one county each.

Within one state of the data such columns are judged as one system. Between two states the table by the finer column is added up to the coarser one, as anybody can who
knows where each municipality lies, and is then a version of the table by that.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.dependencies import column_dependencies
from privrelease.relational.tables import TableQuery
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from privrelease.audit.comparison.earlier.table_changes import Changes
    from privrelease.audit.tables.previous_releases import CellKeys, PrintedCells
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.tables import TableCells

__all__ = ["Nested", "added_up", "in_coarser_keys", "nested_columns", "with_coarser"]

_MEAN = "mean_"


@dataclass(frozen=True, eq=False, slots=True)
class Nested:
    """Column ``finer`` of one table determines column ``coarser`` of another. ``lies_in``: the key of the latter by each key of the former that has rows,
    None where it is none of those listed. ``ours``: the finer one is of the table that is audited.
    """

    finer: str
    coarser: str
    lies_in: Mapping[str, str | None]
    ours: bool


def nested_columns(
    plan: TablePlan, other: TablePlan, public: Collection[str], fetch: Callable[[TableQuery], TableCells]
) -> Iterator[Nested]:
    """Yield which columns of one table determine a column of the other that the first has not."""
    for mine, own in zip(plan.by, plan.keys, strict=True):
        for theirs, keys in zip(other.by, other.keys, strict=True):
            if mine in other.by or theirs in plan.by:
                continue
            lists = {mine: own, theirs: keys}
            for found in column_dependencies(lists, public, fetch):
                query = TableQuery((found.column, found.on), (lists[found.column], lists[found.on]), margins=False, others=True)
                rows = fetch(query).rows.reshape(query.shape)[:-1]
                places = [int(line.argmax()) if line.any() else None for line in rows]
                listed = (*lists[found.on], None)
                lies_in = {
                    key: listed[place] for key, place in zip(lists[found.column], places, strict=True) if place is not None
                }
                yield Nested(found.column, found.on, lies_in, found.column == mine)


def with_coarser(by: Sequence[str], nested: Nested) -> tuple[str, ...]:
    """Return group columns with the coarser one in place of the finer one."""
    return tuple(nested.coarser if name == nested.finer else name for name in by)


def added_up(printed: PrintedCells, nested: Nested) -> dict[CellKeys, dict[str, Fraction | None]]:
    """Return the cells of a table by the coarser column: of what is printed of all keys that lie in one of its keys, the sum; no means. Keys that have
    no row now are taken to have had none.
    """
    groups: dict[CellKeys, list[Mapping[str, Fraction | None]]] = {}
    found: dict[CellKeys, dict[str, Fraction | None]] = {}
    for cell, figures in printed.items():
        key = dict(cell).get(nested.finer)
        if key is None:
            found[cell] = dict(figures)
        elif (inside := nested.lies_in.get(key)) is not None:
            groups.setdefault(cell - {(nested.finer, key)} | {(nested.coarser, inside)}, []).append(figures)
    for cell, parts in groups.items():
        found[cell] = {}
        for name in parts[0]:
            values = [part.get(name) for part in parts]
            known = [value for value in values if value is not None]
            whole = len(known) == len(values) and (len(values) == 1 or not name.startswith(_MEAN))
            found[cell][name] = sum(known, Fraction(0)) if whole else None
    return found


def coarser_changes(changes: Changes, by: tuple[str, ...], keys: tuple[tuple[str, ...], ...], nested: Nested) -> Changes:
    """Return the changes by the cells of the coarser column; ``by``, ``keys``: of the table with it."""
    side = changes.by.index(nested.finer)
    listed = keys[side]
    place = [listed.index(inside) if (inside := nested.lies_in.get(key)) in listed else -1 for key in changes.keys[side]]
    places = list(np.unravel_index(changes.found.cells, tuple(map(len, changes.keys))))
    places[side] = np.array(place, np.int64)[places[side]]
    kept = places[side] >= 0
    cells = np.ravel_multi_index([one[kept] for one in places], tuple(map(len, keys))).astype(np.int64)
    found = changes.found
    alike = None if found.alike is None else found.alike[kept]
    moved = replace(
        found,
        cells=cells,
        persons=found.persons[kept],
        rows=found.rows[kept],
        sums=found.sums[:, kept],
        known=found.known[:, kept],
        alike=alike,
    )
    return replace(changes, found=moved, by=by, keys=keys)


def in_coarser_keys(
    plan: TablePlan, printed: PrintedCells, changes: Changes | None, nested: Nested, keys: tuple[str, ...]
) -> tuple[TablePlan, PrintedCells, Changes | None]:
    """Return the audited table, which has the finer column, by the coarser one with ``keys``."""
    by = with_coarser(plan.by, nested)
    every = tuple(keys if name == nested.coarser else own for name, own in zip(by, plan.keys, strict=True))
    changed = None if changes is None else coarser_changes(changes, by, every, nested)
    return replace(plan, by=by, keys=every, impossible=None), added_up(printed, nested), changed
