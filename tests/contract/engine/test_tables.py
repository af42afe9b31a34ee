"""Cells of tables: every total by every engine as counting by hand gives it, and as the auditor adds it up."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from privrelease.audit.tables.table_recount import cells_of
from privrelease.relational.schema import Column, ColumnType, Domain, Role
from privrelease.relational.tables import TableQuery

COLUMNS = [
    Column("id", ColumnType.STRING, Role.DIRECT),
    Column("sex", ColumnType.CATEGORY, Role.QUASI),
    Column("ward", ColumnType.INTEGER, Role.QUASI),
    Column("cost", ColumnType.NUMBER, Role.SENSITIVE, Domain(low="0", high="100"), Decimal("0.1")),
    Column("days", ColumnType.INTEGER, Role.SENSITIVE),
]


def rows(seed, number):
    dice = random.Random(seed)
    return [
        (
            f"p{dice.randrange(9)}",
            dice.choice(["F", "M", "X", ""]),
            dice.choice(["1", "2", "3", ""]),
            dice.randrange(999),
            dice.choice(["", "4", "7"]),
        )
        for _ in range(number)
    ]


def by_hand(table, query):
    """rows, persons, sums, largest of every cell."""
    found = []
    sides = [(*keys, None) if query.margins else keys for keys in query.keys]
    inside = [row for row in table if all(row[1 + i] in keys for i, keys in enumerate(query.keys))]
    for place in product(*sides):
        mine = [row for row in inside if all(key in {None, row[1 + i]} for i, key in enumerate(place))]
        persons = {row[0] if query.unit else number: [] for number, row in enumerate(mine)}
        for number, row in enumerate(mine):
            persons[row[0] if query.unit else number].append((row[3], int(row[4] or 0)))
        each = [[sum(one[i] for one in own) for own in persons.values()] for i in range(2)]
        largest = [(sorted(values, reverse=True) + [0] * query.largest)[: query.largest] for values in each]
        found.append((len(mine), len(persons), [sum(values) for values in each], largest))
    return found


@pytest.mark.parametrize("unit", [None, "id"])
@pytest.mark.parametrize("margins", [True, False])
@pytest.mark.parametrize("largest", [0, 2])
@pytest.mark.parametrize("number", [0, 40])
def test_cells_are_those_of_counting_by_hand(bench, unit, margins, largest, number) -> None:
    table = rows(number + largest, number)
    text = "id,sex,ward,cost,days\n" + "".join(f"{a},{b},{c},{d // 10}.{d % 10},{e}\n" for a, b, c, d, e in table)
    staged = bench.engine.stage(bench.csv(text, COLUMNS))
    query = TableQuery(("sex", "ward"), (("M", "F"), ("1", "2", "9")), ("cost", "days"), unit, margins, largest)
    made = bench.engine.table_cells(staged, query)
    audited = cells_of(bench.engine.contributions(staged, query), query)
    expected = by_hand(table, query)
    for cells in (made, audited):
        assert cells.rows.tolist() == [one[0] for one in expected]
        assert cells.persons.tolist() == [one[1] for one in expected]
        assert cells.sums.T.tolist() == [one[2] for one in expected]
        assert np.swapaxes(cells.largest, 0, 1).tolist() == [one[3] for one in expected]
        assert cells.left_out == number - sum(row[1] in "MF" and row[1] != "" and row[2] in {"1", "2"} for row in table)


@pytest.mark.parametrize("margins", [True, False])
def test_what_persons_with_several_rows_have_is_that_of_counting_by_hand(bench, margins) -> None:
    table = rows(7, 40)
    text = "id,sex,ward,cost,days\n" + "".join(f"{a},{b},{c},{d // 10}.{d % 10},{e}\n" for a, b, c, d, e in table)
    staged = bench.engine.stage(bench.csv(text, COLUMNS))
    query = TableQuery(("sex", "ward"), (("M", "F"), ("1", "2", "9")), ("cost", "days"), "id", margins, 2, several=True)
    inside = [row for row in table if row[1] in query.keys[0] and row[2] in query.keys[1]]
    expected = sorted(
        (
            cell,
            len(mine),
            sum(row[3] for row in mine),
            sum(int(row[4] or 0) for row in mine),
        )
        for person in {row[0] for row in inside}
        if sum(row[0] == person for row in inside) > 1
        for cell, keys in enumerate(product(*query.keys))
        if (mine := [row for row in inside if (row[0], *row[1:3]) == (person, *keys)])
    )
    assert expected
    for cells in (bench.engine.table_cells(staged, query), cells_of(bench.engine.contributions(staged, query), query)):
        found = cells.several
        assert sorted(zip(found.cells.tolist(), found.rows.tolist(), *found.sums.tolist(), strict=True)) == expected
        assert len(set(zip(found.cells.tolist(), found.persons.tolist(), strict=True))) == len(expected)
