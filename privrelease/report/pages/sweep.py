"""Noise of each figure by budget, both mechanisms side by side, as one self-contained SVG file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.charts.curves import WIDTH, curves, measured
from privrelease.report.pages.html import render
from privrelease.texts.catalogue import english
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.report.charts.curves import Curves, Stroke
    from privrelease.texts.catalogue import Catalogue

__all__ = ["SweptFigure", "render_sweep"]

_STROKES: dict[str, Stroke] = {"laplace": "first", "gaussian": "second"}
_GAP, _HEAD, _KEY, _COLUMNS = 24, 34, 40, 2


@dataclass(frozen=True, slots=True)
class SweptFigure:
    """A figure of a query and its standard deviations, by mechanism and budget (None: the mechanism cannot be had)."""

    release: str
    query: str
    figure: str
    deviations: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart and its heading at a place of the drawing."""

    x: int
    y: int
    heading: str
    chart: Curves


@dataclass(frozen=True, slots=True)
class SweepDrawing:
    """The whole drawing; ``key``: y of the line that explains the marks."""

    language: str
    title: str
    panels: tuple[Panel, ...]
    width: int
    height: int
    key: int


def render_sweep(epsilons: Sequence[str], figures: Sequence[SweptFigure], catalogue: Catalogue | None = None) -> str:
    """Return the SVG: a panel for each figure, two next to each other; it follows light and dark; each panel is labelled."""
    texts = catalogue or english()
    panels = [_panel(place, epsilons, one, texts) for place, one in enumerate(figures)]
    bottom = max((panel.y + panel.chart.height for panel in panels), default=_HEAD)
    names = ", ".join(dict.fromkeys(one.release for one in figures))
    width = _GAP + min(_COLUMNS, max(1, len(panels))) * (WIDTH + _GAP)
    title = texts.plain("sweep.title", release=names)
    drawing = SweepDrawing(texts.language, title, tuple(panels), width, bottom + _KEY, bottom + 24)
    return render("sweep.svg.j2", texts, drawing=drawing)


def _panel(place: int, epsilons: Sequence[str], one: SweptFigure, texts: Catalogue) -> Panel:
    series, said = [], []
    for mechanism, stroke in _STROKES.items():
        values = one.deviations.get(mechanism, ())
        if any(value is not None for value in values):
            called = texts.text(f"sim.mechanism.{mechanism}")
            series.append((stroke, called, values))
            said += [
                texts.plain("sim.chart_one", mechanism=called, epsilon=epsilon, value=measured(value))
                for epsilon, value in zip(epsilons, values, strict=True)
                if value is not None
            ]
    chart = curves(
        f"sweep-{place}",
        texts.plain("sweep.chart", query=one.query, figure=one.figure),
        texts.plain("sweep.chart_desc", said="; ".join(said)),
        epsilons,
        series,
        axis=texts.text("sweep.axis"),
    )
    row, column = divmod(place, _COLUMNS)
    x, y = _GAP + column * (WIDTH + _GAP), _HEAD + _GAP + row * (chart.height + _HEAD)
    return Panel(x, y, f"{one.query}: {one.figure}", chart)
