"""Candidates that remain for each target of several joined releases, and what joins are made of.

Tables of a join ``h``: see :mod:`privrelease.engine.duckdb.assignment_queries`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.assignment_protocol import Candidates
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.assignment_protocol import JoinedReleases
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["are_equal", "are_same", "candidates", "gathered", "in_codes", "mapped", "missing", "numbered", "row_count"]

Expr = exp.Expr


def missing(cell: Expr) -> Expr:
    """Return the condition that a cell is missing."""
    return exp.Is(this=cell.copy(), expression=exp.null())


def are_equal(one: Expr, other: Expr) -> Expr:
    """Return the condition that two cells are there and equal."""
    return exp.EQ(this=one, expression=other)


def are_same(one: Expr, other: Expr) -> Expr:
    """Return the condition that two cells are equal, or both missing."""
    return exp.NullSafeEQ(this=one.copy(), expression=other.copy())


def numbered(alias: str) -> Expr:
    """Numbers from 0, in any order."""
    over = exp.Window(this=sql.call("row_number"))
    return sql.aliased(sql.cast(exp.Sub(this=over, expression=sql.integer(1)), "BIGINT"), alias)


def row_count(alias: str = "n") -> Expr:
    """Count rows."""
    return sql.aliased(sql.count_all(), alias)


def mapped(of: Opened, row_map: Path, alias: str = "f") -> exp.Select:
    """Rows of a release with those of its row map, ``m``."""
    on = are_equal(sql.column("output_row", "m"), sql.column(of.row_number, alias))
    return (
        exp.Select()
        .from_(of.rows(alias, True), copy=False)
        .join(scan_parquet([row_map], alias="m"), on=on, join_type="inner", copy=False)
    )


def in_codes(
    connection: Connection, rows: exp.Select, cells: Sequence[str], name: str, figures: Sequence[Expr] = ()
) -> exp.Select:
    """Number the distinct ``cells`` of ``rows`` in a new table ``name`` (``t``, ``n``, the cells); return the rows with ``t``."""
    columns = [sql.column(cell, "q") for cell in cells]
    groups = exp.select(*columns, row_count(), *figures).from_(rows.subquery("q"), copy=False)
    groups = groups.group_by(*(column.copy() for column in columns)) if columns else groups
    connection.run(sql.create_table(name, exp.select(exp.Star(), numbered("t")).from_(groups.subquery("g"), copy=False)))
    on = sql.all_of([are_same(sql.column(cell, "q"), sql.column(cell, "k")) for cell in cells])
    return (
        exp.Select()
        .from_(rows.subquery("q"), copy=False)
        .join(sql.table(name, alias="k"), on=on, join_type="inner", copy=False)
    )


def gathered(rows: exp.Select, value: Expr, name: str, *, once: bool = False, figures: Sequence[Expr] = ()) -> exp.Select:
    """Collapse rows (``w``) to persons with the sorted list of their values; ``once``: each value counts once."""
    inside = exp.Distinct(expressions=[value]) if once else value
    values = sql.call("list_sort", sql.call("list", inside))
    person = sql.column("u", "w")
    gathered = exp.select(sql.aliased(person, "p"), sql.aliased(person.copy(), "u"), sql.aliased(values, name), *figures)
    return gathered.from_(rows.subquery("w")).group_by(person.copy())


# ----------------------------------------------------------------------------------------------------------------------- agreement


def candidates(
    connection: Connection,
    joined: JoinedReleases,
    opened: Sequence[Opened],
    vectors: NDArray[np.int64],
    known: Sequence[Sequence[str]],
    *,
    knows_rows: bool,
) -> Candidates:
    """Group targets by their classes in all releases that they are in; count whom each release leaves and all of them together."""
    g, m = connection.fresh("known"), len(opened)
    for side in range(m):
        _classes(connection, joined, opened[side], side, known[side], g, knows_rows=knows_rows)
    blocks = []
    for held in np.unique(joined.vectors >= 0, axis=0):
        sides = tuple(int(side) for side in np.flatnonzero(held))
        if len(sides) > 1 and sides[-1] == m - 1:
            possible = vectors[(vectors[:, sides] >= 0).all(axis=1)][:, sides]
            blocks.append(_remaining(connection, joined, sides, np.unique(possible, axis=0), known, g))
    for side in range(m):
        for kind in ("c", "l", "p"):
            connection.drop("TABLE", f"{g}_{kind}{side}")
    if not blocks:
        none = np.zeros((0, m), np.int64)
        return Candidates(np.zeros(0, np.int64), none, none.copy(), np.zeros(0, np.bool_))
    return Candidates(
        np.concatenate([one.persons for one in blocks]),
        np.concatenate([one.alone for one in blocks]),
        np.concatenate([one.candidates for one in blocks]),
        np.concatenate([one.lost for one in blocks]),
    )


def _classes(
    connection: Connection, joined: JoinedReleases, of: Opened, side: int, names: Sequence[str], g: str, *, knows_rows: bool
) -> None:
    """Make ``g_c`` (record, class), ``g_l`` (class, whether all its cells are missing) and ``g_p`` (type, class, records) of a release."""
    h, unit = joined.handle, joined.unit
    row = sql.column("source_row", "m")
    cells = [sql.aliased(of.key(name, "f"), f"z{place}") for place, name in enumerate(names)]
    rows = mapped(of, joined.maps[side]).select(sql.aliased(row, "p"), *cells)
    lost = sql.all_of([missing(sql.column(f"z{place}", "k")) for place in range(len(names))]) if names else exp.true()
    together = unit is not None and unit.together
    if unit is not None:
        on = are_equal(sql.column("p", "u"), row.copy())
        rows = rows.join(sql.table(f"{h}_u", alias="u"), on=on, join_type="inner").select(sql.column("u", "u"))
    else:
        rows = rows.select(sql.aliased(row.copy(), "u"))
    single = in_codes(connection, rows, [f"z{place}" for place in range(len(names))], f"{g}_l{side}")
    columns = [sql.column("p", "q"), sql.column("u", "q"), sql.aliased(sql.column("t", "k"), "c")]
    single = single.select(*columns, sql.aliased(lost, "lost"))
    if together:
        gone = sql.aliased(sql.call("bool_and", sql.column("lost", "w")), "lost")
        lists = gathered(single, sql.column("c", "w"), "classes", once=not knows_rows, figures=[gone])
        single = in_codes(connection, lists, ("classes",), f"{g}_s{side}").select(*columns, sql.column("lost", "q"))
    connection.run(sql.create_table(f"{g}_c{side}", single))
    if together:
        connection.drop("TABLE", f"{g}_s{side}")
    on = are_equal(sql.column("p", "c"), sql.column("p", "r"))
    pairs = exp.select(sql.column("t", "r"), sql.column("c", "c"), row_count()).from_(
        sql.table(f"{h}_r{side}", alias="r"), copy=False
    )
    pairs = pairs.join(sql.table(f"{g}_c{side}", alias="c"), on=on, join_type="inner")
    connection.run(sql.create_table(f"{g}_p{side}", pairs.group_by(sql.column("t", "r"), sql.column("c", "c"))))


def _remaining(
    connection: Connection,
    joined: JoinedReleases,
    sides: tuple[int, ...],
    possible: NDArray[np.int64],
    known: Sequence[Sequence[str]],
    g: str,
) -> Candidates:
    """Candidates of the targets that are in the releases ``sides`` and in no other."""
    m = len(joined.files)
    given = connection.fresh("possible")
    connection.register(given, {f"t{side}": np.ascontiguousarray(possible[:, place]) for place, side in enumerate(sides)})
    targets, fits = connection.fresh("targets"), connection.fresh("fits")
    first = sides[0]
    rows = exp.Select().from_(sql.table(f"{g}_c{first}", alias=f"c{first}"), copy=False)
    for side in sides[1:]:
        on = are_equal(sql.column("p", f"c{side}"), sql.column("p", f"c{first}"))
        rows = rows.join(sql.table(f"{g}_c{side}", alias=f"c{side}"), on=on, join_type="inner")
    for side in range(m):
        if side not in sides:
            on = are_equal(sql.column("p", f"c{side}"), sql.column("p", f"c{first}"))
            rows = rows.join(sql.table(f"{g}_c{side}", alias=f"c{side}"), on=on, join_type="anti")
    keys = [sql.column("c", f"c{side}") for side in sides]
    there = [side for side in sides if known[side]]
    lost = sql.all_of([sql.column("lost", f"c{side}") for side in there])
    persons = exp.Count(this=exp.Distinct(expressions=[sql.column("u", f"c{first}")]))
    figures = [sql.aliased(persons, "n"), sql.aliased(sql.call("bool_and", lost), "lost")]
    rows = rows.select(*(sql.aliased(key, f"c{side}") for key, side in zip(keys, sides, strict=True)), *figures)
    rows = rows.group_by(*(key.copy() for key in keys))
    connection.run(sql.create_table(targets, exp.select(exp.Star(), numbered("k")).from_(rows.subquery("g"), copy=False)))
    fit = exp.select(sql.column("k", "k"), *(sql.column(f"t{side}", "v") for side in sides))
    fit = fit.from_(sql.table(targets, alias="k"))
    for place, side in enumerate(sides):
        known_there = [are_equal(sql.column("c", f"p{side}"), sql.column(f"c{side}", "k"))]
        if place:
            known_there.append(are_equal(sql.column("t", f"p{side}"), sql.column(f"t{side}", "v")))
        fit = fit.join(sql.table(f"{g}_p{side}", alias=f"p{side}"), on=sql.all_of(known_there), join_type="inner")
        if not place:
            on = are_equal(sql.column(f"t{side}", "v"), sql.column("t", f"p{side}"))
            fit = fit.join(sql.table(given, alias="v"), on=on, join_type="inner")
    connection.run(sql.create_table(fits, fit))
    connection.unregister(given)
    block = connection.arrays(
        exp.select(exp.Star()).from_(sql.table(targets), copy=False).order_by(sql.column("k"), copy=False)
    )
    n = len(block["n"])
    alone, remain = np.full((n, m), -1, np.int64), np.full((n, m), -1, np.int64)
    for side in sides:
        alone[:, side] = _counts(connection, joined, side, g, (targets, f"c{side}", None), n)
        remain[:, side] = _counts(connection, joined, side, g, (targets, f"c{side}", fits), n)
    for name in (targets, fits):
        connection.drop("TABLE", name)
    found = np.asarray(block["lost"], np.bool_) if there else np.ones(n, np.bool_)
    return Candidates(np.asarray(block["n"], np.int64), alone, remain, found)


def _counts(
    connection: Connection, joined: JoinedReleases, side: int, g: str, of: tuple[str, str, str | None], n: int
) -> NDArray[np.int64]:
    """Count the persons of a release in the class of each target; with a table of types that fit it, of those types only."""
    targets, cell, fits = of
    number = sql.column("k", "k")
    rows = exp.select(sql.aliased(number, "k")).from_(sql.table(targets, alias="k"), copy=False)
    on = [are_equal(sql.column("c", "p"), sql.column(cell, "k"))]
    if fits is not None:
        kind = sql.column(f"t{side}", "a")
        distinct = (
            exp.select(sql.column("k", "a"), sql.aliased(kind, "t"))
            .distinct(copy=False)
            .from_(sql.table(fits, alias="a"), copy=False)
        )
        rows = rows.join(distinct.subquery("d"), on=are_equal(sql.column("k", "d"), number.copy()), join_type="inner")
    counts_rows = joined.unit is None or joined.unit.together
    if counts_rows:
        held: Expr = sql.table(f"{g}_p{side}", alias="p")
        counted: Expr = exp.Sum(this=sql.column("n", "p"))
    else:
        record = exp.select(sql.column("c", "c"), sql.column("u", "c"), sql.column("t", "r"))
        record = record.from_(sql.table(f"{g}_c{side}", alias="c"))
        same = are_equal(sql.column("p", "r"), sql.column("p", "c"))
        record = record.join(sql.table(f"{joined.handle}_r{side}", alias="r"), on=same, join_type="inner")
        held, counted = record.subquery("p"), exp.Count(this=exp.Distinct(expressions=[sql.column("u", "p")]))
    if fits is not None:
        on.append(are_equal(sql.column("t", "p"), sql.column("t", "d")))
    rows = rows.join(held, on=sql.all_of(on), join_type="inner")
    block = connection.arrays(rows.select(sql.aliased(sql.cast(counted, "BIGINT"), "n")).group_by(number.copy()))
    found = np.zeros(n, np.int64)
    found[np.asarray(block["k"], np.int64)] = np.asarray(block["n"], np.int64)
    return found
