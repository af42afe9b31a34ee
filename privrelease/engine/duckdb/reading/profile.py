"""Counts over the first rows of a data file, for a person who writes a policy: no cell of it leaves the engine."""

from __future__ import annotations

import codecs
import contextlib
import sqlite3
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.connection import Connection
from privrelease.engine.duckdb.reading.csv_source import read_csv
from privrelease.engine.duckdb.reading.header import declared_type, read_header
from privrelease.engine.duckdb.reading.parquet_source import read_parquet
from privrelease.engine.duckdb.reading.table_source import attach, read_duckdb, read_sqlite, table_columns
from privrelease.engine.duckdb.reading.text_cells import whitespace
from privrelease.engine.duckdb.reading.text_files import _opened
from privrelease.engine.protocol.base import EngineSettings
from privrelease.errors import InputError
from privrelease.findings import Location
from privrelease.relational.profile import DATES, DATETIMES, ColumnProfile, FileProfile
from privrelease.relational.schema import Column, ColumnType, FileFormat, Role, SourceKind, TableSource

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.engine.duckdb.reading.raw_source import Raw

__all__ = ["columns_of_table", "likely_encodings", "profile_file", "tables_of"]

_ROWS: Final = 200_000
_READERS: Final = {
    SourceKind.CSV: read_csv,
    SourceKind.PARQUET: read_parquet,
    SourceKind.DUCKDB: read_duckdb,
    SourceKind.SQLITE: read_sqlite,
}
_FORMS: Final = {
    "integer": r"[+-]?[0-9]+",
    "zeros": r"[+-]?0[0-9]+([.,][0-9]+)?",
    "number": r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?",
    "comma": r"[+-]?[0-9]+(,[0-9]+)?",
    "grouped_by_point": r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?",
    "grouped_by_comma": r"[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]+)?",
    "grouped_by_apostrophe": r"[+-]?([0-9]{1,3}('[0-9]{3})+|[0-9]+)(\.[0-9]+)?",
    "grouped_by_space": r"[+-]?([0-9]{1,3}( [0-9]{3})+|[0-9]+)(,[0-9]+)?",
    "three_after_point": r"[+-]?[0-9]{1,3}\.[0-9]{3}",
    "three_after_comma": r"[+-]?[0-9]{1,3},[0-9]{3}",
    "boolean": r"true|false",
}
_MARKS: Final = ("na", "n/a", "n.a.", "nan", "null", "none", "-", "--", "?", ".", "unknown")
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_BLOCK: Final = 4 << 20


