"""Columns whose values are replaced before anything is made of them: classes, order and dictionaries are then over what is released.

A column of few values is asked for its distinct values, any other block by block, so that what is asked for is never a row at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import fault
from privrelease.engine.duckdb.measuring.coding import Codes, cached
from privrelease.engine.duckdb.reading.staging import MOST_CODED, StagedTable
from privrelease.engine.duckdb.storage_types import storage_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.protocol.base import Recode

__all__ = ["recode"]

_BLOCK_ROWS = 122_880


def recode(
    connection: Connection, staged: StagedTable, recodes: Sequence[Recode], cache: dict[int, Codes]
) -> tuple[StagedTable, dict[int, Codes]]:
    """Return the table with the values of some columns replaced, and the codes of ``cache`` that still hold."""
    import pyarrow as pa

    places = {staged.ordinal(one.column.name): one for one in recodes}
    found = {at: _released(connection, staged, at, one.values, cache) for at, one in places.items()}
    columns, coded, few = list(staged.columns), list(staged.coded), list(staged.few)
    cells: dict[int, exp.Expr] = {}
    for at, one in places.items():
        columns[at] = one.column
        distinct = _distinct(found[at])
        few[at] = len(distinct) <= MOST_CODED
        text = storage_type(one.column) == "VARCHAR"
        coded[at] = _enumeration(connection, distinct) if text and few[at] else None
        cell, name = sql.column(f"c{at}", "g"), coded[at]
        cells[at] = sql.cast(cell, storage_type(one.column)) if name is None else sql.cast_enum(cell, name)
    given, stored = connection.fresh("given"), connection.fresh("recoded")
    connection.register(given, pa.table({f"c{at}": values for at, values in found.items()}))
    connection.run(sql.create_table(stored, exp.select(exp.Star()).from_(sql.table(given))))
    connection.unregister(given)
    table = connection.fresh("s")
    named = [sql.aliased(cells.get(at, sql.column(f"c{at}", "s")), f"c{at}") for at in range(len(columns))]
    rows = exp.select(*named).from_(sql.table(staged.table, alias="s"))
    connection.run(sql.create_table(table, sql.positional(rows, sql.table(stored, alias="g"))))
    connection.drop("TABLE", stored)
    made = replace(staged, table=table, columns=tuple(columns), coded=tuple(coded), few=tuple(few))
    return made, {at: codes for at, codes in cache.items() if at not in places}


def _released(
    connection: Connection,
    staged: StagedTable,
    ordinal: int,
    values: Callable[[pa.Array], pa.Array],
    cache: dict[int, Codes],
) -> pa.ChunkedArray:
    """The released cells of a column, in the order of rows."""
    import pyarrow as pa

    if staged.few[ordinal]:
        codes = cached(connection, staged, ordinal, cache)
        assert codes.dictionary is not None
        known = codes.values != 0
        places = pa.array(np.where(known, codes.values - codes.values.dtype.type(1), 0), mask=~known)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(places, _given(values, codes.dictionary))])
    cell = exp.select(sql.aliased(sql.column(f"c{ordinal}"), "v")).from_(sql.table(staged.table))
    blocks = [block.column(0) for block in connection.side_blocks(cell, _BLOCK_ROWS)]
    made = []
    for block in blocks:
        known = np.asarray(block.is_valid())
        made.append(_spread(_given(values, block.drop_null()), np.cumsum(known) - 1, known))
    return pa.chunked_array(made)


def _distinct(column: pa.ChunkedArray) -> pa.Array:
    """The distinct values that a column has."""
    import pyarrow as pa

    there = column.unique().drop_null()
    return there.dictionary_decode().unique() if isinstance(there, pa.DictionaryArray) else there


def _given(values: Callable[[pa.Array], pa.Array], of: pa.Array) -> pa.Array:
    found = values(of)
    if len(found) != len(of) or found.null_count:
        message = "a transform step did not give one value for each"
        raise fault(message)
    return found


def _spread(values: pa.Array, places: np.ndarray, known: np.ndarray) -> pa.Array:
    import pyarrow as pa

    return values.take(pa.array(places, mask=~known))


def _enumeration(connection: Connection, distinct: pa.Array) -> str:
    """Make an enumeration of texts, in ascending order."""
    import pyarrow as pa

    given, name = connection.fresh("values"), connection.fresh("e")
    connection.register(given, pa.table({"v": distinct}))
    connection.run(sql.create_enum(name, exp.select(sql.column("v")).from_(sql.table(given)).order_by(sql.column("v"))))
    connection.unregister(given)
    return name
