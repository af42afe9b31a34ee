"""Compositions of households by groups in the database: no row and no household is handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.released_file import with_persons
from privrelease.engine.protocol.audit import HouseholdCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened
    from privrelease.engine.duckdb.measuring.released_file import Persons

__all__ = ["household_counts"]

Expr = exp.Expr


def household_counts(
    connection: Connection,
    of: Opened,
    household: str,
    columns: Sequence[str],
    *,
    unit: str | None,
    persons: Persons | None,
    knows_rows: bool,
) -> HouseholdCounts:
    """Count households by the multiset of their members' values; see :class:`privrelease.engine.protocol.audit.AuditEngine`."""
    base, person = with_persons(of, persons)
    person = of.key(unit, "t") if unit is not None else person
    keys = [of.key(name, "t") for name in columns] or [sql.integer(0)]
    names = [f"q{place}" for place in range(len(keys))]
    named = [sql.aliased(key, name) for key, name in zip(keys, names, strict=True)]
    named.append(sql.aliased(of.key(household, "t"), "h"))
    if person is not None:
        named.append(sql.aliased(person, "p"))
    made: list[str] = []

    def kept(rows: exp.Query) -> exp.Table:
        made.append(connection.fresh("households"))
        connection.run(sql.create_table(made[-1], rows))
        return sql.table(made[-1])

    try:
        rows = kept(base.select(*named))
        tuples = kept(_grouped(rows, names, [sql.aliased(_crowd(person is not None), "f")]))
        members = kept(_members(rows, tuples, names, by_person=person is not None, knows_rows=knows_rows))
        signs = kept(
            _grouped(_alias(members, "m"), ["h", "s"], [sql.aliased(sql.count_all(), "k"), sql.aliased(_least("f"), "f")])
        )
        others = _members(rows, tuples, names, by_person=person is not None, knows_rows=knows_rows, numbered=False)
        return _counted(connection, signs, kept(others))
    finally:
        for name in made:
            connection.drop("TABLE", name)


def _alias(table: exp.Table, alias: str) -> exp.Table:
    return sql.table(table.name, alias=alias)


def _grouped(rows: exp.Expr, names: Sequence[str], figures: Sequence[Expr]) -> exp.Select:
    keys = [sql.column(name) for name in names]
    return exp.select(*keys, *figures).from_(rows.copy(), copy=False).group_by(*(key.copy() for key in keys), copy=False)


def _least(name: str) -> Expr:
    return exp.Min(this=sql.column(name))


def _crowd(by_person: bool) -> Expr:
    """Return the distinct persons of a group of rows; rows without one are of one person."""
    if not by_person:
        return sql.count_all()
    person = sql.column("p")
    without = sql.when((exp.Is(this=person, expression=exp.null()), sql.integer(1)), otherwise=sql.integer(0))
    return exp.Add(this=exp.Count(this=exp.Distinct(expressions=[person.copy()])), expression=exp.Max(this=without))


def _members(
    rows: exp.Table, tuples: exp.Table, names: Sequence[str], *, by_person: bool, knows_rows: bool, numbered: bool = True
) -> exp.Query:
    """Select a row for each member of each household: ``s``, equal for members with the same values, and ``f``, the persons who have the rarest of
    them. Not ``numbered``: for each person in rows without a household.
    """
    on = sql.all_of([exp.NullSafeEQ(this=sql.column(name, "t"), expression=sql.column(name, "v")) for name in names])
    code = sql.column("rowid", "v")
    joined = exp.Select().from_(_alias(rows, "t"), copy=False).join(_alias(tuples, "v"), on=on, copy=False)
    without = exp.Is(this=sql.column("h", "t"), expression=exp.null())
    joined = joined.where(exp.Not(this=without) if numbered else without)
    if not by_person:
        return joined.select(sql.column("h", "t"), sql.aliased(code, "s"), sql.column("f", "v"))
    listed = sql.call("list", code if knows_rows else exp.Distinct(expressions=[code]))
    figures = [sql.aliased(sql.call("list_sort", listed), "s"), sql.aliased(exp.Min(this=sql.column("f", "v")), "f")]
    household, person = sql.column("h", "t"), sql.column("p", "t")
    return joined.select(household, *figures).group_by(household.copy(), person)


def _counted(connection: Connection, signs: exp.Table, others: exp.Table) -> HouseholdCounts:
    """Count households by their signs: ``signs`` has a row for each household and sign, with the members ``k`` of it; ``others`` one for each person
    without a household, with the sign.
    """

    def in_order(name: str, key: str) -> Expr:
        ordered = exp.Order(this=sql.column(name), expressions=[exp.Ordered(this=sql.column(key))])
        return sql.aliased(sql.call("list", ordered), name)

    members = exp.Sum(this=sql.column("k"))
    houses = _grouped(signs, ["h"], [in_order("s", "s"), in_order("k", "s"), sql.aliased(members, "m")])
    kinds = _grouped(
        houses.subquery("houses"),
        ["s", "k"],
        [sql.aliased(sql.count_all(), "n"), sql.aliased(exp.Max(this=sql.column("m")), "m")],
    )
    sizes = _grouped(
        kinds.subquery("kinds"), ["n"], [sql.aliased(sql.count_all(), "j"), sql.aliased(exp.Max(this=sql.column("m")), "m")]
    )
    found = connection.arrays(sizes.order_by(sql.column("n")))
    crowds = _grouped(signs, ["h", "f"], [sql.aliased(members.copy(), "k")])
    alike = _grouped(crowds.subquery("crowds"), ["h"], [in_order("f", "f"), in_order("k", "f")])
    lists = connection.arrow(
        exp.select(sql.column("f"), sql.aliased(sql.column("k"), "k"))
        .distinct(copy=False)
        .from_(alike.subquery("alike"), copy=False)
    )
    alike_alone = _grouped(others, ["s"], [sql.aliased(sql.count_all(), "n")])
    by_size = _grouped(alike_alone.subquery("alone"), ["n"], [sql.aliased(sql.count_all(), "j")])
    alone = connection.arrays(by_size.order_by(sql.column("n")))
    there = slice(None) if len(found["n"]) else slice(0)
    crowd, times = (lists.column(name).combine_chunks() for name in ("f", "k"))
    return HouseholdCounts(
        np.asarray(found["n"], np.int64),
        np.asarray(found["j"], np.int64),
        int(max(found["m"], default=0)),
        np.repeat(np.arange(len(crowd)), np.asarray(crowd.value_lengths())),
        np.asarray(crowd.flatten(), np.int64),
        np.asarray(times.flatten().cast("int64"), np.int64),
        np.asarray(alone["n"], np.int64)[there],
        np.asarray(alone["j"], np.int64)[there],
    )
