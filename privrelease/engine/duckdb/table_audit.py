"""The contributions to a table, for its audit: what each person adds to each inner cell. Totals are added up elsewhere, not in SQL.

Nothing here is shared with :mod:`privrelease.engine.duckdb.tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.relational.schema import ColumnType
from privrelease.relational.tables import Contributions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.staging import StagedTable
    from privrelease.relational.tables import TableQuery

__all__ = ["contributions"]


def contributions(connection: Connection, table: StagedTable, asked: TableQuery) -> Contributions:
    """Return one entry by person and inner cell; where every row is a person, one by row."""
    keys = [sql.cast(sql.column(f"c{table.ordinal(name)}"), "VARCHAR") for name in asked.by]
    person = None if asked.unit is None else sql.column(f"c{table.ordinal(asked.unit)}")
    figures = [_value(table, name) for name in asked.sums]
    named = [sql.aliased(key, f"k{i}") for i, key in enumerate(keys)]
    if person is None:
        rows: list[exp.Expr] = [sql.aliased(sql.integer(1), "n")]
        code: exp.Expr = sql.call("row_number")
        who = sql.aliased(exp.Window(this=code), "w")
        query = exp.select(*named, who, *rows, *(sql.aliased(one, f"x{i}") for i, one in enumerate(figures)))
        query = query.from_(sql.table(table.table))
    else:
        rank = exp.Window(this=sql.call("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=person)]))
        summed = [sql.aliased(exp.Sum(this=one), f"x{i}") for i, one in enumerate(figures)]
        query = exp.select(*named, sql.aliased(rank, "w"), sql.aliased(sql.count_all(), "n"), *summed)
        query = query.from_(sql.table(table.table)).group_by(*(key.copy() for key in keys), person.copy())
    block = connection.arrow(query)
    places = [_places(block.column(f"k{i}"), keys) for i, keys in enumerate(asked.keys)]
    inside = np.logical_and.reduce([place >= 0 for place in places])
    cells = np.zeros(int(inside.sum()), np.int64)
    for place, texts in zip(places, asked.keys, strict=True):
        cells = cells * len(texts) + place[inside]
    columns = [np.asarray(block.column(name).cast("int64"))[inside] for name in ("w", "n")]
    sums = [np.asarray(block.column(f"x{i}").cast("int64"))[inside] for i in range(len(figures))]
    left_out = int(np.asarray(block.column("n").cast("int64"))[~inside].sum())
    return Contributions(cells, columns[0], columns[1], np.array(sums).reshape(len(figures), len(cells)), left_out)


def _value(table: StagedTable, name: str) -> exp.Expr:
    """The cell in whole steps; 0 where it is missing."""
    place = table.ordinal(name)
    cell, column = sql.column(f"c{place}"), table.columns[place]
    if column.type is ColumnType.NUMBER:
        per_step = exp.Div(this=sql.cast(cell, "DOUBLE"), expression=sql.cast(sql.text(str(column.grid)), "DOUBLE"))
        cell = sql.cast(sql.call("round", per_step), "BIGINT")
    missing = exp.Is(this=cell.copy(), expression=exp.null())
    return sql.cast(sql.when((missing, sql.integer(0)), otherwise=cell), "BIGINT")


def _places(column: Any, keys: Sequence[str]) -> NDArray[np.int64]:  # noqa: ANN401 -- an Arrow column
    """The number of each key in the list; -1 where it is missing or not listed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column, value_set=pa.array(keys, pa.string()))
    return np.asarray(pc.fill_null(found, -1), dtype=np.int64)
