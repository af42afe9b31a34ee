"""Persons and weights of released rows, found in the source through the row map: how an audit groups them.

Like :mod:`privrelease.engine.duckdb.measuring.released_file`, nothing here is shared with coding and writing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import packed_words, row_order
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.released_file import joined
from privrelease.engine.protocol.audit import PersonClasses, UnitFacts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["person_classes", "unit_facts", "weighted_classes"]

Expr = exp.Expr

#: Sums of weights are exact: floats added in the order of threads differ in their last digits.
_WEIGHT = "DECIMAL(38, 12)"


def _missing(cell: Expr) -> Expr:
    return exp.Is(this=cell.copy(), expression=exp.null())


def _there(cell: Expr) -> Expr:
    return exp.Not(this=_missing(cell))


def unit_facts(connection: Connection, source: Opened, unit: str) -> UnitFacts:
    """Count rows and persons."""
    person = source.key(unit, "s")
    rows = (
        exp.select(sql.aliased(person, "u"), sql.aliased(sql.count_all(), "n"))
        .from_(source.rows("s", False), copy=False)
        .group_by(person.copy(), copy=False)
    )
    name, n = sql.column("u", "p"), sql.column("n", "p")
    missing = exp.Filter(this=exp.Sum(this=n), expression=exp.Where(this=_missing(name)))
    most = exp.Filter(this=exp.Max(this=n.copy()), expression=exp.Where(this=_there(name)))
    figures = [sql.call("coalesce", figure, sql.integer(0)) for figure in (exp.Sum(this=n.copy()), missing, most)]
    total, without, largest, persons = connection.row(
        exp.select(*figures, exp.Count(this=name.copy())).from_(rows.subquery("p"), copy=False)
    )
    return UnitFacts(int(total), int(persons), int(without), int(largest))


def _groups(
    source: Opened, released: Opened | None, row_map: Path | None, columns: Sequence[str], **figures: Expr
) -> exp.Select:
    """Group released rows (source rows) by ``columns`` as they are stored; ``figures`` are keys where they aggregate nothing."""
    if released is None or row_map is None:
        rows, side, alias = exp.Select().from_(source.rows("s", True), copy=False), source, "s"
    else:
        rows, side, alias = joined(released, row_map, source), released, "t"
    keys = [side.key(name, alias) for name in columns]
    named = [sql.aliased(key, f"g{place}") for place, key in enumerate(keys)]
    keys += [figure for figure in figures.values() if not list(figure.find_all(exp.AggFunc))]
    named += [sql.aliased(figure.copy(), name) for name, figure in figures.items()]
    query = rows.select(*named, sql.aliased(sql.count_all(), "n"))
    return query.group_by(*(key.copy() for key in keys)) if keys else query


def _coded(column: Any) -> NDArray[np.int32]:  # noqa: ANN401 - Arrow has no types
    """Codes of an Arrow column: 0 missing, 1..v in ascending order of the value (enumerations are stored in that order)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        parts = [np.asarray(chunk.indices.cast(pa.int64()).fill_null(-1)) for chunk in column.chunks]
        found = np.concatenate(parts) + 1 if parts else np.zeros(0, np.int64)
        used = np.bincount(found) > 0
        used[:1] = False
        ranks: NDArray[np.int32] = np.cumsum(used, dtype=np.int32)
        ranks[:1] = 0
        return np.asarray(ranks[found], np.int32)
    values = pc.unique(column).drop_null()
    order = pc.sort_indices(values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values)
    found = pc.index_in(column, value_set=values.take(order)).fill_null(-1)
    return np.asarray(found, np.int32) + np.int32(1)


def _codes(block: Any, columns: int) -> NDArray[np.int32]:  # noqa: ANN401 - Arrow has no types
    coded = [_coded(block.column(place)) for place in range(columns)]
    return np.stack(coded, axis=1) if coded else np.zeros((len(block), 0), np.int32)


