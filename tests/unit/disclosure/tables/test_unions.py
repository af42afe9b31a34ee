"""Unions of suppressed cells that follow from totals, against every subset of cells; and contributors of several cells at once."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from privrelease.audit.tables.table_recount import cells_of
from privrelease.disclosure.tables import unions
from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.holders import Holders, with_totals
from privrelease.disclosure.tables.linked import linked
from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable
from privrelease.disclosure.tables.rules import CellRules, group_is_safe
from privrelease.disclosure.tables.secondary import suppressed_cells
from privrelease.disclosure.tables.unions import unsafe_unions, unsafe_unions_of_contributors
from privrelease.relational.tables import Contributions

KEYS = ("0", "1", "2")
TWO = PrintedTable(("a", "b"), (KEYS, KEYS), sums=(PrintedSum("x"),))


def made(records, rules, table=TWO, most=3):
    """A table of records (person, inner cell, value; None where it is missing)."""
    persons, cells = (np.array([one[i] for one in records], np.int64) for i in range(2))
    values = np.array([one[2] or 0 for one in records], np.int64)
    known = np.array([one[2] is not None for one in records], np.int64)
    columns = {"a": cells // 3, "b": cells % 3} if len(table.by) == 2 else {"a": cells}

    def fetch(asked):
        places = np.zeros_like(cells)
        for name, size in zip(asked.by, asked.inner, strict=False):
            places = places * size + columns[name]
        places *= 2 ** len(asked.members)  # every row is a member
        added, there = values[None][: len(asked.sums)], known[None][: len(asked.sums)]
        return cells_of(Contributions(places, persons, np.ones_like(cells), added, there, 0), asked)

    return linked((table,), rules, "id", most, fetch).table


def whole(records, cells):
    """What each person has in inner cells, largest first."""
    found = {}
    for person, cell, value in records:
        if cell in cells:
            found[person] = found.get(person, 0) + value
    return sorted(found.values(), reverse=True)


def inner(place):
    """The number in the box with totals of an inner cell."""
    return place // 3 * 4 + place % 3


def test_contributions_to_several_cells_are_added_up_by_person():
    dice = np.random.default_rng(3)
    for _ in range(50):
        records = [(int(dice.integers(6)), int(dice.integers(9)), int(dice.integers(50))) for _ in range(14)]
        table = made(records, CellRules(3, dominance=(2, Fraction(9, 10))))
        for size in (1, 2, 3, 5):
            places = sorted(dice.choice(9, size, replace=False).tolist())
            parts = whole(records, places)
            value, largest = table.added(0, [inner(place) for place in places])
            assert table.together(0, [inner(place) for place in places]) == len(parts)
            assert value == sum(parts)
            assert [one for one in largest[:2] if one] == [one for one in parts[:2] if one]


def test_a_union_that_breaks_a_rule_is_found_wherever_there_is_one():
    dice = np.random.default_rng(7)
    seen = set()
    for turn in range(60):
        rules = (
            CellRules(3, dominance=(1, Fraction(8, 10))),
            CellRules(3, dominance=(2, Fraction(9, 10))),
            CellRules(3, p_percent=Fraction(1, 5)),
            CellRules(4),
        )[turn % 4]
        records = [
            (int(dice.integers(25)), int(dice.integers(9)), int(dice.integers(1, 100 if dice.random() < 0.2 else 6)))
            for _ in range(40)
        ]
        table = made(records, rules)
        hidden = [cell for cell in range(9) if dice.random() < 0.75 and table.contributors[inner(cell)]]
        unknown = np.zeros(16, bool)
        unknown[[inner(cell) for cell in hidden]] = True
        unknown[[3, 7, 12]] = dice.random(3) < 0.5
        broken = {
            cells
            for cells in known_cells(table, hidden, unknown)
            if not group_is_safe(rules, len(whole(records, cells)), [(sum(whole(records, cells)), whole(records, cells))])
        }
        found = found_in(table, 0, hidden, unknown)
        assert bool(found & broken) == bool(broken)
        seen.add((turn % 4, bool(broken)))
    assert len(seen) == 8


def known_cells(table, hidden, unknown):
    """Every set of hidden inner cells whose sum is a combination of the totals' equations."""
    rows = []
    for relation in table.layout.relations:
        row = np.zeros(16)
        row[list(relation.parts)], row[relation.total] = 1, -1
        rows.append(row * unknown)
    basis = np.linalg.svd(np.array(rows))
    across = basis[2][: np.count_nonzero(basis[1] > 1e-9)]
    for size in range(1, len(hidden) + 1):
        for cells in combinations(hidden, size):
            vector = np.zeros(16)
            vector[[inner(cell) for cell in cells]] = 1
            if np.abs(vector - across.T @ (across @ vector)).max() < 1e-7:
                yield cells


