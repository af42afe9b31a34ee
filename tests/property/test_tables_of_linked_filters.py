"""Tables whose filters read several columns, or whose lists of keys differ, against an attacker who knows every cell of all columns by its place only."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from privrelease.audit.tables.table_recount import cells_of
from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.filter_logic import FilterLogic
from privrelease.disclosure.tables.linked import TooManyCellsError, linked
from privrelease.disclosure.tables.published_table import PrintedTable
from privrelease.disclosure.tables.rules import CellRules
from privrelease.disclosure.tables.secondary import suppressed_cells
from privrelease.relational.filters import Both, Comparison, Either, Missing, Negated
from privrelease.relational.tables import Contributions
from tests.depth import depth

COLUMNS = "abc"
VALUES = ("0", "1", None)
PLACES = [dict(zip(COLUMNS, values, strict=True)) for values in product(VALUES, repeat=3)]
MIN_COUNT = 3

CONDITIONS = [Comparison(name, "=", value) for name in COLUMNS for value in "01"]
CONDITIONS += [Missing(name) for name in COLUMNS]
FILTERS = [None, *CONDITIONS]
FILTERS += [Negated(one) for one in CONDITIONS[:6]]
FILTERS += [
    kind(one, other) for one, other in combinations(CONDITIONS, 2) if one.column != other.column for kind in (Both, Either)
]
FILTERS += [Either(Both(one, other), third) for one, other, third in combinations(CONDITIONS[::2], 3)]
LISTS = (("0", "1"), ("0",))


def truth(of, row):
    """What SQL says of a filter."""
    if isinstance(of, Missing):
        return row[of.column] is None
    if isinstance(of, Comparison):
        return None if row[of.column] is None else row[of.column] == of.value
    if isinstance(of, Negated):
        inner = truth(of.of, row)
        return None if inner is None else not inner
    left, right = truth(of.left, row), truth(of.right, row)
    decided = isinstance(of, Either)
    return decided if decided in (left, right) else None if None in (left, right) else not decided


def is_in(member, row):
    return all(row[name] in keys for name, keys in member.keys) and (member.where is None or truth(member.where, row) is True)


def persons(counts):
    """As many persons at each place."""
    return [row for row, count in zip(PLACES, counts, strict=True) for _ in range(count)]


def fetcher(rows):
    """The cells of a query over persons."""

    def fetch(asked):
        kept = [row for row in rows if asked.where is None or truth(asked.where, row) is True]
        if not asked.others:
            kept = [row for row in kept if all(row[name] in keys for name, keys in zip(asked.by, asked.keys, strict=True))]
        cells = np.zeros(len(kept), np.int64)
        sides = [
            [keys.index(row[name]) if row[name] in keys else len(keys) for row in kept]
            for name, keys in zip(asked.by, asked.keys, strict=True)
        ]
        sides += [[int(not is_in(member, row)) for row in kept] for member in asked.members]
        for side, size in zip(sides, asked.inner, strict=True):
            cells = cells * size + np.array(side, np.int64)
        ones, none = np.ones(len(kept), np.int64), np.zeros((0, len(kept)), np.int64)
        return cells_of(Contributions(cells, np.arange(len(kept)), ones, none, none, 0), asked)

    return fetch


def cells(table):
    """The places that each printed cell adds up, in the order of the table."""
    member = table.membership
    sides = [(*keys, None) if table.margins else keys for keys in table.keys]
    for at in product(*sides):
        own = {name: key for name, key in zip(table.by, at, strict=True) if key is not None}
        yield np.array([is_in(member, row) and all(row[name] == key for name, key in own.items()) for row in PLACES], float)


class Attacker:
    """Everybody is somewhere: what tables print of them, which suppressed cells are small and which columns are never missing is known."""

    def __init__(self, tables, patterns, counts):
        found = [
            each for table, pattern in zip(tables, patterns, strict=True) for each in zip(cells(table), pattern, strict=True)
        ]
        mine = np.array([float(places @ counts) for places, _ in found])
        hidden = np.array([bool(one) for _, one in found])
        low = np.where(hidden, np.where(mine < MIN_COUNT, 1, MIN_COUNT), mine)
        high = np.where(hidden, np.where(mine < MIN_COUNT, MIN_COUNT - 1, np.inf), mine)
        lacking = [[row[name] is None for row in PLACES] for name in COLUMNS]
        never = np.array([one for one in lacking if not np.array(one) @ counts], bool).reshape(-1, len(PLACES)).any(axis=0)
        self.bounds = Bounds(0, np.where(never, 0, 200))
        self.rules = LinearConstraint(np.array([places for places, _ in found]), low, high)

    def ends(self, places):
        """The least and the most persons at some places."""
        options = {"constraints": self.rules, "integrality": np.ones(len(PLACES)), "bounds": self.bounds}
        found = [milp(sign * places, **options) for sign in (1, -1)]
        assert all(one.success for one in found)
        return round(found[0].fun), round(-found[1].fun)


def broken(tables, counts):
    """What the tables, protected together, disclose: small cells of a table, and their parts in and out of another table."""
    together = linked(tables, CellRules(MIN_COUNT), None, 1, fetcher(persons(counts)), public=())
    pattern = suppressed_cells(together.table)
    if list(weaknesses(together.table, pattern)):
        return None  # the audit refuses it
    patterns = [pattern[places] for places in together.places]
    attacker = Attacker(tables, patterns, counts)
    asked = [places for table in tables for places in cells(table)]
    for one, other in permutations(tables, 2):
        inside = np.array([is_in(other.membership, row) for row in PLACES], float)
        asked += [places * part for places in cells(one) for part in (inside, 1 - inside)]
    found = []
    for places in {tuple(each) for each in asked}:
        if not 0 < float(np.array(places) @ counts) < MIN_COUNT:
            continue
        least, most = attacker.ends(np.array(places))
        if least == most:
            found.append(places)
    return found


@st.composite
def systems(draw):
    """Two or three tables, and persons."""
    seed = draw(st.integers(0, 2**32 - 1))
    dice = np.random.default_rng(seed)
    tables = []
    for _ in range(int(dice.integers(2, 4))):
        by = tuple(name for name in COLUMNS if dice.random() < 0.5) or ("a",)
        keys = tuple(LISTS[int(dice.random() < 0.15)] for _ in by)
        where = FILTERS[int(dice.integers(len(FILTERS)))]
        tables.append(PrintedTable(by, keys, bool(dice.random() < 0.7), where))
    counts = dice.integers(0, 9, len(PLACES)) * (dice.random(len(PLACES)) < 0.6)
    counts[[None in row.values() for row in PLACES]] //= int(dice.integers(1, 9))
    return tuple(tables), counts


@settings(max_examples=depth(20, 300), deadline=None)
@given(systems())
def test_no_small_cell_of_tables_with_linked_filters_is_known(system) -> None:
    tables, counts = system
    try:
        found = broken(tables, counts)
    except TooManyCellsError:
        assume(False)
    assert not found


P, Q = Comparison("b", "=", "0"), Comparison("c", "=", "0")
NAMED = {
    "two conditions and one of both": (("a", P), ("a", Q), ("a", Either(P, Q))),
    "two conditions and neither": (("a", None), ("a", P), ("a", Q), ("a", Both(Negated(P), Negated(Q)))),
    "a cell of another table": (("abc", None), ("a", Both(Negated(P), Negated(Q)))),
    "all but a cell of another table": (("abc", None), ("a", Either(P, Q))),
    "a condition beside a group column": (("a", P), ("ac", None), ("a", Either(P, Q))),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_person_whom_filters_single_out_together_is_hidden(name, monkeypatch) -> None:
    counts = np.zeros(len(PLACES), np.int64)
    for row, count in {"000": 1, "001": 6, "010": 7, "011": 9, "100": 10, "101": 16, "110": 17, "111": 19}.items():
        counts[PLACES.index(dict(zip(COLUMNS, row, strict=True)))] = count
    tables = tuple(PrintedTable(tuple(by), (("0", "1"),) * len(by), True, where) for by, where in NAMED[name])
    assert broken(tables, counts) == []
    monkeypatch.setattr(FilterLogic, "excluded", lambda _self, _query: ())
    monkeypatch.setattr("privrelease.disclosure.tables.linked.scopes", lambda *_: ())
    assert broken(tables, counts)


def test_a_key_that_one_table_does_not_list_is_in_none_of_its_cells(monkeypatch) -> None:
    """The first prints how many have the second key; with the total of the second, which leaves the third key out, that gives the first key."""
    rows = [{"a": key, "b": "0", "c": "0"} for key, count in {"0": 1, "1": 7, "2": 9}.items() for _ in range(count)]
    tables = (PrintedTable(("a",), (("0", "1", "2"),), False), PrintedTable(("a",), (("0", "1"),)))

    def printed():
        together = linked(tables, CellRules(MIN_COUNT), None, 1, fetcher(rows), public=())
        pattern = suppressed_cells(together.table)
        return [(~pattern[places]).tolist() for places in together.places]

    (_, second, _), (_, other, total) = printed()
    assert not (second and total)
    assert not (other and total)
    monkeypatch.setattr(FilterLogic, "excluded", lambda _self, _query: ())
    (_, second, _), (_, _, total) = printed()
    assert second
    assert total
