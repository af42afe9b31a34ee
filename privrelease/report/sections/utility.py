"""Section 13: what protection cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.report import numbers
from privrelease.report.charts.bars import HorizontalBars, horizontal_bars
from privrelease.report.view import Absent, Shown, exact, shown, shown_beside

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from privrelease.audit.model import ColumnLoss
    from privrelease.report.catalogue import Catalogue
    from privrelease.report.view import Context

__all__ = ["LossRow", "UtilityBody", "build"]

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
    """Totals (label, figure, beside), a row per column, and the chart."""

    totals: tuple[tuple[str, Shown, str | None], ...]
    no_limit: bool
    rows: tuple[LossRow, ...]
    chart: HorizontalBars | None
    rest: Mapping[str, str] | None


def build(context: Context) -> UtilityBody | Absent:
    """Show cells and rows lost, in all and per column."""
    utility, catalogue = context.audit.utility, context.catalogue
    if utility is None:
        return Absent(catalogue.text("utility.absent"))
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
        rest={"shown": numbers.count(_MOST_BARS)} if len(bars) > _MOST_BARS else None,
    )


def _row(loss: ColumnLoss, catalogue: Catalogue) -> LossRow:
    suppressed, dropped = shown(loss.suppressed, catalogue), shown(loss.in_dropped_rows, catalogue)
    return LossRow(loss.column, suppressed, dropped, shown(loss.share, catalogue))


def _chart(bars: list[tuple[str, Fraction]], catalogue: Catalogue) -> HorizontalBars | None:
    if not bars:
        return None
    most = [f"{name} {numbers.percent(value)}" for name, value in bars[:_NAMED] if value]
    described = catalogue.text("chart.cells_desc", columns=", ".join(most)) if most else catalogue.text("chart.cells_none")
    return horizontal_bars("cells", catalogue.text("chart.cells"), described, bars[:_MOST_BARS])
