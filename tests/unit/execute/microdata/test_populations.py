"""Populations that cannot be one stop a run before anything is protected."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.errors import InputError
from privrelease.plan.model import PopulationPlan, ThreatPlan

COLUMNS = (("zone", "category", "quasi"), ("w", "number", "insensitive"))
DATA = {"zone": ["a", "a", "b", "b", "b"], "w": [2.0, 3.0, 1.5, 1.0, 1.0]}


def planned(desk, population, data=DATA, **rest):
    threat = ThreatPlan("t", ("zone",), Thresholds(highest=Fraction(1, 2)), "journalist", population=population)
    return desk.plan(desk.source(data, COLUMNS), threats=[threat], released=["zone"], **rest)


def outsiders(desk, zones):
    return PopulationPlan(table=desk.source({"zone": zones}, COLUMNS[:1], name="population.parquet"))


def refused(desk, plan, code):
    with pytest.raises(InputError) as caught:
        desk.run(plan)
    assert (caught.value.code, caught.value.exit_code) == (code, 3)
    assert caught.value.hint
    assert "suppress" not in {step for step, _ in desk.steps}
    assert not [path for path in desk.folder.rglob("*.parquet") if path.parent != desk.folder]


@pytest.mark.parametrize("rest", [{}, {"suppress": None}])
def test_a_population_without_a_row_is_refused(desk, rest):
    refused(desk, planned(desk, outsiders(desk, []), **rest), "D631")


def test_a_population_said_to_be_smaller_than_the_data_is_refused(desk):
    refused(desk, planned(desk, PopulationPlan(size=4, estimator="pitman")), "D631")
    assert desk.run(planned(desk, PopulationPlan(size=5, estimator="pitman"))).internal.claims.feasible


@pytest.mark.parametrize("weights", [[1e308] * 5, [1e300, 1.0, 1.0, 1.0, 1.0], [1.01e15, 1.0, 1.0, 1.0, 1.0]])
@pytest.mark.parametrize("rest", [{}, {"suppress": None}])
def test_weights_that_add_up_to_no_number_of_persons_are_refused(desk, weights, rest):
    refused(desk, planned(desk, PopulationPlan(weight="w"), DATA | {"w": weights}, **rest), "D632")


def test_weights_and_tables_that_can_be_a_population_are_used(desk):
    assert sum(desk.run(planned(desk, PopulationPlan(weight="w"))).internal.claims.lost.values()) == 0
    assert sum(desk.run(planned(desk, outsiders(desk, ["a", "b", "b"]))).internal.claims.lost.values()) == 0
