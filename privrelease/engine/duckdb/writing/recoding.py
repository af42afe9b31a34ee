"""Columns whose values are replaced before anything is made of them: classes, order and dictionaries are then over what is released.

A column of few values is asked for its distinct values, any other block by block, so that what is asked for is never a row at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
#: Values that are looked up by their place in a list; more are joined.
_LISTED = 4_096


def recode(
    connection: Connection, staged: StagedTable, recodes: Sequence[Recode], cache: dict[int, Coding]
) -> tuple[StagedTable, dict[int, Coding]]:
    """Return the table with the values of some columns replaced, and the codings of ``cache`` that still hold."""
    places = {staged.ordinal(one.column.name): one for one in recodes}
    columns, coded, few = list(staged.columns), list(staged.coded), list(staged.few)
    found = {at: (_by_value if staged.few[at] else _by_row)(connection, staged, at, one.values) for at, one in places.items()}
    _all_covered(connection, staged, {at: one for at, one in found.items() if one.lacking})
    cells: dict[int, exp.Expr] = {}
    for at, one in places.items():
        distinct = found[at].distinct
        columns[at] = one.column
        few[at] = len(distinct) <= MOST_CODED
        text = storage_type(one.column) == "VARCHAR"
        coded[at] = _enumeration(connection, distinct) if text and few[at] else None
        cell, name = found[at].cell, coded[at]
        cells[at] = sql.cast(cell, storage_type(one.column)) if name is None else sql.cast_enum(cell, name)
    sides = [one.side for one in found.values() if one.side is not None]
    table = connection.fresh("s")
    named = [sql.aliased(cells.get(at, sql.column(f"c{at}", "s")), f"c{at}") for at in range(len(columns))]
    connection.run(sql.create_table(table, staged_rows(exp.select(*named), staged, sides)))
    for side in sides:
        connection.drop("TABLE", side)
    made = replace(staged, table=table, columns=tuple(columns), coded=tuple(coded), few=tuple(few))
    return made, {at: coding for at, coding in cache.items() if at not in places}


@dataclass(frozen=True, slots=True)
class _Made:
    """The released cells of a column: ``cell``, over the staged rows ``s`` and, where there is one, the ``side`` table in their order.

    ``distinct``: the released values, none missing. ``lacking``: some value has none.
    """

    cell: exp.Expr
    side: str | None
    distinct: pa.Array
    lacking: bool


def _by_value(connection: Connection, staged: StagedTable, ordinal: int, values: Callable[[pa.Array], pa.Array]) -> _Made:
    """Make the released cells of a column of few values: looked up by the place of the value in a list, else joined by the value."""
    import pyarrow as pa

    cell, coded = sql.column(f"c{ordinal}", "s"), staged.coded[ordinal]
    shown = cell if coded is None else sql.cast(cell, "VARCHAR")
    place = _place(connection, staged, ordinal)
    there = exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null()))
    few = exp.select(cell.copy()).distinct().from_(sql.table(staged.table, alias="s")).where(there)
    asked = exp.select(sql.aliased(shown.copy(), "v"), sql.aliased(place or exp.null(), "p"))
    block = connection.arrow(asked.from_(few.subquery("s")))
    of = _one_array(block.column(0))
    made = _given(values, of)
    distinct, lacking = made.unique().drop_null(), bool(made.null_count)
    if place is not None:
        listed: list[exp.Expr] = [exp.null()] * (max(block.column(1).to_pylist(), default=0) + 1)
        for at, text in zip(block.column(1).to_pylist(), made.cast(pa.string()).to_pylist(), strict=True):
            listed[at] = exp.null() if text is None else sql.text(text)
        at = exp.Add(this=exp.Paren(this=place), expression=sql.integer(1))
        return _Made(sql.call("list_extract", exp.Array(expressions=listed), at), None, distinct, lacking)
    given, side = connection.fresh("given"), connection.fresh("recoded")
    connection.register(given, pa.table({"v": of, "t": made}))
    matched = exp.EQ(this=shown, expression=sql.column("v", "m"))
    rows = exp.select(sql.aliased(sql.column("t", "m"), f"c{ordinal}")).from_(sql.table(staged.table, alias="s"))
    rows = rows.join(sql.table(given, alias="m"), on=matched, join_type="left").order_by(sql.column("rowid", "s"))
    connection.run(sql.create_table(side, rows))
    connection.unregister(given)
    return _Made(sql.column(f"c{ordinal}", side), side, distinct, lacking)


def _place(connection: Connection, staged: StagedTable, ordinal: int) -> exp.Expr | None:
    """Return the place of a cell's value in a short list, from 0; None where its values have no such place."""
    cell, coded = sql.column(f"c{ordinal}", "s"), staged.coded[ordinal]
    if coded is not None:
        return sql.cast(sql.call("enum_code", cell), "BIGINT") if _values_of(connection, coded) <= _LISTED else None
    if storage_type(staged.columns[ordinal]) != "BIGINT":
        return None
    ends = exp.select(exp.Min(this=cell.copy()), exp.Max(this=cell.copy())).from_(sql.table(staged.table, alias="s"))
    low, high = connection.row(ends)
    if low is None or high - low >= _LISTED:
        return None
    return exp.Sub(this=cell, expression=sql.cast(sql.text(str(low)), "BIGINT"))


