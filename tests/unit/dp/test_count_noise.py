"""Noise of counts: moments next to sums over the exact laws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.count_noise import expected_error, share_of, variance
from privrelease.dp.queries import Setting
from privrelease.dp.sensitivity import Contribution
from privrelease.units import Epsilon, Rho

SETTING = Setting(Contribution(1))
AT = np.arange(-4000, 4001, dtype=np.float64)
LAWS = ((Epsilon("0.1"), np.exp(-np.abs(AT) / 10)), (Rho(Fraction(1, 200)), np.exp(-(AT**2) / 200)))


@pytest.mark.parametrize(("loss", "weights"), LAWS)
def test_the_variance_is_that_of_the_exact_law(loss, weights):
    assert variance(SETTING, loss) == pytest.approx((AT**2 * weights).sum() / weights.sum(), rel=1e-6)


@pytest.mark.parametrize(("loss", "weights"), LAWS)
def test_the_expected_error_is_that_of_the_exact_law(loss, weights):
    assert expected_error(SETTING, loss) == pytest.approx((np.abs(AT) * weights).sum() / weights.sum(), rel=1e-3)


def test_a_person_with_three_rows_widens_the_noise():
    three = Setting(Contribution(3))
    assert variance(three, Epsilon(3)) == pytest.approx(variance(SETTING, Epsilon(1)))
    assert variance(three, Rho(9)) == pytest.approx(variance(SETTING, Rho(1)))


def test_a_quarter_of_a_loss_is_exact():
    assert share_of(Rho(Fraction(1, 3)), Fraction(1, 4)) == Rho(Fraction(1, 12))
