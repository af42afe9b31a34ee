"""Brackets of exp of a rational: two fractions with the true value between them.

Tails, thresholds and probabilities that a guarantee rests on are computed from these, so that rounding is always against us.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

__all__ = ["exp_bracket", "float_up", "rounded_down", "rounded_up"]

_DIGITS: Final = 50
_FLOOR: Final = Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_CEILING: Final = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
#: `Decimal.exp` is documented as correctly rounded (half an ulp); a hundred ulps are taken off and put on.
_SLACK: Final = Fraction(1, 10 ** (_DIGITS - 3))


def exp_bracket(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return (low, high) with low <= exp(x) <= high and high/low < 1 + 1e-40, for |x| <= 10^6.

    >>> low, high = exp_bracket(Fraction(-1))
    >>> low < high, float(low)
    (True, 0.36787944117144233)
    """
    if abs(x) > 10**6:
        msg = "exp_bracket needs |x| <= 10^6"
        raise ValueError(msg)
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    low = Fraction(_FLOOR.exp(_FLOOR.divide(numerator, denominator))) * (1 - _SLACK)
    high = Fraction(_CEILING.exp(_CEILING.divide(numerator, denominator))) * (1 + _SLACK)
    return low, high


def rounded_up(value: Fraction, denominator: int) -> Fraction:
    """Return the least multiple of 1/denominator that is at least ``value``: for scales, where larger is more private.

    >>> rounded_up(Fraction(1, 3), 10), rounded_up(Fraction(1, 2), 10)
    (Fraction(2, 5), Fraction(1, 2))
    """
    return Fraction(-(-value.numerator * denominator // value.denominator), denominator)


def rounded_down(value: Fraction, denominator: int) -> Fraction:
    """Return the largest multiple of 1/denominator that is at most ``value``.

    >>> rounded_down(Fraction(1, 3), 10)
    Fraction(3, 10)
    """
    return Fraction(value.numerator * denominator // value.denominator, denominator)


def float_up(value: float, *, digits: int = 12) -> Fraction:
    """Return a decimal fraction of at most ``digits`` significant digits that is at least ``value`` (>= 0, finite).

    >>> float_up(0.1, digits=3)
    Fraction(101, 1000)
    """
    context = Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Fraction(context.plus(Decimal(value)))
