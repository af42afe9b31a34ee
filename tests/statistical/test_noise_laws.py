"""Noise laws: each sampler follows its stated law, and every planted fault is found out.

Design: chi-square on bins of at least 25 expected draws, alpha = 1e-9 a test, n declared below. The power against each mutant is
computed from the noncentral chi-square and asserted to be at least 0.99, so a test that could not fail does not pass. Seeds are fixed:
the outcome in CI repeats. The sweep over scales with n = 2,000,000 runs in the slow lane.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privrelease.dp import calibration
from privrelease.dp import queries as q
from privrelease.dp.budget import Budget
from privrelease.dp.domains import NumericDomain
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.units import Delta, Epsilon

ALPHA = 1e-9
POWER = 0.99
N = 60_000


def bins(noise, n):
    """Upper edges of bins of at least 25 expected draws and 1/300 of the mass; the first and the last take the tails."""
    reach = int(14 * noise.standard_deviation()) + 20
    edges, mass = [], 0.0
    for k in range(-reach, reach + 1):
        mass += noise.probability(k)
        if mass >= max(25 / n, 1 / 300):
            edges.append(k)
            mass = 0.0
    return np.array(edges[:-1])


def masses(noise, edges):
    reach = int(14 * noise.standard_deviation()) + 20 + int(np.abs(edges).max())
    values = np.arange(-reach, reach + 1)
    probabilities = np.array([noise.probability(int(k)) for k in values])
    return np.bincount(np.searchsorted(edges, values), weights=probabilities, minlength=edges.size + 1)


def p_value(sample, noise):
    """Chi-square p-value of a sample against a law."""
    edges = bins(noise, sample.size)
    expected = masses(noise, edges) * sample.size
    found = np.bincount(np.searchsorted(edges, np.asarray(sample, dtype=np.float64)), minlength=edges.size + 1)
    return float(stats.chi2.sf(((found - expected) ** 2 / expected).sum(), edges.size))


def power(noise, other, n):
    """The chance that n draws of ``other`` are rejected as draws of ``noise``."""
    edges = bins(noise, n)
    p, r = masses(noise, edges), masses(other, edges)
    distance = n * ((r - p) ** 2 / p).sum()
    return float(stats.ncx2.sf(stats.chi2.isf(ALPHA, edges.size), edges.size, distance))


LAPLACE = [DiscreteLaplace(Fraction(scale)) for scale in ("1/2", "1", "10/7", "10", "250")]
GAUSSIAN = [DiscreteGaussian(Fraction(scale)) for scale in ("0.3", "1", "13.99", "14400", "916929/65536")]
LAWS = [*LAPLACE, *GAUSSIAN]


def label(noise):
    return f"{noise.name}-{float(noise.scale):.4g}"


def scaled(noise, factor):
    """The same law with its spread times ``factor`` (sigma, not its square, for the Gaussian)."""
    scale = noise.scale * (factor if isinstance(noise, DiscreteLaplace) else factor**2)
    return type(noise)(scale.limit_denominator(1 << 14))  # short enough for a batch in 64 bits


@pytest.mark.parametrize("noise", LAWS, ids=label)
def test_a_batch_follows_its_law(noise):
    assert p_value(noise.sample(N, TestRandomness(101)), noise) > ALPHA


@pytest.mark.parametrize("noise", [LAWS[1], LAWS[2], LAWS[6], LAWS[9]], ids=label)
def test_draws_one_at_a_time_follow_the_same_law(noise):
    source = TestRandomness(102)
    assert p_value(np.array([noise.sample_one(source) for _ in range(8_000)]), noise) > ALPHA


@pytest.mark.parametrize("factor", [Fraction(4, 5), Fraction(5, 4)], ids=["x0.8", "x1.25"])
@pytest.mark.parametrize("noise", LAWS, ids=label)
def test_a_wrong_scale_is_rejected(noise, factor):
    mutant = scaled(noise, factor)
    assert power(noise, mutant, N) >= POWER
    assert p_value(mutant.sample(N, TestRandomness(103)), noise) < ALPHA


@pytest.mark.parametrize("noise_kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("m", "wrong"), [(2, 1), (3, 2), (6, 5), (6, 7)])
def test_a_sensitivity_off_by_one_is_rejected(noise_kind, m, wrong):
    budget = Budget(Epsilon(1), Delta("1e-5"))
    query = q.Sum("s", "x", NumericDomain(0, 1))
    right, mutant = (
        calibration.draws(query, q.Setting(Contribution(rows)), budget, noise_kind)[0].noise for rows in (m, wrong)
    )
    assert power(right, mutant, N) >= POWER
    assert p_value(right.sample(N, TestRandomness(104)), right) > ALPHA
    assert p_value(mutant.sample(N, TestRandomness(104)), right) < ALPHA


@pytest.mark.parametrize("noise_kind", ["laplace", "gaussian"])
def test_the_wrong_neighbour_relation_is_rejected(noise_kind):
    budget = Budget(Epsilon(1), Delta("1e-5"))
    query = q.Histogram("h", "x", q.Bins([0, 1, 2, 3]))
    add, replace = (
        calibration.draws(query, q.Setting(Contribution(1), relation), budget, noise_kind)[0].noise for relation in Neighbours
    )
    assert power(replace, add, N) >= POWER
    assert p_value(replace.sample(N, TestRandomness(105)), replace) > ALPHA
    assert p_value(add.sample(N, TestRandomness(105)), replace) < ALPHA


# ------------------------------------------------------------------------------------------------------- faults inside a sampler


def zero_twice(noise, n, source):
    """Minus zero is not rejected: a one-sided magnitude with a fair sign."""
    sample = noise.sample(4 * n, source)
    magnitude = sample[sample >= 0][:n]
    return np.where(np.frombuffer(source.draw(magnitude.size), dtype=np.uint8) % 2 == 0, magnitude, -magnitude)


def rounded_floats(noise, n, source):
    """A continuous law rounded to integers."""
    u = (np.frombuffer(source.draw(8 * n), dtype="<u8").astype(np.float64) + 0.5) / 2.0**64
    if isinstance(noise, DiscreteLaplace):
        return np.rint(stats.laplace.ppf(u, scale=float(noise.scale)))
    return np.rint(stats.norm.ppf(u, scale=math.sqrt(noise.scale)))


def cut_tail(noise, n, source):
    """Draws beyond two standard deviations are pulled in."""
    limit = int(2 * noise.standard_deviation())
    return np.clip(noise.sample(n, source), -limit, limit)


def one_sided(noise, n, source):
    return np.abs(noise.sample(n, source))


@pytest.mark.parametrize("fault", [zero_twice, rounded_floats, cut_tail, one_sided], ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("noise", [DiscreteLaplace(Fraction(1)), DiscreteGaussian(Fraction(1, 2))], ids=label)
def test_a_fault_inside_a_sampler_is_rejected(noise, fault):
    assert p_value(fault(noise, N, TestRandomness(106)), noise) < ALPHA


# --------------------------------------------------------------------------------------------------------------- repeated draws


def independence_p_value(left, right, noise):
    """Chi-square of pairs against the product of the law with itself, on six classes a side."""
    cuts = np.array([noise.half_width(Fraction(c, 100)) for c in (30, 65)])
    edges = np.concatenate([-cuts[::-1] - 1, [-1], cuts])
    p = masses(noise, edges)
    found = np.zeros((p.size, p.size))
    np.add.at(found, (np.searchsorted(edges, left), np.searchsorted(edges, right)), 1)
    expected = np.outer(p, p) * left.size
    return float(stats.chi2.sf(((found - expected) ** 2 / expected).sum(), found.size - 1))


PAIRED = [DiscreteLaplace(Fraction(10)), DiscreteGaussian(Fraction(100))]


@pytest.mark.parametrize("noise", PAIRED, ids=label)
def test_neighbouring_draws_and_neighbouring_calls_are_independent(noise):
    source = TestRandomness(107)
    sample = noise.sample(N, source)
    assert independence_p_value(sample[::2], sample[1::2], noise) > ALPHA
    assert independence_p_value(sample[: N // 2], sample[N // 2 :], noise) > ALPHA
    assert independence_p_value(noise.sample(N // 2, source), noise.sample(N // 2, source), noise) > ALPHA
    small = np.array([noise.sample(2, source) for _ in range(4_000)])
    assert independence_p_value(small[:, 0], small[:, 1], noise) > ALPHA


@pytest.mark.parametrize("noise", PAIRED, ids=label)
def test_repeated_draws_are_rejected(noise):
    source = TestRandomness(108)
    twice = np.repeat(noise.sample(N // 2, source), 2)
    assert independence_p_value(twice[::2], twice[1::2], noise) < ALPHA
    batch = noise.sample(N // 2, source)
    assert independence_p_value(batch, batch, noise) < ALPHA
    assert independence_p_value(batch, -batch, noise) < ALPHA


@pytest.mark.parametrize("noise", PAIRED, ids=label)
def test_one_draw_in_twenty_repeated_is_rejected(noise):
    source = TestRandomness(109)
    left, right = noise.sample(N, source), noise.sample(N, source)
    right[::20] = left[::20]
    assert independence_p_value(left, right, noise) < ALPHA


@pytest.mark.parametrize("noise", PAIRED, ids=label)
def test_mechanisms_that_share_a_seed_are_rejected(noise):
    assert independence_p_value(noise.sample(N, TestRandomness(5)), noise.sample(N, TestRandomness(5)), noise) < ALPHA


# ------------------------------------------------------------------------------------------------------------------- slow sweep


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise",
    [
        *(DiscreteLaplace(Fraction(s)) for s in ("1/3", "2", "3001/1000", "31", "100", "1000")),
        DiscreteLaplace(1 / Fraction(0.1)),
        *(DiscreteGaussian(Fraction(s)) for s in ("1/4", "1/2", "4", "49.4", "1000", "1000000")),
        *(
            DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction(e), delta=Fraction("1e-5"))
            for e in ("0.1", "0.5", "2")
        ),
    ],
    ids=label,
)
def test_two_million_draws_follow_their_law_and_a_scale_off_by_two_per_cent_does_not(noise):
    n = 2_000_000
    mutant = scaled(noise, Fraction(49, 50))
    assert p_value(noise.sample(n, TestRandomness(110)), noise) > ALPHA
    assert power(noise, mutant, n) >= POWER
    assert p_value(mutant.sample(n, TestRandomness(111)), noise) < ALPHA
