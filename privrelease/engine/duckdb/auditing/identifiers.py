"""Direct identifiers under other names: row by row as they are, and in other forms by the keys that a form makes of cells. See
:mod:`privrelease.engine.protocol.identifiers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.auditing.queries import unit_facts
from privrelease.engine.duckdb.measuring.released_file import joined
from privrelease.engine.protocol.audit import SameCells
from privrelease.engine.protocol.identifiers import IdentifierMatches, OwnMatches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["identifier_matches", "own_identifiers", "same_cells"]

Expr = exp.Expr

#: Digits of the shortest beginning of a hash that is taken for one; no number or word has so many hexadecimal digits by chance.
_SHORTEST_HASH = 16

#: Rows of the source in which other forms are looked for row by row: what half of the rows hold shows in far fewer.
_SAMPLE = 20_000


def _replaced(cell: Expr, pattern: str) -> Expr:
    return sql.call("regexp_replace", cell, sql.text(pattern), sql.text(""), sql.text("g"))


def _bare(text: Expr) -> Expr:
    """Lower case, without punctuation and spaces, without the decimals of a whole number."""
    return sql.call("lower", _replaced(_replaced(text, r"\.0+$"), r"[\s[:punct:]]"))


def _unpadded(text: Expr) -> Expr:
    return sql.call("ltrim", text, sql.text("0"))


def _one(text: Expr) -> Expr:
    return sql.call("list_value", text)


def _parts(text: Expr, pattern: str) -> Expr:
    return sql.call("regexp_extract_all", text, sql.text(pattern))


def _keys(cell: Expr, form: str, *, source: bool) -> Expr:
    """Make a list of a cell's keys in a form, as an identifier (``source``) or as a cell that may hold it."""
    text = _text(cell)
    if form == "hashed":
        return _hashes(text) if source else _hash(text)
    if form == "digits":
        return _one(_replaced(text, "[^0-9]")) if source else _parts(text, "[0-9]+")
    if form == "part" and not source:
        return _parts(sql.call("lower", text), "[0-9a-z]+")
    if form == "plain":
        return _one(_replaced(text, r"\.0+$"))
    bare = _bare(text)
    return _one(_unpadded(sql.call("reverse", bare) if form == "reversed" and source else bare))


def _hashes(text: Expr) -> Expr:
    hashes = (sql.call(name, text.copy()) for name in ("md5", "sha1", "sha256"))
    return sql.call("list_value", *(sql.call("left", one, sql.integer(_SHORTEST_HASH)) for one in hashes))


def _hash(text: Expr) -> Expr:
    hexadecimal = sql.call("regexp_full_match", text, sql.text("[0-9a-fA-F]{16,}"))
    return sql.when((hexadecimal, _one(sql.call("lower", sql.call("left", text.copy(), sql.integer(_SHORTEST_HASH))))))


def _keyed(connection: Connection, of: Opened, name: str, form: str, *, source: bool) -> str:
    """Write a table of (``v``, ``row``): the keys of each row, once each."""
    into = connection.fresh("keys")
    keys = sql.call("unnest", _keys(of.cell(name, "t"), form, source=source))
    every = exp.select(sql.aliased(keys, "k"), sql.aliased(sql.column(of.row_number, "t"), "row")).from_(of.rows("t", True))
    key = sql.column("k", "k")
    key = _unpadded(key) if form in {"digits", "part"} else key
    rows = exp.select(sql.aliased(key, "v"), sql.column("row", "k")).distinct().from_(every.subquery("k"))
    there = exp.NEQ(this=sql.column("v", "d"), expression=sql.text(""))
    connection.run(sql.create_table(into, exp.select(exp.Star()).from_(rows.subquery("d")).where(there)))
    return into


def _counted(table: str, alias: str) -> exp.Subquery:
    v = sql.column("v", "k")
    figures = [sql.aliased(sql.count_all(), "n"), sql.aliased(exp.Min(this=sql.column("row", "k")), "row")]
    return exp.select(v, *figures).from_(sql.table(table, alias="k")).group_by(v.copy()).subquery(alias)


def _weak(key: Expr) -> Expr:
    return sql.call("regexp_full_match", key, sql.text(r"[0-9]{1,7}|\p{L}{1,3}|."))


def _sum(value: Expr) -> Expr:
    return sql.call("coalesce", exp.Sum(this=value), sql.integer(0))


def _text(cell: Expr) -> Expr:
    return sql.cast(cell, "VARCHAR")


