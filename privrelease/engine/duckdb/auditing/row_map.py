"""The row map, read in blocks: who compares rows with their source holds a byte or two for each of them, never a row number.

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
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["RowMap", "alike_cells", "opened_map", "paired_cells", "times_named"]

_BLOCK_ROWS = 1 << 20
#: Rows of which it is held at once how often each is named: a byte for each.
_WINDOW_ROWS = 1 << 25
#: Bytes of codes that are held at once, where one column takes no more.
_MOST_BYTES = 128 << 20
_MOST_TIMES = 2
_NARROW = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}


class RowMap:
    """A row map in the database; ``blocks`` reads it as often as asked."""

    def __init__(self, connection: Connection, table: str) -> None:
        self._connection = connection
        self._table = table

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield source rows and output rows, (m,) each; -1 for what is no row number."""
        sides = [sql.call("coalesce", sql.cast(sql.column(side), "BIGINT"), sql.integer(-1)) for side in ("s", "o")]
        rows = exp.select(*(sql.aliased(side, f"c{place}") for place, side in enumerate(sides))).from_(sql.table(self._table))
        for block in self._connection.blocks(rows, _BLOCK_ROWS):
            yield np.asarray(block.column(0), np.int64), np.asarray(block.column(1), np.int64)

    def times(self, side: Literal["s", "o"], size: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yield, in windows, how often each of the rows 0..size-1 of a side is named, two for more than once, after the window's first row."""
        row = sql.column(side)
        for first in range(0, size, _WINDOW_ROWS):
            last = min(first + _WINDOW_ROWS, size) - 1
            inside = exp.Between(this=row.copy(), low=sql.integer(first), high=sql.integer(last))
            rows = exp.select(sql.aliased(sql.cast(row.copy(), "BIGINT"), "c")).from_(sql.table(self._table)).where(inside)
            blocks = (np.asarray(block.column(0), np.int64) - first for block in self._connection.blocks(rows, _BLOCK_ROWS))
            yield first, times_named(blocks, last + 1 - first)

    def beyond(self, side: Literal["s", "o"], size: int) -> int:
        """Return how many entries name no row of 0..size-1 on a side."""
        row = sql.column(side)
        known = exp.Filter(
            this=exp.Count(this=row), expression=exp.Where(this=exp.LT(this=row.copy(), expression=sql.integer(size)))
        )
        rows, inside = self._connection.row(exp.select(sql.count_all(), known).from_(sql.table(self._table)))
        return int(rows) - int(inside)

    def inside(self, source_rows: int, output_rows: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the blocks without entries that are beyond the rows of either side."""
        for source, output in self.blocks():
            there = (source >= 0) & (source < source_rows) & (output >= 0) & (output < output_rows)
            yield (source, output) if there.all() else (source[there], output[there])


@contextmanager
def opened_map(connection: Connection, row_map: Path) -> Iterator[RowMap]:
    """Read a row map into the database, for the time of a question. Raises what reading a damaged file raises."""
    name = connection.fresh("map")
    sides = {"s": "source_row", "o": "output_row"}
    cells = [sql.aliased(sql.try_cast(sql.column(side), "UINTEGER"), short) for short, side in sides.items()]
    connection.run(sql.create_table(name, exp.select(*cells).from_(scan_parquet([row_map]))))
    try:
        yield RowMap(connection, name)
    finally:
        connection.drop("TABLE", name)


def times_named(rows: Iterator[NDArray[np.int64]], size: int) -> NDArray[np.uint8]:
    """Count how often each of 0..size-1 is named, (size,), two for more than once; ``rows``: numbers of that range."""
    times = np.zeros(size, np.uint8)
    for block in rows:
        inside = np.sort(block)
        new = np.ones(len(inside), np.bool_)
        np.not_equal(inside[1:], inside[:-1], out=new[1:])
        again = inside[~new]
        once = inside[new]
        times[once] = np.minimum(times[once] + 1, _MOST_TIMES)
        times[again] = _MOST_TIMES
    return times


def alike_cells(
    connection: Connection, source: Opened, released: Opened, row_map: RowMap, enums: Mapping[str, int]
) -> dict[str, tuple[int, int, int, int, int]]:
    """Compare columns whose texts have one enumeration on both sides, cell by cell. ``enums``: (column, its values).

    Returns of each column: rows, cells with a value in the source, in the release, in both, and cells with the same value.
    """
    found: dict[str, tuple[int, int, int, int, int]] = {}
    for names in _groups(enums, source.n_rows + released.n_rows):
        kinds = [np.dtype(np.min_scalar_type(enums[name])) for name in names]
        before, after = (_codes(connection, side, names, kinds) for side in (source, released))
        rows = 0
        figures = np.zeros((len(names), 4), np.int64)
        for of_source, of_output in row_map.inside(source.n_rows, released.n_rows):
            rows += len(of_source)
            for place in range(len(names)):
                ours, theirs = before[place][of_source], after[place][of_output]
                known = ours != 0, theirs != 0
                counts = (*known, known[0] & known[1], known[0] & (ours == theirs))
                figures[place] += [int(np.count_nonzero(one)) for one in counts]
        for name, (there, left, both, same) in zip(names, figures.tolist(), strict=True):
            found[name] = rows, there, left, both, same
        del before, after  # before the next ones are read
    return found


def paired_cells(
    connection: Connection, source: Opened, released: Opened, row_map: RowMap, enums: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Count the pairs of columns whose texts have enumerations of their own on both sides. ``enums``: (column, values of each side).

    Yields of each column the rows of each pair of codes, (values of the source + 1, values of the release + 1), 0 for a missing cell.
    """
    for names in _groups({name: max(sizes) for name, sizes in enums.items()}, source.n_rows + released.n_rows):
        sides = [
            _codes(connection, of, names, [np.dtype(np.min_scalar_type(enums[name][side])) for name in names])
            for side, of in enumerate((source, released))
        ]
        shapes = [tuple(size + 1 for size in enums[name]) for name in names]
        rows = [np.zeros(ours * theirs, np.int64) for ours, theirs in shapes]
        for of_source, of_output in row_map.inside(source.n_rows, released.n_rows):
            for place, (ours, theirs) in enumerate(shapes):
                pairs = sides[0][place][of_source].astype(np.int32) * theirs + sides[1][place][of_output]
                rows[place] += np.bincount(pairs, minlength=ours * theirs)
        for name, shape, found in zip(names, shapes, rows, strict=True):
            yield name, found.reshape(shape)
        del sides


def _groups(enums: Mapping[str, int], cells: int) -> Iterator[list[str]]:
    """Yield columns whose codes are held at once."""
    group: list[str] = []
    held = 0
    for name, size in enums.items():
        takes = cells * np.dtype(np.min_scalar_type(size)).itemsize
        if group and held + takes > _MOST_BYTES:
            yield group
            group, held = [], 0
        group.append(name)
        held += takes
    if group:
        yield group


def _codes(
    connection: Connection, of: Opened, names: Sequence[str], kinds: Sequence[np.dtype[np.unsignedinteger]]
) -> list[NDArray[np.unsignedinteger]]:
    """Codes of enumerated columns in the order of their rows: 0 missing."""
    codes = [np.empty(of.n_rows, kind) for kind in kinds]
    cells = []
    for place, name in enumerate(names):
        code = exp.Add(this=sql.cast(sql.call("enum_code", of.key(name, "t")), "UINTEGER"), expression=sql.integer(1))
        cells.append(
            sql.aliased(sql.cast(sql.call("coalesce", code, sql.integer(0)), _NARROW[kinds[place].itemsize]), f"c{place}")
        )
    start = 0
    for block in connection.blocks(exp.select(*cells).from_(of.rows("t", False)), _BLOCK_ROWS):
        stop = start + block.num_rows
        for place, one in enumerate(codes):
            one[start:stop] = np.asarray(block.column(place))
        start = stop
    return codes
