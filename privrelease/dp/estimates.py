"""From noisy integers to the figure that is published: post-processing, which costs nothing and sees no exact figure."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privrelease.dp.domains import NumericDomain

__all__ = ["mean", "standard_deviation", "variance"]


def mean(domain: NumericDomain, *, noisy_sum: int, noisy_count: int) -> Fraction:
    """Return centre + sum of (x - centre) / max(1, count), clamped to the domain.

    ``noisy_sum`` in grid steps around :attr:`~privrelease.dp.domains.NumericDomain.centre`. An empty table gives a figure too.

    >>> from privrelease.dp.domains import NumericDomain
    >>> mean(NumericDomain(0, 100), noisy_sum=-75, noisy_count=5)
    Fraction(35, 1)
    """
    estimate = domain.value(domain.centre + Fraction(noisy_sum, max(1, noisy_count)))
    return min(max(estimate, domain.low), domain.high)


def variance(domain: NumericDomain, *, noisy_sum: int, noisy_squares: int, offset: int, noisy_count: int) -> Fraction:
    """Return offset + squares / n - (sum / n)^2 in squared units, n = max(1, count), clamped to [0, (range/2)^2].

    ``noisy_squares``: of (x - centre)^2 - offset, in squared grid steps.

    >>> from privrelease.dp.domains import NumericDomain
    >>> variance(NumericDomain(0, 4), noisy_sum=0, noisy_squares=4 - 2 * 2, offset=2, noisy_count=2)
    Fraction(2, 1)
    """
    count = max(1, noisy_count)
    steps = offset + Fraction(noisy_squares, count) - Fraction(noisy_sum, count) ** 2
    largest = ((domain.high - domain.low) / 2) ** 2
    return min(max(steps * domain.grid**2, Fraction(0)), largest)


def standard_deviation(value: Fraction, *, digits: int = 12) -> Fraction:
    """Return the square root of a variance, rounded down to so many decimals.

    >>> standard_deviation(Fraction(9, 4))
    Fraction(3, 2)
    """
    unit = 10**digits
    return Fraction(isqrt(value.numerator * unit * unit // value.denominator), unit)
