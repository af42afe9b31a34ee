"""Section 13: what protection cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from privrelease.report.charts.bars import HorizontalBars, horizontal_bars
from privrelease.report.sections.frontier import frontier_body
from privrelease.report.sections.utility_measures import figure_of, measures_body, measures_of, value_of
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Absent, Shown, exact, shown, shown_beside
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from privrelease.audit.document.model import CellBoundFacts, ColumnLoss, UtilityFacts
    from privrelease.audit.document.tables import TableFacts
    from privrelease.audit.document.utility import UtilityMeasures
    from privrelease.report.sections.frontier import FrontierBody
    from privrelease.report.sections.utility_measures import MeasuresBody
    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["LossRow", "UtilityBody", "build", "loss_chart"]

_MOST_BARS = 20
_NAMED = 3


@dataclass(frozen=True, slots=True)
class LossRow:
    """Cells lost of one column."""

    column: str
    suppressed: Shown
    dropped: Shown
    share: Shown


@dataclass(frozen=True, slots=True)
class UtilityBody:
    """Totals (label, figure, next to), a row per column (where cells were counted), the chart, and the measures."""

    totals: tuple[tuple[str, Shown, str | None], ...]
    no_limit: bool
    rows: tuple[LossRow, ...]
    chart: HorizontalBars | None
    rest: Mapping[str, str] | None
    measures: MeasuresBody | None
    bound: Sentence | None = None
    """The distance of the cells lost from the fewest that would do; internal."""
    frontier: FrontierBody | None = None


def build(context: Context) -> UtilityBody | Absent:
    """Show cells and rows lost, in all and per column, and the other measures.

    Counts of the source are for the internal edition; recipients, and whoever audits a file whose rows cannot be led back, get the
    shares that were measured.
    """
    utility, measures, catalogue = context.audit.utility, measures_of(context), context.catalogue
    if measures is not None and (utility is None or context.edition is Edition.RECIPIENT):
        return _measured(measures, utility, context)
    if utility is None and context.audit.table is not None:
        return _of_table(context.audit.table, context)
    if utility is None:
        return Absent(catalogue.of_kind("utility.absent", context.audit.kind))
    share, limit = shown(utility.cells_share, catalogue), None
    if utility.limit is not None:
        share, limit = shown_beside(utility.cells_share, utility.limit, catalogue)
    by_share = sorted(utility.columns, key=lambda loss: -(exact(loss.share) or 0))
    bars = [(loss.column, value) for loss in by_share if (value := exact(loss.share)) is not None]
    return UtilityBody(
        totals=(
            (catalogue.text("utility.cells_lost"), shown(utility.cells_lost, catalogue), None),
            (catalogue.text("utility.cells_total"), shown(utility.cells_total, catalogue), None),
            (catalogue.text("utility.cells_share"), share, limit.text if limit else None),
            (catalogue.text("utility.rows_dropped"), shown(utility.rows_dropped, catalogue), None),
        ),
        no_limit=limit is None,
        rows=tuple(_row(loss, catalogue) for loss in by_share),
        chart=_chart(bars, catalogue),
        rest=_rest(bars),
        measures=measures_body(context),
        bound=None if utility.bound is None else _bound(utility.bound),
        frontier=frontier_body(measures, context),
    )


def _bound(bound: CellBoundFacts) -> Sentence:
    """Say how far the cells lost are from the fewest that would do, rounded up; or why that is not known."""
    if bound.why_not is not None:
        return f"utility.no_bound.{bound.why_not}", {}
    cells, above = (None if one is None else exact(one) for one in (bound.cells, bound.above))
    said = {"cells": numbers.count(int(cells or 0)), "threat": bound.threat or ""}
    if above is None:
        return "utility.bound_alone", said
    return "utility.bound", {**said, "above": numbers.percent_up(above)}


def _of_table(table: TableFacts, context: Context) -> UtilityBody:
    """Show the cells of a table that are not printed as its loss."""
    texts = context.catalogue
    cells, hidden = exact(table.cells), exact(table.suppressed)
    share = Shown(texts.text("word.not_measured"), gap=True)
    if cells and hidden is not None:
        share = Shown(numbers.percent(hidden / cells), str(hidden / cells))
    return UtilityBody(
        totals=(
            (texts.text("tables.suppressed"), shown(table.suppressed, texts), None),
            (texts.text("tables.cells"), shown(table.cells, texts), None),
            (texts.text("utility.cells_share"), share, None),
            (texts.text("tables.left_out"), shown(table.left_out, texts), None),
        ),
        no_limit=False,
        rows=(),
        chart=None,
        rest=None,
        measures=None,
    )


def loss_chart(context: Context, name: str, most: int) -> HorizontalBars | None:
    """Draw the ``most`` columns that lost cells; None where no share may be shown, or nothing was lost."""
    utility, measures = context.audit.utility, measures_of(context)
    if measures is not None and (utility is None or context.edition is Edition.RECIPIENT):
        found = [(one.column, value_of(one.lost, context)) for one in measures.columns]
    else:
        found = [] if utility is None else [(one.column, exact(one.share)) for one in utility.columns]
    bars = sorted(((column, value) for column, value in found if value), key=lambda bar: (-bar[1], bar[0]))
    chart = _chart(bars[:most], context.catalogue)
    return None if chart is None else replace(chart, name=name)


def _measured(measures: UtilityMeasures, utility: UtilityFacts | None, context: Context) -> UtilityBody:
    catalogue = context.catalogue
    limit = None if utility is None or utility.limit is None else shown(utility.limit, catalogue).text
    bars = [(one.column, value) for one in measures.columns if (value := value_of(one.lost, context)) is not None]
    bars.sort(key=lambda bar: -bar[1])
    return UtilityBody(
        totals=(
            (catalogue.text("utility.cells_share"), figure_of(measures.cells_lost, context), limit),
            (catalogue.text("utility.rows_lost"), figure_of(measures.rows_lost, context), None),
        ),
        no_limit=utility is not None and limit is None,
        rows=(),
        chart=_chart(bars, catalogue),
        rest=_rest(bars),
        measures=measures_body(context),
        frontier=frontier_body(measures, context),
    )


def _rest(bars: list[tuple[str, Fraction]]) -> Mapping[str, str] | None:
    return {"shown": numbers.count(_MOST_BARS)} if len(bars) > _MOST_BARS else None


def _row(loss: ColumnLoss, catalogue: Catalogue) -> LossRow:
    suppressed, dropped = shown(loss.suppressed, catalogue), shown(loss.in_dropped_rows, catalogue)
    return LossRow(loss.column, suppressed, dropped, shown(loss.share, catalogue))


def _chart(bars: list[tuple[str, Fraction]], catalogue: Catalogue) -> HorizontalBars | None:
    if not bars:
        return None
    most = [f"{name} {numbers.percent(value)}" for name, value in bars[:_NAMED] if value]
    described = catalogue.text("chart.cells_desc", columns=", ".join(most)) if most else catalogue.text("chart.cells_none")
    return horizontal_bars("cells", catalogue.text("chart.cells"), described, bars[:_MOST_BARS])
