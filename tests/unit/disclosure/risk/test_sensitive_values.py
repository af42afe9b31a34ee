from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.grouping import group_rows
from privrelease.disclosure.risk.l_diversity import distinct_l, entropy_l, is_diverse, recursive_l
from privrelease.disclosure.risk.sensitive import SensitiveCounts
from privrelease.disclosure.risk.t_closeness import t_closeness


def counts_of(rows: list[tuple[object, ...]]) -> tuple[SensitiveCounts, dict[tuple[object, ...], int]]:
    """Last column sensitive, the others keys (a missing key is its own category); and which class each key is."""
    codes = np.zeros((len(rows), len(rows[0])), np.int32)
    for j in range(len(rows[0])):
        values = sorted({row[j] for row in rows if row[j] is not None})
        codes[:, j] = [0 if row[j] is None else values.index(row[j]) + 1 for row in rows]
    grouping = group_rows(np.ascontiguousarray(codes[:, :-1]))
    counts = SensitiveCounts.of(grouping.group, codes[:, -1], np.ones(len(rows), np.int64))
    return counts, {row[:-1]: int(grouping.group[i]) for i, row in enumerate(rows)}


def test_a_missing_sensitive_value_is_no_value_for_thresholds_and_one_for_the_other_reading(case):
    counts, where = counts_of([tuple(row.values()) for row in case("k05")])
    known, as_value = distinct_l(counts), distinct_l(counts, "value")
    areas = ("north", "south", "east")
    assert {area: known[where[area,]] for area in areas} == {"north": 1, "south": 0, "east": 2}
    assert {area: as_value[where[area,]] for area in areas} == {"north": 1, "south": 1, "east": 3}
    assert {area: bool(is_diverse(counts, Fraction(2), "distinct")[where[area,]]) for area in areas} == {
        "north": False, "south": False, "east": True,
    }  # fmt: skip


def test_a_missing_key_is_still_a_class(case):
    counts, where = counts_of([tuple(row.values()) for row in case("k05", "input_null_key.csv")])
    assert len(where) == 3
    assert {key: int(distinct_l(counts)[of]) for key, of in where.items()} == {
        ("f", None, "o"): 2, ("m", "cook", "o"): 2, ("f", "nurse", "p"): 2,
    }  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 7, 10])
@pytest.mark.parametrize("each", [1, 3, 1_000_000])
def test_n_equal_values_have_entropy_l_of_n(n, each):
    counts = SensitiveCounts.of(np.zeros(n, int), np.arange(1, n + 1), np.full(n, each))
    assert entropy_l(counts)[0] == pytest.approx(n, rel=1e-12)
    assert is_diverse(counts, Fraction(n), "entropy")[0]
    assert not is_diverse(counts, n + Fraction(1, 10**14), "entropy")[0]


def test_entropy_l_near_its_threshold_is_decided_by_integers():
    counts = SensitiveCounts.of(np.zeros(2, int), np.array([1, 2]), np.array([2, 1]))
    found = Fraction(float(entropy_l(counts)[0]))  # 3 / 4^(1/3) is irrational
    assert is_diverse(counts, found - Fraction(1, 10**13), "entropy")[0]
    assert not is_diverse(counts, found + Fraction(1, 10**13), "entropy")[0]


def test_large_classes_too_near_to_an_entropy_threshold_fail():
    counts = SensitiveCounts.of(np.zeros(2, int), np.array([1, 2]), np.array([500_001, 500_000]))
    assert not is_diverse(counts, Fraction(2), "entropy")[0]
    assert is_diverse(counts, Fraction("1.99"), "entropy")[0]


def test_recursive_diversity_compares_strictly():
    counts = SensitiveCounts.of(np.zeros(3, int), np.array([1, 2, 3]), np.array([4, 1, 1]))
    # 4 < c (1 + 1) needs c > 2 for l = 2
    assert recursive_l(counts, Fraction(2)).tolist() == [1]
    assert recursive_l(counts, Fraction("2.0001")).tolist() == [2]
    assert recursive_l(counts, Fraction(5)).tolist() == [3]
    assert recursive_l(counts, Fraction("0.5")).tolist() == [0]
    assert is_diverse(counts, Fraction("1.5"), "recursive", c=Fraction(2)).tolist() == [False]


def test_a_class_without_a_known_value_is_not_diverse():
    counts = SensitiveCounts.of(np.array([0, 1]), np.array([1, 0]), np.array([3, 3]))
    for kind in ("distinct", "entropy", "recursive"):
        assert is_diverse(counts, Fraction(1), kind, c=Fraction(3)).tolist() == [True, False]


def test_recursive_diversity_without_c_is_refused():
    counts = SensitiveCounts.of(np.array([0]), np.array([1]), np.array([1]))
    with pytest.raises(ValueError, match="needs c"):
        is_diverse(counts, Fraction(1), "recursive")
    with pytest.raises(ValueError, match="positive"):
        recursive_l(counts, Fraction(0))


@pytest.mark.parametrize("args", [([0], [1, 2], [1]), ([-1], [1], [1]), ([3], [1], [1])])
def test_impossible_sensitive_counts_are_refused(args):
    with pytest.raises(ValueError, match="class"):
        SensitiveCounts.of(*(np.array(a) for a in args), n_classes=2)


def test_t_closeness_of_the_salary_example_is_as_published():
    # Li et al. 2007, section 4.1: salaries 3k..11k; {3k,4k,5k} has distance 0.375, {6k,8k,11k} 0.167
    value = np.concatenate([[1, 2, 3], [4, 6, 9], [5, 7, 8]])
    counts = SensitiveCounts.of(np.repeat([0, 1, 2], 3), value, np.ones(9, int))
    found = t_closeness(counts, "ordered")
    assert found.distances[:2] == pytest.approx([0.375, 1 / 6], abs=1e-9)
    assert found.largest == Fraction(3, 8)
    assert found.holds(Fraction("0.375"))
    assert not found.holds(Fraction("0.374999"))


def test_equal_distance_is_half_the_sum_of_differences():
    counts = SensitiveCounts.of(np.array([0, 0, 1, 1]), np.array([1, 2, 1, 3]), np.array([3, 1, 1, 3]))
    # overall 4/8, 1/8, 3/8; class 0 has 3/4, 1/4, 0
    found = t_closeness(counts, "equal")
    assert found.distances == pytest.approx([0.375, 0.375])


def test_a_class_without_a_known_value_is_not_close():
    counts = SensitiveCounts.of(np.array([0, 1]), np.array([1, 0]), np.array([3, 3]))
    found = t_closeness(counts, "equal")
    assert np.isnan(found.distances[1])
    assert found.largest is None
    assert not found.holds(Fraction(1))
    assert t_closeness(counts, "equal", "value").largest == Fraction(1, 2)


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_sums_beyond_64_bits_do_not_wrap(distance):
    small = SensitiveCounts.of(np.array([0, 0, 1, 1]), np.array([1, 2, 2, 3]), np.array([1, 2, 3, 4]))
    large = SensitiveCounts.of(small.group, small.value, small.count * 10**12)
    assert t_closeness(large, distance).largest == t_closeness(small, distance).largest


def test_one_value_everywhere_is_close():
    counts = SensitiveCounts.of(np.array([0, 1]), np.array([4, 4]), np.array([1, 5]))
    assert t_closeness(counts, "ordered").largest == 0
    assert t_closeness(counts, "equal").largest == 0