def person_classes(
    connection: Connection,
    source: Opened | None,
    released: Opened | None,
    row_map: Path | None,
    columns: Sequence[str],
    unit: str,
) -> PersonClasses:
    """Group by the columns and the person, and then persons by their classes and the rows in each."""
    if source is None:
        assert released is not None
        source, released, row_map = released, None, None
    made = [connection.fresh("persons") for _ in range(3)]
    pairs, classes, kinds = made
    keys = [f"g{place}" for place in range(len(columns))]
    try:
        rows = _groups(source, released, row_map, columns, p=source.key(unit, "s"))
        connection.run(sql.create_table(pairs, rows))
        named = [sql.column(key) for key in keys]
        figures = [sql.aliased(exp.Sum(this=sql.column("n")), "n")]
        totals = exp.select(*named, *figures).from_(sql.table(pairs), copy=False)
        some = exp.GT(this=sql.count_all(), expression=sql.integer(0))
        grouped = totals.group_by(*(key.copy() for key in named)) if named else totals.having(some)
        connection.run(sql.create_table(classes, grouped))
        same = [exp.NullSafeEQ(this=sql.column(key, "a"), expression=sql.column(key, "b")) for key in keys]
        number = sql.column("rowid", "b")

        def listed(value: Expr, name: str) -> Expr:
            order = exp.Order(this=value, expressions=[exp.Ordered(this=number.copy())])
            return sql.aliased(sql.call("list", order), name)

        person = exp.select(listed(number.copy(), "k"), listed(sql.column("n", "a"), "n")).from_(
            sql.table(pairs, alias="a"), copy=False
        )
        person = person.join(sql.table(classes, alias="b"), on=sql.all_of(same)).group_by(sql.column("p", "a"))
        lists = [sql.column("k"), sql.column("n")]
        kind = exp.select(*lists, sql.aliased(sql.count_all(), "j")).from_(person.subquery("persons"), copy=False)
        connection.run(sql.create_table(kinds, kind.group_by(*(one.copy() for one in lists))))
        block, alike = (
            connection.arrow(exp.select(exp.Star()).from_(sql.table(name), copy=False)) for name in (classes, kinds)
        )
    finally:
        for name in made:
            connection.drop("TABLE", name)
    codes = _codes(block, len(columns))
    order = row_order(packed_words(codes))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    held, times = (alike.column(name).combine_chunks() for name in ("k", "n"))
    of_kind = np.repeat(np.arange(len(held)), np.asarray(held.value_lengths(), np.int64))
    of_class, pair_rows = place[np.asarray(held.flatten(), np.int64)], np.asarray(times.flatten(), np.int64)
    by_class = np.lexsort((of_kind, of_class))
    table = ClassTable(
        tuple(columns),
        np.ascontiguousarray(codes[order]),
        np.asarray(block.column("n").cast("int64"), np.int64)[order],
        None,
        of_class[by_class].astype(np.uint32),
        of_kind[by_class].astype(np.uint32),
        np.asarray(alike.column("j"), np.int64),
    )
    return PersonClasses(table, pair_rows[by_class])


def weighted_classes(
    connection: Connection,
    source: Opened,
    released: Opened | None,
    row_map: Path | None,
    columns: Sequence[str],
    weight: str,
    unit: str | None = None,
) -> ClassTable:
    """Group by the columns and add the weights of the source rows; with ``unit``, first take the smallest of each person and class."""
    of_row = sql.cast(source.cell(weight, "s"), _WEIGHT)
    if unit is None:
        added = sql.call("coalesce", exp.Sum(this=of_row), sql.integer(0))
        block = connection.arrow(_groups(source, released, row_map, columns, w=sql.cast(added, "DOUBLE")))
    else:
        least = exp.Min(this=sql.call("coalesce", of_row, sql.cast(sql.integer(0), _WEIGHT)))
        pairs = _groups(source, released, row_map, columns, p=source.key(unit, "s"), w=least)
        keys = [sql.column(f"g{place}") for place in range(len(columns))]
        weighed = sql.cast(sql.call("coalesce", exp.Sum(this=sql.column("w")), sql.integer(0)), "DOUBLE")
        rows = sql.cast(sql.call("coalesce", exp.Sum(this=sql.column("n")), sql.integer(0)), "BIGINT")
        figures = [sql.aliased(weighed, "w"), sql.aliased(rows, "n")]
        query = exp.select(*keys, *figures).from_(pairs.subquery("pairs"), copy=False)
        block = connection.arrow(query.group_by(*(key.copy() for key in keys)) if keys else query)
    codes = _codes(block, len(columns))
    order = np.lexsort(codes.T[::-1]) if columns else np.arange(len(codes))
    weights, counts = np.asarray(block.column("w"), np.float64), np.asarray(block.column("n"), np.int64)
    return ClassTable(tuple(columns), np.ascontiguousarray(codes[order]), counts[order], weights[order])
