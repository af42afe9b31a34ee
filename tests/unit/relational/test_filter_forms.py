"""Filters of one form keep the same rows: every pair of random filters, on every row, missing values included."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal

import pytest

from privrelease.relational.filter_forms import filter_form
from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated

ROWS = list(itertools.product([None, 1, 2, 3], [None, "F", "M"]))
COMPARE = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def holds(of, row):
    """SQL's three values: True, False, None."""
    match of:
        case Negated(inner):
            found = holds(inner, row)
            return None if found is None else not found
        case Both(left, right):
            found = {holds(left, row), holds(right, row)}
            return False if False in found else None if None in found else True
        case Either(left, right):
            found = {holds(left, row), holds(right, row)}
            return True if True in found else None if None in found else False
        case Missing(column):
            return row[column] is None
        case Among(column, values):
            return None if row[column] is None else row[column] in values
        case Comparison(column, operator, value):
            return None if row[column] is None else COMPARE[operator](row[column], value)


def random_filter(draw, depth):
    if depth and draw.random() < 0.6:
        kind = draw.choice([Both, Either, Negated])
        parts = [random_filter(draw, depth - 1) for _ in range(1 if kind is Negated else 2)]
        return kind(*parts)
    column = draw.choice(["n", "s"])
    values = [1, 2, 3] if column == "n" else ["F", "M"]
    kind = draw.choice([Comparison, Among, Missing])
    if kind is Missing:
        return Missing(column)
    if kind is Among:
        return Among(column, tuple(draw.sample(values, draw.choice([1, 2]))))
    return Comparison(column, draw.choice(list(COMPARE)), draw.choice(values))


def test_filters_of_one_form_are_true_false_and_unknown_together():
    draw = random.Random(1)
    seen: dict[str, list[object]] = {}
    shared = 0
    for _ in range(4000):
        one = random_filter(draw, 3)
        truth = [holds(one, dict(zip(("n", "s"), row, strict=True))) for row in ROWS]
        before = seen.setdefault(str(filter_form(one)), truth)
        shared += before is not truth
        assert before == truth, one
    assert shared > 1000


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Both(Missing("a"), Missing("b")), Both(Missing("b"), Missing("a"))),
        (Comparison("a", "=", Decimal("1.0")), Comparison("a", "=", Decimal(1))),
        (Among("s", ("M", "F")), Either(Comparison("s", "=", "F"), Comparison("s", "=", "M"))),
        (Negated(Negated(Missing("a"))), Missing("a")),
        (Negated(Both(Missing("a"), Missing("b"))), Either(Negated(Missing("b")), Negated(Missing("a")))),
        (Negated(Comparison("a", "<", 3)), Comparison("a", ">=", 3)),
    ],
)
def test_what_says_the_same_has_one_form(one, other):
    assert filter_form(one) == filter_form(other)


def test_texts_and_numbers_and_columns_are_told_apart():
    forms = [Comparison("a", "=", "1"), Comparison("a", "=", 1), Comparison("b", "=", 1), Comparison("a", "=", True)]
    assert len({str(filter_form(one)) for one in forms}) == 4
