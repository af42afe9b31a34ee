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
from privrelease.engine.duckdb.reading.parquet_source import scan_parquet

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


def _missing(cell: Expr) -> Expr:
    return exp.Is(this=cell.copy(), expression=exp.null())


def _same(one: Expr, other: Expr) -> Expr:
    return exp.NullSafeEQ(this=one.copy(), expression=other.copy())


def _equal(one: Expr, other: Expr) -> Expr:
    return exp.EQ(this=one, expression=other)


def _agrees(one: Expr, other: Expr) -> Expr:
    """Equal, or either is missing."""
    return exp.paren(sql.any_of([_equal(one.copy(), other.copy()), _missing(one), _missing(other)]))


def _numbered(alias: str) -> Expr:
    """Numbers from 0, in any order."""
    over = exp.Window(this=sql.call("row_number"))
    return sql.aliased(sql.cast(exp.Sub(this=over, expression=sql.integer(1)), "BIGINT"), alias)


def _counted(alias: str = "n") -> Expr:
    return sql.aliased(sql.count_all(), alias)


def _mapped(of: Opened, row_map: Path, alias: str = "f") -> exp.Select:
    """Rows of a release with those of its row map, ``m``."""
    on = _equal(sql.column("output_row", "m"), sql.column(of.row_number, alias))
    return exp.Select().from_(of.rows(alias, True)).join(scan_parquet([row_map], alias="m"), on=on, join_type="inner")


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
        parts.append(_mapped(of, row_map).select(sql.aliased(sql.column("source_row", "m"), "p"), *cells).subquery(f"s{side}"))
    rows = exp.Select().from_(parts[0]).join(parts[1], on=_equal(sql.column("p", "s0"), sql.column("p", "s1")))
    figures = []
    for place in range(len(columns)):
        one, other = sql.column(f"c{place}", "s0"), sql.column(f"c{place}", "s1")
        figures.append(sql.count_all(where=exp.NEQ(this=one, expression=other)))
        figures.append(sql.count_all(where=exp.NEQ(this=exp.paren(_missing(one)), expression=exp.paren(_missing(other)))))
    found = [int(figure) for figure in connection.row(rows.select(*figures))]
    return tuple(Differing(values, missing) for values, missing in zip(found[::2], found[1::2], strict=True))


# ------------------------------------------------------------------------------------------------------------------------- joining


def _coded(
    connection: Connection, rows: exp.Select, cells: Sequence[str], name: str, figures: Sequence[Expr] = ()
) -> exp.Select:
    """Number the distinct ``cells`` of ``rows`` in a new table ``name`` (``t``, ``n``, the cells); return the rows with ``t``."""
    columns = [sql.column(cell, "q") for cell in cells]
    groups = exp.select(*columns, _counted(), *figures).from_(rows.subquery("q"))
    groups = groups.group_by(*(column.copy() for column in columns)) if columns else groups
    connection.run(sql.create_table(name, exp.select(exp.Star(), _numbered("t")).from_(groups.subquery("g"))))
    on = sql.all_of([_same(sql.column(cell, "q"), sql.column(cell, "k")) for cell in cells])
    return exp.Select().from_(rows.subquery("q")).join(sql.table(name, alias="k"), on=on, join_type="inner")


