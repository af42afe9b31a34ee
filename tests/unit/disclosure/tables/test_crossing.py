"""Small groups of suppressed cells of different rows and columns, against every table that fits what is printed."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from privrelease.disclosure.tables import attack_assessment
from privrelease.disclosure.tables.attack_assessment import Attack, weaknesses
from privrelease.disclosure.tables.figures import ProtectedTable
from privrelease.disclosure.tables.implied_sums import projection
from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.rules import CellRules
from privrelease.disclosure.tables.secondary import suppressed_cells

MIN_COUNT = 4


def box(inner):
    for side in range(2):
        inner = np.concatenate([inner, inner.sum(axis=side, keepdims=True)], axis=side)
    return inner.reshape(-1)


def made(inner, min_count=MIN_COUNT):
    values = box(np.array(inner))
    return ProtectedTable(Layout((len(inner), len(inner[0])), margins=True), CellRules(min_count), values, values)


def every_fit(table, suppressed, most):
    """Every table of whole numbers, each inner cell up to ``most`` above its value, that fits what is printed and the rules."""
    rows, columns = table.layout.keys
    true = table.rows
    few = true < MIN_COUNT
    low = np.where(suppressed, np.where(few, 1, MIN_COUNT), true)
    high = np.where(suppressed, np.where(few, MIN_COUNT - 1, 10**6), true)
    inner = np.flatnonzero(table.layout.inner())
    choices = [range(low[cell], min(high[cell], true[cell] + most) + 1) for cell in inner]
    tables = np.array([box(np.array(one).reshape(rows, columns)) for one in product(*choices)])
    return tables[((tables >= low) & (tables <= high)).all(axis=1)]


#: One in the second row and two in the third, of whom the totals of other rows and columns tell that they are three.
SPARSE = [[0, 24, 0], [0, 1, 0], [2, 0, 18]]


def test_two_cells_of_different_rows_and_columns_that_several_totals_add_up_are_found() -> None:
    table = made(SPARSE)
    hidden = np.zeros(16, np.bool_)
    hidden[[5, 7, 8, 11, 12, 13]] = True
    fits = every_fit(table, hidden, 3)
    assert set(fits[:, 5]) == {1, 2}
    assert set(fits[:, 5] + fits[:, 8]) == {3}
    found = {(weak.kind, weak.cells, weak.low, weak.high) for weak in weaknesses(table, hidden)}
    assert ("group", (5, 8), 3, 3) in found
    assert {kind for kind, *_ in found} == {"group"}


def test_a_cell_and_a_total_that_it_is_part_of_are_no_group() -> None:
    """Their sum counts somebody twice, and is no number of persons."""
    table = made(SPARSE)
    hidden = np.zeros(16, np.bool_)
    hidden[[5, 7, 8, 11, 12, 13]] = True
    assert not [weak for weak in weaknesses(table, hidden) if weak.cells in {(5, 7), (5, 13), (8, 11), (8, 12)}]


def test_where_the_minimum_is_met_together_they_may_be_known() -> None:
    table = made(SPARSE, 3)
    hidden = np.zeros(16, np.bool_)
    hidden[[5, 7, 8, 11, 12, 13]] = True
    assert not [weak for weak in weaknesses(table, hidden) if weak.cells == (5, 8)]


@pytest.mark.parametrize("seed", range(25))
def test_a_pattern_that_holds_gives_no_small_group_of_two_or_three_cells(seed) -> None:
    dice = np.random.default_rng(seed)
    inner = np.where(dice.random((3, 3)) < 0.4, 0, dice.integers(1, 9, (3, 3)))
    table = made(inner.tolist())
    suppressed = suppressed_cells(table)
    if list(weaknesses(table, suppressed)) or suppressed[table.layout.inner()].sum() > 6:
        return
    fits = every_fit(table, suppressed, 4)
    assert len(fits)
    places = {cell: set(product(*_inside(cell))) for cell in np.flatnonzero(suppressed).tolist()}
    for size in (2, 3):
        for group in combinations(places, size):
            if any(places[one] & places[other] for one, other in combinations(group, 2)):
                continue
            if table.rows[list(group)].sum() < MIN_COUNT:
                assert len(np.unique(fits[:, list(group)].sum(axis=1))) > 1


def _inside(cell):
    """Rows and columns of a cell of three by three with totals."""
    return [range(3) if place == 3 else (place,) for place in divmod(cell, 4)]


def test_a_projection_is_computed_once_and_is_that_of_the_cells_that_are_asked(monkeypatch) -> None:
    table = made(SPARSE)
    hidden = np.zeros(16, np.bool_)
    hidden[[5, 7, 8, 11, 12, 13]] = True
    attack = Attack(table, hidden)
    asked = []

    def counted(relations, unknown, cells):
        asked.append(cells)
        return projection(relations, unknown, cells)

    monkeypatch.setattr(attack_assessment, "projection", counted)
    for cells in ([5, 8], [5, 8], [8, 12], [5, 8]):
        expected = projection(table.layout.relations, attack.polytope.unknown[:16], cells)
        assert expected is not None
        assert np.array_equal(attack.implied(-1, cells), expected)
    assert asked == [[5, 8], [8, 12], [5, 8]]
