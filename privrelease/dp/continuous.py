"""Standard deviations that the continuous laws would have: to compare with, never to draw by.

A continuous law cannot be drawn exactly, and its scale on a computer promises less than it says; every figure here appears next
to one of the discrete laws that are drawn. Laplace: sqrt(2) D1/eps (Dwork and others 2006). Gaussian: the analytic calibration
(Balle and Wang 2018, theorem 8), the least sigma with Phi(D2/(2 sigma) - eps sigma/D2) - e^eps Phi(-D2/(2 sigma) - eps
sigma/D2) <= delta; and the classic one, D2 sqrt(2 ln(1.25/delta))/eps, which is proven for eps <= 1 only, and false from some
eps between 8 and 9 on at delta 1e-5.
"""

from __future__ import annotations

from math import erfc, exp, log, sqrt

__all__ = ["analytic_gaussian", "classic_gaussian", "laplace"]


def laplace(l1: float, epsilon: float) -> float:
    """Return the standard deviation of continuous Laplace noise.

    >>> [round(laplace(1, epsilon), 3) for epsilon in (0.1, 0.5, 1, 2)]
    [14.142, 2.828, 1.414, 0.707]
    """
    return sqrt(2) * l1 / epsilon


def classic_gaussian(l2: float, epsilon: float, delta: float) -> float:
    """Return the classic sigma, whether or not epsilon is one that it is proven for.

    >>> [round(classic_gaussian(1, epsilon, 1e-5), 2) for epsilon in (0.1, 0.5, 1, 2)]
    [48.45, 9.69, 4.84, 2.42]
    """
    return l2 * sqrt(2 * log(1.25 / delta)) / epsilon


def analytic_gaussian(l2: float, epsilon: float, delta: float) -> float:
    """Return the analytic sigma, to twelve digits.

    >>> [round(analytic_gaussian(1, epsilon, 1e-5), 2) for epsilon in (0.1, 0.5, 1, 2)]
    [30.75, 7.03, 3.73, 1.99]
    """

    def lost(sigma: float) -> float:
        half, shift = 1 / (2 * sigma), epsilon * sigma
        return _below(half - shift) - exp(epsilon) * _below(-half - shift)

    low, high = 1e-9, 1.0
    while lost(high) > delta:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if lost(middle) > delta else (low, middle)
    return l2 * high


def _below(x: float) -> float:
    """The normal distribution function."""
    return erfc(-x / sqrt(2)) / 2
