"""Equivalence classes of a staged source: their table, and the rows' keys, which stay in the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.errors import refusal
from privrelease.engine.duckdb.measuring.coding import coding_of, laid_out, packed, staged_rows
from privrelease.engine.protocol.base import RowClasses
from privrelease.findings import pluralise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.coding import Coding
    from privrelease.engine.duckdb.reading.staging import StagedTable

__all__ = ["RowKeys", "cached", "classes"]

#: Rows of one block of weights.
_BLOCK_ROWS = 1 << 18


@dataclass(frozen=True, eq=False, slots=True)
class RowKeys:
    """The class of every row of a staged source, in the database.

    ``keys``: a view with a row for each row of the source, in its order: the row's number ``r``, the words ``k0``, ``k1``, … of its class's key
    and, with persons, the code ``p`` of its person. It is packed when it is read: as a table it would be as large as the source. ``classes``: a table of the keys of the classes, in the order of ``table``; ``pairs``: of the keys and
    persons of the (class, person) pairs, in the order of ``table``, or None. ``words``: the key columns of them all.
    """

    staged: StagedTable
    table: ClassTable
    keys: str
    classes: str
    pairs: str | None
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
    code = [sql.call("coalesce", exp.Add(this=one.code.copy(), expression=sql.integer(1)), sql.integer(0)) for one in coded]
    keyed = [
        sql.aliased(
            packed([(sql.cast(one, "UBIGINT"), at) for one, at in zip(code, fields, strict=True) if at.word == word]), name
        )
        for word, name in enumerate(words)
    ]
    if person is not None:
        keyed.append(sql.aliased(sql.cast(person.code.copy(), "UINTEGER"), "p"))
    keyed.insert(0, sql.aliased(sql.cast(sql.column("rowid", "s"), "UINTEGER"), "r"))
    keys = connection.fresh("keys")
    sides = [one.side for one in (*coded, person) if one is not None and one.side is not None]
    connection.run(sql.create_view(keys, staged_rows(exp.select(*keyed), staged, sides)))
    groups, found = _grouped(connection, keys, words)
    split = [found[word] for word in words]
    codes = np.empty((len(found["n"]), len(columns)), np.int32)
    for place, (one, field) in enumerate(zip(coded, fields, strict=True)):
        codes[:, place] = one.dense(field.of(split))
    weights = None if weight is None else _weights(connection, staged, weight, keys, groups, words, len(codes))
    pairs = pair_rows = pairs_class = pairs_person = pair_weights = None
    if person is not None:
        pairs, both = _grouped(connection, keys, (*words, "p"))
        new = np.zeros(len(both["p"]), np.bool_)
        for word in words:
            new[1:] |= both[word][1:] != both[word][:-1]
        pairs_class, pair_rows = np.cumsum(new, dtype=np.uint32), both["n"].astype(np.int64)
        pairs_person = (person.dense(both["p"].astype(np.uint64) + np.uint64(1)) - 1).astype(np.uint32)
        if weight is not None:
            pair_weights = _pair_weights(connection, staged, weight, keys, (*words, "p"))
    counts = found["n"].astype(np.int64)
    table = ClassTable(tuple(columns), codes, counts, weights, pairs_class, pairs_person, pair_weights=pair_weights)
    return RowClasses(table, keys, pair_rows), RowKeys(staged, table, keys, groups, pairs, words)


def _grouped(connection: Connection, keys: str, by: Sequence[str]) -> tuple[str, dict[str, NDArray[np.uint64]]]:
    """Store the distinct keys in ascending order, with the rows ``n`` of each; return the table's name and its columns."""
    name = connection.fresh("groups")
    columns = [sql.column(one) for one in by]
    rows = exp.select(*columns, sql.aliased(sql.count_all(), "n")).from_(sql.table(keys))
    connection.run(sql.create_table(name, rows.group_by(*columns).order_by(*columns)))
    return name, connection.arrays(exp.select(exp.Star()).from_(sql.table(name)))


def _person(connection: Connection, staged: StagedTable, unit: str, cache: dict[int, Coding]) -> Coding:
    """Code the persons. Raises InputError D211 where a row has none."""
    coding = cached(connection, staged, staged.ordinal(unit), cache)
    name = sql.column(f"c{staged.ordinal(unit)}")
    missing = int(
        connection.row(
            exp.select(sql.count_all(where=exp.Is(this=name, expression=exp.null()))).from_(sql.table(staged.table))
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
        with np.errstate(over="ignore"):  # a sum that is no number of persons is refused by whoever asked for it
            np.add.at(weights, np.asarray(block.column(0)), of_row)
    if unfit:
        message = f"{pluralise(unfit, 'row has', 'rows have')} no positive value in the weight column {weight}"
        raise refusal(
            message, "D212", hint="a sampling weight is the number of persons a row represents: complete or correct it"
        )
    return weights


def _pair_weights(
    connection: Connection, staged: StagedTable, weight: str, keys: str, by: Sequence[str]
) -> NDArray[np.float64]:
    """Return the smallest weight of the rows of each (class, person) pair, in the order of the pairs."""
    cell = sql.cast(sql.column(f"c{staged.ordinal(weight)}", "s"), "DOUBLE")
    named = [sql.column(one, keys) for one in by]
    rows = staged_rows(exp.select(*named, sql.aliased(exp.Min(this=cell), "w")), staged, [keys])
    rows = rows.group_by(*(one.copy() for one in named)).order_by(*(one.copy() for one in named))
    return np.asarray(connection.arrays(rows)["w"], np.float64)
