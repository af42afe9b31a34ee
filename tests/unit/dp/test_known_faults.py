"""Faults that other systems had (reference/dp-and-synthesis.md): each check passes as built, and fails once the fault is planted.

Numbers are those of the reference's list; 5 (domains from the data), 7's synthesis half and 11 concern rooms that see data.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp import calibration, domains, sensitivity
from privrelease.dp import queries as q
from privrelease.dp.accountants import ApproximateAccountant, PureAccountant
from privrelease.dp.accountants.events import Pure
from privrelease.dp.budget import Budget
from privrelease.dp.domains import CategoryDomain, NumericDomain
from privrelease.dp.draws import charge_then_draw
from privrelease.dp.mechanisms import DiscreteLaplace, discrete_laplace
from privrelease.dp.randomness import SystemRandomness, TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours, Sensitivity
from privrelease.errors import PolicyError
from privrelease.units import Delta, Epsilon

ONE = q.Setting(Contribution(1))
REGIONS = q.PublicKeys(("r",), (CategoryDomain([str(i) for i in range(40)]),))


def counts(randomness, epsilon="1"):
    (draw,) = calibration.draws(q.Count("c", by=REGIONS), ONE, Budget(Epsilon(epsilon)))
    return charge_then_draw([(draw, [100] * 40)], lambda _: None, randomness)[0].values


# 1 ------------------------------------------------------------------------------------------------------------ float noise


def released_figures_are_integers():
    return all(type(value) is int for value in counts(TestRandomness(1)))


def test_no_float_noise_leaves(monkeypatch):
    assert released_figures_are_integers()
    monkeypatch.setattr(
        DiscreteLaplace, "sample", lambda self, size, _: np.random.default_rng(1).laplace(0, float(self.scale), size)
    )
    assert not released_figures_are_integers()


# 2 ------------------------------------------------------------------------- sensitivity below the truth; sums that overflow or round


def a_person_moves_no_sum_further_than_stated():
    low, high = -7, 5
    worst = max(abs(sum(rows)) for rows in ([low, low], [low, high], [high, high], [high]))
    return sensitivity.of_sum(low, high, Contribution(2), Neighbours.ADD_REMOVE).l1 >= worst


def test_a_sensitivity_below_the_truth_is_found(monkeypatch):
    assert a_person_moves_no_sum_further_than_stated()
    monkeypatch.setattr(sensitivity, "of_sum", lambda low, high, *_: Sensitivity.of_one_number(high - low))
    assert not a_person_moves_no_sum_further_than_stated()


def noisy_sums_of_any_size_are_exact(values):
    noisy = DiscreteLaplace(Fraction(1))
    from privrelease.dp.mechanisms import add_noise

    return all(
        abs(found - value) < 60 for found, value in zip(add_noise(noisy, values, TestRandomness(2)), values, strict=True)
    )


def test_a_sum_that_wraps_or_rounds_is_found(monkeypatch):
    from privrelease.dp import mechanisms

    large = [2**63 - 1, 2**63, 10**25 + 1] * 10
    assert noisy_sums_of_any_size_are_exact(large)
    monkeypatch.setattr(
        mechanisms,
        "add_noise",
        lambda noise, values, source: [
            int(float(v) + d) for v, d in zip(values, noise.sample(len(values), source).tolist(), strict=True)
        ],
    )
    assert not noisy_sums_of_any_size_are_exact(large)


# 3 and 4 ------------------------------------------------------------------------------------- NaN, infinite or missing bounds


def refuses(low, high):
    try:
        NumericDomain(low, high, column="duration")
    except PolicyError as error:
        return "duration" in str(error)
    return False


@pytest.mark.parametrize(("low", "high"), [("nan", 5), (0, "inf"), ("-inf", 5), (None, 5), (0, None), (None, None)])
def test_bounds_that_bound_nothing_are_refused(monkeypatch, low, high):
    assert refuses(low, high)
    real = domains.exact_number

    def lenient(value, what, *, subject=""):
        if value in (None, "nan", "inf", "-inf"):
            return Fraction(-100 if "lower" in what else 100)
        return real(value, what, subject=subject)

    monkeypatch.setattr(domains, "exact_number", lenient)
    if (low, high) != (None, None):
        assert not refuses(low, high)


# 6 ---------------------------------------------------------------------------------------------- the number of rows in a scale


def scales_of(table, calibrate):
    return calibrate(q.Mean("m", "x", NumericDomain(0, 100)), table)


def neighbours_get_the_same_scales(calibrate):
    return scales_of([0, 100], calibrate) == scales_of([0], calibrate)  # the two files of case d04


def test_a_scale_that_depends_on_the_number_of_rows_is_found():
    def as_built(query, _table):
        return [draw.scale for draw in calibration.draws(query, ONE, Budget(Epsilon(1)))]

    def planted(query, table):
        return [(query.domain.high - query.domain.low) / len(table)]

    assert neighbours_get_the_same_scales(as_built)
    assert not neighbours_get_the_same_scales(planted)


# 7 -------------------------------------------------------------------------------------------- a scale that collapses at an edge


def every_scale_is_as_large_as_it_must_be():
    for epsilon in ("0.000001", "0.1", "1", "3", "100"):
        for high in (1, 10, 10**12):
            try:
                (draw,) = calibration.draws(q.Sum("s", "x", NumericDomain(0, high)), ONE, Budget(Epsilon(epsilon)))
            except (ValueError, ZeroDivisionError):
                return False
            if draw.scale * draw.epsilon.value < high:
                return False
    return True


def test_a_scale_that_collapses_to_zero_is_found(monkeypatch):
    assert every_scale_is_as_large_as_it_must_be()
    whole = classmethod(lambda cls, *, sensitivity, epsilon: cls(Fraction(sensitivity // epsilon)))
    monkeypatch.setattr(DiscreteLaplace, "calibrated", whole)
    assert not every_scale_is_as_large_as_it_must_be()


# 8 ------------------------------------------------------------------------------------------- spending twice, composing wrongly


def a_budget_of_one_is_spent_once():
    total = ApproximateAccountant()
    for query in (q.Count("count"), q.Sum("sum", "x", NumericDomain(0, 9)), q.Mean("mean", "x", NumericDomain(0, 9))):
        for draw in calibration.draws(query, ONE, Budget(Epsilon(Fraction(1, 3)))):
            total = total.compose(draw.event)
    return total.spent_epsilon == Epsilon(1) and PureAccountant().compose(Pure(Fraction(1, 10)), 10).spent == Epsilon(1)


@pytest.mark.parametrize("fault", ["each figure at the whole", "times is forgotten", "the larger instead of the sum"])
def test_wrong_composition_is_found(monkeypatch, fault):
    assert a_budget_of_one_is_spent_once()
    if fault == "each figure at the whole":
        real = calibration._draw
        whole = Epsilon(Fraction(1, 3))
        monkeypatch.setattr(
            calibration, "_draw", lambda query, figure, part, groups: real(query, figure, replace(part, epsilon=whole), groups)
        )
    elif fault == "times is forgotten":
        real_composed = PureAccountant._composed
        monkeypatch.setattr(PureAccountant, "_composed", lambda self, event, _times: real_composed(self, event, 1))
    else:
        monkeypatch.setattr(
            ApproximateAccountant,
            "_composed",
            lambda self, event, _times: ApproximateAccountant(max(self.spent_epsilon, Epsilon(event.epsilon)), Delta(0)),
        )
    assert not a_budget_of_one_is_spent_once()


# 9 --------------------------------------------------------------------------------------------- add/remove noise under replace


def a_histogram_under_replace_moves_no_further_than_stated():
    before, after = [1, 0], [0, 1]
    moved = sum(abs(a - b) for a, b in zip(before, after, strict=True))
    (draw,) = calibration.draws(
        q.Histogram("h", "x", q.Bins([0, 1, 2])), q.Setting(Contribution(1), Neighbours.REPLACE), Budget(Epsilon(1))
    )
    return moved / draw.scale <= 1


def test_noise_for_add_and_remove_under_replace_is_found(monkeypatch):
    assert a_histogram_under_replace_moves_no_further_than_stated()
    real = sensitivity.of_group_counts
    monkeypatch.setattr(sensitivity, "of_group_counts", lambda contribution, _: real(contribution, Neighbours.ADD_REMOVE))
    assert not a_histogram_under_replace_moves_no_further_than_stated()


# 10 ---------------------------------------------------------------------------------------------------- one seed for several draws


def two_releases_differ():
    return counts(SystemRandomness(), "0.05") != counts(SystemRandomness(), "0.05")


def test_noise_from_a_seed_that_is_shared_is_found(monkeypatch):
    assert two_releases_differ()
    monkeypatch.setattr(SystemRandomness, "draw", lambda _self, size: TestRandomness(7).draw(size))
    assert not two_releases_differ()


# 12 -------------------------------------------------------------------------------------------------------- timing of a sampler


class Counted:
    private = False

    def __init__(self, seed):
        self.calls, self.source = 0, TestRandomness(seed)

    def draw(self, size):
        self.calls += 1
        return self.source.draw(size)


def draws_are_batched_and_their_work_does_not_depend_on_the_figures():
    calls = []
    for figure in (0, 10**15):
        source = Counted(3)
        (draw,) = calibration.draws(q.Count("c", by=REGIONS), ONE, Budget(Epsilon("0.1")))
        charge_then_draw([(draw, [figure] * 40)], lambda _: None, source)
        calls.append(source.calls)
    return calls[0] == calls[1] < 40


def test_draws_one_by_one_are_found(monkeypatch):
    assert draws_are_batched_and_their_work_does_not_depend_on_the_figures()
    monkeypatch.setattr(discrete_laplace, "SMALL", 10**9)
    assert not draws_are_batched_and_their_work_does_not_depend_on_the_figures()


def test_the_reference_scale_holds():
    assert math.isclose(
        DiscreteLaplace.calibrated(sensitivity=1, epsilon=Fraction(1)).standard_deviation(), 1.357, abs_tol=5e-4
    )
