"""OpenDP beside our samplers and calibrations: two independent implementations of the same laws.

Two-sample chi-square of N draws of each, on bins of our law with at least 25 expected draws in each sample, alpha = 1e-9 a test. OpenDP draws from
the operating system, so that its sample is another one in every run: mutants are chosen such that the power against them, from the
non-central law, is within 1e-6 of 1. Ours draws from a seed.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

from privrelease.dp.conversion import delta_of_rho, epsilon_of_rho, rho_within
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace, PermuteAndFlip
from privrelease.dp.randomness import TestRandomness

ALPHA = 1e-9
N = 12_000
CHOICES = 6_000


@pytest.fixture(scope="module", autouse=True)
def _contrib():
    dp.enable_features("contrib")


def theirs_of(noise):
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if isinstance(noise, DiscreteLaplace):
        return dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(noise.scale))
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=math.sqrt(noise.scale))


def scaled(noise, factor):
    return type(noise)(noise.scale * (factor if isinstance(noise, DiscreteLaplace) else factor**2))


def masses(noise, edges):
    reach = int(14 * noise.standard_deviation()) + 20 + int(np.abs(edges).max())
    values = np.arange(-reach, reach + 1)
    mass = np.array([noise.probability(int(value)) for value in values])
    return np.bincount(np.searchsorted(edges, values), weights=mass, minlength=edges.size + 1)


def edges_of(noise):
    """Upper ends of bins with at least 25 expected draws, and at most a hundred of them."""
    reach = int(14 * noise.standard_deviation()) + 20
    edges, mass = [], 0.0
    for value in range(-reach, reach + 1):
        mass += noise.probability(value)
        if mass >= max(25 / N, 1 / 100):
            edges.append(value)
            mass = 0.0
    return np.array(edges[:-1])


def p_value(one, other, edges):
    a, b = (np.bincount(np.searchsorted(edges, sample), minlength=edges.size + 1).astype(float) for sample in (one, other))
    return float(stats.chi2.sf(((a - b) ** 2 / np.maximum(a + b, 1)).sum(), edges.size))


def power(noise, other, edges):
    p, r = masses(noise, edges), masses(other, edges)
    return float(stats.ncx2.sf(stats.chi2.isf(ALPHA, edges.size), edges.size, N * ((p - r) ** 2 / (p + r)).sum()))


LAWS = [DiscreteLaplace(Fraction(b)) for b in ("0.7", "3", "50")] + [
    DiscreteGaussian(Fraction(s) ** 2) for s in ("0.7", "3", "50")
]


@pytest.mark.parametrize("noise", LAWS, ids=lambda noise: f"{noise.name} {float(noise.scale):g}")
def test_our_draws_follow_the_law_of_opendp_and_those_of_another_scale_do_not(noise):
    edges = edges_of(noise)
    theirs = np.array(theirs_of(noise)([0] * N))
    ours = noise.sample(N, TestRandomness(501))
    assert p_value(ours, theirs, edges) > ALPHA
    for factor in (Fraction(4, 5), Fraction(5, 4)):
        mutant = scaled(noise, factor)
        assert power(noise, mutant, edges) > 1 - 1e-6
        assert p_value(mutant.sample(N, TestRandomness(502)), theirs, edges) < ALPHA


def test_our_choices_follow_the_law_of_opendp_and_those_of_another_scale_do_not():
    scores, scale = [5, 3, 0, 5], Fraction(4)
    domain = dp.vector_domain(dp.atom_domain(T=int))
    theirs = dp.m.make_noisy_max(domain, dp.linf_distance(T=int), dp.max_divergence(), scale=float(scale))
    found = Counter(theirs(scores) for _ in range(CHOICES))
    counts = np.array([found[place] for place in range(len(scores))], float)

    def chosen(mechanism, seed):
        source = TestRandomness(seed)
        ours = Counter(mechanism.choose(scores, source) for _ in range(CHOICES))
        return np.array([ours[place] for place in range(len(scores))], float)

    def fit(sample):
        return float(stats.chi2.sf(((sample - counts) ** 2 / (sample + counts)).sum(), len(scores) - 1))

    assert fit(chosen(PermuteAndFlip(scale), 503)) > ALPHA
    mutant = PermuteAndFlip(scale / 2)
    p, r = (np.array(one.probabilities(scores)) for one in (PermuteAndFlip(scale), mutant))
    apart = CHOICES * ((p - r) ** 2 / (p + r)).sum()
    assert stats.ncx2.sf(stats.chi2.isf(ALPHA, len(scores) - 1), len(scores) - 1, apart) > 1 - 1e-6
    assert fit(chosen(mutant, 504)) < ALPHA
    assert theirs.map(1) == pytest.approx(float(PermuteAndFlip(scale).epsilon(1)), rel=1e-9)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2"])
@pytest.mark.parametrize("sensitivity", [1, 3, 1750])
def test_laplace_noise_of_our_calibration_costs_the_same_by_opendp(sensitivity, epsilon):
    noise = DiscreteLaplace.calibrated(sensitivity=sensitivity, epsilon=Fraction(epsilon))
    assert theirs_of(noise).map(sensitivity) == pytest.approx(float(Fraction(epsilon)), rel=1e-12)


@pytest.mark.parametrize("rho", ["0.001", "0.05", "0.5", "4"])
@pytest.mark.parametrize("delta", ["1e-5", "1e-9"])
def test_zcdp_and_its_conversion_are_those_of_opendp_never_below_the_truth(rho, delta):
    exact = Fraction(rho)
    noise = DiscreteGaussian.for_rho(sensitivity_squared=4, rho=exact)
    theirs = theirs_of(noise)
    assert theirs.map(2.0) == pytest.approx(float(noise.rho(4)), rel=1e-9)
    curve = dp.c.make_zCDP_to_approxDP(theirs).map(2.0)
    ours = epsilon_of_rho(noise.rho(4), Fraction(delta))
    assert float(ours) == pytest.approx(curve.epsilon(float(Fraction(delta))), rel=1e-5)
    assert float(delta_of_rho(noise.rho(4), ours)) == pytest.approx(curve.delta(float(ours)), rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-5"), ("1", "1e-5"), ("2", "1e-8")])
def test_our_rho_within_a_budget_is_the_largest_by_opendp(epsilon, delta):
    rho = rho_within(Fraction(epsilon), Fraction(delta))
    for factor, fits in ((Fraction(1), True), (Fraction(101, 100), False)):
        noise = DiscreteGaussian.for_rho(sensitivity_squared=1, rho=rho * factor)
        curve = dp.c.make_zCDP_to_approxDP(theirs_of(noise)).map(1.0)
        assert (curve.epsilon(float(Fraction(delta))) <= float(Fraction(epsilon)) * (1 + 1e-9)) is fits


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2"])
def test_noise_by_the_exact_delta_is_at_most_that_of_opendp_by_zcdp(epsilon):
    """One number by its own exact delta needs less noise than by zCDP, which is what OpenDP has for it."""
    ours = DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction(epsilon), delta=Fraction("1e-5"))
    curve = dp.c.make_zCDP_to_approxDP(theirs_of(ours)).map(1.0)
    assert float(Fraction(epsilon)) <= curve.epsilon(1e-5) <= 1.15 * float(Fraction(epsilon))