def likely_encodings(path: Path) -> tuple[str, ...]:
    """Return the encodings that a text file may have: one where it can be proven (a byte order mark, valid UTF-8), else the likely ones, first
    the likeliest. Raises InputError D103 for a damaged file, D113 for one that is no text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    high = nul = False
    proven = True
    first = b""
    with _opened(path, path.name) as stream:
        block = stream.read(_BLOCK)
        for mark, name in _BOMS:
            if block.startswith(mark):
                return (name,)
        first = block
        while True:
            if proven:
                try:
                    decoder.decode(block, final=not block)
                except UnicodeDecodeError:
                    proven = False
            nul = nul or b"\0" in block
            high = high or any(byte in block for byte in _WINDOWS)
            if not block:
                break
            block = stream.read(_BLOCK)
    if proven and not nul:
        return ("utf-8",)
    if nul:
        return _wide(path, first)
    return ("cp1252", "cp1250", "mac-roman") if high else ("latin-1", "iso-8859-15", "cp1252")


def _wide(path: Path, block: bytes) -> tuple[str, ...]:
    """Return the likely order of bytes in a file with NUL bytes, as text in UTF-16 has them next to letters of ASCII: in every second place, or
    nearly. Raises InputError D113 for any other.
    """
    pairs = len(block) // 2
    for name, other, place in (("utf-16-le", "utf-16-be", 1), ("utf-16-be", "utf-16-le", 0)):
        if (
            pairs
            and block[place::2].count(0) >= _OF_LETTERS * pairs
            and block[1 - place :: 2].count(0) <= (1 - _OF_LETTERS) * pairs
        ):
            return (name, other)
    line = block.partition(b"\0")[0].count(b"\n") + 1 if b"\0" in block else 0
    raise InputError(
        code="D113",
        message="the file holds NUL bytes, which text in no usual encoding has: it may be a binary file (a spreadsheet, an archive) or a damaged one",
        hint="export the data as CSV in UTF-8; where it is UTF-16, name it: --encoding utf-16-le or utf-16-be",
        location=Location(str(path), line),
    )


#: Share of letters of ASCII, line breaks and delimiters from which a text in UTF-16 is recognised.
_OF_LETTERS: Final = 0.6

#: Bytes that are control characters in Latin alphabets of ISO 8859 and letters or signs in those of Windows.
_WINDOWS: Final = tuple(bytes([number]) for number in range(0x80, 0xA0))


def tables_of(path: Path, kind: SourceKind) -> tuple[str, ...]:
    """Return the names of the tables and views of a database file, sorted. Raises InputError D103 where it is none."""
    if kind is SourceKind.SQLITE:
        try:
            with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
                listed = exp.select(sql.column("name")).from_(sql.table("sqlite_master"), copy=False)
                wanted = sql.one_of(sql.column("type"), ("table", "view"))
                found = [str(row[0]) for row in database.execute(listed.where(wanted).sql(dialect="sqlite"))]
        except sqlite3.Error:
            raise _no_database(path) from None
        return tuple(sorted(name for name in found if not name.startswith("sqlite_")))
    connection = Connection(EngineSettings(threads=1, readable=(path.resolve().parent,)))
    try:
        catalogue = attach(connection, path.resolve())
        if catalogue is None:
            raise _no_database(path)
        own = exp.EQ(this=sql.column("database_name"), expression=sql.text(catalogue))
        names = [
            str(row[0])
            for function, name in (("duckdb_tables", "table_name"), ("duckdb_views", "view_name"))
            for row in connection.rows(
                exp.select(sql.column(name))
                .from_(sql.scan(function, []), copy=False)
                .where(exp.and_(own, exp.EQ(this=sql.column("schema_name"), expression=sql.text("main"))), copy=False)
            )
        ]
    finally:
        connection.close()
    return tuple(sorted(name for name in names if not name.startswith(("duckdb_", "pragma_", "sqlite_"))))


def _no_database(path: Path) -> InputError:
    return InputError(
        code="D103", message=f"{path.name} is not a database that can be opened", hint="the name's ending says what a file is"
    )


def columns_of_table(path: Path, kind: SourceKind, table: str) -> tuple[tuple[str, ColumnType | None], ...]:
    """Return name and declared type of every column of a table, in order. Raises InputError D103, D116."""
    found: list[tuple[str, str]] | None
    if kind is SourceKind.SQLITE:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            listed = exp.select(sql.column("name"), sql.column("type")).from_(
                sql.scan("pragma_table_info", [sql.text(table)]), copy=False
            )
            found = [(str(name), str(physical).upper()) for name, physical in database.execute(listed.sql(dialect="sqlite"))]
    else:
        connection = Connection(EngineSettings(threads=1, readable=(path.resolve().parent,)))
        try:
            catalogue = attach(connection, path.resolve())
            if catalogue is None:
                raise _no_database(path)
            found = table_columns(connection, catalogue, table)
        finally:
            connection.close()
    if not found:
        raise InputError(code="D116", message=f"{path.name} has no table {table}", hint="check --table; the schema is main")
    return tuple((name, declared_type(physical)) for name, physical in found)


def profile_file(path: Path, kind: SourceKind, format_: FileFormat, table: str | None = None) -> FileProfile:
    """Return counts over the first rows of a file. Raises InputError where it cannot be read as the format says (D1xx)."""
    columns = read_header(path, format_) if table is None else columns_of_table(path, kind, table)
    settings = EngineSettings(readable=(path.resolve().parent,))
    connection = Connection(settings)
    try:
        texts = tuple(Column(name, ColumnType.STRING, Role.INSENSITIVE) for name, _ in columns)
        source = TableSource("profile", kind, str(path.resolve()), path.name, texts, table, format_)
        raw = _READERS[kind](connection, source)
        first = connection.fresh("first")
        cells = [sql.aliased(sql.cast(cell.copy(), "TEXT"), f"c{place}") for place, cell in enumerate(raw.cells)]
        connection.run(sql.create_table(first, exp.select(*cells).from_(raw.rows.copy(), copy=False).limit(_ROWS, copy=False)))
        whole = _n_rows(connection, raw) <= _ROWS
        (rows,) = connection.row(exp.select(sql.count_all()).from_(sql.table(first), copy=False))
        found = tuple(_profile(connection, first, place, name, kind_) for place, (name, kind_) in enumerate(columns))
        if raw.close is not None:
            raw.close()
        return FileProfile(found, int(rows), whole)
    finally:
        connection.close()


def _n_rows(connection: Connection, raw: Raw) -> int:
    return int(connection.row(exp.select(sql.count_all()).from_(raw.rows.copy(), copy=False))[0])


def _profile(connection: Connection, table: str, place: int, name: str, declared: ColumnType | None) -> ColumnProfile:
    """Count what a column holds: each distinct value is tried once, as often as it occurs."""
    values = connection.fresh("values")
    counted_values = [sql.aliased(sql.column(f"c{place}"), "v"), sql.aliased(sql.count_all(), "n")]
    groups = exp.select(*counted_values).from_(sql.table(table), copy=False).group_by(sql.column(f"c{place}"), copy=False)
    connection.run(sql.create_table(values, groups))
    cell = sql.column("v")
    trimmed = sql.call("trim", cell, sql.text(whitespace))
    empty = exp.or_(exp.Is(this=cell.copy(), expression=exp.Null()), exp.EQ(this=trimmed.copy(), expression=sql.text("")))
    mark = exp.and_(exp.not_(empty.copy()), sql.one_of(sql.call("lower", trimmed.copy()), _MARKS))
    filled = exp.and_(exp.not_(empty.copy()), exp.not_(mark.copy()))
    tests: list[tuple[str, exp.Expr]] = [
        (form, sql.call("regexp_full_match", trimmed.copy(), sql.text(pattern))) for form, pattern in _FORMS.items()
    ]
    tests += [(form, _parses(trimmed, form)) for form in (*DATES, *DATETIMES)]
    padded = exp.NEQ(this=trimmed.copy(), expression=cell.copy())
    figures = [
        _rows_where(filled),
        _rows_where(mark),
        sql.count_all(where=filled.copy()),
        _most_rows(filled),
        _rows_where(padded),
    ]
    figures += [_rows_where(exp.and_(filled.copy(), test)) for _, test in tests]
    n_filled, n_marks, distinct, most, n_padded, *fits = connection.row(
        exp.select(*figures).from_(sql.table(values), copy=False)
    )
    connection.drop("TABLE", values)
    counted = {form: int(number) for (form, _), number in zip(tests, fits, strict=True)}
    return ColumnProfile(name, int(n_filled), int(n_marks), int(distinct), int(most), counted, declared, int(n_padded))


def _rows_where(holds: exp.Expr) -> exp.Expr:
    """Count the rows whose value meets a condition."""
    return sql.call("coalesce", exp.Sum(this=exp.Case(ifs=[exp.If(this=holds.copy(), true=sql.column("n"))])), sql.integer(0))


def _most_rows(holds: exp.Expr) -> exp.Expr:
    """Count the rows of the most frequent value that meets a condition."""
    return sql.call("coalesce", exp.Max(this=exp.Case(ifs=[exp.If(this=holds.copy(), true=sql.column("n"))])), sql.integer(0))


def _parses(cell: exp.Expr, form: str) -> exp.Expr:
    """Test whether a cell is a date of a form: of its very length, since the parser takes fewer digits too."""
    digits = form.replace("%Y", "0000")
    for part in ("%d", "%m", "%H", "%M", "%S"):
        digits = digits.replace(part, "00")
    long = exp.EQ(this=sql.call("length", cell.copy()), expression=sql.integer(len(digits)))
    parsed = exp.not_(exp.Is(this=sql.call("try_strptime", cell.copy(), sql.text(form)), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=long, true=parsed)], default=exp.false())  # only what has the length is parsed
