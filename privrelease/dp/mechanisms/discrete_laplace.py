"""Discrete Laplace (two-sided geometric) noise with an exact rational scale.

Law
    P(X = k) = (1 - a)/(1 + a) · a^|k| on the integers, a = exp(-1/b), b = ``scale`` > 0 a fraction.

Guarantee
    Let f be integer-valued with L1 sensitivity D. For neighbours, f(x) and f(x') differ by a vector v with sum |v_j| <= D, and the
    probability of any outcome changes by at most the factor prod a^-|v_j| <= exp(D/b). So the release is (D/b)-DP, with D/b exact:
    b = D/epsilon is itself a fraction, nothing is rounded. (Ghosh, Roughgarden, Sundararajan 2009; Canonne, Kamath, Steinke 2020.)

Sampler
    CKS 2020, algorithm 2, with b = t/s in lowest terms. U uniform in 0..t-1 is kept with probability exp(-U/t); V has
    P(V >= v) = exp(-v); then X = U + tV has P(X = x) proportional to exp(-x/t), Y = floor(X/s) has P(Y = y) proportional to
    exp(-y s/t), and a fair sign, with (minus, 0) rejected so that 0 is not counted twice, makes it two-sided. Candidates are
    independent, so keeping the first ``size`` accepted ones of a batch keeps the law.
    Widths in a batch: U < t <= 2^62 and the coins are exact for any width (:mod:`privrelease.dp.bernoulli`); U + tV is checked
    against 2^63 before it is formed, and formed in Python integers where it could pass it. Larger t: Python integers altogether.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from privrelease.dp.bernoulli import (
    bernoulli_exp,
    bernoulli_exp_batch,
    geometric,
    geometric_batch,
    sign_batch,
    uniform_below,
    uniform_below_batch,
)
from privrelease.dp.bounds import exp_bracket
from privrelease.dp.mechanisms.additive import BATCH, SMALL, fit_int64, joined
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness

__all__ = ["DiscreteLaplace"]

_WIDEST: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Discrete Laplace noise of scale b.

    >>> noise = DiscreteLaplace.calibrated(sensitivity=3, epsilon=Fraction("0.1"))
    >>> noise.scale, noise.epsilon(3)
    (Fraction(30, 1), Fraction(1, 10))
    >>> round(DiscreteLaplace(Fraction(1)).standard_deviation(), 3)
    1.357
    """

    name: ClassVar[Literal["discrete_laplace"]] = "discrete_laplace"

    #: b, exact and positive; the noise has mean absolute value near b.
    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0:
            msg = "the scale of discrete Laplace noise is positive"
            raise ValueError(msg)

    @classmethod
    def calibrated(cls, *, sensitivity: int, epsilon: Fraction) -> DiscreteLaplace:
        """Return the noise that makes a statistic of L1 sensitivity ``sensitivity`` (>= 1) exactly ``epsilon``-DP."""
        if sensitivity < 1 or epsilon <= 0:
            msg = "a calibration needs a sensitivity of at least 1 and a positive epsilon"
            raise ValueError(msg)
        return cls(Fraction(sensitivity) / epsilon)

    def epsilon(self, sensitivity: int) -> Fraction:
        """Return the exact epsilon of a statistic of that L1 sensitivity."""
        return Fraction(sensitivity) / self.scale

    def sample(self, size: int, randomness: Randomness) -> NDArray[np.int64] | NDArray[np.object_]:
        """Return ``size`` independent draws, as :class:`~privrelease.dp.mechanisms.additive.AdditiveNoise` says."""
        if size < SMALL or self.scale.numerator > _WIDEST or self.scale.denominator > _WIDEST:
            return fit_int64([self.sample_one(randomness) for _ in range(size)])
        parts: list[NDArray[np.int64] | NDArray[np.object_]] = []
        missing = size
        rate = self._acceptance()
        while missing > 0:
            part = self._candidates(min(int(1.03 * missing / rate) + 32, BATCH), randomness)[:missing]
            missing -= part.size
            parts.append(part)
        return joined(parts)

    def sample_one(self, randomness: Randomness) -> int:
        """Return one draw by Python integers of any size (algorithm 2 as written)."""
        t, s = self.scale.numerator, self.scale.denominator
        while True:
            u = uniform_below(t, randomness)
            if not bernoulli_exp(u, t, randomness):
                continue
            y = (u + t * geometric(randomness)) // s
            negative = uniform_below(2, randomness) == 1
            if negative and y == 0:
                continue
            return -y if negative else y

    def _acceptance(self) -> float:
        """Return about the probability that a candidate is kept (only the size of a batch rests on it)."""
        t = float(self.scale.numerator)
        kept = 1.0 if t == 1 else -math.expm1(-1) / (-math.expm1(-1 / t) * t)
        return kept * (1 + math.exp(-1 / float(self.scale))) / 2

    def _candidates(self, count: int, randomness: Randomness) -> NDArray[np.int64] | NDArray[np.object_]:
        """Return the accepted of at most ``count`` independent candidates."""
        t, s = self.scale.numerator, self.scale.denominator
        u = uniform_below_batch(t, count, randomness)
        if t > 1:
            u = u[bernoulli_exp_batch(u, t, randomness)]
        v = geometric_batch(u.size, randomness)
        largest = t * (int(v.max(initial=0)) + 1)
        if largest < 1 << 63:
            v *= t
            v += u
            if s > 1:
                v //= s
            negative = sign_batch(v.size, randomness)
            kept = v[~negative | (v != 0)]
            return self._signed(kept, negative[~negative | (v != 0)])
        exact = (u.astype(object) + t * v.astype(object)) // s
        negative = sign_batch(v.size, randomness)
        chosen = ~negative | (exact != 0).astype(bool)
        return fit_int64([-y if minus else y for y, minus in zip(exact[chosen], negative[chosen].tolist(), strict=True)])

    @staticmethod
    def _signed(magnitude: NDArray[np.int64], negative: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the magnitudes with signs, in place."""
        flip = negative.view("i1")
        magnitude ^= -flip  # two's complement: -y is ~y + 1
        magnitude += flip
        return magnitude

    def probability(self, value: int) -> float:
        """Return P(X = value), to double precision."""
        rate = 1 / float(self.scale)
        return math.tanh(rate / 2) * math.exp(-rate * abs(value))

    def tail(self, value: int) -> Fraction:
        """Return an upper bound of P(X >= value): a^value/(1+a) for value >= 1, and 1 - a^(1-value)/(1+a) below."""
        low, high = exp_bracket(-1 / self.scale)
        if value >= 1:
            return exp_bracket(-value / self.scale)[1] / (1 + low)
        return 1 - exp_bracket(-(1 - value) / self.scale)[0] / (1 + high)

    def standard_deviation(self) -> float:
        """Return sqrt(2a)/(1-a) = 1/(sqrt(2) sinh(1/(2b)))."""
        half = 1 / (2 * float(self.scale))
        return math.sqrt(0.5) / math.sinh(half) if half < 700 else 0.0

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|X| <= h) >= confidence; P(|X| > h) = 2 a^(h+1)/(1+a)."""
        outside = 1 - confidence
        a = math.exp(-1 / float(self.scale))
        near = math.floor(float(self.scale) * math.log(2 / (float(outside) * (1 + a))))
        # the float is off by a share of itself, which at a large scale is very many steps: the exact tail decides, by doubled strides
        low, high, stride = max(-1, near - 2), max(0, near), 1
        while low >= 0 and 2 * self.tail(low + 1) <= outside:
            low, high, stride = max(-1, low - stride), low, 2 * stride
        stride = 1
        while 2 * self.tail(high + 1) > outside:
            low, high, stride = high, high + stride, 2 * stride
        while high - low > 1:
            middle = (low + high) // 2
            if 2 * self.tail(middle + 1) > outside:
                low = middle
            else:
                high = middle
        return high
