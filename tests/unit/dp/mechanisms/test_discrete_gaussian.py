from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.mechanisms import DiscreteGaussian
from privrelease.dp.mechanisms.gaussian_sums import delta_of_one_number, tail_above
from privrelease.dp.randomness import TestRandomness

DELTA = Fraction("1e-5")


def exact_delta(sigma_squared, sensitivity, epsilon):
    """Theorem 7 as printed, in 60 digits: the witness."""
    from mpmath import mp, mpf

    mp.dps = 60
    s2 = mpf(sigma_squared.numerator) / sigma_squared.denominator
    e = mpf(epsilon.numerator) / epsilon.denominator
    reach = int(40 * mp.sqrt(s2)) + 40 + 2 * sensitivity
    weights = {y: mp.exp(-(mpf(y) ** 2) / (2 * s2)) for y in range(-reach, reach + 1)}
    mass = mp.fsum(weights.values())
    start = epsilon * sigma_squared / sensitivity - Fraction(sensitivity, 2)
    above = mp.fsum(w for y, w in weights.items() if y > start)
    far = mp.fsum(w for y, w in weights.items() if y > start + sensitivity)
    return (above - mp.exp(e) * far) / mass


CASES = [
    ("0.25", 1, "10"),
    ("1", 1, "1"),
    ("13.9", 1, "1"),
    ("50", 3, "0.5"),
    ("3.3", 7, "4"),
    ("1e4", 1, "0.01"),
    ("900", 200, "8"),
    ("49.4", 1, "0.5"),
    ("2", 5, "0.1"),
]


@pytest.mark.parametrize(("s2", "sensitivity", "epsilon"), CASES)
def test_delta_is_theorem_seven_rounded_up(s2, sensitivity, epsilon):
    true = exact_delta(Fraction(s2), sensitivity, Fraction(epsilon))
    found = delta_of_one_number(Fraction(s2), sensitivity, Fraction(epsilon))
    assert found >= true
    assert found <= min(1, true * (1 + 3e-9)) + 1e-300


def summed_delta(sigma_squared, sensitivity, epsilon):
    """Theorem 7 as a sum of positive terms, added exactly: within a relative 1e-10 where the terms are many."""
    s2 = float(sigma_squared)
    start = epsilon * sigma_squared / sensitivity - Fraction(sensitivity, 2)
    first = math.floor(start) + 1
    offset = float(first - start)
    steps = np.arange(int(12 * math.sqrt(s2)), dtype=np.float64)
    terms = np.exp(-((first + steps) ** 2) / (2 * s2)) * -np.expm1(-(steps + offset) * sensitivity / s2)
    return math.fsum(terms.tolist()) / math.sqrt(2 * math.pi * s2)


@pytest.mark.parametrize(("s2", "sensitivity", "epsilon"), [("4.3e6", 1, "0.001"), ("5e6", 600, "1.1"), ("6e6", 2000, "4")])
def test_delta_at_large_sigma_is_rounded_up_and_tight(s2, sensitivity, epsilon):
    true = summed_delta(Fraction(s2), sensitivity, Fraction(epsilon))
    found = delta_of_one_number(Fraction(s2), sensitivity, Fraction(epsilon))
    assert true * (1 - 1e-10) <= found <= true * (1 + 1e-5) + 1e-12


def test_the_two_ways_of_summing_agree_where_they_meet():
    below, above = Fraction(2047**2), Fraction(2049**2)
    for sensitivity, epsilon in ((1, Fraction("0.001")), (700, Fraction(1)), (3000, Fraction(3))):
        ratio = delta_of_one_number(below, sensitivity, epsilon) / delta_of_one_number(above, sensitivity, epsilon)
        assert math.isclose(
            ratio, summed_delta(below, sensitivity, epsilon) / summed_delta(above, sensitivity, epsilon), rel_tol=1e-4
        )


@pytest.mark.parametrize(
    ("s2", "value"), [("0.3", 1), ("14", 12), ("14", 0), ("14", -3), ("900", 100), ("5e6", 9000), ("5e6", 1)]
)
def test_the_tail_is_rounded_up_and_tight(s2, value):
    exact = float(Fraction(s2))
    reach = int(13 * math.sqrt(exact)) + 13
    weights = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * exact))
    true = math.fsum(weights[reach + value :].tolist()) / math.fsum(weights.tolist())
    assert true * (1 - 1e-12) <= tail_above(Fraction(s2), value) <= true * (1 + 1e-8)


def test_delta_at_the_analytic_sigma_exceeds_the_one_asked_for():
    assert math.isclose(delta_of_one_number(Fraction("3.73") ** 2, 1, Fraction(1)), 1.035e-5, rel_tol=2e-3)
    analytic_at_two = Fraction("1.9948")
    assert 1.09e-5 < delta_of_one_number(analytic_at_two**2, 1, Fraction(2)) < 1.11e-5


@pytest.mark.parametrize(("epsilon", "analytic"), [("0.1", 30.75), ("0.5", 7.03), ("1", 3.73), ("2", 1.99)])
def test_calibration_is_near_the_analytic_sigma_and_within_delta(epsilon, analytic):
    noise = DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction(epsilon), delta=DELTA)
    sigma = math.sqrt(noise.scale)
    assert abs(sigma - analytic) / analytic < 0.015
    assert exact_delta(noise.scale, 1, Fraction(epsilon)) <= 1e-5
    less = Fraction(noise.scale.numerator - 2, noise.scale.denominator)
    assert exact_delta(less, 1, Fraction(epsilon)) > 1e-5 * (1 - 1e-7)


