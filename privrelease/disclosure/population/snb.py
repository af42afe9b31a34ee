"""The slide negative binomial (SNB) estimator of population uniques.

K non-empty population classes have sizes 1 + X with X negative binomial (α, β): P(X = x) = C(x+α-1, x) β^α (1-β)^x, so the uniques are
K·β^α. With sampling fraction π and d = (1-π)(1-β), the expected sample classes of size 1 and 2 are

    c_1 = K π (β/(1-d))^α (1 + αd/(1-d)),    c_2 = K π² α β^α (1-β) (2 - (1-α)d) / (2 (1-d)^{α+2}),

which are solved for α and β; K by Shlosser's estimator. Source: Chen and McNulty, Re-identification risk in census microdata (1998);
Haas and Stokes, Estimating the number of classes in a finite population (1998) for K.

c_2/c_1 is quadratic in α once β is given, so one equation in β remains; among several solutions the one with most uniques is taken, against us.

The digamma function, to about 13 digits, without a numerical library at run time.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.class_sizes import ClassSizes

__all__ = ["digamma", "population_classes", "snb", "solve_snb"]


_STEPS = 100


def population_classes(sizes: ClassSizes, population: int) -> float | None:
    """Shlosser's estimate of K, the number of non-empty classes in the population; None where undefined.

    >>> from privrelease.disclosure.classes.class_sizes import ClassSizes
    >>> population_classes(ClassSizes.from_arrays([1, 2], [2, 1]), 4)  # the sample is the population
    3.0
    """
    fraction = sizes.n_records / population
    if fraction >= 1:
        return float(sizes.n_classes)
    size, amount = sizes.sizes.astype(np.float64), sizes.classes.astype(np.float64)
    square = fraction * fraction
    missed = (1 - fraction) ** size * amount
    first = np.dot(size * square * (1 - square) ** (size - 1), amount)
    second = np.dot((1 - fraction) ** size * ((1 + fraction) ** size - 1), amount)
    fourth = np.dot(size * fraction * (1 - fraction) ** (size - 1), amount)
    if second <= 0 or fourth <= 0:
        return None
    return float(sizes.n_classes + sizes.uniques * first / second * (missed.sum() / fourth) ** 2)


def _alpha_for(beta: float, fraction: float, ratio: float) -> float | None:
    """α > 0 with c_2/c_1 = ``ratio`` at ``beta``: a root of πα(1-β)(2-d+αd) = 2·ratio·(1-d)(1-d+αd)."""
    d = (1 - fraction) * (1 - beta)
    a = fraction * (1 - beta) * d
    b = fraction * (1 - beta) * (2 - d) - 2 * ratio * (1 - d) * d
    c = -2 * ratio * (1 - d) ** 2
    if a == 0:
        return -c / b if b > 0 else None
    discriminant = sqrt(b * b - 4 * a * c)
    return 2 * -c / (b + discriminant) if b > 0 else (discriminant - b) / (2 * a)


def snb(sizes: ClassSizes, population: int) -> float | None:
    """Estimated number of uniques in a population of ``population`` persons; 0 where the sample has none; None where there is no solution.

    >>> from privrelease.disclosure.classes.class_sizes import ClassSizes
    >>> round(snb(ClassSizes.from_arrays([1, 2, 3, 4, 10], [30, 10, 5, 3, 2]), 210), 2)
    37.2
    """
    if sizes.uniques == 0:
        return 0.0
    fraction = sizes.n_records / population
    if fraction >= 1:
        return float(sizes.uniques)
    classes = population_classes(sizes, population)
    uniques = None if classes is None else solve_snb(sizes.uniques, sizes.records_below(3) - sizes.uniques, fraction, classes)
    return None if uniques is None else min(uniques, float(population))


def solve_snb(ones: int, in_twos: int, fraction: float, classes: float) -> float | None:
    """Population uniques K·β^α of the solution with most of them; None where the equations have none.

    ``ones``: sample classes of size 1. ``in_twos``: records in sample classes of size 2. ``fraction``: π. ``classes``: K.

    >>> round(solve_snb(30, 20, 0.25, 90.0), 1)
    30.0
    """
    ratio = in_twos / 2 / ones
    if ratio == 0:
        return None

    def excess(logit: float) -> float | None:
        beta = 1 / (1 + exp(-logit))
        alpha = _alpha_for(beta, fraction, ratio)
        if alpha is None:
            return None
        d = (1 - fraction) * (1 - beta)
        return classes * fraction * exp(alpha * log(beta / (1 - d))) * (1 + alpha * d / (1 - d)) - ones

    solutions = []
    for logit in _roots(excess):
        beta = 1 / (1 + exp(-logit))
        alpha = _alpha_for(beta, fraction, ratio)
        if alpha is not None:
            solutions.append(classes * beta**alpha)
    return max(solutions, default=None)


def _roots(function: Callable[[float], float | None]) -> list[float]:
    """Sign changes of ``function`` on a grid of logits, refined by bisection."""
    grid = np.linspace(-30, 30, 601).tolist()
    values = [function(x) for x in grid]
    roots = []
    for left, right, at_left, at_right in zip(grid, grid[1:], values, values[1:], strict=False):
        if at_left is None or at_right is None or (at_left > 0) == (at_right > 0):
            continue
        low, high = left, right
        for _ in range(_STEPS):
            middle = (low + high) / 2
            at_middle = function(middle)
            low, high = (middle, high) if at_middle is not None and (at_middle > 0) == (at_left > 0) else (low, middle)
        roots.append((low + high) / 2)
    return roots


_SHIFT = 10
#: Bernoulli numbers B_2k / 2k of the asymptotic series (Abramowitz and Stegun 6.3.18).
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)


def digamma(x: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Logarithmic derivative of the gamma function for x > 0, of the shape of ``x``.

    >>> round(float(digamma(1.0)), 12)  # minus Euler's constant
    -0.577215664902
    """
    values = np.asarray(x, np.float64)
    total = np.zeros_like(values)
    for step in range(_SHIFT):
        total -= 1 / (values + step)
    shifted = values + _SHIFT
    square = 1 / (shifted * shifted)
    power = square.copy()
    for term in _SERIES:
        total -= term * power
        power *= square
    return np.asarray(total + np.log(shifted) - 0.5 / shifted, np.float64)
