"""Versions of tables by columns of which one determines the other: municipalities that lie in one county each.

Within one state of the data such columns are judged as one system. Between two states the table by the finer column is added up to the coarser one, as anybody can who
knows where each municipality lies, and is then a version of the table by that. Municipalities move and merge: they are added up as they lay when
the table by the finer column was made, and as they lay when the other was.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.comparison.earlier.table_changes import Changes
from privrelease.disclosure.tables.dependencies import column_dependencies
from privrelease.relational.tables import Membership, TableQuery
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from privrelease.audit.tables.previous_releases import CellKeys, PrintedCells
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.tables import TableCells

__all__ = [
    "Nested",
    "NestedVersion",
    "added_up",
    "changes_by_coarser",
    "in_coarser_keys",
    "nested_pairs",
    "used_pairs",
    "with_coarser",
]

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


@dataclass(frozen=True, eq=False, slots=True)
class NestedVersion:
    """A comparison of two tables in which the finer columns of ``pairs`` are added up. ``changes``: by the columns that the tables then have in
    common; None where they are not known.
    """

    pairs: tuple[Nested, ...]
    changes: Changes | None = None


def nested_pairs(
    plan: TablePlan,
    other: TablePlan,
    public: Collection[str],
    now: Callable[[TableQuery], TableCells],
    before: Callable[[TableQuery], TableCells] | None,
) -> Iterator[tuple[Nested, ...]]:
    """Yield which columns to add up: each pair alone and all together, as the finer keys lie in the state of the table that has them, and as they lie in
    that of the other. ``now``, ``before``: cells of either state; None where the earlier one cannot be read.
    """
    here = {(one.finer, one.coarser): one for one in _nested_columns(plan, other, public, now)}
    there = here if before is None else {(one.finer, one.coarser): one for one in _nested_columns(plan, other, public, before)}
    first: list[Nested] = []
    second: list[Nested] = []
    for pair in {**here, **there}:
        ours = pair[0] in plan.by
        own, others = (here, there) if ours else (there, here)
        maps = [] if pair not in own else [own[pair]]
        if pair in others:
            lies = others[pair].lies_in
            known = lies if pair not in own else {key: lies.get(key, inside) for key, inside in own[pair].lies_in.items()}
            maps += [replace(others[pair], lies_in=known)] if not maps or known != maps[0].lies_in else []
        first.append(maps[0])
        second.append(maps[-1])
    choices = [first] if all(one is two for one, two in zip(first, second, strict=True)) else [first, second]
    for chosen in choices:
        yield from ((one,) for one in chosen)
        if len(chosen) > 1:
            yield tuple(chosen)


def _nested_columns(
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
    """Return the cells of a table by the coarser column: of what is printed of all keys that lie in one of its keys, the sum; no means. Keys of
    which nothing says where they lie are taken to have no rows.
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


def in_coarser_keys(
    plan: TablePlan, printed: PrintedCells, nested: Nested, keys: tuple[str, ...]
) -> tuple[TablePlan, PrintedCells]:
    """Return the audited table, which has the finer column, by the coarser one with ``keys``."""
    by = with_coarser(plan.by, nested)
    every = tuple(keys if name == nested.coarser else own for name, own in zip(by, plan.keys, strict=True))
    return replace(plan, by=by, keys=every, impossible=None), added_up(printed, nested)


def changes_by_coarser(
    plan: TablePlan, other: TablePlan, pairs: Sequence[Nested], staged: Staged, before: Staged, engine: MeasuringEngine
) -> Changes:
    """Return what each person adds to the audited table now more than to the other before, by the columns in common once the finer ones are added up."""
    members = tuple(Membership(one.where, tuple(zip(one.by, one.keys, strict=True))) for one in (plan, other))
    asked = replace(plan.query, margins=False, largest=0, where=None)
    by, theirs = plan.by, other.by
    used = tuple(used_pairs(pairs, plan.by, other.by))
    for one in used:
        by, theirs = (with_coarser(by, one), theirs) if one.ours else (by, with_coarser(theirs, one))
    common = tuple(name for name in by if name in theirs)
    listed = [dict(zip(one.by, one.keys, strict=True)) for one in (plan, other)]
    keys = tuple(tuple(dict.fromkeys(key for held in listed for key in held.get(name, ()))) for name in common)

    def query(one: TablePlan, coarse: tuple[str, ...], member: Membership) -> TableQuery:
        read = dict(zip(coarse, one.by, strict=True))
        columns = tuple(read[name] for name in common)
        recoded = tuple(
            (pair.finer, tuple((key, inside) for key, inside in pair.lies_in.items() if inside is not None))
            for pair in used
            if pair.finer in columns
        )
        return replace(asked, by=columns, keys=keys, members=(member,), recoded=recoded)

    found = engine.changed_contributions(staged, before, query(plan, by, members[0]), query(other, theirs, members[1]))
    inside = found.cells % 2 == 0
    found = replace(
        found,
        cells=found.cells[inside] // 2,
        persons=found.persons[inside],
        rows=found.rows[inside],
        sums=found.sums[:, inside],
        known=found.known[:, inside],
    )
    return Changes(found, common, keys, asked.sums)


def used_pairs(pairs: Sequence[Nested], by: tuple[str, ...], theirs: tuple[str, ...]) -> Iterator[Nested]:
    """Yield the pairs that are added up one after the other: a finer column that was added up to another coarser one already is left out."""
    sides = {True: by, False: theirs}
    for one in pairs:
        side = sides[one.ours]
        if one.finer in side and one.coarser not in side:
            sides[one.ours] = with_coarser(side, one)
            yield one
