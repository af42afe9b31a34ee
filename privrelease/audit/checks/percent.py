"""Shares as per cent in sentences: never rounded to nothing or to everything where they are not."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["per_cent"]

_LEAST = Fraction(1, 10**6)


def per_cent(share: Fraction) -> str:
    """Write a share in [0, 1] as per cent, with six significant digits.

    >>> per_cent(Fraction(1, 3)), per_cent(Fraction(1)), per_cent(Fraction(1, 10**9)), per_cent(1 - Fraction(1, 10**9))
    ('33.3333 %', '100 %', 'less than 0.0001 %', 'more than 99.9999 %')
    """
    if 0 < share < _LEAST:
        return "less than 0.0001 %"
    if 1 - _LEAST < share < 1:
        return "more than 99.9999 %"
    return f"{float(100 * share):.6g} %"
