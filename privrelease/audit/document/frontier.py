"""The risk-utility frontier in ``utility_measures`` of ``audit.json``: a forecast by the run, and what the audit itself found at the released point.

Every figure counts the source, so all of it is internal; recipients get no frontier.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.audit.document.visibility import count
from privrelease.audit.figure_model import Figure
from privrelease.documents import Document

if TYPE_CHECKING:
    from privrelease.release.manifest import FrontierPoint, FrontierStatement

__all__ = ["ForecastPoint", "FrontierFacts", "frontier_facts"]


class ForecastPoint(Document):
    """The release at one threshold, as the run forecast it. ``chosen``: the policy's own threshold."""

    k: int
    threshold: Figure
    chosen: bool
    feasible: bool
    highest: Figure
    average: Figure
    at_risk: Figure
    counted: Figure
    cells_lost: Figure
    rows_dropped: Figure


class FrontierFacts(Document):
    """``points`` are a statement of the run, by ascending k: not recomputed. ``cells_lost`` and ``rows_dropped``: what the audit found."""

    threat: str
    """Whose highest risk was swept."""
    columns: tuple[str, ...]
    others: tuple[str, ...]
    counts: Literal["records", "persons", "person_sets"]
    above: Figure
    """The level of records at risk."""
    cells_total: Figure
    points: tuple[ForecastPoint, ...]
    cells_lost: Figure
    rows_dropped: Figure
    agrees: bool | None
    """True where cells and rows of the released point are those found; None where they could not be counted."""


def frontier_facts(stated: "FrontierStatement", cells_lost: int | None, rows_dropped: int | None) -> FrontierFacts:
    """Put a run's statement next to what the audit counted (None: it could not)."""
    released = [point for point in stated.points if point.chosen]
    agrees = None
    if cells_lost is not None and rows_dropped is not None:
        agrees = [(point.cells_lost, point.rows_dropped) for point in released] == [(cells_lost, rows_dropped)]
    return FrontierFacts(
        threat=stated.threat,
        columns=stated.columns,
        others=stated.others,
        counts=stated.counts,
        above=Figure.of(Fraction(stated.above), "risk"),
        cells_total=count(stated.cells_total),
        points=tuple(_point(point) for point in stated.points),
        cells_lost=_counted(cells_lost),
        rows_dropped=_counted(rows_dropped),
        agrees=agrees,
    )


def _counted(amount: int | None) -> Figure:
    return Figure.of(None, "count", note="could not be counted") if amount is None else count(amount)


def _point(point: "FrontierPoint") -> ForecastPoint:
    return ForecastPoint(
        k=point.k,
        threshold=Figure.of(Fraction(point.threshold), "risk"),
        chosen=point.chosen,
        feasible=point.feasible,
        highest=_risk(point.highest),
        average=_risk(point.average),
        at_risk=count(point.at_risk),
        counted=count(point.counted),
        cells_lost=count(point.cells_lost),
        rows_dropped=count(point.rows_dropped),
    )


def _risk(text: str | None) -> Figure:
    return Figure.of(None if text is None else Fraction(text), "risk", note="no record is left" if text is None else None)
