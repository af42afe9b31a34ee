"""Faults of protection: classes too small, masks on the wrong rows, more lost than is allowed."""

from __future__ import annotations

from tests.contract.planted_faults.parked_release import K, in_class, whole_class


def test_a_class_of_k_minus_one(release):
    """One record more than a class can spare loses its cell of age, and joins nobody."""
    rows = release.rows()
    members = min((rows for key, rows in in_class(rows).items() if None not in key), key=len)
    for row in members[: len(members) - K + 1]:
        row["sex"] = None
    release.put(rows)
    assert release.failing() == {"threat outsider"}


def test_the_masks_of_two_rows_swapped(release):
    """As many cells are missing as before, but of the wrong row."""
    rows, source = release.rows(), release.source()
    masked = next(row for row in rows if row["age"] is None and row["_source"] in {0, 1, 2})
    other = whole_class(rows, K + 1)[0]
    masked["age"], other["age"] = source[masked["_source"]]["age"], None
    release.put(rows, cover=False)
    assert release.failing() == {"threat outsider"}


def test_more_rows_lost_than_the_residual_rule_explains_whatever_is_claimed(release):
    rows = release.rows()
    for row in list(whole_class(rows, K)):
        rows.remove(row)
    release.put(rows)
    assert release.failing() == {"AUDIT-DROPPED"}


def test_a_residual_group_of_two_left(release):
    rows = release.rows()
    for row in whole_class(rows, K + 2)[:2]:
        row |= {"age": None, "sex": None, "region": None}
    release.put(rows)
    assert release.failing() == {"AUDIT-RESIDUAL"}


def test_more_cells_lost_than_the_limit_allows(release):
    rows = [row | {"age": None, "sex": None} for row in release.rows()]
    release.put(rows)
    assert release.failing() == {"AUDIT-LIMIT"}


def test_no_row_at_all(release):
    release.put([])
    assert {"AUDIT-RECORDS", "AUDIT-DROPPED", "threat outsider", "threat neighbour"} <= release.failing()
