"""Reading CSV: every cell as the text it is, into a table of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.raw_source import Raw, check_header, files_of
from privrelease.engine.duckdb.reading.text_files import (
    check_format,
    fault_of,
    header_of,
    line_of_record,
    mixed_line_breaks,
    structure,
    transcode,
)
from privrelease.findings import Location

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.raw_source import SourceFile
    from privrelease.relational.schema import FileFormat, TableSource

__all__ = ["load_csv", "read_csv"]


def read_csv(connection: Connection, source: TableSource) -> Raw:
    """Read one file or a glob of files with the same columns. Raises InputError D101-D114; see the list of codes."""
    files = files_of(connection, source, many=True)
    check_format(source.format, source.label)
    raw = connection.fresh("raw")
    opened: list[_Opened] = []
    for file in files:
        opened.append(_load(connection, source, file, raw, first=not opened))

    def place(row: int, ordinal: int) -> tuple[Location, str]:
        left = row
        for one in opened:
            if left < one.rows:
                line = line_of_record(one.path, one.format, left, len(one.names))
                return Location(one.label, line, one.names.index(source.columns[ordinal].name) + 1), ""
            left -= one.rows
        return Location(source.label), ""

    return Raw(
        sql.table(raw),
        tuple(sql.column(f"c{place_}") for place_ in range(len(source.columns))),
        ("VARCHAR",) * len(source.columns),
        place,
        empty_is_null=True,
        close=lambda: connection.drop("TABLE", raw),
        n_rows=sum(one.rows for one in opened),
    )


class _Opened:
    __slots__ = ("format", "label", "names", "path", "rows")

    def __init__(self, path: Path, label: str, format_: FileFormat, names: list[str], rows: int) -> None:
        self.path = path
        self.label = label
        self.format = format_
        self.names = names
        self.rows = rows


def _load(connection: Connection, source: TableSource, file: SourceFile, raw: str, *, first: bool) -> _Opened:
    from dataclasses import replace

    utf8 = transcode(file.path, source.format, file.label, connection.temp / f"{connection.fresh('utf8-')}.csv")
    format_ = replace(source.format, encoding="utf-8") if utf8 != file.path else source.format
    names = header_of(utf8, format_, file.label)
    check_header(names, source.declared, file.label, source.unlisted_columns, delimiter=format_.delimiter, line=1)
    wanted = [names.index(column.name) for column in source.columns]
    rows = load_csv(connection, utf8, format_, file.label, names=names, wanted=wanted, into=raw, first=first)
    return _Opened(utf8, file.label, format_, names, rows)


def load_csv(
    connection: Connection,
    path: Path,
    format_: FileFormat,
    label: str,
    *,
    names: Sequence[str],
    wanted: Sequence[int],
    into: str,
    first: bool = True,
    quoted_missing: bool = True,
) -> int:
    """Append the wanted columns (ordinals of the header) to a table as c0, c1, … and return the number of rows.

    An unquoted empty field is NULL; a quoted one too where ``quoted_missing``.
    """
    fields = [f"x{place}" for place in range(len(names))]
    scan = sql.read_csv(str(path), fields, delimiter=format_.delimiter, quote=format_.quote, quoted_missing=quoted_missing)
    cells = [sql.aliased(sql.column(fields[place]), f"c{to}") for to, place in enumerate(wanted)]
    rows = exp.select(*cells).from_(scan, copy=False)
    statement = sql.create_table(into, rows) if first else exp.Insert(this=sql.table(into), expression=rows)
    failed = connection.attempt(statement)
    if failed is not None:
        raise fault_of(path, format_, label, len(names)) or mixed_line_breaks(path, format_, label)
    loaded = connection.stored()
    _second_look(path, format_, label, len(names), loaded)
    return loaded


def _second_look(path: Path, format_: FileFormat, label: str, n_columns: int, loaded: int) -> None:
    """Refuse what the engine lets pass: a field too many that is empty, blanks before a quote, NUL, line breaks of several kinds."""
    seen = structure(path, format_, label)
    if seen.nul or seen.odd_quotes or seen.mixed_line_breaks or seen.delimiters != (loaded + 1) * (n_columns - 1):
        fault = fault_of(path, format_, label, n_columns)
        if fault is not None or seen.mixed_line_breaks:
            raise fault or mixed_line_breaks(path, format_, label)