def _persons(connection: Connection, source: Opened, unit: str, name: str) -> None:
    """Number the persons of a source; a row that names no one is a person of its own."""
    key = source.key(unit, "s")
    named = exp.select(sql.aliased(key, "key"), _numbered("u")).from_(source.rows("s", False))
    named = named.where(exp.Not(this=_missing(key))).group_by(key.copy())
    row = sql.column(source.row_number, "s")
    alone = exp.Sub(this=sql.integer(-1), expression=row.copy())
    rows = exp.select(sql.aliased(row, "p"), sql.aliased(sql.call("coalesce", sql.column("u", "g"), alone), "u"))
    on = _equal(sql.column("key", "g"), key.copy())
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
        rows = _mapped(of, row_map).select(sql.aliased(row, "p"), *cells)
        if unit is not None:
            on = _equal(sql.column("p", "u"), row.copy())
            rows = rows.join(sql.table(f"{h}_u", alias="u"), on=on, join_type="inner").select(sql.column("u", "u"))
        else:
            rows = rows.select(sql.aliased(row.copy(), "u"))
        columns = [sql.column("p", "q"), sql.column("u", "q"), sql.column("t", "k")]
        if unit is None or not unit.together:
            coded = _coded(connection, rows, tuple(mine), f"{h}_k{side}").select(*columns)
        else:
            single = _coded(connection, rows, tuple(mine), f"{h}_l{side}").select(*columns)
            lists = _gathered(single, sql.column("t", "w"), "kinds")
            coded = _coded(connection, lists, ("kinds",), f"{h}_k{side}").select(*columns)
        connection.run(sql.create_table(f"{h}_r{side}", coded))
    every = exp.union(
        *(exp.select(sql.column("p", "a")).from_(sql.table(f"{h}_r{side}", alias="a")) for side in range(len(files)))
    )
    joint = exp.select(sql.column("p", "e")).from_(every.subquery("e"))
    for side in range(len(files)):
        on = _equal(sql.column("p", f"r{side}"), sql.column("p", "e"))
        joint = joint.join(sql.table(f"{h}_r{side}", alias=f"r{side}"), on=on, join_type="left")
        joint = joint.select(sql.aliased(sql.column("t", f"r{side}"), f"t{side}"))
    connection.run(sql.create_table(f"{h}_v", joint))
    kinds = [sql.call("coalesce", sql.column(f"t{side}", "v"), sql.integer(-1)) for side in range(len(files))]
    rows = exp.select(*(sql.aliased(kind, f"t{side}") for side, kind in enumerate(kinds))).distinct()
    block = connection.arrays(rows.from_(sql.table(f"{h}_v", alias="v")))
    vectors = np.stack([np.asarray(block[f"t{side}"], np.int64) for side in range(len(files))], axis=1)
    return JoinedReleases(h, tuple(files), tuple(maps), tuple(shared), unit, vectors)


def _gathered(rows: exp.Select, value: Expr, name: str, *, once: bool = False, figures: Sequence[Expr] = ()) -> exp.Select:
    """Collapse rows (``w``) to persons with the sorted list of their values; ``once``: each value counts once."""
    inside = exp.Distinct(expressions=[value]) if once else value
    values = sql.call("list_sort", sql.call("list", inside))
    person = sql.column("u", "w")
    gathered = exp.select(sql.aliased(person, "p"), sql.aliased(person.copy(), "u"), sql.aliased(values, name), *figures)
    return gathered.from_(rows.subquery("w")).group_by(person.copy())


# ----------------------------------------------------------------------------------------------------------------------- agreement


