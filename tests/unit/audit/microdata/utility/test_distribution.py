"""Distances of distributions, hand-worked and against a search over all sets of values."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.audit.microdata.utility.distribution import (
    distribution_shift,
    kolmogorov_distance,
    marginal_error,
    total_variation,
)
from privrelease.audit.microdata.utility.value_counts import ValueCounts
from privrelease.disclosure.classes.equivalence_classes import ClassTable

counts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


def test_total_variation_is_half_of_the_sum_of_differences():
    assert total_variation(np.array([6, 3, 1]), np.array([2, 2, 0])) == Fraction(1, 5)


def test_kolmogorov_distance_is_the_largest_difference_of_the_distribution_functions():
    # F: 0.6, 0.9, 1; G: 0.5, 1, 1
    assert kolmogorov_distance(np.array([6, 3, 1]), np.array([2, 2, 0])) == Fraction(1, 10)


@given(counts)
def test_total_variation_is_the_worst_error_of_the_share_of_any_set_of_values(pairs):
    before, after = (np.array(side) for side in zip(*pairs, strict=True))
    if not before.sum() or not after.sum():
        assert total_variation(before, after) is None
        return
    places = range(len(pairs))
    sets = [list(chosen) for size in range(len(pairs) + 1) for chosen in combinations(places, size)]
    n, m = int(before.sum()), int(after.sum())
    worst = max(abs(Fraction(int(before[s].sum()), n) - Fraction(int(after[s].sum()), m)) for s in sets)
    assert total_variation(before, after) == worst
    assert kolmogorov_distance(before, after) <= worst


def test_large_counts_are_exact():
    n = 3_000_000_000
    assert total_variation(np.array([n, 1]), np.array([n, 2])) == Fraction(n, (n + 1) * (n + 2))


def test_missing_counts_as_a_value_only_where_asked():
    counts = ValueCounts("a", np.array([0, 6, 2]), np.array([4, 3, 1]))
    assert distribution_shift(counts, ordered=False) == 0
    assert distribution_shift(counts, ordered=True, missing=True) == Fraction(1, 2)


def test_a_joint_marginal_sees_what_single_ones_do_not():
    before = ClassTable(("a", "b"), np.array([[1, 1], [2, 2]], np.int32), np.array([4, 4]))
    after = ClassTable(("a", "b"), np.array([[1, 1], [1, 2], [2, 1], [2, 2]], np.int32), np.array([2, 2, 2, 2]))
    assert [marginal_error(before, after, ["a"]), marginal_error(before, after, ["a", "b"])] == [0, Fraction(1, 2)]


def test_counts_over_other_values_are_refused():
    with pytest.raises(ValueError, match="same values"):
        total_variation(np.array([1]), np.array([1, 2]))
