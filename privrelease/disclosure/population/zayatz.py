"""Zayatz's estimator of population uniques.

P(unique in the population | unique in the sample) by Bayes's rule, taking the sample's class-size distribution for the population's and drawing
n of N without replacement: (c_1/J)·(n/N) / Σ_j (c_j/J)·h(j), where h(j) is the chance that exactly one member of a class of j is drawn
(hypergeometric). Population uniques = c_1 · P · N/n.
Source: Zayatz, Estimation of the number of unique population elements using a sample (1991). It overestimates for small sampling fractions.
"""

from __future__ import annotations

from math import lgamma
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from privrelease.disclosure.classes.class_sizes import ClassSizes

__all__ = ["zayatz"]


def zayatz(sizes: ClassSizes, population: int) -> float | None:
    """Estimated number of uniques in a population of ``population`` persons; 0 where the sample has none; None where undefined.

    Relative error of the evaluation about 1e-6 for populations of 10^9 (differences of log-gamma).

    >>> from privrelease.disclosure.classes.class_sizes import ClassSizes
    >>> round(zayatz(ClassSizes.from_arrays([1, 2], [2, 1]), 4), 6)  # the sample is the population
    2.0
    """
    n, unique = sizes.n_records, sizes.uniques
    if unique == 0:
        return 0.0
    drawn = np.array([_one_drawn(int(j), n, population) for j in sizes.sizes], np.float64)
    seen = float(np.dot(sizes.classes, drawn))
    if seen <= 0:
        return None
    chance = unique * (n / population) / seen
    return min(unique * chance * population / n, float(population))


def _one_drawn(j: int, n: int, population: int) -> float:
    """Chance that n draws of N without replacement hold exactly one of j: j·C(N-j, n-1) / C(N, n)."""
    if n - 1 > population - j:
        return 0.0
    log_chance = (
        lgamma(population - j + 1) - lgamma(population - j - n + 2) - lgamma(n)
        - lgamma(population + 1) + lgamma(population - n + 1) + lgamma(n + 1)
    )  # fmt: skip
    return float(j * np.exp(log_chance))
