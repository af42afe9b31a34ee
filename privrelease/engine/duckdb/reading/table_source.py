"""Reading a table of a DuckDB or a SQLite file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import source_refusal
from privrelease.engine.duckdb.reading.raw_source import Raw, check_header, files_of
from privrelease.findings import Location
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.relational.schema import TableSource

__all__ = ["attach", "binary", "has_collations", "read_duckdb", "read_sqlite"]

_BATCH_ROWS = 65_536
#: Pairs of texts that are equal under NOCASE, NOACCENT and NFC.
_EQUAL_BY_COLLATION = (("A", "a"), ("\u00e9", "e"), ("\u00e9", "e\u0301"))


def attach(connection: Connection, path: Path) -> str | None:
    """Attach a DuckDB file for reading and return its name; None where it cannot be opened as one."""
    catalogue = connection.fresh("db")
    statement = exp.Attach(
        this=sql.aliased(sql.text(str(path)), catalogue), expressions=[exp.AttachOption(this=exp.var("READ_ONLY"))]
    )
    return catalogue if connection.attempt(statement) is None else None


def table_columns(connection: Connection, catalogue: str, name: str) -> list[tuple[str, str]] | None:
    """Return (name, DuckDB type) of the columns of a table or view of an attached file, in order; None where there is no such table."""
    there = exp.and_(
        exp.EQ(this=sql.column("database_name"), expression=sql.text(catalogue)),
        exp.EQ(this=sql.column("schema_name"), expression=sql.text("main")),
        exp.EQ(this=sql.column("table_name"), expression=sql.text(name)),
    )
    found = (
        exp.select(sql.column("column_name"), sql.column("data_type"))
        .from_(sql.scan("duckdb_columns", []), copy=False)
        .where(there, copy=False)
    )
    rows = connection.rows(found.order_by(sql.column("column_index")))
    return [(str(column), str(type_)) for column, type_ in rows] or None


def has_collations(connection: Connection, catalogue: str) -> bool:
    """Tell whether some table of an attached file declares a collation, by which other texts than its own equal a text; views take theirs over."""
    for function in ("duckdb_tables", "duckdb_views"):
        declared = sql.call("contains", sql.call("lower", sql.column("sql")), sql.text("collate"))
        own = exp.EQ(this=sql.column("database_name"), expression=sql.text(catalogue))
        found = exp.select(sql.count_all(where=exp.and_(own, declared))).from_(sql.scan(function, []), copy=False)
        if connection.row(found)[0]:
            return True
    return False


def binary(text: exp.Expr) -> exp.Expr:
    """Return a text that is compared letter by letter, whatever collation it came with: a detour over its bytes sheds it."""
    return sql.call("decode", sql.call("encode", text))


def _collated(connection: Connection, rows: exp.Table, cell: exp.Expr) -> bool:
    """Tell whether a text column has a collation: by it some of the pairs are equal, which letter by letter are not."""
    tests = [
        exp.EQ(this=sql.when((exp.true(), sql.text(one)), otherwise=exp.Max(this=cell.copy())), expression=sql.text(other))
        for one, other in _EQUAL_BY_COLLATION
    ]
    return any(connection.row(exp.select(*tests).from_(rows.copy(), copy=False)))


def read_duckdb(connection: Connection, source: TableSource) -> Raw:
    """Read a table of a DuckDB file. Raises InputError D101, D102, D103 no such file, D116 no such table, and those of headers."""
    (file,) = files_of(connection, source, many=False)
    catalogue = attach(connection, file.path)
    if catalogue is None:
        raise source_refusal(
            source, "D103", f"{file.label} is not a DuckDB file that can be opened", "it may be of another kind, or in use"
        )

    def close() -> None:
        connection.run(exp.Detach(this=sql.table(catalogue)))

    name = source.table or ""
    try:
        found = table_columns(connection, catalogue, name)
        _check_table(source, file.label, name, found)
        types = dict(found or ())
        rows = sql.table(name, catalogue=catalogue, schema="main")
        plain = not has_collations(connection, catalogue)
        if not plain:
            _check_unit(connection, source, rows, types)
    except BaseException:
        close()
        raise
    return Raw(
        rows,
        tuple(
            sql.column(column.name) if plain or types[column.name] != "VARCHAR" else binary(sql.column(column.name))
            for column in source.columns
        ),
        tuple(types[column.name] for column in source.columns),
        _row_place(source),
        close=close,
    )


def _check_unit(connection: Connection, source: TableSource, rows: exp.Table, types: Mapping[str, str]) -> None:
    """Refuse a collation on the unit column (D252): whether its spellings are one person, the database and a comparison of letters disagree."""
    for column in source.columns:
        undecided = column.name == source.unit and types[column.name] == "VARCHAR" and not column.format.normalise
        if undecided and _collated(connection, rows, sql.column(column.name)):
            raise source_refusal(
                source,
                "D252",
                f"the unit column {column.name} has a collation: texts that the database calls equal are different persons letter by letter",
                f"say how its texts are compared (`format: {{normalise: [nfc, trim]}}` for {column.name}), or give each person one spelling",
            )


def _check_table(source: TableSource, label: str, name: str, found: list[tuple[str, str]] | None) -> None:
    if found is None:
        raise source_refusal(source, "D116", f"{label} has no table {name}", "check `table`; the schema is main")
    check_header([column for column, _ in found], source.declared, source.label, source.unlisted_columns)


def _row_place(source: TableSource) -> Any:  # noqa: ANN401 - the type of Raw.place
    def place(row: int, ordinal: int) -> tuple[Location, str]:  # noqa: ARG001 - a table has no lines
        return Location(source.label), f" (row {row + 1} of the table)"

    return place


def read_sqlite(connection: Connection, source: TableSource) -> Raw:
    """Read a table of a SQLite file, whose cells have types of their own: a column of texts and integers is read as text, of integers
    as integers, of reals (and integers) as reals. Raises InputError D103, D115, D116, and those of headers.
    """
    import sqlite3

    (file,) = files_of(connection, source, many=False)
    raw = connection.fresh("raw")
    try:
        with contextlib.closing(sqlite3.connect(f"{file.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            physical = _load_sqlite(connection, source, database, raw)
    except (sqlite3.Error, UnicodeDecodeError):
        hint = "it may be of another kind, locked, or hold texts that are not UTF-8"
        raise source_refusal(source, "D103", f"{file.label} cannot be read as a SQLite file", hint) from None
    return Raw(
        sql.table(raw),
        tuple(sql.column(f"c{place}") for place in range(len(source.columns))),
        physical,
        _row_place(source),
        close=lambda: connection.drop("TABLE", raw),
    )


def _load_sqlite(connection: Connection, source: TableSource, database: sqlite3.Connection, raw: str) -> tuple[str, ...]:
    import pyarrow as pa

    def ask(tree: exp.Expr) -> sqlite3.Cursor:
        return database.execute(tree.sql(dialect="sqlite"))

    name = source.table or ""
    listed = exp.select(sql.column("name")).from_(sql.scan("pragma_table_info", [sql.text(name)]), copy=False)
    names = [str(row[0]) for row in ask(listed)]
    if not names:
        raise source_refusal(source, "D116", f"{source.label} has no table {name}", "check `table`")
    check_header(names, source.declared, source.label, source.unlisted_columns)
    physical: list[str] = []
    cells: list[exp.Expr] = []
    for column in source.columns:
        cell = sql.column(column.name)
        kinds = {
            str(row[0])
            for row in ask(exp.select(sql.call("typeof", cell)).distinct(copy=False).from_(sql.table(name), copy=False))
        } - {"null"}
        if not kinds:
            physical.append("VARCHAR")
        elif kinds <= {"integer"} and column.type is not ColumnType.NUMBER:
            physical.append("BIGINT")
        elif kinds <= {"real", "integer"}:
            physical.append("DOUBLE" if "real" in kinds else "BIGINT")
        elif kinds <= {"text", "integer"}:
            physical.append("VARCHAR")
            cell = sql.cast(cell, "TEXT")
        else:
            message = f"the column {column.name} holds cells of the SQLite types {', '.join(sorted(kinds))}"
            raise source_refusal(source, "D115", message, "a column is read as text, integers or reals: make its cells alike")
        cells.append(cell)
    types = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "VARCHAR": pa.string()}
    schema = pa.schema([(f"c{place}", types[kind]) for place, kind in enumerate(physical)])
    first = True
    for batch in _batches(ask(exp.select(*cells).from_(sql.table(name), copy=False)), schema):
        given = connection.fresh("given")
        connection.register(given, pa.Table.from_batches([batch]))
        rows = exp.select(exp.Star()).from_(sql.table(given), copy=False)
        connection.run(sql.create_table(raw, rows) if first else exp.Insert(this=sql.table(raw), expression=rows))
        connection.unregister(given)
        first = False
    return tuple(physical)


def _batches(cursor: sqlite3.Cursor, schema: Any) -> Iterator[Any]:  # noqa: ANN401 - Arrow has no types
    """The rows of a cursor as Arrow blocks; an empty block where there is no row."""
    import pyarrow as pa

    rows = cursor.fetchmany(_BATCH_ROWS)
    if not rows:
        yield pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
    while rows:
        columns = zip(*rows, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
        )
        rows = cursor.fetchmany(_BATCH_ROWS)
