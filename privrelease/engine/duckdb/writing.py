"""Writing an output: cells to NULL, rows left out, rows in the order of what they say, and nothing left over in the file.

Columns of few values are held as codes and put in order in memory (one to four bytes a cell); the others are put in order by the
database, which spills, and both streams meet block by block. A block becomes one row group, so that the bytes of a file depend on
neither threads nor memory.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.coding import Codes, cached, pack
from privrelease.engine.duckdb.connection import plain
from privrelease.engine.duckdb.pseudonyms import pseudonym
from privrelease.engine.duckdb.refusals import refusal
from privrelease.engine.protocol import WrittenOutput
from privrelease.errors import PrivreleaseError
from privrelease.relational.schema import SinkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.staging import StagedTable
    from privrelease.engine.protocol import OutputColumn, OutputTable
    from privrelease.relational.schema import Sink

__all__ = ["write"]

_BLOCK_ROWS = 122_880


def write(connection: Connection, staged: StagedTable, output: OutputTable, cache: dict[int, Codes]) -> WrittenOutput:
    """Write every sink and the row map, each completely or not at all; see :class:`privrelease.engine.protocol.Engine`."""
    if len(output.dropped) != staged.n_rows or output.masks.shape[0] != staged.n_rows:
        msg = "masks and dropped have one entry per staged row"
        raise ValueError(msg)
    released = _Released(connection, staged, output, cache)
    written: list[Path] = []
    try:
        for sink in output.sinks:
            _new_file(connection, sink.path, sink.label, partial(_write_sink, connection, released, sink), written)
        _new_file(connection, output.row_map, "the row map", partial(_write_row_map, released, output.row_map), written)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    finally:
        released.close()
    return WrittenOutput(len(released.rows), tuple(sink.path for sink in output.sinks))


def _new_file(connection: Connection, path: Path, label: str, make: Callable[[], None], written: list[Path]) -> None:
    if not connection.writable(path.parent):
        message = f"{label} leads outside the folders that may be written"
        raise refusal(message, "D131", hint="keep outputs below the output root")
    if path.exists() or path.is_symlink():
        message = f"{label} exists already"
        raise refusal(message, "D132", hint="an output is always a new file")
    written.append(path)
    try:
        make()
        for place, flags in ((path, os.O_RDWR), (path.parent, os.O_RDONLY)):
            handle = os.open(place, flags)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
    except OSError as error:
        message = f"{label} cannot be written: {error.strerror or type(error).__name__}"
        raise refusal(message, "D130", hint="check space and permissions of the output folder") from None
    except PrivreleaseError as error:
        if error.code != "D121":
            raise
        message = f"{label} cannot be written"
        raise refusal(message, "D130", hint="check space and permissions of the output folder") from None


class _Released:
    """The rows that leave: ``rows`` (m,) the source row of each output row; blocks of them as Arrow."""

    def __init__(self, connection: Connection, staged: StagedTable, output: OutputTable, cache: dict[int, Codes]) -> None:
        self._connection = connection
        self._staged = staged
        self._output = output
        self._bit = {name: place for place, name in enumerate(output.masked)}
        self._placed = connection.fresh("placed")
        self._secrets: list[bytes] = []
        self._held: dict[int, tuple[NDArray[Any], Codes]] = {}
        self._streamed: list[int] = []
        for place, column in enumerate(output.columns):
            ordinal = staged.ordinal(column.name)
            if staged.few[ordinal] and column.pseudonym_key is None:
                codes = cached(connection, staged, ordinal, cache)
                self._held[place] = (self._masked(column, codes), codes)
            else:
                self._streamed.append(place)
        self.rows = self._ordered()
        if self._streamed:
            self._place_rows()
        for place, (values, codes) in self._held.items():
            self._held[place] = _used(values[self.rows], codes)

    def close(self) -> None:
        self._connection.drop("TABLE", self._placed)

    def _word(self, column: OutputColumn) -> tuple[int, int] | None:
        bit = self._bit.get(column.name)
        return None if bit is None else (bit // 64, bit % 64)

    def _masked(self, column: OutputColumn, codes: Codes) -> NDArray[Any]:
        """Ranks 0..v-1 in source order, v where the cell leaves as NULL: last in the order."""
        kind = np.dtype(np.uint8 if codes.size < 256 else np.uint16 if codes.size < 65_536 else np.uint32)
        ranks: NDArray[Any] = np.subtract(codes.values, 1, dtype=kind)
        ranks[codes.values == 0] = codes.size
        if (at := self._word(column)) is not None:
            ranks[(self._output.masks[:, at[0]] & np.uint64(1 << at[1])) != 0] = codes.size
        return ranks

    def _ordered(self) -> NDArray[np.uint32]:
        kept = np.flatnonzero(~self._output.dropped).astype(np.uint32)
        if self._output.order == "source" or not len(kept):
            return kept
        if not self._streamed:
            columns = [_Ranks(self._held[place][0], self._held[place][1].size) for place in range(len(self._output.columns))]
            keys, _ = pack(columns, self._staged.n_rows)
            keys = keys if len(kept) == len(keys) else keys[kept]
            return kept[np.argsort(keys, kind="stable")]
        self._create_placed(np.zeros(self._staged.n_rows, np.uint32))
        by = [exp.Ordered(this=self._cell(column), nulls_first=False) for column in self._output.columns]
        row = sql.column("rowid", "s")
        query = self._joined(exp.select(sql.aliased(row, "r"))).order_by(*by, exp.Ordered(this=row.copy()))
        block = self._connection.arrays(query, self._secrets)
        self._secrets.clear()
        self._connection.drop("TABLE", self._placed)
        return np.asarray(plain(block["r"], 0)).astype(np.uint32)

    def _place_rows(self) -> None:
        places = np.zeros(self._staged.n_rows, np.uint32)
        places[self.rows] = np.arange(len(self.rows), dtype=np.uint32)
        self._create_placed(places)

    def _create_placed(self, places: NDArray[np.uint32]) -> None:
        """Store, row by row of the source: the place in the output, whether it leaves, and the masks."""
        columns: dict[str, NDArray[Any]] = {"place": places, "leaves": ~self._output.dropped}
        for word in range(self._output.masks.shape[1]):
            columns[f"m{word}"] = np.ascontiguousarray(self._output.masks[:, word])
        given = self._connection.fresh("given")
        self._connection.register(given, columns)
        self._connection.run(sql.create_table(self._placed, exp.select(exp.Star()).from_(sql.table(given))))
        self._connection.unregister(given)

    def _joined(self, select: exp.Select) -> exp.Select:
        rows = sql.positional(select.from_(sql.table(self._staged.table, alias="s")), sql.table(self._placed, alias="o"))
        return rows.where(sql.column("leaves", "o"))

    def _cell(self, column: OutputColumn) -> exp.Expr:
        ordinal = self._staged.ordinal(column.name)
        cell = sql.column(f"c{ordinal}", "s")
        if column.pseudonym_key is not None:
            cell = pseudonym(cell, column.pseudonym_key, self._secret)
        elif self._staged.coded[ordinal] is not None:
            cell = sql.cast(cell, "VARCHAR")
        if (at := self._word(column)) is None:
            return cell
        masked = exp.BitwiseAnd(this=sql.column(f"m{at[0]}", "o"), expression=sql.cast(sql.integer(1 << at[1]), "UBIGINT"))
        return sql.when((exp.EQ(this=exp.Paren(this=masked), expression=sql.integer(0)), cell))

    def _secret(self, value: bytes) -> exp.Expr:
        if value not in self._secrets:
            self._secrets.append(value)
        return exp.Parameter(this=exp.Literal.number(self._secrets.index(value) + 1))

    # blocks
    def stream(self) -> pa.RecordBatchReader:
        """A new stream of blocks of fixed size, in output order."""
        import pyarrow as pa

        first = self._empty()
        return pa.RecordBatchReader.from_batches(first.schema, self._blocks(first.schema))

    def _empty(self) -> pa.RecordBatch:
        import pyarrow as pa

        streamed = self._sorted_stream(limit=0)
        arrays = []
        for place in range(len(self._output.columns)):
            if place in self._held:
                values, codes = self._held[place]
                arrays.append(_decoded(values[:0], codes))
            else:
                arrays.append(pa.array([], streamed.schema.field(self._streamed.index(place)).type))
        streamed.close()
        return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in self._output.columns])

    def _sorted_stream(self, limit: int | None = None) -> pa.RecordBatchReader:
        """The columns that the database puts in order, in output order."""
        if not self._streamed:
            import pyarrow as pa

            return pa.RecordBatchReader.from_batches(pa.schema([]), iter(()))
        cells = [sql.aliased(self._cell(self._output.columns[place]), f"o{place}") for place in self._streamed]
        query = self._joined(exp.select(*cells)).order_by(exp.Ordered(this=sql.column("place", "o")))
        return self._connection.side_blocks(query if limit is None else query.limit(limit), _BLOCK_ROWS, self._secrets)

    def _blocks(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        streamed = _Rechunked(self._sorted_stream()) if self._streamed else None
        for start in range(0, len(self.rows), _BLOCK_ROWS):
            size = min(_BLOCK_ROWS, len(self.rows) - start)
            columns = streamed.take(size) if streamed is not None else []
            arrays = []
            for place in range(len(self._output.columns)):
                if place in self._held:
                    values, codes = self._held[place]
                    arrays.append(_decoded(values[start : start + size], codes))
                else:
                    arrays.append(columns[self._streamed.index(place)])
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


class _Ranks(Codes):
    """Ranks with NULL last, seen as codes for packing."""

    def __init__(self, values: NDArray[Any], size: int) -> None:
        self.values = values
        self.size = size


class _Rechunked:
    """Blocks of exact sizes from a stream of blocks of any size."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._waiting: list[pa.RecordBatch] = []

    def take(self, size: int) -> list[pa.Array]:
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
    combined = column.combine_chunks()
    return combined.chunk(0) if hasattr(combined, "num_chunks") else combined


