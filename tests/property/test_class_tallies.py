"""Class sizes that are kept up to date are those of counting again, after every step of repairing several requirements."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression import partition, repair
from privrelease.disclosure.suppression.arrays import packed_bytes, unpacked_bits
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.class_counting import crowd_of
from privrelease.disclosure.suppression.class_tallies import ClassTally
from privrelease.disclosure.suppression.evaluation import take_standing, tallied_standing
from privrelease.disclosure.suppression.partition import Parts, stable_order
from privrelease.disclosure.suppression.problem import Problem, Requirement
from tests.depth import depth

SEEN = ((0, 1, 2), (1, 2, 3), (0, 3))


@st.composite
def tables(draw):
    rows = draw(st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=60, unique=True))
    counts = draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    return ClassTable(tuple("abcd"), np.array(sorted(rows), np.int32), np.array(counts, np.int64))


def problem(table, need, residual="drop", several=2):
    limits = Thresholds(highest=Fraction(1, need))
    asked = tuple(Requirement(f"t{place}", columns, limits) for place, columns in enumerate(SEEN[:several]))
    return Problem(table, asked, (Fraction(1),) * 4, residual)


def same(parts, ours, theirs):
    for name in ("residual", "below", "stray"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), (name, len(parts))
    assert ours.holds == theirs.holds


@settings(max_examples=depth(25, 60), deadline=None)
@given(tables(), st.integers(2, 5), st.sampled_from(["drop", "keep"]), st.integers(2, 3))
def test_counts_are_those_of_a_recount_after_every_step_and_all_requirements_hold(table, need, residual, several):
    asked = problem(table, need, residual, several)
    measure, told = repair.PartRepair.measure, []

    def compared(self, number):
        standing, requirement = measure(self, number), asked.requirements[number]
        same(self.parts, standing, take_standing(self.parts, requirement, crowd_of(self.parts, requirement), residual))
        for other, tally in self.parts.tallies.items():
            if not tally.stale:
                whole = take_standing(
                    self.parts, asked.requirements[other], crowd_of(self.parts, asked.requirements[other]), residual
                )
                same(self.parts, tallied_standing(self.parts, tally, asked.requirements[other].thresholds, residual), whole)
                told.append(other)
        return standing

    # every search but the first looks at failing classes alone, and few parts are replaced one class at a time
    with (
        patch.object(repair, "_MOST_SEARCHED", 0),
        patch.object(partition, "_FEW", 1),
        patch.object(repair.PartRepair, "measure", compared),
    ):
        found = suppress_cells(asked)
    assert told
    parts = Parts(table, found.class_index.astype(np.int64), found.records, found.suppressed, found.dropped)
    for requirement in asked.requirements:
        assert take_standing(parts, requirement, crowd_of(parts, requirement), residual).holds
    totals = np.zeros(table.n_classes, np.int64)
    np.add.at(totals, found.class_index, found.records)
    assert totals.tolist() == table.counts.tolist()


@settings(max_examples=depth(25, 60), deadline=None)
@given(tables(), st.data())
def test_replacing_a_few_parts_gives_what_replacing_among_all_gives(table, data):
    def cut(parts, rng):
        """Cut some members into pieces that lose some cells; draws depend on the numbers of parts alone."""
        members = np.flatnonzero(rng.random(len(parts)) < 0.2)
        pieces = [
            (member, n) for member in members for n in ([1, parts.records[member] - 1] if parts.records[member] > 1 else [1])
        ]
        origin, records = (np.array([one[side] for one in pieces], np.int64) for side in (0, 1))
        return members, origin, records, rng.random((len(pieces), 4)) < 0.4

    seed, sides = data.draw(st.integers(0, 2**32)), []
    # few parts one class at a time, joined by one number each; all parts, joined by all that identifies them
    for few, narrow in ((1, 16), (10**9, 0)):
        parts, rng = Parts.untouched(table), np.random.default_rng(seed)
        parts.set(parts.class_index, parts.records, parts.suppressed, parts.dropped)
        with patch.object(partition, "_FEW", few), patch.object(partition, "_NARROW", narrow):
            for _ in range(4):
                parts.tally(0, (0, 2))
                parts.replace(*cut(parts, rng))
                parts.drop(rng.random(len(parts)) < 0.1)
                followed, again = parts.tally(0, (0, 2)), ClassTally(table, (0, 2))
                again.recount(parts.class_index, parts.records, parts.suppressed, parts.dropped)
                assert followed.sizes().tolist() == again.sizes().tolist()
        sides.append([one.tolist() for one in (parts.class_index, parts.records, parts.suppressed, parts.dropped)])
    assert sides[0] == sides[1]


@pytest.mark.parametrize("few", [1, 10**9])
def test_parts_of_a_class_that_are_dropped_one_after_the_other_are_joined_when_others_are_replaced(few):
    table = ClassTable(("a", "b"), np.array([[1, 1], [2, 1], [2, 2]], np.int32), np.array([5, 1, 1], np.int64))
    loses_a = np.array([[True, False], [True, False], [False, False], [False, False]])
    parts = Parts.untouched(table)
    parts.set(np.array([0, 0, 1, 2]), np.array([2, 3, 1, 1]), loses_a, np.array([True, False, False, False]))
    assert parts.records.tolist() == [3, 2, 1, 1]  # what is not dropped goes first
    parts.drop(np.array([True, False, False, False]))
    with patch.object(partition, "_FEW", few):
        parts.replace(np.array([3]), np.array([3]), np.array([1]), np.array([[False, True]]))
    assert parts.records.tolist() == [5, 1, 1]
    assert parts.dropped.tolist() == [True, False, False]


@settings(max_examples=depth(25, 60), deadline=None)
@given(st.integers(0, 9), st.integers(1, 20), st.integers(0, 2**32))
def test_bits_packed_as_one_line_are_those_packed_row_by_row(rows, q, seed):
    masks = np.random.default_rng(seed).random((rows, q)) < 0.5
    packed = packed_bytes(masks)
    assert packed.tolist() == np.packbits(masks, axis=1).tolist()
    assert unpacked_bits(packed, q).tolist() == masks.tolist()


@settings(max_examples=depth(25, 60), deadline=None)
@given(st.lists(st.integers(0, 3), max_size=60), st.sampled_from([0, 2**31 - 4, 2**31]))
def test_a_stable_order_keeps_places_of_equal_numbers(numbers, above):
    values = np.array(numbers, np.int64) + above
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.parametrize("several", [2, 3])
def test_narrow_searches_cost_about_what_whole_ones_do(several):
    rng = np.random.default_rng(several)
    rows, counts = np.unique(rng.integers(1, 5, (1500, 4)) ** 2, axis=0, return_counts=True)
    asked = problem(ClassTable(tuple("abcd"), rows.astype(np.int32), counts), 5, several=several)
    whole = int(suppress_cells(asked).lost_cells.sum())
    with patch.object(repair, "_MOST_SEARCHED", 2 * len(rows)), patch.object(partition, "_FEW", 1):
        narrow = int(suppress_cells(asked).lost_cells.sum())
    assert narrow <= 1.05 * whole
