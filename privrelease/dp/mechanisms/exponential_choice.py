"""The exponential mechanism: choose a candidate by its score, exactly; for choices under zCDP.

Law (McSherry and Talwar 2007)
    P(r) is proportional to exp(score_r/scale), the scale being factor D/epsilon.

Guarantee
    Scores are integers that one person changes by at most D each. Between neighbours log P(r) changes by (score_r - score'_r)/scale plus one
    number that is the same for all candidates, so that its range over the candidates is at most 2 D/scale, and at most D/scale where adding a
    person moves every score in one direction only (``monotone``). With factor 2 (1 where monotone) the mechanism is epsilon-bounded-range
    (Durfee and Rogers 2019). Both laws sum to 1, so the interval of changes holds 0: the mechanism is epsilon-DP. An epsilon-bounded-range
    mechanism is (epsilon^2/8)-zCDP (Cesar and Rogers 2021, lemma 3.4): by Hoeffding's lemma the log-moments of a loss that lives in an
    interval of width epsilon are those of a variable of variance proxy epsilon^2/4. As a pure mechanism it would count with epsilon^2/2.

Sampler
    Rejection: a uniform candidate is taken with probability exp(-(best - score)/scale), else another is drawn. The scale is a fraction
    and scores are integers, so the coin is Bernoulli(exp(-rational)), exact: its whole part by a geometric number, its rest by the
    alternating series. Candidates are tried in batches, the first that is taken is the choice, and what a batch holds after it is
    discarded. Some n trials are needed on average where one of n candidates is far above the others, and never more: the best one is always taken.
"""

from __future__ import annotations

import math
from fractions import Fraction  # noqa: TC003 -- the examples of the docstrings use it
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from privrelease.dp.bernoulli import bernoulli_exp, geometric_batch, uniform_below, uniform_below_batch
from privrelease.dp.mechanisms.additive import SMALL
from privrelease.dp.mechanisms.exponential import ScoredChoice
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness

__all__ = ["ExponentialMechanism", "integer_scores"]

#: Candidates tried in the first batch, and the most in a later one.
_FIRST: Final = 1 << 7
_BLOCK: Final = 1 << 16
#: No geometric number reaches this (:func:`~privrelease.dp.bernoulli.geometric_batch`).
_NEVER: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class ExponentialMechanism(ScoredChoice):
    """The exponential mechanism of weights exp(score/scale).

    >>> choice = ExponentialMechanism.calibrated(sensitivity=1, epsilon=Fraction(1, 2))
    >>> choice.scale, choice.rho(1)
    (Fraction(4, 1), Fraction(1, 32))
    """

    name: ClassVar[Literal["exponential"]] = "exponential"

    def rho(self, sensitivity: int, *, monotone: bool = False) -> Fraction:
        """Return the exact rho of zCDP, epsilon squared over 8."""
        return self.epsilon(sensitivity, monotone=monotone) ** 2 / 8

    def choose(self, scores: Sequence[int] | NDArray[np.integer], randomness: Randomness) -> int:
        """Return the index of the chosen candidate; ``scores`` are integers, higher is better, at least one.

        Raises TypeError where a score is not an integer, ValueError where there is none, before any byte is drawn.
        """
        exact = integer_scores(scores)
        if len(exact) == 0:
            msg = "the exponential mechanism needs at least one candidate"
            raise ValueError(msg)
        if isinstance(exact, list) and len(exact) < SMALL:
            return self._choose_one_by_one(exact, randomness)
        return self._choose_in_batches(exact, randomness)

    def _choose_one_by_one(self, scores: list[int], randomness: Randomness) -> int:
        best = max(scores)
        while True:
            candidate = uniform_below(len(scores), randomness)
            gap = best - scores[candidate]
            if bernoulli_exp(gap * self.scale.denominator, self.scale.numerator, randomness):
                return candidate

    def _choose_in_batches(self, scores: list[int] | NDArray[np.integer], randomness: Randomness) -> int:
        """Try candidates in batches; only those whose whole part falls get the coin of the rest, one at a time (at most e on average)."""
        best, whole = self._whole_parts(scores)
        numerator, denominator = self.scale.numerator, self.scale.denominator
        size = _FIRST
        while True:
            tried = uniform_below_batch(len(scores), size, randomness)
            for place in (geometric_batch(tried.size, randomness) >= whole[tried]).nonzero()[0].tolist():
                candidate = int(tried[place])
                rest = (best - int(scores[candidate])) * denominator % numerator
                if bernoulli_exp(rest, numerator, randomness):
                    return candidate
            size = min(2 * size, _BLOCK)

    def _whole_parts(self, scores: list[int] | NDArray[np.integer]) -> tuple[int, NDArray[np.int64]]:
        """Return the best score and floor((best - score)/scale) of each, cut where no coin falls."""
        import numpy as np

        numerator, denominator = self.scale.numerator, self.scale.denominator
        if isinstance(scores, list):
            best, worst = max(scores), min(scores)
        else:
            best, worst = int(scores.max()), int(scores.min())
        if isinstance(scores, list) or numerator >= 1 << 63 or (best - worst) * denominator >= 1 << 63:
            exact = scores if isinstance(scores, list) else scores.tolist()
            wholes = (min(_NEVER, (best - score) * denominator // numerator) for score in exact)
            return best, np.fromiter(wholes, np.int64, len(exact))
        # no gap passes (best - worst) · denominator < 2^63; unsigned subtraction wraps to the gap whatever the width
        gaps = (np.uint64(best % (1 << 64)) - scores.astype(np.uint64)).view(np.int64)
        return best, gaps * denominator // numerator

    def probabilities(self, scores: Sequence[int]) -> list[float]:
        """Return the exact law to double precision; for tests and charts.

        >>> ExponentialMechanism(Fraction(1)).probabilities([7, 7])
        [0.5, 0.5]
        """
        best = max(scores)
        weights = [math.exp(-(best - score) / self.scale) for score in scores]
        total = math.fsum(weights)
        return [weight / total for weight in weights]


def integer_scores(scores: Sequence[int] | NDArray[np.integer]) -> list[int] | NDArray[np.integer]:
    """Return scores as a list of integers, or the array of integers that they are. Raises TypeError where one is not an integer."""
    dtype = getattr(scores, "dtype", None)
    if dtype is not None:
        if dtype.kind not in "iu" or getattr(scores, "ndim", 1) != 1:
            msg = "scores must be integers, one for each candidate"
            raise TypeError(msg)
        return scores if len(scores) >= SMALL else [int(score) for score in scores]  # type: ignore[return-value] # an array has a dtype
    import numpy as np

    if not all(isinstance(score, int | np.integer) and not isinstance(score, bool) for score in scores):
        msg = "scores must be integers, one for each candidate"
        raise TypeError(msg)
    return [int(score) for score in scores]
