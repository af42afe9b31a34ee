"""The lower bound on suppressed cells against every way to suppress the cells of small tables."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure import cell_bound
from privrelease.disclosure.cell_bound import fewest_cells
from tests.depth import depth
from tests.property.cell_suppression import class_table


def fewest_by_trying(rows, threats):
    """Least cells over every choice of known cells of every row. ``threats``: (columns, k); rows without any of the columns are lost."""
    table = np.array(rows)
    choices = [
        [np.array(kept) for kept in product(*[(0, 1) if value else (1,) for value in row])]  # a missing cell stays as it is
        for row in table
    ]
    least = None
    every = list(product(*[range(len(options)) for options in choices]))
    picked = np.array(every)
    kept = np.stack([np.array(options)[picked[:, row]] for row, options in enumerate(choices)], axis=1)
    released = table[None] * kept
    cost = (kept == 0).sum(axis=(1, 2))
    holds = np.ones(len(picked), bool)
    for columns, k in threats:
        seen = released[:, :, list(columns)]
        alike = (seen[:, :, None, :] == seen[:, None, :, :]).all(axis=3).sum(axis=2)
        holds &= ((alike >= k) | ~seen.any(axis=2)).all(axis=1)
    least = cost[holds].min()
    return int(least)


def bound_of(rows, threats):
    table = class_table([tuple(row) for row in rows])
    return max(fewest_cells(table, columns, k) for columns, k in threats)


@st.composite
def tables(draw):
    q = draw(st.integers(1, 4))
    n = draw(st.integers(1, 4 if q == 4 else 6 if q == 3 else 7))
    n = min(n, 18 // q)
    least = draw(st.sampled_from([0, 1]))
    values = draw(st.integers(1, 3))
    row = st.tuples(*[st.integers(least, max(values, least))] * q)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    columns = tuple(range(q))
    threats = [(columns, draw(st.integers(1, 4)))]
    if q > 1 and draw(st.booleans()):
        part = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=q - 1, unique=True))
        other = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=q - 1, unique=True))
        threats = [(tuple(part), draw(st.integers(1, 4))), (tuple(other), draw(st.integers(1, 4)))]
    return rows, threats


@settings(max_examples=depth(80, 250), deadline=None)
@given(tables())
def test_the_bound_is_never_above_the_fewest_cells(drawn):
    rows, threats = drawn
    assert bound_of(rows, threats) <= fewest_by_trying(rows, threats)


@settings(max_examples=depth(25, 60), deadline=None)
@given(tables(), st.integers(0, 2))
def test_the_bound_holds_where_only_few_columns_are_looked_at(drawn, depth):
    rows, threats = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_bound, "_depth", lambda classes, _share: min(depth, classes.q - 1))
        assert bound_of(rows, threats) <= fewest_by_trying(rows, threats)


@settings(max_examples=depth(25, 60), deadline=None)
@given(tables())
def test_the_bound_holds_where_keys_of_different_tuples_are_equal(drawn):
    rows, threats = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_bound, "_MULTIPLIER", 1)
        assert bound_of(rows, threats) <= fewest_by_trying(rows, threats)


#: Two records that one of four others must join: 3 cells, 1.5 for each of the two.
JOINED = ([[1, 1]] * 2 + [[1, 2]] * 4, [((0, 1), 3)])


@cache
def solved_tables():
    """Return tables of fixed seeds with their threats and fewest cells: a bound that is too high must be found on them."""
    generator = np.random.default_rng(20)
    found = [JOINED]
    for number in range(80):
        q = int(generator.integers(2, 4))
        n = int(generator.integers(4, 8 if q == 2 else 6))
        rows = generator.integers(0 if number % 2 else 1, 4 if number % 3 else 3, (n, q)).tolist()
        found.append((rows, [(tuple(range(q)), int(generator.integers(2, 4)))]))
    return [(rows, threats, fewest_by_trying(rows, threats)) for rows, threats in found]


def too_high():
    return sum(bound_of(rows, threats) > least for rows, threats, least in solved_tables())


def test_trying_every_choice_is_itself_right_on_a_table_solved_by_hand():
    assert fewest_by_trying(*JOINED) == 3


def test_the_bound_is_exact_on_most_small_tables():
    pairs = [(bound_of(rows, threats), least) for rows, threats, least in solved_tables()]
    assert all(low <= least for low, least in pairs)
    assert sum(low == least for low, least in pairs) > len(pairs) / 2
    assert sum(low for low, _ in pairs) > 0.85 * sum(least for _, least in pairs)


FAULTS = {
    "a group's slack is not shared": ("_part", lambda slack, _records: slack),
    "wider groups are taken for dearer than they are": ("_depth", lambda classes, _share: classes.q),
    "groups are overlooked": ("_open", lambda *_: None),
}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_bound_that_is_too_high_is_found(fault, monkeypatch):
    assert too_high() == 0
    name, instead = FAULTS[fault]
    monkeypatch.setattr(cell_bound, name, instead)
    if name == "_depth":
        monkeypatch.setattr(cell_bound, "combinations", lambda _columns, _size: ())
    assert too_high() > 0