def agreement(connection: Connection, joined: JoinedReleases, side: int, most_pairs: int) -> Agreement | None:
    """Pair the types of one release with the types of the others that agree with them. A type of a person with several rows is a list of them, which
    shows no cells to compare: None.
    """
    if joined.unit is not None and joined.unit.together:
        return None
    h, others = joined.handle, [other for other in range(len(joined.files)) if other != side]
    kinds = [sql.column(f"t{other}", "v") for other in others]
    rest = exp.select(*kinds, _counted()).from_(sql.table(f"{h}_v", alias="v"))
    rest = rest.where(sql.all_of([exp.Not(this=_missing(kind)) for kind in kinds])).group_by(*(kind.copy() for kind in kinds))
    name = connection.fresh("rest")
    connection.run(sql.create_table(name, exp.select(exp.Star(), _numbered("b")).from_(rest.subquery("g"))))
    met = [
        (place, one.exact, other)
        for place, one in enumerate(joined.shared)
        if side in one.sides
        for other in others
        if other in one.sides
    ]
    cells = exp.select(sql.column("b", "r")).from_(sql.table(name, alias="r"))
    for other in others:
        on = _equal(sql.column("t", f"k{other}"), sql.column(f"t{other}", "r"))
        cells = cells.join(sql.table(f"{h}_k{other}", alias=f"k{other}"), on=on, join_type="inner")
    cells = cells.select(*(sql.aliased(sql.column(f"x{place}", f"k{other}"), f"y{other}_{place}") for place, _, other in met))
    both = [(sql.column(f"x{place}", "l"), sql.column(f"y{other}_{place}", "c"), exact) for place, exact, other in met]
    equal = [(one, other) for one, other, exact in both if exact]
    if _pairs_at_most(connection, sql.table(f"{h}_k{side}", alias="l"), cells, equal) > most_pairs:
        return None
    on = sql.all_of([_same(one, other) if exact else _agrees(one, other) for one, other, exact in both])
    pairs = exp.select(sql.column("t", "l"), sql.column("b", "c")).from_(sql.table(f"{h}_k{side}", alias="l"))
    found = connection.arrays(pairs.join(cells.subquery("c"), on=on, join_type="inner"))
    first = connection.arrays(exp.select(sql.column("t"), sql.column("n")).from_(sql.table(f"{h}_k{side}")))
    second = connection.arrays(exp.select(exp.Star()).from_(sql.table(name)))
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
        groups = exp.select(*named, sql.aliased(sql.cast(sql.count_all(), "DOUBLE"), "n")).from_(rows)
        sides.append((groups.group_by(*(key.copy() for key in keys)) if keys else groups).subquery(f"s{place}"))
    on = sql.all_of([_same(sql.column(f"e{number}", "s0"), sql.column(f"e{number}", "s1")) for number in range(len(equal))])
    product = exp.Sum(this=exp.Mul(this=sql.column("n", "s0"), expression=sql.column("n", "s1")))
    (pairs,) = connection.row(
        exp.select(sql.call("coalesce", product, sql.integer(0))).from_(sides[0]).join(sides[1], on=on, join_type="inner")
    )
    return int(pairs)


