"""The losses of discrete Gaussian noise, beside its exact delta (Canonne, Kamath, Steinke 2020, theorem 7), which is computed another way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privrelease.dp.accountants import PldAccountant
from privrelease.dp.accountants.events import GaussianNoise
from privrelease.dp.accountants.pld import gaussian_losses
from privrelease.dp.mechanisms import DiscreteGaussian
from privrelease.dp.sensitivity import Sensitivity
from privrelease.units import Epsilon

STEP = 1e-4
CASES = [
    ("1/2", 1),
    ("1", 1),
    ("9", 2),
    ("2500", 7),
    ("300000000", 900),
    ("100000000000", 16000),
    ("10000000000000000", 5000000),
]


def delta_of(masses, lost, epsilon):
    return lost + math.fsum(
        mass * -math.expm1(epsilon - place * STEP) for place, mass in masses.items() if place * STEP > epsilon
    )


@pytest.mark.parametrize(("s2", "shift"), CASES)
@pytest.mark.parametrize("times", ["0.2", "1", "2"])
def test_delta_by_losses_is_never_below_the_exact_one_and_near_it(s2, shift, times):
    scale = Fraction(s2)
    masses, lost = gaussian_losses(scale, shift, STEP)
    epsilon = Fraction(times) * Fraction(round(1000 * 3 * shift / math.sqrt(scale)), 1000)
    exact = DiscreteGaussian(scale).delta(shift, epsilon)
    found = delta_of(masses, lost, float(epsilon))
    assert found >= exact * (1 - 1e-9)
    # of a loss that is rounded up by a step or two, and blocks that are as heavy as their heaviest number
    assert (
        found <= exact * 1.002 + 4 * STEP * sum(mass for place, mass in masses.items() if (place + 2) * STEP > epsilon) + 1e-20
    )


@pytest.mark.parametrize(("s2", "shift"), CASES)
def test_losses_of_the_accountant_are_never_below_the_truth_for_any_sigma(s2, shift):
    scale = Fraction(s2)
    one = PldAccountant().compose(GaussianNoise(scale, Sensitivity.of_one_number(shift)))
    for epsilon in (Fraction(1, 10), Fraction(1)):
        assert float(one.delta(Epsilon(epsilon)).value) >= DiscreteGaussian(scale).delta(shift, epsilon) * (1 - 1e-9)


@pytest.mark.parametrize("s2", ["1", "1000000", "1000000000000"])
def test_masses_are_those_of_the_noise_and_a_hair_more(s2):
    masses, lost = gaussian_losses(Fraction(s2), 1, STEP)
    assert 1 <= sum(masses.values()) + 1e-12 < 1.001
    assert 0 < lost < 1e-21
