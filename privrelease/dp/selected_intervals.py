"""Intervals of counts that are printed because they are large: the law of the noise given that it passed the threshold.

A count n, not negative, is printed with its noise as y = n + X where y >= t, and not at all otherwise. An interval y ± h that covers n with 95 % over
all draws covers it far less often among those that are printed: a count of 3 under a threshold of 10 is printed only when the noise is at
least 7. What is wanted is, for every n,
    P(n in C(Y) | Y >= t) >= confidence.

Construction (Neyman: a set of counts that would each have made this figure likely)
    A(n) = {y >= t : |y - n| <= h(n)}, h(n) the least h with P(|X| > h, X >= t - n) <= (1 - confidence) P(X >= t - n);
    C(y) = {n >= least : y in A(n)}. So P(n in C(Y) | Y >= t) = P(Y in A(n) | Y >= t) >= confidence for every n, by definition of h(n).

C(y) is an interval that holds y
    Both laws of noise are symmetric and log-concave. Their truncations Y | Y >= t grow with n in likelihood ratio, so that the upper end
    u(n) = n + h(n) grows where A(n) begins at t. Where it begins above, h(n) grows by at most 1 a step, since
    2 P(X = h + 1) >= P(X = t - n - 1) for h + 1 <= n + 1 - t. So both ends of A(n) grow with n, and {n : y in A(n)} has no gaps; y is in
    A(y), whose middle it is. Every count n <= t has the same conditional law under Laplace noise (it has no memory): within h of the
    threshold the low end is ``least``, and that is the truth.

Rounding
    Tails are taken from above where they are left out and from below where they are divided by, so that A(n) is never too small.
    A Gaussian tail further out than doubles reach is bounded: the low end then is ``least``.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, isqrt
from typing import TYPE_CHECKING, Final

from privrelease.dp.mechanisms import DiscreteLaplace

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from privrelease.dp.mechanisms import DiscreteGaussian

__all__ = ["selected_interval"]

#: By what share a tail may be off, many times over: doubles lose less than 1e-12 of one here, and that of a Gaussian is known to 1e-9.
_SLACK: Final = 1e-8
#: Tails further out are below 1e-300 and are not computed: a bound of them is taken.
_FAR: Final = 600


@lru_cache(maxsize=65536)
def selected_interval(
    noise: DiscreteLaplace | DiscreteGaussian, *, threshold: int, noisy: int, least: int, confidence: Fraction
) -> tuple[int, int]:
    """Return the ends of C(noisy): for every true count of at least ``least`` they hold it with ``confidence`` among figures >= ``threshold``.

    >>> from fractions import Fraction
    >>> noise = DiscreteLaplace(Fraction(5, 2))
    >>> [selected_interval(noise, threshold=10, noisy=y, least=0, confidence=Fraction(95, 100)) for y in (10, 17, 18, 40)]
    [(0, 16), (0, 24), (12, 25), (33, 47)]
    """
    if noisy < threshold:
        msg = "a figure below the threshold is not printed"
        raise ValueError(msg)
    outside = 1 - confidence
    high = noisy + noise.half_width(confidence)
    floor = min(max(least, _lowest(noise, threshold)), noisy)
    if noisy - threshold > 4 * (high - noisy) + 4:  # the truncation is beyond what any of these counts would notice
        return max(least, 2 * noisy - high), high
    low = _first(floor, noisy, lambda n: _within(noise, threshold, n, noisy, outside))
    if low == floor:  # what would make so large a figure likely has no lower end above this one
        low = least
    last = _first(noisy, high + 1, lambda n: n > noisy and not _within(noise, threshold, n, noisy, outside))
    return min(low, noisy), max(last - 1, noisy)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the least number in [low, high] from which on the predicate holds; it holds at ``high``."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _lowest(noise: DiscreteLaplace | DiscreteGaussian, threshold: int) -> int:
    """The least count whose law given that it passes is computed by itself; of lower ones the upper ends of A are not above its own."""
    if isinstance(noise, DiscreteLaplace):
        return threshold  # the same law for all of them
    return threshold - 30 * (isqrt(int(noise.scale)) + 1)


def _within(noise: DiscreteLaplace | DiscreteGaussian, threshold: int, n: int, y: int, outside: Fraction) -> bool:
    """Return True if y is in A(n): if the figures nearer to n than y is are not enough."""
    h = abs(y - n) - 1
    if h < 0:
        return True
    passes_low, passes_high = _at_least(noise, threshold - n)
    left_out = beyond = _at_least(noise, h + 1)[1]  # above n + h
    if threshold <= n - h - 1:  # and below n - h, down to the threshold
        left_out += max(0.0, beyond - (1 - passes_high))
    return left_out > float(outside) * passes_low * (1 - _SLACK)


def _at_least(noise: DiscreteLaplace | DiscreteGaussian, value: int) -> tuple[float, float]:
    """Return bounds of P(X >= value) from below and above."""
    if value <= 0:
        low, high = _at_least(noise, 1 - value)
        return 1 - high, 1 - low
    scale = float(noise.scale)
    far = value / scale if isinstance(noise, DiscreteLaplace) else value * value / (2 * scale)
    if far > _FAR:
        return 0.0, 1e-250
    found = exp(-far) / (1 + exp(-1 / scale)) if isinstance(noise, DiscreteLaplace) else min(float(noise.tail(value)), 1.0)
    return found * (1 - _SLACK), min(found * (1 + _SLACK), 1.0)
