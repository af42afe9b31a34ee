"""Projections to the simplex: those of a search by bisection, whole numbers in exact arithmetic, groups one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.synthesis.projections import simplex_by_group, whole_simplex


def bisected(noisy, total):
    """max(x - t, 0) with the t that makes it add up to the total, found by halving."""
    low, high = min(noisy) - total - 1, max(noisy)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(max(x - middle, 0) for x in noisy) > total else (low, middle)
    return [max(x - low, 0) for x in noisy]


def test_whole_numbers_are_the_projection_rounded():
    rng = np.random.default_rng(1)
    for _ in range(200):
        noisy = rng.integers(-20, 30, rng.integers(1, 12))
        total = int(rng.integers(1, 60))
        found = whole_simplex(noisy, total, np.ones(noisy.size, bool))
        for one, exact in zip(found.tolist(), bisected([Fraction(int(x)) for x in noisy], total), strict=True):
            assert abs(one - exact) <= Fraction(1, 2) + Fraction(1, 10**9)


def test_what_is_impossible_gets_nothing():
    assert whole_simplex(np.array([50, 2, 2]), 4, np.array([False, True, True])).tolist() == [0, 2, 2]
    assert whole_simplex(np.array([5, 5]), 4, np.zeros(2, bool)).tolist() == [0, 0]


@pytest.mark.parametrize("total", [0, -3])
def test_of_no_rows_nothing_is_left(total):
    assert whole_simplex(np.array([5, -5]), total, np.ones(2, bool)).tolist() == [0, 0]


def test_each_group_is_projected_to_its_own_total():
    rng = np.random.default_rng(2)
    for _ in range(50):
        many = int(rng.integers(1, 6))
        groups = rng.integers(0, many, 30)
        noisy, totals = rng.normal(2, 5, 30), rng.uniform(0, 40, many) * rng.integers(0, 2, many)
        possible = rng.random(30) < 0.8
        found = simplex_by_group(noisy, groups, totals, possible)
        assert (found[~possible] == 0).all()
        for group in range(many):
            inside = (groups == group) & possible
            if inside.any():
                expected = bisected(noisy[inside].tolist(), totals[group]) if totals[group] else np.zeros(inside.sum())
                assert found[inside] == pytest.approx(np.array(expected), abs=1e-8)
