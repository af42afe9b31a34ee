"""Individual and global risk of sdcMicro 5.8.2: `../shared/reference/sdcmicro/`, indivrisk_* and measure_risk_*."""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.disclosure.classes.wildcard import match_sums
from privrelease.disclosure.risk.individual import global_risk, household_risk, individual_risk

KV7 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def numbers(rows: list[dict[str, str]], column: str) -> np.ndarray:
    return np.array([float(row[column]) for row in rows])


@pytest.mark.parametrize("name", ["indivrisk_francdat", "indivrisk_testdata2_kv7"])
def test_individual_risk_is_that_of_sdcmicro_by_both_methods(sdcmicro, name):
    figures = sdcmicro(name)
    f, population = numbers(figures, "fk"), numbers(figures, "Fk")
    assert individual_risk(f, population, "approximate") == pytest.approx(numbers(figures, "approx"), rel=2e-9)
    few = f <= 30  # beyond, the reference's series stops
    assert few.any()
    assert individual_risk(f[few], population[few]) == pytest.approx(numbers(figures, "exact")[few], rel=2e-9)
    assert 1 / f == pytest.approx(numbers(figures, "survey_false"), rel=1e-9)


def test_the_two_methods_differ_above_two_records():
    f, population = np.array([1, 2, 3, 30]), np.array([100.0, 200, 300, 3000])
    exact, approximate = individual_risk(f, population), individual_risk(f, population, "approximate")
    assert np.isclose(exact, approximate, rtol=1e-13, atol=0).tolist() == [True, True, False, False]
    assert exact == pytest.approx(approximate, rel=0.05)


@pytest.mark.parametrize(
    ("figures", "data"),
    [("measure_risk_testdata2_kv7_w", "data/testdata2"), ("measure_risk_testdata2_na_kv7_w", "data/testdata2_na")],
)
def test_risk_with_weights_from_the_data_on_is_that_of_sdcmicro(sdcmicro, coded, figures, data):
    expected, rows = sdcmicro(figures), sdcmicro(data)
    codes = coded(rows, KV7)
    weights = numbers(rows, "sampling_weight")
    # sdcMicro does not let a complete record match one that has no key left (see test_sdcmicro_freqcalc.py)
    complete, empty = np.all(codes > 0, axis=1), np.all(codes == 0, axis=1)
    f = match_sums(codes, np.ones(len(rows), np.int64)) - complete * int(empty.sum())
    population = match_sums(codes, weights) - complete * weights[empty].sum()
    assert f.tolist() == numbers(expected, "fk").tolist()
    assert population == pytest.approx(numbers(expected, "Fk"), rel=1e-9)
    risk = individual_risk(f, population, "approximate")
    assert risk == pytest.approx(numbers(expected, "risk"), rel=2e-9)
    whole = global_risk(risk, np.ones(len(rows), np.int64))
    assert whole.expected == pytest.approx(numbers(expected, "risk").sum(), rel=1e-9)
    assert whole.share == pytest.approx(numbers(expected, "risk").mean(), rel=1e-9)


def test_household_risk_is_the_chance_that_any_member_is_found(sdcmicro):
    risk = numbers(sdcmicro("measure_risk_testdata2_kv7_w"), "risk")
    households = np.array([int(row["ori_hid"]) for row in sdcmicro("data/testdata2")])
    found = household_risk(risk, households)
    for household in np.unique(households):
        members = households == household
        assert found[members] == pytest.approx(1 - np.prod(1 - risk[members]), rel=1e-12)
