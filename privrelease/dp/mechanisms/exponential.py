"""Permute-and-flip: choose a candidate by its score, exactly; for quantiles and modes.

Law (McKenna and Sheldon 2020)
    Visit the candidates in uniformly random order; take candidate r with probability exp(-(best - score_r)/(factor D/epsilon)); the best
    is taken for certain when its turn comes, so one is always taken.

Guarantee
    Scores are integers that one person changes by at most D each. The law is that of report-noisy-max with exponential noise of scale
    factor D/epsilon (Ding, Kifer and others 2021). For fixed noise of the others, the noise that makes r win moves by at most 2 D between
    neighbours, so factor 2 gives epsilon-DP. Where adding a person moves every score in one direction only (``monotone``: counts, under
    add or remove), it moves by at most D, and factor 1 gives epsilon-DP. It is never worse than the exponential mechanism.

Sampler
    epsilon is a fraction and scores are integers, so each coin is Bernoulli(exp(-rational)), exact. The random order is that of
    independent 64-bit keys; keys that are not all different are drawn again, which keeps every order equally likely.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from privrelease.dp.bernoulli import bernoulli_exp, bernoulli_exp_batch, geometric_batch, uniform_below
from privrelease.dp.mechanisms.additive import SMALL
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness

__all__ = ["PermuteAndFlip", "ScoredChoice"]

#: Candidates visited at a time in a batch.
_BLOCK: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class ScoredChoice:
    """A choice among candidates by integer scores, whose law depends on score/scale alone.

    ``scale``: factor · D / epsilon, exact and positive, in units of the score; factor 1 for monotone scores, else 2.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0:
            msg = "the scale of a choice is positive"
            raise ValueError(msg)

    @classmethod
    def calibrated(cls, *, sensitivity: int, epsilon: Fraction, monotone: bool = False) -> Self:
        """Return the choice that is ``epsilon``-DP for scores of that sensitivity (>= 1)."""
        if sensitivity < 1 or epsilon <= 0:
            msg = "a calibration needs a sensitivity of at least 1 and a positive epsilon"
            raise ValueError(msg)
        return cls((1 if monotone else 2) * Fraction(sensitivity) / epsilon)

    def epsilon(self, sensitivity: int, *, monotone: bool = False) -> Fraction:
        """Return the exact epsilon for scores of that sensitivity."""
        return (1 if monotone else 2) * Fraction(sensitivity) / self.scale


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(ScoredChoice):
    """Permute-and-flip whose coin for a score ``gap`` below the best is exp(-gap/scale).

    >>> PermuteAndFlip.calibrated(sensitivity=1, epsilon=Fraction(1, 2)).scale
    Fraction(4, 1)
    >>> PermuteAndFlip.calibrated(sensitivity=1, epsilon=Fraction(1, 2), monotone=True).scale
    Fraction(2, 1)
    """

    name: ClassVar[Literal["permute_and_flip"]] = "permute_and_flip"

    def choose(self, scores: Sequence[int] | NDArray[np.int64], randomness: Randomness) -> int:
        """Return the index of the chosen candidate; ``scores`` are integers, higher is better, at least one."""
        if len(scores) == 0:
            msg = "permute-and-flip needs at least one candidate"
            raise ValueError(msg)
        exact = [int(score) for score in scores] if len(scores) < SMALL else None
        if exact is not None:
            return self._choose_one_by_one(exact, randomness)
        import numpy as np

        values = np.asarray(scores)
        best, worst = int(values.max()), int(values.min())
        if self.scale.numerator >= 1 << 62 or (best - worst) * self.scale.denominator >= 1 << 63:
            return self._choose_one_by_one([int(score) for score in values.tolist()], randomness)
        # no gap passes (best - worst) · denominator < 2^63
        gaps = (best - values).astype(np.int64, copy=False) * self.scale.denominator
        whole, rest = np.divmod(gaps, self.scale.numerator)
        order = _random_order(len(scores), randomness)
        for start in range(0, len(scores), _BLOCK):
            block = order[start : start + _BLOCK]
            taken = geometric_batch(block.size, randomness) >= whole[block]
            taken &= bernoulli_exp_batch(rest[block], self.scale.numerator, randomness)
            if taken.any():
                return int(block[int(taken.argmax())])
        msg = "the best candidate is always taken"  # its gap is 0, and a coin of exp(0) is True
        raise AssertionError(msg)

    def _choose_one_by_one(self, scores: list[int], randomness: Randomness) -> int:
        """Return the chosen index by Python integers of any size."""
        best = max(scores)
        left = list(range(len(scores)))
        while True:
            position = uniform_below(len(left), randomness)
            left[position], left[-1] = left[-1], left[position]
            candidate = left.pop()
            gap = best - scores[candidate]
            if bernoulli_exp(gap * self.scale.denominator, self.scale.numerator, randomness):
                return candidate

    def probabilities(self, scores: Sequence[int]) -> list[float]:
        """Return the exact law for at most 16 candidates, to double precision; for tests and charts.

        P(r) = p_r · sum over subsets S of the others of (-1)^|S| prod_{s in S} p_s / (|S| + 1), p the coins' biases.
        """
        import math

        best = max(scores)
        biases = [math.exp(-(best - score) / float(self.scale)) for score in scores]
        result = []
        for r, bias in enumerate(biases):
            elementary = [1.0]  # elementary symmetric polynomials of the others
            for s, other in enumerate(biases):
                if s != r:
                    elementary = [
                        (elementary[k] if k < len(elementary) else 0.0) + (other * elementary[k - 1] if k else 0.0)
                        for k in range(len(elementary) + 1)
                    ]
            result.append(bias * math.fsum((-1) ** k * value / (k + 1) for k, value in enumerate(elementary)))
        return result


def _random_order(size: int, randomness: Randomness) -> NDArray[np.intp]:
    """Return a uniformly random order of 0..size-1."""
    import numpy as np

    while True:
        keys = np.frombuffer(randomness.draw(8 * size), dtype="<u8")
        order = np.argsort(keys)
        ordered = keys[order]
        if (ordered[1:] != ordered[:-1]).all():
            return order
