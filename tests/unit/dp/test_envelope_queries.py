"""Scores of dependence: no neighbour moves one further than is proven; counts by groups: what they cost and who gets them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope, Marginal, Score
from privrelease.dp.envelope_queries import Dependence, Grouped
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours, of_group_counts
from privrelease.units import Delta, Epsilon

PAIR = Marginal("a x b", (2, 3))


def exact_score(table):
    """n R by its definition, as a fraction."""
    n = int(table.sum())
    if n == 0:
        return Fraction(0)
    expected = [[Fraction(int(r) * int(c), n) for c in table.sum(axis=0)] for r in table.sum(axis=1)]
    return sum(abs(int(table[at]) - expected[at[0]][at[1]]) for at in np.ndindex(table.shape)) / 2


def tables(shape, most):
    for cells in product(range(most + 1), repeat=shape[0] * shape[1]):
        yield np.array(cells).reshape(shape)


def added(table):
    """The table with one row more, in every cell in turn."""
    for at in np.ndindex(table.shape):
        more = table.copy()
        more[at] += 1
        yield more


def test_no_row_moves_the_score_by_two():
    """Every 2 x 2 table of up to 5 in a cell and 2 x 3 table of up to 2, and every row added to it."""
    largest = Fraction(0)
    for table in (*tables((2, 2), 5), *tables((2, 3), 2)):
        before = exact_score(table)
        largest = max(largest, *(abs(exact_score(more) - before) for more in added(table)))
    assert largest < 2


def test_the_bound_is_not_a_loose_one():
    """One row away from n = 5,000 in one cell: 2 n/(n + 1)."""
    alone, joined = np.array([[5000, 0], [0, 0]]), np.array([[5000, 0], [0, 1]])
    assert exact_score(joined) - exact_score(alone) == Fraction(2 * 5000, 5001)


@pytest.mark.parametrize("grid", [1, 16])
def test_scores_on_a_grid_move_by_at_most_what_is_charged(grid):
    """Add or remove, replace, and persons of two rows: the reach times the L1 distance of counts, in steps of the grid."""
    score, pair = Dependence(0), Marginal("a x b", (2, 2))
    for table in tables((2, 2), 3):
        before = score.steps(pair, table.reshape(-1), grid)
        assert before == grid * exact_score(table) // 1
        for more in added(table):
            once = score.steps(pair, more.reshape(-1), grid)
            assert abs(once - before) <= score.reach * grid
            for twice in added(more):
                assert abs(score.steps(pair, twice.reshape(-1), grid) - before) <= 2 * score.reach * grid
            for at in np.argwhere(more > 0):
                other = more.copy()
                other[tuple(at)] -= 1
                assert abs(score.steps(pair, other.reshape(-1), grid) - before) <= 2 * score.reach * grid


def test_replacing_a_row_moves_the_score_by_more_than_adding_one():
    """So that the sensitivity for add or remove does not do under replace (fault 9 of other systems)."""
    table = np.array([[2, 25, 77], [290, 245, 1108], [1, 20, 0]])
    before, largest = exact_score(table), Fraction(0)
    for more in added(table):
        for at in np.argwhere(table > 0):
            other = more.copy()
            other[tuple(at)] -= 1
            largest = max(largest, abs(exact_score(other) - before))
    assert Fraction(5, 2) < largest < 4


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_axis_is_set_against_all_others(axis):
    counts = np.random.default_rng(1).integers(0, 9, (2, 3, 4))
    found = Dependence(axis).steps(Marginal("a x b x c", (2, 3, 4)), counts.reshape(-1), 100)
    assert found == 100 * exact_score(np.moveaxis(counts, axis, 0).reshape(counts.shape[axis], -1)) // 1


def test_independent_columns_score_nothing_and_an_empty_table_neither():
    assert Dependence(0).steps(PAIR, np.array([2, 4, 6, 1, 2, 3]), 1000) == 0
    assert Dependence(0).steps(PAIR, np.zeros(6, np.int64), 1000) == 0


# ----------------------------------------------------------------------------------------------------------------- the envelope


class Exact:
    def __init__(self, cells):
        self._cells = np.array(cells, np.int64)

    def rows(self, query):
        assert query.name == PAIR.name
        return self._cells


def opened(cells=(9, 0, 0, 0, 9, 9), neighbours=Neighbours.ADD_REMOVE, max_rows=1, delta="0"):
    held = Reserved.of(Budget(Epsilon(4), Delta(delta)))
    return Envelope(held, Setting(Contribution(max_rows), neighbours), Exact(cells), lambda _: None, TestRandomness(3))


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("max_rows", [1, 3])
def test_a_choice_by_dependence_is_charged_at_twice_the_distance_of_counts(neighbours, max_rows):
    envelope = opened(neighbours=neighbours, max_rows=max_rows)
    envelope.select([PAIR, PAIR], [Dependence(0), Dependence(1)], Epsilon(1), grid=16)
    (draw,) = envelope.close()
    assert draw.sensitivity.l1 == 2 * 16 * of_group_counts(Contribution(max_rows), neighbours).l1
    assert draw.grid == Fraction(1, 16)


def test_scores_of_both_kinds_are_charged_at_the_larger():
    envelope = opened()
    envelope.select([PAIR, PAIR], [Dependence(0), Score(np.zeros(6, int), weight=5)], Epsilon(1))
    assert envelope.close()[0].sensitivity.l1 == 5


def test_an_axis_that_is_not_there_is_refused_before_anything_is_drawn():
    envelope = opened()
    with pytest.raises(ValueError, match="names an axis"):
        envelope.select([PAIR], [Dependence(2)], Epsilon(1))
    with pytest.raises(ValueError, match="grid of scores"):
        envelope.select([PAIR], [Dependence(0)], Epsilon(1), grid=0)
    assert envelope.close() == ()


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_counts_by_groups_are_noised_once_a_group(delta):
    envelope = opened((100, 200, 300, 400, 500, 600), delta=delta)
    found = envelope.measure(Grouped(PAIR, np.array([0, 0, 1, 1, 1, 0]), 2), envelope.part(Fraction(1)))
    assert found.shape == (2,)
    assert np.abs(found - [900, 1200]).max() < 60
    (draw,) = envelope.close()
    assert (draw.query, draw.size) == ("a x b in 2 groups", 2)
    assert draw.sensitivity == of_group_counts(Contribution(1), Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("groups", [[0, 0, 1], [0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, -1]])
def test_every_cell_is_in_one_group(groups):
    with pytest.raises(ValueError, match="one group"):
        Grouped(PAIR, np.array(groups), 2)
