"""Opening what is measured: a released file of any kind, or a staged source, as rows under the names of the policy."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.duckdb.reading.csv_source import load_csv
from privrelease.engine.duckdb.reading.missing_markers import marks_of, without_marks
from privrelease.engine.duckdb.reading.parquet_source import parquet_columns, scan_parquet
from privrelease.engine.duckdb.reading.raw_source import Raw, check_header
from privrelease.engine.duckdb.reading.staging import StagedTable, stage
from privrelease.engine.duckdb.reading.table_source import attach, has_collations, table_columns
from privrelease.engine.duckdb.reading.text_files import header_of, line_of_record
from privrelease.engine.protocol.base import ReleasedFile
from privrelease.errors import PrivreleaseError
from privrelease.findings import Location
from privrelease.relational.schema import (
    Column,
    ColumnFormat,
    ColumnType,
    FileFormat,
    Role,
    SinkKind,
    SourceKind,
    TableSource,
)
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.relational.schema import Sink

__all__ = ["Opened", "open_release", "opened_source"]

Expr = exp.Expr

#: What the first column is called in a file of others whose header does not name it: R and pandas write the names of rows there.
_ROW_NAMES = "(row names)"


@dataclass(frozen=True, slots=True)
class Opened:
    """Something to measure: ``rows(alias, numbered)`` for FROM, its columns under the names of the policy, the name of the row number.

    ``texts``: columns stored as enumerations; ``enums``: the type of each that another table may share. ``counts``: of some of them, the values of the
    enumeration in its order and the rows of each.
    """

    rows: Callable[[str, bool], exp.Table]
    names: dict[str, str]
    texts: frozenset[str]
    row_number: str
    n_rows: int
    enums: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, tuple[pa.Array, NDArray[np.int64]]] = field(default_factory=dict, repr=False)

    def cell(self, name: str, alias: str) -> Expr:
        """The column of that name; enumerations as the texts they are."""
        cell = sql.column(self.names[name], alias)
        return sql.cast(cell, "VARCHAR") if name in self.texts else cell

    def key(self, name: str, alias: str) -> Expr:
        """The column of that name for grouping, in whatever type it is stored."""
        return sql.column(self.names[name], alias)


def opened_source(staged: StagedTable) -> Opened:
    """Return a staged source as something to measure."""
    return Opened(
        lambda alias, _: sql.table(staged.table, alias=alias),
        {column.name: f"c{place}" for place, column in enumerate(staged.columns)},
        frozenset(column.name for column, coded in zip(staged.columns, staged.coded, strict=True) if coded is not None),
        "rowid",
        staged.n_rows,
        {column.name: coded for column, coded in zip(staged.columns, staged.coded, strict=True) if coded is not None},
    )


def open_release(
    connection: Connection, sink: Sink, columns: Sequence[Column], *, marked: bool = False
) -> tuple[Opened, ReleasedFile]:
    """Open a released file. Raises InputError D101 no such file, D102 outside the folders, D103 not of that kind, D105, D106, D116.

    ``marked``: cells that equal a column's declared marks of missing or suppressed values are missing, as in the source.
    """
    if not sink.path.is_file():
        message = f"the file {sink.label} does not exist"
        raise refusal(message, "D101", hint="check the path of the output", location=Location(sink.label))
    if not connection.readable(sink.path):
        message = f"{sink.label} leads outside the folders that may be read"
        raise refusal(message, "D102", hint="keep outputs below the output root", location=Location(sink.label))
    handle = connection.fresh("r")
    if sink.kind is SinkKind.CSV:
        return _open_csv(connection, sink, columns, handle, marked=marked)
    if sink.kind is SinkKind.PARQUET:
        found = parquet_columns(connection, sink.path)
        rows, collated = _parquet_rows(sink.path), False
        number = "file_row_number"
    else:
        catalogue = attach(connection, sink.path)
        found = None if catalogue is None else table_columns(connection, catalogue, sink.table)
        if catalogue is not None and found is None:
            message = f"{sink.label} has no table {sink.table}"
            raise refusal(message, "D116", hint="check `table` of the output", location=Location(sink.label))
        rows = _table_rows(sink.table, catalogue or "")
        collated = catalogue is not None and has_collations(connection, catalogue)
        number = "rowid"
    if found is None:
        message = f"{sink.label} cannot be read as {sink.kind.value}"
        raise refusal(message, "D103", hint="the file is damaged or of another kind", location=Location(sink.label))
    names = [name for name, _ in found]
    check_header(names, (), sink.label, "drop")
    (n_rows,) = connection.row(exp.select(sql.count_all()).from_(rows("f", False), copy=False))
    declared = {column.name: column.type for column in columns}
    types = tuple((name, _type_of(sink, name, kind, declared.get(name))) for name, kind in found)
    opened = Opened(rows, {name: name for name in names}, frozenset(), number, int(n_rows))
    marks = {column.name: marks_of(column.format) for column in columns if marks_of(column.format)} if marked else {}
    if marks.keys() & opened.names.keys() or collated:
        opened = without_marks(connection, opened, dict(types), marks, collated=collated)
    return opened, ReleasedFile(handle, types, int(n_rows))


def _parquet_rows(path: Path) -> Callable[[str, bool], exp.Table]:
    return lambda alias, numbered: scan_parquet([path], alias=alias, row_numbers=numbered)


def _table_rows(name: str, catalogue: str) -> Callable[[str, bool], exp.Table]:
    return lambda alias, _: sql.table(name, schema="main", catalogue=catalogue, alias=alias)


def _type_of(sink: Sink, name: str, kind: str, declared: ColumnType | None) -> ColumnType:
    bare = kind.partition("(")[0]
    if bare in ("VARCHAR", "ENUM"):
        return declared if declared in (ColumnType.STRING, ColumnType.CATEGORY) else ColumnType.STRING
    found = {
        **dict.fromkeys(
            ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), ColumnType.INTEGER
        ),
        **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), ColumnType.NUMBER),
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), ColumnType.DATETIME),
        "DATE": ColumnType.DATE,
        "BOOLEAN": ColumnType.BOOLEAN,
    }.get(bare)
    if found is None:
        message = f"the column {name} of {sink.label} has the type {bare}, which no release has"
        raise refusal(message, "D115", hint="write the file with the types of the policy", location=Location(sink.label))
    return found


def _form_of(sink: Sink, columns: Sequence[Column]) -> FileFormat:
    """Return how an external file is cut into cells: by the first sign with which its header has most of the columns that are looked for."""
    wanted = {column.name for column in columns}

    def seen(form: FileFormat) -> int:
        try:
            return len(wanted & set(header_of(sink.path, form, sink.label)))
        except PrivreleaseError:  # with this sign it is no header
            return 0

    return max((FileFormat(delimiter=sign) for sign in dict.fromkeys((sink.delimiter, ",", ";", "\t"))), key=seen)


def _marks_of_csv(form: ColumnFormat) -> tuple[str, ...]:
    """Return the marks of a column in a CSV file of others: many programs quote every field, so that an empty text is one where the source's is."""
    return (*marks_of(form), "") if "" in form.missing else marks_of(form)


