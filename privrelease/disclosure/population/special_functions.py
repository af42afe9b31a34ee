"""The digamma function, to about 13 digits, without a numerical library at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["digamma"]

_SHIFT = 10
#: Bernoulli numbers B_2k / 2k of the asymptotic series (Abramowitz and Stegun 6.3.18).
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)


def digamma(x: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Logarithmic derivative of the gamma function for x > 0, of the shape of ``x``.

    >>> round(float(digamma(1.0)), 12)  # minus Euler's constant
    -0.577215664902
    """
    values = np.asarray(x, np.float64)
    total = np.zeros_like(values)
    for step in range(_SHIFT):
        total -= 1 / (values + step)
    shifted = values + _SHIFT
    square = 1 / (shifted * shifted)
    power = square.copy()
    for term in _SERIES:
        total -= term * power
        power *= square
    return np.asarray(total + np.log(shifted) - 0.5 / shifted, np.float64)
