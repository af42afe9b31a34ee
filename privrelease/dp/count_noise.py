"""Noise of counts by group: public figures that follow from what one person can change and what a measurement may cost."""

from __future__ import annotations

from math import erfc, exp, expm1, pi, sqrt
from typing import TYPE_CHECKING

from privrelease.dp.sensitivity import of_group_counts
from privrelease.units import Epsilon

if TYPE_CHECKING:
    from fractions import Fraction

    from privrelease.dp.queries import Setting
    from privrelease.units import Rho

__all__ = ["chance_beyond", "expected_error", "share_of", "variance"]


def share_of(loss: Rho | Epsilon, share: Fraction) -> Rho | Epsilon:
    """Return a share of a loss.

    >>> from fractions import Fraction
    >>> share_of(Epsilon(1), Fraction(1, 4))
    Epsilon(value=Fraction(1, 4))
    """
    return type(loss)(loss.value * share)


def variance(setting: Setting, loss: Rho | Epsilon) -> float:
    """Return the variance of the noise of one count of rows by group, in rows squared.

    Discrete Laplace noise of scale b = L1/epsilon: 2 a / (1 - a)^2 with a = exp(-1/b). Discrete Gaussian noise: at most L2^2 / (2 rho)
    (Canonne, Kamath, Steinke 2020).

    >>> from privrelease.dp.queries import Setting
    >>> from privrelease.dp.sensitivity import Contribution
    >>> round(variance(Setting(Contribution(1)), Epsilon(1)), 4)
    1.8413
    """
    counted = of_group_counts(setting.contribution, setting.neighbours)
    if isinstance(loss, Epsilon):
        a = exp(-float(loss.value / counted.l1))
        return 2 * a / (1 - a) ** 2
    return counted.l2_squared / (2 * float(loss.value))


def expected_error(setting: Setting, loss: Rho | Epsilon) -> float:
    """Return the expected absolute value of that noise, in rows.

    Discrete Laplace: 2 a / (1 - a^2). Discrete Gaussian: that of the continuous law, sigma sqrt(2/pi).

    >>> from privrelease.dp.queries import Setting
    >>> from privrelease.dp.sensitivity import Contribution
    >>> round(expected_error(Setting(Contribution(1)), Epsilon(1)), 4)
    0.8509
    """
    if isinstance(loss, Epsilon):
        a = exp(-float(loss.value / of_group_counts(setting.contribution, setting.neighbours).l1))
        return 2 * a / (1 - a * a)
    return sqrt(variance(setting, loss) * 2 / pi)


def chance_beyond(setting: Setting, loss: Rho | Epsilon, cells: int, reach: int) -> float:
    """Return P(|X| > reach), reach >= 0, of the sum X of the noise of so many counts by group: that of a number of rows that is added up from them.

    Discrete Gaussian: 2 P(Z > reach + 1/2), Z normal of the same variance v; by the midpoint rule that is off by at most 0.03/v. Discrete Laplace: 2 a^(reach + 1)/(1 + a) for one cell; for n cells, by inversion of the transform phi(t) = ((1 - a)^2/(1 -
    2 a cos t + a^2))^n, P(|X| <= r) = (1/pi) times the integral from 0 to pi of phi(t) sin((r + 1/2) t)/sin(t/2).

    >>> from fractions import Fraction
    >>> from privrelease.dp.queries import Setting
    >>> from privrelease.dp.sensitivity import Contribution
    >>> one = Setting(Contribution(1))
    >>> round(chance_beyond(one, Epsilon(Fraction("1e-8")), 1, 50_000_000), 4)  # exp(-1/2)
    0.6065
    """
    if not isinstance(loss, Epsilon):
        return erfc((reach + 0.5) / sqrt(2 * cells * variance(setting, loss)))
    rate = float(loss.value / of_group_counts(setting.contribution, setting.neighbours).l1)
    if cells == 1:
        return 2 * exp(-rate * (reach + 1)) / (1 + exp(-rate))
    if rate * reach > _FAR * sqrt(cells):
        return 0.0
    import numpy as np

    last = min(pi, 2 * sqrt(expm1(-_LEAST / cells)) * rate)
    swings = int((reach + 0.5) * last / pi) + 1
    steps = 2 * max(_STEPS, _STEPS_PER_SWING * swings)
    t = np.linspace(0.0, last, steps + 1)[1:]
    a = exp(-rate)
    # 1 - 2 a cos t + a^2 = (1 - a)^2 + 4 a sin^2(t/2), without the loss of digits near 0
    phi = np.exp(-cells * np.log1p(4 * a * (np.sin(t / 2) / expm1(-rate)) ** 2))
    inside = np.concatenate(([2 * reach + 1.0], phi * np.sin((reach + 0.5) * t) / np.sin(t / 2)))
    simpson = (inside[0] + inside[-1] + 4 * inside[1:-1:2].sum() + 2 * inside[2:-1:2].sum()) * (last / steps) / 3
    return min(1.0, max(0.0, 1 - float(simpson) / pi))


#: Beyond so many times the scale and the root of the number of cells lies nothing that is worth a word (for two cells, exp(-84)).
_FAR = 60
#: Where the transform is below exp of it, it is cut off; intervals of Simpson's rule, at least and for each swing of the sine.
_LEAST = -28.0
_STEPS, _STEPS_PER_SWING = 20_000, 24
