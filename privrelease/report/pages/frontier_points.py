"""The points of a frontier as they are read: the chart, and a row for each in two tables."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.charts.frontier import frontier_chart
from privrelease.report.view import numbers
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.plan.microdata.frontier import Frontier, Point
    from privrelease.report.charts.frontier import FrontierChart, Shape
    from privrelease.report.view.page import Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["FrontierPoints", "FrontierRow", "chart_of", "is_beaten", "limit_of", "points_of"]

_MEASURES = ("entropy_whole_file", "entropy_suppressed", "granularity")


@dataclass(frozen=True, slots=True)
class FrontierRow:
    """A point as it is read; ``kept``: information by its three measures, ``notes``: what there is to say of it."""

    k: str
    threshold: str
    highest: str
    average: str
    at_risk: str
    cells: str
    share: str
    rows: str
    kept: tuple[str, ...]
    notes: tuple[str, ...]
    chosen: bool


@dataclass(frozen=True, slots=True)
class FrontierPoints:
    """Chart and tables of the points. ``measures``: of information kept, none where they were not measured."""

    caption: Sentence
    cost: Sentence
    chart: FrontierChart
    limit: str | None
    beaten: bool
    measures: tuple[str, ...]
    rows: tuple[FrontierRow, ...]


def points_of(found: Frontier, texts: Catalogue) -> FrontierPoints:
    """Draw and write out every point."""
    chart = chart_of(found, texts)
    measured = any(point.kept is not None for point in found.points)
    return FrontierPoints(
        caption=("frontier.caption", {"above": numbers.unbroken(numbers.percent(found.above))}),
        cost=("frontier.cost_caption" if measured else "frontier.cells_caption", {}),
        chart=chart,
        limit=limit_of(found, chart),
        beaten=is_beaten(found),
        measures=tuple(texts.text(f"frontier.{name}") for name in _MEASURES) if measured else (),
        rows=tuple(_row(point, found, texts) for point in found.points),
    )


def _row(point: Point, found: Frontier, texts: Catalogue) -> FrontierRow:
    notes = (
        ("chosen", point.chosen),
        ("dominated", point.dominated),
        ("infeasible", not point.feasible),
        ("empty", point.highest is None),
        ("over", not point.within_limit),
    )
    return FrontierRow(
        k=numbers.count(point.k),
        threshold=numbers.percent(point.risk, 3),
        highest="-" if point.highest is None else numbers.risk(point.highest),
        average="-" if point.average is None else numbers.percent(point.average, 2),
        at_risk=numbers.part_of(point.at_risk, point.counted),
        cells=numbers.count(point.cells_lost),
        share=numbers.percent(_share(point, found), 2),
        rows=numbers.count(point.rows_dropped),
        kept=_kept(point),
        notes=(
            *(texts.text(f"frontier.note.{name}") for name, holds in notes if holds),
            *(() if point.costliest is None else (texts.plain("frontier.note.costliest", column=point.costliest),)),
        ),
        chosen=point.chosen,
    )


def _kept(point: Point) -> tuple[str, ...]:
    if point.kept is None:
        return ()
    values = (point.kept.entropy_whole_file, point.kept.entropy_suppressed, point.kept.granularity)
    return tuple("-" if value is None else numbers.percent(Fraction(value), 2) for value in values)


def _share(point: Point, found: Frontier) -> Fraction:
    return Fraction(point.cells_lost, found.cells_total) if found.cells_total else Fraction(0)


def is_beaten(found: Frontier) -> bool:
    """Return True if a point is drawn as one that another beats."""
    return any(point.dominated and not point.chosen for point in found.points)


def limit_of(found: Frontier, chart: FrontierChart) -> str | None:
    """Write the limit on cells out where the chart shows it."""
    return None if found.limit is None or chart.limit is None else numbers.unbroken(numbers.percent(found.limit, 3))


def chart_of(found: Frontier, texts: Catalogue) -> FrontierChart:
    """Draw the points that can be met and leave a record."""
    drawn: list[tuple[Fraction, Fraction, Shape, str, str]] = []
    for point in found.points:
        if point.highest is None or not point.feasible:
            continue
        shape: Shape = "chosen" if point.chosen else "beaten" if point.dominated else "point"
        share = _share(point, found)
        said = texts.plain(
            "frontier.chart_one",
            k=numbers.count(point.k),
            risk=numbers.percent(point.highest),
            share=numbers.percent(share, 2),
        )
        drawn.append((point.highest, share, shape, numbers.count(point.k), said))
    return frontier_chart(
        "frontier",
        texts.plain("frontier.chart"),
        texts.plain("frontier.chart_desc", threat=found.threat, said="; ".join(said for *_, said in drawn)),
        drawn,
        limit=found.limit,
        axis=texts.text("frontier.axis"),
        side=texts.text("frontier.side"),
    )