def _values_of(connection: Connection, enumeration: str) -> int:
    null = exp.Cast(this=exp.null(), to=exp.DataType.build(enumeration, dialect="duckdb", udt=True))
    return int(connection.row(exp.select(sql.call("len", sql.call("enum_range", null))))[0])


def _by_row(connection: Connection, staged: StagedTable, ordinal: int, values: Callable[[pa.Array], pa.Array]) -> _Made:
    """As :func:`_by_value`, of a column of many values, which are asked block by block."""
    import pyarrow as pa

    cell = exp.select(sql.aliased(sql.column(f"c{ordinal}"), "v")).from_(sql.table(staged.table))
    made, lacking = [], False
    for block in [block.column(0) for block in connection.side_blocks(cell, _BLOCK_ROWS)]:
        known = np.asarray(block.is_valid())
        found = _given(values, block.drop_null())
        lacking |= bool(found.null_count)
        made.append(found.take(pa.array(np.cumsum(known) - 1, mask=~known)))
    column = pa.chunked_array(made)
    given, side = connection.fresh("given"), connection.fresh("recoded")
    connection.register(given, pa.table({f"c{ordinal}": column}))
    connection.run(sql.create_table(side, exp.select(exp.Star()).from_(sql.table(given))))
    connection.unregister(given)
    return _Made(sql.column(f"c{ordinal}", side), side, _one_array(column.unique()).drop_null(), lacking)


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


def _all_covered(connection: Connection, staged: StagedTable, found: Mapping[int, _Made]) -> None:
    """Raise InputError D256 where a cell has a value and nothing that would be released for it: all columns at once, by rows."""
    findings = []
    for at, made in found.items():
        cell, name, sides = sql.column(f"c{at}", "s"), staged.columns[at].name, [] if made.side is None else [made.side]
        lacking = exp.and_(
            exp.Not(this=exp.Is(this=cell.copy(), expression=exp.null())),
            exp.Is(this=made.cell.copy(), expression=exp.null()),
        )
        rows = staged_rows(exp.select(sql.column("rowid", "s")), staged, sides).where(lacking.copy())
        first = [int(row) + 1 for (row,) in connection.rows(rows.order_by(sql.column("rowid", "s")).limit(_NAMED_ROWS))]
        counted = exp.select(sql.count_all(), exp.Count(this=exp.Distinct(expressions=[cell])))
        many, values = map(int, connection.row(staged_rows(counted, staged, sides).where(lacking)))
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
