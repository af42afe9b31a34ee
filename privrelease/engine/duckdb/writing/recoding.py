"""Columns whose values are replaced before anything is made of them: classes, order and dictionaries are then over what is released.

A column of few values is asked for its distinct values, any other block by block, so that what is asked for is never a row at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import fault, raise_all
from privrelease.engine.duckdb.measuring.coding import Coding, staged_rows
from privrelease.engine.duckdb.reading.staging import MOST_CODED, StagedTable
from privrelease.engine.duckdb.storage_types import storage_type
from privrelease.findings import Finding, pluralise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.protocol.base import Recode

__all__ = ["recode"]

_BLOCK_ROWS = 122_880
#: Rows that one message names.
_NAMED_ROWS = 6


def recode(
    connection: Connection, staged: StagedTable, recodes: Sequence[Recode], cache: dict[int, Coding]
) -> tuple[StagedTable, dict[int, Coding]]:
    """Return the table with the values of some columns replaced, and the codings of ``cache`` that still hold."""
    places = {staged.ordinal(one.column.name): one for one in recodes}
    columns, coded, few = list(staged.columns), list(staged.coded), list(staged.few)
    cells: dict[int, exp.Expr] = {}
    sides = []
    for at, one in places.items():
        side, distinct = (_by_value if staged.few[at] else _by_row)(connection, staged, at, one.values)
        sides.append(side)
        columns[at] = one.column
        few[at] = len(distinct) <= MOST_CODED
        text = storage_type(one.column) == "VARCHAR"
        coded[at] = _enumeration(connection, distinct) if text and few[at] else None
        cell, name = sql.column(f"c{at}", side), coded[at]
        cells[at] = sql.cast(cell, storage_type(one.column)) if name is None else sql.cast_enum(cell, name)
    _all_covered(connection, staged, dict(zip(places, sides, strict=True)))
    table = connection.fresh("s")
    named = [sql.aliased(cells.get(at, sql.column(f"c{at}", "s")), f"c{at}") for at in range(len(columns))]
    connection.run(sql.create_table(table, staged_rows(exp.select(*named), staged, sides)))
    for side in sides:
        connection.drop("TABLE", side)
    made = replace(staged, table=table, columns=tuple(columns), coded=tuple(coded), few=tuple(few))
    return made, {at: coding for at, coding in cache.items() if at not in places}


def _by_value(
    connection: Connection, staged: StagedTable, ordinal: int, values: Callable[[pa.Array], pa.Array]
) -> tuple[str, pa.Array]:
    """Store the released cells of a column of few values, in the order of rows; return the table's name and the distinct values."""
    import pyarrow as pa

    cell = sql.column(f"c{ordinal}", "s")
    cell = cell if staged.coded[ordinal] is None else sql.cast(cell, "VARCHAR")
    there = exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null()))
    asked = exp.select(sql.aliased(cell.copy(), "v")).distinct().from_(sql.table(staged.table, alias="s")).where(there)
    of = _one_array(connection.arrow(asked).column(0))
    made = _given(values, of)
    given, side = connection.fresh("given"), connection.fresh("recoded")
    connection.register(given, pa.table({"v": of, "t": made}))
    matched = exp.EQ(this=cell, expression=sql.column("v", "m"))
    rows = exp.select(sql.aliased(sql.column("t", "m"), f"c{ordinal}")).from_(sql.table(staged.table, alias="s"))
    rows = rows.join(sql.table(given, alias="m"), on=matched, join_type="left").order_by(sql.column("rowid", "s"))
    connection.run(sql.create_table(side, rows))
    connection.unregister(given)
    return side, made.unique().drop_null()


def _by_row(
    connection: Connection, staged: StagedTable, ordinal: int, values: Callable[[pa.Array], pa.Array]
) -> tuple[str, pa.Array]:
    """As :func:`_by_value`, of a column of many values, which are asked block by block."""
    import pyarrow as pa

    cell = exp.select(sql.aliased(sql.column(f"c{ordinal}"), "v")).from_(sql.table(staged.table))
    made = []
    for block in [block.column(0) for block in connection.side_blocks(cell, _BLOCK_ROWS)]:
        known = np.asarray(block.is_valid())
        made.append(_given(values, block.drop_null()).take(pa.array(np.cumsum(known) - 1, mask=~known)))
    column = pa.chunked_array(made)
    given, side = connection.fresh("given"), connection.fresh("recoded")
    connection.register(given, pa.table({f"c{ordinal}": column}))
    connection.run(sql.create_table(side, exp.select(exp.Star()).from_(sql.table(given))))
    connection.unregister(given)
    return side, _one_array(column.unique()).drop_null()


def _one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def _given(values: Callable[[pa.Array], pa.Array], of: pa.Array) -> pa.Array:
    found = values(of)
    if len(found) != len(of):
        message = "a transform step did not give one value for each"
        raise fault(message)
    return found


def _all_covered(connection: Connection, staged: StagedTable, sides: Mapping[int, str]) -> None:
    """Raise InputError D256 where a cell has a value and nothing that would be released for it: all columns at once, by rows."""
    findings = []
    for at, side in sides.items():
        cell, name = sql.column(f"c{at}", "s"), staged.columns[at].name
        lacking = exp.and_(
            exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null())),
            exp.Is(this=sql.column(f"c{at}", side), expression=exp.null()),
        )
        rows = staged_rows(exp.select(sql.column("rowid", "s")), staged, [side]).where(lacking.copy())
        first = [int(row) + 1 for (row,) in connection.rows(rows.order_by(sql.column("rowid", "s")).limit(_NAMED_ROWS))]
        if not first:
            continue
        counted = exp.select(sql.count_all(), exp.Count(this=exp.Distinct(expressions=[cell])))
        many, values = map(int, connection.row(staged_rows(counted, staged, [side]).where(lacking)))
        listed = ", ".join(map(str, first)) + (f" and {many - len(first)} more" if many > len(first) else "")
        message = f"column {name}: {pluralise(values, 'value is', 'values are')} not covered by its transform step ({'row' if many == 1 else 'rows'} {listed})"
        hint = (
            "add what is lacking to the hierarchy or list of areas, or say how the cells are to be read (`missing`, `aliases`)"
        )
        findings.append(Finding("D256", message, hint=hint, subject=name))
    raise_all(findings)


def _enumeration(connection: Connection, distinct: pa.Array) -> str:
    """Make an enumeration of texts, in ascending order."""
    import pyarrow as pa

    given, name = connection.fresh("values"), connection.fresh("e")
    connection.register(given, pa.table({"v": distinct}))
    connection.run(sql.create_enum(name, exp.select(sql.column("v")).from_(sql.table(given)).order_by(sql.column("v"))))
    connection.unregister(given)
    return name
