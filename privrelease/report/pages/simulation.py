"""The report of a simulation, as one HTML file in the look of the audit's: observed noise compared with exact and continuous
theory.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.plan.statistics.simulated import PAPER, paper_figures
from privrelease.report.charts.curves import curves, measured, spread
from privrelease.report.charts.intervals import error_bars
from privrelease.report.pages.html import render
from privrelease.report.view import numbers
from privrelease.texts.catalogue import english
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.plan.statistics.simulated import PaperFigure, Simulated, Simulation
    from privrelease.report.charts.curves import Curves, Spread, Stroke
    from privrelease.report.charts.intervals import ErrorBars
    from privrelease.report.view.page import Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["SimulationPage", "build", "render_simulation"]

_STROKES: dict[str, Stroke] = {"laplace": "first", "gaussian": "second"}


@dataclass(frozen=True, slots=True)
class PaperRow:
    """Figures at an epsilon: the paper's, those of theory for each mechanism, and the mechanisms that give the paper's."""

    epsilon: str
    printed: str
    theory: tuple[str, ...]
    given: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One mechanism at one epsilon; texts are empty where there is nothing to say. ``status``: pass, fail, or empty."""

    mechanism: str
    epsilon: str
    observed: str
    theory: str
    continuous: str
    classic: str
    delta: str
    errors: str
    status: str


@dataclass(frozen=True, slots=True)
class CellsView:
    """A histogram bin by bin under one law: chart, and rows of (bin, made, middle 95 %)."""

    heading: Sentence
    chart: ErrorBars
    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class QueryView:
    """One query: what it asks, a row for each law, the chart by budget, the distributions with whether each has a law to compare."""

    id: str
    asked: Sentence
    rows: tuple[FigureRow, ...]
    has_gaussian: bool
    has_paper: bool
    chart: Curves
    spreads: tuple[tuple[Sentence, Spread, bool], ...]
    cells: tuple[CellsView, ...]


@dataclass(frozen=True, slots=True)
class SimulationPage:
    """The whole report."""

    language: str
    title: str
    meta: tuple[Sentence, ...]
    mechanisms: tuple[str, ...]
    paper: tuple[PaperRow, ...]
    none_gives_all: bool
    queries: tuple[QueryView, ...]


def render_simulation(simulation: Simulation, catalogue: Catalogue | None = None) -> str:
    """Render a simulation as a self-contained page: no network, no script."""
    texts = catalogue or english()
    return render("simulation.html.j2", texts, page=build(simulation, texts))


def build(simulation: Simulation, texts: Catalogue) -> SimulationPage:
    """Build the view."""
    meta: list[Sentence] = [("sim.meta_policy", {"policy": simulation.policy})] if simulation.policy else []
    meta += [
        ("sim.meta_repetitions", {"n": numbers.count(simulation.repetitions)}),
        ("sim.meta_rows", {"n": numbers.count(simulation.rows)}),
        ("sim.meta_free", {}),
    ]
    paper = paper_figures(simulation.figures)
    mechanisms = tuple(dict.fromkeys(one.mechanism for one in simulation.figures))
    release = simulation.release if simulation.policy else texts.text("sim.study")
    by_query: dict[str, list[Simulated]] = {}
    for one in simulation.figures:
        by_query.setdefault(one.query, []).append(one)
    return SimulationPage(
        language=texts.language,
        title=texts.plain("sim.title", release=release),
        meta=tuple(meta),
        mechanisms=tuple(texts.text(f"sim.mechanism.{name}") for name in mechanisms),
        paper=tuple(_paper(one, mechanisms, texts) for one in paper),
        none_gives_all=len(paper) > 1 and not set.intersection(*(set(one.given_by) for one in paper)),
        queries=tuple(_query(place, name, found, texts) for place, (name, found) in enumerate(by_query.items(), 1)),
    )


def _paper(one: PaperFigure, mechanisms: Sequence[str], texts: Catalogue) -> PaperRow:
    theory = dict(one.theory)
    given = ", ".join(texts.text(f"sim.mechanism.{name}") for name in one.given_by) or texts.text("sim.paper_nobody")
    return PaperRow(
        one.epsilon,
        measured(one.printed),
        tuple(measured(theory[name]) if name in theory else "" for name in mechanisms),
        given,
    )