def same_cells(
    connection: Connection, source: Opened, released: Opened, row_map: Path, pairs: Sequence[tuple[str, str]]
) -> tuple[SameCells, ...]:
    """Count, for each pair of columns, rows where both hold a value and rows where the values agree as text."""
    figures: list[Expr] = []
    for ours, theirs in pairs:
        before, after = source.cell(ours, "s"), released.cell(theirs, "t")
        figures.append(sql.count_all(where=exp.and_(_there(before), _there(after))))
        figures.append(sql.count_all(where=exp.EQ(this=_text(before), expression=_text(after))))
    found = [int(figure) for figure in connection.row(joined(released, row_map, source).select(*figures))]
    alike = {ours for i, (ours, _) in enumerate(pairs) if found[2 * i + 1]}
    most = {ours: unit_facts(connection, source, ours).most_rows for ours in sorted(alike)}
    cells = []
    for i, (ours, theirs) in enumerate(pairs):
        compared, same = found[2 * i : 2 * i + 2]
        expected = (
            _same_by_chance(
                connection, joined(released, row_map, source), _text(source.cell(ours, "s")), _text(released.cell(theirs, "t"))
            )
            if same
            else None
        )
        cells.append(SameCells(ours, theirs, compared, same, most.get(ours, 0), expected))
    return tuple(cells)


def _same_by_chance(connection: Connection, rows: exp.Select, before: Expr, after: Expr) -> float:
    """Rows that agree on average, were one column shuffled: every pair of cells with one value meets with the chance of one in all rows."""
    (n_rows,) = connection.row(rows.select(sql.count_all()))
    sides = [
        rows.select(sql.aliased(cell, "v"), sql.aliased(sql.count_all(), "n"))
        .where(_there(cell))
        .group_by(cell.copy())
        .subquery(alias)
        for cell, alias in ((before, "a"), (after, "b"))
    ]
    on = exp.EQ(this=sql.column("v", "a"), expression=sql.column("v", "b"))
    product = exp.Mul(this=sql.column("n", "a"), expression=sql.column("n", "b"))
    (meetings,) = connection.row(
        exp.Select().from_(sides[0]).join(sides[1], on=on, join_type="inner").select(exp.Sum(this=product))
    )
    return int(meetings or 0) / int(n_rows)


def identifier_matches(
    connection: Connection, source: Opened, released: Opened, pairs: Sequence[tuple[str, str]], form: str
) -> tuple[IdentifierMatches, ...]:
    """Join the distinct keys of each pair."""
    ours = {name: _keyed(connection, source, name, form, source=True) for name in dict.fromkeys(one for one, _ in pairs)}
    theirs = {name: _keyed(connection, released, name, form, source=False) for name in dict.fromkeys(two for _, two in pairs)}
    try:
        return tuple(_matches(connection, ours[one], theirs[two]) for one, two in pairs)
    finally:
        for name in (*ours.values(), *theirs.values()):
            connection.drop("TABLE", name)


def _matches(connection: Connection, ours: str, theirs: str) -> IdentifierMatches:
    on = exp.EQ(this=sql.column("v", "s"), expression=sql.column("v", "r"))
    joined = exp.Select().from_(_counted(ours, "s")).join(_counted(theirs, "r"), on=on, join_type="full")
    n_source, n_released, key = sql.column("n", "s"), sql.column("n", "r"), sql.column("v", "s")
    shared = exp.Not(this=exp.Is(this=exp.Add(this=n_source.copy(), expression=n_released.copy()), expression=exp.null()))
    fewer = sql.when((shared.copy(), sql.call("least", n_source.copy(), n_released.copy())))
    figures = [
        exp.Count(this=key),
        exp.Count(this=sql.column("v", "r")),
        sql.count_all(where=shared.copy()),
        sql.count_all(where=exp.and_(shared.copy(), _weak(key.copy()))),
        _sum(sql.when((shared.copy(), n_released.copy()))),
        _sum(fewer),
    ]
    first, second, both, weak, matched, own = map(int, connection.row(joined.select(*figures)))
    none = np.zeros(0, np.int64)
    if not both:
        return IdentifierMatches(first, second, 0, 0, 0, 0, None, none, none)
    alone = exp.EQ(this=sql.column("n", "s"), expression=sql.integer(1))
    on = exp.EQ(this=sql.column("v", "s"), expression=sql.column("v", "r"))
    links = exp.select(sql.aliased(sql.column("row", "s"), "i"), sql.aliased(sql.column("row", "r"), "j"))
    links = links.from_(_counted(ours, "s")).join(sql.table(theirs, alias="r"), on=on, join_type="inner").where(alone)
    links = links.order_by(sql.column("i"), sql.column("j"))
    block = connection.arrays(links)
    rows = [np.asarray(block[side], np.int64) for side in ("i", "j")]
    return IdentifierMatches(first, second, both, weak, matched, own, _expected(connection, ours, theirs), rows[0], rows[1])


