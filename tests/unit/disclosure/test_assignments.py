"""Pairs in some complete assignment: by hand, and against every assignment of small lists."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privrelease.disclosure.assignments import pairs_in_some_assignment


def test_a_record_that_only_one_partner_fits_takes_it_from_the_others():
    """Types 0 and 1, one record each, and partners 0 and 1: 0 fits partner 0 alone, so 1 has partner 1."""
    found = pairs_in_some_assignment(np.array([1, 1]), np.array([1, 1]), np.array([[0, 0], [1, 0], [1, 1]]))
    assert found.tolist() == [True, False, True]


def test_a_record_more_on_one_side_leaves_every_partner_open():
    found = pairs_in_some_assignment(np.array([1, 1]), np.array([1]), np.array([[0, 0], [1, 0]]))
    assert found.tolist() == [True, True]


def test_without_a_pair_there_is_none():
    assert pairs_in_some_assignment(np.array([1]), np.array([1]), np.zeros((0, 2), np.int64)).tolist() == []


@st.composite
def lists(draw):
    first = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    second = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    every = [(one, two) for one in range(len(first)) for two in range(len(second))]
    return first, second, [pair for pair in every if draw(st.booleans())]


@given(lists())
def test_it_is_what_every_assignment_tried_gives(given_):
    first, second, pairs = given_
    ones = [kind for kind, times in enumerate(first) for _ in range(times)]
    twos = [kind for kind, times in enumerate(second) for _ in range(times)]
    for size in range(min(len(ones), len(twos)), 0, -1):
        seen = set()
        for mine in combinations(range(len(ones)), size):
            for theirs in permutations(range(len(twos)), size):
                made = [(ones[one], twos[two]) for one, two in zip(mine, theirs, strict=True)]
                if all(pair in pairs for pair in made):
                    seen.update(made)
        if seen:
            break
    else:
        seen = set()
    edges = np.array(pairs, np.int64).reshape(-1, 2)
    found = pairs_in_some_assignment(np.array(first), np.array(second), edges)
    assert {pair for pair, kept in zip(pairs, found, strict=True) if kept} == seen
