from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.class_sizes import ClassSizes, MatchSizes
from privrelease.disclosure.population.class_sizes import sizes_from_population, sizes_from_weights, weight_sums
from privrelease.disclosure.risk.journalist import PopulationSizes, journalist_risk, journalist_verdict
from privrelease.disclosure.risk.marketer import marketer_risk, marketer_verdict
from privrelease.disclosure.risk.prosecutor import prosecutor_risk, prosecutor_verdict
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.disclosure.risk.verdict import judge


def test_prosecutor_average_is_classes_over_records():
    risk = prosecutor_risk(ClassSizes.from_counts([2, 2, 3]), above=Fraction(2, 5))
    assert (risk.highest, risk.average, risk.share_at_risk) == (Fraction(1, 2), Fraction(3, 7), Fraction(4, 7))


def test_average_over_matches_is_the_mean_of_one_over_f():
    risk = prosecutor_risk(MatchSizes.of(np.array([2, 3]), np.array([1, 3])))
    assert risk.average == Fraction(1, 4) * (Fraction(1, 2) + 3 * Fraction(1, 3))


@pytest.mark.parametrize(("threshold", "k"), [("0.2", 5), ("0.09", 12), ("0.33", 4), ("1", 1)])
def test_a_risk_equal_to_its_threshold_passes_and_the_next_class_size_does_not(threshold, k):
    thresholds = Thresholds(highest=Fraction(threshold))
    assert thresholds.k == k
    assert prosecutor_verdict(ClassSizes.from_counts([k]), thresholds).holds
    if k > 1:
        verdict = prosecutor_verdict(ClassSizes.from_counts([k, k - 1]), thresholds)
        assert [judgement.measure for judgement in verdict.failures] == ["highest_risk"]


def test_a_threshold_may_not_be_exceeded_by_one_per_cent():
    assert not prosecutor_verdict(ClassSizes.from_counts([99]), Thresholds(highest=Fraction("0.01"))).holds


def test_records_at_risk_have_a_level_of_their_own():
    sizes = ClassSizes.from_counts([5, 5, 10])
    thresholds = Thresholds(highest=Fraction("0.2"), at_risk=RecordsAtRisk(Fraction("0.1"), Fraction("0.5")))
    assert prosecutor_verdict(sizes, thresholds).holds
    tighter = Thresholds(highest=Fraction("0.2"), at_risk=RecordsAtRisk(Fraction("0.1"), Fraction("0.49")))
    assert [judgement.measure for judgement in prosecutor_verdict(sizes, tighter).failures] == ["records_at_risk"]


def test_without_a_record_no_threshold_holds():
    verdict = prosecutor_verdict(ClassSizes.from_counts([], residual=6), Thresholds(highest=Fraction(1)))
    assert not verdict.defined
    assert not verdict.holds
    assert verdict.measures.highest is None


def test_judging_at_another_level_is_refused():
    measures = prosecutor_risk(ClassSizes.from_counts([2]), above=Fraction("0.1"))
    with pytest.raises(ValueError, match="another level"):
        judge(measures, Thresholds(at_risk=RecordsAtRisk(Fraction("0.2"), Fraction(1))))


def test_journalist_average_is_the_larger_of_two():
    # J/ΣF = 2/104; (1/n) Σ f/F = (1/11) (1/4 + 10/100)
    sizes = PopulationSizes.of(np.array([1, 10]), np.array([4, 100]))
    risk = journalist_risk(sizes, above=Fraction("0.2"))
    assert risk.average == Fraction(1, 11) * (Fraction(1, 4) + Fraction(10, 100))
    assert (risk.highest, risk.records_at_risk) == (Fraction(1, 4), 1)
    other = journalist_risk(PopulationSizes.of(np.array([1, 10]), np.array([2, 2000])))
    assert other.average == Fraction(1, 11) * (Fraction(1, 2) + Fraction(10, 2000))
    few = journalist_risk(PopulationSizes.of(np.array([1, 1, 10]), np.array([2, 2, 10])))
    assert few.average == max(Fraction(3, 14), Fraction(1, 12) * 2)