def _used(ranks: NDArray[Any], codes: Codes) -> tuple[NDArray[Any], Codes]:
    """Ranks over the values that occur only: a value that no cell holds any more must not stay in a dictionary."""
    import pyarrow as pa

    there = np.bincount(ranks, minlength=codes.size + 1)[: codes.size] > 0
    left = int(np.count_nonzero(there))
    if left == codes.size:
        return ranks, codes
    to = np.full(codes.size + 1, left, ranks.dtype)
    to[: codes.size][there] = np.arange(left, dtype=ranks.dtype)
    return to[ranks], Codes(codes.values[:0], codes.dictionary.take(pa.array(np.flatnonzero(there))))


def _decoded(ranks: NDArray[Any], codes: Codes) -> pa.Array:
    import pyarrow as pa

    indices = pa.array(ranks, mask=ranks == codes.size)
    if pa.types.is_string(codes.dictionary.type):
        return pa.DictionaryArray.from_arrays(indices, codes.dictionary)
    return codes.dictionary.take(indices)


# sinks
def _write_sink(connection: Connection, released: _Released, sink: Sink) -> None:
    if sink.kind is SinkKind.PARQUET:
        _write_parquet(released.stream(), sink.path)
        return
    given = connection.fresh("given")
    connection.register(given, released.stream())
    rows = exp.select(exp.Star()).from_(sql.table(given))
    try:
        if sink.kind is SinkKind.CSV:
            options = {"FORMAT": exp.var("csv"), "HEADER": exp.true(), "DELIMITER": sql.text(","), "NULL": sql.text("")}
            connection.run(sql.copy_to(rows, str(sink.path), options))
        else:
            _write_database(connection, rows, sink)
    finally:
        connection.unregister(given)


def _write_parquet(blocks: pa.RecordBatchReader, path: Path) -> None:
    import pyarrow.parquet as pq

    with (
        path.open("xb") as file,
        pq.ParquetWriter(file, blocks.schema, compression="zstd", store_schema=False, write_page_index=False) as writer,
    ):
        for block in blocks:
            writer.write_batch(block, row_group_size=_BLOCK_ROWS)


def _write_database(connection: Connection, rows: exp.Query, sink: Sink) -> None:
    catalogue = connection.fresh("sink")
    connection.run(exp.Attach(this=sql.aliased(sql.text(str(sink.path)), catalogue)))
    try:
        connection.run(
            exp.Create(this=sql.table(sink.table, schema="main", catalogue=catalogue), kind="TABLE", expression=rows)
        )
    finally:
        connection.run(exp.Detach(this=sql.table(catalogue)))


def _write_row_map(released: _Released, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = released.rows
    output = np.argsort(rows, kind="stable").astype(np.uint32)
    table = pa.table({"source_row": pa.array(rows[output]), "output_row": pa.array(output)})
    with path.open("xb") as file:
        pq.write_table(table, file, compression="zstd", store_schema=False, use_dictionary=False, row_group_size=_BLOCK_ROWS)
