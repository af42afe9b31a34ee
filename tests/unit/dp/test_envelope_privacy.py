"""Empirical privacy of envelopes: what is drawn stays within the claim, and what is not paid for is found out."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privrelease.dp import envelope as envelopes
from privrelease.dp.conversion import delta_of_rho
from privrelease.dp.envelope import Envelope, Marginal
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.sensitivity import Contribution, Sensitivity
from privrelease.units import Delta, Rho
from tests.depth import depth
from tests.unit.dp.envelope_examples import ALPHA, ONE, Counting, Exact, N, opened, scores


def delta_bound(there, here, epsilon):
    """A lower bound on delta at ``epsilon``: Clopper-Pearson at alpha 1e-9 on both probabilities of the event."""
    low = float(stats.beta.ppf(ALPHA / 2, there.sum(), there.size - there.sum() + 1)) if there.any() else 0.0
    hits = here.sum()
    high = float(stats.beta.isf(ALPHA / 2, hits + 1, here.size - hits)) if hits < here.size else 1.0
    return low - math.exp(epsilon) * high


RHO = Fraction(1, 2)
EPSILON = 2
CLAIM = float(delta_of_rho(RHO, Fraction(EPSILON)))
#: Envelopes of a choice and of a discovery: the few find each planted fault too.
CHOICES, DISCOVERIES = depth((2_500, 1_800), (4_000, 2_500))


@pytest.fixture(params=["used up", "one charge for two"])
def unpaid(request, monkeypatch):
    """Plants a fault: a draw after the envelope is used up is made all the same, or every other draw is not charged."""
    if request.param == "used up":
        monkeypatch.setattr(Reserved, "holds", lambda *_: True)
        return
    spend = Envelope._spend

    def every_other(self, draw):
        self.asked = getattr(self, "asked", -1) + 1
        if self.asked % 2 == 0:
            spend(self, draw)

    monkeypatch.setattr(Envelope, "_spend", every_other)


def measured(count, seed, times=1, setting=ONE):
    """Ten N independent means of ``times`` measurements of one cell that holds ``count``, from envelopes of RHO that one of them uses up."""
    envelope = opened(RHO, rows={"cell": [count] * 10 * N}, seed=seed, setting=setting)
    return sum(envelope.measure(Marginal("cell", (10 * N,)), Rho(RHO)) for _ in range(times)) / times


def gained(with_person, without, least):
    return delta_bound(with_person >= least, without >= least, EPSILON)


def test_measurements_stay_within_the_claim():
    assert 0 < gained(measured(1, 2), measured(0, 3), 3) <= CLAIM
    two = Setting(Contribution(2))
    assert 0 < gained(measured(2, 2, setting=two), measured(0, 3, setting=two), 6) <= CLAIM


def test_measurements_that_are_not_paid_for_are_found_out(unpaid):
    assert gained(measured(1, 2, times=2), measured(0, 3, times=2), 1.5) > CLAIM


def test_measurements_of_a_sensitivity_of_2_that_is_declared_1_are_found_out(monkeypatch):
    monkeypatch.setattr(envelopes, "of_group_counts", lambda *_: Sensitivity.of_one_number(1))
    two = Setting(Contribution(2))
    assert gained(measured(2, 2, setting=two), measured(0, 3, setting=two), 2) > CLAIM


def chosen(moved, seed, n=CHOICES, times=1, setting=ONE):
    """N envelopes of epsilon 2 (rho 1/2) with ``times`` choices between two candidates of scores ``moved`` and 4 - ``moved``: a person's
    rows move both, apart. Where all of them are the first."""
    candidates = [Marginal("a", (2,)), Marginal("b", (2,))]
    models = scores([0, 0], [4, 0])
    counts = Exact({"a": [moved, 0], "b": [moved, 0]})
    source = Counting(seed)
    lent = (Envelope(Reserved(Rho(RHO), Delta(0)), setting, counts, lambda _: None, source) for _ in range(n))
    return np.array([sum(envelope.select(candidates, models, Rho(RHO)) for _ in range(times)) == 0 for envelope in lent])


def ratio_bound(there, here):
    """A lower bound on the epsilon of a pure mechanism from one event."""
    low = stats.beta.ppf(ALPHA / 2, there.sum(), there.size - there.sum() + 1)
    return math.log(low / stats.beta.isf(ALPHA / 2, here.sum() + 1, here.size - here.sum()))


def test_choices_stay_within_the_claim():
    assert 0.5 < ratio_bound(chosen(1, 5), chosen(0, 6)) <= 2
    two = Setting(Contribution(2))
    assert 0.5 < ratio_bound(chosen(2, 5, setting=two), chosen(0, 6, setting=two)) <= 2


def test_choices_that_are_not_paid_for_are_found_out(unpaid):
    assert ratio_bound(chosen(2, 5, 5_000, 2), chosen(1, 6, 5_000, 2)) > 2


def test_choices_of_a_sensitivity_of_2_that_is_declared_1_are_found_out(monkeypatch):
    monkeypatch.setattr(envelopes, "of_group_counts", lambda *_: Sensitivity.of_one_number(1))
    two = Setting(Contribution(2))
    assert ratio_bound(chosen(2, 5, setting=two), chosen(0, 6, setting=two)) > 2


FAILURE = Delta("0.05")
#: Sigma 5: fine steps of the threshold, so that the failure is nearly all used.
WEAK = Rho(Fraction(1, 50))


def discovered(keys, seed, n=DISCOVERIES, times=1, setting=ONE):
    """N envelopes with ``times`` discoveries of ``keys`` that one person holds: which of them publish any."""
    counts = Exact({}, (tuple((str(key),) for key in range(keys)), (1,) * keys))
    source = Counting(seed)
    lent = (Envelope(Reserved(WEAK, FAILURE), setting, counts, lambda _: None, source) for _ in range(n))
    return np.array([any(tuple(envelope.discover("k", WEAK, FAILURE) for _ in range(times))) for envelope in lent])


def failures(found):
    """A lower bound on delta: without the person nobody holds the key, and it is never published."""
    return float(stats.beta.ppf(ALPHA / 2, found.sum(), found.size - found.sum() + 1))


def test_discovered_keys_betray_one_person_within_the_failure():
    assert 0.01 < failures(discovered(1, 10)) <= 0.05
    assert 0.01 < failures(discovered(2, 11, setting=Setting(Contribution(2)))) <= 0.05


def test_discoveries_that_are_not_paid_for_are_found_out(unpaid):
    assert failures(discovered(1, 10, times=2)) > 0.05


def test_discoveries_of_a_person_of_more_keys_than_declared_are_found_out():
    # two keys of one person, where one is declared
    assert failures(discovered(2, 10)) > 0.05
