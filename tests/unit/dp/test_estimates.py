from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.dp.domains import NumericDomain
from privrelease.dp.estimates import mean, standard_deviation, variance

X = NumericDomain("0", "10", grid="0.5")


def test_without_noise_a_mean_is_the_mean():
    values = [0, 1, 10, 3]  # grid steps 0, 2, 20, 6
    total = sum(2 * value - X.centre for value in values)
    assert mean(X, noisy_sum=total, noisy_count=4) == Fraction(7, 2)


@pytest.mark.parametrize("count", [0, -5, 1])
def test_an_empty_table_gives_a_mean_within_the_domain(count):
    assert X.low <= mean(X, noisy_sum=10_000, noisy_count=count) <= X.high
    assert mean(X, noisy_sum=0, noisy_count=count) == 5


def test_without_noise_a_variance_is_the_variance():
    values = [0, 1, 10, 3]
    steps = [2 * value - X.centre for value in values]
    offset = 50
    squares = sum(step * step - offset for step in steps)
    found = variance(X, noisy_sum=sum(steps), noisy_squares=squares, offset=offset, noisy_count=4)
    assert found == Fraction(sum(value * value for value in values), 4) - Fraction(7, 2) ** 2


def test_a_variance_is_clamped_to_what_the_domain_allows():
    assert variance(X, noisy_sum=0, noisy_squares=-(10**6), offset=50, noisy_count=3) == 0
    assert variance(X, noisy_sum=0, noisy_squares=10**6, offset=50, noisy_count=3) == 25


def test_a_standard_deviation_is_the_root():
    assert standard_deviation(Fraction(2), digits=6) == Fraction(1414213, 10**6)
    assert standard_deviation(Fraction(0)) == 0
