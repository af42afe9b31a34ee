"""What rows give back of a table when a column of theirs goes with one of its, against an attacker who tries every way to fill in what they hide.

The attacker is written apart from the audit: he knows which pairs of values occur, asks of each way whether every row is possible, and compares
the tables that all ways give. Both search the same small data, of which the plain engine of the contract tests holds the rows.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.comparison.earlier import granted_maps, rows_and_table
from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, TableShown, cells_by_rows
from privrelease.engine.protocol.base import EngineSettings, ReleasedFile, Staged
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import Column, ColumnType, Role
from tests.contract.engine.plain import PlainEngine, Table
from tests.depth import depth

BY = ("first", "second")
KEYS = (("a", "b"), ("x", "y", "z"))
INNER = list(product(*KEYS))
#: A key that the table does not list.
OTHER = "w"
NAMES = ("first", "second", "c", "d", "f")
TYPES = dict.fromkeys(NAMES, ColumnType.CATEGORY)


@st.composite
def made(draw):
    """Persons, and what is published of them."""
    of_c = {value: draw(st.sampled_from((*KEYS[1], OTHER))) for value in "pqrs"}
    of_second = {key: draw(st.sampled_from("pqr")) for key in (*KEYS[1], OTHER)}
    mode = draw(st.sampled_from(("forward", "backward", "both", "none")))
    lacking = draw(st.sampled_from(("some", "last", "none")))
    rows, size = [], draw(st.integers(4, 7))
    for place in range(size):
        second = draw(st.sampled_from((*KEYS[1], *((OTHER, None) if lacking == "some" else ()), "x", "y")))
        if lacking == "last" and place == size - 1:
            second = draw(st.sampled_from((OTHER, None)))
        c = draw(st.sampled_from(("p", "q", "r", "s", None)))
        d = draw(st.sampled_from(("m", "n")))
        if mode in {"forward", "both"} and c is not None and second is not None:
            second = of_c[c]
        if mode == "backward" and second is not None:
            c = of_second[second]
        if mode == "both":
            d = {"x": "m", "y": "m"}.get(second, "n")
        filtered = draw(st.sampled_from((("yes", "no")[c == "p"], "yes", "no")))
        rows.append({"first": draw(st.sampled_from("ab")), "second": second, "c": c, "d": d, "f": filtered})
    left_out = draw(st.integers(0, 1))
    hides = draw(st.sampled_from(("second", "some", "both")))
    seen = []
    for row in rows[left_out:]:
        gone = {
            name for name in (("first", "second", "c") if hides == "both" else ("second", "c")) if draw(st.integers(0, 3)) == 0
        }
        seen.append({name: None if name in gone and hides != "second" else row[name] for name in NAMES})
    shown = tuple(name for name in NAMES if name not in ({"second", "f"} if hides == "second" else {"f"}))
    cells = list(INNER)
    if draw(st.booleans()):
        cells += [(key, None) for key in KEYS[0]] + [(None, key) for key in KEYS[1]] + [(None, None)]
    often = draw(st.sampled_from((7, 4)))
    hidden = {cell for cell in cells if draw(st.integers(0, 9)) < (often if None not in cell else 2)}
    return SimpleNamespace(
        rows=rows,
        seen=seen,
        shown=shown,
        left_out=left_out,
        cells=cells,
        hidden=hidden,
        lossy=frozenset() if hides == "second" else frozenset({"first", "second", "c"}),
        filtered=draw(st.booleans()),
        sensitive=frozenset(draw(st.sampled_from(((), ("c",), ("second",), ("c", "second"))))),
    )


def covers(total, cell):
    return all(key in (None, own) for key, own in zip(total, cell, strict=True))


def name_of(cell):
    return frozenset((by, key) for by, key in zip(BY, cell, strict=True) if key is not None)


# the attacker


def known_pairs(one, column, on):
    """Whether somebody who knows the columns knows what a value goes with (True), what goes with a value (False), neither (None), and the pairs."""
    both = [(row[column], on(row)) for row in one.rows if row[column] is not None]
    known = [pair for pair in both if pair[1] is not None]
    values, keys = Counter(value for value, _ in set(known)), Counter(key for _, key in set(known))
    determines = len(keys) > 1 and set(values.values()) == {1}
    determined = len(values) > 1 and {n for key, n in keys.items() if key != OTHER} == {1}
    if determines and 2 * len(values) <= len(known):
        return True, determines, set(both)
    return (False if determined and 2 * len(keys) <= len(known) else None), determines, set(both)


def keys_by(one, row, column, by):
    """The keys of a group column (None: missing) that a row may have by the value that it shows in another; all where that says nothing."""
    listed = set(KEYS[BY.index(by)])
    value, every = row[column], listed | {OTHER, None}
    map_, determines, both = known_pairs(one, column, lambda row: row[by])
    may_follow, may_lead = (
        by not in one.sensitive or column in one.sensitive,
        column not in one.sensitive or by in one.sensitive,
    )
    mine = {key for known, key in both if known == value}
    if map_ and may_follow:
        return mine or every
    if map_ is True:
        map_ = known_backward(both, len([1 for row in one.rows if row[column] is not None and row[by] is not None]))
    if map_ is False and may_lead:
        return (mine | (listed - {key for _, key in both})) if mine else every
    if not (determines and may_follow and by in one.shown):
        return every
    # no map, and yet it is known that rows of one value have one key, which others show
    same = {other[by] for other in one.seen if other[column] == value and other[by] is not None}
    lacks = any(key in {None, OTHER} for _, key in both)
    return same | ({None, OTHER} if lacks else set()) if same else every


def known_backward(both, rows):
    """As above, where it must not be known what a value goes with."""
    known = {pair for pair in both if pair[1] is not None}
    keys = Counter(key for _, key in known)
    one_value = {n for key, n in keys.items() if key != OTHER} == {1} and len({value for value, _ in known}) > 1
    return False if one_value and 2 * len(keys) <= rows else None


def inside(row):
    return row["f"] == "yes"


def keys_of(one, row, by):
    """The keys of a group column that a released row may have."""
    if by in one.shown and row[by] is not None:
        return {row[by]}
    listed = set(KEYS[BY.index(by)])
    # who knows the columns knows whether a person of the source can be in no cell of the table
    found = listed if {person[by] for person in one.rows} <= listed else {*listed, OTHER, None}
    for column in one.shown:
        if column != by and row[column] is not None:
            found &= keys_by(one, row, column, by)
    return found


def states_of(one, row):
    """Whether the table is made of a released row, or may be."""
    states = {True, False} if one.filtered else {True}
    for column in one.shown if one.filtered else ():
        map_, _, both = known_pairs(one, column, inside)
        if map_ and row[column] is not None:
            states &= {state for value, state in both if value == row[column]}
    return states


def possible(one, row):
    """The cells in which a released row may be, None among them where it may be in none."""
    every = product(keys_of(one, row, "first"), keys_of(one, row, "second"), states_of(one, row))
    return {(first, second) if state and (first, second) in INNER else None for first, second, state in every}


def counts_of_all_ways(one):
    """Every table of counts that fits, by the numbers of the inner cells."""
    ways = {(0,) * len(INNER)}
    listed = all(person[by] in KEYS[place] for person in one.rows for place, by in enumerate(BY))
    everywhere = set(INNER) if listed and not one.filtered else {*INNER, None}
    for places in [*(possible(one, row) for row in one.seen), *([everywhere] * one.left_out)]:
        ways = {tuple(n + (cell == place) for n, cell in zip(way, INNER, strict=True)) for way in ways for place in places}
    truth = printed(one)
    return [way for way in ways if all(total_of(way, cell) == truth[cell] for cell in one.cells if cell not in one.hidden)]


def total_of(way, cell):
    return sum(n for n, own in zip(way, INNER, strict=True) if covers(cell, own))


def printed(one):
    there = [row for row in one.rows if inside(row) or not one.filtered]
    return {
        cell: sum((row["first"], row["second"]) in INNER and covers(cell, (row["first"], row["second"])) for row in there)
        for cell in one.cells
    }


def by_attacker(one):
    ways = counts_of_all_ways(one)
    assert ways
    return {cell for cell in one.hidden if len({total_of(way, cell) for way in ways}) == 1}


# the audit


def held(engine, rows, names):
    table = Table({name: [row[name] for row in rows] for name in names}, {name: TYPES[name] for name in names}, len(rows))
    return engine._named(table)


def by_audit(one):
    engine = PlainEngine(EngineSettings())
    columns = tuple(Column(name, TYPES[name], Role.SENSITIVE if name in one.sensitive else Role.QUASI) for name in NAMES)
    staged = Staged(held(engine, one.rows, NAMES), columns, len(one.rows))
    source = SimpleNamespace(sensitive=one.sensitive, staged=lambda _: (staged,))
    file = ReleasedFile(held(engine, one.seen, one.shown), tuple((name, TYPES[name]) for name in one.shown), len(one.seen))
    rows = RowsOut(file, frozenset(one.shown), one.lossy, one.left_out, source=source)
    truth = printed(one)
    shown = {name_of(cell): {"count": None if cell in one.hidden else Fraction(truth[cell])} for cell in one.cells}
    where = parse_filter("f = 'yes'", TYPES) if one.filtered else None
    learnt = cells_by_rows(TableShown(BY, KEYS, shown, where=where), rows, engine)
    assert learnt.agree
    return {cell for cell in one.hidden if "count" in learnt.known[name_of(cell)]}


@given(made())
@settings(max_examples=depth(120, 400), deadline=None)
def test_a_count_is_known_exactly_where_every_way_with_the_dependency_gives_the_same(one):
    assert by_audit(one) == by_attacker(one)


def differ(one):
    return by_audit(one) != by_attacker(one)


def reversed_(original):
    def granted(one, found, source, *, forward):
        return original(one, found, source, forward=not forward)

    return granted


def nothing_listed(monkeypatch):
    begin = rows_and_table._Ways.__init__

    def begin_without(self, *arguments, **named):
        begin(self, *arguments, **named)
        self._listed = frozenset()

    monkeypatch.setattr(rows_and_table._Ways, "__init__", begin_without)


def missing_overlooked(_self, one, found):
    return all(place < one.query.places for own in found.sets for place in own)


def unlisted_overlooked(self, one, found):
    return found.rows == self._rows_of[one]


FAULTS = {
    "no map": lambda patch: patch.setattr(rows_and_table, "granted_maps", lambda *_: ()),
    "a map reversed": lambda patch: patch.setattr(granted_maps, "_granted", reversed_(granted_maps._granted)),
    "rows in no cell": nothing_listed,
    "a missing key overlooked": lambda patch: patch.setattr(granted_maps._Search, "_always_listed", missing_overlooked),
    "an unlisted key overlooked": lambda patch: patch.setattr(granted_maps._Search, "_always_listed", unlisted_overlooked),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_knowledge_of_columns_that_is_left_out_or_not_true_is_found(monkeypatch, fault):
    FAULTS[fault](monkeypatch)
    of_faults = settings(max_examples=2000, deadline=None, database=None, derandomize=True, phases=(hypothesis.Phase.generate,))
    found = hypothesis.find(made(), differ, settings=of_faults)
    assert differ(found)
    monkeypatch.undo()
    assert not differ(found)
