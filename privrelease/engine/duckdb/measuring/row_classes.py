"""Equivalence classes of a staged source: their table, and the rows' keys, which stay in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sqlglot import exp

from privrelease.disclosure.classes.equivalence_classes import ClassTable, narrowed
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.duckdb.measuring.coding import coding_of, laid_out, packed, staged_rows
from privrelease.engine.protocol.base import RowClasses
from privrelease.findings import pluralise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.coding import Coding, Field
    from privrelease.engine.duckdb.reading.staging import StagedTable

__all__ = ["RowKeys", "cached", "classes"]

#: Rows of one block of weights.
_BLOCK_ROWS = 1 << 18


@dataclass(frozen=True, eq=False, slots=True)
class RowKeys:
    """The class of every row of a staged source, in the database.

    ``keys``: a view with a row for each row of the source, in its order: the row's number ``r``, the words ``k0``, ``k1``, … of its class's key
    and, with persons, the code ``p`` of its person. It is packed when it is read: as a table it would be as large as the source. ``classes``: a table of the keys of the classes, in the order of ``table``; ``persons``: of the code ``p`` of
    each person and its number ``kind`` in ``table``, or None. ``words``: the key columns of keys and classes.
    """

    staged: StagedTable
    table: ClassTable
    keys: str
    classes: str
    persons: str | None
    words: tuple[str, ...]


def cached(connection: Connection, staged: StagedTable, ordinal: int, cache: dict[int, Coding]) -> Coding:
    """Return the coding of a column, kept for the next question about the same staged source."""
    if ordinal not in cache:
        cache[ordinal] = coding_of(connection, staged, ordinal)
    return cache[ordinal]


def classes(
    connection: Connection,
    staged: StagedTable,
    columns: Sequence[str],
    *,
    unit: str | None,
    weight: str | None,
    cache: dict[int, Coding],
) -> tuple[RowClasses, RowKeys]:
    """Collapse rows to classes; see :class:`privrelease.engine.protocol.base.Engine`."""
    coded = [cached(connection, staged, staged.ordinal(name), cache) for name in columns]
    person = None if unit is None else _person(connection, staged, unit, cache)
    fields = laid_out([one.size for one in coded])
    words = tuple(f"k{word}" for word in range(1 + max((field.word for field in fields), default=0)))
    whole = _without_missing(connection, staged, columns)
    keyed = [
        sql.aliased(_from_one([of for of in zip(coded, fields, whole, strict=True) if of[1].word == word]), name)
        for word, name in enumerate(words)
    ]
    cells = [sql.column(f"c{ordinal}", "s") for ordinal in map(staged.ordinal, columns) if staged.coded[ordinal] is not None]
    distinct = _distinct_tuples(staged, cells, keyed) if cells and len(cells) == len(columns) else None
    if person is not None:
        keyed.append(sql.aliased(sql.cast(person.code.copy(), "UINTEGER"), "p"))
    keyed.insert(0, sql.aliased(sql.cast(sql.column("rowid", "s"), "UINTEGER"), "r"))
    keys = connection.fresh("keys")
    sides = [one.side for one in (*coded, person) if one is not None and one.side is not None]
    connection.run(sql.create_view(keys, staged_rows(exp.select(*keyed), staged, sides)))
    groups, found = _grouped(connection, keys, words, distinct)
    split = [found[word] for word in words]
    dense = [narrowed(one.dense(field.of(split))) for one, field in zip(coded, fields, strict=True)]
    codes = np.empty((len(found["n"]), len(columns)), np.result_type(np.uint8, *dense))
    for place, column in enumerate(dense):
        codes[:, place] = column
    del dense, split
    weights = None if weight is None else _weights(connection, staged, weight, keys, groups, words, len(codes))
    persons, pair_rows = None, None
    pairs: _Pairs = (None, None, None, None)
    if person is not None:
        persons, pairs, pair_rows = _kinds(connection, _of_person(staged, weight, keys, groups, words))
    counts = found["n"].astype(np.int64)
    pairs_class, pairs_person, alike, pair_weights = pairs
    table = ClassTable(tuple(columns), codes, counts, weights, pairs_class, pairs_person, alike, pair_weights)
    return RowClasses(table, keys, pair_rows), RowKeys(staged, table, keys, groups, persons, words)


def _without_missing(connection: Connection, staged: StagedTable, columns: Sequence[str]) -> list[bool]:
    """Return of each column whether every row has a value in it."""
    values = [exp.Count(this=sql.column(f"c{staged.ordinal(name)}")) for name in columns]
    rows, *known = connection.row(exp.select(sql.count_all(), *values).from_(sql.table(staged.table), copy=False))
    return [one == rows for one in known]


def _from_one(columns: Sequence[tuple[Coding, Field, bool]]) -> exp.Expr:
    """Return the word of codes from 1, 0 where the cell is missing. Columns that miss none are not asked row by row, and their ones are added at once."""
    one, none = sql.integer(1), sql.integer(0)
    whole = [(coding.code.copy(), field) for coding, field, full in columns if full]
    others = [
        (sql.cast(sql.call("coalesce", exp.Add(this=coding.code.copy(), expression=one.copy()), none.copy()), "UBIGINT"), field)
        for coding, field, full in columns
        if not full
    ]
    if not whole:
        return packed(others)
    ones = sql.cast(sql.text(str(sum(1 << field.shift for _, field in whole))), "UBIGINT")
    word = exp.Add(this=exp.Paren(this=packed(whole)), expression=ones)
    return exp.BitwiseOr(this=packed(others), expression=exp.Paren(this=word)) if others else word


def _distinct_tuples(staged: StagedTable, cells: Sequence[exp.Expr], keyed: Sequence[exp.Expr]) -> exp.Select:
    """Select the keys of distinct tuples of enumerations with their rows ``n``: their codes are packed once for each, not for each row."""
    named = [*cells, sql.aliased(sql.count_all(), "n")]
    rows = (
        exp.select(*named)
        .from_(sql.table(staged.table, alias="s"), copy=False)
        .group_by(*(cell.copy() for cell in cells), copy=False)
    )
    return exp.select(*(key.copy() for key in keyed), sql.column("n", "s")).from_(rows.subquery("s"), copy=False)


_Pairs: TypeAlias = (
    "tuple[NDArray[np.uint32] | None, NDArray[np.uint32] | None, NDArray[np.int64] | None, NDArray[np.float64] | None]"
)


def _of_person(staged: StagedTable, weight: str | None, keys: str, groups: str, words: Sequence[str]) -> exp.Select:
    """Select the persons, ``p``, and for each the numbers of its classes ``c``, ascending, its rows ``n`` there, and their smallest weight ``w``."""
    named = [sql.column(one, keys) for one in (*words, "p")]
    pairs = exp.select(*named, sql.aliased(sql.count_all(), "n"))
    if weight is None:
        pairs = pairs.from_(sql.table(keys))
    else:
        cell = sql.cast(sql.column(f"c{staged.ordinal(weight)}", "s"), "DOUBLE")
        pairs = staged_rows(pairs.select(sql.aliased(exp.Min(this=cell), "w")), staged, [keys])
    pairs = pairs.group_by(*(one.copy() for one in named))
    number = sql.column("rowid", "g")

    def listed(value: exp.Expr, name: str) -> exp.Expr:
        order = exp.Order(this=value, expressions=[exp.Ordered(this=number.copy())])
        return sql.aliased(sql.call("list", order), name)

    lists = [listed(number.copy(), "c"), listed(sql.column("n", "a"), "n")]
    lists += [] if weight is None else [listed(sql.column("w", "a"), "w")]
    on = sql.all_of([exp.EQ(this=sql.column(word, "a"), expression=sql.column(word, "g")) for word in words])
    rows = (
        exp.select(sql.column("p", "a"), *lists)
        .from_(pairs.subquery("a"), copy=False)
        .join(sql.table(groups, alias="g"), on=on, copy=False)
    )
    return rows.group_by(sql.column("p", "a"))


def _kinds(connection: Connection, of_person: exp.Select) -> tuple[str, _Pairs, NDArray[np.int64]]:
    """Number persons that are alike by the first of them. Returns the name of a table of persons and their numbers, and the pairs of a class table:
    classes, persons, how many each person represents, weights; and the rows of each pair.
    """
    lists = [sql.column(one.alias) for one in of_person.selects[1:]]
    p = sql.column("p")
    figures = [
        sql.aliased(exp.Min(this=p), "first"),
        sql.aliased(sql.count_all(), "j"),
        sql.aliased(sql.call("list", p.copy()), "who"),
    ]
    kinds, persons = connection.fresh("kinds"), connection.fresh("persons")
    alike = (
        exp.select(*lists, *figures)
        .from_(of_person.subquery("persons"), copy=False)
        .group_by(*(one.copy() for one in lists), copy=False)
    )
    connection.run(sql.create_table(kinds, alike.order_by(sql.column("first"))))
    try:
        who = sql.aliased(sql.call("unnest", sql.column("who")), "p")
        number = sql.aliased(sql.cast(sql.column("rowid"), "UINTEGER"), "kind")
        connection.run(sql.create_table(persons, exp.select(who, number).from_(sql.table(kinds), copy=False)))
        block = connection.arrow(
            exp.select(*(one.copy() for one in lists), sql.column("j")).from_(sql.table(kinds), copy=False)
        )
    finally:
        connection.drop("TABLE", kinds)
    flat = {one.name: block.column(one.name).combine_chunks() for one in lists}
    kind = np.repeat(np.arange(len(block), dtype=np.uint32), np.asarray(flat["c"].value_lengths(), np.int64))
    of_class = np.asarray(flat["c"].flatten(), np.int64).astype(np.uint32)
    order = np.lexsort((kind, of_class))
    weights = np.asarray(flat["w"].flatten(), np.float64)[order] if "w" in flat else None
    pairs = of_class[order], kind[order], np.asarray(block.column("j"), np.int64), weights
    return persons, pairs, np.asarray(flat["n"].flatten(), np.int64)[order]


def _grouped(
    connection: Connection, keys: str, by: Sequence[str], distinct: exp.Select | None
) -> tuple[str, dict[str, NDArray[np.uint64]]]:
    """Store the distinct keys in ascending order, with the rows ``n`` of each; return the table's name and its columns."""
    name = connection.fresh("groups")
    columns = [sql.column(one) for one in by]
    rows = distinct
    if rows is None:
        rows = (
            exp.select(*columns, sql.aliased(sql.count_all(), "n"))
            .from_(sql.table(keys), copy=False)
            .group_by(*columns, copy=False)
        )
    connection.run(sql.create_table(name, rows.order_by(*columns)))
    return name, connection.arrays(exp.select(exp.Star()).from_(sql.table(name), copy=False))


