"""Released rows by what they show of the cells of a table: their keys as texts, whether the table's filter holds, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.auditing.column_maps import RenamedColumns, comparable
from privrelease.engine.duckdb.conditions import condition, unknown_cells
from privrelease.engine.protocol.release_pairs import RowPattern
from privrelease.relational.filters import Both, Either, Missing, Negated, columns_of
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.release_pairs import PatternQuery
    from privrelease.relational.filters import Filter

__all__ = ["row_patterns"]

_INSIDE = {0: False, 1: True, 2: None}


def row_patterns(
    connection: Connection, of: Opened, types: Mapping[str, ColumnType], asked: PatternQuery
) -> tuple[RowPattern, ...]:
    """Return every group of rows. Columns that the file lacks must not be asked for."""
    filters = (*(() if asked.where is None else (asked.where,)), *asked.also)
    filtered = sorted(frozenset[str]().union(*map(columns_of, filters)))
    names = tuple(dict.fromkeys((*asked.by, *asked.sums, *filtered, *(name for name, _ in asked.maps))))
    unknown = {name: cell for one in filters for name, cell in unknown_cells(one, asked.unseen).items()}
    types = {**dict.fromkeys(unknown, ColumnType.STRING), **types}
    cells = [
        sql.aliased(unknown[name] if name in unknown else of.cell(name, "t"), f"c{place}") for place, name in enumerate(names)
    ]
    renamed = (
        exp.select(*(cells or [sql.aliased(sql.integer(0), "c0")]))
        .from_(of.rows("t", False), copy=False)
        .subquery("p", copy=False)
    )
    table = RenamedColumns(names, types)
    keys = [sql.cast(sql.column(f"c{table.ordinal(name)}"), "VARCHAR") for name in asked.by]
    keys += [sql.integer(1)] if asked.where is None else []
    keys += [_state(one, table, asked) for one in filters]
    named = [sql.aliased(key, f"k{place}") for place, key in enumerate(keys)]
    values = [sql.aliased(sql.column(f"c{table.ordinal(name)}"), f"v{place}") for place, name in enumerate(asked.sums)]
    sets = [sql.aliased(sql.column("code", f"m{place}"), f"m{place}") for place in range(len(asked.maps))]
    rows = exp.select(*named, *sets, *values).from_(renamed, copy=False)
    for place, (name, handle) in enumerate(asked.maps):
        cell = comparable(sql.column(f"c{table.ordinal(name)}", "p"), types[name])
        on = exp.EQ(this=cell, expression=sql.column("value", f"m{place}"))
        rows = rows.join(sql.table(handle, alias=f"m{place}"), on=on, join_type="left")
    shown = rows.subquery("s")
    groups = [sql.column(f"k{place}") for place in range(len(keys))] + [sql.column(one.alias) for one in sets]
    known = [exp.Count(this=sql.column(f"v{place}")) for place in range(len(values))]
    counted = [sql.aliased(one, name) for one, name in zip((sql.count_all(), *known), _names(len(values)), strict=True)]
    found = connection.rows(
        exp.select(*groups, *counted).from_(shown, copy=False).group_by(*(one.copy() for one in groups), copy=False)
    )
    width, states, end = len(asked.by), len(keys), len(groups)
    return tuple(
        RowPattern(
            tuple(line[:width]),
            _INSIDE[line[width]],
            line[end],
            known=tuple(line[end + 1 :]),
            within=tuple(line[states:end]),
            also=tuple(_INSIDE[state] for state in line[width + 1 : states]),
        )
        for line in found
    )


def _names(values: int) -> list[str]:
    return ["n", *(f"n{place}" for place in range(values))]


def _state(where: Filter, table: RenamedColumns, asked: PatternQuery) -> exp.Expr:
    """1 where the filter holds, 0 where it does not, 2 where a cell that may have been suppressed, or is not shown, leaves that open."""
    holds = condition(where, table)
    decided = sql.when((holds.copy(), sql.integer(1)), otherwise=sql.integer(0))
    gone = [
        exp.Is(this=sql.column(f"c{table.ordinal(name)}"), expression=exp.null())
        for name in sorted(columns_of(where) & (asked.lossy | asked.unseen))
    ]
    if not gone:
        return decided
    # of a filter that asks for missing values a suppressed cell says nothing; any other is open only where it is neither true nor false
    open_ = sql.any_of(gone)
    if not _asks_for_missing(where):
        open_ = exp.and_(exp.paren(open_), exp.Is(this=exp.paren(holds.copy()), expression=exp.null()))
    return sql.when((open_, sql.integer(2)), otherwise=decided)


def _asks_for_missing(of: Filter) -> bool:
    match of:
        case Both(left, right) | Either(left, right):
            return _asks_for_missing(left) or _asks_for_missing(right)
        case Negated(inner):
            return _asks_for_missing(inner)
        case _:
            return isinstance(of, Missing)
