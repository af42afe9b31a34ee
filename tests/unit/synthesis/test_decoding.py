"""Codes become values of the declared form: each point of a bin equally likely, none outside of it, missing where it is missing."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from privrelease.dp.randomness import TestRandomness
from privrelease.errors import InputError
from privrelease.relational.coded_columns import BinnedCells, ListedCells
from privrelease.relational.patterns import parse_pattern
from privrelease.relational.schema import ColumnType
from privrelease.synthesis.decoding import decoded, made_texts


def cells(kind, starts, end, grid="1"):
    return BinnedCells("x", kind, Fraction(grid), starts, end)


def codes(*found):
    return np.array(found, np.int32)


@pytest.mark.parametrize(
    ("kind", "values", "expected", "type_"),
    [
        (ColumnType.CATEGORY, ("a", "b"), ["b", "a", None], pa.string()),
        (ColumnType.INTEGER, ("-1", "10"), [10, -1, None], pa.int64()),
        (ColumnType.BOOLEAN, ("false", "true"), [True, False, None], pa.bool_()),
    ],
)
def test_a_listed_cell_is_its_value(kind, values, expected, type_):
    found = decoded(codes(1, 0, 2), ListedCells("x", kind, values), TestRandomness(1))
    assert found.to_pylist() == expected
    assert found.type == type_


@pytest.mark.parametrize(
    ("made", "expected", "type_"),
    [
        (cells(ColumnType.INTEGER, (3, 7), 7), [7, None], pa.int64()),
        (cells(ColumnType.INTEGER, (1, 2), 2, "5"), [10, None], pa.int64()),
        (cells(ColumnType.DATE, (0, 59), 59), [date(1970, 3, 1), None], pa.date32()),
        (cells(ColumnType.DATETIME, (-9, -1), -1), [datetime(1969, 12, 31, 23, 59, 59), None], pa.timestamp("us")),  # noqa: DTZ001
        (cells(ColumnType.NUMBER, (-9, -3), -3, "0.25"), [Decimal("-0.75"), None], pa.decimal128(18, 2)),
        (cells(ColumnType.NUMBER, (0, 1), 1, "0.0000000001"), [Decimal("1e-10"), None], pa.decimal128(38, 10)),
        (cells(ColumnType.NUMBER, (0, 12), 12), [Decimal(12), None], pa.decimal128(18, 0)),
    ],
)
def test_a_bin_of_one_point_is_that_point_in_the_type_of_the_source(made, expected, type_):
    found = decoded(codes(1, 2), made, TestRandomness(1))
    assert found.to_pylist() == expected
    assert found.type == type_


def test_every_point_of_a_bin_is_equally_likely_and_none_outside_is_drawn():
    made, rows = cells(ColumnType.NUMBER, (10, 20), 24, "0.1"), 20_000
    found = [int(one * 10) for one in decoded(np.zeros(rows, np.int32), made, TestRandomness(2)).to_pylist()]
    counts = np.bincount(found)
    assert counts[:10].sum() == 0
    assert len(counts) == 20
    assert ((counts[10:] - rows / 10) ** 2 / (rows / 10)).sum() < 62.1  # chi-squared, 9 degrees of freedom, 1e-9 is 61.2
    last = {int(one * 10) for one in decoded(np.ones(500, np.int32), made, TestRandomness(3)).to_pylist()}
    assert last == {20, 21, 22, 23, 24}
    # rounding in place of cutting off would give both ends half of the others: it is rejected
    rounded = np.bincount(np.rint(np.random.default_rng(1).random(rows) * 9).astype(int), minlength=10)
    assert ((rounded - rows / 10) ** 2 / (rows / 10)).sum() > 62.1


def test_a_day_of_february_29_exists_in_leap_years_only():
    first, last = (date(2000, 2, 27) - date(1970, 1, 1)).days, (date(2000, 3, 2) - date(1970, 1, 1)).days
    found = decoded(np.zeros(200, np.int32), cells(ColumnType.DATE, (first,), last), TestRandomness(4)).to_pylist()
    assert {one.isoformat() for one in found} == {"2000-02-27", "2000-02-28", "2000-02-29", "2000-03-01", "2000-03-02"}


@pytest.mark.parametrize(("pattern", "rows"), [("[0-9]{2}", 100), ("[0-9]{2}", 37), ("[A-Z]{12}", 400), ("[0-9]{7}", 5_000)])
def test_unique_texts_are_of_the_pattern_and_all_different(pattern, rows):
    made = parse_pattern(pattern)
    found = made_texts(made, rows, TestRandomness(5), unique=True, column="id").to_pylist()
    assert len(set(found)) == rows
    assert all(made.matches(text) for text in found)


def test_texts_that_repeat_are_each_equally_likely():
    made, rows = parse_pattern("[ab][0-4]"), 20_000
    found = made_texts(made, rows, TestRandomness(6), unique=False, column="id").to_pylist()
    counts = np.array([found.count(made.texts(number)) for number in range(10)])
    assert counts.sum() == rows
    assert ((counts - rows / 10) ** 2 / (rows / 10)).sum() < 62.1


def test_a_pattern_of_too_few_texts_for_a_noisy_number_of_rows_is_named():
    with pytest.raises(InputError) as caught:
        made_texts(parse_pattern("[0-9]"), 11, TestRandomness(1), unique=True, column="id")
    assert caught.value.code == "D271"
    assert "10 different texts, and 11 rows" in str(caught.value)


def test_no_rows_are_no_values():
    assert len(decoded(codes(), cells(ColumnType.NUMBER, (0,), 5), TestRandomness(1))) == 0
    assert len(made_texts(parse_pattern("[0-9]{3}"), 0, TestRandomness(1), unique=True, column="id")) == 0