def found_in(table, figure, hidden, unknown):
    """The unions that the product finds, as inner cells."""
    places = {inner(cell): cell for cell in hidden}
    found = unsafe_unions(table, figure, sorted(places), ~unknown)
    return {tuple(sorted(places[place] for place in one)) for one in found}


@pytest.mark.parametrize("most", [1, 9])
def test_a_union_of_too_few_persons_is_found_whoever_is_in_several_cells_or_without_a_value(most):
    """Many cells hidden, of few persons, the same three in many of them; in some no one has a value. Each person counts once."""
    dice = np.random.default_rng(11)
    seen = []
    for _ in range(80):
        records = []
        for cell in range(9):
            valued = dice.random() < 0.75
            for place in range(int(dice.integers(1, 5))):
                person = place if most > 1 and place < 3 and dice.random() < 0.5 else 100 + len(records)
                records.append((person, cell, int(dice.integers(1, 9)) if valued else None))
        table = made(records, CellRules(5), most=most)
        hidden = [cell for cell in range(9) if dice.random() < 0.8]
        unknown = np.zeros(16, bool)
        unknown[[inner(cell) for cell in hidden]] = True
        unknown[[3, 7, 11, 12, 13, 14]] = dice.random(6) < 0.3
        known = list(known_cells(table, hidden, unknown))
        for figure in (-1, 0):
            mine = [one for one in records if figure < 0 or one[2] is not None]
            broken = {cells for cells in known if 0 < len({one[0] for one in mine if one[1] in cells}) < 5}
            assert bool(found_in(table, figure, hidden, unknown) & broken) == bool(broken)
            seen.append(bool(broken))
    assert min(seen.count(True), seen.count(False)) > 20


def test_a_union_for_who_knows_a_cell_is_found_wherever_there_is_one():
    """Without the known cell, and where everybody knows no union of too few."""
    dice = np.random.default_rng(5)
    seen = []
    for _ in range(120):
        many = dice.integers(1, 6, 9).tolist()
        many[int(dice.integers(9))] = 1
        table = made([(10 * cell + i, cell, 2) for cell in range(9) for i in range(many[cell])], CellRules(5), most=1)
        hidden = [cell for cell in range(9) if dice.random() < 0.8]
        unknown = np.zeros(16, bool)
        unknown[[inner(cell) for cell in hidden]] = True
        unknown[[3, 7, 11, 12, 13, 14]] = dice.random(6) < 0.3
        if any(sum(many[cell] for cell in cells) < 5 for cells in known_cells(table, hidden, unknown)):
            continue
        places = {inner(cell): cell for cell in hidden}
        for mine in (cell for cell in hidden if many[cell] == 1):
            less = unknown.copy()
            less[inner(mine)] = False
            known = known_cells(table, [cell for cell in hidden if cell != mine], less)
            broken = {cells for cells in known if sum(many[cell] for cell in cells) < 5}
            asked = unsafe_unions_of_contributors(table, 0, sorted(places), ~unknown, [(inner(mine),)])
            found = {tuple(sorted(places[place] for place in one)) for one, held in asked if held == (inner(mine),)}
            assert bool(found & broken) == bool(broken)
            seen.append(bool(broken))
    assert min(seen.count(True), seen.count(False)) > 10


#: Three by three with totals: column 0 + column 2 - row 0 - the printed cells = cells 3 + 6 + 8, which are in three rows and columns.
CROSSED = (0, 2, 3, 4, 6, 7, 8)
#: By case: contributors by inner cell, the cells without a value, whether those of 3, 6 and 8 are the same, and the figure that tells.
CASES = {
    "no value": ((4, 9, 3, 2, 3, 9, 4, 3, 2), (6,), False, 0),  # 2 + 0 + 2 have one; cells 2 + 8 of 3 + 2 are safe
    "same persons": ((3, 9, 3, 2, 3, 9, 4, 3, 4), (), True, -1),  # 10 rows of 4; cells 0 + 2 have 6 rows of 6
}


