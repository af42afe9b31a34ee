"""Secondary suppression against every table of whole numbers: no unsafe count is known, no unsafe group of suppressed cells is either."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure, known_of
from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.rules import CellRules, Magnitude
from privrelease.disclosure.tables.secondary import suppressed_cells
from tests.depth import depth

MIN_COUNT = 4
SLACK = 4


def box(inner):
    for side in range(inner.ndim):
        inner = np.concatenate([inner, inner.sum(axis=side, keepdims=True)], axis=side)
    return inner.reshape(-1)


def every_table(shape, most):
    size = int(np.prod(shape))
    inner = np.indices((most + 1,) * size).reshape(size, -1).T.reshape(-1, *shape)
    for side in range(1, len(shape) + 1):
        inner = np.concatenate([inner, inner.sum(axis=side, keepdims=True)], axis=side)
    return inner.reshape(len(inner), -1)


def counts(shape, most):
    size = int(np.prod(shape))
    return st.lists(st.integers(0, most), min_size=size, max_size=size).map(lambda cells: np.array(cells).reshape(shape))


@pytest.mark.parametrize(("shape", "most"), [((3,), 12), ((2, 2), 8)])
def test_every_unsafe_count_stays_undetermined(shape, most) -> None:
    tables = every_table(shape, most + SLACK)

    @settings(max_examples=depth(14, 40), deadline=None)
    @given(counts(shape, most))
    def judged(inner) -> None:
        values = box(inner)
        table = ProtectedTable(Layout(shape, margins=True), CellRules(MIN_COUNT), values, values)
        suppressed = suppressed_cells(table)
        few = (values > 0) & (values < MIN_COUNT)
        assert (few <= suppressed).all()
        weak = list(weaknesses(table, suppressed))
        if weak:  # everything with somebody in it is hidden, and the rules alone give it away
            assert (suppressed == (values > 0)).all()
            return
        known = known_of(table, -1, suppressed)
        fit = tables[((tables >= known.low) & (tables <= known.high)).all(axis=1)]
        for cell in np.flatnonzero(few):
            assert len(np.unique(fit[:, cell])) > 1
        determined = (fit.min(axis=0) == fit.max(axis=0)) | ~suppressed
        for relation in table.layout.relations:
            hidden = [part for part in relation.parts if not determined[part]]
            if determined[relation.total] and hidden:
                assert values[hidden].sum() >= MIN_COUNT

    judged()


@settings(max_examples=depth(14, 40), deadline=None)
@given(st.lists(st.lists(st.integers(0, 30), max_size=6), min_size=3, max_size=3))
def test_every_unsafe_sum_stays_uncertain_by_its_protection_level(cells) -> None:
    rules = CellRules(3, dominance=(1, Fraction(8, 10)), p_percent=Fraction(1, 10))
    everyone = [one for cell in cells for one in cell]
    groups = [*cells, everyone]
    contributors = np.array([len(group) for group in groups])
    values = np.array([sum(group) for group in groups])
    largest = np.array([[*sorted(group, reverse=True), 0, 0][:2] for group in groups])
    table = ProtectedTable(
        Layout((3,), margins=True), rules, contributors, contributors, (SumFigure(Magnitude(values, largest), 0, 30),)
    )
    suppressed = suppressed_cells(table)
    unsafe = np.logical_or.reduce(list(table.primaries().values()))
    assert (unsafe <= suppressed).all()
    if not list(weaknesses(table, suppressed)):
        assert not (suppressed.sum() == 1 and not suppressed[-1])  # one cell under a printed total is given back
        hidden = [cell for cell in range(3) if suppressed[cell]]
        if hidden and not suppressed[-1]:
            assert contributors[hidden].sum() >= 3


@settings(max_examples=depth(5, 15), deadline=None)
@given(counts((2, 3), 9))
def test_suppressing_more_never_narrows_an_interval(inner) -> None:
    from privrelease.disclosure.tables.attacker import Polytope

    values = box(inner)
    table = ProtectedTable(Layout((2, 3), margins=True), CellRules(MIN_COUNT), values, values)
    few = (values > 0) & (values < MIN_COUNT)
    suppressed = suppressed_cells(table)
    more = suppressed | (values > 0)
    for cell in np.flatnonzero(few):
        intervals = [
            Polytope(table.layout.relations, known_of(table, -1, hidden)).interval((int(cell),))
            for hidden in (few, suppressed, more)
        ]
        lows, highs = zip(*intervals, strict=True)
        assert list(lows) == sorted(lows, reverse=True)
        assert list(highs) == sorted(highs)
