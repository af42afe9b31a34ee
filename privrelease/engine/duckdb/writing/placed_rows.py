"""Rows of which their class says all that is released: the file is the distinct released tuples repeated, and no row is sorted.

A row's place in the file follows from its class's part: rows with the same released tuple are neighbours, in source order. So the rows are read
once, in that order, and each takes the next place of its tuple.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.writing.blocks import BLOCK_ROWS
from privrelease.errors import InternalError
from privrelease.loops import extension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.row_classes import RowKeys
    from privrelease.engine.protocol.base import Parts

__all__ = ["PlacedRows", "key_table", "place_rows"]

#: 2^64 / golden ratio: Fibonacci hashing takes the product's upper bits.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
#: The key that plus one is none.
_LARGEST = (1 << 64) - 1


class PlacedRows:
    """Released rows in the order of their tuples. ``ranks``: (P,) the tuple that the rows of each part become, in output order."""

    def __init__(self, connection: Connection, rows: RowKeys, parts: Parts, ranks: NDArray[np.int64]) -> None:
        self._connection = connection
        self._rows = rows
        self._parts = parts
        self._ranks = np.where(parts.dropped, -1, ranks)
        kept = ~parts.dropped
        repeated = np.zeros(int(ranks.max()) + 1 if len(ranks) else 0, np.int64)
        np.add.at(repeated, ranks[kept], parts.records[kept])
        self._ends = np.cumsum(repeated)
        self.n_rows = int(self._ends[-1]) if len(self._ends) else 0

    @staticmethod
    def serves(connection: Connection, rows: RowKeys, parts: Parts) -> bool:
        """Tell whether rows belong to parts by their order, and keys are one word and less than the largest, for which a table has no mark."""
        if parts.pair_part is not None or len(rows.words) != 1 or not rows.table.n_classes:
            return False
        (most,) = connection.row(exp.select(exp.Max(this=sql.column(rows.words[0]))).from_(sql.table(rows.classes), copy=False))
        return bool(most < _LARGEST)

    def tuples(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield, for each block of output rows, its tuples and how often each is repeated."""
        starts = np.concatenate(([0], self._ends[:-1]))
        for first in range(0, self.n_rows, BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, self.n_rows)
            some = slice(int(np.searchsorted(self._ends, first, "right")), int(np.searchsorted(self._ends, last, "left")) + 1)
            yield some, np.minimum(self._ends[some], last) - np.maximum(starts[some], first)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the source row ``source_row`` and the output row ``output_row`` of every released row, in source order."""
        import pyarrow as pa

        (word,) = self._rows.words
        found = self._connection.arrays(exp.select(sql.column(word)).from_(sql.table(self._rows.classes), copy=False))
        first = np.searchsorted(self._parts.class_index, np.arange(len(found[word]), dtype=np.uint32))
        table = key_table(np.asarray(found[word], np.uint64), first)
        state = np.stack((self._ranks, self._parts.records), axis=1).astype(np.int64)
        following = np.concatenate(([0], self._ends[:-1])).astype(np.int64)
        place, seen = _placing(), 0
        cells = exp.select(sql.column("r"), sql.column(word)).from_(sql.table(self._rows.keys), copy=False)
        for block in self._connection.blocks(cells, BLOCK_ROWS):
            numbers, keys = (np.asarray(column) for column in block.columns)
            into = np.empty(len(keys), np.int64)
            in_order = np.array_equal(numbers, np.arange(seen, seen + len(keys), dtype=numbers.dtype))
            if not in_order or not place(np.ascontiguousarray(keys), table, state, following, into):
                raise InternalError(code="R201", message="the engine has other rows than their parts")
            there = into >= 0
            yield pa.record_batch({"source_row": numbers[there], "output_row": into[there].astype(np.uint32)})
            seen += len(keys)
        if state[:, 1].any() or not np.array_equal(following, self._ends):
            raise InternalError(code="R201", message="the engine has another number of rows than their parts")


def key_table(keys: NDArray[np.uint64], values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a table of open addressing, (slots, 2), a power of two: the key + 1, 0 in an empty slot, and its value. Keys are distinct.

    >>> table = key_table(np.array([7, 9], np.uint64), np.array([0, 1]))
    >>> sorted(map(tuple, table[table[:, 0] > 0].tolist()))
    [(8, 0), (10, 1)]
    """
    slots = 4
    while 3 * slots < 4 * len(keys):
        slots *= 2
    table = np.zeros((slots, 2), np.uint64)
    wanted = keys + np.uint64(1)
    slot, waiting = _home(wanted, slots), np.arange(len(keys))
    while len(waiting):
        at = slot[waiting]
        free = table[at, 0] == 0
        table[at[free], 0] = wanted[waiting[free]]  # of several that want a slot one has it
        settled = table[at, 0] == wanted[waiting]
        table[at[settled], 1] = values[waiting[settled]]
        waiting = waiting[~settled]
        slot[waiting] = (slot[waiting] + 1) & (slots - 1)
    return table


def _home(wanted: NDArray[np.uint64], slots: int) -> NDArray[np.int64]:
    return ((wanted * _MULTIPLIER) >> np.uint64(65 - slots.bit_length())).astype(np.int64)


def _placing() -> Callable[..., bool]:
    """Return the compiled loop, or the plain one."""
    compiled = extension()
    return place_rows if compiled is None else compiled.place_rows


def place_rows(
    keys: NDArray[np.uint64],
    table: NDArray[np.uint64],
    state: NDArray[np.int64],
    following: NDArray[np.int64],
    place: NDArray[np.int64],
) -> bool:
    """Give each row, in its order, the next place of what its part releases: (n,) into ``place``, -1 where that is nothing.

    ``table``: of :func:`key_table`, the part of each key whose turn it is; ``state``: (P, 2) of each part the tuple that it releases, -1 for nothing, and
    the rows that it still lacks; ``following``: the next place of each tuple. All three are led on. Returns False where a key is unknown or its
    class has no row left.
    """
    slot, unknown = _home(keys + np.uint64(1), len(table)), np.arange(len(keys))
    while len(unknown):
        found = table[slot[unknown], 0]
        if not found.all():
            return False
        unknown = unknown[found != keys[unknown] + np.uint64(1)]
        slot[unknown] = (slot[unknown] + 1) & (len(table) - 1)
    turn = table[slot, 1].astype(np.int64)
    done = np.cumsum(state[:, 1])
    part = np.searchsorted(done, done[turn] - state[turn, 1] + _numbered(slot), "right")
    if len(part) and part.max() >= len(state):
        return False
    np.maximum.at(table[:, 1], slot, part.astype(np.uint64))
    np.subtract.at(state[:, 1], part, 1)
    place[:] = state[part, 0]
    there = np.flatnonzero(place >= 0)
    tuples = place[there]
    place[there] = following[tuples] + _numbered(tuples)
    np.add.at(following, tuples, 1)
    return True


def _numbered(of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number equal values from 0, in their order.

    >>> _numbered(np.array([5, 3, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(of, kind="stable")
    first = np.searchsorted(of[order], of[order])
    number = np.empty(len(of), np.int64)
    number[order] = np.arange(len(of)) - first
    return number