def _person(connection: Connection, staged: StagedTable, unit: str, cache: dict[int, Coding]) -> Coding:
    """Code the persons. Raises InputError D211 where a row has none."""
    coding = cached(connection, staged, staged.ordinal(unit), cache)
    name = sql.column(f"c{staged.ordinal(unit)}")
    missing = int(
        connection.row(
            exp.select(sql.count_all(where=exp.Is(this=name, expression=exp.null()))).from_(sql.table(staged.table), copy=False)
        )[0]
    )
    if missing:
        message = f"{pluralise(missing, 'row has', 'rows have')} no value in the unit column {unit}"
        raise refusal(message, "D211", hint="every row needs its person: complete the source, or leave such rows out of it")
    return coding


def _weights(
    connection: Connection, staged: StagedTable, weight: str, keys: str, groups: str, words: Sequence[str], n_classes: int
) -> NDArray[np.float64]:
    """Add up the weights of each class in the order of the rows, so that a sum is the same every time."""
    cell = sql.cast(sql.column(f"c{staged.ordinal(weight)}", "s"), "DOUBLE")
    row = sql.column("r", keys)
    select = exp.select(
        sql.aliased(sql.column("rowid", "g"), "g"),
        sql.aliased(sql.call("coalesce", cell, sql.cast(sql.text("nan"), "DOUBLE")), "w"),
    )
    on = sql.all_of([exp.EQ(this=sql.column(word, "g"), expression=sql.column(word, keys)) for word in words])
    rows = staged_rows(select, staged, [keys]).join(sql.table(groups, alias="g"), on=on).order_by(row)
    weights = np.zeros(n_classes, np.float64)
    unfit = 0
    for block in connection.blocks(rows, _BLOCK_ROWS):
        of_row = np.asarray(block.column(1), np.float64)
        unfit += int(np.count_nonzero(~(of_row > 0)))
        with np.errstate(over="ignore"):  # a sum that is not a number of persons is refused by whoever asked for it
            np.add.at(weights, np.asarray(block.column(0)), of_row)
    if unfit:
        message = f"{pluralise(unfit, 'row has', 'rows have')} no positive value in the weight column {weight}"
        raise refusal(
            message, "D212", hint="a sampling weight is the number of persons a row represents: complete or correct it"
        )
    return weights
