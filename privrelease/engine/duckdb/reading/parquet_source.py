"""Reading Parquet: the files' own column names, one schema over all files of a glob."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal, source_refusal
from privrelease.engine.duckdb.reading.raw_source import Raw, check_header, files_of
from privrelease.findings import Location

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.relational.schema import TableSource

__all__ = ["parquet_columns", "read_parquet", "scan_parquet"]


def scan_parquet(paths: Sequence[Path], *, alias: str | None = None, row_numbers: bool = False) -> exp.Table:
    """Return a scan of the files, in that order; with ``file_row_number`` where asked."""
    listed = exp.Array(expressions=[sql.text(str(path)) for path in paths])
    options = {"file_row_number": exp.true()} if row_numbers else {}
    return sql.scan("read_parquet", [listed], alias=alias, hive_partitioning=exp.false(), **options)


def parquet_columns(connection: Connection, path: Path) -> list[tuple[str, str]] | None:
    """Return (name, DuckDB type) of the columns as the file names them; None where it is no Parquet file."""
    schema = sql.scan("parquet_schema", [sql.text(str(path))])
    names = exp.select(sql.column("name"), sql.column("num_children")).from_(schema, copy=False)
    scan = exp.select(exp.Star()).from_(scan_parquet([path]), copy=False)
    if (
        connection.attempt(names) is not None
        or connection.attempt(exp.select("*").from_(scan.subquery("s"), copy=False).limit(0, copy=False)) is not None
    ):
        return None
    leaves = _top_level(connection.rows(names))
    types = [str(row[1]) for row in connection.rows(exp.Describe(this=scan))]
    return list(zip(leaves, types, strict=True))


def _top_level(rows: Sequence[tuple[str, int | None]]) -> list[str]:
    """Names of the root's direct children, of the schema in depth-first order."""
    names: list[str] = []
    skip = 0
    for name, children in rows[1:]:
        if skip:
            skip += (children or 0) - 1
            continue
        names.append(str(name))
        skip = children or 0
    return names


def read_parquet(connection: Connection, source: TableSource) -> Raw:
    """Read one file or a glob. Raises InputError D103 not a Parquet file, D114 files with different columns, and those of headers."""
    files = files_of(connection, source, many=True)
    schemas: list[list[tuple[str, str]]] = []
    for file in files:
        found = parquet_columns(connection, file.path)
        if found is None:
            raise source_refusal(
                source,
                "D103",
                f"{file.label} is not a Parquet file that can be read",
                "check `source`, or write the file again",
            )
        schemas.append(found)
    for file, schema in zip(files, schemas, strict=True):
        if sorted(schema) != sorted(schemas[0]):
            message = f"{file.label} has other columns or types than {files[0].label}"
            raise refusal(message, "D114", hint="make the files of one source alike", location=Location(file.label))
    check_header([name for name, _ in schemas[0]], source.declared, files[0].label, source.unlisted_columns)
    types = dict(schemas[0])
    paths = [file.path for file in files]

    def place(row: int, ordinal: int) -> tuple[Location, str]:
        left = row
        for file in files:
            (rows,) = connection.row(exp.select(sql.count_all()).from_(scan_parquet([file.path]), copy=False))
            if left < rows:
                return Location(file.label), f" (row {left + 1})"
            left -= rows
        return Location(source.label), f" (row {row + 1}, column {ordinal + 1})"

    return Raw(
        scan_parquet(paths),
        tuple(sql.column(column.name) for column in source.columns),
        tuple(types[column.name] for column in source.columns),
        place,
    )
