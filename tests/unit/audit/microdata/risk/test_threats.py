from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from privrelease.audit.document.model import Visibility
from privrelease.audit.microdata.risk.threats import key_facts, threat_result, threat_results, union_result
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.plan.model import ThreatPlan

HALF = Thresholds(highest=Fraction(1, 2))


def threat(*columns, thresholds=HALF, **more):
    return ThreatPlan("outsider", columns or ("sex", "region"), thresholds, **more)


def test_risk_is_measured_before_and_after_on_the_same_columns(made):
    """Before: classes 3, 1, 1, 1 of 6. After: 3 and 2 of 5."""
    found = threat_result(made.evidence(), threat())
    assert (found.before.k.value, found.before.uniques.value, found.before.average.exact) == (1, 3, "2/3")
    assert (found.after.k.value, found.after.highest.exact, found.after.average.exact) == (2, "1/2", "2/5")
    assert found.after.classes.value == 2
    assert found.holds


def test_records_and_classes_below_k_are_two_numbers(made):
    """Sizes 1, 1, 2, 2, 2, 3, 4 (case k04)."""
    sizes = [1, 1, 2, 2, 2, 3, 4]
    after = made.table([[i + 1, 1] for i in range(7)], sizes)
    for k, records, classes in ((2, 2, 2), (3, 8, 5), (4, 11, 6), (5, 15, 7)):
        plan = made.plan(threat(thresholds=Thresholds(highest=Fraction(1, k))))
        found = threat_result(made.evidence(plan, after=after), plan.threats[0])
        assert (found.after.records_below_k.value, found.after.classes_below_k.value) == (records, classes)
        assert not found.holds


@pytest.mark.parametrize(("share", "holds"), [("0.4", True), ("0.39", False)])
def test_records_at_risk_have_a_level_of_their_own(made, share, holds):
    """Level 1/3: the class of 2 is above it, 2 of 5 records."""
    limits = Thresholds(at_risk=RecordsAtRisk(Fraction(1, 3), Fraction(share)))
    found = threat_result(made.evidence(), threat(thresholds=limits))
    assert found.verdicts[0].figure.exact == "2/5"
    assert found.holds is holds


def test_a_risk_equal_to_its_threshold_passes(made):
    assert threat_result(made.evidence(), threat(thresholds=Thresholds(average=Fraction("0.4")))).holds
    assert not threat_result(made.evidence(), threat(thresholds=Thresholds(average=Fraction("0.399")))).holds


def test_wildcard_threat_is_judged_by_matches_and_reports_categories_beside(made):
    """(1,1) three times and (2,missing) twice match nothing of each other; (1,missing) matches (1,1)."""
    after = made.table([[1, 0], [1, 1]], [1, 4])
    found = threat_result(made.evidence(after=after), threat(missing="wildcard", thresholds=Thresholds(highest=Fraction(1, 5))))
    assert found.after.reading == "wildcard"
    assert (found.after.k.value, found.after_other_reading.k.value) == (5, 1)
    assert found.holds
    assert found.after.further["compatible_k"].value == 1
    assert not threat_result(made.evidence(after=after), threat(thresholds=Thresholds(highest=Fraction(1, 5)))).holds


def test_source_cells_missing_from_the_start_make_a_class(made):
    """Case k01: without a suppression step or a declared mark a record with nothing known is a class of its own."""
    after = made.table([[0, 0], [1, 1]], [1, 4])
    plain = made.plan(suppress=None)
    found = threat_result(made.evidence(plain, after=after), threat())
    assert (found.after.k.value, found.after.records.value, found.after.residual.value) == (1, 5, 0)


@pytest.mark.parametrize("marked", [True, False])
def test_suppressed_records_are_lost_and_no_class(made, marked):
    """Case k03: with a declared mark, or a suppression step, they are out of the statistics."""
    after = made.table([[0, 0], [1, 1]], [1, 4])
    plan = made.plan(suppress=None, source=made.source("*")) if marked else made.plan()
    found = threat_result(made.evidence(plan, after=after), threat())
    assert (found.after.k.value, found.after.records.value, found.after.residual.value) == (4, 4, 1)


