"""Several releases of one source, joined by their row maps: types, classes and the candidates that remain for each target.

Tables of a join ``h``: ``h_r0``… the records of each release (``p`` the record, ``u`` the person, ``t`` the type), ``h_k0``… the types
with their cells and counts, ``h_v`` the types of a record in every release (NULL: it is not in that one).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.assignment_protocol import Agreement, Candidates, Differing, JoinedReleases
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.assignment_candidates import (
    are_equal,
    are_same,
    candidates,
    gathered,
    in_codes,
    mapped,
    missing,
    numbered,
    row_count,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.assignment_protocol import JoinedUnit, SharedColumn
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.protocol.base import ReleasedFile, Staged

__all__ = ["AssignmentQueries"]

Expr = exp.Expr


def _agrees(one: Expr, other: Expr) -> Expr:
    """Equal, or either is missing."""
    return exp.paren(sql.any_of([are_equal(one.copy(), other.copy()), missing(one), missing(other)]))


def _comparable(files: Sequence[ReleasedFile], opened: Sequence[Opened], name: str, side: int, alias: str) -> Expr:
    """A cell in a form in which all releases that have the column can be compared."""
    types = {dict(file.columns).get(name) for file in files} - {None}
    cell = opened[side].cell(name, alias)
    return cell if len(types) == 1 else sql.cast(cell, "VARCHAR")


def differing(
    connection: Connection,
    files: tuple[ReleasedFile, ReleasedFile],
    opened: tuple[Opened, Opened],
    maps: tuple[Path, Path],
    columns: Sequence[str],
) -> tuple[Differing, ...]:
    """Compare columns over the common source rows."""
    if not columns:
        return ()
    parts = []
    for side, (of, row_map) in enumerate(zip(opened, maps, strict=True)):
        cells = [sql.aliased(_comparable(files, opened, name, side, "f"), f"c{place}") for place, name in enumerate(columns)]
        parts.append(mapped(of, row_map).select(sql.aliased(sql.column("source_row", "m"), "p"), *cells).subquery(f"s{side}"))
    rows = (
        exp.Select()
        .from_(parts[0], copy=False)
        .join(parts[1], on=are_equal(sql.column("p", "s0"), sql.column("p", "s1")), copy=False)
    )
    figures = []
    for place in range(len(columns)):
        one, other = sql.column(f"c{place}", "s0"), sql.column(f"c{place}", "s1")
        figures.append(sql.count_all(where=exp.NEQ(this=one, expression=other)))
        figures.append(sql.count_all(where=exp.NEQ(this=exp.paren(missing(one)), expression=exp.paren(missing(other)))))
    found = [int(figure) for figure in connection.row(rows.select(*figures))]
    return tuple(Differing(values, missing) for values, missing in zip(found[::2], found[1::2], strict=True))


# ------------------------------------------------------------------------------------------------------------------------- joining


def _persons(connection: Connection, source: Opened, unit: str, name: str) -> None:
    """Number the persons of a source; a row that names no one is a person of its own."""
    key = source.key(unit, "s")
    named = exp.select(sql.aliased(key, "key"), numbered("u")).from_(source.rows("s", False), copy=False)
    named = named.where(exp.Not(this=missing(key))).group_by(key.copy())
    row = sql.column(source.row_number, "s")
    alone = exp.Sub(this=sql.integer(-1), expression=row.copy())
    rows = exp.select(sql.aliased(row, "p"), sql.aliased(sql.call("coalesce", sql.column("u", "g"), alone), "u"))
    on = are_equal(sql.column("key", "g"), key.copy())
    rows = rows.from_(source.rows("s", True)).join(named.subquery("g"), on=on, join_type="left")
    connection.run(sql.create_table(name, rows))


def join_releases(
    connection: Connection,
    files: Sequence[ReleasedFile],
    opened: Sequence[Opened],
    maps: Sequence[Path],
    shared: Sequence[SharedColumn],
    unit: JoinedUnit | None,
    source: Opened | None,
) -> JoinedReleases:
    """Number the types of each release, then lay the releases next to each other."""
    h = connection.fresh("join")
    if unit is not None and source is not None:
        _persons(connection, source, unit.unit, f"{h}_u")
    for side, (of, row_map) in enumerate(zip(opened, maps, strict=True)):
        row = sql.column("source_row", "m")
        mine = {f"x{place}": one for place, one in enumerate(shared) if side in one.sides}
        cells = [
            sql.aliased(row.copy() if one.name is None else _comparable(files, opened, one.name, side, "f"), cell)
            for cell, one in mine.items()
        ]
        rows = mapped(of, row_map).select(sql.aliased(row, "p"), *cells)
        if unit is not None:
            on = are_equal(sql.column("p", "u"), row.copy())
            rows = rows.join(sql.table(f"{h}_u", alias="u"), on=on, join_type="inner").select(sql.column("u", "u"))
        else:
            rows = rows.select(sql.aliased(row.copy(), "u"))
        columns = [sql.column("p", "q"), sql.column("u", "q"), sql.column("t", "k")]
        if unit is None or not unit.together:
            coded = in_codes(connection, rows, tuple(mine), f"{h}_k{side}").select(*columns)
        else:
            single = in_codes(connection, rows, tuple(mine), f"{h}_l{side}").select(*columns)
            lists = gathered(single, sql.column("t", "w"), "kinds")
            coded = in_codes(connection, lists, ("kinds",), f"{h}_k{side}").select(*columns)
        connection.run(sql.create_table(f"{h}_r{side}", coded))
    every = exp.union(
        *(
            exp.select(sql.column("p", "a")).from_(sql.table(f"{h}_r{side}", alias="a"), copy=False)
            for side in range(len(files))
        )
    )
    joint = exp.select(sql.column("p", "e")).from_(every.subquery("e"), copy=False)
    for side in range(len(files)):
        on = are_equal(sql.column("p", f"r{side}"), sql.column("p", "e"))
        joint = joint.join(sql.table(f"{h}_r{side}", alias=f"r{side}"), on=on, join_type="left")
        joint = joint.select(sql.aliased(sql.column("t", f"r{side}"), f"t{side}"))
    connection.run(sql.create_table(f"{h}_v", joint))
    kinds = [sql.call("coalesce", sql.column(f"t{side}", "v"), sql.integer(-1)) for side in range(len(files))]
    rows = exp.select(*(sql.aliased(kind, f"t{side}") for side, kind in enumerate(kinds))).distinct(copy=False)
    block = connection.arrays(rows.from_(sql.table(f"{h}_v", alias="v")))
    vectors = np.stack([np.asarray(block[f"t{side}"], np.int64) for side in range(len(files))], axis=1)
    return JoinedReleases(h, tuple(files), tuple(maps), tuple(shared), unit, vectors)


def agreement(connection: Connection, joined: JoinedReleases, side: int, most_pairs: int) -> Agreement | None:
    """Pair the types of one release with the types of the others that agree with them. A type of a person with several rows is a list of them, which
    shows no cells to compare: None.
    """
    if joined.unit is not None and joined.unit.together:
        return None
    h, others = joined.handle, [other for other in range(len(joined.files)) if other != side]
    kinds = [sql.column(f"t{other}", "v") for other in others]
    rest = exp.select(*kinds, row_count()).from_(sql.table(f"{h}_v", alias="v"), copy=False)
    rest = rest.where(sql.all_of([exp.Not(this=missing(kind)) for kind in kinds])).group_by(*(kind.copy() for kind in kinds))
    name = connection.fresh("rest")
    connection.run(sql.create_table(name, exp.select(exp.Star(), numbered("b")).from_(rest.subquery("g"), copy=False)))
    met = [
        (place, one.exact, other)
        for place, one in enumerate(joined.shared)
        if side in one.sides
        for other in others
        if other in one.sides
    ]
    cells = exp.select(sql.column("b", "r")).from_(sql.table(name, alias="r"), copy=False)
    for other in others:
        on = are_equal(sql.column("t", f"k{other}"), sql.column(f"t{other}", "r"))
        cells = cells.join(sql.table(f"{h}_k{other}", alias=f"k{other}"), on=on, join_type="inner")
    cells = cells.select(*(sql.aliased(sql.column(f"x{place}", f"k{other}"), f"y{other}_{place}") for place, _, other in met))
    both = [(sql.column(f"x{place}", "l"), sql.column(f"y{other}_{place}", "c"), exact) for place, exact, other in met]
    equal = [(one, other) for one, other, exact in both if exact]
    if _pairs_at_most(connection, sql.table(f"{h}_k{side}", alias="l"), cells, equal) > most_pairs:
        return None
    on = sql.all_of([are_same(one, other) if exact else _agrees(one, other) for one, other, exact in both])
    pairs = exp.select(sql.column("t", "l"), sql.column("b", "c")).from_(sql.table(f"{h}_k{side}", alias="l"), copy=False)
    found = connection.arrays(pairs.join(cells.subquery("c"), on=on, join_type="inner"))
    first = connection.arrays(exp.select(sql.column("t"), sql.column("n")).from_(sql.table(f"{h}_k{side}"), copy=False))
    second = connection.arrays(exp.select(exp.Star()).from_(sql.table(name), copy=False))
    connection.drop("TABLE", name)
    order = np.argsort(np.asarray(second["b"]))
    columns = [np.asarray(second[f"t{other}"], np.int64)[order] for other in others]
    return Agreement(
        np.asarray(first["n"], np.int64)[np.argsort(np.asarray(first["t"]))],
        np.stack(columns, axis=1),
        np.asarray(second["n"], np.int64)[order],
        np.stack([np.asarray(found["t"], np.int64), np.asarray(found["b"], np.int64)], axis=1),
    )


def _pairs_at_most(connection: Connection, kinds: exp.Table, cells: exp.Select, equal: Sequence[tuple[Expr, Expr]]) -> int:
    """Count pairs that agree on the exact columns."""
    sides = []
    for place, rows in enumerate((kinds, cells.subquery("c"))):
        keys = [pair[place] for pair in equal]
        named = [sql.aliased(key.copy(), f"e{number}") for number, key in enumerate(keys)]
        groups = exp.select(*named, sql.aliased(sql.cast(sql.count_all(), "DOUBLE"), "n")).from_(rows, copy=False)
        sides.append((groups.group_by(*(key.copy() for key in keys)) if keys else groups).subquery(f"s{place}"))
    on = sql.all_of([are_same(sql.column(f"e{number}", "s0"), sql.column(f"e{number}", "s1")) for number in range(len(equal))])
    product = exp.Sum(this=exp.Mul(this=sql.column("n", "s0"), expression=sql.column("n", "s1")))
    (pairs,) = connection.row(
        exp.select(sql.call("coalesce", product, sql.integer(0)))
        .from_(sides[0], copy=False)
        .join(sides[1], on=on, join_type="inner", copy=False)
    )
    return int(pairs)


class AssignmentQueries(ABC):
    """See :class:`privrelease.engine.assignment_protocol.AssignmentEngine`."""

    _connection: Connection

    @abstractmethod
    def _opened(self, of: Staged | ReleasedFile) -> Opened: ...

    def differing(
        self, files: tuple[ReleasedFile, ReleasedFile], maps: tuple[Path, Path], columns: Sequence[str]
    ) -> tuple[Differing, ...]:
        """Compare columns over the common source rows."""
        opened = self._opened(files[0]), self._opened(files[1])
        return differing(self._connection, files, opened, maps, columns)

    def join_releases(
        self,
        files: Sequence[ReleasedFile],
        maps: Sequence[Path],
        shared: Sequence[SharedColumn],
        unit: JoinedUnit | None = None,
    ) -> JoinedReleases:
        """Join releases by their row maps."""
        opened = [self._opened(file) for file in files]
        source = None if unit is None else self._opened(unit.source)
        return join_releases(self._connection, files, opened, maps, shared, unit, source)

    def agreement(self, joined: JoinedReleases, side: int, most_pairs: int) -> Agreement | None:
        """Return the types that agree."""
        return agreement(self._connection, joined, side, most_pairs)

    def candidates(
        self,
        joined: JoinedReleases,
        vectors: NDArray[np.int64],
        known: Sequence[Sequence[str]],
        *,
        knows_rows: bool = False,
    ) -> Candidates:
        """Count who remains for each target."""
        opened = [self._opened(file) for file in joined.files]
        return candidates(self._connection, joined, opened, vectors, known, knows_rows=knows_rows)
