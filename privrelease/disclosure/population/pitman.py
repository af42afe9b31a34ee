"""Pitman's estimator of population uniques.

The class sizes are taken for a draw of the Pitman sampling formula with parameters θ and α < 1, θ + α > 0,

    L(θ, α) ∝ Π_{i=1}^{J-1} (θ + iα) / Π_{i=1}^{n-1} (θ + i) · Π_f [Π_{j=1}^{f-1} (j - α)]^{c_f},

fitted by maximum likelihood; the expected number of uniques among N is then Γ(θ+1)/Γ(θ+α) · N^α.
Source: Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of Official Statistics 17 (2001).

The fit is by bisection on α, and within it on θ: slower than Newton's method and always to the maximum, as each score has one change of sign.
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.population.snb import digamma
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.disclosure.classes.class_sizes import ClassSizes

__all__ = ["PitmanFit", "fit_pitman", "pitman"]

_STEPS = 50
_LEAST_ALPHA = -1024.0


@dataclass(frozen=True, slots=True)
class PitmanFit:
    """Maximum-likelihood parameters. ``alpha`` < 0: finitely many classes, θ/|α| of them."""

    theta: float
    alpha: float

    def uniques(self, population: int) -> float:
        """Expected number of classes of size 1 among ``population`` draws."""
        if self.theta + self.alpha <= 0:
            return 0.0
        logarithm = lgamma(self.theta + 1) - lgamma(self.theta + self.alpha) + self.alpha * log(population)
        return exp(min(logarithm, log(population)))


def _difference(low: float, high: float) -> float:
    """ψ(high) - ψ(low), both positive."""
    below, above = digamma(np.array([low, high])).tolist()
    return float(above - below)


def _sum_of_reciprocals(theta: float, alpha: float, classes: int) -> float:
    """Σ_{i=1}^{J-1} 1 / (θ + iα)."""
    if abs(alpha) < 1e-9 * max(theta, 1e-9):
        return (classes - 1) / theta
    if alpha > 0:
        return _difference(theta / alpha + 1, theta / alpha + classes) / alpha
    ratio = -theta / alpha
    return _difference(ratio - classes + 1, ratio) / -alpha


def _best_theta(alpha: float, classes: int, records: int) -> float:
    """θ that maximises the likelihood for one α: the root of Σ_{i<J} 1/(θ+iα) - Σ_{i<n} 1/(θ+i)."""
    least = max(-alpha, -(classes - 1) * alpha)

    def score(excess: float) -> float:
        theta = least + excess
        return _sum_of_reciprocals(theta, alpha, classes) - _difference(theta + 1, theta + records)

    low, high = log(1e-12 * max(abs(least), 1.0)), log(max(abs(least), 1.0) * 1e15)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(exp(middle)) > 0 else (low, middle)
    return least + exp((low + high) / 2)


def fit_pitman(sizes: ClassSizes) -> PitmanFit | None:
    """Fit the Pitman sampling formula to class sizes; None where the likelihood has no maximum inside (all unique, or one class).

    >>> from privrelease.disclosure.classes.class_sizes import ClassSizes
    >>> fit = fit_pitman(ClassSizes.from_arrays([1, 2, 3, 4, 10], [30, 10, 5, 3, 2]))
    >>> (round(fit.theta, 3), round(fit.alpha, 3))
    (29.383, 0.197)
    """
    n, classes = sizes.n_records, sizes.n_classes
    if classes < 2 or classes == n:
        return None
    larger = sizes.sizes > 1
    of_size, amounts = sizes.sizes[larger].astype(np.float64), sizes.classes[larger].astype(np.float64)

    def score(alpha: float) -> float:
        theta = _best_theta(alpha, classes, n)
        if abs(alpha) < 1e-7:
            spread = classes * (classes - 1) / 2 / theta
        else:
            spread = (classes - 1 - theta * _sum_of_reciprocals(theta, alpha, classes)) / alpha
        return spread - float(np.dot(amounts, digamma(of_size - alpha) - digamma(1 - alpha)))

    high, low = 1 - 1e-12, 0.5
    while score(low) <= 0:
        if low <= _LEAST_ALPHA:
            return None
        high, low = low, 0.0 if low > 0 else min(2 * low, -0.5)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle) > 0 else (low, middle)
    alpha = (low + high) / 2
    return PitmanFit(_best_theta(alpha, classes, n), alpha)


def pitman(sizes: ClassSizes, population: int) -> float | None:
    """Estimated number of uniques in a population of ``population`` persons; 0 where the sample has none; None where there is no fit.

    >>> from privrelease.disclosure.classes.class_sizes import ClassSizes
    >>> round(pitman(ClassSizes.from_arrays([1, 2, 3, 4, 10], [30, 10, 5, 3, 2]), 10_000), 1)
    92.8
    """
    if sizes.uniques == 0:
        return 0.0
    if sizes.n_classes == sizes.n_records:
        return float(population)
    fit = fit_pitman(sizes)
    return None if fit is None else fit.uniques(population)
