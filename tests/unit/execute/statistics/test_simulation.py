"""Simulated noise: theory is met, nobody's data is needed, and what the noise does to a figure is shown as it is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.calibration import draws
from privrelease.dp.domains import NumericDomain
from privrelease.dp.queries import Count, Mean, PrivateKeys, Quantile, Setting, Variance
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.execute.statistics.simulation import simulate
from privrelease.plan.statistics.plan import StatisticPlan
from privrelease.units import Delta, Epsilon

PAY = NumericDomain("0", "200", grid="1")
SETTING = Setting(Contribution(1))
EPSILONS = tuple(map(Epsilon, ("0.1", "0.5", "1", "2")))


def simulated(*queries, delta="1e-5", epsilons=EPSILONS, repetitions=4000):
    """Sampling error of a standard deviation is about 2 % at 4,000 repetitions of Laplace; seeds are fixed."""
    budget = Budget(Epsilon(1), Delta(delta))
    plans = tuple(StatisticPlan(one.id, "f", one, None, budget, draws(one, SETTING, budget)) for one in queries)
    plan = SimpleNamespace(queries=plans, setting=SETTING, budget=budget)
    return simulate(plan, epsilons, repetitions=repetitions, rows=1500, randomness=TestRandomness(11))


def test_counts_vary_as_the_discrete_laws_say_and_not_as_the_paper_prints():
    found = simulated(Count("n"))
    by = {(one.mechanism, one.epsilon): one for one in found}
    laplace = [by["laplace", str(epsilon)] for epsilon in EPSILONS]
    assert [one.theory for one in laplace] == pytest.approx([14.136, 2.799, 1.357, 0.602], abs=5e-4)
    for one in found:
        assert one.observed == pytest.approx(one.theory, rel=0.1)
        assert one.truth == 1500
        assert one.counts
    gaussian = [by["gaussian", str(epsilon)].theory for epsilon in EPSILONS]
    assert gaussian == pytest.approx([30.75, 7.03, 3.73, 1.99], rel=0.02)
    assert all(abs(one.observed - paper) > 1 for one, paper in zip(laplace, (20, 8, 4, 2), strict=True))


def test_a_mean_varies_with_its_sum_and_its_count():
    for one in simulated(Mean("m", "pay", PAY), epsilons=EPSILONS[1:]):
        assert not one.counts
        assert 90 < one.truth < 110
        assert one.observed == pytest.approx(one.theory, rel=0.1)
        assert one.low < 0 < one.high


def test_a_variance_is_shown_without_a_theory():
    (one, *_) = simulated(Variance("v", "pay", PAY), epsilons=EPSILONS[3:])
    assert one.theory is None
    assert one.observed > 0
    assert one.truth == pytest.approx(201**2 / 12, rel=0.1)


def test_choices_and_private_keys_are_left_out_and_a_gaussian_without_delta():
    assert simulated(Quantile("q", "pay", PAY), Count("k", by=PrivateKeys(("area",)))) == ()
    assert {one.mechanism for one in simulated(Count("n"), delta="0", repetitions=10)} == {"laplace"}


def test_the_made_rows_are_the_same_each_time_and_the_noise_is_not():
    one, other = simulated(Mean("m", "pay", PAY), epsilons=EPSILONS[:1], repetitions=50)
    assert one.truth == other.truth
    assert one.observed != other.observed
