"""What rows and two tables give back together, against an attacker who tries every population that fits all that was published.

The attacker is written apart from the audit: he puts each person, released or left out, into every combination of keys that their row allows, adds
up what the tables would print, and keeps the populations that give what they do print. Nothing is shared with the audit but the figures of the files.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from operator import itemgetter
from random import Random
from types import SimpleNamespace

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.comparison.earlier import joint_axes, joint_boxes
from privrelease.audit.comparison.earlier.rows_and_table import RowsOut, TableShown, cells_by_rows
from privrelease.audit.comparison.earlier.rows_and_tables import cells_together
from privrelease.engine.protocol.base import EngineSettings, ReleasedFile, Staged
from privrelease.engine.protocol.release_pairs import ColumnMap
from privrelease.relational.filters import parse_filter
from privrelease.relational.schema import Column, ColumnType, Role
from tests.contract.engine.plain import PlainEngine, Table
from tests.depth import depth

KEYS = {"a": ("p", "q"), "b": ("r", "s"), "c": ("t", "u")}
NAMES = ("a", "b", "c", "f")
TYPES = dict.fromkeys(NAMES, ColumnType.CATEGORY)
#: A key that no table lists.
OTHER = "z"
FILTERS = {None: lambda _: True, "f = 'yes'": lambda one: one[3] == "yes", "b = 's'": lambda one: one[1] == "s"}
OURS = sys.modules[__name__]
PAIRS = (("a",), ("b",), ("c",), ("a", "b"), ("b", "c"), ("a", "c"))


@st.composite
def published(draw):
    """Persons, the rows that are out, and tables."""
    some = draw(st.booleans())
    listed = {name: (*keys, *((OTHER, None) if some and name == "b" else ())) for name, keys in KEYS.items()}
    size = draw(st.integers(3, 6))
    follows = draw(st.sampled_from((None, "a", "f")))
    persons = []
    for _ in range(size):
        one = {name: draw(st.sampled_from(keys)) for name, keys in listed.items()} | {"f": draw(st.sampled_from(("yes", "no")))}
        if follows == "a":
            one["a"] = "p" if one["c"] == "t" else "q"
        if follows == "f":
            one["f"] = "yes" if one["c"] == "t" else "no"
        persons.append(tuple(one[name] for name in NAMES))
    shown = tuple(name for name in NAMES if draw(st.integers(0, 2)) == 0)
    lossy = frozenset(name for name in shown if draw(st.integers(0, 3)) == 0)
    left_out = draw(st.integers(0, 5)) == 0
    seen = [
        tuple(
            None if name not in shown or (name in lossy and draw(st.booleans())) else value
            for name, value in zip(NAMES, one, strict=True)
        )
        for one in persons[left_out:]
    ]
    tables = []
    for _ in range(draw(st.integers(2, 3))):
        by = draw(st.sampled_from(PAIRS))
        where = draw(st.sampled_from((None, None, *FILTERS)[: 5 - ("b" in by)]))
        cells = [{}] if draw(st.booleans()) else []
        cells = [*(dict(zip(by, keys, strict=True)) for keys in product(*(KEYS[name] for name in by))), *cells]
        round_up = draw(st.sampled_from((1, 1, 1, 3)))
        wide = draw(st.sampled_from((1, 1, 2)))
        granted = draw(st.booleans())
        hidden = [draw(st.integers(0, 9)) < (5 if len(one) == len(by) else 2) for one in cells]
        tables.append(
            SimpleNamespace(by=by, where=where, cells=cells, round_up=round_up, wide=wide, granted=granted, hidden=hidden)
        )
    return SimpleNamespace(
        persons=persons, shown=shown, lossy=lossy, left_out=int(left_out), seen=seen, tables=tables, known=draw(st.booleans())
    )


# the attacker


def is_in(cell, table, one):
    listed = all(one[NAMES.index(name)] in ((cell[name],) if name in cell else KEYS[name]) for name in table.by)
    return listed and FILTERS[table.where](one)


def counts(one, person):
    return tuple(int(is_in(cell, table, person)) for table in one.tables for cell in table.cells)


def determined(one):
    """Pairs of columns or filters of the tables of which the first determines the second, and what occurs."""
    sides = {name: itemgetter(NAMES.index(name)) for table in one.tables for name in table.by}
    filters = {text: FILTERS[text] for text in {table.where for table in one.tables} if text}
    found = []
    for first, second in [*((a, b) for a in sides for b in (*sides, *filters) if a != b)]:
        goes = {**sides, **filters}[second]
        pairs = {(sides[first](person), goes(person)) for person in one.persons}
        pairs = {(key, on if on in {True, False} or on in KEYS.get(second, ()) else OTHER) for key, on in pairs}
        mine = [pair for pair in pairs if pair[0] in KEYS[first]]
        if len({key for key, _ in mine}) == len(mine) and len({on for _, on in mine}) > 1:
            found.append((sides[first], goes, dict(mine), KEYS.get(second, (True, False))))
    together = list(combinations(filters.values(), 2))
    occurs = [(first, second, {(first(person), second(person)) for person in one.persons}) for first, second in together]
    return found, occurs


def possible(one):
    """The combinations of keys that persons can have; who knows the columns knows what goes with what."""
    columns = [(*KEYS[name], OTHER) for name in NAMES[:3]]
    if one.known:
        columns = [
            keys if any(person[i] not in keys[:-1] for person in one.persons) else keys[:-1] for i, keys in enumerate(columns)
        ]
        columns = [
            keys if any(NAMES[i] in table.by for table in one.tables) else (*KEYS[NAMES[i]], OTHER)
            for i, keys in enumerate(columns)
        ]
    every = list(product(*columns, ("yes", "no")))
    if not one.known:
        return every
    maps, occurs = determined(one)
    for first, second, goes, listed in maps:
        every = [
            person
            for person in every
            if first(person) not in goes or goes[first(person)] == (second(person) if second(person) in listed else OTHER)
        ]
    for first, second, pairs in occurs:
        every = [person for person in every if (first(person), second(person)) in pairs]
    return every


def by_attacker(one):
    """The figures of all populations that fit: for every suppressed cell its values."""
    every = possible(one)
    truth = tuple(map(sum, zip(*(counts(one, person) for person in one.persons), strict=True)))
    flat = [(table, cell, hidden) for table in one.tables for cell, hidden in zip(table.cells, table.hidden, strict=True)]
    bounds = [bounds_of(table, hidden=hidden, true=true) for (table, _, hidden), true in zip(flat, truth, strict=True)]
    ways = {(0,) * len(truth)}
    for row in [*one.seen, *([None] * one.left_out)]:
        exact = [
            place
            for place, name in enumerate(NAMES)
            if row is not None and name in one.shown and not (row[place] is None and name in one.lossy)
        ]
        mine = {
            counts(one, person)
            for person in every
            if all(person[place] == (OTHER if row[place] in {None, OTHER} else row[place]) for place in exact)
        }
        ways = {tuple(map(sum, zip(way, more, strict=True))) for way in ways for more in mine}
        ways = {way for way in ways if all(n <= high for n, (_, high) in zip(way, bounds, strict=True))}
    fits = [way for way in ways if all(low <= n for n, (low, _) in zip(way, bounds, strict=True))]
    assert truth in fits
    return [
        (i, tuple(sorted(cell.items())))
        for place, (table, cell, hidden) in enumerate(flat)
        for i, of in enumerate(one.tables)
        if of is table and hidden and max(way[place] for way in fits) - min(way[place] for way in fits) < table.wide
    ]


def bounds_of(table, *, hidden, true):
    if hidden:
        return ((0, 2) if true <= 2 else (3, 99)) if table.granted else (0, 99)
    up = -(-true // table.round_up) * table.round_up
    return (up - table.round_up + 1 if up else 0), up


# the audit


class WithoutMaps(PlainEngine):
    """The plain engine, of which no column of rows says anything of another: those maps have a test of their own."""

    def column_maps(self, of, asked):
        nothing = ColumnMap(9, 9, 9, forward=False, backward=False)
        return tuple(super(WithoutMaps, self).column_maps(of, [one])[0] if one.column == one.on else nothing for one in asked)


def held(engine, rows, names):
    cells = {name: [row[NAMES.index(name)] for row in rows] for name in names}
    return engine._named(Table(cells, {name: TYPES[name] for name in names}, len(rows)))


def name_of(cell):
    return frozenset(cell.items())


def shown(one, table):
    figures, granted = {}, {}
    for cell, hidden in zip(table.cells, table.hidden, strict=True):
        true = sum(is_in(cell, table, person) for person in one.persons)
        low, high = bounds_of(table, hidden=hidden, true=true)
        figures[name_of(cell)] = {"count": None if hidden else Fraction(high)}
        if hidden and table.granted:
            granted[name_of(cell)] = float(low), float(high)
    where = None if table.where is None else parse_filter(table.where, TYPES)
    wide = {name_of(cell): float(table.wide) for cell in table.cells}
    keys = tuple(KEYS[name] for name in table.by)
    return TableShown(table.by, keys, figures, where=where, round_up=table.round_up, granted=granted, widths=wide)


def rows_of(one, engine):
    columns = tuple(Column(name, TYPES[name], Role.QUASI) for name in NAMES)
    staged = Staged(held(engine, one.persons, NAMES), columns, len(one.persons))
    source = SimpleNamespace(sensitive=frozenset(), staged=lambda _: (staged,)) if one.known else None
    file = ReleasedFile(held(engine, one.seen, one.shown), tuple((name, TYPES[name]) for name in one.shown), len(one.seen))
    return RowsOut(file, frozenset(one.shown), one.lossy, one.left_out, source=source)


def by_audit(one):
    """The suppressed cells that are known, by each table alone or by those that are judged together; and these."""
    engine = WithoutMaps(EngineSettings())
    tables, rows = [shown(one, table) for table in one.tables], rows_of(one, engine)
    found = set()
    for i, table in enumerate(tables):
        alone = cells_by_rows(table, rows, engine)
        assert alone.agree
        found |= {(i, cell) for cell, figures in alone.known.items() if figures and table.hides(cell)}
    together = []
    for joint in cells_together(tables, rows, engine):
        assert joint.agree
        together.append(joint.tables)
        for i, learnt in zip(joint.tables, joint.learnt, strict=True):
            found |= {(i, cell) for cell, figures in learnt.known.items() if figures and tables[i].hides(cell)}
    return {(i, tuple(sorted(cell))) for i, cell in found}, together


def differ(one):
    found, together = by_audit(one)
    if not one.known:
        return found != set(by_attacker(one))
    # what columns of the rows, or of other tables, say of the columns of a table is a matter of its own audit
    expected = set()
    for group in together:
        of = SimpleNamespace(**vars(one) | {"tables": [one.tables[i] for i in group]})
        expected |= {(group[place], cell) for place, cell in by_attacker(of)}
    return {(i, cell) for i, cell in found if any(i in group for group in together)} != expected


@given(published())
@settings(max_examples=depth(100, 300), deadline=None)
def test_a_cell_is_known_exactly_where_every_population_gives_it(one):
    assert not differ(one)


def all_certain(self):
    return frozenset(range(len(self.columns) + len(self.filters)))


def none_left_out(tables, rows, engine, original=cells_together):
    return original(tables, replace(rows, left_out=0), engine)


FAULTS = {
    "each table alone": lambda patch: patch.setattr(OURS, "cells_together", lambda *_: ()),
    "boxes that need not agree": lambda patch: patch.setattr(joint_boxes.JointBoxes, "common", lambda _: iter(())),
    "a filter that its column does not decide": lambda patch: patch.setattr(
        joint_boxes.JointBoxes, "_may_hold", lambda _, __, grid: next(iter(grid.values())) >= 0
    ),
    "no dependency": lambda patch: patch.setattr(joint_axes.JointAxes, "_absent", lambda _: iter(())),
    "suppressed cells taken as known": lambda patch: patch.setattr(joint_axes.JointAxes, "_certain", all_certain),
    "rows that were left out forgotten": lambda patch: patch.setattr(OURS, "cells_together", none_left_out),
}


#: Where a search begins, if not where Hypothesis would: from any of eight starts this fault took 6 to 244 examples, from there more.
STARTS = {"a filter that its column does not decide": 8}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_system_that_is_not_that_of_the_files_is_found(monkeypatch, fault):
    def found_out(one):
        try:
            return differ(one)
        except AssertionError:  # what is true does not fit
            return True

    FAULTS[fault](monkeypatch)
    of_faults = settings(max_examples=2000, deadline=None, database=None, derandomize=True, phases=(hypothesis.Phase.generate,))
    start = STARTS.get(fault)
    found = hypothesis.find(published(), found_out, settings=of_faults, random=None if start is None else Random(start))
    assert found_out(found)
    monkeypatch.undo()
    assert not found_out(found)
