"""Several tables of the same rows against every way in which the rows could fall: intervals, repairs, means and groups of one key."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privrelease.audit.tables.table_recount import cells_of
from privrelease.disclosure.tables.attack_assessment import Attack, weaknesses
from privrelease.disclosure.tables.linked import TooManyCellsError, linked
from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable
from privrelease.disclosure.tables.rules import CellRules
from privrelease.disclosure.tables.secondary import suppressed_cells
from privrelease.relational.filter_truth import holds
from privrelease.relational.filters import Comparison, columns_of
from privrelease.relational.tables import Contributions
from tests.depth import depth

KEYS = {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")}
MIN_COUNT = 3
RULES = CellRules(MIN_COUNT)


def table(*by, where=None, **more):
    return PrintedTable(tuple(by), tuple(KEYS[name] for name in by), where=where, **more)


SETS = {
    "chain": (table("a", "b"), table("b", "c")),
    "ring": (table("a", "b"), table("b", "c"), table("a", "c")),
    "part": (table("a", "b"), table("a", "c", where=Comparison("b", "=", "0"))),
    "difference": (table("a"), table("a", where=Comparison("b", "=", "0"))),
    "without totals": (table("a", "b", margins=False), table("b", "c")),
}


def is_member(member, one):
    if member.where is not None and "x" in columns_of(member.where):
        return True  # the column that is summed is not among the keys, and has more than two values as far as is told
    return all(one[name] in keys for name, keys in member.keys) and (member.where is None or holds(member.where, one))


def fetcher(records, values=None):
    """Cells of queries over records, as an auditor adds them up; every record is a person. ``values``: of the one column that is summed."""

    def fetch(asked):
        places = [
            [keys.index(one[name]) if one[name] in keys else len(keys) for one in records]
            for name, keys in zip(asked.by, asked.keys, strict=True)
        ]
        places += [[int(not is_member(member, one)) for one in records] for member in asked.members]
        cells = np.zeros(len(records), np.int64)
        for place, size in zip(places, asked.inner, strict=True):
            cells = cells * size + np.array(place, np.int64)
        ones = np.ones(len(records), np.int64)
        given_ = [0 if value is None else value for value in values or ()]
        sums = np.array([given_] if asked.sums else [], np.int64).reshape(len(asked.sums), len(records))
        known = np.array([[value is not None for value in values]] if asked.sums else [], np.int64).reshape(sums.shape)
        return cells_of(Contributions(cells, np.arange(len(records)), ones, sums, known, 0), asked)

    return fetch


def records_of(counts):
    return [{"a": str(a), "b": str(b), "c": str(c)} for (a, b, c), count in np.ndenumerate(counts) for _ in range(int(count))]


@cache
def every_way(persons, cells=8):
    """Every way of putting persons into cells: (ways, cells)."""
    bars = np.array(list(combinations(range(persons + cells - 1), cells - 1)))
    ends = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), persons + cells - 1)], axis=1)
    return np.diff(ends, axis=1) - 1


def printed_counts(one, ways):
    """The cells of a table for every way: (ways, cells)."""
    inner = ways.reshape(-1, 2, 2, 2)
    if one.where is not None:
        inner = inner[:, :, :1, :]
    inner = inner.sum(axis=tuple(i + 1 for i, name in enumerate("abc") if name not in one.by))
    if one.margins:
        for side in range(1, inner.ndim):
            inner = np.concatenate([inner, inner.sum(axis=side, keepdims=True)], axis=side)
    return inner.reshape(len(ways), -1)


def fitting(tables, ways, true, patterns):
    fits = np.ones(len(ways), bool)
    for one, pattern in zip(tables, patterns, strict=True):
        cells, mine = printed_counts(one, ways), printed_counts(one, true.reshape(1, -1))[0]
        few = mine < MIN_COUNT
        low, high = np.where(few, 1, MIN_COUNT), np.where(few, MIN_COUNT - 1, 99)
        low, high = np.where(pattern, low, mine), np.where(pattern, high, mine)
        fits &= ((cells >= low) & (cells <= high)).all(axis=1)
    return ways[fits]


def everybody(tables, together):
    """The cell of all rows."""
    return next(places[-1] for one, places in zip(tables, together.places, strict=True) if one.margins and one.where is None)


#: Up to eight persons, one at least for each key of b.
COUNTS = st.lists(st.integers(0, 7), min_size=1, max_size=6).map(
    lambda cells: np.bincount([0, 7, *cells], minlength=8).reshape(2, 2, 2)
)


@pytest.mark.parametrize("name", sorted(SETS))
@settings(max_examples=depth(4, 12), deadline=None)
@given(counts=COUNTS, dice=st.randoms(use_true_random=False))
def test_intervals_are_those_of_every_way_in_which_the_rows_can_fall(name, counts, dice) -> None:
    tables = SETS[name]
    together = linked(tables, RULES, None, 1, fetcher(records_of(counts)), public=())
    table_ = together.table
    unsafe = np.logical_or.reduce(list(table_.primaries().values())) & ~table_.silent
    hidden = unsafe | (np.array([dice.random() < 0.4 for _ in unsafe]) & ~table_.silent & (table_.rows > 0))
    hidden[everybody(tables, together)] = False
    patterns = [hidden[places] for places in together.places]
    ways = fitting(tables, every_way(int(counts.sum())), counts, patterns)
    assert len(ways)
    attack = Attack(table_, hidden)
    for one, places in zip(tables, together.places, strict=True):
        cells = printed_counts(one, ways)
        for cell, place in enumerate(places):
            assert attack.interval(-1, (int(place),)) == (cells[:, cell].min(), cells[:, cell].max())


@pytest.mark.parametrize("name", sorted(SETS))
@settings(max_examples=depth(3, 8), deadline=None)
@given(counts=COUNTS)
def test_tables_that_are_protected_together_give_no_small_cell_back(name, counts) -> None:
    tables = SETS[name]
    together = linked(tables, RULES, None, 1, fetcher(records_of(counts)), public=())
    suppressed = suppressed_cells(together.table)
    if list(weaknesses(together.table, suppressed)):  # everything is hidden, and the rules alone give it away
        assert (suppressed == (~together.table.silent & (together.table.rows > 0))).all()
        return
    if suppressed[everybody(tables, together)]:
        return  # how many there are is not known, and more than these ways are possible
    patterns = [suppressed[places] for places in together.places]
    ways = fitting(tables, every_way(int(counts.sum())), counts, patterns)
    for one, pattern in zip(tables, patterns, strict=True):
        cells, mine = printed_counts(one, ways), printed_counts(one, counts.reshape(1, -1))[0]
        small = (mine > 0) & (mine < MIN_COUNT)
        assert (small <= pattern).all()
        assert all(len(np.unique(cells[:, cell])) > 1 for cell in np.flatnonzero(small))


def test_the_difference_of_two_tables_is_a_cell_that_nobody_prints() -> None:
    counts = np.zeros((2, 2, 2), int)
    counts[:, 0, 0], counts[0, 1, 0], counts[1, 1, 0] = 20, 2, 30
    together = linked(SETS["difference"], RULES, None, 1, fetcher(records_of(counts)), public=())
    nothing = np.zeros(together.table.layout.size, bool)
    weak = list(weaknesses(together.table, nothing))
    assert [together.table.rows[list(one.cells)].tolist() for one in weak if one.kind == "cell"] == [[2]]
    assert not list(weaknesses(together.table, suppressed_cells(together.table)))


def test_tables_that_leave_out_other_rows_differ_by_them() -> None:
    records = [*records_of(np.full((2, 2, 2), 5)), {"a": "0", "b": "0", "c": "?"}]
    together = linked((table("a", "b"), table("a", "c")), RULES, None, 1, fetcher(records), public=())
    weak = list(weaknesses(together.table, np.zeros(together.table.layout.size, bool)))
    assert {1} == {int(together.table.rows[cell]) for one in weak if one.kind == "cell" for cell in one.cells}
    assert not list(weaknesses(together.table, suppressed_cells(together.table)))


def test_a_ring_over_too_many_columns_is_refused() -> None:
    wide = tuple(str(key) for key in range(20))
    ring = [PrintedTable((x, y), (wide, wide)) for x, y in ("ab", "bc", "ac")]
    with pytest.raises(TooManyCellsError, match="more than 400"):
        linked(ring, RULES, None, 1, fetcher(records_of(np.ones((2, 2, 2)))))


@settings(max_examples=depth(4, 12), deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=3, max_size=3), st.randoms(use_true_random=False))
def test_a_mean_with_its_count_is_known_as_its_sum(cells, dice) -> None:
    count = sum(map(len, cells))
    assume(count >= MIN_COUNT)
    keys = ("0", "1", "2")
    records = [{"k": key} for key, values in zip(keys, cells, strict=True) for _ in values]
    values = [value for cell in cells for value in cell]
    mean = PrintedTable(("k",), (keys,), sums=(PrintedSum("x", 0, 2, mean=True),))
    together = linked((mean,), RULES, None, 1, fetcher(records, values), public=())
    mine = [len(cell) for cell in cells]
    hidden = np.array([0 < n < MIN_COUNT or (n > 0 and dice.random() < 0.5) for n in mine] + [False])
    attack = Attack(together.table, hidden)
    ways = [
        (ways_, sums)
        for ways_ in every_way(count, 3)
        for sums in every_way(sum(values), 3)
        if all(sums[i] <= 2 * ways_[i] for i in range(3))
        and all(
            ((1 <= ways_[i] < MIN_COUNT) if mine[i] < MIN_COUNT else ways_[i] >= MIN_COUNT)
            if hidden[i]
            else (ways_[i] == mine[i] and sums[i] == sum(cells[i]))
            for i in range(3)
        )
    ]
    assert ways
    for i in range(3):
        found = [sums[i] for _, sums in ways]
        assert attack.interval(0, (i,)) == pytest.approx((min(found), max(found)), abs=1e-5)


@settings(max_examples=depth(4, 12), deadline=None)
@given(COUNTS)
def test_no_group_is_known_to_share_one_key(counts) -> None:
    rules = CellRules(MIN_COUNT, class_disclosure=True)
    two = table("a", "b")
    together = linked((two,), rules, None, 1, fetcher(records_of(counts)), public=())
    suppressed = suppressed_cells(together.table)
    weak = list(weaknesses(together.table, suppressed))
    if any(one.kind != "class" for one in weak):
        return
    persons = int(counts.sum())
    ways = printed_counts(two, every_way(persons))
    mine = printed_counts(two, counts.reshape(1, -1))[0]
    few = mine < MIN_COUNT
    low, high = (
        np.where(suppressed, np.where(few, 0, MIN_COUNT), mine),
        np.where(suppressed, np.where(few, MIN_COUNT - 1, 99), mine),
    )
    fits = ways[((ways >= low) & (ways <= np.minimum(high, persons))).all(axis=1)]
    known = {one.cells for one in weak}
    for relation in two.layout.relations:
        empty = tuple(part for part in relation.parts if not mine[part])
        if len(empty) == 1 and mine[relation.total] > 0 and not suppressed[-1]:
            assert (fits[:, empty[0]].max() == 0) == (empty in known)


def test_impossible_cells_are_no_news() -> None:
    counts = np.zeros((2, 2, 2), int)
    counts[0, 0], counts[1] = 4, 4
    one = table("a", "b", impossible=np.array([False, True, *[False] * 7]))
    rules = CellRules(MIN_COUNT, class_disclosure=True, interval=Fraction(0))
    natural = linked((one,), rules, None, 1, fetcher(records_of(counts)), public=())
    assert not suppressed_cells(natural.table).any()
    sampled = linked((table("a", "b"),), rules, None, 1, fetcher(records_of(counts)), public=())
    assert suppressed_cells(sampled.table).any()
