"""Half widths of weighted sums of noises: against the laws multiplied out, against draws, and never below either."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from scipy import stats

from privrelease.dp import noise_sums
from privrelease.dp.consistency import NoisyTable, agree
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.dp.noise_sums import Part, half_width
from privrelease.dp.randomness import TestRandomness

CONFIDENCE = Fraction(95, 100)
SUMS = [
    (Part(DiscreteLaplace(Fraction(2)), 1.0),),
    (Part(DiscreteLaplace(Fraction(1, 4)), 0.7), Part(DiscreteLaplace(Fraction(3)), -0.4)),
    (Part(DiscreteGaussian(Fraction(4)), 0.5), Part(DiscreteLaplace(Fraction(2)), 0.25, 2)),
    (Part(DiscreteGaussian(Fraction(1, 3)), 1 / 3, 3),),
    (Part(DiscreteLaplace(Fraction(1)), 0.9), Part(DiscreteLaplace(Fraction(1)), -0.1, 2)),
]


def law(noise):
    """Values and exact masses, but for 1e-9 or less."""
    reach = next(k for k in range(1, 1000) if noise.probability(k) < 1e-11)
    return [(value, noise.probability(value)) for value in range(-reach, reach + 1)]


def quantile(parts):
    """The least h with P(|X| <= h) >= 0.95, every combination of values summed up."""
    noises = [(part.noise, part.weight) for part in parts for _ in range(part.count)]
    sizes, masses = np.zeros(1), np.ones(1)
    for noise, weight in noises:
        values, chances = (np.array(column) for column in zip(*law(noise), strict=True))
        sizes = (sizes[:, None] + weight * values).round(9).ravel()
        masses = (masses[:, None] * chances).ravel()
        sizes, place = np.unique(sizes, return_inverse=True)
        masses = np.bincount(place, weights=masses)
    order = np.argsort(np.abs(sizes))
    covered = np.cumsum(masses[order])
    return float(np.abs(sizes[order])[np.searchsorted(covered, 0.95)])


@pytest.mark.parametrize("parts", SUMS)
def test_it_is_the_quantile_of_the_sum_or_a_little_more(parts):
    true, found = quantile(parts), half_width(parts, CONFIDENCE)
    deviation = sum(part.count * (part.weight * part.noise.standard_deviation()) ** 2 for part in parts) ** 0.5
    assert true <= found <= true + 0.02 * deviation + 0.02


@pytest.mark.parametrize("parts", SUMS)
@pytest.mark.parametrize("outside", [0.5, 0.05, 1e-3])
def test_chernoffs_bound_holds_for_every_sum(parts, outside):
    """Multiplied out: what lies at or beyond the bound weighs at most ``outside``."""
    found = noise_sums._chernoff(parts, outside)
    noises = [(part.noise, part.weight) for part in parts for _ in range(part.count)]
    beyond = 0.0
    for combination in product(*(law(noise) for noise, _ in noises)) if prod(len(law(n)) for n, _ in noises) < 300_000 else ():
        if abs(sum(w * value for (_, w), (value, _) in zip(noises, combination, strict=True))) >= found:
            beyond += prod(mass for _, mass in combination)
    assert beyond <= outside


def test_laws_too_long_for_memory_are_bounded_all_the_same():
    wide = (Part(DiscreteGaussian(Fraction(10**14)), 1.0), Part(DiscreteLaplace(Fraction(10**7)), 0.5, 4))
    assert noise_sums._convolved(wide, 0.05) is None
    deviation = (10**14 + 4 * 0.25 * 2 * 10**14) ** 0.5
    assert 1.9 * deviation < half_width(wide, CONFIDENCE) < 3.5 * deviation


def test_no_fixed_number_of_deviations_would_do():
    """2.12 deviations are too few for some sums and needlessly many for others."""
    rare = (Part(DiscreteLaplace(Fraction(1, 3)), 1.0),)
    many = (Part(DiscreteLaplace(Fraction(10)), 1.0, 50),)
    widths = [
        half_width(parts, CONFIDENCE) / (parts[0].count ** 0.5 * parts[0].noise.standard_deviation()) for parts in (rare, many)
    ]
    assert widths[0] > 2.12 > 2.0 > widths[1] > 1.94


SIZES = {"a": 3, "b": 2, "c": 4}
FAMILIES = [
    [("a",), ()],
    [("b", "a"), ("a",), ()],
    [("a", "b"), ("b", "c"), ("a",)],
    [("c", "a", "b"), ("a", "b"), ("c",), ()],
    [("a",), ("a",)],
]


def tables(family, values, variances):
    found, start = [], 0
    for keys, variance in zip(family, variances, strict=True):
        size = prod(SIZES[key] for key in keys)
        found.append(NoisyTable(keys, tuple(SIZES[k] for k in keys), tuple(values[start : start + size]), variance))
        start += size
    return found


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_weights_are_what_a_change_of_one_noisy_count_does_to_an_agreed_one(family):
    variances = [1.0, 7.0, 3.0, 20.0][: len(family)]
    cells = sum(prod(SIZES[key] for key in keys) for keys in family)
    plain = agree(tables(family, [0] * cells, variances))
    moved = [agree(tables(family, [1000 * (i == j) for j in range(cells)], variances)) for i in range(cells)]
    bounds = np.cumsum([0, *(prod(SIZES[key] for key in keys) for keys in family)])
    for place, one in enumerate(plain):
        for cell in range(len(one.values)):
            effect = np.array([other[place].values[cell] / 1000 for other in moved])
            for number in range(len(family)):
                own = effect[bounds[number] : bounds[number + 1]]
                claimed = [w for at, weight, count in one.weights for w in [weight] * count if at == number]
                claimed += [0.0] * (len(own) - len(claimed))
                assert sorted(own) == pytest.approx(sorted(claimed), abs=1e-12)
        spread = sum(count * weight**2 * variances[at] for at, weight, count in one.weights)
        assert spread == pytest.approx(one.deviation**2)


@pytest.fixture(scope="module")
def errors():
    """Of 6,000 tables of noise of both laws the error of each of three agreed cells, and its half width."""
    noises = [DiscreteLaplace(Fraction(5)), DiscreteGaussian(Fraction(9)), DiscreteLaplace(Fraction(12))]
    family = [("b", "a"), ("a",), ()]
    truth = [10, 20, 30, 40, 50, 60, 50, 70, 90, 210]
    n, randomness = 6000, TestRandomness(8)
    sizes = [prod(SIZES[key] for key in keys) for keys in family]
    drawn = np.concatenate(
        [noise.sample(n * size, randomness).reshape(n, size) for noise, size in zip(noises, sizes, strict=True)], axis=1
    )
    variances = [noise.standard_deviation() ** 2 for noise in noises]
    missed = []
    for row in drawn:
        found = agree(tables(family, [int(t + z) for t, z in zip(truth, row, strict=True)], variances))
        for one, true in zip(found, (10, 50, 210), strict=True):
            parts = tuple(Part(noises[at], weight, count) for at, weight, count in one.weights)
            missed.append((abs(one.values[0] - true), half_width(parts, CONFIDENCE)))
    return np.array(missed, np.float64).reshape(n, 3, 2)


@pytest.mark.parametrize("share", [1.0, 0.75], ids=["as built", "three quarters of the width"])
def test_agreed_counts_are_covered_as_often_as_claimed_and_a_narrower_interval_is_found_out(errors, share):
    """Binomial, alpha 1e-9 for each of three cells."""
    covered = (errors[:, :, 0] <= share * errors[:, :, 1] + 1e-9).sum(axis=0)
    fits = [stats.binom.cdf(int(times), len(errors), 0.95) > 1e-9 for times in covered]
    assert all(fits) if share == 1 else not any(fits)
