"""Writing an output: every sink and the row map, each a new file, completely or not at all, its bytes the same every time."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.duckdb.writing.blocks import BLOCK_ROWS
from privrelease.engine.duckdb.writing.database_file import write_database
from privrelease.engine.duckdb.writing.released_rows import ReleasedRows
from privrelease.engine.duckdb.writing.treated_rows import check_parts
from privrelease.engine.protocol.base import WrittenOutput
from privrelease.errors import PrivreleaseError
from privrelease.relational.schema import SinkKind
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Protocol

    import pyarrow as pa

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.coding import Coding
    from privrelease.engine.duckdb.measuring.row_classes import RowKeys
    from privrelease.engine.protocol.base import OutputTable
    from privrelease.relational.schema import Sink

    class _Streamed(Protocol):
        def stream(self) -> pa.RecordBatchReader: ...


__all__ = ["write", "write_tables"]


def write(connection: Connection, rows: RowKeys, output: OutputTable, cache: dict[int, Coding]) -> WrittenOutput:
    """Write every sink and the row map, each completely or not at all; see :class:`privrelease.engine.protocol.base.Engine`."""
    check_parts(rows, output.parts)
    released = ReleasedRows(connection, rows, output, cache)
    written: list[Path] = []
    try:
        for sink in output.sinks:
            _new_file(connection, sink.path, sink.label, partial(_write_sink, connection, released, sink), written)
        _new_file(connection, output.row_map, "the row map", partial(_write_row_map, released, output.row_map), written)
    except BaseException:
        for path in written:
            for left in (path, path.with_name(f"{path.name}.wal")):
                left.unlink(missing_ok=True)
        raise
    finally:
        released.close()
    return WrittenOutput(released.n_rows, tuple(sink.path for sink in output.sinks))


@dataclass(frozen=True, eq=False, slots=True)
class _Given:
    """A table that is held already."""

    table: pa.Table

    def stream(self) -> pa.RecordBatchReader:
        return self.table.to_reader(BLOCK_ROWS)


def write_tables(connection: Connection, tables: Sequence[tuple[pa.Table, Sink]]) -> None:
    """Write tables that were made here, each to its sink, completely or not at all."""
    written: list[Path] = []
    try:
        for table, sink in tables:
            _new_file(connection, sink.path, sink.label, partial(_write_sink, connection, _Given(table), sink), written)
    except BaseException:
        for path in written:
            for left in (path, path.with_name(f"{path.name}.wal")):
                left.unlink(missing_ok=True)
        raise


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


# sinks
def _write_sink(connection: Connection, released: _Streamed, sink: Sink) -> None:
    if sink.kind is SinkKind.PARQUET:
        _write_parquet(released.stream(), sink.path)
    elif sink.kind is SinkKind.CSV:
        given = connection.fresh("given")
        blocks = released.stream()
        connection.register(given, blocks)
        options = {"FORMAT": exp.var("csv"), "HEADER": exp.true(), "DELIMITER": sql.text(sink.delimiter), "NULL": sql.text("")}
        try:
            cells = [exp.Star()] if sink.decimal == "." else _with_sign(blocks.schema, sink.decimal)
            connection.run(sql.copy_to(exp.select(*cells).from_(sql.table(given), copy=False), str(sink.path), options))
        finally:
            connection.unregister(given)
    else:
        write_database(connection, released.stream(), sink.path, sink.table)


def _with_sign(schema: pa.Schema, sign: str) -> list[exp.Expr]:
    """Return the columns, numbers that may have decimals as texts with this decimal sign."""
    import pyarrow as pa

    cells = []
    for field in schema:
        cell = sql.column(field.name)
        if pa.types.is_floating(field.type) or pa.types.is_decimal(field.type):
            cell = sql.call("replace", sql.cast(cell, "VARCHAR"), sql.text("."), sql.text(sign))
        cells.append(sql.aliased(cell, field.name))
    return cells


def _write_parquet(blocks: pa.RecordBatchReader, path: Path) -> None:
    import pyarrow.parquet as pq

    with (
        path.open("xb") as file,
        pq.ParquetWriter(file, blocks.schema, compression="zstd", store_schema=False, write_page_index=False) as writer,
    ):
        for block in blocks:
            writer.write_batch(block, row_group_size=BLOCK_ROWS)


def _write_row_map(released: ReleasedRows, path: Path) -> None:
    import pyarrow.parquet as pq

    blocks = released.row_map()
    with (
        path.open("xb") as file,
        pq.ParquetWriter(file, blocks.schema, compression="zstd", store_schema=False, use_dictionary=False) as writer,
    ):
        for block in blocks:
            writer.write_batch(block, row_group_size=BLOCK_ROWS)
