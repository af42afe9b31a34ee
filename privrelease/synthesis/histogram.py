"""The noisy histogram: one count for every cell of the joint, each with noise, and rows drawn from them.

Noise: discrete Laplace where the budget has no delta, else discrete Gaussian (:mod:`privrelease.dp.envelope`); the whole of what is held goes
into one measurement. As published (Li, Xiong, Jiang 2014 and before), counts below 0 become 0, which adds phantom rows to a sparse joint;
``project`` takes the nearest counts that add up to the noisy total instead. Both are post-processing, and so is the draw.
"""

from __future__ import annotations

from fractions import Fraction
from math import pi, prod, sqrt
from typing import TYPE_CHECKING

from privrelease.dp.sensitivity import of_group_counts
from privrelease.synthesis.method import MethodForecast, ModelFacts, Step, SynthesisMethod
from privrelease.units import Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope
    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.domain import CodedDomain
    from privrelease.synthesis.method import Held, Progress, Settings

__all__ = ["HISTOGRAM", "HistogramModel"]


@dataclass(frozen=True, eq=False, slots=True)
class HistogramModel:
    """Weights of the cells of a joint of ``shape``, and the noisy number of rows."""

    weights: NDArray[np.float64]
    shape: tuple[int, ...]
    total: int
    zero: int

    def draw(self, rows: int, randomness: Randomness) -> NDArray[np.int32]:
        """Return rows drawn independently, by the weights; evenly over the possible cells where every weight is 0."""
        from privrelease.synthesis.sampling import multinomial, unravelled

        return unravelled(multinomial(self.weights, rows, randomness), self.shape)

    def facts(self) -> ModelFacts:
        """Describe the model: cells, those that no row is drawn from, the noisy total."""
        return ModelFacts((("cells", len(self.weights)), ("empty_cells", self.zero), ("noisy_total", self.total)))


def _asks(names: tuple[str, ...], settings: Settings) -> tuple[tuple[str, ...], ...]:
    del settings
    return (names,)


def _fit(envelope: Envelope, domain: CodedDomain, settings: Settings, progress: Progress) -> HistogramModel:
    import numpy as np

    from privrelease.synthesis.sampling import simplex

    progress("measure", 0.0)
    every = range(len(domain.columns))
    noisy = envelope.measure(domain.marginal(every), envelope.part(Fraction(1)))
    possible = domain.possible(every)
    counted = noisy if possible is None else np.where(possible.reshape(-1), noisy, 0)
    total = max(0, int(counted.sum()))
    after = settings.get("after")
    project = isinstance(after, dict) and after.get("project") is True
    if project:
        weights = simplex(counted, total, possible)
    else:
        weights = np.maximum(counted, 0).astype(np.float64)
    if not weights.any():
        weights = np.ones(len(weights)) if possible is None else possible.reshape(-1).astype(np.float64)
    return HistogramModel(weights, domain.sizes, total, int(np.count_nonzero(weights == 0)))


def _forecast(domain: CodedDomain, settings: Settings, held: Held) -> MethodForecast:
    del settings
    error, deviation = _noise(held)
    cells, sizes = domain.cells, sorted(domain.sizes, reverse=True)
    errors = []
    for ways in (1, 2):
        if ways <= len(sizes):
            summed = cells // prod(sizes[len(sizes) - ways :])  # of the smallest marginal, whose cells add up most
            errors.append((ways, error if summed == 1 else deviation * sqrt(summed) * sqrt(2 / pi)))
    possible = domain.possible(range(len(domain.columns)))
    counted = cells if possible is None else int(possible.sum())
    return MethodForecast((Step("joint", held.loss, 1, cells, error),), tuple(errors), counted=(held.loss, counted))


def _noise(held: Held) -> tuple[float, float]:
    """Expected absolute value and standard deviation of the noise of a cell."""
    from math import exp

    counted = of_group_counts(held.setting.contribution, held.setting.neighbours)
    if isinstance(held.loss, Epsilon):
        a = exp(-float(held.loss.value / counted.l1))
        return 2 * a / (1 - a * a), sqrt(2 * a) / (1 - a)
    deviation = sqrt(counted.l2_squared / (2 * float(held.loss.value)))
    return deviation * sqrt(2 / pi), deviation


#: One noisy joint.
HISTOGRAM = SynthesisMethod("histogram", 1, _asks, _forecast, _fit)
