"""Within what a weighted sum of independent noises stays: for figures that least squares puts together from many noisy ones.

The sum
    X = sum over parts of weight · (Z_1 + ... + Z_count), all Z independent, each of its part's law on the integers. A half width h is provable
    where P(|X| > h) <= outside. No normal approximation and no number of standard deviations is trusted: neither holds for Laplace noise.

Chernoff's bound (for any sum)
    P(|X| >= h) <= 2 exp(-s h) prod M(weight s)^count for every s > 0, M the moment-generating function: of the discrete Laplace
    (1 - a)^2/((1 - a e^s)(1 - a e^-s)), a = exp(-1/b), finite for |s| < 1/b; of the discrete Gaussian at most exp(s^2 sigma^2/2) (Canonne, Kamath
    and Steinke 2020). So h(s) = (ln(2/outside) + sum count ln M(weight s))/s is provable whatever s is; a search over s makes it small.

Convolution (where the laws fit into memory)
    The sum of a part is an integer whose law is a power of its law's transform, exact but for what lies beyond a reach that Chernoff's bound
    makes less than 10^-10. Weighted, each part's sum is moved to the nearest point of a common grid; all J parts together are moved by at most
    J/2 of its steps, which the half width is widened by. The transform of the grid wraps around at a reach beyond which lies less than 10^-10.
    These losses, and those of double precision (below 10^-9 at these lengths), are taken off ``outside`` many times over (10^-6).
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, inf, isfinite, log, log1p, sinh
from typing import TYPE_CHECKING, Final

from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Part", "half_width"]

_LOST: Final = 1e-10
_SLACK: Final = 1e-6
_LONGEST: Final = 1 << 20
_GRID: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Part:
    """``count`` independent draws of a noise, each with this ``weight``."""

    noise: DiscreteLaplace | DiscreteGaussian
    weight: float
    count: int = 1


@lru_cache(maxsize=1024)
def half_width(parts: tuple[Part, ...], confidence: Fraction) -> float:
    """Return a provable h with P(|X| <= h) >= confidence, X the sum of ``parts`` (at least one, no weight of 0).

    >>> from fractions import Fraction
    >>> h = half_width((Part(DiscreteLaplace(Fraction(10)), 1.0),), Fraction(95, 100))
    >>> DiscreteLaplace(Fraction(10)).half_width(Fraction(95, 100)), 30 < h < 30.01
    (30, True)
    >>> half_width((Part(DiscreteLaplace(Fraction(10)), 0.01, 10000),), Fraction(95, 100)) < 2 * 14.14
    True
    """
    outside = float(1 - confidence)
    widest = _chernoff(parts, outside)
    convolved = _convolved(parts, outside - _SLACK)
    return widest if convolved is None else min(widest, convolved)


def _chernoff(parts: tuple[Part, ...], outside: float) -> float:
    """The least h(s) of a search; every h(s) is provable."""
    limits = [1 / (float(part.noise.scale) * abs(part.weight)) for part in parts if isinstance(part.noise, DiscreteLaplace)]
    variance = sum(part.count * (part.weight * part.noise.standard_deviation()) ** 2 for part in parts)
    most = min(limits) if limits else 64 / variance**0.5 if variance else 1.0
    found = inf
    # geometric steps towards 0, and the same towards the pole
    for k in range(400):
        ratio = exp(-k / 24)
        for s in (most * ratio, most * (1 - ratio)):
            if 0 < s < most or (not limits and s > 0):
                value = (log(2 / outside) + sum(part.count * _log_moment(part, s) for part in parts)) / s
                found = min(found, value) if isfinite(value) else found
    return found


def _log_moment(part: Part, s: float) -> float:
    """Ln M(weight s), or more."""
    t = abs(part.weight) * s
    if isinstance(part.noise, DiscreteGaussian):
        return t * t * float(part.noise.scale) / 2
    rate = 1 / float(part.noise.scale)
    if t >= rate:
        return inf
    # M(t) = (cosh r - 1)/(cosh r - cosh t), r = 1/b, and cosh x - 1 = 2 sinh(x/2)^2; sinh x/sinh y <= exp(x - y) for x <= y
    ratio = exp(t - rate) if rate > 1000 else (sinh(t / 2) / sinh(rate / 2)) ** 2
    return -log1p(-ratio) if ratio < 1 else inf


def _convolved(parts: tuple[Part, ...], outside: float) -> float | None:
    """By the laws themselves; None where they are too long."""
    import numpy as np

    reach = _chernoff(parts, _LOST)
    grid = _GRID * (1 + len(parts) // 16)
    if not isfinite(reach) or grid > _LONGEST:
        return None
    step = 2 * reach / (grid - 2)
    transform: NDArray[np.complex128] | None = None
    for part in parts:
        law = _law(part)
        if law is None:
            return None
        values, mass = law
        places = np.rint(values * (abs(part.weight) / step)).astype(np.int64) % grid
        own = np.fft.rfft(np.bincount(places, weights=mass, minlength=grid))
        transform = own if transform is None else transform * own
    assert transform is not None
    mass = np.fft.irfft(transform, grid)
    half = grid // 2
    by_size = np.zeros(half + 1)  # mass at the distance 0, 1, ... steps from 0
    by_size[0], by_size[half] = mass[0], mass[half]
    by_size[1:half] = mass[1:half] + mass[:half:-1]
    beyond = np.append(np.cumsum(by_size[::-1])[::-1][1:], 0.0)
    distance = int(np.argmax(beyond <= outside))
    return float((distance + len(parts) / 2) * step)


def _law(part: Part) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The sum of a part's draws: integers around 0 and their masses; None where there are too many of them."""
    import numpy as np

    reach = ceil(_chernoff((Part(part.noise, 1.0, part.count),), _LOST)) + 1
    length = 1 << (2 * reach + 1).bit_length()
    if length > _LONGEST:
        return None
    values = np.arange(-(length // 2), length // 2)
    single = _masses(part.noise, values)
    if part.count > 1:
        transform = np.fft.rfft(np.fft.ifftshift(single)) ** part.count
        single = np.fft.fftshift(np.fft.irfft(transform, length))
    return values.astype(np.float64), np.maximum(single, 0.0)


def _masses(noise: DiscreteLaplace | DiscreteGaussian, values: NDArray[np.int64]) -> NDArray[np.float64]:
    import numpy as np

    size = np.abs(values).astype(np.float64)
    scale = float(noise.scale)
    powers = np.exp(-size / scale) if isinstance(noise, DiscreteLaplace) else np.exp(-size * size / (2 * scale))
    mass: NDArray[np.float64] = powers / powers.sum()
    return mass
