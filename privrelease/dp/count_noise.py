"""Noise of counts by group: public figures that follow from what one person can change and what a measurement may cost."""

from __future__ import annotations

from math import exp, pi, sqrt
from typing import TYPE_CHECKING

from privrelease.dp.sensitivity import of_group_counts
from privrelease.units import Epsilon

if TYPE_CHECKING:
    from fractions import Fraction

    from privrelease.dp.queries import Setting
    from privrelease.units import Rho

__all__ = ["expected_error", "share_of", "variance"]


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
