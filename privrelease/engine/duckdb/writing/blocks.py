"""Released rows in blocks of a fixed size, and the row map put in the order of the source without a sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from privrelease.engine.duckdb.connection import Connection

__all__ = ["BLOCK_ROWS", "in_source_order", "sized"]

#: Rows of a block, and of a row group of a Parquet file.
BLOCK_ROWS = 122_880
#: Source rows whose output rows are put in their places at once.
_WINDOW_ROWS = 1 << 23


def sized(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.Array]]:
    """Yield the columns of blocks of :data:`BLOCK_ROWS` rows each, the last one of what is left.

    >>> import pyarrow as pa
    >>> [len(column) for (column,) in sized([pa.record_batch({"a": range(100_000)})] * 2)]
    [122880, 77120]
    """
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    have = 0
    for batch in batches:
        waiting.append(batch)
        have += batch.num_rows
        while have >= BLOCK_ROWS:
            whole = pa.Table.from_batches(waiting)
            yield [_one_array(column) for column in whole.slice(0, BLOCK_ROWS).columns]
            waiting = whole.slice(BLOCK_ROWS).to_batches()
            have -= BLOCK_ROWS
    if have:
        yield [_one_array(column) for column in pa.Table.from_batches(waiting).columns]


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def in_source_order(connection: Connection, table: str, source: exp.Expr, n_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table of released rows by their ``source`` row, ascending, and the number of each; ``n_rows``: of the source."""
    import pyarrow as pa

    output = sql.aliased(sql.cast(sql.column("rowid"), "UINTEGER"), "o")
    rows = exp.select(sql.aliased(source.copy(), "r"), output).from_(sql.table(table), copy=False)
    for first in range(0, n_rows, _WINDOW_ROWS):
        place = np.zeros(min(_WINDOW_ROWS, n_rows - first), np.uint32)
        there = np.zeros(len(place), np.bool_)
        inside = exp.Between(this=source.copy(), low=sql.integer(first), high=sql.integer(first + len(place) - 1))
        for block in connection.blocks(rows.where(inside), BLOCK_ROWS):
            at = np.asarray(block.column(0)) - np.uint32(first)
            place[at] = np.asarray(block.column(1))
            there[at] = True
        for low in range(0, len(place), BLOCK_ROWS):
            found = np.flatnonzero(there[low : low + BLOCK_ROWS]) + low
            yield pa.record_batch({"source_row": (found + first).astype(np.uint32), "output_row": place[found]})
