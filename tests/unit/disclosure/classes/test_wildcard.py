from __future__ import annotations

import numpy as np
import pytest

from privrelease.disclosure.classes.person_matches import MOST_TUPLES, person_match_sizes
from privrelease.disclosure.classes.wildcard import compatible_counts, compatible_sizes, match_counts, match_sizes, match_sums
from privrelease.disclosure.risk.prosecutor import prosecutor_risk


@pytest.mark.parametrize("keys", [["grp"], ["grp", "site"], ["grp", "note"], ["grp", "site", "note"]])
def test_a_constant_or_an_all_missing_column_changes_no_match(case, table_of, keys):
    rows = case("k01")
    table = table_of([tuple(row.values()) for row in rows], list(rows[0]))
    assert match_counts(table, keys, residual="class").tolist() == [5, 5]


def test_matching_is_not_transitive(table_of):
    # (1, -) matches both (1, 1) and (1, 2), which do not match each other
    table = table_of([(1, None), (1, 1), (1, 2)])
    assert match_counts(table).tolist() == [3, 2, 2]
    risk = prosecutor_risk(match_sizes(table))
    assert risk.average == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 3)


def test_two_rows_missing_different_columns_match_where_they_can(table_of):
    table = table_of([(1, None), (None, 2), (3, 2)])
    assert dict(zip(map(tuple, table.codes.tolist()), match_counts(table).tolist(), strict=True)) == {
        (0, 1): 3, (1, 0): 2, (2, 1): 2,
    }  # fmt: skip


def test_lost_records_neither_match_nor_are_matched(table_of):
    table = table_of([(None, None), (1, 1), (1, None)])
    assert match_counts(table).tolist() == [0, 2, 2]
    sizes = match_sizes(table)
    assert (sizes.n_records, sizes.residual) == (2, 1)


def test_without_missing_cells_matches_are_class_sizes(table_of):
    table = table_of([(1, 1), (1, 1), (2, 1)])
    assert match_counts(table).tolist() == [2, 1]
    assert match_counts(table, ["b"]).tolist() == [3, 3]


def test_alpha_is_a_share():
    with pytest.raises(ValueError, match="alpha"):
        match_sums(np.array([[1]], np.int32), np.array([1]), alpha=1.5)


def test_source_records_are_compared_with_what_was_released(table_of):
    source = table_of([(1, 1), (1, 2), (2, 1)])
    released = table_of([(1, 1), (1, None), (2, None)])
    assert compatible_counts(source, released).tolist() == [2, 1, 1]
    released.codes[:] = [[0, 0], [1, 0], [1, 1]]  # the third record was suppressed altogether
    assert compatible_counts(source, released).tolist() == [2, 1, 0]
    sizes = compatible_sizes(source, released)
    assert (sizes.n_records, sizes.residual, prosecutor_risk(sizes).highest) == (2, 1, 1)


def test_comparing_columns_that_were_not_released_is_refused(table_of):
    with pytest.raises(ValueError, match="lacks a column"):
        compatible_counts(table_of([(1, 1)]), table_of([(1,)]))


def test_a_person_with_two_matching_rows_matches_once(table_of):
    table = table_of([(1, None), (1, 1), (1, 2), (1, 1)], persons=["p", "p", "q", "r"])
    # pairs: p with (1,-), p and r with (1,1), q with (1,2); (1,-) matches p, q, r; (1,1) matches p, r; (1,2) matches p, q
    sizes = person_match_sizes(table)
    assert (sizes.sizes.tolist(), sizes.records.tolist()) == ([2, 3], [3, 1])


def test_a_person_whose_rows_contradict_each_other_is_matched_by_missing_cells_once(table_of):
    table = table_of([(1, 1), (1, 2), (1, 3), (1, None)], persons=["p", "p", "p", "q"])
    sizes = person_match_sizes(table)
    assert (sizes.sizes.tolist(), sizes.records.tolist()) == ([2], [4])


def test_persons_with_too_many_tuples_match_no_fewer_than_hold_the_tuple(table_of):
    values = range(1, MOST_TUPLES + 3)
    table = table_of([(v, None) for v in values] * 2, persons=["p"] * len(values) + ["q"] * len(values))
    sizes = person_match_sizes(table)
    assert (sizes.sizes.tolist(), sizes.n_records) == ([2], 2 * len(values))
