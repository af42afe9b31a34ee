"""The row map, read in blocks: who compares rows with their source holds no row number for each of them.

A row map is a Parquet file of (``source_row``, ``output_row``). It is the executor's word: what is no row number is out of range.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection

__all__ = ["RowMap", "opened_map", "times_named"]

_BLOCK_ROWS = 1 << 20
#: Rows of which it is held at once how often each is named: a byte for each.
_WINDOW_ROWS = 1 << 25
_MOST_TIMES = 2


class RowMap:
    """A row map in the database, in ``table``: source rows ``s`` and output rows ``o``; ``blocks`` reads it as often as asked."""

    def __init__(self, connection: Connection, table: str) -> None:
        self._connection = connection
        self.table = table

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield source rows and output rows, (m,) each; -1 for what is no row number."""
        sides = [sql.call("coalesce", sql.cast(sql.column(side), "BIGINT"), sql.integer(-1)) for side in ("s", "o")]
        rows = exp.select(*(sql.aliased(side, f"c{place}") for place, side in enumerate(sides))).from_(
            sql.table(self.table), copy=False
        )
        for block in self._connection.blocks(rows, _BLOCK_ROWS):
            yield np.asarray(block.column(0), np.int64), np.asarray(block.column(1), np.int64)

    def times(self, side: Literal["s", "o"], size: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yield, in windows, how often each of the rows 0..size-1 of a side is named, two for more than once, after the window's first row."""
        row = sql.column(side)
        for first in range(0, size, _WINDOW_ROWS):
            last = min(first + _WINDOW_ROWS, size) - 1
            inside = exp.Between(this=row.copy(), low=sql.integer(first), high=sql.integer(last))
            rows = (
                exp.select(sql.aliased(sql.cast(row.copy(), "BIGINT"), "c"))
                .from_(sql.table(self.table), copy=False)
                .where(inside, copy=False)
            )
            blocks = (np.asarray(block.column(0), np.int64) - first for block in self._connection.blocks(rows, _BLOCK_ROWS))
            yield first, times_named(blocks, last + 1 - first)

    def beyond(self, side: Literal["s", "o"], size: int) -> int:
        """Return how many entries name no row of 0..size-1 on a side."""
        row = sql.column(side)
        known = exp.Filter(
            this=exp.Count(this=row), expression=exp.Where(this=exp.LT(this=row.copy(), expression=sql.integer(size)))
        )
        rows, inside = self._connection.row(exp.select(sql.count_all(), known).from_(sql.table(self.table), copy=False))
        return int(rows) - int(inside)

    def inside(self, source_rows: int, output_rows: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the blocks without entries that are beyond the rows of either side."""
        for source, output in self.blocks():
            there = (source >= 0) & (source < source_rows) & (output >= 0) & (output < output_rows)
            yield (source, output) if there.all() else (source[there], output[there])


@contextmanager
def opened_map(connection: Connection, row_map: Path, *, stored: bool = True) -> Iterator[RowMap]:
    """Read a row map into the database, for the time of a question. Raises what reading a damaged file raises.

    Not ``stored``, it is read from its file as often as asked, and holds no memory: for one pass in source order, in which our maps are written, so
    that a window of source rows is a part of the file.
    """
    name = connection.fresh("map")
    sides = {"s": "source_row", "o": "output_row"}
    cells = [sql.aliased(sql.try_cast(sql.column(side), "UINTEGER"), short) for short, side in sides.items()]
    made = sql.create_table if stored else sql.create_view
    connection.run(made(name, exp.select(*cells).from_(scan_parquet([row_map]), copy=False)))
    try:
        yield RowMap(connection, name)
    finally:
        connection.drop("TABLE" if stored else "VIEW", name)


def times_named(rows: Iterator[NDArray[np.int64]], size: int) -> NDArray[np.uint8]:
    """Count how often each of 0..size-1 is named, (size,), two for more than once; ``rows``: numbers of that range."""
    times = np.zeros(size, np.uint8)
    for block in rows:
        if not len(block):
            continue
        if block[-1] - block[0] + 1 == len(block) and (block[1:] > block[:-1]).all():  # a run of rows, each once
            run = times[block[0] : block[-1] + 1]
            np.minimum(run + 1, _MOST_TIMES, out=run)
            continue
        inside = np.sort(block)
        new = np.ones(len(inside), np.bool_)
        np.not_equal(inside[1:], inside[:-1], out=new[1:])
        again = inside[~new]
        once = inside[new]
        times[once] = np.minimum(times[once] + 1, _MOST_TIMES)
        times[again] = _MOST_TIMES
    return times
