"""Counts of households by composition against brute force: dictionaries of sorted tuples, a row at a time."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privrelease.disclosure.classes.households import compositions, joint_codes

#: Rows of (household, person, two known values); 0 is a missing household or value. Persons may be in several households, with several rows.
ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9), st.integers(0, 2), st.integers(0, 2)), max_size=40)


def by_hand(rows, *, persons: bool, knows_rows: bool):
    """Households of each composition, members of the largest, and 1 - prod(1 - 1/f) of the household at most risk."""
    named = [(house, person if persons else ("row", place), known) for place, (house, person, *known) in enumerate(rows)]
    members = defaultdict(lambda: defaultdict(list))
    holders = defaultdict(set)
    for house, person, known in named:
        holders[tuple(known)].add(person)
        if house:
            members[house][person].append(tuple(known))
    composed, safe = Counter(), []
    for people in members.values():
        signs = [sorted(own if knows_rows else set(own)) for own in people.values()]
        composed[repr(sorted(signs))] += 1
        chance = 1.0
        for own in people.values():
            chance *= min(1 - 1 / len(holders[known]) for known in own)
        safe.append(chance)
    largest = max((len(people) for people in members.values()), default=0)
    return sorted(composed.values()), largest, 1 - min(safe, default=1.0)


@given(ROWS, st.booleans(), st.booleans())
def test_households_are_counted_as_by_hand(rows, persons, knows_rows):
    block = np.array(rows, np.int64).reshape(len(rows), 4)
    tuples = joint_codes((block[:, 2], block[:, 3]), len(rows))
    found = compositions(block[:, 0], block[:, 1] if persons else None, tuples, knows_rows=knows_rows)
    sizes, largest, risk = by_hand(rows, persons=persons, knows_rows=knows_rows)
    assert np.repeat(found.sizes.sizes, found.sizes.classes).tolist() == sizes
    assert found.largest == largest
    assert abs(found.member_risk - risk) < 1e-9


@given(ROWS, st.booleans(), st.booleans())
def test_persons_without_a_number_are_counted_as_by_hand(rows, persons, knows_rows):
    block = np.array(rows, np.int64).reshape(len(rows), 4)
    tuples = joint_codes((block[:, 2], block[:, 3]), len(rows))
    found = compositions(block[:, 0], block[:, 1] if persons else None, tuples, knows_rows=knows_rows).unnumbered
    owned = defaultdict(list)
    for place, (house, person, *known) in enumerate(rows):
        if not house:
            owned[person if persons else ("row", place)].append(tuple(known))
    alike = Counter(repr(sorted(own if knows_rows else set(own))) for own in owned.values())
    expected = sorted(alike.values()) if any(house for house, *_ in rows) else []
    assert np.repeat(found.sizes, found.classes).tolist() == expected


@given(ROWS, st.randoms())
def test_neither_the_order_of_rows_nor_the_numbers_of_households_matter(rows, randomness):
    block = np.array(rows, np.int64).reshape(len(rows), 4)
    order = list(range(len(rows)))
    randomness.shuffle(order)
    other = block[order]
    other[:, 0] = np.where(other[:, 0], 100 - other[:, 0], 0)

    def sizes(of):
        return compositions(of[:, 0], of[:, 1], joint_codes((of[:, 2], of[:, 3]), len(of))).sizes

    assert sizes(block).sizes.tolist() == sizes(other).sizes.tolist()
    assert sizes(block).classes.tolist() == sizes(other).classes.tolist()


@given(ROWS)
def test_who_knows_fewer_columns_finds_no_smaller_class(rows):
    block = np.array(rows, np.int64).reshape(len(rows), 4)

    def smallest(*columns):
        return compositions(block[:, 0], None, joint_codes([block[:, one] for one in columns], len(rows))).sizes.smallest or 0

    assert smallest(2, 3) <= smallest(2) <= smallest()