@pytest.mark.parametrize("sensitivity", [2, 40, 3500, 10**7])
def test_calibration_grows_with_the_sensitivity(sensitivity):
    noise = DiscreteGaussian.for_one_number(sensitivity=sensitivity, epsilon=Fraction(1), delta=DELTA)
    assert noise.delta(sensitivity, Fraction(1)) <= 1e-5
    assert abs(math.sqrt(noise.scale) / sensitivity - 3.7306) < 0.004


def test_delta_grows_with_the_distance():
    for s2 in ("0.3", "2", "30"):
        deltas = [delta_of_one_number(Fraction(s2), d, Fraction(1)) for d in range(1, 12)]
        assert deltas == sorted(deltas)


@pytest.mark.parametrize("delta", ["0", "1", "-0.1", "2"])
def test_a_delta_that_gives_no_gaussian_is_refused(delta):
    with pytest.raises(ValueError, match="delta between 0 and 1"):
        DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction(1), delta=Fraction(delta))


def test_rho_is_exact_where_the_variance_is_short_and_never_above():
    assert DiscreteGaussian.for_rho(sensitivity_squared=9, rho=Fraction("0.5")).rho(9) == Fraction("0.5")
    long = Fraction(123456789123456789, 10**19)
    noise = DiscreteGaussian.for_rho(sensitivity_squared=2, rho=long)
    assert long * (1 - Fraction(1, 10**6)) < noise.rho(2) <= long


@pytest.mark.parametrize("s2", [Fraction(1, 9), Fraction(1), Fraction(14), Fraction(10**6)])
def test_the_half_width_is_the_least_that_covers(s2):
    noise = DiscreteGaussian(s2)
    h = noise.half_width(Fraction("0.95"))
    assert 2 * noise.tail(h + 1) <= Fraction("0.05")
    assert h == 0 or 2 * noise.tail(h) > Fraction("0.05")


@pytest.mark.parametrize("s2", [Fraction(1, 9), Fraction(1), Fraction(14)])
def test_probabilities_sum_to_one_and_give_the_standard_deviation(s2):
    noise = DiscreteGaussian(s2)
    values = range(-60, 61)
    assert math.isclose(math.fsum(noise.probability(k) for k in values), 1, rel_tol=1e-12)
    spread = math.sqrt(math.fsum(k * k * noise.probability(k) for k in values))
    assert math.isclose(spread, noise.standard_deviation(), rel_tol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 19, 20, 1000])
def test_a_sample_has_as_many_integers_as_asked(size):
    sample = DiscreteGaussian(Fraction(7, 3)).sample(size, TestRandomness(1))
    assert sample.shape == (size,)
    assert sample.dtype == np.int64


def test_exponents_too_wide_for_64_bits_are_divided_by_python_integers():
    # numerator near 2^30: a proposal a few sigma out has |d| above 2^31
    s2 = Fraction((1 << 30) - 35, 1 << 10)
    noise = DiscreteGaussian(s2)
    p, q = s2.numerator, s2.denominator
    t = math.isqrt(p // q) + 1
    assert 2 * p * q * t * t < 1 << 62
    far = np.array([6 * t, -6 * t, 0, 40 * t], dtype=np.int64)
    assert (np.abs(np.abs(far) * q * t - p) >= 1 << 31).any()
    kept = np.concatenate([noise._keep(far, t, TestRandomness(seed)) for seed in range(4000)])
    # exp(-(6 - s)^2/2) with s about 1: 12.5 +- 0.1; at 0: exp(-1/2)
    assert (np.abs(kept) == 40 * t).sum() == 0
    assert abs((kept == 0).sum() / 4000 - math.exp(-0.5)) < 0.05
    sample = noise.sample(20_000, TestRandomness(9))
    assert abs(sample.std() / math.sqrt(s2) - 1) < 0.04


def test_a_variance_beyond_64_bits_is_drawn_by_python_integers():
    noise = DiscreteGaussian(Fraction(10**40, 3))
    values = [int(value) for value in noise.sample(200, TestRandomness(5)).tolist()]
    spread = math.sqrt(sum(value * value for value in values) / 200)
    assert abs(spread / math.sqrt(noise.scale) - 1) < 0.3


@pytest.mark.parametrize("epsilon", ["0.000001", "1", "100"])
@pytest.mark.parametrize("delta", ["1e-30", "1e-9", "0.5"])
@pytest.mark.parametrize("sensitivity", [1, 1 << 40])
def test_calibration_holds_at_the_edges_of_what_a_policy_may_ask(epsilon, delta, sensitivity):
    from privrelease.dp.conversion import delta_of_rho, rho_within

    noise = DiscreteGaussian.for_one_number(sensitivity=sensitivity, epsilon=Fraction(epsilon), delta=Fraction(delta))
    assert Fraction(noise.delta(sensitivity, Fraction(epsilon))) <= Fraction(delta)
    rho = rho_within(Fraction(epsilon), Fraction(delta))
    by_zcdp = DiscreteGaussian.for_rho(sensitivity_squared=sensitivity**2, rho=rho)
    assert delta_of_rho(by_zcdp.rho(sensitivity**2), Fraction(epsilon)) <= Fraction(delta)
    assert 0 < noise.scale <= by_zcdp.scale  # the exact delta of one number never needs more noise
    assert len(noise.sample(25, TestRandomness(1))) == 25
