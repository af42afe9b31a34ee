"""Between zCDP and (epsilon, delta), with every rounding against us.

A rho-zCDP release is (epsilon, delta)-DP for every alpha > 1 with (Canonne, Kamath, Steinke 2020, proposition 7 and corollary 13)
    delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) · (1 - 1/alpha)^alpha,
or, solved for epsilon,
    epsilon = alpha rho + log(1 - 1/alpha) - (log delta + log alpha)/(alpha - 1).
It holds for each alpha, so a poorly placed minimum costs tightness, never truth; what remains is float rounding (a relative 1e-12 here),
covered by the margins: delta times 1 + 1e-9, epsilon plus 1e-9 relative and absolute, then up to 12 digits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from privrelease.dp.bounds import float_up

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["delta_of_rho", "epsilon_of_rho", "rho_within"]

_MARGIN: Final = 1e-9
#: log(alpha - 1) is searched between these.
_NARROW, _WIDE = -30.0, 60.0


def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon (rounded up) at which rho-zCDP gives delta, 0 < delta <= 1.

    >>> float(epsilon_of_rho(Fraction("0.02"), Fraction("1e-5"))) < 2 * (0.02 * 11.5129) ** 0.5 + 0.02
    True
    """
    if rho == 0 or delta >= 1:
        return Fraction(0)
    r, log_delta = float(rho), math.log(delta)

    def at(u: float) -> float:
        return math.expm1(u) * r + 2 * r + _log_keep(u) - (log_delta + math.log1p(math.exp(u))) / math.exp(u)

    best = _least(at)
    return float_up(max(0.0, best) * (1 + _MARGIN) + _MARGIN)


def delta_of_rho(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return a delta (rounded up, at most 1) at which rho-zCDP gives epsilon."""
    if rho == 0:
        return Fraction(0)
    r, e = float(rho), float(epsilon)

    def at(u: float) -> float:
        excess = math.exp(u)
        return excess * ((1 + excess) * r - e) - u + (1 + excess) * _log_keep(u)

    best = _least(at)
    return float_up(math.exp(max(best, -690.0)) * (1 + _MARGIN)) if best < 0 else Fraction(1)


@lru_cache(maxsize=1024)
def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho (rounded down, 9 digits) whose conversion stays within (epsilon, delta).

    >>> rho = rho_within(Fraction(1), Fraction("1e-5"))
    >>> delta_of_rho(rho, Fraction(1)) <= Fraction("1e-5") < delta_of_rho(rho * Fraction("1.0001"), Fraction(1))
    True
    """
    low, high = 0.0, float(epsilon) + 1.0
    for _ in range(100):
        if low and high - low < low / 10**9 and _nine_digits(low) == _nine_digits(high):
            break  # whatever is found between them has these digits
        middle = (low + high) / 2
        if delta_of_rho(Fraction(middle), epsilon) <= delta:
            low = middle
        else:
            high = middle
    digits, found = _nine_digits(low)
    return Fraction(found - 1, 10**digits)


def _nine_digits(value: float) -> tuple[int, int]:
    """Return how many decimals nine further digits of ``value`` are, and those digits, rounded down."""
    digits = 9 - math.floor(math.log10(value))
    return digits, math.floor(Fraction(value) * 10**digits)


def _log_keep(u: float) -> float:
    """Return log(1 - 1/alpha), alpha = 1 + exp(u): -log(1 + exp(-u))."""
    return -math.log1p(math.exp(-u)) if u > 0 else u - math.log1p(math.exp(u))


def _least(value: Callable[[float], float]) -> float:
    """Return the least value on a grid refined around its best point: it holds at every point, and the best is taken."""
    low, high = _NARROW, _WIDE
    least = math.inf
    for _ in range(9):
        step = (high - low) / 24
        points = [low + step * i for i in range(25)]
        values = list(map(value, points))
        least = min(values)
        best = points[values.index(least)]
        low, high = best - step, best + step
    return least
