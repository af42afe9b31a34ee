"""Rows as tuples of declared cells, counted in one scan: what every marginal over some of the keys is a sum of. And rows put aside by a
keyed hash of the person.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.aggregate_keys import key_of, places_of, shown_key
from privrelease.engine.duckdb.measuring.aggregates import bounded_rows
from privrelease.relational.aggregates import CodedRows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.reading.staging import StagedTable
    from privrelease.relational.aggregates import BinKey, Bounding, ColumnKey

__all__ = ["coded_rows", "divided"]

#: A hash is compared by its first 60 bits.
_DIGITS: Final = 15
_SPAN: Final = 1 << (4 * _DIGITS)


def coded_rows(connection: Connection, table: StagedTable, bounding: Bounding, keys: Sequence[ColumnKey | BinKey]) -> CodedRows:
    """Return the distinct tuples of cells and how many rows each has, a person's contribution bounded."""
    source: exp.Expr = sql.table(table.table)
    if bounding.unit is not None:
        places = sorted({table.ordinal(key.column) for key in keys})
        unit = f"c{table.ordinal(bounding.unit)}"
        source = bounded_rows(table, bounding, unit, [f"c{place}" for place in places]).subquery("kept")
    named = [sql.aliased(key_of(key, table), f"k{i}") for i, key in enumerate(keys)]
    grouped = exp.select(*named, sql.aliased(exp.Count(this=exp.Star()), "n")).from_(source, copy=False)
    grouped = grouped.group_by(*(exp.Literal.number(i + 1) for i in range(len(keys))))
    shown = [sql.aliased(shown_key(key, f"k{i}"), f"k{i}") for i, key in enumerate(keys)]
    block = connection.arrow(exp.select(*shown, sql.column("n")).from_(grouped.subquery("g"), copy=False))
    codes = np.empty((block.num_rows, len(keys)), np.int32)
    for i, key in enumerate(keys):
        codes[:, i] = places_of(key, block.column(f"k{i}"))
    rows, known = np.asarray(block.column("n"), dtype=np.int64), (codes >= 0).all(axis=1)
    return CodedRows(codes, rows) if known.all() else CodedRows(codes[known], rows[known])


def divided(
    connection: Connection, table: StagedTable, unit: str | None, share: Fraction, key: bytes
) -> tuple[StagedTable, StagedTable]:
    """Return the rows that stay and those of about a ``share`` of the persons, chosen by a keyed hash of the person alone.

    Without a unit the hash is of the row's content, never of its number, so that no one else's row decides. Equal rows go together.
    """
    columns = range(len(table.columns)) if unit is None else (table.ordinal(unit),)
    texts = [sql.call("coalesce", sql.cast(sql.column(f"c{place}"), "VARCHAR"), sql.text("\x1f")) for place in columns]
    content = sql.call("concat_ws", sql.text("\x1e"), *texts)
    secret = exp.Parameter(this=exp.Literal.number(1))
    digest = sql.call("sha256", exp.DPipe(this=secret, expression=sql.call("encode", content)))
    number = sql.cast(exp.DPipe(this=sql.text("0x"), expression=sql.call("left", digest, sql.integer(_DIGITS))), "BIGINT")
    below = exp.LT(this=number, expression=sql.cast(sql.text(str(int(share * _SPAN))), "BIGINT"))
    found = []
    for test in (exp.Not(this=exp.Paren(this=below)), below):
        name = connection.fresh("h")
        connection.run(
            sql.create_table(name, exp.select(exp.Star()).from_(sql.table(table.table), copy=False).where(test, copy=False)),
            [key],
        )
        (rows,) = connection.row(exp.select(sql.count_all()).from_(sql.table(name), copy=False))
        found.append(replace(table, table=name, n_rows=int(rows), whole=False))
    return found[0], found[1]