def _query(place: int, name: str, found: Sequence[Simulated], texts: Catalogue) -> QueryView:
    first = found[0]
    budgets = tuple(dict.fromkeys(one.epsilon for one in found))
    paper = first.counts and any(epsilon in PAPER for epsilon in budgets)
    return QueryView(
        id=name,
        asked=(f"sim.asked.{first.figure}", {"truth": measured(first.truth)}),
        rows=tuple(_row(one, texts) for one in found),
        has_gaussian=any(one.mechanism == "gaussian" for one in found),
        has_paper=paper,
        chart=_by_budget(place, name, found, budgets, texts),
        spreads=tuple(_spread(f"sim-{place}-{n}", one, texts) for n, one in enumerate(found) if one.errors),
        cells=tuple(
            _cells(f"sim-{place}-bins-{n}", one, texts)
            for n, one in enumerate(found)
            if one.cells and one.epsilon in (budgets[0], budgets[-1])
        ),
    )


def _row(one: Simulated, texts: Catalogue) -> FigureRow:
    classic = "" if one.classic is None else measured(one.classic)
    if one.classic is not None and Fraction(one.epsilon) > 1:
        classic = texts.plain("sim.classic_outside", value=classic)
    return FigureRow(
        mechanism=texts.text(f"sim.mechanism.{one.mechanism}"),
        epsilon=one.epsilon,
        observed=texts.plain("sim.observed_said", value=measured(one.observed), error=f"{one.sampling:.2g}"),
        theory="" if one.theory is None else measured(one.theory),
        continuous="" if one.continuous is None else measured(one.continuous),
        classic=classic,
        delta="" if one.exact_delta is None else f"{one.exact_delta:.4g}",
        errors=texts.plain("sim.errors_said", low=measured(one.low), high=measured(one.high)),
        status="" if one.agrees is None else "pass" if one.agrees else "fail",
    )


def _by_budget(place: int, name: str, found: Sequence[Simulated], budgets: Sequence[str], texts: Catalogue) -> Curves:
    series: list[tuple[Stroke, str, Sequence[float | None]]] = []
    said = []
    for mechanism, stroke in _STROKES.items():
        values = {one.epsilon: one.observed for one in found if one.mechanism == mechanism}
        if values:
            called = texts.text(f"sim.mechanism.{mechanism}")
            series.append((stroke, called, [values.get(epsilon) for epsilon in budgets]))
            said += [
                texts.plain("sim.chart_one", mechanism=called, epsilon=epsilon, value=measured(value))
                for epsilon, value in values.items()
            ]
    if found[0].counts:
        series.append(("crosses", texts.text("sim.chart_paper"), [PAPER.get(epsilon) for epsilon in budgets]))
    title = texts.plain("sim.chart", query=name)
    description = texts.plain("sim.chart_desc", said="; ".join(said))
    return curves(f"sim-{place}-budget", title, description, budgets, series, axis=texts.text("sim.axis"))


def _spread(name: str, one: Simulated, texts: Catalogue) -> tuple[Sentence, Spread, bool]:
    mechanism = texts.text(f"sim.mechanism.{one.mechanism}")
    bins = [(one.low, one.high, one.observed, one.expected) for one in one.errors]
    chart = spread(
        name,
        texts.plain("sim.spread_title", query=one.query, mechanism=mechanism, epsilon=one.epsilon),
        texts.plain(
            "sim.spread_desc",
            n=numbers.count(one.repetitions),
            low=measured(one.low),
            high=measured(one.high),
            observed=measured(one.observed),
        ),
        bins,
        axis=texts.text("sim.axis_error"),
    )
    return ("sim.spread", {"mechanism": mechanism, "epsilon": one.epsilon}), chart, bool(chart.dots)


def _cells(name: str, one: Simulated, texts: Catalogue) -> CellsView:
    mechanism = texts.text(f"sim.mechanism.{one.mechanism}")
    rows = [
        (cell.label, measured(cell.truth), Fraction(cell.truth), Fraction(cell.low), Fraction(cell.high)) for cell in one.cells
    ]
    chart = error_bars(
        name,
        texts.plain("sim.cells_title", query=one.query, mechanism=mechanism, epsilon=one.epsilon),
        texts.plain("sim.cells_desc", n=numbers.count(len(rows))),
        rows,
    )
    table = tuple(
        (cell.label, measured(cell.truth), texts.plain("sim.errors_said", low=measured(cell.low), high=measured(cell.high)))
        for cell in one.cells
    )
    return CellsView(("sim.spread", {"mechanism": mechanism, "epsilon": one.epsilon}), chart, table)
