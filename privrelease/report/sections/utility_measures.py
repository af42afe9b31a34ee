"""The measures in section 13: information kept, loss per column, shifts of numbers, errors of count queries.

The internal edition shows exact figures, the recipient edition the rounded ones, and says where there is none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.charts.intervals import ErrorBars, error_bars
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Shown, coarser_columns, exact, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.audit.document.utility import Measured, NumberShift, UtilityMeasures
    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["MeasuresBody", "NumberRow", "figure_of", "measures_body", "measures_of", "value_of"]

_MOST_BARS = 20
_NAMED = 3


@dataclass(frozen=True, slots=True)
class NumberRow:
    """A numeric column: the shift of its mean, of its quantiles, IL1s."""

    column: str
    mean: Shown
    quantiles: tuple[Shown, ...]
    il1s: Shown


@dataclass(frozen=True, slots=True)
class MeasuresBody:
    """``kept``: (label, figure, what it means). ``columns``: (column, lost, kept). ``queries``: (kind, asked, median error)."""

    notes: tuple[Sentence, ...]
    kept: tuple[tuple[str, Shown, str], ...]
    columns: tuple[tuple[str, Shown, Shown], ...]
    at: tuple[str, ...]
    numbers: tuple[NumberRow, ...]
    after: tuple[Sentence, ...]
    chart: ErrorBars | None
    rest: Mapping[str, str] | None
    queries: tuple[tuple[str, str, Shown], ...]


def measures_of(context: Context) -> UtilityMeasures | None:
    """Return the measures; None where there are none or they are damaged."""
    return context.audit.utility_measures


def figure_of(measured: Measured, context: Context) -> Shown:
    """Write a figure as its edition shows it."""
    chosen = measured.rounded if context.edition is Edition.RECIPIENT else None
    return shown(chosen or measured.exact, context.catalogue)


def value_of(measured: Measured, context: Context) -> Fraction | None:
    """Return the number that the edition shows; None where it shows none."""
    return exact(measured.rounded if context.edition is Edition.RECIPIENT else measured.exact)


def measures_body(context: Context) -> MeasuresBody | None:
    """Build what the measures show."""
    facts, catalogue = measures_of(context), context.catalogue
    if facts is None:
        return None
    notes: list[Sentence] = []
    if facts.basis == "counts":
        notes.append(("utility.counts_only", {}))
    if context.edition is Edition.RECIPIENT:
        notes.append(("utility.rounded", {"n": numbers.count(facts.minimum)}))
    coarser = coarser_columns(context.audit)
    if coarser:
        notes.append(("utility.labels_said", {"columns": ", ".join(coarser)}))
    kept = (
        ("entropy_whole_file", facts.entropy_whole_file),
        ("entropy_suppressed", facts.entropy_suppressed),
        ("granularity", facts.granularity),
    )
    columns = facts.numbers.columns
    by_loss = sorted(facts.columns, key=lambda column: -(value_of(column.lost, context) or 0))
    return MeasuresBody(
        notes=tuple(notes),
        kept=tuple(
            (catalogue.text(f"utility.{name}"), figure_of(value, context), catalogue.text(f"utility.{name}_means"))
            for name, value in kept
        ),
        columns=tuple((one.column, figure_of(one.lost, context), figure_of(one.kept, context)) for one in by_loss),
        at=_quantiles(columns, catalogue),
        numbers=tuple(_row(column, context) for column in columns),
        after=tuple(_after(facts, context)),
        chart=_chart(columns, context),
        rest={"shown": numbers.count(_MOST_BARS)} if len(columns) > _MOST_BARS else None,
        queries=tuple(
            (catalogue.text(f"utility.query.{query.kind}"), numbers.count(query.asked), figure_of(query.median, context))
            for query in facts.queries
        ),
    )


def _quantiles(columns: Sequence[NumberShift], catalogue: Catalogue) -> tuple[str, ...]:
    if not columns:
        return ()
    return tuple(catalogue.text("utility.at", p=numbers.percent(Fraction(one.at))) for one in columns[0].quantiles)


def _row(column: NumberShift, context: Context) -> NumberRow:
    quantiles = tuple(figure_of(one.shift, context) for one in column.quantiles)
    return NumberRow(column.column, figure_of(column.mean, context), quantiles, figure_of(column.il1s, context))


def _after(facts: UtilityMeasures, context: Context) -> list[Sentence]:
    found: list[Sentence] = []
    mean = None if facts.numbers.il1s is None else value_of(facts.numbers.il1s, context)
    if mean is not None:
        found.append(("utility.il1s_mean", {"value": numbers.number(mean)}))
    for one in facts.numbers.labels:
        shift = value_of(one.mean, context)
        if shift is not None:
            by = context.catalogue.text(f"utility.by.{one.by}")
            found.append(("utility.label_mean", {"column": one.column, "by": by, "mean": numbers.number(shift)}))
        total = None if one.il1s is None else value_of(one.il1s, context)
        if total is not None:
            found.append(("utility.label_il1s", {"column": one.column, "value": numbers.number(total)}))
    for key, names in (
        ("utility.untouched", facts.numbers.untouched),
        ("utility.not_measured", facts.numbers.not_measured),
    ):
        if names:
            found.append((key, {"columns": ", ".join(names)}))
    return found


def _chart(columns: Sequence[NumberShift], context: Context) -> ErrorBars | None:
    """One line per column of which mean and quantiles may be shown, those that moved most first."""
    rows = []
    for column in columns:
        mean = value_of(column.mean, context)
        known = [value for one in column.quantiles if (value := value_of(one.shift, context)) is not None]
        if mean is not None and known:
            rows.append((column.column, numbers.number(mean), mean, min(known), max(known)))
    if not rows:
        return None
    rows.sort(key=lambda row: -max(abs(row[2]), abs(row[3]), abs(row[4])))
    said = [
        context.catalogue.text(
            "chart.shift_of", column=row[0], mean=row[1], low=numbers.number(row[3]), high=numbers.number(row[4])
        )
        for row in rows[:_NAMED]
    ]
    described = context.catalogue.text("chart.shifts_desc", columns="; ".join(said))
    return error_bars("shifts", context.catalogue.text("chart.shifts"), described, rows[:_MOST_BARS])
