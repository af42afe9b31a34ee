"""Declared marks of missing and suppressed values in files that others made: ``*`` in a file of theirs is no value.

Files of our own hold no marks: what is missing or suppressed in them is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.table_source import binary
from privrelease.relational.schema import ColumnFormat, ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["marks_of", "without_marks"]


def marks_of(form: ColumnFormat) -> tuple[str, ...]:
    """Return the texts that mean a missing or a suppressed value, but for the empty text, which a released file tells from a missing one.

    >>> marks_of(ColumnFormat(missing=("", "NA"), suppression_mark="*"))
    ('NA', '*')
    """
    marks = form.missing if form.suppression_mark is None else (*form.missing, form.suppression_mark)
    return tuple(dict.fromkeys(mark for mark in marks if mark))


def without_marks(
    connection: Connection,
    of: Opened,
    types: Mapping[str, ColumnType],
    marks: Mapping[str, Sequence[str]],
    *,
    collated: bool = False,
) -> Opened:
    """Copy a typed file (Parquet, DuckDB) into memory, rows in their order, with marked cells missing; ``collated`` texts lose their collation."""

    def found(name: str) -> exp.Expr:
        cell = of.key(name, "t")
        return binary(cell) if collated and types[name] in (ColumnType.STRING, ColumnType.CATEGORY) else cell

    cells = [
        sql.aliased(_unmarked(found(name), types[name], marks.get(name, ())), f"c{place}")
        for place, name in enumerate(of.names)
    ]
    table = connection.fresh("u")
    connection.run(sql.create_table(table, exp.select(*cells).from_(of.rows("t", False), copy=False)))
    return replace(
        of,
        rows=lambda alias, _: sql.table(table, alias=alias),
        names={name: f"c{place}" for place, name in enumerate(of.names)},
        row_number="rowid",
    )


def _unmarked(cell: exp.Expr, type_: ColumnType, marks: Sequence[str]) -> exp.Expr:
    """The cell, NULL where it is a mark: texts and integers as they are written, other numbers by what they are worth."""
    if not marks:
        return cell
    match type_:
        case ColumnType.STRING | ColumnType.CATEGORY | ColumnType.INTEGER:
            marked: exp.Expr = sql.one_in_place(sql.cast(cell.copy(), "VARCHAR"), [*map(sql.text, marks)])
        case ColumnType.NUMBER:
            numbers = [sql.try_cast(sql.text(mark), "DOUBLE") for mark in marks]
            marked = sql.one_in_place(sql.cast(cell.copy(), "DOUBLE"), numbers)
        case _:
            return cell
    return sql.when((marked, exp.null()), otherwise=cell)
