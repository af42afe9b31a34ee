"""Numeric columns by value, and how far released numbers are from their source: counts by value, so that no sum depends on the order of threads.

Memory stays bounded: beyond ``MOST_VALUES`` different values they are put on that many even steps between the least and the largest,
which moves no value by more than half a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.released_file import joined

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["MOST_VALUES", "number_counts", "number_distances"]

MOST_VALUES = 1 << 20


def number_counts(
    connection: Connection, of: Opened, column: str, most: int = MOST_VALUES
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the finite values of a numeric column in ascending order and the rows of each."""
    number = sql.cast(of.cell(column, "t"), "DOUBLE")
    return _by_value(connection, exp.select(sql.aliased(number, "x")).from_(of.rows("t", False), copy=False), most)


def number_distances(
    connection: Connection, source: Opened, released: Opened, row_map: Path, column: str, most: int = MOST_VALUES
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return |released - source| of the rows in which both are known and differ, in ascending order, and the rows of each."""
    before, after = (sql.cast(side.cell(column, alias), "DOUBLE") for side, alias in ((source, "s"), (released, "t")))
    apart = sql.call("abs", exp.Sub(this=after, expression=before))
    rows = joined(released, row_map, source).select(sql.aliased(apart, "x"))
    found = exp.select(sql.column("x", "d")).from_(rows.subquery("d"), copy=False)
    return _by_value(connection, found.where(exp.GT(this=sql.column("x", "d"), expression=sql.integer(0))), most)


def _by_value(connection: Connection, rows: exp.Select, most: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    x = sql.column("x", "r")
    finite = exp.select(x).from_(rows.subquery("r"), copy=False).where(sql.call("isfinite", x.copy()), copy=False)
    values, counts = _arrays(connection, _counted(finite).limit(most + 1))
    if len(values) <= most:
        return values, counts
    ends = exp.select(sql.aliased(exp.Min(this=x.copy()), "low"), sql.aliased(exp.Max(this=x.copy()), "high"))
    ends = ends.from_(finite.subquery("r"))
    low, high = connection.row(ends)
    placed = (
        exp.select(sql.aliased(_step(most), "x"))
        .from_(finite.subquery("r"), copy=False)
        .join(ends.subquery("e"), join_type="cross", copy=False)
    )
    steps, counts = _arrays(connection, _counted(placed))
    share = steps / (most - 1)
    return low * (1 - share) + high * share, counts


def _step(most: int) -> exp.Expr:
    """The number of the step that a value is nearest to; in quarters, so that no difference of two doubles overflows."""
    value, low, high = (
        exp.Div(this=sql.column(name, of), expression=sql.integer(4)) for name, of in (("x", "r"), ("low", "e"), ("high", "e"))
    )
    along = exp.paren(exp.Sub(this=value, expression=low))
    whole = exp.paren(exp.Sub(this=high, expression=low.copy()))
    part = exp.paren(exp.Div(this=along, expression=whole))
    return sql.call("round", exp.Mul(this=part, expression=sql.integer(most - 1)))


def _counted(rows: exp.Select) -> exp.Select:
    value = sql.column("x", "r")
    counts = exp.select(sql.aliased(value, "v"), sql.aliased(sql.count_all(), "n")).from_(rows.subquery("r"), copy=False)
    return counts.group_by(value.copy()).order_by(value.copy())


def _arrays(connection: Connection, query: exp.Select) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    block = connection.arrays(query)
    return np.asarray(block["v"], np.float64), np.asarray(block["n"], np.int64)