# ---------------------------------------------------------------------------------------------------------------------- candidates


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
    rows = _mapped(of, joined.maps[side]).select(sql.aliased(row, "p"), *cells)
    lost = sql.all_of([_missing(sql.column(f"z{place}", "k")) for place in range(len(names))]) if names else exp.true()
    together = unit is not None and unit.together
    if unit is not None:
        on = _equal(sql.column("p", "u"), row.copy())
        rows = rows.join(sql.table(f"{h}_u", alias="u"), on=on, join_type="inner").select(sql.column("u", "u"))
    else:
        rows = rows.select(sql.aliased(row.copy(), "u"))
    single = _coded(connection, rows, [f"z{place}" for place in range(len(names))], f"{g}_l{side}")
    columns = [sql.column("p", "q"), sql.column("u", "q"), sql.aliased(sql.column("t", "k"), "c")]
    single = single.select(*columns, sql.aliased(lost, "lost"))
    if together:
        gone = sql.aliased(sql.call("bool_and", sql.column("lost", "w")), "lost")
        lists = _gathered(single, sql.column("c", "w"), "classes", once=not knows_rows, figures=[gone])
        single = _coded(connection, lists, ("classes",), f"{g}_s{side}").select(*columns, sql.column("lost", "q"))
    connection.run(sql.create_table(f"{g}_c{side}", single))
    if together:
        connection.drop("TABLE", f"{g}_s{side}")
    on = _equal(sql.column("p", "c"), sql.column("p", "r"))
    pairs = exp.select(sql.column("t", "r"), sql.column("c", "c"), _counted()).from_(sql.table(f"{h}_r{side}", alias="r"))
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
    rows = exp.Select().from_(sql.table(f"{g}_c{first}", alias=f"c{first}"))
    for side in sides[1:]:
        on = _equal(sql.column("p", f"c{side}"), sql.column("p", f"c{first}"))
        rows = rows.join(sql.table(f"{g}_c{side}", alias=f"c{side}"), on=on, join_type="inner")
    for side in range(m):
        if side not in sides:
            on = _equal(sql.column("p", f"c{side}"), sql.column("p", f"c{first}"))
            rows = rows.join(sql.table(f"{g}_c{side}", alias=f"c{side}"), on=on, join_type="anti")
    keys = [sql.column("c", f"c{side}") for side in sides]
    there = [side for side in sides if known[side]]
    lost = sql.all_of([sql.column("lost", f"c{side}") for side in there])
    persons = exp.Count(this=exp.Distinct(expressions=[sql.column("u", f"c{first}")]))
    figures = [sql.aliased(persons, "n"), sql.aliased(sql.call("bool_and", lost), "lost")]
    rows = rows.select(*(sql.aliased(key, f"c{side}") for key, side in zip(keys, sides, strict=True)), *figures)
    rows = rows.group_by(*(key.copy() for key in keys))
    connection.run(sql.create_table(targets, exp.select(exp.Star(), _numbered("k")).from_(rows.subquery("g"))))
    fit = exp.select(sql.column("k", "k"), *(sql.column(f"t{side}", "v") for side in sides))
    fit = fit.from_(sql.table(targets, alias="k"))
    for place, side in enumerate(sides):
        known_there = [_equal(sql.column("c", f"p{side}"), sql.column(f"c{side}", "k"))]
        if place:
            known_there.append(_equal(sql.column("t", f"p{side}"), sql.column(f"t{side}", "v")))
        fit = fit.join(sql.table(f"{g}_p{side}", alias=f"p{side}"), on=sql.all_of(known_there), join_type="inner")
        if not place:
            on = _equal(sql.column(f"t{side}", "v"), sql.column("t", f"p{side}"))
            fit = fit.join(sql.table(given, alias="v"), on=on, join_type="inner")
    connection.run(sql.create_table(fits, fit))
    connection.unregister(given)
    block = connection.arrays(exp.select(exp.Star()).from_(sql.table(targets)).order_by(sql.column("k")))
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
    rows = exp.select(sql.aliased(number, "k")).from_(sql.table(targets, alias="k"))
    on = [_equal(sql.column("c", "p"), sql.column(cell, "k"))]
    if fits is not None:
        kind = sql.column(f"t{side}", "a")
        distinct = exp.select(sql.column("k", "a"), sql.aliased(kind, "t")).distinct().from_(sql.table(fits, alias="a"))
        rows = rows.join(distinct.subquery("d"), on=_equal(sql.column("k", "d"), number.copy()), join_type="inner")
    counts_rows = joined.unit is None or joined.unit.together
    if counts_rows:
        held: Expr = sql.table(f"{g}_p{side}", alias="p")
        counted: Expr = exp.Sum(this=sql.column("n", "p"))
    else:
        record = exp.select(sql.column("c", "c"), sql.column("u", "c"), sql.column("t", "r"))
        record = record.from_(sql.table(f"{g}_c{side}", alias="c"))
        same = _equal(sql.column("p", "r"), sql.column("p", "c"))
        record = record.join(sql.table(f"{joined.handle}_r{side}", alias="r"), on=same, join_type="inner")
        held, counted = record.subquery("p"), exp.Count(this=exp.Distinct(expressions=[sql.column("u", "p")]))
    if fits is not None:
        on.append(_equal(sql.column("t", "p"), sql.column("t", "d")))
    rows = rows.join(held, on=sql.all_of(on), join_type="inner")
    block = connection.arrays(rows.select(sql.aliased(sql.cast(counted, "BIGINT"), "n")).group_by(number.copy()))
    found = np.zeros(n, np.int64)
    found[np.asarray(block["k"], np.int64)] = np.asarray(block["n"], np.int64)
    return found


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
