"""Published tables of the same rows: those of the policy, and those that the policy does not describe any more, by what their runs kept of them.

Recipients still hold the tables that a policy no longer has. Such a table is read as its run described it, filter and rounding with it; where no
description fits, it is taken to be made of all rows. Whether it is shows when what it prints is what the source gives. One that neither reading
fits is compared cell by cell (:mod:`privrelease.audit.tables.previous_releases`).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.audit.checks.aggregate_checks import cells_of_file
from privrelease.audit.tables.rows import places_of, read_table
from privrelease.errors import PrivreleaseError
from privrelease.plan.tables.description import plan_of_same_source
from privrelease.plan.tables.plan import MeasurePlan, tables_of_same_rows
from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.tables.rows import TableRow
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.schema import Column, Sink

__all__ = ["TableOut", "others_out", "plan_of_file"]

_KINDS: tuple[Literal["sum", "mean", "weighted_count"], ...] = ("sum", "mean", "weighted_count")


@dataclass(frozen=True, slots=True)
class TableOut:
    """A table that is out. ``readings``: plans that its file fits, the policy's own first, each with what the file then prints. ``made``: that by which
    its run described it, or the first: of an earlier state nothing but the run says which filter it had.
    """

    release: EarlierRelease
    readings: tuple[tuple[TablePlan, tuple[TableRow, ...]], ...]
    made: tuple[TablePlan, tuple[TableRow, ...]]


def others_out(plan: TablePlan, policy: Plan, earlier: Sequence[EarlierRelease]) -> list[TableOut]:
    """Return every table that is out and that a plan fits, newest first; earlier versions of the table itself too.

    Tables of the policy are looked at in any case; others only where recipients may hold them.
    """
    known = {one.id: one for one in tables_of_same_rows(plan, policy)}
    found = []
    for one in earlier:
        if one.kind != plan.kind:
            continue
        listed = None if one.manifest is None else known.get(one.manifest.release)
        if listed is plan and not one.held:
            continue
        readings = []
        for other in _plans(plan, listed, one):
            rows = read_table(other, one.file)
            if rows is not None and [(row.keys, row.over) for row in rows] == places_of(other):
                readings.append((other, rows))
        if readings:
            kept = None if one.description is None else plan_of_same_source(one.description, plan)
            made = next((reading for reading in readings if kept is not None and reading[0] == kept), readings[0])
            found.append(TableOut(one, tuple(readings), made))
    return found


def _plans(plan: TablePlan, listed: TablePlan | None, one: EarlierRelease) -> list[TablePlan]:
    """Return the plans by which a table is read: the policy's own, that by which it was made, and one of all rows by its file."""
    found = [] if listed is None else [listed]
    if one.held:
        kept = None if one.description is None else plan_of_same_source(one.description, plan)
        found += [other for other in (kept, _derived(plan, one)) if other is not None]
    return [other for place, other in enumerate(found) if other not in found[:place]]


def _derived(plan: TablePlan, one: EarlierRelease) -> TablePlan | None:
    try:
        return plan_of_file(plan, one.file, one.name if one.manifest is None else one.manifest.release)
    except (OSError, ValueError, LookupError, PrivreleaseError):
        return None


def plan_of_file(like: TablePlan, file: Sink, name: str) -> TablePlan | None:
    """Return the plan of a table that a file holds, of all rows of the source of ``like`` and under its rules; None where that cannot be: it
    has columns that the source does not, or figures that cannot be added exactly. Raises OSError, or ValueError where it is no table.
    """
    names, lines = cells_of_file(file)
    if "total_over" not in names or names[-1:] != ["status"]:
        return None
    by, figures = tuple(names[: names.index("total_over")]), names[names.index("total_over") + 1 : -1]
    declared = {column.name: column for column in like.source.declared}
    measures = [_measure(figure, declared) for figure in figures]
    if not by or not figures or any(column not in declared for column in by) or None in measures:
        return None
    over = [str(line[len(by)] or "").split(" ") for line in lines]
    keys = tuple(
        tuple(dict.fromkeys(str(line[i]) for line, totals in zip(lines, over, strict=True) if column not in totals))
        for i, column in enumerate(by)
    )
    found = tuple(one for one in measures if one is not None)
    needed = {*by, *(one.column for one in found), *(column.name for column in like.source.columns)}
    source = replace(
        like.source,
        columns=tuple(column for column in like.source.declared if column.name in needed),
        unread=tuple(column for column in like.source.declared if column.name not in needed),
    )
    return replace(
        like,
        id=name,
        source=source,
        by=by,
        keys=keys,
        measures=found,
        margins=any(totals != [""] for totals in over),
        round_up=1,
        checks=(),
        where=None,
        impossible=None,
        lists=(),
    )


def _measure(figure: str, declared: dict[str, Column]) -> MeasurePlan | None:
    if figure == "count":
        return MeasurePlan("count", "count")
    for kind in _KINDS:
        column = declared.get(figure.removeprefix(f"{kind}_")) if figure.startswith(f"{kind}_") else None
        if column is None or column.domain is None or column.domain.low is None or column.domain.high is None:
            continue
        if column.type is not ColumnType.INTEGER and column.grid is None:
            continue
        grid = Fraction(1) if column.grid is None else Fraction(column.grid)
        low, high = Fraction(column.domain.low) / grid, Fraction(column.domain.high) / grid
        if low >= 0:
            return MeasurePlan(kind, figure, column.name, grid, int(low), int(high))
    return None
