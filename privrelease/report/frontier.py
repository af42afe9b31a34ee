"""The risk-utility frontier as a page and as an SVG that stands alone. For internal use: its figures count the source."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report import numbers
from privrelease.report.catalogue import english
from privrelease.report.charts.frontier import frontier_chart
from privrelease.report.html import render

if TYPE_CHECKING:
    from privrelease.plan.frontier import Frontier, Point
    from privrelease.report.catalogue import Catalogue
    from privrelease.report.charts.frontier import FrontierChart, Shape
    from privrelease.report.view import Sentence

__all__ = ["FrontierPage", "FrontierRow", "build", "chart_of", "render_frontier", "render_frontier_chart", "rows_of"]

_GAP, _HEAD, _KEY = 24, 40, 66


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
class FrontierPage:
    """The whole page."""

    language: str
    title: str
    meta: tuple[Sentence, ...]
    said: tuple[Sentence, ...]
    caption: Sentence
    cost: Sentence
    chart: FrontierChart
    limit: str | None
    beaten: bool
    measures: tuple[str, ...]
    rows: tuple[FrontierRow, ...]


@dataclass(frozen=True, slots=True)
class FrontierDrawing:
    """The chart alone: ``width`` and ``height`` of the drawing, ``key``: y of the first line that explains the marks."""

    language: str
    title: str
    chart: FrontierChart
    beaten: bool
    limit: str | None
    width: int
    height: int
    key: int


_MEASURES = ("entropy_whole_file", "entropy_suppressed", "granularity")


def render_frontier(found: Frontier, policy: tuple[str, str], catalogue: Catalogue | None = None) -> str:
    """Render a self-contained page: no network, no script. ``policy``: its id and version."""
    texts = catalogue or english()
    return render("frontier.html.j2", texts, page=build(found, policy, texts))


def render_frontier_chart(found: Frontier, catalogue: Catalogue | None = None) -> str:
    """Return the SVG; it follows light and dark, and says in words what it shows."""
    texts = catalogue or english()
    chart = chart_of(found, texts)
    title = texts.plain("frontier.title", threat=found.threat, release=found.release)
    height = _HEAD + chart.height + _KEY
    width = chart.width + 2 * _GAP
    limit = _limit(found, chart)
    drawing = FrontierDrawing(texts.language, title, chart, _beaten(found), limit, width, height, _HEAD + chart.height + 22)
    return render("frontier.svg.j2", texts, drawing=drawing)


def build(found: Frontier, policy: tuple[str, str], texts: Catalogue) -> FrontierPage:
    """Build the view."""
    chart = chart_of(found, texts)
    others: Sentence = ("frontier.others", {"threats": ", ".join(found.others)}) if found.others else ("frontier.alone", {})
    return FrontierPage(
        language=texts.language,
        title=texts.plain("frontier.title", threat=found.threat, release=found.release),
        meta=(
            ("frontier.meta_policy", {"id": policy[0], "version": policy[1]}),
            ("frontier.meta_rows", {"n": numbers.count(found.source_rows)}),
            ("frontier.meta_free", {}),
        ),
        said=(
            ("frontier.swept", {"threat": found.threat, "columns": ", ".join(found.columns)}),
            others,
            (f"frontier.counts.{found.counts}", {}),
        ),
        caption=("frontier.caption", {"above": numbers.percent(found.above)}),
        cost=("frontier.cost_caption", {}),
        chart=chart,
        limit=_limit(found, chart),
        beaten=_beaten(found),
        measures=tuple(texts.text(f"frontier.{name}") for name in _MEASURES),
        rows=rows_of(found, texts),
    )


def rows_of(found: Frontier, texts: Catalogue) -> tuple[FrontierRow, ...]:
    """Write every point out."""
    return tuple(_row(point, found, texts) for point in found.points)


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
        notes=tuple(texts.text(f"frontier.note.{name}") for name, holds in notes if holds),
        chosen=point.chosen,
    )


def _kept(point: Point) -> tuple[str, ...]:
    if point.kept is None:
        return ("-",) * len(_MEASURES)
    values = (point.kept.entropy_whole_file, point.kept.entropy_suppressed, point.kept.granularity)
    return tuple("-" if value is None else numbers.percent(Fraction(value), 2) for value in values)


def _share(point: Point, found: Frontier) -> Fraction:
    return Fraction(point.cells_lost, found.cells_total) if found.cells_total else Fraction(0)


def _beaten(found: Frontier) -> bool:
    return any(point.dominated and not point.chosen for point in found.points)


def _limit(found: Frontier, chart: FrontierChart) -> str | None:
    return None if found.limit is None or chart.limit is None else numbers.percent(found.limit, 3)


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