def test_marketer_risk_is_the_mean_share_of_the_population():
    sizes = PopulationSizes.of(np.array([2, 1]), np.array([10, 4]))
    assert marketer_risk(sizes).average == Fraction(1, 3) * (Fraction(2, 10) + Fraction(1, 4))


def test_marketer_risk_without_a_population_is_classes_over_records():
    f = np.array([2, 1, 4])
    assert marketer_risk(PopulationSizes.of(f, f)).average == Fraction(3, 7)


def test_the_marketer_has_no_highest_risk():
    sizes = PopulationSizes.of(np.array([1]), np.array([1]))
    assert marketer_verdict(sizes, Thresholds(average=Fraction(1))).holds
    with pytest.raises(ValueError, match="average risk only"):
        marketer_verdict(sizes, Thresholds(highest=Fraction(1)))


def test_a_population_smaller_than_the_sample_counts_as_the_sample():
    sizes = PopulationSizes.of(np.array([3, 2]), np.array([0.5, 7.25]))
    risk = journalist_risk(sizes)
    assert (risk.highest, risk.population_short) == (Fraction(1, 3), 1)


def test_population_uniques_are_records_alone_in_the_population():
    assert PopulationSizes.of(np.array([1, 1, 2]), np.array([1, 3, 2])).uniques == 1


def test_weights_enter_risk_as_the_exact_values_of_their_floats():
    sizes = PopulationSizes.of(np.array([1]), np.array([2.5]))
    assert journalist_risk(sizes).highest == Fraction(2, 5)
    at = PopulationSizes.of(np.array([1, 1]), np.array([10.0, np.nextafter(10.0, 0)]))
    assert journalist_risk(at, above=Fraction("0.1")).records_at_risk == 1


def test_journalist_thresholds_are_judged_on_the_population():
    sizes = PopulationSizes.of(np.array([1, 1]), np.array([5, 20]))
    thresholds = Thresholds(highest=Fraction("0.2"), at_risk=RecordsAtRisk(Fraction("0.1"), Fraction("0.5")))
    assert journalist_verdict(sizes, thresholds).holds
    assert not journalist_verdict(sizes, Thresholds(highest=Fraction("0.19"))).holds


def test_a_suppressed_cell_does_not_narrow_the_search_in_the_population(table_of):
    # one coding for both: a 1, 2; b 1, 2, 3
    population = table_of([(1, 1), (1, 2), (1, 2), (2, 3)])
    sample = table_of([(1, None), (1, 2)])
    sample.codes[:] = [[1, 0], [1, 2]]
    sizes = sizes_from_population(sample, population)
    assert (sizes.sizes.tolist(), sizes.records.tolist()) == ([2, 3], [1, 1])


def test_residual_records_stay_out_of_journalist_risk(table_of):
    table = table_of([(None,), (1,), (1,)])
    assert sizes_from_population(table, table).sizes.tolist() == [2]


def test_weights_are_no_rows(case, table_of):
    rows = case("k09")
    table = table_of([(row["key"],) for row in rows], ["key"], weights=[float(row["w"]) for row in rows])
    assert weight_sums(table).tolist() == [300.0, 90.0, 150.0]
    assert table.counts.tolist() == [2, 1, 3]
    assert prosecutor_risk(ClassSizes.from_table(table)).highest == 1
    assert journalist_risk(sizes_from_weights(table)).highest == Fraction(1, 90)


def test_without_weights_the_population_is_unknown(table_of):
    with pytest.raises(ValueError, match="no sampling weights"):
        weight_sums(table_of([(1,)]))


def test_wildcard_journalist_counts_records_once(table_of):
    table = table_of([(1, 1), (1, None)], weights=[10.0, 30.0])
    sizes = sizes_from_weights(table, missing="wildcard")
    assert (sizes.sizes.tolist(), sizes.records.tolist(), sizes.classes) == ([40.0], [2], None)
    assert journalist_risk(sizes).average == Fraction(1, 40)
