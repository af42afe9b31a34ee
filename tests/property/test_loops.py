"""Compiled loops and plain loops find the same, to the last bit, over random tables."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.attacks.nearest import nearest_in_loops, nearest_of_all
from privrelease.disclosure.classes import plain_join
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.tries import build_trie
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.disclosure.suppression import kernels
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.plain import closing, completion, grouping, joint, regrouping
from privrelease.disclosure.suppression.problem import Problem, Requirement
from privrelease.disclosure.suppression.record_state import RecordState
from privrelease.loops import compiled
from tests.depth import depth
from tests.property.cell_suppression import PREFERENCES

PLAIN = {name: getattr(room, name) for room in (closing, completion, grouping, joint, regrouping) for name in room.__all__}
LIMITS = (
    lambda k: Thresholds(highest=Fraction(1, k)),
    lambda k: Thresholds(highest=Fraction(1, 2), average=Fraction(1, k + 1)),
    lambda k: Thresholds(highest=Fraction(1, 2), at_risk=RecordsAtRisk(Fraction(1, k + 1), Fraction(1, 20))),
)


def test_every_compiled_loop_of_the_search_has_a_plain_form():
    assert set(kernels.__all__) == set(PLAIN)


def solved(problem, loops):
    with pytest.MonkeyPatch.context() as patch:
        for name in PLAIN:
            patch.setattr(kernels, name, loops(name))
        found = suppress_cells(problem)
    return [value.tolist() for value in (found.class_index, found.records, found.suppressed, found.dropped, found.lost_cells)]


@st.composite
def problems(draw):
    q, n = draw(st.integers(2, 6)), draw(st.integers(5, 300))
    values, k = draw(st.integers(2, 7)), draw(st.integers(2, 6))
    rows = np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, values, (n, q))
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    table = ClassTable(tuple(f"c{column}" for column in range(q)), np.ascontiguousarray(codes, np.int32), counts)
    limits = draw(st.sampled_from(LIMITS))(k)
    known = [Requirement("all", tuple(range(q)), limits)]
    if draw(st.booleans()):
        known = [Requirement("first", tuple(range(q - 1)), limits), Requirement("last", tuple(range(1, q)), LIMITS[0](k))]
    weights = tuple(Fraction(draw(st.integers(1, 3))) for _ in range(q))
    return Problem(table, tuple(known), weights, prefer=draw(PREFERENCES))


@settings(max_examples=depth(25, 60), deadline=None)
@given(problems())
def test_the_search_finds_the_same_cells_with_either(problem):
    assert solved(problem, lambda name: getattr(compiled, name)) == solved(problem, PLAIN.__getitem__)


@settings(max_examples=depth(10, 25), deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 5), st.integers(4, 40), st.integers(2, 5), st.sampled_from(LIMITS), PREFERENCES)
def test_nothing_that_could_pay_is_passed_over(seed, q, values, k, limits, prefer):
    """The plain loops try every set against every part; the compiled ones pass over rows whose class cannot be large enough, most rows here."""
    rows = np.random.default_rng(seed).integers(0, values, (400, q))
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    table = ClassTable(tuple(f"c{column}" for column in range(q)), np.ascontiguousarray(codes, np.int32), counts)
    problem = Problem(table, (Requirement("all", tuple(range(q)), limits(k)),), (Fraction(1),) * q, prefer=prefer)
    pruned = solved(problem, lambda name: getattr(compiled, name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordState, "_can_complete", lambda state: True)
        assert pruned == solved(problem, PLAIN.__getitem__)


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_a_search_for_donors_ends_where_it_does_with_all_groups(seed):
    """It ends at what any group could bear, also one that is passed over: on these tables that decides."""
    rows = np.random.default_rng(seed).integers(0, 5, (120, 6))
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    table = ClassTable(tuple("abcdef"), np.ascontiguousarray(codes, np.int32), counts)
    known = (Requirement("first", (0, 1, 2, 3, 4), LIMITS[0](5)), Requirement("last", (1, 2, 3, 4, 5), LIMITS[0](5)))
    problem = Problem(table, known, tuple(Fraction(weight) for weight in (1, 2, 3, 1, 2, 3)))
    assert solved(problem, lambda name: getattr(compiled, name)) == solved(problem, PLAIN.__getitem__)


@pytest.mark.parametrize("k", [255, 256, 700])
def test_class_sizes_beyond_what_a_byte_counts(k):
    drawn = np.random.default_rng(5)
    codes, counts = np.unique(drawn.integers(0, 9, (300, 4)), axis=0, return_counts=True)
    table = ClassTable(tuple("abcd"), np.ascontiguousarray(codes, np.int32), counts * drawn.integers(1, 200, len(counts)))
    problem = Problem(table, (Requirement("all", (0, 1, 2, 3), LIMITS[0](k)),), (Fraction(1),) * 4)
    assert solved(problem, lambda name: getattr(compiled, name)) == solved(problem, PLAIN.__getitem__)


@pytest.mark.parametrize("prefer", ["cells", "balanced"])
def test_keys_of_two_words_fold_to_the_same_values(prefer):
    rows = np.tile(np.random.default_rng(3).integers(0, 6, (90, 3)), (1, 8))
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    table = ClassTable(tuple(f"c{column}" for column in range(24)), np.ascontiguousarray(codes, np.int32), counts)
    problem = Problem(table, (Requirement("all", tuple(range(24)), LIMITS[0](3)),), (Fraction(1),) * 24, prefer=prefer)
    assert solved(problem, lambda name: getattr(compiled, name)) == solved(problem, PLAIN.__getitem__)


@settings(max_examples=depth(12, 30), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 120), st.integers(1, 5), st.booleans())
def test_the_join_sums_the_same_to_the_last_bit(seed, q, n, values, floats):
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, values + 1, (n, q)).astype(np.int32)
    if seed % 2:
        codes[:, -1] *= 1000  # few of many labels take the other sort
    trie = build_trie(codes)
    nodes = np.unique(trie.leaf).astype(np.int32)
    weights = generator.random(len(nodes)) if floats else generator.integers(0, 9, len(nodes))
    totals = []
    for join in (compiled.join_tries, plain_join.join_tries):
        total = np.zeros(len(nodes), weights.dtype)
        join(trie.depth, nodes, nodes, weights, trie.offset, trie.parent, trie.label, total)
        totals.append(total.tobytes())
    assert totals[0] == totals[1]


@settings(max_examples=depth(25, 60), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 60), st.integers(1, 90), st.integers(1, 6))
def test_the_nearest_records_are_the_same_with_either(seed, columns, targets, records, most):
    """Costs are few and small, so that many records are equally near."""
    random = np.random.default_rng(seed)
    costs = [random.integers(0, most, (targets, random.integers(1, 9))) for _ in range(columns)]
    codes = [random.integers(0, cost.shape[1], records, dtype=np.int32) for cost in costs]
    one, other = (found(costs, codes) for found in (partial(nearest_in_loops, compiled), nearest_of_all))
    assert [values.tolist() for values in one] == [values.tolist() for values in other]
