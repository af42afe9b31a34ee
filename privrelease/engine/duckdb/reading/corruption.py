"""Diagnosis of a query that failed because a source is damaged: its rows are read alone, by a database of their own, and nothing is made of them.

A file whose outline is sound (the footer of a Parquet file, the catalogue of a database) may still hold blocks that no one can read;
that shows in whatever query comes to them first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import source_refusal
from privrelease.errors import InputError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.raw_source import Raw
    from privrelease.relational.schema import TableSource

__all__ = ["SYMPTOMS", "damage_of"]

#: Codes under which the damage of a source may show.
SYMPTOMS = frozenset({"D121", "D199"})


def damage_of(connection: Connection, source: TableSource, read: Callable[[Connection, TableSource], Raw]) -> InputError | None:
    """Return what is wrong with a Parquet or DuckDB source whose rows cannot be read; None where they can.

    ``connection`` is used up: DuckDB gives up a database in which a block was found damaged.
    """
    damaged = source_refusal(
        source,
        "D103",
        f"a part of {source.label} cannot be read: the file is damaged",
        "copy or write it again; a copy that was cut off or altered on its way looks like this",
    )
    try:
        raw = read(connection, source)
        failed = connection.attempt(_every_cell(raw))
    except InputError as error:
        return error if error.code not in SYMPTOMS else damaged
    except InternalError:
        return damaged
    if failed is None:
        return None
    if isinstance(failed, duckdb.PermissionException | duckdb.CatalogException | duckdb.BinderException):
        what = "reads outside its file" if isinstance(failed, duckdb.PermissionException) else "reads what is not there"
        message = f"the view {source.table} of {source.label} {what}"
        return source_refusal(source, "D118", message, "name a table, or write the rows of the view into one")
    return damaged


def _every_cell(raw: Raw) -> exp.Expr:
    """A query that must look at every cell and holds none."""
    return exp.select(sql.call("bit_xor", sql.call("hash", *(cell.copy() for cell in raw.cells)))).from_(
        raw.rows.copy(), copy=False
    )
