"""The MODL criterion: costs worked by hand and counted cell by cell in floats; what depends on it."""

from __future__ import annotations

from math import comb, factorial, lgamma, log

import numpy as np
import pytest

from privrelease.synthesis.modl.frequencies import UNIT, Axis, Frequencies, log_factorials, log_partitions
from privrelease.synthesis.modl.grids import Grid, cost, null_cost
from tests.unit.synthesis import exhaustive_grids

TWO = np.array([[2, 0, 1], [0, 2, 0]])


def test_a_cost_worked_by_hand():
    """N = 5; rows in order (no prior but ln N), columns {0, 2} and {1}: n_g 3 and 2, m_g 2 and 1; cells 3, 0, 0, 2."""
    frequencies = Frequencies.of(TWO, ordered=(True, False))
    grid = Grid.of([np.array([0, 1]), np.array([0, 1, 0])])
    columns = log(3) + log(1 + 3) + log(comb(3 + 1, 1)) + log(comb(2, 0))  # B(3, 2) = 1 + 3
    cells = log(comb(5 + 3, 3)) + log(factorial(5)) - log(factorial(3) * factorial(2))
    parts = 2 * log(factorial(3) * factorial(2)) - log(factorial(2) * factorial(2) * factorial(1))
    assert cost(frequencies, grid) / UNIT == pytest.approx(log(5) + columns + cells + parts, abs=1e-4)


@pytest.mark.parametrize("ordered", [(True, False, False), (False, False, True), (True, True, True)])
def test_costs_are_those_counted_cell_by_cell(ordered):
    rng = np.random.default_rng(3)
    for _ in range(30):
        array = rng.poisson(3, rng.integers(1, 5, 3))
        divided = [
            one[int(rng.integers(len(one)))]
            for one in (exhaustive_grids.divisions(size, by) for size, by in zip(array.shape, ordered, strict=True))
        ]
        found = cost(Frequencies.of(array, ordered), Grid.of([np.array(one) for one in divided]))
        if array.sum():
            assert found / UNIT == pytest.approx(exhaustive_grids.cost(array, divided, ordered), abs=1e-4)


def test_the_null_model_of_numbers_knows_ranks_only():
    """Values of an ordered axis have no factorials of their own, so that other bins of it cost the same."""
    rng = np.random.default_rng(4)
    array = rng.poisson(4, (12, 3))
    coarse = array.reshape(4, 3, 3).sum(axis=1)
    assert null_cost(Frequencies.of(array, (True, False))) == null_cost(Frequencies.of(coarse, (True, False)))


def test_logarithms_of_factorials_are_rounded_once():
    table = log_factorials(20_000)
    exact = np.array([lgamma(n + 1) for n in range(20_001)])
    assert np.abs(table / UNIT - exact).max() < 0.75 / UNIT


def test_ways_to_divide_are_sums_of_stirling_numbers():
    for values in (1, 2, 7, 40):
        exact, found = 0, log_partitions(values, values)
        for many in range(1, values + 1):
            exact += exhaustive_grids.stirling(values, many) if values < 20 else 0
            if values < 20:
                assert found[many] / UNIT == pytest.approx(log(exact), abs=2 / UNIT)
        assert list(found) == sorted(found)


def test_parts_are_numbered_by_their_first_value():
    one, two = Grid.of([np.array([4, 4, 1])]), Grid.of([np.array([0, 0, 9])])
    assert one.same(two)
    assert one.sizes == (2,)


def test_cells_of_no_records_are_not_kept():
    frequencies = Frequencies(np.array([[0, 0], [1, 1]]), np.array([0, 3]), [Axis(2, ordered=True), Axis(2, ordered=False)])
    assert frequencies.cells.tolist() == [[1, 1]]
    assert [one.tolist() for one in frequencies.values] == [[0, 3], [0, 3]]


def test_frequencies_are_never_negative():
    with pytest.raises(ValueError, match="below 0"):
        Frequencies.of(np.array([[1, -1]]), (True, True))


def test_an_array_has_an_axis():
    with pytest.raises(ValueError, match="at least one axis"):
        Frequencies(np.zeros((0, 0), np.int64), np.zeros(0, np.int64), [])


def test_the_seed_follows_from_content_order_and_size_alone():
    array = np.array([[1, 0], [2, 3]])
    seed = Frequencies.of(array, (True, False)).seed()
    shuffled = Frequencies(np.array([[1, 1], [1, 0], [0, 0]]), np.array([3, 2, 1]), [Axis(2, True), Axis(2, False)])
    assert shuffled.seed() == seed
    assert Frequencies.of(array, (True, True)).seed() != seed
    assert Frequencies.of(array + np.array([[1, 0], [0, 0]]), (True, False)).seed() != seed
    assert Frequencies.of(np.pad(array, ((0, 1), (0, 0))), (True, False)).seed() != seed
