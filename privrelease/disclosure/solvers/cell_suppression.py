"""Cell suppression: the cells to take away so that every requirement holds on what remains.

The search proposes, exact measurement decides: after every search each requirement is measured again on the whole state, and
whatever does not hold is repaired by taking more away. Cells and records are only ever taken, so the loop ends; with every cell
gone everything holds.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.solvers.crowd import RecordCrowd, crowd_of
from privrelease.disclosure.solvers.distribution import cut_alike
from privrelease.disclosure.solvers.evaluation import take_standing
from privrelease.disclosure.solvers.layered_greedy import layered_greedy
from privrelease.disclosure.solvers.parts import Parts, factorise
from privrelease.disclosure.solvers.problem import Solution
from privrelease.disclosure.solvers.record_search import hide_rare_values, search_records
from privrelease.disclosure.solvers.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from privrelease.disclosure.solvers.crowd import Crowd
    from privrelease.disclosure.solvers.evaluation import Standing
    from privrelease.disclosure.solvers.problem import Problem

__all__ = ["suppress_cells"]


def suppress_cells(problem: Problem, *, progress: Callable[[str, float], None] | None = None) -> Solution:
    """Return the parts of ``problem``'s classes with the cells each loses, so that every requirement holds exactly.

    ``progress`` is called with the name of a step and the share done. Deterministic: the same problem gives the same solution.
    """
    report = progress or (lambda _step, _share: None)
    state = _Repair(problem)
    held, visited, count = 0, 0, len(problem.requirements)
    report("suppress", 0.0)
    while held < count:
        held = held + 1 if state.settle(visited % count, first=visited < count) else 1
        visited += 1
        report("suppress", min(visited / (2 * count), 0.99))
    report("suppress", 1.0)
    return _solution(state.parts)


class _Repair:
    """The parts as they stand, and one step after the other towards the requirements."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.parts = Parts.untouched(problem.classes)
        self.costs = _integer_costs(problem.weights)
        self.targets = [Target.of(requirement.thresholds) for requirement in problem.requirements]

    def settle(self, number: int, *, first: bool) -> bool:
        """Take steps until requirement ``number`` holds; return whether it held already.

        On the ``first`` visit a search goes ahead of measuring: where all holds it changes nothing, and measuring is not free.
        """
        if first:
            self._step(number, None)
        steps = 0
        while True:
            standing = self._measure(number)
            if standing.holds:
                return not (first or steps)
            self._step(number, standing)
            steps += 1

    def _measure(self, number: int) -> Standing:
        requirement = self.problem.requirements[number]
        return take_standing(self.parts, requirement, crowd_of(self.parts, requirement), self.problem.residual)

    def _step(self, number: int, standing: Standing | None) -> None:
        """Drop residual records that elimination would find; else search the records that still show something."""
        if standing is not None and standing.stray.any():
            self.parts.dropped |= standing.stray
            return
        requirement = self.problem.requirements[number]
        crowd = crowd_of(self.parts, requirement)
        columns = requirement.columns
        costs = tuple(self.costs[column] for column in columns)
        shown = (self.parts.codes(columns) > 0).any(axis=1)
        members = np.flatnonzero(~self.parts.dropped & shown)
        if not len(members):
            return
        target = self.targets[number]
        if isinstance(crowd, RecordCrowd):
            _protect_records(self.parts, columns, members, target, costs)
            return
        if standing is not None and not standing.below.any():
            self.targets[number] = target = target.sufficient()
        _protect_members(self.parts, columns, members, target.need, costs, crowd)


def _protect_records(
    parts: Parts, columns: tuple[int, ...], members: NDArray[np.int64], target: Target, costs: tuple[int, ...]
) -> None:
    codes = hide_rare_values(parts.codes(columns)[members], parts.records[members], target.need)
    item = factorise(codes)
    first = np.unique(item, return_index=True)[1]
    records = np.zeros(len(first), np.int64)
    np.add.at(records, item, parts.records[members])
    found = search_records(codes[first], records, target=target, costs=costs)
    line = np.argsort(item, kind="stable")
    assigned_line = np.argsort(found.item, kind="stable")
    origin, assigned, sizes = cut_alike(parts.records[members][line], found.records[assigned_line])
    origin = line[origin]
    suppressed = np.zeros((len(sizes), parts.suppressed.shape[1]), np.bool_)
    suppressed[:, np.array(columns, np.int64)] = found.suppressed[assigned_line[assigned]] | (codes[origin] == 0)
    parts.replace(members, members[origin], sizes, suppressed)


def _protect_members(
    parts: Parts,
    columns: tuple[int, ...],
    members: NDArray[np.int64],
    need: int,
    costs: tuple[int, ...],
    crowd: Crowd,
) -> None:
    mask = layered_greedy(
        crowd,
        members,
        parts.codes(columns)[members],
        parts.records[members],
        need=need * crowd.scale,
        costs=costs,
    )
    where = np.zeros(parts.suppressed.shape, np.bool_)
    where[np.ix_(members, np.array(columns, np.int64))] = mask
    parts.suppress(where)


def _integer_costs(weights: tuple[Fraction, ...]) -> tuple[int, ...]:
    scale = lcm(*(weight.denominator for weight in weights)) if weights else 1
    return tuple(int(weight * scale) for weight in weights)


def _solution(parts: Parts) -> Solution:
    order = np.argsort(parts.class_index, kind="stable")
    present = parts.table.codes[parts.class_index] > 0
    gone = (parts.suppressed | parts.dropped[:, None]) & present
    return Solution(
        class_index=parts.class_index[order].astype(np.uint32),
        records=parts.records[order],
        suppressed=parts.suppressed[order],
        dropped=parts.dropped[order],
        lost_cells=(gone * parts.records[:, None]).sum(axis=0).astype(np.int64),
    )
