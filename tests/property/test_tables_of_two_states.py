"""What tables of two states of the data tell of who changed, against an attacker who solves for every sum of places that both states give."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privrelease.disclosure.tables import two_states
from privrelease.disclosure.tables.linked import TooManyCellsError, linked
from privrelease.disclosure.tables.published_table import PrintedTable
from privrelease.disclosure.tables.rules import CellRules
from privrelease.disclosure.tables.secondary import suppressed_cells
from privrelease.relational.filters import Both, Comparison
from tests.depth import depth
from tests.property.test_tables_of_linked_filters import COLUMNS, PLACES, VALUES, cells, fetcher, is_in

FEW = 3
FILTERS = [
    None,
    Comparison("a", "=", "0"),
    Comparison("b", "=", "1"),
    Both(Comparison("a", "=", "1"), Comparison("c", "=", "0")),
]
BY = [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")]


@st.composite
def flows(draw):
    """Two or three tables, and who is where before and after: a place, or None of who is not there yet or has left. In every other flow c follows from b."""
    nested = draw(st.booleans())
    places = [i for i, one in enumerate(PLACES) if None not in one.values() and (not nested or one["b"] == one["c"])]
    stay = [place for place in places for _ in range(draw(st.sampled_from([0, 1, 2, 4, 8])))]
    after = [draw(st.sampled_from([None, *places])) if draw(st.integers(0, 9)) == 0 else place for place in stay]
    joined = [place for place in places for _ in range(draw(st.sampled_from([0, 0, 1, 4])))]
    kinds = draw(
        st.lists(st.tuples(st.sampled_from(BY), st.sampled_from(FILTERS), st.booleans()), min_size=2, max_size=3, unique=True)
    )
    tables = [PrintedTable(by, tuple(("0", "1") for _ in by), margins, where) for by, where, margins in kinds]
    prints = [draw(st.sets(st.integers(0, len(tables) - 1), min_size=1)) for _ in range(2)]
    return tables, [[*stay, *(None for _ in joined)], [*after, *joined]], prints


def state(tables, where_they_are, prints):
    """The tables together, and what they print where cells are suppressed that are not safe."""
    together = linked(tables, CellRules(FEW), None, 1, fetcher([PLACES[one] for one in where_they_are if one is not None]))
    hidden = suppressed_cells(together.table)
    printed = np.full(together.table.layout.size, np.nan)
    for number in prints:
        own = together.places[number]
        shown = own[~hidden[own]]
        printed[shown] = together.cells.rows[shown]
    rows = [
        places
        for number in prints
        for cell, places in zip(together.places[number], cells(tables[number]), strict=True)
        if not hidden[cell]
    ]
    return together, printed, np.array(rows).reshape(-1, len(PLACES))


def changed(inside, flow):
    """How many persons a difference is of: those at the places, ``inside``, in one of both states."""
    before, after = ([one is not None and bool(inside[one]) for one in each] for each in flow)
    return sum(one != two for one, two in zip(before, after, strict=True))


def candidates(tables):
    """Sums of places: of keys, and of rows that are in a table or not."""
    members = [table.membership for table in tables]
    for keys in product((*VALUES, ...), repeat=len(COLUMNS)):
        for sides in product((True, False, ...), repeat=len(members)):
            yield np.array(
                [
                    all(key in (..., one[name]) for name, key in zip(COLUMNS, keys, strict=True))
                    and all(side in (..., is_in(member, one)) for side, member in zip(sides, members, strict=True))
                    for one in PLACES
                ]
            )


def small_for_an_attacker(tables, rows, flow):
    """Return whether a sum of places that both states give is of a few who changed."""
    unknown = [np.eye(len(PLACES)) - np.linalg.pinv(one) @ one for one in rows]
    return any(
        0 < changed(inside, flow) < FEW and all(np.abs(inside @ one).max() < 1e-7 for one in unknown)
        for inside in candidates(tables)
    )


def places_of(cell, tables):
    members = {repr(table.membership): table.membership for table in tables}
    keys = {name: ("0", "1") for table in tables for name in table.by}
    found = []
    for one in PLACES:
        at = {name: keys[name].index(one[name]) if one[name] in keys[name] else 2 for name in keys}
        at |= {name: int(not is_in(member, one)) for name, member in members.items()}
        found.append(all(at[name] == place for name, place in cell))
    return np.array(found)


def small_for_us(tables, states, flow):
    """Return whether a difference is found that is of a few: of a cell that both states print, or of what follows."""
    both = [~np.isnan(printed) for _, printed, _ in states]
    found = []
    for number, table in enumerate(tables):
        for places, *numbers in zip(cells(table), *(together.places[number] for together, _, _ in states), strict=True):
            if all(shown[one] for shown, one in zip(both, numbers, strict=True)):
                found.append(places)
    known = two_states.known_differences(tuple(one for one, _, _ in states), tuple(printed for _, printed, _ in states))
    for combination, gap in known:
        factors = sum(factor * places_of(cell, tables).astype(int) for cell, factor in combination.items())
        before, after = (sum(int(factors[one]) for one in each if one is not None) for each in flow)
        assert after - before == pytest.approx(gap)
        found.append(factors)
    return any(0 < changed(inside, flow) < FEW for inside in found)


@settings(max_examples=depth(40, 400), deadline=None)
@given(flows())
def test_who_changed_is_found_where_both_states_give_it_away(case):
    tables, flow, prints = case
    try:
        states = [state(tables, where, some) for where, some in zip(flow, prints, strict=True)]
    except TooManyCellsError:
        assume(False)
    if small_for_an_attacker(tables, [rows for _, _, rows in states], flow):
        assert small_for_us(tables, states, flow)


def at(*keys):
    return next(i for i, one in enumerate(PLACES) if tuple(one.values()) == keys)


def filtered_flow():
    """By a, of all and of those with b: four join (0), three of them with b = 1, so that one without is what both tables leave."""
    tables = [PrintedTable(("a",), (("0", "1"),), where=where) for where in (None, Comparison("b", "=", "1"))]
    stay = [at(a, b, "0") for a in "01" for b in "01" for _ in range(5)]
    joined = [*[at("0", "1", "0")] * 3, at("0", "0", "0")]
    return tables, [[*stay, *(None for _ in joined)], [*stay, *joined]], [{0, 1}, {0, 1}]


def test_one_whom_two_tables_leave_is_found_by_hand_and_by_the_attacker():
    tables, flow, prints = filtered_flow()
    states = [state(tables, where, some) for where, some in zip(flow, prints, strict=True)]
    assert small_for_an_attacker(tables, [rows for _, _, rows in states], flow)
    assert small_for_us(tables, states, flow)


def test_sums_that_are_not_followed_are_noticed(monkeypatch):
    """Planted: only what both states print is compared."""
    tables, flow, prints = filtered_flow()
    states = [state(tables, where, some) for where, some in zip(flow, prints, strict=True)]
    monkeypatch.setattr(two_states, "known_differences", lambda *_: iter(()))
    assert not small_for_us(tables, states, flow)


def test_two_suppressed_cells_whose_total_grew_by_nine_while_another_grew_by_eight():
    """County 0 has towns of 2, 4 and 9 persons; the first two are suppressed in both years. 9 - 8 = 1 joined them."""
    towns = PrintedTable(("a", "b", "c"), (("0", "1"),) * 3, margins=False)
    counties = PrintedTable(("a",), (("0", "1"),), margins=False)
    stay = [at(*keys) for keys, many in (("000", 2), ("001", 4), ("010", 9), ("111", 9)) for _ in range(many)]
    joined = [at(*"000"), *[at(*"010")] * 8]
    linked_states, printed = [], []
    for where in (stay, [*stay, *joined]):
        together = linked([towns, counties], CellRules(FEW), None, 1, fetcher([PLACES[one] for one in where]))
        figures = np.full(together.table.layout.size, np.nan)
        for shown in (together.places[0][2:], together.places[1]):  # by a, b, c all but 000 and 001
            figures[shown] = together.cells.rows[shown]
        linked_states.append(together)
        printed.append(figures)
    found = {
        frozenset(one): gap for one, gap in two_states.known_differences(tuple(linked_states), tuple(printed)) if len(one) == 2
    }
    town = [frozenset({("a", 0), ("b", 0), ("c", place)}) for place in (0, 1)]
    assert found[frozenset(town)] == 1
