"""Filters that are called disjoint hold of no row together: every row of small columns is tried, missing values included."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.relational.disjoint import disjoint
from privrelease.relational.filter_records import filter_record, read_filter_record
from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated, parse_filter
from privrelease.relational.schema import ColumnType
from tests.depth import depth

VALUES = {
    "age": [None, *range(-1, 6)],
    "rate": [None, *(Decimal(n) / 2 for n in range(-1, 6))],
    "sex": [None, "F", "M", "X"],
    "born": [None, *(date(2020, 1, day) for day in (1, 2, 3))],
    "well": [None, False, True],
}
ROWS = [dict(zip(VALUES, row, strict=True)) for row in product(*VALUES.values())]
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")


def _of(column):
    values = st.sampled_from([value for value in VALUES[column] if value is not None])
    return st.one_of(
        st.builds(Comparison, st.just(column), st.sampled_from(OPERATORS), values),
        st.builds(Among, st.just(column), st.lists(values, min_size=1, max_size=3).map(tuple)),
        st.builds(Missing, st.just(column)),
    )


filters = st.recursive(
    st.sampled_from(sorted(VALUES)).flatmap(_of),
    lambda inner: st.one_of(st.builds(Both, inner, inner), st.builds(Either, inner, inner), st.builds(Negated, inner)),
    max_leaves=6,
)


def holds(of, row):
    """Three-valued logic, as in SQL: True, False or None."""
    if isinstance(of, Negated):
        inner = holds(of.of, row)
        return None if inner is None else not inner
    if isinstance(of, Both | Either):
        parts = (holds(of.left, row), holds(of.right, row))
        decides = isinstance(of, Either)
        return decides if decides in parts else None if None in parts else not decides
    value = row[of.column]
    if isinstance(of, Missing):
        return value is None
    if value is None:
        return None
    if isinstance(of, Among):
        return value in of.values
    other = of.value
    return {
        "=": value == other,
        "<>": value != other,
        "<": value < other,
        "<=": value <= other,
        ">": value > other,
        ">=": value >= other,
    }[of.operator]


@settings(max_examples=depth(50, 150), deadline=None)
@given(filters, filters)
def test_no_row_satisfies_two_filters_that_are_called_disjoint(one, other):
    if disjoint(one, other):
        assert not any(holds(one, row) is True and holds(other, row) is True for row in ROWS)
        assert disjoint(other, one)


@settings(max_examples=depth(25, 60), deadline=None)
@given(filters)
def test_a_filter_and_what_it_excludes_are_disjoint_and_a_satisfiable_one_is_not_disjoint_from_itself(one):
    assert disjoint(Both(one, Missing("sex")), Comparison("sex", "<>", "F"))
    if any(holds(one, row) is True for row in ROWS):
        assert not disjoint(one, one)


@settings(max_examples=depth(35, 100))
@given(filters)
def test_a_filter_comes_back_from_its_record(one):
    assert read_filter_record(json.loads(json.dumps(filter_record(one)))) == one


COLUMNS = {"age": ColumnType.INTEGER, "rate": ColumnType.NUMBER, "sex": ColumnType.CATEGORY, "born": ColumnType.DATE}

PROVEN = [
    ("age < 40", "age >= 40"),
    ("age BETWEEN 18 AND 39", "age BETWEEN 40 AND 64"),
    ("age > 5", "age < 6"),
    ("sex = 'F'", "sex IN ('M', 'X')"),
    ("sex = 'F' AND age < 40", "sex = 'F' AND age >= 40"),
    ("sex IS NULL", "sex <> 'F'"),
    ("sex = 'F'", "NOT sex = 'F'"),
    ("NOT (sex = 'F' OR age < 40)", "age < 30"),
    ("born < '2000-01-01'", "born >= '2000-01-01'"),
    ("rate < 0.1", "rate >= 0.1"),
]


@pytest.mark.parametrize(("one", "other"), PROVEN)
def test_what_a_policy_writes_for_parts_is_proven(one, other):
    assert disjoint(parse_filter(one, COLUMNS), parse_filter(other, COLUMNS))


UNPROVEN = [
    ("age <= 40", "age >= 40"),
    ("age < 40", "sex = 'F'"),
    ("sex = 'F' OR age < 40", "sex = 'M'"),
    ("sex IS NULL", "sex IS NULL"),
    # as doubles these numbers are one
    ("rate = 0.1", "rate = 0.10000000000000000001"),
    ("rate <= 0.1", "rate >= 0.10000000000000000001"),
    ("rate = 0.1", "rate <> 0.10000000000000000001"),
]


@pytest.mark.parametrize(("one", "other"), UNPROVEN)
def test_what_may_overlap_is_not_called_disjoint(one, other):
    assert not disjoint(parse_filter(one, COLUMNS), parse_filter(other, COLUMNS))


def test_a_filter_of_very_many_branches_counts_as_overlapping():
    wide = Comparison("age", "=", 0)
    for column in range(8):
        wide = Both(wide, Either(Comparison(f"c{column}", "=", 1), Comparison(f"d{column}", "=", 1)))
    assert not disjoint(wide, Comparison("age", "=", 1))


@pytest.mark.parametrize(
    "record", [None, [], ["?", "age", ["integer", "1"]], ["in", "age"], ["=", "age", ["integer", "x"]], ["not"]]
)
def test_what_is_no_record_of_a_filter_is_refused(record):
    with pytest.raises(ValueError):
        read_filter_record(record)
