"""Cell suppression: the cells to take away so that every requirement holds on what remains.

Requirements are settled one after the other and again, until all hold at once on the same state: suppressing for one may break
another, and only the final state counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.suppression.cell_costs import cell_costs
from privrelease.disclosure.suppression.partition import factorise, first_members
from privrelease.disclosure.suppression.problem import Solution
from privrelease.disclosure.suppression.repair import PartRepair, PersonRepair, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.cell_costs import CellCosts
    from privrelease.disclosure.suppression.partition import Parts
    from privrelease.disclosure.suppression.problem import Problem
    from privrelease.disclosure.suppression.repair import Repair

__all__ = ["suppress_cells"]


def suppress_cells(problem: Problem, *, progress: Callable[[str, float], None] | None = None) -> Solution:
    """Return the parts of ``problem``'s classes with the cells each loses, so that every requirement holds exactly.

    ``progress`` is called with the name of a step and the share done. Deterministic: the same problem gives the same solution.
    The solution is always feasible: with every cell of a requirement suppressed, its records are residual and out of its
    statistics.

    >>> from fractions import Fraction
    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> from privrelease.disclosure.suppression.problem import Problem, Requirement
    >>> from privrelease.disclosure.risk.thresholds import Thresholds
    >>> table = ClassTable(("sex", "zone"), np.array([[1, 1], [1, 2], [2, 1]], np.int32), np.array([1, 1, 3]))
    >>> known = Requirement("neighbour", (0, 1), Thresholds(highest=Fraction(1, 2)))
    >>> solution = suppress_cells(Problem(table, (known,), (Fraction(1), Fraction(1))))
    >>> solution.suppressed.astype(int).tolist(), solution.lost_cells.tolist()
    ([[0, 1], [0, 1], [0, 0]], [0, 2])
    """
    report = progress or (lambda _step, _share: None)
    report("suppress", 0.0)
    costs = cell_costs(problem.classes, problem.weights, problem.prefer)
    best = _repair(problem, costs)
    _settle_all(problem, best, lambda share: report("suppress", share / 2))
    if best.narrowed:
        # Which requirement goes first matters where not all is searched again: the other order is tried too.
        turned = _repair(problem, costs)
        _settle_all(problem, turned, lambda share: report("suppress", 0.25 + share / 4), turned=True)
        best = min(best, turned, key=lambda candidate: _cost(candidate.parts, costs))
    if len(problem.requirements) > 1:
        other = _repair(problem, costs)
        if other.protect_union():
            _settle_all(problem, other, lambda share: report("suppress", 0.5 + share / 2), searched=True)
            best = min(best, other, key=lambda candidate: _cost(candidate.parts, costs))
    parts = _regrouped(problem, best, costs)
    report("suppress", 1.0)
    return _by_person(parts) if problem.pair_rows is not None and problem.linkable else _solution(parts)


def _repair(problem: Problem, costs: CellCosts) -> Repair:
    return PersonRepair(problem, costs) if problem.linkable else PartRepair(problem, costs)


def _settle_all(
    problem: Problem, repair: Repair, report: Callable[[float], None], *, searched: bool = False, turned: bool = False
) -> None:
    """Settle the requirements in turn until all hold on the same parts; ``searched``: a search for all of them went ahead; ``turned``: the last
    requirement goes first.
    """
    held, visited, count = 0, 0, len(problem.requirements)
    refined = False
    while held < count:
        number = count - 1 - visited % count if turned else visited % count
        held = held + 1 if settle(repair, number, first=visited < count and not searched) else 1
        visited += 1
        report(min(visited / (3 * count), 0.99))
        if held == count and not refined and repair.refine():
            refined, held = True, 0
    _take_back(problem, repair)


def _regrouped(problem: Problem, repair: Repair, costs: CellCosts) -> Parts:
    """Return the parts after groups of records lose fewer cells; as they were where a requirement does not hold then, or nothing is gained."""
    before = repair.parts.copy()
    if not repair.regroup():
        return before
    held = all(repair.measure(number).holds for number in range(len(problem.requirements)))
    return repair.parts if held and _cost(repair.parts, costs) < _cost(before, costs) else before


def _take_back(problem: Problem, repair: Repair) -> None:
    """Put dropped records back with nothing shown, where all of them together are as many as every requirement asks of such a group.

    Rounds for several requirements can each drop a few records, which together need not be dropped. A residual group only grows with what
    comes back, so where all records together are too few, any number of them is. What stays dropped is then fewer records than some
    requirement's class size, and that requirement has no residual group.
    """
    parts = repair.parts
    dropped = np.flatnonzero(parts.dropped)
    if not len(dropped):
        return
    suppressed, gone = parts.suppressed.copy(), parts.dropped.copy()
    where = np.zeros(suppressed.shape, np.bool_)
    columns = sorted({column for requirement in problem.requirements for column in requirement.columns})
    where[np.ix_(dropped, np.array(columns, np.int64))] = True
    parts.restore(parts.suppressed | (where & (parts.table.codes[parts.class_index] > 0)), np.zeros(len(parts), np.bool_))
    if not all(repair.measure(number).holds for number in range(len(problem.requirements))):
        parts.restore(suppressed, gone)
    elif problem.pair_rows is None:
        parts.set(parts.class_index, parts.records, parts.suppressed, parts.dropped)


def _cost(parts: Parts, costs: CellCosts) -> int:
    """Return what the lost cells cost together."""
    return costs.total(parts.table, parts.class_index, parts.records, parts.suppressed | parts.dropped[:, None])


def _solution(parts: Parts) -> Solution:
    order = np.argsort(parts.class_index, kind="stable")
    return Solution(
        class_index=parts.class_index[order].astype(np.uint32),
        records=parts.records[order],
        suppressed=parts.suppressed[order],
        dropped=parts.dropped[order],
        lost_cells=_lost_cells(parts),
    )


def _lost_cells(parts: Parts) -> NDArray[np.int64]:
    """Return the cells of each column that are lost; column by column, since parts may be millions."""
    lost = np.zeros(parts.suppressed.shape[1], np.int64)
    for column in range(len(lost)):
        gone = parts.suppressed[:, column] | parts.dropped
        gone &= parts.table.codes[parts.class_index, column] > 0
        lost[column] = parts.records[gone].sum()
    return lost


def _by_person(parts: Parts) -> Solution:
    """Join the pairs of a class that are treated alike; pairs are in the table's order, by class."""
    alike = factorise(np.column_stack([parts.class_index, parts.suppressed, parts.dropped]).astype(np.int64))
    first, number = first_members(alike), alike
    order = np.argsort(first, kind="stable")
    place = np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    pair_part = place[number]
    records = np.zeros(len(first), np.int64)
    np.add.at(records, pair_part, parts.records)
    chosen = first[order]
    return Solution(
        class_index=parts.class_index[chosen].astype(np.uint32),
        records=records,
        suppressed=parts.suppressed[chosen],
        dropped=parts.dropped[chosen],
        lost_cells=_lost_cells(parts),
        pair_part=pair_part.astype(np.uint32),
    )
