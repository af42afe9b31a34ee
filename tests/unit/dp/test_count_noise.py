"""Noise of counts: moments next to sums over the exact laws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.count_noise import chance_beyond, expected_error, share_of, variance
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


@pytest.mark.parametrize("cells", [1, 2, 3, 12])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_chance_beyond_a_reach_is_that_of_the_convolved_laws(epsilon, cells):
    at = np.arange(-400, 401)
    law = np.exp(-np.abs(at) * float(epsilon))
    law /= law.sum()
    added = law
    for _ in range(cells - 1):
        added = np.convolve(added, law)
    far = np.abs(np.arange(added.size) - added.size // 2)
    for reach in (0, 1, 5, 20):
        assert chance_beyond(SETTING, Epsilon(epsilon), cells, reach) == pytest.approx(added[far > reach].sum(), abs=1e-9)


def test_the_chance_of_two_cells_by_hand():
    """Epsilon ln 2: a = 1/2, P(0) = 1/3, P(+-1) = 1/6, …; the sum of two is 0 with (1/9)(1 + 2/4 + 2/16 + …) = 5/27."""
    half = Epsilon(Fraction(np.log(2)))
    assert chance_beyond(SETTING, half, 2, 0) == pytest.approx(22 / 27, abs=1e-9)


def test_the_chance_beyond_a_reach_of_gaussian_noise_is_that_of_the_exact_law():
    law = np.exp(-(AT**2) / 200)
    law /= law.sum()
    three = np.convolve(np.convolve(law[3900:4101], law[3900:4101]), law[3900:4101])
    far = np.abs(np.arange(three.size) - three.size // 2)
    for reach in (0, 10, 40):
        found = chance_beyond(SETTING, Rho(Fraction(1, 200)), 3, reach)
        assert found == pytest.approx(three[far > reach].sum(), abs=0.03 / 300)


def test_at_large_scales_the_sum_has_the_law_of_continuous_laplace_noise():
    """P(|X| > r) of two Laplace variables of scale 1: (1 + r/2) exp(-r)."""
    for steps in (0.5, 2, 9):
        found = chance_beyond(SETTING, Epsilon(Fraction(1, 10**7)), 2, round(steps * 10**7))
        assert found == pytest.approx((1 + steps / 2) * np.exp(-steps), rel=1e-5)
    assert chance_beyond(SETTING, Epsilon(1), 2, 1000) == 0.0