def _expected(connection: Connection, ours: str, theirs: str) -> float | None:
    """Expected shared numbers, were the file's distinct numbers drawn from all whole numbers between their smallest and largest."""
    number = sql.try_cast(sql.column("v", "k"), "BIGINT")
    figures = [exp.Min(this=number), exp.Max(this=number.copy()), exp.Count(this=exp.Distinct(expressions=[number.copy()]))]
    low, high, found = connection.row(exp.select(*figures).from_(sql.table(theirs, alias="k")))
    if low is None or high is None:
        return None
    within = exp.Between(this=number.copy(), low=sql.integer(int(low)), high=sql.integer(int(high)))
    distinct = exp.Count(this=exp.Distinct(expressions=[number.copy()]))
    (inside,) = connection.row(exp.select(distinct).from_(sql.table(ours, alias="k")).where(within))
    return int(inside) * int(found) / (int(high) - int(low) + 1)


def own_identifiers(
    connection: Connection, source: Opened, pairs: Sequence[tuple[str, str]], form: str
) -> tuple[OwnMatches, ...]:
    """Compare the keys of two columns in each row, each column's made once; in forms but the plain one in ``_SAMPLE`` rows at regular steps."""
    if not pairs:
        return ()
    step = 1 if form == "plain" else -(-source.n_rows // _SAMPLE) or 1
    into = connection.fresh("own")
    ours = {name: f"a{place}" for place, name in enumerate(dict.fromkeys(one for one, _ in pairs))}
    theirs = {name: f"b{place}" for place, name in enumerate(dict.fromkeys(two for _, two in pairs))}
    keys = [sql.aliased(_own_keys(source, name, form, source_side=True), alias) for name, alias in ours.items()]
    keys += [sql.aliased(_own_keys(source, name, form, source_side=False), alias) for name, alias in theirs.items()]
    connection.run(sql.create_table(into, _sampled(source, step).select(*keys)))
    try:
        rows = exp.Select().from_(sql.table(into))
        sides = [(sql.column(ours[one]), sql.column(theirs[two])) for one, two in pairs]
        figures = []
        for mine, other in sides:
            same = exp.and_(_there(mine), _there(other), _alike(mine, other))
            strong = exp.and_(same.copy(), exp.Not(this=_weak(_first(mine))))
            figures += [sql.count_all(where=where) for where in (exp.and_(_there(mine), _there(other)), same, strong)]
        found = [int(figure) for figure in connection.row(rows.select(*figures))]
        matches = []
        for place, (mine, other) in enumerate(sides):
            compared, alike, strong_ones = found[3 * place : 3 * place + 3]
            most = _most(connection, rows, mine, other) if alike else 0
            matches.append(OwnMatches(compared, alike, strong_ones, most))
        return tuple(matches)
    finally:
        connection.drop("TABLE", into)


def _own_keys(source: Opened, name: str, form: str, *, source_side: bool) -> Expr:
    keys = _keys(source.cell(name, "t"), form, source=source_side)
    return _every_unpadded(keys) if form in {"digits", "part"} else keys


def _first(keys: Expr) -> Expr:
    return sql.call("list_extract", keys.copy(), sql.integer(1))


def _there(keys: Expr) -> Expr:
    return exp.Not(this=exp.Is(this=keys.copy(), expression=exp.null()))


def _alike(mine: Expr, other: Expr) -> Expr:
    known = exp.NEQ(this=_first(mine), expression=sql.text(""))
    return exp.and_(known, sql.call("list_has_any", mine.copy(), other.copy()))


def _sampled(source: Opened, step: int) -> exp.Select:
    rows = exp.Select().from_(source.rows("t", True))
    place = exp.Mod(this=sql.column(source.row_number, "t"), expression=sql.integer(step))
    return rows if step == 1 else rows.where(exp.EQ(this=place, expression=sql.integer(0)))


def _most(connection: Connection, rows: exp.Select, mine: Expr, other: Expr) -> int:
    key = _first(mine)
    grouped = rows.where(exp.and_(_there(mine), _there(other))).select(sql.aliased(sql.count_all(), "n")).group_by(key)
    (most,) = connection.row(exp.select(exp.Max(this=sql.column("n", "g"))).from_(grouped.subquery("g")))
    return int(most)


def _every_unpadded(keys: Expr) -> Expr:
    name = exp.to_identifier("x")
    return sql.call("list_transform", keys, exp.Lambda(this=_unpadded(exp.column("x")), expressions=[name]))
