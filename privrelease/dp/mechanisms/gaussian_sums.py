"""Sums over the discrete Gaussian, with the error on the safe side: its tail, and the exact delta of one noisy number.

w(y) = exp(-y^2 / (2 s2)), Z = sum of w over the integers, s2 = sigma squared.

Exact delta (Canonne, Kamath, Steinke 2020, theorem 7), one integer that a person moves by at most D:
    delta = P(Y > a) - e^eps P(Y > a + D),  a = eps s2 / D - D/2
          = (1/Z) sum over y > a of w(y) (1 - exp(-(y - a) D / s2)).
The second form has only positive terms, so it is summed as it stands where sigma is small. Where sigma is large the two tails are
taken by the Euler-Maclaurin formula, sum over y >= m of w(y) = I + w(m)/2 - w'(m)/12 + R with I the integral from m and |R| <= 0.01
times the total variation of w'' beyond m (the remainder after the term of order two is at most 2 zeta(3)/(2 pi)^3 = 0.0097 times the
integral of |w'''|).

The law at distance d < D is no worse: the likelihood ratio of the two laws is monotone, so the best event is {Y <= c}, and
P(Y <= c) - e^eps P(Y <= c - d) grows with d for each c.

Rounding: the remainder of a cut sum is added, Z is replaced by a lower bound (sqrt(2 pi s2) <= Z by Poisson summation, and 1 <= Z),
and the result is multiplied by 1 + 1e-9, while the float sums are good to about 1e-12 (terms are positive, arguments below 1e3).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["delta_of_one_number", "tail_above"]

#: Above this sigma the sums are taken by Euler-Maclaurin.
_DIRECT: Final = 2048.0
#: Sums run to so many sigma past their start or past zero: exp(-reach^2/2) is 2e-22 of the first term.
_REACH: Final = 10.0
_MARGIN: Final = 1 + 1e-9
_TINY: Final = 1e-300


def delta_of_one_number(sigma_squared: Fraction, sensitivity: int, epsilon: Fraction) -> float:
    """Return the exact delta of one discrete Gaussian number, rounded up.

    >>> f"{delta_of_one_number(Fraction('3.73') ** 2, 1, Fraction(1)):.3g}"
    '1.04e-05'
    """
    start = epsilon * sigma_squared / sensitivity - Fraction(sensitivity, 2)
    first = math.floor(start) + 1
    s2 = float(sigma_squared)
    sigma = math.sqrt(s2)
    if first < -_REACH * sigma:
        return 1.0
    if sigma <= _DIRECT:
        mass = _positive_terms(s2, first, float(first - start), float(sensitivity / sigma_squared))
    else:
        mass = _two_tails(s2, first, sensitivity, float(epsilon))
    return min(1.0, max(mass / _normaliser_low(s2), _TINY) * _MARGIN)


def tail_above(sigma_squared: Fraction, value: int) -> float:
    """Return an upper bound of P(Y >= value), above it by a relative 1e-8 at most (value >= 0, or any value at small sigma)."""
    s2 = float(sigma_squared)
    if value < -_REACH * math.sqrt(s2):
        return 1.0
    if math.sqrt(s2) <= _DIRECT:
        values = _from(value, s2)
        mass = float(_weights(values, s2).sum()) + _rest(float(values[-1]), s2)
    else:
        mass = _tail(float(value), s2, up=True)
    return min(1.0, max(mass / _normaliser_low(s2), _TINY) * _MARGIN)


def _from(first: int, s2: float) -> NDArray[np.float64]:
    """Return first, first + 1, ... to ten sigma past the larger of ``first`` and 0."""
    import numpy as np

    return np.arange(first, max(first, 0) + math.ceil(_REACH * math.sqrt(s2)) + 2, dtype=np.float64)


def _weights(values: NDArray[np.float64], s2: float) -> NDArray[np.float64]:
    import numpy as np

    return np.exp(-(values * values) / (2 * s2))


def _rest(last: float, s2: float) -> float:
    """Return a bound of the sum of w beyond ``last`` > 0: the ratio of neighbours is below exp(-last/s2)."""
    return math.exp(-last * last / (2 * s2)) / -math.expm1(-last / s2)


def _positive_terms(s2: float, first: int, offset: float, rate: float) -> float:
    """Return the sum of w(y)(1 - exp(-(y - a) D/s2)) for y >= first; ``offset`` = first - a, ``rate`` = D/s2."""
    import numpy as np

    values = _from(first, s2)
    gains = -np.expm1(-(values - first + offset) * rate)
    return float((_weights(values, s2) * gains).sum()) + _rest(float(values[-1]), s2)


def _two_tails(s2: float, first: int, sensitivity: int, epsilon: float) -> float:
    """Return an upper bound of tail(first) - e^epsilon tail(first + sensitivity) at large sigma."""
    upper = _tail(float(first), s2, up=True)
    factor = math.exp(epsilon) if epsilon < 700 else 0.0  # less subtracted: still an upper bound
    return max(0.0, upper - factor * _tail(float(first + sensitivity), s2, up=False)) + 1e-12 * upper


def _tail(m: float, s2: float, *, up: bool) -> float:
    """Return the sum of w(y) for y >= m, rounded up or down by its Euler-Maclaurin remainder."""
    weight = math.exp(-m * m / (2 * s2))
    integral = math.sqrt(math.pi * s2 / 2) * math.erfc(m / math.sqrt(2 * s2))
    middle = integral + weight / 2 + m / s2 * weight / 12
    if m >= math.sqrt(3 * s2):  # w'' falls from here on
        variation = weight * (m * m / s2 - 1) / s2
    else:
        variation = 4 / s2
    return middle + 0.01 * variation if up else max(0.0, middle - 0.01 * variation)


@cache
def _normaliser_low(s2: float) -> float:
    """Return a lower bound of Z, within a relative 1e-14."""
    sigma = math.sqrt(s2)
    if sigma > 2:  # the next term of Poisson summation is 2 exp(-2 pi^2 s2) < 1e-34
        return math.sqrt(2 * math.pi * s2)
    return 1 + 2 * math.fsum(math.exp(-y * y / (2 * s2)) for y in range(1, 40))
