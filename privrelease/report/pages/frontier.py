"""The risk-utility frontier as a page and as a self-contained SVG. For internal use: its figures count the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.pages.frontier_points import chart_of, is_beaten, limit_of, points_of
from privrelease.report.pages.html import render
from privrelease.report.view import numbers
from privrelease.texts.catalogue import english
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.plan.microdata.frontier import Frontier
    from privrelease.report.charts.frontier import FrontierChart
    from privrelease.report.pages.frontier_points import FrontierPoints
    from privrelease.report.view.page import Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["FrontierPage", "build", "render_frontier", "render_frontier_chart"]

_GAP, _HEAD, _KEY = 24, 40, 66


@dataclass(frozen=True, slots=True)
class FrontierPage:
    """The whole page."""

    language: str
    title: str
    meta: tuple[Sentence, ...]
    said: tuple[Sentence, ...]
    points: FrontierPoints


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
    limit = limit_of(found, chart)
    drawing = FrontierDrawing(texts.language, title, chart, is_beaten(found), limit, width, height, _HEAD + chart.height + 22)
    return render("frontier.svg.j2", texts, drawing=drawing)


def build(found: Frontier, policy: tuple[str, str], texts: Catalogue) -> FrontierPage:
    """Build the view."""
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
        points=points_of(found, texts),
    )
