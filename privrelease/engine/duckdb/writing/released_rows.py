"""The rows that leave, in their order: cells to NULL, rows left out, pseudonyms, and nothing of a value that no cell holds any more.

Columns of few values are held as codes and put in order in memory (one to four bytes a cell); the others are put in order by the
database, which spills, and both streams meet block by block. Blocks have a fixed size, so that what is made of them depends on neither
threads nor memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.coding import Codes, cached, pack
from privrelease.engine.duckdb.writing.pseudonyms import pseudonym

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable
    from privrelease.engine.protocol.base import OutputColumn, OutputTable

__all__ = ["BLOCK_ROWS", "ReleasedRows"]

#: Rows of a block, and of a row group of a Parquet file.
BLOCK_ROWS = 122_880


class _Held:
    """A column held in memory: ``ranks`` 0..v-1 by ascending value, v where the cell leaves as NULL (last in the order)."""

    __slots__ = ("dictionary", "ranks")

    def __init__(self, ranks: NDArray[Any], dictionary: pa.Array) -> None:
        self.ranks = ranks
        self.dictionary = dictionary

    @property
    def size(self) -> int:
        return len(self.dictionary)

    @property
    def values(self) -> NDArray[Any]:
        """The ranks, under the name that packing reads."""
        return self.ranks

    @property
    def bits(self) -> int:
        return max(1, self.size.bit_length())


class ReleasedRows:
    """The rows that leave: ``rows`` (m,) the source row of each output row; streams of Arrow blocks in that order."""

    def __init__(self, connection: Connection, staged: StagedTable, output: OutputTable, cache: dict[int, Codes]) -> None:
        self._connection = connection
        self._staged = staged
        self._output = output
        self._bit = {name: place for place, name in enumerate(output.masked)}
        self._tables: list[str] = []
        self._held: dict[int, _Held] = {}
        try:
            for place, column in enumerate(output.columns):
                ordinal = staged.ordinal(column.name)
                if staged.few[ordinal]:
                    self._held[place] = self._hold(column, cached(connection, staged, ordinal, cache))
            self._streamed = [place for place in range(len(output.columns)) if place not in self._held]
            self._tokens = self._token_table()
            self._placed = ""
            self.rows = self._ordered()
            if self._streamed:
                self._placed = self._row_table({"place": self._places()})
            for place, held in self._held.items():
                self._held[place] = _used(held.ranks[self.rows], held.dictionary)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Drop the tables that putting rows in order needed."""
        for name in self._tables:
            self._connection.drop("TABLE", name)
        self._tables.clear()

    # columns in memory
    def _word(self, column: OutputColumn) -> tuple[int, int] | None:
        bit = self._bit.get(column.name)
        return None if bit is None else divmod(bit, 64)

    def _hold(self, column: OutputColumn, codes: Codes) -> _Held:
        dictionary = codes.dictionary
        kind = np.dtype(np.uint8 if codes.size < 256 else np.uint16 if codes.size < 65_536 else np.uint32)
        to = np.arange(-1, codes.size).astype(kind)
        to[0] = codes.size
        if column.pseudonym_key is not None:
            dictionary, to[1:] = self._tokens_of(dictionary, column.pseudonym_key)
        ranks: NDArray[Any] = to[codes.values]
        if (at := self._word(column)) is not None:
            ranks[(self._output.masks[:, at[0]] & np.uint64(1 << at[1])) != 0] = codes.size
        return _Held(ranks, dictionary)

    def _tokens_of(self, values: pa.Array, key: bytes) -> tuple[pa.Array, NDArray[np.int64]]:
        """Tokens of a dictionary in ascending order, and the rank of the token of each value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        given = self._connection.fresh("given")
        self._connection.register(given, pa.table({"v": values}))
        secrets: list[bytes] = []
        token = sql.aliased(pseudonym(sql.column("v"), key, secrets), "t")
        tokens = self._connection.arrow(exp.select(token).from_(sql.table(given)), secrets).column(0).combine_chunks()
        self._connection.unregister(given)
        order = pc.array_sort_indices(tokens)
        ranks = np.empty(len(tokens), np.int64)
        ranks[np.asarray(order)] = np.arange(len(tokens))
        return tokens.take(order), ranks

    # order
    def _ordered(self) -> NDArray[np.uint32]:
        kept = np.flatnonzero(~self._output.dropped).astype(np.uint32)
        if self._output.order == "source" or not len(kept):
            return kept
        keys: dict[str, NDArray[Any]] = {}
        by: list[exp.Expr] = []
        run: list[_Held] = []
        for place, column in enumerate(self._output.columns):
            if place in self._held:
                run.append(self._held[place])
            if run and (place not in self._held or place == len(self._output.columns) - 1):
                key = f"k{len(keys)}"
                keys[key], _ = pack(run, self._staged.n_rows)
                by.append(exp.Ordered(this=sql.column(key, "o")))
                run = []
            if place not in self._held:
                by.append(exp.Ordered(this=self._cell(place, column), nulls_first=False))
        if not self._streamed:
            key_of_kept = keys["k0"] if len(kept) == self._staged.n_rows else keys["k0"][kept]
            return kept[np.argsort(key_of_kept, kind="stable")]
        self._placed = self._row_table(keys)
        row = sql.column("rowid", "s")
        query = self._joined(exp.select(sql.aliased(sql.cast(row, "UINTEGER"), "r"))).order_by(
            *by, exp.Ordered(this=row.copy())
        )
        return np.asarray(self._connection.arrays(query)["r"]).astype(np.uint32)

    def _places(self) -> NDArray[np.uint32]:
        places = np.zeros(self._staged.n_rows, np.uint32)
        places[self.rows] = np.arange(len(self.rows), dtype=np.uint32)
        return places

    # columns in the database
    def _token_table(self) -> str | None:
        """Store the pseudonyms of columns of many values, row by row of the source."""
        cells: list[exp.Expr] = []
        secrets: list[bytes] = []
        for place in self._streamed:
            column = self._output.columns[place]
            if column.pseudonym_key is not None:
                value = sql.column(f"c{self._staged.ordinal(column.name)}")
                cells.append(sql.aliased(pseudonym(value, column.pseudonym_key, secrets), f"t{place}"))
        if not cells:
            return None
        name = self._connection.fresh("tokens")
        self._tables.append(name)
        self._connection.run(sql.create_table(name, exp.select(*cells).from_(sql.table(self._staged.table))), secrets)
        return name

    def _row_table(self, columns: dict[str, NDArray[Any]]) -> str:
        """Store, row by row of the source: the given columns, whether the row leaves, and the masks."""
        columns = {**columns, "leaves": ~self._output.dropped}
        for word in range(self._output.masks.shape[1]):
            columns[f"m{word}"] = np.ascontiguousarray(self._output.masks[:, word])
        given, name = self._connection.fresh("given"), self._connection.fresh("placed")
        self._connection.register(given, columns)
        self._tables.append(name)
        self._connection.run(sql.create_table(name, exp.select(exp.Star()).from_(sql.table(given))))
        self._connection.unregister(given)
        return name

    def _joined(self, select: exp.Select) -> exp.Select:
        rows = sql.positional(select.from_(sql.table(self._staged.table, alias="s")), sql.table(self._placed, alias="o"))
        if self._tokens is not None:
            rows = sql.positional(rows, sql.table(self._tokens, alias="t"))
        return rows.where(sql.column("leaves", "o"))

    def _cell(self, place: int, column: OutputColumn) -> exp.Expr:
        name = sql.column(f"c{self._staged.ordinal(column.name)}", "s")
        cell = sql.column(f"t{place}", "t") if column.pseudonym_key is not None else name
        if (at := self._word(column)) is None:
            return cell
        masked = exp.BitwiseAnd(this=sql.column(f"m{at[0]}", "o"), expression=sql.cast(sql.integer(1 << at[1]), "UBIGINT"))
        return sql.when((exp.EQ(this=exp.Paren(this=masked), expression=sql.integer(0)), cell))

    def _sorted_stream(self, limit: int | None = None) -> pa.RecordBatchReader:
        """The columns that the database puts in order, in output order."""
        cells = [sql.aliased(self._cell(place, self._output.columns[place]), f"o{place}") for place in self._streamed]
        query = self._joined(exp.select(*cells)).order_by(exp.Ordered(this=sql.column("place", "o")))
        return self._connection.side_blocks(query if limit is None else query.limit(limit), BLOCK_ROWS)

    # blocks
    def stream(self) -> pa.RecordBatchReader:
        """Return a new stream of blocks of :data:`BLOCK_ROWS` rows, in output order."""
        import pyarrow as pa

        schema = self._schema()
        return pa.RecordBatchReader.from_batches(schema, self._blocks(schema))

    def _schema(self) -> pa.Schema:
        import pyarrow as pa

        of_streamed = self._sorted_stream(limit=0).schema if self._streamed else None
        fields = []
        for place, column in enumerate(self._output.columns):
            if place in self._held:
                type_ = _decoded(self._held[place], 0, 0).type
            else:
                assert of_streamed is not None
                type_ = of_streamed.field(self._streamed.index(place)).type
            fields.append(pa.field(column.name, type_))
        return pa.schema(fields)

    def _blocks(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        streamed = _Rechunked(self._sorted_stream()) if self._streamed else None
        for start in range(0, len(self.rows), BLOCK_ROWS):
            size = min(BLOCK_ROWS, len(self.rows) - start)
            columns = streamed.take(size) if streamed is not None else []
            arrays = [
                _decoded(self._held[place], start, size) if place in self._held else columns[self._streamed.index(place)]
                for place in range(len(self._output.columns))
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


class _Rechunked:
    """Blocks of exact sizes from a stream of blocks of any size."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._waiting: list[pa.RecordBatch] = []

    def take(self, size: int) -> list[pa.Array]:
        """Return the columns of the next ``size`` rows."""
        import pyarrow as pa

        have = sum(batch.num_rows for batch in self._waiting)
        while have < size:
            batch = self._reader.read_next_batch()
            self._waiting.append(batch)
            have += batch.num_rows
        whole = pa.Table.from_batches(self._waiting)
        self._waiting = whole.slice(size).to_batches()
        return [_one_array(column) for column in whole.slice(0, size).columns]


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def _used(ranks: NDArray[Any], dictionary: pa.Array) -> _Held:
    """Ranks over the values that occur only: a value that no cell holds any more must not stay in a dictionary."""
    import pyarrow as pa

    size = len(dictionary)
    there = np.bincount(ranks, minlength=size + 1)[:size] > 0
    left = int(np.count_nonzero(there))
    if left == size:
        return _Held(ranks, dictionary)
    to = np.full(size + 1, left, ranks.dtype)
    to[:size][there] = np.arange(left, dtype=ranks.dtype)
    return _Held(to[ranks], dictionary.take(pa.array(np.flatnonzero(there))))


def _decoded(held: _Held, start: int, size: int) -> pa.Array:
    """A block of a held column: dictionary-encoded where it is text, plain otherwise."""
    import pyarrow as pa

    ranks = held.ranks[start : start + size]
    indices = pa.array(ranks, mask=ranks == held.size)
    if pa.types.is_string(held.dictionary.type):
        return pa.DictionaryArray.from_arrays(indices, held.dictionary)
    return held.dictionary.take(indices)
