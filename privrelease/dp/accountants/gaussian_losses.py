"""The privacy loss of discrete Gaussian noise moved by a whole number, on a grid of losses, rounded against us; whatever sigma is.

Loss
    P is the noise, Q the noise moved by D. At x the loss is log P(x)/Q(x) = (D/s2)(D/2 - x), s2 = sigma squared. It falls in x, so a block
    of neighbouring x counts with the loss of its first. The grid takes ceil(loss / step).

Mass
    P(x) = exp(-x^2/(2 s2)) / Z. A block counts with its width times its largest weight; Z is taken as the larger of sqrt(2 pi s2), below
    which it never is (Poisson summation: every term is positive), and 1, the weight at 0. Noise beyond ten sigma has probability below
    2 exp(-50) (it is sub-Gaussian: Canonne, Kamath, Steinke 2020) and counts as lost: infinite loss.
    Small sigma has blocks of one x, and Z is summed. Floats err by some 1e-15 of a weight, covered by the factor 1 + 1e-12.

So the masses are an upper bound at every loss, and composed masses bound the composed loss. They exceed the truth by a share below 10 w / sigma,
w the width of a block: at most 10 / 2^14 in one draw.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["gaussian_losses"]

#: Sigma in blocks: up to this sigma every x is a block of its own.
_BLOCKS: Final = 1 << 14
_REACH: Final = 10
_ABOVE: Final = 1 + 1e-12
_TIE: Final = 1e-9


def gaussian_losses(s2: Fraction, shift: int, step: float) -> tuple[dict[int, float], float]:
    """Return the masses by loss (in whole steps of the grid), and the mass of infinite loss.

    >>> from fractions import Fraction
    >>> masses, lost = gaussian_losses(Fraction(100), 1, 1e-3)
    >>> 1 <= sum(masses.values()) < 1 + 1e-9, lost < 1e-21
    (True, True)
    """
    import numpy as np

    variance, sigma = float(s2), math.sqrt(s2)
    width = max(1, math.ceil(sigma / _BLOCKS))
    blocks = math.ceil(_REACH * sigma / width) + 1
    first = np.arange(-blocks, blocks + 1, dtype=np.float64) * width
    nearest = np.where(first > 0, first, np.minimum(0.0, first + (width - 1)))
    weight = np.exp(-(nearest * nearest) / (2 * variance))
    least = float(weight.sum()) if width == 1 else math.sqrt(2 * math.pi * variance)
    mass = weight * (width / max(1.0, least) * _ABOVE)
    loss = (shift / variance) * (shift / 2 - first)
    at = np.ceil(loss / step + _TIE).astype(np.int64)
    low = int(at.min())
    summed = np.bincount(at - low, mass)
    return {low + place: float(summed[place]) for place in np.flatnonzero(summed).tolist()}, 2 * math.exp(-(_REACH**2) / 2)
