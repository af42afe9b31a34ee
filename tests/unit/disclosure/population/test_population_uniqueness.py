from __future__ import annotations

from math import comb, lgamma, log

import numpy as np
import pytest

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.population.pitman import PitmanFit, fit_pitman
from privrelease.disclosure.population.snb import digamma, population_classes, snb, solve_snb
from privrelease.disclosure.population.uniqueness import ESTIMATORS, estimate_population_uniqueness
from privrelease.disclosure.population.zayatz import zayatz

SIZES = ClassSizes.from_arrays([1, 2, 3, 4, 10], [30, 10, 5, 3, 2])


def test_zayatz_is_bayes_with_hypergeometric_draws():
    sizes, population = ClassSizes.from_arrays([1, 3], [2, 1]), 12
    drawn = {j: j * comb(population - j, 4) / comb(population, 5) for j in (1, 3)}
    chance = 2 / 3 * drawn[1] / (2 / 3 * drawn[1] + 1 / 3 * drawn[3])
    assert zayatz(sizes, population) == pytest.approx(2 * chance * 12 / 5)


def log_likelihood(theta: float, alpha: float, sizes: ClassSizes) -> float:
    value = sum(log(theta + i * alpha) for i in range(1, sizes.n_classes))
    value -= lgamma(sizes.n_records + theta) - lgamma(1 + theta)
    for size, classes in zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True):
        value += classes * (lgamma(size - alpha) - lgamma(1 - alpha))
    return value


@pytest.mark.parametrize(
    "sizes",
    [SIZES, ClassSizes.from_arrays([1, 2, 3], [50, 6, 2]), ClassSizes.from_arrays([1, 3, 8, 20, 40], [1, 3, 4, 4, 3])],
)
def test_the_pitman_fit_is_the_maximum_of_its_likelihood(sizes):
    fit = fit_pitman(sizes)
    best = log_likelihood(fit.theta, fit.alpha, sizes)
    for theta in (0.97, 1, 1.03):
        for alpha in (-0.02, 0, 0.02):
            moved = (fit.theta * theta, fit.alpha + alpha)
            if min(moved[0] + moved[1], moved[0] + (sizes.n_classes - 1) * moved[1], 1 - moved[1]) > 0:
                assert log_likelihood(*moved, sizes) <= best + 1e-9


def test_classes_as_equal_as_chance_makes_them_have_no_pitman_fit():
    sizes = ClassSizes.from_arrays([1, 5, 6, 7], [1, 20, 20, 10])
    assert fit_pitman(sizes) is None
    assert estimate_population_uniqueness(sizes, 10**6, "dankar").estimator == "zayatz"


def test_pitman_with_alpha_zero_expects_theta_uniques():
    assert PitmanFit(5.0, 0.0).uniques(10**6) == pytest.approx(5)


def test_snb_finds_the_parameters_that_made_the_expected_class_sizes():
    # 1 + X members, X negative binomial (alpha, beta), each drawn with chance pi; expected classes of each sample size
    alpha, beta, fraction, classes = 2.0, 0.4, 0.3, 1_000_000
    members = range(1, 120)
    of_size = {n: (n - 1 + 1) * beta**2 * (1 - beta) ** (n - 1) for n in members}  # C(x + 1, x) = x + 1
    expected = [
        round(classes * sum(of_size[n] * comb(n, f) * fraction**f * (1 - fraction) ** (n - f) for n in members))
        for f in range(1, 40)
    ]
    sizes = ClassSizes.from_arrays(range(1, 40), expected)
    population = round(classes * sum(n * share for n, share in of_size.items()))
    assert population_classes(sizes, population) == pytest.approx(classes, rel=0.1)
    uniques = solve_snb(sizes.uniques, 2 * expected[1], fraction, classes)
    assert uniques == pytest.approx(classes * beta**alpha, rel=1e-3)


def test_snb_of_a_nearly_complete_sample_is_near_the_sample():
    assert snb(SIZES, SIZES.n_records) == 30
    assert snb(SIZES, SIZES.n_records + 1) == pytest.approx(30, abs=1)


def test_shlosser_of_the_whole_population_is_its_number_of_classes():
    assert population_classes(SIZES, SIZES.n_records) == SIZES.n_classes
    assert population_classes(SIZES, 10 * SIZES.n_records) > SIZES.n_classes


@pytest.mark.parametrize("name", [name for name, _ in ESTIMATORS] + ["dankar"])
def test_without_sample_uniques_there_are_no_population_uniques(name):
    assert estimate_population_uniqueness(ClassSizes.from_counts([2, 3]), 100, name).uniques == 0


@pytest.mark.parametrize("name", [name for name, _ in ESTIMATORS])
def test_an_estimate_lies_between_nobody_and_everybody(name):
    for sizes in (SIZES, ClassSizes.from_counts([1] * 20), ClassSizes.from_counts([1, 7]), ClassSizes.from_counts([1])):
        for population in (sizes.n_records, 2 * sizes.n_records, 10**6):
            share = estimate_population_uniqueness(sizes, population, name).share
            assert share is None or 0 <= share <= 1


def test_dankar_takes_pitman_for_small_fractions_and_the_smaller_of_zayatz_and_snb_for_large():
    assert estimate_population_uniqueness(SIZES, 970, "dankar").estimator == "pitman"
    large = estimate_population_uniqueness(SIZES, 200, "dankar")
    both = [estimate_population_uniqueness(SIZES, 200, name).uniques for name in ("zayatz", "snb")]
    assert large.uniques == min(both)


def test_a_population_smaller_than_the_sample_is_refused():
    with pytest.raises(ValueError, match="smaller than the sample"):
        estimate_population_uniqueness(SIZES, 10, "pitman")


def test_digamma_satisfies_its_recurrence():
    x = np.array([1e-3, 0.5, 3.0, 1e6])
    assert digamma(x + 1) - digamma(x) == pytest.approx(1 / x, rel=1e-6)
