"""Cell suppression: the cells to take away so that every requirement holds on what remains.

The search proposes, exact measurement decides: after every search each requirement is measured again on the whole state, and
whatever does not hold is repaired by taking more away. Cells and records are only ever taken, so the loop ends; with every cell
gone everything holds.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.solvers.crowd import crowd_of
from privrelease.disclosure.solvers.evaluation import take_standing
from privrelease.disclosure.solvers.layered_greedy import layered_greedy
from privrelease.disclosure.solvers.parts import Parts
from privrelease.disclosure.solvers.problem import Solution
from privrelease.disclosure.thresholds import smallest_class_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from privrelease.disclosure.solvers.problem import Problem, Requirement

__all__ = ["suppress_cells"]


def suppress_cells(problem: Problem, *, progress: Callable[[str, float], None] | None = None) -> Solution:
    """Return the parts of ``problem``'s classes with the cells each loses, so that every requirement holds exactly.

    ``progress`` is called with the name of a step and the share done. Deterministic: the same problem gives the same solution.
    """
    report = progress or (lambda _step, _share: None)
    parts = Parts.untouched(problem.classes)
    costs = _integer_costs(problem.weights)
    need = {requirement.name: _first_need(requirement) for requirement in problem.requirements}
    report("suppress", 0.0)
    settled = False
    while not settled:
        settled = True
        for number, requirement in enumerate(problem.requirements):
            while not _holds(problem, parts, requirement, costs, need):
                settled = False
            report("suppress", (number + 1) / len(problem.requirements))
    return _solution(parts)


def _holds(problem: Problem, parts: Parts, requirement: Requirement, costs: tuple[int, ...], need: dict[str, int]) -> bool:
    """Measure one requirement and, where it does not hold, take one step towards it."""
    crowd = crowd_of(parts, requirement)
    standing = take_standing(parts, requirement, crowd, problem.residual)
    if standing.holds:
        return True
    if standing.stray.any():
        parts.dropped |= standing.stray
        return False
    if not standing.below.any():
        need[requirement.name] = max(need[requirement.name], _sufficient_need(requirement))
    columns = requirement.columns
    members = np.flatnonzero(~parts.dropped & ~standing.residual)
    mask = layered_greedy(
        crowd,
        members,
        parts.codes(columns)[members],
        parts.records[members],
        need=need[requirement.name] * crowd.scale,
        costs=tuple(costs[column] for column in columns),
    )
    where = np.zeros(parts.suppressed.shape, np.bool_)
    where[np.ix_(members, np.array(columns, np.int64))] = mask
    parts.suppress(where)
    return False


def _first_need(requirement: Requirement) -> int:
    return requirement.thresholds.k


def _sufficient_need(requirement: Requirement) -> int:
    """Return a class size that implies every threshold: each class of at least 1/average, each record above the level."""
    thresholds = requirement.thresholds
    limits = [limit for limit in (thresholds.highest, thresholds.average) if limit is not None]
    if thresholds.at_risk is not None:
        limits.append(thresholds.at_risk.above)
    return max((smallest_class_for(limit) for limit in limits if limit > 0), default=1)


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
