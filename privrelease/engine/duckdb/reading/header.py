"""The columns of a data file, without a row of it: names, and the types that the file itself declares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from privrelease.engine.duckdb.connection import Connection
from privrelease.engine.duckdb.reading.parquet_source import parquet_columns
from privrelease.engine.duckdb.reading.text_files import header_of
from privrelease.engine.protocol.base import EngineSettings
from privrelease.errors import InputError
from privrelease.findings import Location
from privrelease.relational.schema import ColumnType, FileFormat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["read_header"]

_PARQUET = frozenset({".parquet", ".pq"})
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?\Z")
_NUMERAL = re.compile(r"[+-]?[\d.,' _\xa0]*\d[\d.,' _\xa0]*([eE][+-]?\d+)?\s*%?\Z")
_DATE = re.compile(r"\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}([T ]\d{1,2}:\d{2}.*)?\Z")
_LONGEST_NAME = 64
_REPEATED = "repeats an earlier one"
_NUMBER = re.compile(r"(DOUBLE|FLOAT|DECIMAL\(.*\))\Z")


def read_header(path: Path, format_: FileFormat | None = None) -> tuple[tuple[str, ColumnType | None], ...]:
    """Return (name, declared type) of every column, in order; no type for a CSV file, whose cells are texts.

    Raises InputError: D103 not of its kind, D104 an empty file, D110 and D112 of the text, D117 where the first line of a CSV file
    seems to be a row of data, whose cells must not be taken for names.
    """
    label = str(path)
    if path.suffix.lower() not in _PARQUET:
        names = header_of(path, format_ or FileFormat(), label)
        fields = re.split(r"[;\t|]", names[0]) if len(names) == 1 else names  # another delimiter hides no row of data
        for place, name in enumerate(fields):
            if (fault := _no_name(name, fields[:place])) is not None:
                message = f"the first line does not seem to hold column names: its field {place + 1} {fault}"
                hint = "begin the file with a header line of column names; names are not taken from a row of data"
                if fault == _REPEATED:
                    hint = "rename one of the two columns; if this is a row of data, begin the file with a header line of column names"
                raise InputError(code="D117", message=message, hint=hint, location=Location(label, 1, place + 1))
        return tuple((name, None) for name in names)
    connection = Connection(EngineSettings(threads=1, readable=(path.resolve().parent,)))
    try:
        found = parquet_columns(connection, path.resolve())
    finally:
        connection.close()
    if found is None:
        message = "this is not a Parquet file, or it is damaged"
        raise InputError(code="D103", message=message, hint="the name's ending says what a file is", location=Location(label))
    return tuple((name, declared_type(physical)) for name, physical in found)


def _no_name(name: str, before: Sequence[str]) -> str | None:
    """Say what in a field of the first line speaks against a column name; None where nothing does.

    >>> [_no_name(text, ["age"]) for text in ("sex", "", "-1.5e3", "2021-04-03", "3/4/21", "a@b.example", "age")]
    [None, 'is empty', 'is a number', 'is a date', 'is a date', 'holds an @', 'repeats an earlier one']
    """
    text = name.strip()
    if not text:
        return "is empty"
    if _NUMERAL.match(text):
        return "is a number"
    if _DATE.match(text):
        return "is a date"
    if len(text) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    if "@" in text:
        return "holds an @"
    return _REPEATED if name in before else None


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
