from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privrelease.audit.document.model import Outcome
from privrelease.audit.microdata.evidence import PopulationSide
from privrelease.audit.microdata.integrity.checks import integrity
from privrelease.audit.microdata.linkage import Repeats
from privrelease.audit.microdata.risk.class_sizes import Table, measured
from privrelease.audit.microdata.risk.threats import threat_result
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.engine.protocol.audit import PersonClasses, UnitFacts
from privrelease.plan.model import PopulationPlan, SubsetLimit, ThreatPlan, UnitPlan

HALF = Thresholds(highest=Fraction(1, 2))
VISITS = UnitFacts(rows=6, persons=3, missing=0, most_rows=3)


def visits() -> PersonClasses:
    """Person 0: a twice and b; person 1: a and b; person 2: c. Classes a 3 rows of 2, b 2 rows of 2, c 1 row of 1."""
    codes = np.array([[1, 1], [2, 1], [3, 1]], np.int32)
    pairs, persons = np.array([0, 0, 1, 1, 2], np.uint32), np.array([0, 1, 0, 1, 2], np.uint32)
    table = ClassTable(("sex", "region"), codes, np.array([3, 2, 1]), None, pairs, persons)
    return PersonClasses(table, np.array([2, 1, 1, 1, 1]))


@pytest.mark.parametrize(
    ("linkable", "knows_rows", "counted", "sizes"),
    [
        (False, False, "persons", [1, 2]),
        (True, False, "person_sets", [1, 2]),
        (True, True, "person_multisets", [1]),
    ],
)
def test_persons_are_counted_alone_or_by_all_their_rows(linkable, knows_rows, counted, sizes):
    persons = visits()
    table = Table(persons.table, persons, "class", linkable)
    found = measured(table, ["sex", "region"], "category", knows_rows=knows_rows)
    assert (found.counted, found.sizes.sizes.tolist()) == (counted, sizes)


def test_one_row_each_makes_records_persons(made):
    table = Table(made.table([[1, 1]], [3]), None, "lost", one_each=True)
    assert [measured(table, ["sex"], reading).counted for reading in ("category", "wildcard")] == ["persons", "persons"]


def test_both_counts_of_linkable_rows_are_reported(made):
    plan = made.plan(ThreatPlan("outsider", ("sex", "region"), Thresholds(), knows_rows=True), unit=UnitPlan("id"))
    after = visits()
    evidence = made.evidence(
        plan, persons=VISITS, person_after=after, person_before=after, after=after.table, before=after.table
    )
    further = threat_result(evidence, plan.threats[0]).after.further
    assert (further["k_person_sets"].value, further["k_person_multisets"].value) == (1, 1)


def test_persons_that_could_not_be_found_are_no_pass(made):
    plan = made.plan(unit=UnitPlan("id"))
    outcomes = {
        "found": made.evidence(plan, persons=VISITS, person_after=visits()),
        "not found": made.evidence(plan, persons=VISITS),
        "too many": made.evidence(replace(plan, unit=UnitPlan("id", 2)), persons=VISITS, person_after=visits()),
        "nobody": made.evidence(plan, persons=replace(VISITS, missing=1), person_after=visits()),
    }
    found = {
        name: next(c.outcome for c in integrity(evidence) if c.id == "AUDIT-PERSONS") for name, evidence in outcomes.items()
    }
    assert found == {
        "found": Outcome.PASS,
        "not found": Outcome.NOT_EVALUATED,
        "too many": Outcome.FAIL,
        "nobody": Outcome.FAIL,
    }


def persons_check(evidence):
    return next(check for check in integrity(evidence) if check.id == "AUDIT-PERSONS")


def test_pseudonyms_that_repeat_where_no_person_is_declared_fail(made):
    """Two tokens occur in several rows of the file: whoever made it counted rows as persons."""
    evidence = made.evidence(repeats=(Repeats("id", direct=True, repeated=2),))
    found = persons_check(evidence)
    assert (found.outcome, found.observed.value) == (Outcome.FAIL, 2)
    assert "pseudonyms of id" in found.message
    assert persons_check(made.evidence(repeats=None)).outcome is Outcome.NOT_EVALUATED


def test_a_name_that_several_persons_share_is_told(made):
    plan = made.plan(unit=UnitPlan("sex"))
    single = replace(VISITS, most_rows=1)
    shared = made.evidence(plan, persons=single, repeats=(Repeats("id", direct=True, repeated=1, within=False),))
    assert persons_check(shared).outcome is Outcome.WARN
    assert persons_check(made.evidence(plan, persons=single)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("repeats", "linkable"),
    [
        ((), False),
        ((Repeats("id", direct=True, repeated=3, within=False),), False),
        ((Repeats("id", direct=True, repeated=3, within=True),), True),
        ((Repeats("id", direct=True, repeated=3),), True),  # persons not known: every repetition may be one person's
        ((Repeats("id", direct=True, repeated=0),), False),
        (None, True),  # not measured
    ],
)
def test_rows_are_linkable_where_a_pseudonym_repeats_in_those_of_one_person(made, repeats, linkable):
    plan = made.plan(unit=UnitPlan("score"))
    plan = replace(plan, columns=tuple(column for column in plan.columns if column.name != "score"))
    assert made.evidence(plan, persons=VISITS, repeats=repeats).linkable is linkable
    assert not made.evidence(plan, persons=replace(VISITS, most_rows=1), repeats=repeats).linkable


