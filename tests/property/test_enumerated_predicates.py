"""Enumeration finds exactly the predicates that brute force finds to match one record."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.attacks import enumeration
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.attacks.records import Attribute
from privrelease.audit.attacks.sampling import Draws
from privrelease.audit.attacks.singling_out import _condition, _median, isolated, multivariate
from tests.depth import depth


@st.composite
def files(draw):
    """Columns of a small file, names and numbers, with missing cells, and rows of each record or None."""
    n = draw(st.integers(1, 14))
    columns = []
    for place in range(draw(st.integers(1, 5))):
        values = draw(st.integers(1, 5))
        codes = np.array(draw(st.lists(st.integers(0, values), min_size=n, max_size=n)), np.uint8)
        numbers = np.array([np.nan, *range(10, 10 + values)], np.float64) if draw(st.booleans()) else None
        columns.append(Attribute(f"c{place}", codes, numbers))
    counts = draw(st.none() | st.lists(st.integers(1, 2), min_size=n, max_size=n).map(np.array))
    return columns, counts


def by_hand(columns, combine, counts):
    """Every record and set of columns, met row by row."""
    n = len(columns[0].codes)
    times = [1] * n if counts is None else counts.tolist()
    found = set()
    for places in combinations(range(len(columns)), combine):
        for record in range(n):
            conditions = tuple(_condition(place, columns[place], record, _median(columns[place], counts)) for place in places)
            if not all(condition.code for condition in conditions):
                continue
            met = 0
            for row in range(n):
                codes = [int(columns[condition.column].codes[row]) for condition in conditions]
                meets = {
                    "=": lambda code, limit: code == limit,
                    ">=": lambda code, limit: code >= limit,
                    "<=": lambda code, limit: 0 < code <= limit,
                }
                met += times[row] * all(
                    meets[one.operator](code, one.code) for one, code in zip(conditions, codes, strict=True)
                )
            if met == 1:
                found.add(conditions)
    return found


@settings(max_examples=depth(50, 150), deadline=None)
@given(files(), st.integers(1, 4))
def test_enumeration_finds_what_brute_force_finds_and_nothing_else(file, combine):
    columns, counts = file
    found = multivariate(columns, combine, Draws(5), 10_000, counts)
    assert len(set(found)) == len(found)
    assert set(found) == (by_hand(columns, combine, counts) if len(columns) >= combine else set())
    assert isolated(found, columns, counts) == Rate(len(found), len(found))


def test_some_of_many_are_drawn_each_as_often_as_the_others():
    generator = np.random.default_rng(2)
    columns = [Attribute(f"c{place}", generator.integers(1, 4, 40).astype(np.uint8)) for place in range(5)]
    every = set(multivariate(columns, 3, Draws(1), 10_000))
    times = Counter(one for seed in range(600) for one in multivariate(columns, 3, Draws(seed), 5))
    assert set(times) <= every
    expected = 600 * 5 / len(every)
    chi = sum((times[one] - expected) ** 2 / expected for one in every)
    free = len(every) - 1
    assert len(every) > 50
    assert chi < free + 6 * (2 * free) ** 0.5


def test_what_is_drawn_does_not_depend_on_how_much_is_held():
    generator = np.random.default_rng(4)
    columns = [Attribute(f"c{place}", generator.integers(1, 5, 60).astype(np.uint8)) for place in range(4)]
    whole = multivariate(columns, 2, Draws(9), 10_000)
    for most in (1, 3, 17):
        assert multivariate(columns, 2, Draws(9), most) == whole[:most]


def test_beyond_the_limits_predicates_are_tried(monkeypatch):
    columns = [Attribute("a", np.array([1, 2, 2], np.uint8)), Attribute("b", np.array([1, 1, 2], np.uint8))]
    whole = set(multivariate(columns, 2, Draws(1), 50))
    monkeypatch.setattr(enumeration, "MOST_SETS", 0)
    assert set(multivariate(columns, 2, Draws(1), 50)) == whole
    monkeypatch.undo()
    numbers = np.array([np.nan, 1, 2, 3, 4])
    three = [Attribute(name, np.array([1, 2, 3, 4], np.uint8), numbers) for name in "abc"]
    whole = set(multivariate(three, 3, Draws(1), 50))
    assert whole
    monkeypatch.setattr(enumeration, "_MOST_COMPARED", 0)
    assert set(multivariate(three, 3, Draws(1), 50)) == whole
