"""Shifts of means and quantiles and IL1s: hand-worked, and against counting every cell."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt
from statistics import mean as mean_of
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.audit.microdata.utility.number_shifts import il1s, mean_il1s
from privrelease.audit.microdata.utility.shift import QUANTILES, Numbers, deviation, mean, mean_shift, quantile, quantile_shifts

cells = st.lists(st.integers(-5, 5), min_size=2, max_size=12)


def by_value(numbers) -> Numbers:
    values, counts = np.unique(np.array(numbers, float), return_counts=True)
    return Numbers(values, counts)


def test_losing_the_largest_of_four_moves_the_mean_down():
    # 0, 2, 4, 6: mean 3, variance 20 / 3; without 6: mean 2
    before, after = by_value([0, 2, 4, 6]), by_value([0, 2, 4])
    assert mean_shift(before, after) == pytest.approx(-1 / sqrt(20 / 3), abs=1e-12)


def test_quantiles_are_values_of_the_column():
    numbers = by_value([1, 1, 2, 9])
    assert [quantile(numbers, Fraction(p)) for p in ("0", "1/2", "51/100", "3/4", "76/100", "1")] == [1, 1, 2, 2, 9, 9]


def test_shifts_of_quantiles_are_in_standard_deviations_of_the_source():
    before, after = by_value([0, 2, 4, 6]), by_value([4, 6])
    unit = sqrt(20 / 3)
    # quantiles at 5, 25, 50, 75, 95 %: 0, 0, 2, 4, 6 before; 4, 4, 4, 6, 6 after
    assert quantile_shifts(before, after) == pytest.approx([4 / unit, 4 / unit, 2 / unit, 2 / unit, 0], abs=1e-12)


@pytest.mark.parametrize("cells", [[], [3], [3, 3, 3]])
def test_without_a_spread_in_the_source_there_is_no_unit(cells):
    assert deviation(by_value(cells)) is None
    assert mean_shift(by_value(cells), by_value([1, 2])) is None
    assert quantile_shifts(by_value(cells), by_value([1, 2])) == (None,) * len(QUANTILES)


def test_a_column_without_a_released_cell_has_no_shift():
    assert mean_shift(by_value([1, 2]), by_value([])) is None
    assert quantile_shifts(by_value([1, 2]), by_value([])) == (None,) * len(QUANTILES)


@given(cells, cells)
def test_counts_by_value_give_what_every_cell_gives(first, second):
    before, after = by_value(first), by_value(second)
    assert mean(before) == pytest.approx(mean_of(first), abs=1e-9)
    for p in QUANTILES:
        assert quantile(before, p) == sorted(first)[max(1, ceil(p * len(first))) - 1]
    if len(set(first)) > 1:
        assert deviation(before) == pytest.approx(stdev(first), abs=1e-9)
        assert mean_shift(before, after) == pytest.approx((mean_of(second) - mean_of(first)) / stdev(first), abs=1e-9)


def test_il1s_divides_by_the_root_of_two_and_the_spread_of_the_source():
    # x = 1, 2, 3 with standard deviation 1; x' = 1, 4, 2: |x - x'| = 0, 2, 1
    pairs = by_value([2, 1])
    assert il1s(pairs, 1.0) == pytest.approx(3 / sqrt(2), abs=1e-12)
    assert mean_il1s([(il1s(pairs, 1.0), 3), (0.0, 3)]) == pytest.approx(3 / sqrt(2) / 6, abs=1e-12)
    assert mean_il1s([]) is None
