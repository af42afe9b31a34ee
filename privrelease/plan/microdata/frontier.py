"""The risk-utility frontier as plain values: what a release would lose at each of several thresholds of one threat."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from privrelease.disclosure.risk.thresholds import smallest_class_for
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = ["Frontier", "Kept", "Point", "sweepable", "thresholds", "with_dominated"]


@dataclass(frozen=True, slots=True)
class Kept:
    """Information kept over the quasi-identifiers, by the measures of section 13: 1 keeps everything; None where there is nothing to lose."""

    entropy_whole_file: float | None
    entropy_suppressed: float | None
    granularity: Fraction | None


@dataclass(frozen=True, slots=True)
class Point:
    """A release at one threshold ``risk`` of the swept threat, of which ``k`` follows; ``chosen``: it is the policy's own.

    ``highest`` and ``average``: exact risk of what would be released (None: no record is left). ``at_risk`` of ``counted``
    records, or persons, have a risk above the frontier's level. ``cells_lost``: dropped rows included. ``within_limit``: of the
    suppress step. ``dominated``: another point that can be met has no more risk and loses no more cells, and is better in one
    of the two. ``costliest``: the column that loses most cells; None where none is lost, or it is not known.
    """

    k: int
    risk: Fraction
    chosen: bool
    feasible: bool
    highest: Fraction | None
    average: Fraction | None
    at_risk: int
    counted: int
    cells_lost: int
    rows_dropped: int
    within_limit: bool
    kept: Kept | None = None
    dominated: bool = False
    costliest: str | None = None


@dataclass(frozen=True, slots=True)
class Frontier:
    """Points by ascending k. ``threat``: the swept one, ``others``: those that stay. ``above``: the level of records at risk."""

    release: str
    threat: str
    columns: tuple[str, ...]
    others: tuple[str, ...]
    counts: Literal["records", "persons", "person_sets"]
    above: Fraction
    limit: Fraction | None
    source_rows: int
    cells_total: int
    points: tuple[Point, ...]


def sweepable(plan: MicrodataPlan) -> tuple[ThreatPlan, ...]:
    """Return the threats whose highest risk can be swept: a prosecutor's, with a limit, of released suppressible columns."""
    if plan.suppress is None:
        return ()
    leave = set(plan.quasi_identifiers)
    return tuple(
        threat
        for threat in plan.threats
        if threat.attacker == "prosecutor" and threat.thresholds.highest is not None and leave & set(threat.columns)
    )


def thresholds(asked: Sequence[Fraction], own: Fraction) -> tuple[Fraction, ...]:
    """Return the thresholds to solve for, highest risk first: those asked for and the policy's ``own``, one for each k.

    >>> from fractions import Fraction
    >>> [str(risk) for risk in thresholds([Fraction(1, 5), Fraction("0.2"), Fraction(1, 4)], Fraction("0.33"))]
    ['33/100', '1/5']
    """
    by_k = {smallest_class_for(risk): risk for risk in asked} | {smallest_class_for(own): own}
    return tuple(by_k[k] for k in sorted(by_k))


def with_dominated(points: Sequence[Point]) -> tuple[Point, ...]:
    """Mark the points that another one beats."""
    return tuple(replace(point, dominated=_dominated(point, points)) for point in points)


def _dominated(point: Point, points: Sequence[Point]) -> bool:
    """Return True if another point is at least as good in risk and in cells, and better in one. A point that cannot be met
    dominates nothing.
    """
    if point.highest is None or not point.feasible:
        return False
    return any(
        other.feasible
        and other.highest is not None
        and other.highest <= point.highest
        and other.cells_lost <= point.cells_lost
        and (other.highest < point.highest or other.cells_lost < point.cells_lost)
        for other in points
    )
