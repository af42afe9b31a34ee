"""Exact sums of fractions over arrays: averages that are compared with thresholds never pass through a float.

A sum of thousands of fractions with unrelated denominators has a denominator of thousands of digits, which no report can
print. Such a sum is rounded up to a multiple of 10**-40, against us, and says so.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RatioSum", "fraction_of", "sum_of_ratios"]

#: More distinct denominators than this are added as rounded-up decimals: exact addition would take seconds.
MOST_DENOMINATORS = 4096
#: A denominator of more bits than this (about 300 digits) is rounded up.
MOST_BITS = 1024
#: Rounded sums are multiples of 1 / GRID.
GRID = 10**40


@dataclass(frozen=True, slots=True)
class RatioSum:
    """``value``: the sum, exact unless ``rounded_up``, then at most ``len(terms) / GRID`` above it and never below."""

    value: Fraction
    rounded_up: bool


def _reduced(numerator: int, denominator: int) -> tuple[int, int]:
    common = gcd(numerator, denominator)
    return numerator // common, denominator // common


def sum_of_ratios(numerators: Sequence[int], denominators: Sequence[int]) -> RatioSum:
    """Σ numerators[i] / denominators[i], for integers >= 0 over integers > 0.

    Pairs are added in a balanced tree over least common denominators. Errors: ValueError where a denominator is not positive.

    >>> sum_of_ratios([1, 1, 1], [2, 3, 6])
    RatioSum(value=Fraction(1, 1), rounded_up=False)
    """
    merged: dict[int, int] = {}
    for numerator, denominator in zip(numerators, denominators, strict=True):
        if denominator <= 0:
            msg = "a denominator must be positive"
            raise ValueError(msg)
        merged[denominator] = merged.get(denominator, 0) + numerator
    if len(merged) > MOST_DENOMINATORS:
        return _sum_up(merged)
    terms = [_reduced(merged[denominator], denominator) for denominator in sorted(merged)]
    while len(terms) > 1:
        paired = []
        for (n1, d1), (n2, d2) in zip(terms[::2], terms[1::2], strict=False):
            common = gcd(d1, d2)
            paired.append((n1 * (d2 // common) + n2 * (d1 // common), d1 // common * d2))
        if len(terms) % 2:
            paired.append(terms[-1])
        terms = paired
    exact = Fraction(*terms[0]) if terms else Fraction(0)
    return _sum_up(merged) if exact.denominator.bit_length() > MOST_BITS else RatioSum(exact, rounded_up=False)


def _sum_up(merged: dict[int, int]) -> RatioSum:
    total = sum(-(-numerator * GRID // denominator) for denominator, numerator in merged.items())
    return RatioSum(Fraction(total, GRID), rounded_up=True)


def fraction_of(value: float) -> Fraction:
    """Give the exact value of an integer or of a finite binary float.

    >>> fraction_of(0.5), fraction_of(3)
    (Fraction(1, 2), Fraction(3, 1))
    """
    return Fraction(value)
