"""Discrete Gaussian noise with an exact rational variance parameter.

Law
    P(X = k) = exp(-k^2/(2 s2)) / Z on the integers; s2 = sigma squared = ``scale`` > 0 is a fraction, so no root is taken anywhere.

Guarantee (Canonne, Kamath, Steinke 2020)
    zCDP: a vector of integers whose neighbours differ by v with sum v_j^2 <= D2 is (D2/(2 s2))-zCDP, exactly as with continuous noise
    (theorem 4 and its product form), whatever the number of coordinates.
    One number: where a person changes one coordinate, by at most D, delta at epsilon is that of theorem 7, computed and rounded up by
    :mod:`privrelease.dp.mechanisms.gaussian_sums`. The continuous formulas are not used: the analytic sigma exceeds delta by some per
    cent at small sigma, the classic one breaks it altogether past epsilon 8 (case d08).

Calibration
    On a grid of some 2^-24 relative, the least s2 from which on delta stays at most the one asked for; delta is computed at the very s2
    that is used. (At sigma below 1 delta is not monotone in sigma, and a smaller s2 can do by luck: s2 is walked down by steps of 1/64
    there and the first that fails ends the search. From sigma 3 on the ripple is of the order exp(-2 pi^2 s2) < 1e-77.)

Sampler
    CKS 2020, algorithm 3: t = floor(sigma) + 1, Y discrete Laplace of scale t, kept with probability exp(-(|Y| - s2/t)^2/(2 s2)).
    With s2 = p/q that exponent is d^2/(2 p q t^2), d = |Y| q t - p: integers. exp(-(n + r)) is split into V >= n, V geometric, and a coin
    of exp(-r), r < 1. In a batch 2 p q t^2 < 2^62 is required (else Python integers), |Y| q t + p < 2^63 is checked, and an exponent
    with |d| >= 2^31 is divided in Python integers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from privrelease.dp.bernoulli import bernoulli_exp, bernoulli_exp_batch, geometric_batch
from privrelease.dp.bounds import rounded_up
from privrelease.dp.mechanisms.additive import BATCH, SMALL, fit_int64
from privrelease.dp.mechanisms.discrete_laplace import DiscreteLaplace
from privrelease.dp.mechanisms.gaussian_sums import delta_of_one_number, tail_above
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness

__all__ = ["DiscreteGaussian"]

#: Bits of the numerator of a calibrated s2: relative grid 2^-24, and the sampler's integers fit 64 bits up to sigma = 2^15.
_BITS: Final = 24
_STEP: Final = Fraction(63, 64)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Discrete Gaussian noise; ``scale`` is sigma squared.

    >>> noise = DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction("0.5"), delta=Fraction("1e-5"))
    >>> round(float(noise.scale) ** 0.5, 5)
    7.03095
    >>> DiscreteGaussian.for_rho(sensitivity_squared=2, rho=Fraction("0.02")).scale
    Fraction(50, 1)
    """

    name: ClassVar[Literal["discrete_gaussian"]] = "discrete_gaussian"

    #: Sigma squared, exact and positive.
    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0:
            msg = "the variance parameter of discrete Gaussian noise is positive"
            raise ValueError(msg)

    @classmethod
    def for_rho(cls, *, sensitivity_squared: int, rho: Fraction) -> DiscreteGaussian:
        """Return the noise that makes a vector of squared L2 sensitivity ``sensitivity_squared`` rho-zCDP.

        Exactly rho where that s2 has a short numerator, else a hair less: s2 rounded up to the calibration grid.
        """
        if sensitivity_squared < 1 or rho <= 0:
            msg = "a calibration needs a sensitivity of at least 1 and a positive rho"
            raise ValueError(msg)
        s2 = Fraction(sensitivity_squared) / (2 * rho)
        return cls(s2 if s2.numerator < 1 << _BITS else rounded_up(s2, _grid(s2)))

    @classmethod
    def for_one_number(cls, *, sensitivity: int, epsilon: Fraction, delta: Fraction) -> DiscreteGaussian:
        """Return the least noise on the calibration grid with exact delta at most ``delta`` where a person moves one number."""
        if sensitivity < 1 or epsilon <= 0 or not 0 < delta < 1:
            msg = "a calibration needs a sensitivity of at least 1, a positive epsilon and a delta between 0 and 1"
            raise ValueError(msg)
        return cls(_least_for_one_number(sensitivity, epsilon, delta))

    def rho(self, sensitivity_squared: int) -> Fraction:
        """Return the exact rho of a vector of that squared L2 sensitivity."""
        return Fraction(sensitivity_squared) / (2 * self.scale)

    def delta(self, sensitivity: int, epsilon: Fraction) -> float:
        """Return the exact delta at ``epsilon`` where a person moves one number by at most ``sensitivity``, rounded up."""
        return delta_of_one_number(self.scale, sensitivity, epsilon)

    def sample(self, size: int, randomness: Randomness) -> NDArray[np.int64] | NDArray[np.object_]:
        """Return ``size`` independent draws, as :class:`~privrelease.dp.mechanisms.additive.AdditiveNoise` says."""
        p, q = self.scale.numerator, self.scale.denominator
        t = math.isqrt(p // q) + 1
        if size < SMALL or 2 * p * q * t * t >= 1 << 62:
            return fit_int64([self.sample_one(randomness) for _ in range(size)])
        import numpy as np

        proposal = DiscreteLaplace(Fraction(t))
        rate = self._acceptance(t)
        parts: list[NDArray[np.int64]] = []
        missing = size
        while missing > 0:
            candidates = proposal.sample(min(int(1.03 * missing / rate) + 32, BATCH), randomness)
            largest = int(abs(candidates).max())
            if largest * q * t + p >= 1 << 63:  # not seen: such a proposal has probability below exp(-2^30)
                return fit_int64([self.sample_one(randomness) for _ in range(size)])
            kept = self._keep(np.asarray(candidates, dtype=np.int64), t, randomness)[:missing]
            missing -= kept.size
            parts.append(kept)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _keep(self, candidates: NDArray[np.int64], t: int, randomness: Randomness) -> NDArray[np.int64]:
        """Return the candidates that algorithm 3 keeps."""
        import numpy as np

        p, q = self.scale.numerator, self.scale.denominator
        denominator = 2 * p * q * t * t
        distance = np.abs(candidates)
        distance *= q * t
        distance -= p
        wide = np.flatnonzero(np.abs(distance) >= 1 << 31)
        exact = [divmod(d * d, denominator) for d in distance[wide].tolist()]
        distance[wide] = 0
        distance *= distance
        whole, rest = np.divmod(distance, denominator)
        if exact:
            # a quotient that passes 2^31 is beyond every value of the geometric law
            whole[wide] = [min(quotient, 1 << 31) for quotient, _ in exact]
            rest[wide] = [remainder for _, remainder in exact]
        near = geometric_batch(candidates.size, randomness) >= whole
        candidates, rest = candidates[near], rest[near]
        return candidates[bernoulli_exp_batch(rest, denominator, randomness)]

    def _acceptance(self, t: int) -> float:
        """Return about the probability that a proposal is kept (only the size of a batch rests on it)."""
        s2 = float(self.scale)
        mass = max(1.0, math.sqrt(2 * math.pi * s2))
        return mass * math.tanh(1 / (2 * t)) * math.exp(-s2 / (2 * t * t))

    def sample_one(self, randomness: Randomness) -> int:
        """Return one draw by Python integers of any size (algorithm 3 as written)."""
        p, q = self.scale.numerator, self.scale.denominator
        t = math.isqrt(p // q) + 1
        proposal = DiscreteLaplace(Fraction(t))
        while True:
            y = proposal.sample_one(randomness)
            if bernoulli_exp((abs(y) * q * t - p) ** 2, 2 * p * q * t * t, randomness):
                return y

    def probability(self, value: int) -> float:
        """Return P(X = value), to double precision."""
        s2 = float(self.scale)
        mass = math.sqrt(2 * math.pi * s2)
        if s2 < 4:
            mass = 1 + 2 * math.fsum(math.exp(-y * y / (2 * s2)) for y in range(1, 40))
        return math.exp(-value * value / (2 * s2)) / mass

    def tail(self, value: int) -> Fraction:
        """Return an upper bound of P(X >= value)."""
        if value > 0:
            return Fraction(tail_above(self.scale, value))
        return 1 - Fraction(tail_above(self.scale, 1 - value)) * Fraction(10**9 - 100, 10**9)

    def standard_deviation(self) -> float:
        """Return the standard deviation: sigma from 2 on (to 1e-30), smaller than sigma below."""
        s2 = float(self.scale)
        if s2 >= 4:
            return math.sqrt(s2)
        return math.sqrt(2 * math.fsum(y * y * self.probability(y) for y in range(1, 40)))

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|X| <= h) >= confidence."""
        outside = 1 - confidence
        low, high = -1, 1
        while 2 * self.tail(high + 1) > outside:
            high *= 2
        while high - low > 1:
            middle = (low + high) // 2
            if 2 * self.tail(middle + 1) > outside:
                low = middle
            else:
                high = middle
        return high


@lru_cache(maxsize=1024)
def _least_for_one_number(sensitivity: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the scale of :meth:`DiscreteGaussian.for_one_number`: queries of one policy ask for the same one many times."""

    def enough(s2: Fraction) -> bool:
        return Fraction(delta_of_one_number(s2, sensitivity, epsilon)) <= delta

    high = Fraction(sensitivity**2)
    while not enough(high):
        high *= 4
    high *= 4
    low = high
    while enough(low):
        high, low = low, low / 4 if low > 36 else low * _STEP
    while high - low > high / (1 << (_BITS + 2)):
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    grid = _grid(high)
    s2 = rounded_up(high, grid)
    while not enough(s2):
        s2 += Fraction(1, grid)
    return s2


def _grid(s2: Fraction) -> int:
    """Return the denominator of the calibration grid near s2: a power of two, 1 for large s2."""
    step = _BITS - math.floor(math.log2(s2))
    return 1 << step if step > 0 else 1
