from __future__ import annotations

from math import log

import numpy as np
import pytest

from privrelease.disclosure.risk.individual import global_risk, household_risk, individual_risk


def series(f: int, p: float) -> float:
    """Σ_h (1/h) C(h-1, f-1) p^f q^(h-f), summed term by term."""
    term, total, h = p**f, 0.0, f
    while h < 200_000 and (term / h > 1e-18 or h < 2 * f / p):
        total += term / h
        term *= h / (h - f + 1) * (1 - p)
        h += 1
    return total


def test_individual_risk_of_weighted_classes_is_the_expected_reciprocal(case):
    rows = case("k09")
    keys = sorted({row["key"] for row in rows})
    f = np.array([sum(row["key"] == key for row in rows) for key in keys])
    weights = np.array([sum(float(row["w"]) for row in rows if row["key"] == key) for key in keys])
    assert (f.tolist(), weights.tolist()) == ([2, 1, 3], [300, 90, 150])
    exact = individual_risk(f, weights)
    assert exact == pytest.approx([0.0064857153, 0.0505596592, 0.0098208402], abs=1e-10)
    assert global_risk(exact, f).expected == pytest.approx(0.09299361, abs=1e-8)
    approximate = individual_risk(f, weights, "approximate")
    assert approximate == pytest.approx([0.0064857153, 0.0505596592, 0.00990099], abs=1e-8)
    assert global_risk(approximate, f).expected == pytest.approx(0.09323406, abs=1e-8)


@pytest.mark.parametrize("f", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("p", [0.9, 0.5, 0.1, 0.01])
def test_the_integral_equals_the_series(f, p):
    assert individual_risk(np.array([f]), np.array([f / p]))[0] == pytest.approx(series(f, p), rel=1e-10)


@pytest.mark.parametrize("p", [0.999, 0.5, 1e-3, 1e-8])
def test_the_integral_equals_the_closed_forms(p):
    q = 1 - p
    risk = individual_risk(np.array([1, 2]), np.array([1 / p, 2 / p]))
    assert risk[0] == pytest.approx(p / q * log(1 / p), rel=1e-11)
    assert risk[1] == pytest.approx(p / q - (p / q) ** 2 * log(1 / p), rel=1e-8)


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_fractional_class_sizes_have_a_risk_between_their_neighbours(method):
    risk = individual_risk(np.array([1.0, 1.25, 1.75, 2.0, 2.5]), np.array([20.0, 25, 35, 40, 50]), method)
    assert np.all(np.diff(risk[:4]) < 0)
    assert np.all(risk > 0)


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_weights_below_one_give_no_risk_above_one(method):
    risk = individual_risk(np.array([1, 1, 4]), np.array([0.5, 1.0, 2.0]), method)
    assert risk == pytest.approx([1, 1, 0.25], rel=1e-12)


@pytest.mark.parametrize(("f", "population"), [([0], [1.0]), ([1], [np.inf]), ([1], [np.nan]), ([1, 2], [1.0])])
def test_impossible_sizes_are_refused(f, population):
    with pytest.raises(ValueError, match="f "):
        individual_risk(np.array(f), np.array(population))


def test_risk_of_many_classes_is_that_of_each():
    f = np.arange(1, 6001)
    risk = individual_risk(f, 10.0 * f)
    assert risk[4999] == pytest.approx(individual_risk(f[4999:5000], 10.0 * f[4999:5000])[0], rel=1e-14)


def test_a_household_is_found_when_any_member_is():
    risk = household_risk(np.array([0.1, 0.2, 0.3, 1.0, 0.4]), np.array([1, 1, 2, 3, 3]))
    assert risk == pytest.approx([1 - 0.9 * 0.8, 1 - 0.9 * 0.8, 0.3, 1, 1])


def test_global_risk_of_no_records_is_undefined():
    assert global_risk(np.zeros(0), np.zeros(0, np.int64)).share is None
