"""Thresholding: a private group key is published only where its noisy count of persons is at or above a threshold.

Law
    Every key held by at least one person gets integer noise X of a symmetric law on its count of persons; it is published when
    count + X >= threshold, with the noisy count. Keys that no one holds are never looked at.

Guarantee
    Let a person hold at most g keys, each counted once, and let data sets D (with the person) and D' (without) have the keys A only in D.
    On the other keys counts change by at most one in at most g places: the noise's own guarantee, q <= e^eps q' and q' <= e^eps q for the
    probabilities q, q' of any outcome there. A key of A is published with probability at most pi = 1 - (1 - p)^g, p = P(1 + X >= threshold).
    D to D': P(S) <= pi + P(S, none of A) <= pi + e^eps P'(S). D' to D: P'(S) - e^eps P(S) <= q' - e^eps q (1 - pi) <= q' pi <= pi.
    So the release is (eps, delta_noise + pi)-DP, and pi <= g p is what is charged. (Korolova and others 2009; Wilson and others 2020.)
    Under replace D and D' have keys A and B of their own: P(S) - e^eps P'(S) <= pi_A + q (1 - pi_A) - q (1 - pi_B) <= max(pi_A, pi_B):
    delta stands as it is, while the noise's own sensitivity doubles.
    The comparison is ``>=``: with integer noise p = P(X >= threshold - 1), e^(1/b) times that of ``>`` (case d06). p is rounded up.
    Where rows, not persons, are counted, a person alone in a key has a count of up to ``rows``: p = P(rows + X >= threshold).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from privrelease.dp.mechanisms.additive import add_noise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.dp.mechanisms.additive import AdditiveNoise
    from privrelease.dp.randomness import Randomness

__all__ = ["Thresholding"]


@dataclass(frozen=True, slots=True)
class Thresholding:
    """Publish a key where count + noise >= ``threshold``.

    >>> from fractions import Fraction
    >>> from privrelease.dp.mechanisms.discrete_laplace import DiscreteLaplace
    >>> selection = Thresholding.calibrated(DiscreteLaplace(Fraction(1)), delta=Fraction("1e-6"))
    >>> selection.threshold, f"{float(selection.delta()):.3g}"
    (15, '6.08e-07')
    """

    name: ClassVar[Literal["thresholding"]] = "thresholding"

    noise: AdditiveNoise
    threshold: int
    #: Most keys that one person holds.
    groups: int = 1
    #: Most that one person alone adds to a key's count (1 where persons are counted).
    rows: int = 1

    def __post_init__(self) -> None:
        if self.groups < 1 or self.rows < 1:
            msg = "a person holds at least one key and counts at least once in it"
            raise ValueError(msg)
        if self.threshold <= self.rows:
            msg = "a threshold that one person reaches without noise protects no one"
            raise ValueError(msg)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return self.noise.scale

    @classmethod
    def calibrated(cls, noise: AdditiveNoise, *, delta: Fraction, groups: int = 1, rows: int = 1) -> Thresholding:
        """Return the least threshold whose selection delta is at most ``delta`` (0 < delta < 1)."""
        if not 0 < delta < 1:
            msg = "a thresholded selection needs a delta between 0 and 1"
            raise ValueError(msg)
        low, high = rows, rows + 1
        while cls(noise, high, groups, rows).delta() > delta:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if cls(noise, middle, groups, rows).delta() > delta:
                low = middle
            else:
                high = middle
        return cls(noise, high, groups, rows)

    def delta(self) -> Fraction:
        """Return groups · p (at most 1), p rounded up the probability that a key of one person is published.

        The union bound, at least 1 - (1 - p)^groups and above it by less than a share groups · p / 2.
        """
        return min(self.groups * self.noise.tail(self.threshold - self.rows), Fraction(1))

    def select(self, counts: Sequence[int], randomness: Randomness) -> tuple[int | None, ...]:
        """Return the noisy count of every key that is published, None for the others; one independent draw a key."""
        noisy = add_noise(self.noise, counts, randomness)
        return tuple(count if count >= self.threshold else None for count in noisy)
