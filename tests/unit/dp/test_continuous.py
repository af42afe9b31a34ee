"""Continuous formulas, which are shown beside the discrete laws: against the reference table and the condition they solve."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy import stats

from privrelease.dp import continuous
from privrelease.dp.mechanisms import DiscreteGaussian


@pytest.mark.parametrize(
    ("epsilon", "laplace", "classic", "analytic"),
    [(0.1, 14.14, 48.45, 30.75), (0.5, 2.83, 9.69, 7.03), (1, 1.41, 4.84, 3.73), (2, 0.707, 2.42, 1.99)],
)
def test_they_are_those_of_the_reference(epsilon, laplace, classic, analytic):
    assert continuous.laplace(1, epsilon) == pytest.approx(laplace, abs=6e-3)
    assert continuous.classic_gaussian(1, epsilon, 1e-5) == pytest.approx(classic, abs=6e-3)
    assert continuous.analytic_gaussian(1, epsilon, 1e-5) == pytest.approx(analytic, abs=6e-3)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 7, 40])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
@pytest.mark.parametrize("l2", [1, 37.5])
def test_the_analytic_sigma_meets_its_delta_and_no_less(epsilon, delta, l2):
    sigma = continuous.analytic_gaussian(l2, epsilon, delta) / l2
    mean = 1 / (2 * sigma**2)  # the privacy loss is normal with this mean, and variance 2 mean
    loss = stats.norm(mean, math.sqrt(2 * mean))
    other = stats.norm(-mean, math.sqrt(2 * mean))
    assert loss.sf(epsilon) - math.exp(epsilon) * other.sf(epsilon) == pytest.approx(delta, rel=1e-6)


def test_the_classic_formula_breaks_its_delta_between_8_and_9():
    """Exact delta of the discrete law at the classic sigma: what the reference says of the continuous one holds for it too."""
    for epsilon, holds in ((8, True), (9, False)):
        sigma = continuous.classic_gaussian(1, epsilon, 1e-5)
        mean = 1 / (2 * sigma**2)
        spread = math.sqrt(2 * mean)
        delta = stats.norm(mean, spread).sf(epsilon) - math.exp(epsilon) * stats.norm(-mean, spread).sf(epsilon)
        assert bool(delta <= 1e-5) is holds


def test_the_discrete_gaussian_at_the_analytic_sigma_exceeds_delta():
    for epsilon, wanted in ((1, 1.035e-5), (2, 1.103e-5)):
        scale = continuous.analytic_gaussian(1, epsilon, 1e-5) ** 2
        assert DiscreteGaussian(Fraction(scale)).delta(1, Fraction(epsilon)) == pytest.approx(wanted, rel=2e-3)
