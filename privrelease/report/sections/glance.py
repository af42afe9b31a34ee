"""Charts of the first screen, before any prose: what a reader compares first, by kind of release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from privrelease.report.charts.bars import GroupedBars, HorizontalBars, horizontal_bars
from privrelease.report.sections.plain_words import worst_threat
from privrelease.report.sections.privacy import budget_chart, interval_chart
from privrelease.report.sections.risk import class_chart
from privrelease.report.sections.utility import loss_chart
from privrelease.report.view import numbers
from privrelease.report.view.page import exact
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    from privrelease.audit.document.model import AuditResult
    from privrelease.report.charts.intervals import ErrorBars, Steps
    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["Glance", "glance"]

_MOST_BARS = 6
#: Charts of queries, next to that of the budget.
_MOST_QUERIES = 2


@dataclass(frozen=True, slots=True)
class Glance:
    """A chart, the macro that draws it, its heading and its caption. ``before``: it shows what was before, too."""

    draws: Literal["grouped_bars", "horizontal_bars", "error_bars", "steps"]
    chart: GroupedBars | HorizontalBars | ErrorBars | Steps
    heading: Sentence
    caption: Sentence
    before: bool | None = None


def glance(context: Context) -> tuple[Glance, ...]:
    """Return at most three charts."""
    audit, texts = context.audit, context.catalogue
    if audit.statistics is not None:
        return _of_statistics(context)
    if audit.table is not None:
        return _of_table(audit, texts)
    return tuple(one for one in (_classes(audit, texts), _risks(audit, texts), _losses(context)) if one is not None)


def _classes(audit: AuditResult, texts: Catalogue) -> Glance | None:
    threat = worst_threat(audit)
    chart = None if threat is None else class_chart(threat, texts, "glance-classes")
    if threat is None or chart is None:
        return None
    before = any(group.before is not None for group in chart.groups)
    return Glance("grouped_bars", chart, ("glance.classes", {"name": threat.name}), ("chart.classes_caption", {}), before)


def _risks(audit: AuditResult, texts: Catalogue) -> Glance | None:
    known = [(threat, value) for threat in audit.threats if (value := exact(threat.after.highest)) is not None]
    if not known:
        return None
    before = [None if threat.before is None else exact(threat.before.highest) for threat, _ in known]
    said = "; ".join(f"{threat.name} {numbers.percent(value)}" for threat, value in known)
    bars: list[tuple[str, Fraction]] = [(threat.name, value) for threat, value in known]
    chart = horizontal_bars(
        "glance-risk", texts.text("glance.risk"), texts.text("glance.risk_desc", said=said), bars[:_MOST_BARS], before
    )
    had = any(one is not None for one in before)
    return Glance("horizontal_bars", chart, ("glance.risk", {}), ("glance.risk_caption", {}), had)


def _losses(context: Context) -> Glance | None:
    chart = loss_chart(context, "glance-cells", _MOST_BARS)
    return None if chart is None else Glance("horizontal_bars", chart, ("glance.cells", {}), ("chart.cells_caption", {}))


def _of_statistics(context: Context) -> tuple[Glance, ...]:
    facts, texts = context.audit.statistics, context.catalogue
    assert facts is not None  # the caller has looked
    found: list[Glance] = []
    for place, query in enumerate(facts.queries, 1):
        chart = interval_chart(place, query, texts)
        if chart is not None and len(found) < _MOST_QUERIES:
            drawn = replace(chart, name=f"glance-dp-{place}")
            found.append(
                Glance("error_bars", drawn, ("glance.intervals", {"query": query.id}), ("chart.intervals_caption", {}))
            )
    budget = None if facts.budget is None else budget_chart(facts.budget, texts)
    if budget is not None:
        drawn_budget = replace(budget, name="glance-budget")
        found.append(Glance("steps", drawn_budget, ("glance.budget", {}), ("chart.budget_caption", {})))
    return tuple(found)


def _of_table(audit: AuditResult, texts: Catalogue) -> tuple[Glance, ...]:
    table = audit.table
    assert table is not None  # the caller has looked
    cells, hidden, secondary = (exact(one) for one in (table.cells, table.suppressed, table.secondary))
    if not cells or hidden is None or secondary is None:
        return ()
    parts = (("printed", cells - hidden), ("unsafe", hidden - secondary), ("secondary", secondary))
    bars = [(texts.plain(f"glance.table.{name}", n=numbers.number(part)), part / cells) for name, part in parts]
    described = texts.text("glance.table_desc", said="; ".join(f"{label} {numbers.percent(share)}" for label, share in bars))
    chart = horizontal_bars("glance-table", texts.text("glance.table"), described, bars)
    return (Glance("horizontal_bars", chart, ("glance.table", {}), ("glance.table_caption", {})),)
