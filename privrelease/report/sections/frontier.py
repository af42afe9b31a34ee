"""The risk-utility frontier in section 13, internal edition: what the run forecast, and what the audit found at the released point."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.disclosure.risk.thresholds import smallest_class_for
from privrelease.plan.microdata.frontier import Frontier, Point, with_dominated
from privrelease.report.pages.frontier_points import FrontierPoints, points_of
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import exact
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.frontier import ForecastPoint, FrontierFacts
    from privrelease.audit.document.utility import UtilityMeasures
    from privrelease.report.view.page import Context, Sentence

__all__ = ["FrontierBody", "frontier_body"]


@dataclass(frozen=True, slots=True)
class FrontierBody:
    """``said``: what was swept, and whose figures these are. ``status``: of the comparison at the released point, in ``released``."""

    said: tuple[Sentence, ...]
    status: str
    released: Sentence
    points: FrontierPoints


def frontier_body(measures: UtilityMeasures | None, context: Context) -> FrontierBody | None:
    """Build the frontier; None where there is none, and always for recipients. The audit's figures place the released point."""
    facts = None if measures is None else measures.frontier
    if facts is None or context.edition is not Edition.INTERNAL:
        return None
    highest = next((exact(threat.after.highest) for threat in context.audit.threats if threat.name == facts.threat), None)
    forecast = next((point for point in facts.points if point.chosen), None)
    same = forecast is not None and exact(forecast.highest) == highest
    known = facts.agrees is not None and highest is not None
    status = "not_evaluated" if not known else "pass" if facts.agrees and same else "fail"
    others: Sentence = ("frontier.others", {"threats": ", ".join(facts.others)}) if facts.others else ("frontier.alone", {})
    return FrontierBody(
        said=(
            ("frontier.stated", {}),
            ("frontier.swept", {"threat": facts.threat, "columns": ", ".join(facts.columns)}),
            others,
            (f"frontier.counts.{facts.counts}", {}),
        ),
        status=status,
        released=_released(facts, highest, status),
        points=points_of(_frontier(facts, highest, context), context.catalogue),
    )


def _released(facts: FrontierFacts, highest: Fraction | None, status: str) -> Sentence:
    cells, rows = exact(facts.cells_lost), exact(facts.rows_dropped)
    if status == "not_evaluated" or highest is None or cells is None or rows is None:
        return "frontier.released.not_evaluated", {}
    values = {
        "risk": numbers.risk(highest),
        "cells": numbers.count(int(cells)),
        "rows": numbers.count(int(rows)),
    }
    return f"frontier.released.{status}", values


def _frontier(facts: FrontierFacts, highest: Fraction | None, context: Context) -> Frontier:
    utility = context.audit.utility
    limit = None if utility is None else exact(utility.limit)
    total = int(exact(facts.cells_total) or 0)
    points = tuple(_point(point, limit, total) for point in facts.points)
    cells, rows = exact(facts.cells_lost), exact(facts.rows_dropped)
    if cells is not None and rows is not None and highest is not None:
        points = tuple(
            replace(point, highest=highest, cells_lost=int(cells), rows_dropped=int(rows)) if point.chosen else point
            for point in points
        )
    return Frontier(
        release=context.audit.identity.release,
        threat=facts.threat,
        columns=facts.columns,
        others=facts.others,
        counts=facts.counts,
        above=exact(facts.above) or Fraction(1),
        limit=limit,
        source_rows=0,
        cells_total=total,
        points=with_dominated(points),
    )


def _point(point: ForecastPoint, limit: Fraction | None, total: int) -> Point:
    risk, lost = exact(point.threshold) or Fraction(1), int(exact(point.cells_lost) or 0)
    return Point(
        k=smallest_class_for(risk),
        risk=risk,
        chosen=point.chosen,
        feasible=point.feasible,
        highest=exact(point.highest),
        average=exact(point.average),
        at_risk=int(exact(point.at_risk) or 0),
        counted=int(exact(point.counted) or 0),
        cells_lost=lost,
        rows_dropped=int(exact(point.rows_dropped) or 0),
        within_limit=limit is None or lost <= limit * total,
    )