@pytest.mark.parametrize(
    ("knows_rows", "words"),
    [
        (False, "rows of one person can be linked: every set of rows is that of at least 2 persons"),
        (True, "rows of one person can be linked: every set of rows, repeated ones counted, is that of at least 2 persons"),
    ],
)
def test_a_verdict_about_persons_speaks_of_persons(made, knows_rows, words):
    limits = Thresholds(Fraction(1, 2), Fraction(1, 2), RecordsAtRisk(Fraction(1, 2), Fraction(1, 10)))
    threat = ThreatPlan("outsider", ("sex", "region"), limits, knows_rows=knows_rows)
    plan, after = made.plan(threat, unit=UnitPlan("id")), visits()
    evidence = made.evidence(plan, persons=VISITS, person_after=after, person_before=after, after=after.table)
    meant = [verdict.means for verdict in threat_result(evidence, threat).verdicts]
    assert meant == [
        words,
        "a person is found with a chance of at most 0.5 on average",
        "at most 0.1 of the persons have a risk above 0.5",
    ]


def test_a_journalist_is_judged_as_a_prosecutor_where_rows_of_a_person_are_linked(made):
    """The population would hide each row among 90 persons; sets of rows it does not know, and one person's is alone in the file."""
    threat = ThreatPlan("outsider", ("sex", "region"), HALF, "journalist", population=PopulationPlan(weight="score"))
    plan, after = made.plan(threat, unit=UnitPlan("id")), visits()
    outside = weighted([[1, 1], [2, 1], [3, 1]], [2, 2, 1], [90, 90, 90])
    evidence = made.evidence(
        plan, persons=VISITS, person_after=after, after=after.table, outside={"outsider": PopulationSide(outside, outside)}
    )
    found = threat_result(evidence, threat)
    assert (found.after.highest.exact, found.holds) == ("1", False)
    assert "sets of rows" in found.after.further["population"].note


def weighted(codes, counts, weights):
    return ClassTable(("sex", "region"), np.array(codes, np.int32), np.array(counts), np.array(weights, np.float64))


def test_a_journalist_is_judged_by_the_population_and_the_prosecutor_told_beside(made):
    """Case k09: a class of one record that stands for 90 persons."""
    threat = ThreatPlan(
        "outsider",
        ("sex", "region"),
        Thresholds(highest=Fraction("0.012")),
        "journalist",
        population=PopulationPlan(weight="score"),
    )
    plan = made.plan(threat)
    table = weighted([[1, 1], [2, 1], [3, 1]], [2, 1, 3], [300, 90, 150])
    evidence = made.evidence(plan, before=table, after=table, outside={"outsider": PopulationSide(table, table)})
    found = threat_result(evidence, threat)
    assert (found.holds, found.after.k.value, found.after.highest.exact) == (True, 1, "1/90")
    assert found.after.further["prosecutor_highest"].exact == "1"
    assert found.after.further["expected_reidentifications_exact"].value == pytest.approx(0.09299361, abs=1e-8)
    assert found.after.further["expected_reidentifications_approximation"].value == pytest.approx(0.09323406, abs=1e-8)


def test_a_population_table_gives_the_class_sizes_outside(made):
    threat = ThreatPlan("outsider", ("sex", "region"), Thresholds(average=Fraction(1, 10)), "marketer")
    sample = made.table([[1, 1], [2, 1]], [3, 2])
    population = made.table([[1, 1], [2, 1], [2, 2]], [30, 40, 5])
    plan = made.plan(threat)
    evidence = made.evidence(
        plan, before=sample, after=sample, outside={"outsider": PopulationSide(sample, sample, population)}
    )
    found = threat_result(evidence, threat)
    assert found.after.average.exact == str((Fraction(3, 30) + Fraction(2, 40)) / 5)
    assert found.after.highest.value is None
    assert found.holds


def test_an_unknown_population_is_not_replaced_in_silence(made):
    threat = ThreatPlan(
        "outsider", ("sex", "region"), HALF, "journalist", population=PopulationPlan(size=1000, estimator="pitman")
    )
    found = threat_result(made.evidence(made.plan(threat)), threat)
    assert found.after.highest.exact == "1/2"
    assert "not known" in found.after.further["population"].note
    assert "population_uniques_pitman" in found.after.further


def test_combinations_are_judged_and_counted_with_those_not_looked_at(made):
    threat = ThreatPlan("outsider", ("sex", "region"), Thresholds(), subsets=SubsetLimit(1, 3))
    found = threat_result(made.evidence(made.plan(threat), after=made.table([[1, 1], [1, 2], [2, 2]], [2, 1, 3])), threat)
    assert found.subsets.by_size == ((1, 2, 2, 1),)
    assert (found.subsets.looked_at, found.subsets.not_looked_at) == (2, 1)
    assert (found.verdicts[-1].measure, found.verdicts[-1].figure.value, found.holds) == ("subsets", 2, False)
