"""Exact measurement of a state against one requirement: integers and fractions only, no float is ever compared.

Definitions (DESIGN semantics 1-4): f is the size of a released class in the file, F in the population (F = f for the prosecutor),
J the number of classes, n the number of records outside the residual group. Under the ``wildcard`` reading a record is
compatible with every record of its class and perhaps more, so each f is at least as large as under ``category`` and every
figure below (1/min f, mean of 1/f, share of records with 1/f above a level) at most as large: holding under ``category`` is
sufficient, and that is what is measured here. Where persons may be in several classes, mean and share are of persons, each as much at risk as in
the smallest of them, as the audit judges.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from privrelease.disclosure.suppression.partition import factorise, first_members
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
    from privrelease.disclosure.suppression.class_counting import ClassCounter
    from privrelease.disclosure.suppression.class_tallies import ClassTally
    from privrelease.disclosure.suppression.partition import Parts
    from privrelease.disclosure.suppression.problem import Requirement

__all__ = ["RiskState", "smallest_count", "sum_of_ratios_within", "take_standing", "tallied_standing"]


@dataclass(slots=True)
class RiskState:
    """The state of one requirement on p parts.

    ``residual`` (p,): parts whose every column of the requirement is missing. ``below`` (p,): parts in a class smaller than
    ``highest`` allows. ``stray`` (p,): residual parts that elimination would find (a group of 1..k-1). ``average_holds`` and
    ``at_risk_holds``: the other two limits.
    """

    residual: NDArray[np.bool_]
    below: NDArray[np.bool_]
    stray: NDArray[np.bool_]
    average_holds: bool
    at_risk_holds: bool

    @property
    def holds(self) -> bool:
        """Return True if nothing is left to do for this requirement."""
        return self.average_holds and self.at_risk_holds and not self.below.any() and not self.stray.any()


def sum_of_ratios_within(numerators: NDArray[np.int64], denominators: NDArray[np.int64], limit: Fraction) -> bool:
    """Return whether Σ numerators/denominators <= ``limit``, decided exactly.

    Fixed-point bounds decide all but the closest calls; those are summed as fractions, one term per distinct denominator.

    >>> sum_of_ratios_within(np.array([1, 1, 1]), np.array([3, 3, 3]), Fraction(1))
    True
    >>> sum_of_ratios_within(np.array([1, 1, 1]), np.array([3, 3, 2]), Fraction(1))
    False
    """
    if not len(numerators):
        return limit >= 0
    if denominators.min() <= 0:
        return False
    distinct, inverse = np.unique(denominators, return_inverse=True)
    totals = np.zeros(len(distinct), np.int64)
    np.add.at(totals, inverse, numerators)
    shift = 64
    terms = [(int(total) << shift) // int(bottom) for total, bottom in zip(totals, distinct, strict=True)]
    low, target = sum(terms), limit * (1 << shift)
    if low > target:
        return False
    if low + len(terms) <= target:
        return True
    return sum(Fraction(int(total), int(bottom)) for total, bottom in zip(totals, distinct, strict=True)) <= limit


def take_standing(parts: Parts, requirement: Requirement, crowd: ClassCounter, residual_rule: str) -> RiskState:
    """Measure ``requirement`` on ``parts``; ``crowd`` says how a class is counted; ``residual_rule`` is the problem's."""
    codes = parts.codes(requirement.columns)
    thresholds = requirement.thresholds
    present = ~parts.dropped
    residual = present & ~(codes > 0).any(axis=1)
    counted = np.flatnonzero(present & ~residual)
    below = np.zeros(len(parts), np.bool_)
    stray = np.zeros(len(parts), np.bool_)
    if residual_rule == "drop" and residual.any():
        members = np.flatnonzero(residual)
        if crowd.in_file(members, np.zeros(len(members), np.int64))[0] < thresholds.k:
            stray = residual.copy()
    if not len(counted):
        return RiskState(residual, below, stray, average_holds=True, at_risk_holds=True)
    group = factorise(codes[counted])
    inside = crowd.in_file(counted, group)
    outside = crowd.in_population(counted, group, codes[counted])
    scale = crowd.scale
    highest = thresholds.highest
    if highest is not None:
        below[counted] = outside < smallest_count(highest, scale)
    first = first_members(group)
    f, larger = inside[first], outside[first]
    who, sizes = crowd.by_person(counted, outside) or (f, larger)
    return RiskState(
        residual,
        below,
        stray,
        average_holds=_average_holds(requirement, (f, larger), (who, sizes), crowd),
        at_risk_holds=_at_risk_holds(thresholds.at_risk, who, sizes, scale),
    )


def tallied_standing(parts: Parts, tally: ClassTally, thresholds: Thresholds, residual_rule: str) -> RiskState:
    """Measure a requirement that limits the highest risk alone, by class sizes that were kept up to date; as :func:`take_standing` does."""
    present = ~parts.dropped
    residual = present & (tally.slot == 0)
    below = np.zeros(len(parts), np.bool_)
    if thresholds.highest is not None:
        below = present & (tally.slot > 0) & (tally.sizes() < smallest_count(thresholds.highest, 1))
    found_out = residual_rule == "drop" and tally.totals[0] < thresholds.k
    stray = residual.copy() if found_out else np.zeros(len(parts), np.bool_)
    return RiskState(residual, below, stray, average_holds=True, at_risk_holds=True)


_Sizes: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"


def _average_holds(requirement: Requirement, classes: _Sizes, persons: _Sizes, crowd: ClassCounter) -> bool:
    """Return whether the average holds. ``classes``: f and F of each; ``persons``: how many, and the F that they are at risk by."""
    average = requirement.thresholds.average
    if average is None:
        return True
    (f, larger), (who, sizes) = classes, persons
    if crowd.is_file and who is f:
        return len(f) <= average * int(f.sum())
    if not sum_of_ratios_within(who, sizes, average * int(who.sum()) / crowd.scale):
        return False
    return requirement.attacker != "journalist" or len(f) * crowd.scale <= average * int(larger.sum())


def _at_risk_holds(at_risk: RecordsAtRisk | None, f: NDArray[np.int64], larger: NDArray[np.int64], scale: int) -> bool:
    if at_risk is None:
        return True
    exposed = larger < smallest_count(at_risk.above, scale)
    return int(f[exposed].sum()) <= at_risk.share * int(f.sum())


def smallest_count(risk: Fraction, scale: int) -> int:
    """Return the smallest integer count of ``1/scale`` units whose reciprocal is not above ``risk``; no count does for 0.

    >>> smallest_count(Fraction("0.3"), 1), smallest_count(Fraction("0.3"), 4)
    (4, 14)
    """
    return 1 << 62 if risk <= 0 else ceil(scale / risk)
