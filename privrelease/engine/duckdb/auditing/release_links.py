"""Rows of two releases that belong together: by their row maps, by their places, or by what both of them say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet
from privrelease.engine.protocol.release_pairs import Links

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = [
    "Expr",
    "grouped_sides",
    "is_missing",
    "links_by_columns",
    "links_by_maps",
    "links_by_place",
    "numbered_as",
    "same_cell",
]

Expr = exp.Expr


def is_missing(cell: Expr) -> Expr:
    """Return the condition that a cell is missing."""
    return exp.Is(this=cell.copy(), expression=exp.null())


def same_cell(one: Expr, other: Expr) -> Expr:
    """Return the condition that two cells are equal, missing ones among each other included."""
    return exp.NullSafeEQ(this=one.copy(), expression=other.copy())


def _agrees(one: Expr, other: Expr) -> Expr:
    """Equal, or either is missing."""
    return exp.paren(sql.any_of([exp.EQ(this=one.copy(), expression=other.copy()), is_missing(one), is_missing(other)]))


def numbered_as(of: Opened, alias: str) -> Expr:
    """Return the row number of a file under an alias."""
    return sql.column(of.row_number, alias)


def _stored(connection: Connection, rows: exp.Select, *, complete: bool = True) -> Links:
    name = connection.fresh("links")
    connection.run(sql.create_table(name, rows))
    (pairs,) = connection.row(exp.select(sql.count_all()).from_(sql.table(name), copy=False))
    return Links(name, int(pairs), complete)


def links_by_maps(connection: Connection, first_map: Path, second_map: Path) -> Links:
    """Join two row maps on the source row."""
    rows = exp.select(sql.aliased(sql.column("output_row", "a"), "r1"), sql.aliased(sql.column("output_row", "b"), "r2"))
    on = exp.EQ(this=sql.column("source_row", "a"), expression=sql.column("source_row", "b"))
    return _stored(
        connection,
        rows.from_(scan_parquet([first_map], alias="a")).join(scan_parquet([second_map], alias="b"), on=on, join_type="inner"),
    )


def links_by_place(connection: Connection, first: Opened, second: Opened) -> Links:
    """Join on the row number."""
    rows = exp.select(sql.aliased(numbered_as(first, "a"), "r1"), sql.aliased(numbered_as(second, "b"), "r2"))
    on = exp.EQ(this=numbered_as(first, "a"), expression=numbered_as(second, "b"))
    return _stored(connection, rows.from_(first.rows("a", True)).join(second.rows("b", True), on=on, join_type="inner"))


def _both(first: Opened, second: Opened, columns: Sequence[str]) -> exp.Subquery:
    """Rows of both releases under each other: ``c0``…, and ``n1``, ``n2`` saying whose each is."""
    parts = []
    for of, mine in ((first, (1, 0)), (second, (0, 1))):
        cells = [sql.aliased(of.cell(name, "t"), f"c{place}") for place, name in enumerate(columns)]
        flags = [sql.aliased(sql.integer(flag), f"n{side}") for side, flag in zip((1, 2), mine, strict=True)]
        parts.append(exp.select(*cells, *flags).from_(of.rows("t", False), copy=False))
    return exp.union(*parts, distinct=False).subquery("both")


def grouped_sides(first: Opened, second: Opened, columns: Sequence[str]) -> exp.Select:
    """Distinct rows on ``columns`` with their number in either release."""
    keys = [sql.column(f"c{place}", "both") for place in range(len(columns))]
    sums = [sql.aliased(exp.Sum(this=sql.column(f"n{side}", "both")), f"n{side}") for side in (1, 2)]
    rows = exp.select(*keys, *sums).from_(_both(first, second, columns), copy=False)
    return rows.group_by(*(key.copy() for key in keys)) if keys else rows


def links_by_columns(
    connection: Connection, first: Opened, second: Opened, exact: Sequence[str], loose: Sequence[str], most_pairs: int
) -> Links:
    """Link what agrees with one row only."""
    product = exp.Mul(this=sql.cast(sql.column("n1", "g"), "DOUBLE"), expression=sql.cast(sql.column("n2", "g"), "DOUBLE"))
    (pairs,) = connection.row(
        exp.select(sql.call("coalesce", exp.Sum(this=product), sql.integer(0))).from_(
            grouped_sides(first, second, exact).subquery("g"), copy=False
        )
    )
    if pairs > most_pairs:
        return _stored(connection, _alone(first, second, (*exact, *loose)), complete=not loose)
    on = [same_cell(first.cell(name, "a"), second.cell(name, "b")) for name in exact]
    on += [_agrees(first.cell(name, "a"), second.cell(name, "b")) for name in loose]
    numbers = (numbered_as(first, "a"), numbered_as(second, "b"))
    found = exp.select(*(sql.aliased(number, f"r{side}") for side, number in zip((1, 2), numbers, strict=True)))
    found = found.from_(first.rows("a", True)).join(second.rows("b", True), on=sql.all_of(on), join_type="inner")
    partners = [
        sql.aliased(exp.Window(this=sql.count_all(), partition_by=[sql.column(f"r{side}", "p")]), f"n{side}") for side in (1, 2)
    ]
    counted = exp.select(sql.column("r1", "p"), sql.column("r2", "p"), *partners).from_(found.subquery("p"), copy=False)
    one = [exp.EQ(this=sql.column(f"n{side}", "q"), expression=sql.integer(1)) for side in (1, 2)]
    rows = (
        exp.select(sql.column("r1", "q"), sql.column("r2", "q"))
        .from_(counted.subquery("q"), copy=False)
        .where(sql.all_of(one), copy=False)
    )
    return _stored(connection, rows)


def _alone(first: Opened, second: Opened, columns: Sequence[str]) -> exp.Select:
    """Rows that are alone with their cells in either release, and have the same."""
    sides = []
    for side, of in ((1, first), (2, second)):
        cells = [of.cell(name, "t") for name in columns]
        named = [sql.aliased(cell, f"c{place}") for place, cell in enumerate(cells)]
        row = sql.aliased(exp.Min(this=numbered_as(of, "t")), f"r{side}")
        one = exp.EQ(this=sql.count_all(), expression=sql.integer(1))
        rows = exp.select(*named, row).from_(of.rows("t", True), copy=False).having(one, copy=False)
        sides.append((rows.group_by(*(cell.copy() for cell in cells)) if cells else rows).subquery(f"s{side}"))
    on = [same_cell(sql.column(f"c{place}", "s1"), sql.column(f"c{place}", "s2")) for place in range(len(columns))]
    return (
        exp.select(sql.column("r1", "s1"), sql.column("r2", "s2"))
        .from_(sides[0], copy=False)
        .join(sides[1], on=sql.all_of(on), join_type="inner", copy=False)
    )