def _open_csv(
    connection: Connection, sink: Sink, columns: Sequence[Column], handle: str, *, marked: bool
) -> tuple[Opened, ReleasedFile]:
    form = _form_of(sink, columns) if marked else FileFormat(delimiter=sink.delimiter)
    names = header_of(sink.path, form, sink.label)
    if marked and names and not names[0]:
        names = [_ROW_NAMES, *names[1:]]
    check_header(names, (), sink.label, "drop", line=1)
    if columns and not {column.name for column in columns} & set(names):
        message = f"none of the {len(columns)} columns of the release is in the first line, which has {len(names)} fields"
        raise refusal(message, "D107", hint="has the file a header line?", location=Location(sink.label, 1))
    declared = {column.name: column for column in columns}
    plain = ColumnFormat(missing=(), decimal=sink.decimal)
    forms = {column.name: replace(plain, missing=_marks_of_csv(column.format)) for column in columns} if marked else {}
    as_found = tuple(
        Column(
            name,
            declared[name].type if name in declared else ColumnType.STRING,
            Role.INSENSITIVE,
            grid=declared[name].grid if name in declared else None,
            format=forms.get(name, plain),
        )
        for name in names
    )
    raw = connection.fresh("raw")
    wanted = range(len(names))
    n_rows = load_csv(connection, sink.path, form, sink.label, names=names, wanted=wanted, into=raw, quoted_missing=False)

    def place(row: int, ordinal: int) -> tuple[Location, str]:
        return Location(sink.label, line_of_record(sink.path, form, row, len(names)), ordinal + 1), ""

    cells = tuple(sql.column(f"c{i}") for i in wanted)
    rows = Raw(sql.table(raw), cells, ("VARCHAR",) * len(names), place, n_rows=n_rows)
    source = TableSource("release", SourceKind.CSV, str(sink.path), sink.label, as_found)
    try:
        table, staged = stage(connection, source, rows, any_digits=True)
    finally:
        connection.drop("TABLE", raw)
    return opened_source(table), ReleasedFile(handle, tuple((column.name, column.type) for column in as_found), staged.n_rows)
