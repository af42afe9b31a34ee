from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.mechanisms import DiscreteLaplace, add_noise
from privrelease.dp.mechanisms.additive import fit_int64
from privrelease.dp.randomness import TestRandomness


@pytest.mark.parametrize(("epsilon", "published"), [("0.1", 14.136), ("0.5", 2.799), ("1", 1.357), ("2", 0.602)])
def test_standard_deviation_is_that_of_the_reference_table(epsilon, published):
    noise = DiscreteLaplace.calibrated(sensitivity=1, epsilon=Fraction(epsilon))
    assert round(noise.standard_deviation(), 3) == published


def test_the_scale_is_exactly_sensitivity_over_epsilon():
    noise = DiscreteLaplace.calibrated(sensitivity=3, epsilon=Fraction("0.7"))
    assert noise.scale == Fraction(30, 7)
    assert noise.epsilon(3) == Fraction("0.7")


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0, 1), (1, 0), (1, -1), (-1, 1)])
def test_a_calibration_without_sense_is_refused(sensitivity, epsilon):
    with pytest.raises(ValueError, match="calibration"):
        DiscreteLaplace.calibrated(sensitivity=sensitivity, epsilon=Fraction(epsilon))


def test_a_scale_that_collapsed_to_zero_is_refused():
    with pytest.raises(ValueError, match="positive"):
        DiscreteLaplace(Fraction(0))


def test_probabilities_sum_to_one_and_their_tail_is_the_closed_form():
    noise = DiscreteLaplace(Fraction(5, 2))
    a = math.exp(-0.4)
    assert math.isclose(math.fsum(noise.probability(k) for k in range(-300, 301)), 1, rel_tol=1e-12)
    assert math.isclose(noise.probability(3), (1 - a) / (1 + a) * a**3, rel_tol=1e-12)
    for k in (-4, -1, 0, 1, 2, 30):
        direct = math.fsum(noise.probability(j) for j in range(k, 400))
        assert math.isclose(float(noise.tail(k)), direct, rel_tol=1e-9)


def test_the_tail_is_rounded_up():
    from mpmath import mp, mpf

    mp.dps = 70
    a = mp.exp(-1)
    for k in (1, 2, 40):
        bound = DiscreteLaplace(Fraction(1)).tail(k)
        assert mpf(bound.numerator) / bound.denominator >= a**k / (1 + a)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000)])
def test_the_half_width_is_the_least_that_covers(scale):
    noise = DiscreteLaplace(scale)
    h = noise.half_width(Fraction("0.95"))
    assert 2 * noise.tail(h + 1) <= Fraction("0.05")
    assert h == 0 or 2 * noise.tail(h) > Fraction("0.05")


@pytest.mark.parametrize("size", [0, 1, 19, 20, 1000])
def test_a_sample_has_as_many_integers_as_asked(size):
    sample = DiscreteLaplace(Fraction(7, 3)).sample(size, TestRandomness(1))
    assert sample.shape == (size,)
    assert sample.dtype == np.int64


def test_the_scale_of_a_float_epsilon_is_met_exactly():
    # epsilon = the exact value of the float 0.1: a numerator of 55 bits, drawn in 64 bits
    noise = DiscreteLaplace(1 / Fraction(0.1))
    assert noise.scale.numerator.bit_length() == 56
    sample = noise.sample(50_000, TestRandomness(3))
    assert abs(sample.std() - noise.standard_deviation()) < 0.35


def test_wide_scales_neither_wrap_nor_cut():
    # t (V + 1) passes 2^63 for some of the draws: these batches are formed in Python integers
    noise = DiscreteLaplace(Fraction((1 << 62) - 1))
    sample = noise.sample(400, TestRandomness(4))
    values = [int(value) for value in sample.tolist()]
    assert sample.dtype == object
    assert max(abs(value) for value in values) > 1 << 63
    mean = sum(abs(value) for value in values) / len(values) / float(noise.scale)
    assert 0.7 < mean < 1.35


def test_a_scale_beyond_64_bits_is_drawn_by_python_integers():
    noise = DiscreteLaplace(Fraction(10**30, 7))
    values = [int(value) for value in noise.sample(60, TestRandomness(5)).tolist()]
    assert max(abs(value) for value in values) > 10**28
    assert len(set(values)) == 60


def test_adding_noise_cannot_overflow():
    noisy = add_noise(DiscreteLaplace(Fraction(2)), [2**63 - 1, -(2**63), 10**40], TestRandomness(6))
    assert all(isinstance(value, int) for value in noisy)
    assert abs(noisy[0] - (2**63 - 1)) < 200
    assert abs(noisy[2] - 10**40) < 200


def test_fit_int64_keeps_what_does_not_fit():
    assert fit_int64([1, -2]).dtype == np.int64
    wide = fit_int64([1, 2**63])
    assert wide.dtype == object
    assert wide.tolist() == [1, 2**63]


@pytest.mark.parametrize("scale", ["1/3", "1", "2000", "1e12", "1e25", "12345678901234567890123456789"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.99999"])
def test_the_half_width_is_the_least_at_any_scale(scale, confidence):
    """Sums of squares over a wide domain have such scales; a float of the half width is then off by millions of steps."""
    noise, outside = DiscreteLaplace(Fraction(scale)), 1 - Fraction(confidence)
    width = noise.half_width(Fraction(confidence))
    assert 2 * noise.tail(width + 1) <= outside
    assert width == 0 or 2 * noise.tail(width) > outside
