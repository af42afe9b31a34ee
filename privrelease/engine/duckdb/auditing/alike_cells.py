"""Cells of columns that have one enumeration on both sides, compared through the row map without holding the rows of either.

Each side is read once, as words of packed codes, a window of rows at a time: the source's rows are looked up by the entries of the map, and what
they hold waits in the database for the released row that the map leads to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.auditing.row_map import RowMap
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["alike_cells", "paired_cells"]

_BLOCK_ROWS = 1 << 18
#: Bytes of words of one side that are looked up by row at once.
_WINDOW_BYTES = 32 << 20
#: Bytes of words of a release that are looked up at once: of a whole one, and of a window of a longer one, for which all entries are scanned.
_WHOLE_BYTES = 128 << 20
_RELEASE_BYTES = 64 << 20
_WORD_BITS = 64
#: Rows whose pairs are counted at once: their words stay near the processor.
_COUNTED_ROWS = 1 << 14
#: Words of a row that are led to their released row at once.
_WORDS_AT_ONCE = 8


_Words: TypeAlias = "list[NDArray[np.uint64]]"


@dataclass(frozen=True, slots=True)
class _Field:
    """The bits of one column in the words of a row."""

    name: str
    word: int
    shift: int
    bits: int

    def code(self, of: Opened, *, whole: bool) -> exp.Expr:
        """The code of the column's cell at its place in the word: from 1, 0 where it is missing, but from 0 in a column that is ``whole``."""
        code: exp.Expr = sql.cast(sql.call("enum_code", of.key(self.name, "t")), "UBIGINT")
        if not whole:
            one = exp.Add(this=code, expression=sql.integer(1))
            code = sql.call("coalesce", one, sql.cast(sql.integer(0), "UBIGINT"))
        return exp.Paren(this=exp.BitwiseLeftShift(this=code, expression=sql.integer(self.shift)))

    def codes(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the column's codes of words."""
        codes = words >> np.uint64(self.shift)
        codes &= np.uint64((1 << self.bits) - 1)
        return codes

    def known(self, words: NDArray[np.uint64]) -> int:
        """Count cells with a value."""
        return int(np.count_nonzero(words & np.uint64(((1 << self.bits) - 1) << self.shift)))

    def counts(self, ours: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> tuple[int, int, int, int]:
        """Count cells with a value in ``ours``, in ``theirs``, in both, and cells with the same value."""
        mask = np.uint64(((1 << self.bits) - 1) << self.shift)
        before, after = ours & mask, theirs & mask
        known = before != 0
        same = np.count_nonzero(known & (before == after))
        return (
            int(np.count_nonzero(known)),
            int(np.count_nonzero(after)),
            int(np.count_nonzero(known & (after != 0))),
            int(same),
        )


def alike_cells(
    connection: Connection, source: Opened, released: Opened, row_map: RowMap, enums: Mapping[str, int]
) -> dict[str, tuple[int, int, int, int, int]]:
    """Compare columns whose texts have one enumeration on both sides, cell by cell. ``enums``: (column, its values).

    Returns of each column: rows, cells with a value in the source, in the release, in both, and cells with the same value.
    """
    fields = _placed(enums)
    found: dict[str, tuple[int, int, int, int, int]] = {}
    for first in range(0, max((field.word for field in fields), default=-1) + 1, _WORDS_AT_ONCE):
        some = [field for field in fields if first <= field.word < first + _WORDS_AT_ONCE]
        found |= _compared(connection, source, released, row_map, some)
    return found


def paired_cells(
    connection: Connection, source: Opened, released: Opened, row_map: RowMap, enums: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Count the pairs of cells of columns whose texts have an enumeration of their own on each side. ``enums``: (column, values of each side).

    Yields of each column the rows of each pair of codes, (values of the source + 1, values of the release + 1), 0 for a missing cell.
    """
    fields = _placed({name: max(sizes) for name, sizes in enums.items()})
    for first in range(0, max((field.word for field in fields), default=-1) + 1, _WORDS_AT_ONCE):
        some = [field for field in fields if first <= field.word < first + _WORDS_AT_ONCE]
        words = list(dict.fromkeys(field.word for field in some))
        totals = {field.name: np.zeros((enums[field.name][0] + 1) * (enums[field.name][1] + 1), np.int64) for field in some}
        for ours, theirs in _pairs(connection, source, released, row_map, some):
            for low in range(0, len(ours[0]), _COUNTED_ROWS):
                few = slice(low, low + _COUNTED_ROWS)
                for field in some:
                    word, wide = words.index(field.word), np.uint64(enums[field.name][1] + 1)
                    pairs = field.codes(ours[word][few])
                    pairs *= wide
                    pairs += field.codes(theirs[word][few])
                    totals[field.name] += np.bincount(pairs.view(np.int64), minlength=len(totals[field.name]))
        for field in some:
            yield field.name, totals[field.name].reshape(enums[field.name][0] + 1, -1)


def _placed(enums: Mapping[str, int]) -> list[_Field]:
    fields: list[_Field] = []
    word = shift = 0
    for name, values in enums.items():
        bits = values.bit_length()
        if shift + bits > _WORD_BITS:
            word, shift = word + 1, 0
        fields.append(_Field(name, word, shift, bits))
        shift += bits
    return fields


def _compared(
    connection: Connection, source: Opened, released: Opened, row_map: RowMap, fields: Sequence[_Field]
) -> dict[str, tuple[int, int, int, int, int]]:
    words = list(dict.fromkeys(field.word for field in fields))
    at = [words.index(field.word) for field in fields]
    rows, totals = 0, np.zeros((len(fields), 4), np.int64)
    for ours, theirs in _pairs(connection, source, released, row_map, fields):
        rows += len(ours[0])
        changed = _changed(ours, theirs)
        before, after = ([word[changed] for word in side] for side in (ours, theirs))
        for place, (field, word) in enumerate(zip(fields, at, strict=True)):
            counts = np.array(field.counts(before[word], after[word]))
            same = field.known(ours[word]) - counts[0]  # values in rows that are the same are there on both sides
            totals[place] += counts + same
    return {
        field.name: (rows, before, after, both, same)
        for field, (before, after, both, same) in zip(fields, totals.tolist(), strict=True)
    }


def _changed(ours: _Words, theirs: _Words) -> NDArray[np.int64]:
    """Return the places of the rows that are not the same on both sides."""
    changed = ours[0] != theirs[0]
    for before, after in zip(ours[1:], theirs[1:], strict=True):
        changed |= before != after
    return np.flatnonzero(changed)


def _pairs(
    connection: Connection, source: Opened, released: Opened, row_map: RowMap, fields: Sequence[_Field]
) -> Iterator[tuple[_Words, _Words]]:
    """Yield the words of source rows and of the rows that are released for them: in the database between two windows, where there are several."""
    import pyarrow as pa

    words = len({field.word for field in fields})
    led = _met(connection, row_map.table, "s", ["o"], _windows(connection, source, fields, _WINDOW_BYTES // (8 * words)))
    whole = 8 * words * released.n_rows <= _WHOLE_BYTES
    of_release = _windows(connection, released, fields, released.n_rows if whole else _RELEASE_BYTES // (8 * words))
    if whole:
        for _, held in of_release:
            for (outputs,), cells in led:
                inside = outputs < released.n_rows
                yield [word[inside] for word in cells], [word[outputs[inside]] for word in held]
        return
    names = [f"w{word}" for word in dict.fromkeys(field.word for field in fields)]
    schema = pa.schema([("o", pa.uint32()), *((name, pa.uint64()) for name in names)])
    batches = (
        pa.RecordBatch.from_arrays([pa.array(column) for column in (outputs, *cells)], schema=schema)
        for (outputs,), cells in led
    )
    given, table = connection.fresh("given"), connection.fresh("led")
    connection.register(given, pa.RecordBatchReader.from_batches(schema, batches))
    try:
        connection.run(sql.create_table(table, exp.select(exp.Star()).from_(sql.table(given), copy=False)))
        yield from _met(connection, table, "o", names, of_release)
    finally:
        connection.unregister(given)
        connection.drop("TABLE", table)


def _windows(connection: Connection, of: Opened, fields: Sequence[_Field], most: int) -> Iterator[tuple[int, _Words]]:
    """Return a stream of the words of a side's rows in windows of about ``most`` rows, each after the number of its first row.

    What the stream needs to know is asked now: it may be read while the connection runs a statement.
    """
    values = [exp.Count(this=of.key(field.name, "t")) for field in fields]
    n_rows, *known = connection.row(exp.select(sql.count_all(), *values).from_(of.rows("t", False), copy=False))
    cells: dict[int, exp.Expr] = {}
    ones = dict.fromkeys((field.word for field in fields), 0)
    for field, n in zip(fields, known, strict=True):
        code = field.code(of, whole=n == n_rows)
        ones[field.word] += (n == n_rows) << field.shift
        cells[field.word] = exp.BitwiseOr(this=cells[field.word], expression=code) if field.word in cells else code
    for word, more in ones.items():  # of all whole columns at once
        if more:
            cells[word] = exp.Add(this=exp.Paren(this=cells[word]), expression=sql.cast(sql.text(str(more)), "UBIGINT"))
    rows = exp.select(*(sql.aliased(cell, f"w{word}") for word, cell in cells.items())).from_(of.rows("t", False), copy=False)
    return _in_windows(connection, rows, len(cells), most)


def _in_windows(connection: Connection, rows: exp.Select, words: int, most: int) -> Iterator[tuple[int, _Words]]:
    first = have = 0
    held: _Words = []
    for block in connection.blocks(rows, _BLOCK_ROWS):
        if not have:
            held = [np.empty(most + block.num_rows, np.uint64) for _ in range(words)]
        if have + block.num_rows > len(held[0]):
            yield first, [word[:have] for word in held]
            first, have, held = first + have, 0, [np.empty(most + block.num_rows, np.uint64) for _ in range(words)]
        for word, column in zip(held, block.columns, strict=True):
            word[have : have + block.num_rows] = np.asarray(column)
        have += block.num_rows
    if have:
        yield first, [word[:have] for word in held]


def _met(
    connection: Connection,
    table: str,
    row: str,
    others: Sequence[str],
    windows: Iterator[tuple[int, _Words]],
) -> Iterator[tuple[list[NDArray[Any]], _Words]]:
    """Yield the columns ``others`` of a table's entries, and the words of the row of a side that each names in its column ``row``."""
    for first, held in windows:
        number = sql.column(row)
        inside = exp.Between(this=number.copy(), low=sql.integer(first), high=sql.integer(first + len(held[0]) - 1))
        entries = (
            exp.select(number, *(sql.column(name) for name in others))
            .from_(sql.table(table), copy=False)
            .where(inside, copy=False)
        )
        for block in connection.blocks(entries, _BLOCK_ROWS):
            at = np.asarray(block.column(0)) - np.uint32(first)
            yield [np.asarray(column) for column in block.columns[1:]], [word[at] for word in held]
