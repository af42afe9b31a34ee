"""The contributions to a table, for its audit: what each person adds to each inner cell. Totals are added up elsewhere, not in SQL.

Nothing here is shared with :mod:`privrelease.engine.duckdb.measuring.tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.conditions import condition
from privrelease.relational.schema import ColumnType
from privrelease.relational.tables import Contributions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable
    from privrelease.relational.tables import Membership, TableQuery

__all__ = ["contributions"]


def contributions(connection: Connection, table: StagedTable, asked: TableQuery) -> Contributions:
    """Return one entry by person and inner cell; where every row is a person, one by row."""
    person = None if asked.unit is None else sql.column(f"c{table.ordinal(asked.unit)}")
    named = [sql.aliased(_text(table, name), f"k{i}") for i, name in enumerate(asked.by)]
    named += [sql.aliased(_outside(table, member), f"m{i}") for i, member in enumerate(asked.members)]
    steps = [_steps(table, name) for name in asked.sums]
    values = [_zero_where_missing(one) for one in steps]
    known = [
        sql.when((exp.Is(this=one.copy(), expression=exp.null()), sql.integer(0)), otherwise=sql.integer(1)) for one in steps
    ]
    source = exp.select().from_(sql.table(table.table))
    if asked.where is not None:
        source = source.where(condition(asked.where, table))
    if person is None:
        who = sql.aliased(exp.Window(this=sql.call("row_number")), "w")
        figures = [sql.aliased(one, f"{name}{i}") for name, part in (("x", values), ("v", known)) for i, one in enumerate(part)]
        query = source.select(*named, who, sql.aliased(sql.integer(1), "n"), *figures)
    else:
        rank = exp.Window(this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=person)]))
        figures = [
            sql.aliased(exp.Sum(this=one), f"{name}{i}")
            for name, part in (("x", values), ("v", known))
            for i, one in enumerate(part)
        ]
        query = source.select(*named, sql.aliased(rank, "w"), sql.aliased(sql.count_all(), "n"), *figures)
        query = query.group_by(*(one.this.copy() for one in named), person.copy())
    block = connection.arrow(query)
    places = [_places(block.column(f"k{i}"), keys, others=asked.others) for i, keys in enumerate(asked.keys)]
    places += [np.asarray(block.column(f"m{i}").cast("int64")) for i in range(len(asked.members))]
    inside = np.logical_and.reduce([place >= 0 for place in places])
    cells = np.zeros(int(inside.sum()), np.int64)
    for place, size in zip(places, asked.inner, strict=True):
        cells = cells * size + place[inside]
    who_, rows = [np.asarray(block.column(name).cast("int64"))[inside] for name in ("w", "n")]
    sums, counts = (
        np.array([np.asarray(block.column(f"{name}{i}").cast("int64"))[inside] for i in range(len(steps))]).reshape(
            len(steps), len(cells)
        )
        for name in ("x", "v")
    )
    return Contributions(cells, who_, rows, sums, counts, table.n_rows - int(rows.sum()))


def _text(table: StagedTable, name: str) -> exp.Expr:
    return sql.cast(sql.column(f"c{table.ordinal(name)}"), "VARCHAR")


def _outside(table: StagedTable, member: Membership) -> exp.Expr:
    """0 for a row that is a member, 1 for one that is not, or of which it is not known."""
    conditions = [sql.one_of(_text(table, name), keys) for name, keys in member.keys]
    if member.where is not None:
        conditions.append(condition(member.where, table))
    if not conditions:
        return sql.integer(0)
    return sql.when((exp.and_(*conditions), sql.integer(0)), otherwise=sql.integer(1))


def _steps(table: StagedTable, name: str) -> exp.Expr:
    """The cell in whole steps; NULL where it is missing."""
    place = table.ordinal(name)
    cell, column = sql.column(f"c{place}"), table.columns[place]
    if column.type is ColumnType.NUMBER:
        per_step = exp.Div(this=sql.cast(cell, "DOUBLE"), expression=sql.cast(sql.text(str(column.grid)), "DOUBLE"))
        return sql.cast(sql.call("round", per_step), "BIGINT")
    return cell


def _zero_where_missing(cell: exp.Expr) -> exp.Expr:
    missing = exp.Is(this=cell.copy(), expression=exp.null())
    return sql.cast(sql.when((missing, sql.integer(0)), otherwise=cell.copy()), "BIGINT")


def _places(column: Any, keys: Sequence[str], *, others: bool) -> NDArray[np.int64]:  # noqa: ANN401 -- an Arrow column
    """The number of each key in the list; where it is missing or not listed, that of the place for others, or -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column, value_set=pa.array(keys, pa.string()))
    return np.asarray(pc.fill_null(found, len(keys) if others else -1), dtype=np.int64)