def test_a_file_that_is_all_suppressed_has_no_k_and_does_not_hold(made):
    found = threat_result(made.evidence(after=made.table([[0, 0]], [6])), threat())
    assert found.after.k.value is None
    assert found.after.k.note == "no released records with a value: every released record lost all columns of the threat"
    assert found.after.residual.value == 6
    assert not found.holds
    assert not any(verdict.holds for verdict in found.verdicts)


def test_a_threat_without_a_limit_does_not_hold_on_nothing(made):
    assert not threat_result(made.evidence(after=made.table([[0, 0]], [6])), threat(thresholds=Thresholds())).holds


def test_a_column_that_the_file_lacks_leaves_its_threat_undefined(made):
    sound = made.evidence()
    lacking = replace(sound, usable=tuple(column for column in sound.usable if column.name != "sex"))
    found = threat_result(lacking, threat())
    assert found.after.k.value is None
    assert not found.holds
    assert threat_result(lacking, threat("region")).after.k.value is not None


def test_several_threats_each_hold_on_the_final_output_and_their_union_is_information(made):
    plan = made.plan(threat("sex"), ThreatPlan("insider", ("region",), HALF))
    evidence = made.evidence(plan, after=made.table([[1, 1], [1, 2], [2, 1], [2, 2]], [1, 2, 2, 1]))
    assert [found.holds for found in threat_results(evidence)] == [True, True]
    union = union_result(evidence)
    assert union.columns == ("sex", "region")
    assert (union.after.k.value, union.limits, union.verdicts) == (1, False, ())


def test_one_threat_has_no_union(made):
    assert union_result(made.evidence()) is None
    assert union_result(made.evidence(made.plan(threat("sex"), ThreatPlan("b", ("sex",), HALF)))) is None


def test_figures_of_the_source_are_internal_and_small_counts_of_the_release_too(made):
    plan = made.plan(threat(thresholds=Thresholds(highest=Fraction(1, 3))))
    found = threat_result(made.evidence(plan, after=made.table([[1, 1], [2, 1]], [4, 2])), plan.threats[0])
    before = found.before
    assert {figure.visibility for figure in (before.k, before.records, before.highest, before.average)} == {Visibility.INTERNAL}
    assert {bucket.records.visibility for bucket in before.buckets} == {Visibility.INTERNAL}
    assert found.after.k.visibility is Visibility.INTERNAL
    assert found.after.records.visibility is Visibility.RECIPIENT
    assert {bucket.records.visibility for bucket in found.after.buckets} == {Visibility.INTERNAL}
    met = threat_result(made.evidence(plan, after=made.table([[1, 1], [2, 1]], [4, 3])), plan.threats[0])
    assert {figure.visibility for figure in (met.after.k, met.after.highest, met.after.average)} == {Visibility.RECIPIENT}
    assert {bucket.records.visibility for bucket in met.after.buckets} == {Visibility.RECIPIENT}


def test_each_quasi_identifier_is_counted_by_itself(made):
    """After: sex 1 in all five; region 1 three times, 2 once, and missing once as a value of its own, since nothing lost it."""
    after = made.table([[1, 1], [1, 2], [1, 0]], [3, 1, 1])
    plan = made.plan(threat(), suppress=None)
    found = {one.column: one for one in key_facts(made.evidence(plan, after=after))}
    sex, region = found["sex"], found["region"]
    assert (sex.values.value, sex.rarest.value, sex.alone.value) == (1, 5, 0)
    assert (region.values.value, region.rarest.value, region.alone.value) == (3, 1, 2)
    assert {one.visibility for one in (sex.values, sex.rarest, region.alone)} == {Visibility.INTERNAL}
