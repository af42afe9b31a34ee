"""What rows give back of a table, against an attacker who tries every way to put rows into cells: nothing shared but the files' figures."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, TableShown, cells_by_rows
from privrelease.engine.protocol.base import ReleasedFile
from privrelease.engine.protocol.release_pairs import ColumnMap, RowPattern
from privrelease.relational.schema import ColumnType
from tests.depth import depth

KEYS = (("a", "b"), ("x", "y"))
BY = ("first", "second")
INNER = list(product(*KEYS))


class Made:
    """An engine that has the patterns of made rows, of which no column determines another."""

    def __init__(self, rows, shown):
        self._rows, self._shown = rows, shown

    def column_maps(self, of, asked):
        return tuple(ColumnMap(len(self._rows), 2, len(self._rows), forward=False, backward=False) for _ in asked)

    def row_patterns(self, released, asked):
        assert asked.by == self._shown
        places = [BY.index(name) for name in asked.by]
        keys = [tuple(row[place] for place in places) for row in self._rows]
        return tuple(RowPattern(one, True, keys.count(one)) for one in dict.fromkeys(keys))


def covers(total, cell):
    return all(key in (None, own) for key, own in zip(total, cell, strict=True))


def ways(rows, shown, left_out):
    """Every table of counts that the rows can be; a key that is missing may be any, or none that is listed."""
    found = {(0,) * len(INNER)}
    for row in [*rows, *([(None, None)] * left_out)]:
        seen = tuple(key if name in shown else None for name, key in zip(BY, row, strict=True))
        places = [place for place, cell in enumerate(INNER) if covers(seen, cell)] + ([None] if None in seen else [])
        found = {tuple(n + (i == place) for i, n in enumerate(way)) for way in found for place in places}
    return found


def drawn(seed):
    """Persons, what the rows show of them, what the table prints, and the rows that were left out."""
    dice = np.random.default_rng(seed)
    truth = [INNER[place] for place in dice.integers(0, len(INNER), dice.integers(1, 9))]
    shown = (BY, BY, BY[:1])[dice.integers(0, 3)]
    left_out = int(dice.integers(0, 3)) if len(truth) > 2 else 0
    rows = [tuple(None if dice.random() < 0.25 else key for key in person) for person in truth[left_out:]]
    margins = [(one, None) for one in KEYS[0]] + [(None, one) for one in KEYS[1]] + [(None, None)]
    cells = [*INNER, *(margins if dice.random() < 0.7 else [])]
    hidden = {cell for cell in cells if dice.random() < (0.8 if None not in cell else 0.2)}
    return truth, shown, left_out, rows, cells, hidden


def by_both(seed, *, known_left_out=True):
    truth, shown, left_out, rows, cells, hidden = drawn(seed)
    count = {cell: sum(covers(cell, person) for person in truth) for cell in cells}
    name = {cell: frozenset((by, key) for by, key in zip(BY, cell, strict=True) if key is not None) for cell in cells}
    printed = {name[cell]: {"count": None if cell in hidden else Fraction(count[cell])} for cell in cells}
    file = ReleasedFile("r", tuple((one, ColumnType.CATEGORY) for one in shown), len(rows))
    out = RowsOut(file, frozenset(shown), frozenset(BY), left_out if known_left_out else None)
    learnt = cells_by_rows(TableShown(BY, KEYS, printed), out, Made(rows, shown))
    fits = [
        way
        for way in ways(rows, shown, left_out)
        if all(
            sum(n for n, one in zip(way, INNER, strict=True) if covers(cell, one)) == count[cell]
            for cell in set(cells) - hidden
        )
    ]
    sums = {cell: {sum(n for n, one in zip(way, INNER, strict=True) if covers(cell, one)) for way in fits} for cell in hidden}
    return learnt, {name[cell] for cell, values in sums.items() if len(values) == 1}, {name[cell] for cell in hidden}


@pytest.mark.parametrize("start", range(0, 300, 100))
def test_a_count_is_known_exactly_where_every_way_gives_the_same(start):
    determined = 0
    for seed in range(start, start + depth(35, 100)):
        learnt, expected, hidden = by_both(seed)
        assert learnt.agree, seed
        assert {cell for cell in hidden if "count" in learnt.known[cell]} == expected, seed
        determined += bool(expected) and expected != hidden
    assert determined > depth(3, 10)


def test_who_does_not_know_how_many_rows_were_left_out_learns_no_more():
    for seed in range(depth(20, 60)):
        learnt, expected, hidden = by_both(seed, known_left_out=False)
        assert {cell for cell in hidden if "count" in learnt.known[cell]} <= expected, seed


def test_one_row_without_a_key_worked_out_by_hand():
    """Rows a/x, a/x and one whose first key is suppressed with y; the table prints a: 3, so that the third is in a/y and none in b/y."""
    rows = [("a", "x"), ("a", "x"), (None, "y")]
    cell = {pair: frozenset(zip(BY, pair, strict=True)) for pair in INNER}
    printed = {one: {"count": None} for one in cell.values()}
    out = RowsOut(ReleasedFile("r", tuple((one, ColumnType.CATEGORY) for one in BY), 3), frozenset(BY), frozenset(BY[:1]), 0)
    open_ = cells_by_rows(TableShown(BY, KEYS, printed), out, Made(rows, BY))
    assert [one for one, place in cell.items() if open_.known[place]] == [("a", "x"), ("b", "x")]
    closed = cells_by_rows(
        TableShown(BY, KEYS, printed | {frozenset({("first", "a")}): {"count": Fraction(3)}}), out, Made(rows, BY)
    )
    assert all(closed.known[place] == {"count"} for place in cell.values())
    other = cells_by_rows(
        TableShown(BY, KEYS, printed | {frozenset({("first", "a")}): {"count": Fraction(5)}}), out, Made(rows, BY)
    )
    assert other.agree is False
