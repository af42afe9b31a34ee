from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.class_sizes import ClassSizes, MatchSizes, bucket_edges, class_counts


def test_records_below_k_are_in_classes_strictly_smaller_than_k(case, table_of):
    rows = case("k04")
    sizes = ClassSizes.from_table(table_of([tuple(row.values()) for row in rows]))
    assert (sizes.n_records, sizes.n_classes) == (15, 7)
    assert np.repeat(sizes.sizes, sizes.classes).tolist() == [1, 1, 2, 2, 2, 3, 4]
    assert {k: sizes.records_below(k) for k in (2, 3, 4, 5)} == {2: 2, 3: 8, 4: 11, 5: 15}
    assert {k: sizes.classes_below(k) for k in (2, 3, 4, 5)} == {2: 2, 3: 5, 4: 6, 5: 7}


@pytest.mark.parametrize("keys", [["grp"], ["grp", "site"], ["grp", "note"], ["grp", "site", "note"]])
def test_a_constant_or_an_all_missing_column_changes_no_class(case, table_of, keys):
    rows = case("k01")
    table = table_of([tuple(row.values()) for row in rows], list(rows[0]))
    sizes = ClassSizes.from_table(table, keys, residual="class")
    assert np.repeat(sizes.sizes, sizes.classes).tolist() == [1, 4]


def test_fully_suppressed_records_are_lost_and_no_class(case, table_of):
    rows = case("k03", mark="*")
    sizes = ClassSizes.from_table(table_of([tuple(row.values()) for row in rows]))
    assert np.repeat(sizes.sizes, sizes.classes).tolist() == [2, 2, 3]
    assert (sizes.smallest, sizes.residual, sizes.n_records) == (2, 1, 7)


def test_a_wholly_suppressed_file_has_no_k(case, table_of):
    rows = case("k03", "input_all_suppressed.csv", mark="*")
    sizes = ClassSizes.from_table(table_of([tuple(row.values()) for row in rows]))
    assert (sizes.smallest, sizes.largest, sizes.n_records, sizes.residual) == (None, None, 0, 6)


def test_seventy_columns_are_counted_like_any_other_number(case, table_of):
    rows = case("l01")
    sizes = ClassSizes.from_table(table_of([tuple(row.values()) for row in rows], list(rows[0])))
    assert (sizes.n_records, sizes.n_classes, sizes.smallest, sizes.largest) == (401, 200, 2, 3)


def test_residual_is_judged_on_the_chosen_columns_alone(table_of):
    table = table_of([(None, 1), (None, 2), (1, None)])
    assert ClassSizes.from_table(table, ["a"]).residual == 2
    assert ClassSizes.from_table(table).residual == 0


def test_sizes_come_in_any_order_and_are_merged():
    sizes = ClassSizes.from_arrays([3, 1, 3], [1, 2, 4])
    assert (sizes.sizes.tolist(), sizes.classes.tolist()) == ([1, 3], [2, 5])


@pytest.mark.parametrize(("sizes", "classes"), [([0], [1]), ([1], [-1]), ([1, 2], [1])])
def test_impossible_histograms_are_refused(sizes, classes):
    with pytest.raises(ValueError, match="sizes"):
        ClassSizes.from_arrays(sizes, classes)


def test_buckets_partition_the_records():
    sizes = ClassSizes.from_counts([1, 1, 2, 3, 4, 5, 9, 10, 49, 50, 1000])
    buckets = sizes.buckets()
    assert [(b.low, b.high, b.classes) for b in buckets] == [
        (1, 1, 2), (2, 2, 1), (3, 4, 2), (5, 9, 2), (10, 49, 2), (50, None, 2),
    ]  # fmt: skip
    assert sum(b.records for b in buckets) == sizes.n_records
    assert sum(b.share for b in buckets) == 1


def test_bucket_edges_show_where_k_lies():
    assert bucket_edges(12) == (1, 2, 3, 5, 10, 12, 50)
    with pytest.raises(ValueError, match="ascend"):
        ClassSizes.from_counts([1]).buckets((1, 1))


@pytest.mark.parametrize(("above", "expected"), [("0.5", 1), ("0.49", 3), ("0.1", 6), ("1", 0), ("0", 6)])
def test_records_at_risk_lie_strictly_above_the_level(above, expected):
    assert ClassSizes.from_counts([1, 2, 3]).records_at_risk(Fraction(above)) == expected


def test_counts_of_coarser_classes_are_given_to_every_class(table_of):
    table = table_of([(1, 1), (1, 2), (1, 2), (2, 1)])
    assert class_counts(table, ["a"]).tolist() == [3, 3, 1]


def test_match_sizes_count_records_not_classes():
    matches = MatchSizes.of(np.array([4, 2, 4]), np.array([1, 2, 3]), residual=5)
    assert (matches.n_records, matches.smallest, matches.residual) == (6, 2, 5)
    assert matches.records_below(4) == 2
