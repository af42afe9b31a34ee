"""The columns of a data file, without a row of it: names, and the types that the file itself declares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from privrelease.engine.duckdb.connection import Connection
from privrelease.engine.duckdb.read_parquet import parquet_columns
from privrelease.engine.duckdb.text_files import header_of
from privrelease.engine.protocol import EngineSettings
from privrelease.errors import InputError
from privrelease.findings import Location
from privrelease.relational.schema import ColumnType, FileFormat

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_header"]

_PARQUET = frozenset({".parquet", ".pq"})
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?\Z")
_NUMBER = re.compile(r"(DOUBLE|FLOAT|DECIMAL\(.*\))\Z")


def read_header(path: Path, format_: FileFormat | None = None) -> tuple[tuple[str, ColumnType | None], ...]:
    """Return (name, declared type) of every column, in order; no type for a CSV file, whose cells are texts.

    Raises InputError: D103 not of its kind, D104 an empty file, D110 and D112 of the text.
    """
    label = str(path)
    if path.suffix.lower() not in _PARQUET:
        return tuple((name, None) for name in header_of(path, format_ or FileFormat(), label))
    connection = Connection(EngineSettings(threads=1, readable=(path.resolve().parent,)))
    try:
        found = parquet_columns(connection, path.resolve())
    finally:
        connection.close()
    if found is None:
        message = "this is no Parquet file, or it is damaged"
        raise InputError(code="D103", message=message, hint="the name's ending says what a file is", location=Location(label))
    return tuple((name, declared_type(physical)) for name, physical in found)


def declared_type(physical: str) -> ColumnType | None:
    """Return the policy's type for a DuckDB type; None where none holds it.

    >>> [declared_type(name) for name in ("INTEGER", "UBIGINT", "DECIMAL(9,2)", "VARCHAR", "BLOB")]
    [<ColumnType.INTEGER: 'integer'>, <ColumnType.INTEGER: 'integer'>, <ColumnType.NUMBER: 'number'>, <ColumnType.STRING: 'string'>, None]
    """
    if _WHOLE.match(physical):
        return ColumnType.INTEGER
    if _NUMBER.match(physical):
        return ColumnType.NUMBER
    if physical.startswith("ENUM("):
        return ColumnType.CATEGORY
    simple = {
        "VARCHAR": ColumnType.STRING,
        "DATE": ColumnType.DATE,
        "TIMESTAMP": ColumnType.DATETIME,
        "BOOLEAN": ColumnType.BOOLEAN,
    }
    return simple.get(physical)
