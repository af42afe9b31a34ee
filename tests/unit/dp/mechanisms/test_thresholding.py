from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace, Thresholding
from privrelease.dp.randomness import TestRandomness


def test_at_or_above_and_above_have_different_deltas():
    # case d06: noise of scale 1, a key of one person, published when the noisy count is >= 5
    at_or_above = Thresholding(DiscreteLaplace(Fraction(1)), 5)
    above = Thresholding(DiscreteLaplace(Fraction(1)), 6)
    assert math.isclose(float(at_or_above.delta()), 0.0133898, rel_tol=1e-5)
    assert math.isclose(float(above.delta()), 0.00492583, rel_tol=1e-5)
    assert math.isclose(float(at_or_above.delta() / above.delta()), math.e, rel_tol=1e-6)


def test_the_stated_delta_is_that_of_the_comparison_that_is_made():
    selection = Thresholding(DiscreteLaplace(Fraction(1)), 5)
    n = 200_000
    published = selection.select([1] * n, TestRandomness(1))
    hits = sum(value is not None for value in published)
    expected = float(selection.delta()) * n
    assert abs(hits - expected) < 6.5 * math.sqrt(expected)
    assert min(value for value in published if value is not None) == 5


def test_the_least_threshold_is_chosen():
    # case d05, keys of one person: 14 would give 1.65e-6
    selection = Thresholding.calibrated(DiscreteLaplace(Fraction(1)), delta=Fraction("1e-6"))
    assert selection.threshold == 15
    assert math.isclose(float(selection.delta()), 6.08e-7, rel_tol=1e-3)
    assert float(Thresholding(DiscreteLaplace(Fraction(1)), 14).delta()) > 1.6e-6


@pytest.mark.parametrize("noise", [DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(30))])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("rows", [1, 2])
def test_calibration_is_within_delta_and_not_beyond(noise, groups, rows):
    delta = Fraction("1e-7")
    selection = Thresholding.calibrated(noise, delta=delta, groups=groups, rows=rows)
    assert selection.delta() <= delta
    assert Thresholding(noise, selection.threshold - 1, groups, rows).delta() > delta


def test_more_keys_a_person_and_more_rows_a_key_cost_more():
    noise = DiscreteLaplace(Fraction(2))
    one = Thresholding(noise, 20).delta()
    assert Thresholding(noise, 20, groups=3).delta() == 3 * one
    assert Thresholding(noise, 20, rows=2).delta() == Thresholding(noise, 19).delta()


@pytest.mark.parametrize("relation", ["add", "remove"])
@pytest.mark.parametrize(("scale", "threshold"), [("1", 3), ("0.5", 2), ("20", 4), ("3", 9)])
def test_a_key_that_comes_or_goes_is_within_epsilon_and_delta(relation, scale, threshold):
    # one key held by one person in D and by nobody in D': outputs are "absent" or a noisy count at or above the threshold
    noise = DiscreteLaplace(Fraction(scale))
    selection = Thresholding(noise, threshold)
    epsilon, delta = 1 / float(Fraction(scale)), float(selection.delta())
    shown = {value: noise.probability(value - 1) for value in range(threshold, threshold + 4000)}
    absent = 1 - math.fsum(shown.values())
    with_person = {"absent": absent, **shown}
    without = {"absent": 1.0}
    left, right = (with_person, without) if relation == "remove" else (without, with_person)
    excess = math.fsum(max(0.0, p - math.exp(epsilon) * right.get(outcome, 0.0)) for outcome, p in left.items())
    assert excess <= delta * (1 + 1e-9)


@pytest.mark.parametrize(("threshold", "rows"), [(1, 1), (0, 1), (2, 2)])
def test_a_threshold_that_one_person_reaches_is_refused(threshold, rows):
    with pytest.raises(ValueError, match="protects no one"):
        Thresholding(DiscreteLaplace(Fraction(1)), threshold, rows=rows)


@pytest.mark.parametrize("delta", ["0", "1"])
def test_a_selection_without_delta_is_refused(delta):
    with pytest.raises(ValueError, match="delta"):
        Thresholding.calibrated(DiscreteLaplace(Fraction(1)), delta=Fraction(delta))
