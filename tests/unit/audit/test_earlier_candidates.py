"""Attackers of several releases and whom they single out, worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from privrelease.audit.comparison.earlier.candidates import Knowledge, _judged, knowledge, linked_to_new
from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierThreat
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.engine.assignment_protocol import Candidates, SharedColumn
from privrelease.plan.model import ThreatPlan
from privrelease.relational.schema import Sink, SinkKind

HALF, FIFTH = Fraction(1, 2), Fraction(1, 5)


def earlier(*threats):
    sink = Sink(SinkKind.CSV, Path("/nowhere/old.csv"), "old.csv")
    return EarlierRelease("old", "microdata", sink, threats=tuple(EarlierThreat(*threat) for threat in threats))


def threat(name, columns, absent=()):
    return ThreatPlan(name, columns, Thresholds(highest=FIFTH), absent=absent)


def told(threats, *releases):
    return {one.name: (set(one.columns), one.limits.highest) for one in knowledge(threats, releases)}


def test_of_a_threat_of_one_name_the_attacker_knows_the_columns_of_all_releases():
    found = told([threat("t", ("reg",), ("job",))], earlier(("t", ("age", "sex"), HALF)), earlier(("t", ("area",), HALF)))
    assert found == {"t": ({"reg", "job", "age", "sex", "area"}, FIFTH)}


def test_where_a_threat_is_in_both_releases_the_others_are_of_other_attackers():
    found = told([threat("t", ("reg",)), threat("u", ("job",))], earlier(("t", ("age",), HALF), ("v", ("pay",), HALF)))
    assert found == {"t": ({"reg", "age"}, FIFTH), "u": ({"job"}, FIFTH), "v": ({"pay"}, HALF)}


def test_where_no_threat_is_in_both_each_attacker_may_be_the_other():
    found = told([threat("t", ("reg",))], earlier(("u", ("age",), HALF)))
    assert found == {"t": ({"reg", "age"}, FIFTH), "u": ({"reg", "age"}, HALF)}


def test_an_attacker_who_knows_nothing_that_is_shown_is_none():
    assert told([threat("t", ())], earlier()) == {}


def remaining(persons, alone, left, lost=None):
    arrays = [np.array(one, np.int64) for one in (persons, alone, left)]
    return Candidates(*arrays, np.array(lost or [False] * len(persons)))


def judged(limits, found, what="persons", *, otherwise=False):
    return _judged(Knowledge("t", ("a",), limits, otherwise=otherwise), found, what)


def test_a_target_is_singled_out_where_fewer_than_k_remain_of_a_release_that_has_k():
    """Of k = 5: three persons keep 2 of 6 in the first; two have 4 in it alone and 5 of 9 in the second; one keeps 4 of 9 in the second."""
    found = remaining([3, 2, 1], [[6, 9], [4, 9], [5, 9]], [[2, 9], [4, 5], [5, 4]])
    number, faults = judged(Thresholds(highest=FIFTH), found, "persons")
    assert number == 3 + 1
    assert faults == ["4 persons can be singled out among fewer than 5 (smallest 2) by who combines them, and not in one alone"]


def test_where_classes_may_be_small_alone_any_that_the_combination_makes_smaller_counts():
    """Matching missing cells or a population make up for classes of 3 and 4: of the first the combination takes a record away."""
    found = remaining([3, 4], [[3, 9], [4, 9]], [[2, 9], [4, 9]])
    assert judged(Thresholds(highest=FIFTH), found)[0] == 0
    assert judged(Thresholds(highest=FIFTH), found, otherwise=True)[0] == 3


def test_targets_of_whom_nothing_is_shown_are_not_counted():
    found = remaining([3], [[6, 6]], [[2, 2]], [True])
    assert judged(Thresholds(highest=FIFTH), found, "persons") == (0, [])


def test_average_risk_and_records_at_risk_are_of_the_records_that_remain_in_the_new_release():
    """Four persons in two classes of the new release: 1/4 each alone, 1/2 each where two of the four remain."""
    found = remaining([2, 2], [[4, 4], [4, 4]], [[4, 2], [4, 2]])
    assert judged(Thresholds(average=Fraction(1, 4)), found, "records") == (
        0,
        ["average_risk is 1/2, above 1/4, for who combines them"],
    )
    limits = Thresholds(at_risk=RecordsAtRisk(Fraction(1, 3), HALF))
    assert judged(limits, found, "records") == (0, ["records_at_risk is 1, above 1/2, for who combines them"])
    before = remaining([2, 2], [[4, 2], [4, 2]], [[4, 2], [4, 2]])
    assert judged(limits, before, "records") == (0, [])


def test_releases_are_linked_to_the_last_one_by_others_between_them():
    """0 shares with 1, 1 with 3; 2 shares with none."""
    assert linked_to_new((SharedColumn("a", (0, 1)), SharedColumn("b", (1, 3))), 3) == (0, 1)
    assert linked_to_new((), 3) == ()
