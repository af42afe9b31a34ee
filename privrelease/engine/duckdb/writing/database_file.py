"""Writing a DuckDB file whose bytes are the same every time.

Two things vary from run to run: the order of blocks with the number of threads, so one thread writes; and a random identifier in the
header (of use to encryption only, which a release does not use), so it is set to zero. The header carries a checksum; where ours of the
file as it is does not agree with it, the layout is not the one we know and the file stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from privrelease.engine.duckdb.connection import Connection

__all__ = ["write_database"]

_HEADER = 4096
_CHECKSUM = 8
_IDENTIFIER = slice(124, 140)
_START = 5381
_FACTOR = 0xBF58476D1CE4E5B9


def write_database(connection: Connection, rows: pa.RecordBatchReader, path: Path, table: str) -> None:
    """Write the rows into a table of a new DuckDB file. Raises InputError D121 where it cannot be written."""
    writer = connection.single_threaded()
    try:
        catalogue = writer.fresh("sink")
        writer.register("given", rows)
        to = sql.table(table, schema="main", catalogue=catalogue)
        for statement in (
            exp.Attach(this=sql.aliased(sql.text(str(path)), catalogue)),
            exp.Create(this=to, kind="TABLE", expression=exp.select(exp.Star()).from_(sql.table("given"), copy=False)),
            exp.Detach(this=sql.table(catalogue)),
        ):
            if writer.attempt(statement) is not None:  # rows and types are ours: only the file can be at fault
                message = "the database file could not be written"
                raise refusal(message, "D121", hint="check space and permissions of the output folder")
    finally:
        writer.close()
    _without_identifier(path)


def _without_identifier(path: Path) -> None:
    with path.open("r+b") as file:
        header = bytearray(file.read(_HEADER))
        if len(header) != _HEADER or header[:_CHECKSUM] != _checksum(header[_CHECKSUM:]):
            return
        header[_IDENTIFIER] = bytes(16)
        header[:_CHECKSUM] = _checksum(header[_CHECKSUM:])
        file.seek(0)
        file.write(header)


def _checksum(data: bytes | bytearray) -> bytes:
    """DuckDB's checksum of a block: 64-bit words, each times a constant, joined by exclusive or."""
    words = np.frombuffer(data, "<u8") * np.uint64(_FACTOR)
    return (int(np.bitwise_xor.reduce(words)) ^ _START).to_bytes(8, "little")