@pytest.mark.parametrize("limit", [120, 0])  # 0: only pairs and threes of cells are looked at
@pytest.mark.parametrize("case", CASES)
def test_a_union_of_four_persons_behind_a_safe_one_of_fewer_rows_is_a_weakness_that_is_repaired(case, limit, monkeypatch):
    monkeypatch.setattr(unions, "MOST_CELLS", limit)
    many, without, same, figure = CASES[case]
    records = [
        (place if same and cell in {3, 6, 8} else 10 * (cell + 1) + place, cell, None if cell in without else 2)
        for cell in range(9)
        for place in range(many[cell])
    ]
    table = made(records, CellRules(5), most=3 if same else 1)
    pattern = np.zeros(16, bool)
    pattern[[*map(inner, CROSSED), 7, 11]] = True
    union = tuple(map(inner, (3, 6, 8)))
    assert union in {weak.cells for weak in weaknesses(table, pattern) if (weak.kind, weak.figure) == ("group", figure)}
    repaired = suppressed_cells(table, hidden=pattern)
    assert repaired[pattern].all()
    assert not list(weaknesses(table, repaired))
    if same:  # one more person in them: safe
        more = made([*records, (5, 3, 2)], CellRules(5), most=3)
        assert union not in {weak.cells for weak in weaknesses(more, pattern) if weak.figure == -1}


def test_who_is_alone_in_two_cells_knows_both():
    """One row, five cells under a printed total: H fills two of them; the other three have five firms without H, of which one has most."""
    five = PrintedTable(("a",), (("0", "1", "2", "3", "4"),), counted=False, sums=(PrintedSum("x"),))
    rules = CellRules(3, dominance=(1, Fraction(8, 10)))
    rest = [(i, cell, value) for i, (cell, value) in enumerate([(2, 900), (2, 20), (3, 30), (3, 20), (4, 10), (4, 9)])]
    records = [(90, 0, 500), (90, 1, 400), *rest]
    table = made(records, rules, five)
    pattern = np.array([True] * 5 + [False])
    found = [weak for weak in weaknesses(table, pattern) if weak.kind == "group"]
    assert [(weak.cells, weak.held, round(weak.low)) for weak in found] == [((2, 3, 4), (0, 1), 989)]
    apart = made([(91, 0, 500), (90, 1, 400), *rest], rules, five)
    assert not [weak for weak in weaknesses(apart, pattern) if weak.kind == "group"]


def test_holders_have_one_entry_by_cell_and_person_totals_too():
    from privrelease.relational.tables import TableQuery

    query = TableQuery(("a",), (("0", "1"),), ("x",), "id")
    found = Contributions(np.array([0, 1]), np.array([4, 4]), np.array([1, 2]), np.array([[5, 7]]), np.array([[1, 2]]), 0)
    entries = with_totals(found, query)
    assert entries.cells.tolist() == [0, 1, 2]
    assert entries.sums.tolist() == [[5, 7, 12]]
    assert Holders(entries, 3).largest([0, 1], 0, np.array([[9, 5], [8, 7], [17, 12]])) == [12, 9]


def whole_outer(matrix, order):
    """The reduced echelon form by exact fractions, every other row changed at each pivot."""
    rows = [[Fraction(int(cell)) for cell in row] for row in matrix]
    done = 0
    for column in order:
        at = next((row for row in range(done, len(rows)) if rows[row][column]), None)
        if at is None:
            continue
        rows[done], rows[at] = rows[at], rows[done]
        rows[done] = [cell / rows[done][column] for cell in rows[done]]
        for row in range(len(rows)):
            if row != done:
                rows[row] = [cell - rows[row][column] * top for cell, top in zip(rows[row], rows[done], strict=True)]
        done += 1
    return np.array([[float(cell) for cell in row] for row in rows[:done]]).reshape(done, len(matrix[0]))


def test_the_reduced_form_is_that_of_exact_fractions(monkeypatch):
    """The form is unique for an order of columns. A row that keeps the column of a pivot is found out."""

    def differ():
        random = np.random.default_rng(3)
        for _ in range(60):
            height, width = random.integers(1, 9, 2).tolist()
            matrix = random.choice([-1.0, 0.0, 0.0, 0.0, 1.0], (height, width))
            order = random.permutation(width).tolist()
            found = unions._reduced(matrix, order)
            wanted = whole_outer(matrix, order)
            if found.shape != wanted.shape or not np.allclose(found, wanted):
                return True
        return False

    assert not differ()
    cleared = unions._cleared

    def but_the_first(rows, row, column):
        kept = rows[0].copy()
        cleared(rows, row, column)
        if row:
            rows[0] = kept

    monkeypatch.setattr(unions, "_cleared", but_the_first)
    assert differ()
