"""Groups of records that lose fewer cells under several threats at once: hand-worked tables, and random ones under a recount."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.disclosure.suppression import kernels
from privrelease.disclosure.suppression.cell_costs import CellCosts
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.joint_moves import regroup_jointly
from privrelease.disclosure.suppression.partition import Parts
from privrelease.disclosure.suppression.plain import regrouping
from privrelease.disclosure.suppression.problem import Problem, Requirement
from privrelease.disclosure.suppression.repair import PartRepair
from privrelease.disclosure.suppression.target import Target
from privrelease.loops import compiled
from tests.property.cell_suppression import PREFERENCES, faults

LOOPS = {"compiled": compiled.regroup_cells, "plain": regrouping.regroup_cells}


@pytest.fixture(params=sorted(LOOPS))
def loop(request, monkeypatch):
    monkeypatch.setattr(kernels, "regroup_cells", LOOPS[request.param])


def known(k, *columns):
    return tuple(Requirement(f"t{place}", own, Thresholds(highest=Fraction(1, k))) for place, own in enumerate(columns))


def parts_of(rows, records, lost):
    table = ClassTable(tuple("abcdef"[: len(rows[0])]), np.array(rows, np.int32), np.array(records))
    suppressed = np.array([[name in cells for name in table.columns] for cells in lost])
    return Parts(table, np.arange(len(rows)), np.array(records), suppressed, np.zeros(len(rows), np.bool_))


def regrouped(parts, requirements, targets=None):
    """Return whether parts changed, and what they lose then: class, records, columns."""
    aims = targets or [Target.of(one.thresholds) for one in requirements]
    changed = regroup_jointly(parts, requirements, aims, CellCosts((1,) * len(parts.table.columns)), drops=True)
    names = ["".join(np.array(parts.table.columns)[lost]) for lost in parts.suppressed]
    return changed, list(zip(parts.class_index.tolist(), parts.records.tolist(), names, strict=True))


@pytest.mark.usefixtures("loop")
def test_a_group_opens_a_class_of_both_threats_at_once():
    """Two records that agree hide `b` of (a, b) and of (b, c), k = 2. With `b` they are a class of two in both; no class is open to join."""
    parts = parts_of([(1, 1, 1)], [2], ["b"])
    assert regrouped(parts, known(2, (0, 1), (1, 2))) == (True, [(0, 2, "")])


@pytest.mark.usefixtures("loop")
def test_a_donor_completes_a_group_where_it_costs_less_than_is_gained():
    """Threats (a, b, c) and (c, d), k = 3. Two records (1, 1, 1) and three (2, 2, 1) hide a and b: ten cells. With one of the four (1, 2, 1),
    which then hides b, the two are a class (1, *, 1) and hide b only. Three are left in both classes that lose records, and the three
    (2, 2, 1) are alone now and show all: three cells.
    """
    parts = parts_of([(1, 1, 1, 1), (1, 2, 1, 1), (2, 2, 1, 1)], [2, 4, 3], ["ab", "", "ab"])
    assert regrouped(parts, known(3, (0, 1, 2), (2, 3))) == (True, [(0, 2, "b"), (1, 3, ""), (1, 1, "b"), (2, 3, "")])


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("records", [(2, 4, 2), (2, 3, 3)])
def test_a_class_that_would_become_too_small_is_not_left(records):
    """As above, with two records fewer where the two come from, or one fewer where the donor does."""
    rows, lost = [(1, 1, 1, 1), (1, 2, 1, 1), (2, 2, 1, 1)], ["ab", "", "ab"]
    expected = [(0, records[0], "ab"), (1, records[1], ""), (2, records[2], "ab")]
    assert regrouped(parts_of(rows, records, lost), known(3, (0, 1, 2), (2, 3))) == (False, expected)


@pytest.mark.usefixtures("loop")
def test_no_class_opens_where_a_threat_limits_more_than_the_highest_risk():
    """A further class could raise the average: the group of the first test stays as it is where one of the threats limits that."""
    requirements = known(2, (0, 1), (1, 2))
    limited = Target(need=2, average=Fraction(1, 2))
    parts = parts_of([(1, 1, 1)], [2], ["b"])
    assert regrouped(parts, requirements, [Target(need=2), limited]) == (False, [(0, 2, "b")])


def overlapping(seed, q, n, values, k, prefer="cells", limits=None):
    dice = np.random.default_rng(seed)
    codes, counts = np.unique(dice.integers(0, values, (n, q)), axis=0, return_counts=True)
    table = ClassTable(tuple("abcdef"[:q]), np.ascontiguousarray(codes, np.int32), counts)
    requirements = known(k, tuple(range(q - 1)), tuple(range(1, q)))
    if limits is not None:
        requirements = (requirements[0], Requirement("limited", requirements[1].columns, limits))
    return Problem(table, requirements, (Fraction(1),) * q, prefer=prefer)


def cells(solution):
    return int(solution.lost_cells.sum())


SHAPES = (st.integers(0, 2**32), st.integers(3, 6), st.integers(10, 400), st.integers(2, 6), st.integers(2, 6))
LIMITS = st.sampled_from(
    [
        None,
        Thresholds(highest=Fraction(1, 2), average=Fraction(1, 4)),
        Thresholds(highest=Fraction(1, 2), at_risk=RecordsAtRisk(Fraction(1, 4), Fraction(1, 20))),
    ]
)


@settings(max_examples=80, deadline=None)
@given(*SHAPES, LIMITS)
def test_regrouping_never_loses_more_cells_and_every_limit_holds(seed, q, n, values, k, limits):
    problem = overlapping(seed, q, n, values, k, limits=limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PartRepair, "regroup", lambda repair: False)
        before = suppress_cells(problem)
    after = suppress_cells(problem)
    assert faults(problem, after) == []
    assert cells(after) <= cells(before)


def recounted(key, hidden, records, parts, joint):
    """Count classes from the parts alone."""
    found = [{} for _ in joint.fields]
    for own, mask, many in zip(key[:parts].tolist(), hidden[:parts].tolist(), records[:parts].tolist(), strict=True):
        for which, field in enumerate(joint.fields.tolist()):
            shown = own & field
            for column, bits in enumerate(joint.field.tolist()):
                shown &= ~bits if mask >> column & 1 else ~0
            found[which][shown] = found[which].get(shown, 0) + many
    return found


def watched(loop, problems):
    """Return a loop that notes where its counts are not those of the parts, or a class is too small, or the gain is not what was gained."""

    def cost(hidden, records, origin, parts, joint):
        spread = (hidden[:parts, None] >> np.arange(len(joint.field)) & 1) * joint.cell_cost[
            origin[:parts] if len(joint.cell_cost) > 1 else 0
        ]
        return int((spread.sum(axis=1) * records[:parts]).sum())

    def checked(key, hidden, records, origin, dear, parts, line, reach, view, tally, joint):
        before, gained = cost(hidden, records, origin, parts, joint), int(tally[-1])
        used = loop(key, hidden, records, origin, dear, parts, line, reach, view, tally, joint)
        if before - cost(hidden, records, origin, used, joint) != int(tally[-1]) - gained:
            problems.append("gain")
        for which, sizes in enumerate(recounted(key, hidden, records, used, joint)):
            kept = dict(zip(joint.table[which].tolist(), joint.totals[which].tolist(), strict=True))
            shown = {own: many for own, many in sizes.items() if own}
            if {own: many for own, many in kept.items() if own and many} != shown or joint.residual[which] != sizes.get(0, 0):
                problems.append("counts")
            if min(shown.values(), default=1 << 40) < joint.need[which]:
                problems.append("size")
        return used

    return checked


@pytest.mark.parametrize("name", sorted(LOOPS))
def test_counts_that_are_kept_are_those_of_the_parts(name):
    @settings(max_examples=40, deadline=None)
    @given(*SHAPES, PREFERENCES)
    def check(seed, q, n, values, k, prefer):
        found = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernels, "regroup_cells", watched(LOOPS[name], found))
            suppress_cells(overlapping(seed, q, n, values, k, prefer))
        assert found == []

    check()


def test_records_that_may_not_leave_are_noticed_and_nothing_of_it_is_released():
    """A planted fault: every record may leave its class. The watch sees it, and the solution is the one before."""
    problem, found = overlapping(1, 5, 300, 4, 5), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PartRepair, "regroup", lambda repair: False)
        before = suppress_cells(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regrouping, "movable", lambda before, after, count, requirements: count)
        patch.setattr(kernels, "regroup_cells", watched(regrouping.regroup_cells, found))
        after = suppress_cells(problem)
    assert "size" in found
    assert faults(problem, after) == []
    assert cells(after) == cells(before)
