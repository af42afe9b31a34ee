"""Figures of ARX 3.9.2 on Adult: `../shared/reference/arx.md`, "Risk values on the unmodified file"."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.population.uniqueness import estimate_population_uniqueness
from privrelease.disclosure.risk.journalist import PopulationSizes, journalist_risk
from privrelease.disclosure.risk.marketer import marketer_risk
from privrelease.disclosure.risk.prosecutor import prosecutor_risk

#: What ARX takes for the population of the USA.
USA = 317_238_626

FIGURES = {
    # columns: classes, uniques, average risk, records with risk > 0.2, Zayatz, Pitman
    2: (142, 4, 0.004708, 0.000729, 2e-8, 0.0),
    5: (6072, 3187, 0.201313, 0.249586, 0.011201, 0.000749),
    9: (19502, 15512, 0.646575, 0.778131, 0.264565, 0.038896),
}


@pytest.fixture(scope="module", params=sorted(FIGURES))
def case(request, adult):
    sizes = ClassSizes.from_table(adult, range(request.param))
    return sizes, FIGURES[request.param]


def test_classes_and_uniques_are_those_of_arx(case):
    sizes, (classes, uniques, *_) = case
    assert (sizes.n_records, sizes.n_classes, sizes.uniques) == (30_162, classes, uniques)


def test_average_risk_and_records_at_risk_are_those_of_arx(case):
    sizes, (_, _, average, at_risk, _, _) = case
    risk = prosecutor_risk(sizes, above=Fraction("0.2"))
    assert round(float(risk.average), 6) == average
    assert round(float(risk.share_at_risk), 6) == at_risk
    assert risk.highest == 1


def test_average_risk_of_nine_columns_is_that_of_arx_to_the_last_digit(adult):
    assert float(prosecutor_risk(ClassSizes.from_table(adult)).average) == 0.6465751607983555


def test_population_uniqueness_is_that_of_arx(case):
    sizes, (*_, zayatz, pitman) = case
    assert estimate_population_uniqueness(sizes, USA, "zayatz").share == pytest.approx(zayatz, rel=0.1, abs=5.1e-7)
    by_zayatz = estimate_population_uniqueness(sizes, USA, "zayatz").share
    assert round(by_zayatz, 8 if zayatz < 1e-6 else 6) == zayatz
    assert round(estimate_population_uniqueness(sizes, USA, "pitman").share, 6) == pitman


def test_the_choice_of_estimator_at_a_small_fraction_is_pitman(case):
    assert estimate_population_uniqueness(case[0], USA, "dankar").estimator == "pitman"


def test_with_the_file_as_its_own_population_all_attackers_agree(adult):
    f = adult.counts
    sizes = PopulationSizes.of(f, f)
    prosecutor = prosecutor_risk(ClassSizes.from_table(adult), above=Fraction("0.2"))
    journalist = journalist_risk(sizes, above=Fraction("0.2"))
    assert (journalist.highest, journalist.average) == (prosecutor.highest, prosecutor.average)
    assert journalist.records_at_risk == prosecutor.records_at_risk
    assert marketer_risk(sizes).average == prosecutor.average
