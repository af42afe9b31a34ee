from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.errors import InputError, InternalError
from privrelease.execute.common.scope import engine_settings, sources_of
from privrelease.execute.microdata import suppression
from privrelease.execute.microdata.populations import stage_populations
from privrelease.execute.microdata.suppression import population_classes, suppression_problem, weight_column
from privrelease.plan.model import PopulationPlan, SubsetLimit, SuppressStep, ThreatPlan

COLUMNS = (
    ("sex", "category", "quasi"),
    ("age", "integer", "quasi"),
    ("zone", "category", "quasi"),
    ("w", "number", "insensitive"),
)
DATA = {"sex": ["f", "f", "m"], "age": [30, 40, None], "zone": ["b", "b", "d"], "w": [2.0, 3.0, 4.0]}
CLASSES = ClassTable(("sex", "age", "zone"), np.array([[1, 1, 1], [1, 2, 1], [2, 0, 2]], np.int32), np.array([1, 1, 1]))


def threat(columns=("sex", "age", "zone"), k=2, **rest):
    return ThreatPlan("t", tuple(columns), Thresholds(highest=Fraction(1, k)), **rest)


def problem(desk, *threats, step=SuppressStep(), populations=None, linkable=False):  # noqa: B008 -- frozen
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=threats, suppress=step)
    return suppression_problem(plan, step, CLASSES, populations or {}, linkable=linkable)


def test_threats_become_requirements_on_the_columns_that_leave(desk):
    made = problem(desk, threat(("zone", "gone", "sex"), 3), threat(("gone",)))
    (requirement,) = made.requirements
    assert (requirement.columns, requirement.thresholds.k, requirement.attacker) == ((2, 0), 3, "prosecutor")
    assert made.weights == (1, 1, 1)


def test_weights_residual_and_persons_reach_the_solver(desk):
    step = SuppressStep(weights=(("age", Fraction(5, 2)),), residual="keep")
    made = problem(desk, threat(knows_rows=True), step=step, linkable=True)
    assert made.weights == (1, Fraction(5, 2), 1)
    assert (made.residual, made.linkable, made.knows_rows) == ("keep", True, True)


def test_combinations_of_the_largest_size_imply_the_smaller_ones(desk):
    made = problem(desk, threat(k=2, subsets=SubsetLimit(2, 4)))
    assert [(one.columns, one.thresholds.k) for one in made.requirements] == [
        ((0, 1, 2), 2),
        ((0, 1), 4),
        ((0, 2), 4),
        ((1, 2), 4),
    ]


def test_combinations_that_the_whole_threat_implies_are_not_repeated(desk):
    assert len(problem(desk, threat(k=4, subsets=SubsetLimit(2, 4))).requirements) == 1
    assert len(problem(desk, threat(k=1, subsets=SubsetLimit(9, 4))).requirements) == 2


def test_too_many_combinations_are_left_to_the_audit(desk, monkeypatch):
    monkeypatch.setattr(suppression, "MOST_SUBSETS", 2)
    assert len(problem(desk, threat(k=1, subsets=SubsetLimit(2, 4))).requirements) == 1


def test_an_estimated_population_is_protected_as_by_a_prosecutor(desk):
    made = problem(desk, threat(attacker="journalist", population=PopulationPlan(size=1000, estimator="pitman")))
    assert made.requirements[0].attacker == "prosecutor"


def test_weights_of_the_sample_make_the_population(desk):
    weighted = threat(attacker="journalist", population=PopulationPlan(weight="w"))
    made = problem(desk, weighted)
    assert (made.requirements[0].attacker, made.requirements[0].use_weights) == ("journalist", True)
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=[weighted, threat()])
    assert weight_column(plan) == "w"
    other = threat(attacker="journalist", population=PopulationPlan(weight="v"))
    with pytest.raises(InputError, match="D630"):
        weight_column(desk.plan(plan.source, threats=[weighted, other]))


def with_population(desk, data, columns=("age", "zone")):
    table = desk.source(data, [column for column in COLUMNS if column[0] in columns], name="population.parquet")
    return desk.plan(
        desk.source(DATA, COLUMNS), threats=[threat(columns, attacker="journalist", population=PopulationPlan(table=table))]
    )


def coded(desk, plan):
    with DuckDBEngine(engine_settings(plan, None)) as engine:
        staged = engine.stage(plan.source)
        classes = engine.classes(staged, plan.quasi_identifiers).table
        return classes, population_classes(plan, engine, staged, classes, stage_populations(plan, engine, staged.n_rows))["t"]


def test_a_population_is_coded_like_the_sample_and_its_own_values_follow(desk):
    data = {"age": [20, 30, 30, 40, None, 90], "zone": ["a", "b", "b", "c", "d", "b"]}
    plan = with_population(desk, data)
    classes, population = coded(desk, plan)
    assert classes.columns == ("age", "zone")
    assert classes.codes.tolist() == [[0, 2], [1, 1], [2, 1]]
    # ages 30, 40 are 1, 2 in the sample; 20, 90 follow as 3, 4. zones b, d are 1, 2; a, c follow as 3, 4
    assert population.codes.tolist() == [[0, 2], [1, 1], [2, 4], [3, 3], [4, 1]]
    assert population.counts.tolist() == [1, 2, 1, 1, 1]
    assert [source.label for source in sources_of(plan)] == ["data.parquet", "population.parquet"]


def test_a_journalist_needs_fewer_cells_than_a_prosecutor_where_the_population_is_large(desk):
    many = {"age": [30] * 5 + [40] * 5 + [None] * 5, "zone": ["b"] * 10 + ["d"] * 5}
    parked = desk.run(with_population(desk, many))
    assert sum(parked.internal.claims.lost.values()) == 0
    assert [entry.label for entry in parked.internal.inputs] == ["data.parquet", "population.parquet"]
    few = {"age": [30, 40, None], "zone": ["b", "b", "d"]}
    assert sum(desk.run(with_population(desk, few)).internal.claims.lost.values()) > 0


def test_a_value_of_left_out_rows_leaves_a_gap_in_the_codes_and_is_one_of_the_population_s_own():
    """Of zones a, b, c the only row of b is left out (`outside: drop`), so that the classes have no code 2; the population has b and d too."""
    classes = ClassTable(("zone",), np.array([[1], [3]], np.uint32), np.array([4, 5]))
    sample = ClassTable(("zone",), np.array([[1], [3]], np.uint32), np.array([4, 5]))
    everybody = ClassTable(("zone",), np.array([[0], [1], [2], [3], [4]], np.uint32), np.array([1, 40, 20, 50, 10]))
    population = suppression._in_coding_of(classes, sample, everybody)
    # a and c keep their codes 1 and 3; b and d, which no class has, follow as 4 and 5
    assert population.codes.tolist() == [[0], [1], [3], [4], [5]]
    assert population.counts.tolist() == [1, 40, 50, 20, 10]


def test_two_codings_that_do_not_agree_are_a_fault_of_ours():
    other = ClassTable(("age", "zone"), np.array([[0, 2], [1, 1], [2, 2]], np.int32), np.array([1, 1, 1]))
    with pytest.raises(InternalError, match="R182"):
        suppression._in_coding_of(CLASSES, other, other)
    fewer = ClassTable(("age", "zone"), np.array([[0, 1], [1, 1]], np.int32), np.array([1, 2]))
    with pytest.raises(InternalError, match="R181"):
        suppression._in_coding_of(CLASSES, fewer, fewer)
