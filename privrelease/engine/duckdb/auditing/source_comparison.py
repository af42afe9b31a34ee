"""A released file next to its source, without a row map: how many rows of either hold the same values, over any set of columns.

Both sides are grouped once to their distinct rows; every question is then a group over those.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.protocol.source_comparison import ExcessRows, Pattern, SourceComparison
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.base import ReleasedFile, Staged

__all__ = ["BesideQueries"]

Expr = exp.Expr
_SIDES = ("released", "source")


def _there(cell: Expr) -> Expr:
    return exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null()))


def _cell(beside: SourceComparison, name: str, alias: str) -> Expr:
    return sql.column(f"c{beside.columns.index(name)}", alias)


def _sum(value: Expr) -> Expr:
    return sql.call("coalesce", exp.Sum(this=value), sql.integer(0))


def _over(one: Expr, other: Expr) -> Expr:
    return sql.call("greatest", exp.Sub(this=one.copy(), expression=other.copy()), sql.integer(0))


def _alike(source: Opened, released: Opened, names: Iterable[str]) -> frozenset[str]:
    """Columns that both sides store by one enumeration: their codes are compared."""
    return frozenset(name for name in names if name in source.enums and source.enums[name] == released.enums.get(name))


def _value(of: Opened, name: str, alike: Collection[str], moments: Collection[str]) -> Expr:
    if name in alike:
        return of.key(name, "t")
    return sql.cast(of.cell(name, "t"), "VARCHAR") if name in moments else of.cell(name, "t")


def laid(
    connection: Connection,
    source: Opened,
    released: Opened,
    columns: Sequence[str],
    persons: tuple[str, str] | None,
    moments: Collection[str],
) -> SourceComparison:
    """Store the distinct rows of both sides with the rows of each; persons are one more part of a row, on a side of their own.

    ``moments``: columns of date and time, compared as they are written: what one width holds another may not.
    """
    alike = _alike(source, released, columns)
    parts: list[exp.Select] = []
    for side, of in zip(_SIDES, (released, source), strict=True):
        cells = [_value(of, name, alike, moments) for name in columns]
        named = [sql.aliased(cell, f"c{place}") for place, cell in enumerate(cells)]
        if persons is not None:
            who = sql.cast(of.cell(persons[1 if side == "released" else 0], "t"), "VARCHAR")
            named += [sql.aliased(who if one == side else sql.cast(exp.null(), "VARCHAR"), f"p_{one}") for one in _SIDES]
            cells.append(who)
        named += [sql.aliased(sql.count_all() if one == side else sql.integer(0), f"n_{one}") for one in _SIDES]
        rows = exp.select(*named).from_(of.rows("t", False), copy=False)
        parts.append(rows.group_by(*(cell.copy() for cell in cells)) if cells else rows)
    keys = [f"c{place}" for place in range(len(columns))]
    keys += [f"p_{side}" for side in _SIDES] if persons is not None else []
    cells = [sql.column(key, "b") for key in keys]
    sums = [sql.aliased(sql.cast(_sum(sql.column(f"n_{side}", "b")), "BIGINT"), f"n_{side}") for side in _SIDES]
    both = exp.select(*cells, *sums).from_(exp.union(*parts, distinct=False).subquery("b"), copy=False)
    table = connection.fresh("b")
    connection.run(sql.create_table(table, both.group_by(*(cell.copy() for cell in cells)) if cells else both))
    return SourceComparison(table, tuple(columns), persons is not None)


def patterns(connection: Connection, beside: SourceComparison, maskable: Sequence[str]) -> tuple[Pattern, ...]:
    """Group the released rows by which cells hold a value."""
    kept = [_there(_cell(beside, name, "t")) for name in maskable]
    rows = _sum(sql.column("n_released", "t"))
    named = [sql.aliased(one, f"k{place}") for place, one in enumerate(kept)]
    query = exp.select(*named, sql.aliased(sql.cast(rows, "BIGINT"), "n")).from_(
        sql.table(beside.handle, alias="t"), copy=False
    )
    query = query.where(exp.GT(this=sql.column("n_released", "t"), expression=sql.integer(0)))
    block = connection.arrays(query.group_by(*(one.copy() for one in kept)) if kept else query)
    found = []
    for place, n in enumerate(block["n"].tolist()):
        chosen = tuple(name for at, name in enumerate(maskable) if block[f"k{at}"][place])
        found.append(Pattern(chosen, int(n)))
    return tuple(sorted((one for one in found if one.rows), key=lambda one: (-one.rows, -len(one.kept), one.kept)))


def beyond(
    connection: Connection, beside: SourceComparison, fixed: Sequence[str], kept: Sequence[str], others: Sequence[str]
) -> ExcessRows:
    """Group by the columns and subtract."""
    names = [*fixed, *kept]
    rows = exp.select().from_(sql.table(beside.handle, alias="t"), copy=False)
    if kept:
        rows = rows.where(sql.all_of([_there(_cell(beside, name, "t")) for name in kept]))
    if others and names:
        rows = rows.join(
            _values_of(beside, names, kept, others).subquery("v"),
            on=sql.all_of(
                [
                    exp.NullSafeEQ(this=_cell(beside, name, "t"), expression=sql.column(f"v{at}", "v"))
                    if at < len(fixed)
                    else exp.EQ(this=_cell(beside, name, "t"), expression=sql.column(f"v{at}", "v"))
                    for at, name in enumerate(names)
                ]
            ),
            join_type="semi",
        )
    figures = [sql.aliased(_sum(sql.column(f"n_{side}", "t")), letter) for side, letter in zip(_SIDES, "rs", strict=True)]
    if beside.persons:
        counts = [exp.Count(this=exp.Distinct(expressions=[sql.column(f"p_{side}", "t")])) for side in _SIDES]
        figures += [sql.aliased(one, letter) for one, letter in zip(counts, "pq", strict=True)]
    grouped = rows.select(*figures)
    if names:
        grouped = grouped.group_by(*(_cell(beside, name, "t") for name in names))
    here, there = sql.column("r", "g"), sql.column("s", "g")
    nowhere = exp.EQ(this=there.copy(), expression=sql.integer(0))
    absent = exp.Filter(this=exp.Sum(this=here.copy()), expression=exp.Where(this=nowhere))
    persons = _sum(_over(sql.column("p", "g"), sql.column("q", "g"))) if beside.persons else sql.integer(0)
    found = exp.select(_sum(_over(here, there)), sql.call("coalesce", absent, sql.integer(0)), persons)
    return ExcessRows(*(int(figure) for figure in connection.row(found.from_(grouped.subquery("g")))))


def _values_of(beside: SourceComparison, names: Sequence[str], kept: Sequence[str], others: Sequence[str]) -> exp.Select:
    """The distinct values, over ``names``, of released rows in which exactly ``kept`` hold a value."""
    conditions: list[Expr] = [exp.GT(this=sql.column("n_released", "u"), expression=sql.integer(0))]
    conditions += [_there(_cell(beside, name, "u")) for name in kept]
    conditions += [exp.Is(this=_cell(beside, name, "u"), expression=exp.null()) for name in others]
    named = [sql.aliased(_cell(beside, name, "u"), f"v{at}") for at, name in enumerate(names)]
    return (
        exp.select(*named)
        .distinct(copy=False)
        .from_(sql.table(beside.handle, alias="u"), copy=False)
        .where(sql.all_of(conditions), copy=False)
    )


class BesideQueries(ABC):
    """See :class:`privrelease.engine.protocol.source_comparison.BesideEngine`."""

    _connection: Connection

    @abstractmethod
    def _opened(self, of: Staged | ReleasedFile) -> Opened: ...

    def beside_source(
        self, source: Staged, released: ReleasedFile, columns: Sequence[str], persons: tuple[str, str] | None = None
    ) -> SourceComparison:
        """Lay a released file next to its source."""
        moments = {name for name, kind in released.columns if kind is ColumnType.DATETIME}
        return laid(self._connection, self._opened(source), self._opened(released), columns, persons, moments)

    def patterns(self, beside: SourceComparison, maskable: Sequence[str]) -> tuple[Pattern, ...]:
        """Return the patterns of missing cells."""
        return patterns(self._connection, beside, maskable)

    def beyond_source(
        self, beside: SourceComparison, fixed: Sequence[str], kept: Sequence[str], others: Sequence[str] = ()
    ) -> ExcessRows:
        """Count released rows beyond those of the source."""
        return beyond(self._connection, beside, fixed, kept, others)
