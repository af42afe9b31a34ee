"""Section 11: what a table's rules are, and how well an attacker could work out what it hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.sections.earlier import EarlierBody, earlier_body
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Fact, Shown, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.tables import IntervalFacts, TableFacts
    from privrelease.report.view.page import Context, Status
    from privrelease.texts.catalogue import Catalogue

__all__ = ["IntervalRow", "TablesBody", "build"]


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A figure of the table, and the attacker's narrowest interval of an unsafe cell."""

    figure: str
    unsafe: Shown
    narrowest: Shown
    exposed: Shown
    status: Status
    result: str


@dataclass(frozen=True, slots=True)
class TablesBody:
    """Rules, numbers of cells (label, figure), a row per figure, and earlier releases. Recipients are shown the last alone, and which rows
    no cell counts: a sentence of the rules, whether or not there are any.
    """

    rules: tuple[Fact, ...]
    totals: tuple[tuple[str, Shown], ...]
    rows: tuple[IntervalRow, ...]
    earlier: EarlierBody | None


def build(context: Context) -> TablesBody:
    """Show rules and intervals of a table, as far as they may be shown."""
    earlier, facts = earlier_body(context), context.audit.table
    if facts is None:
        return TablesBody((), (), (), earlier)
    texts = context.catalogue
    return TablesBody(
        rules=(*_rules(facts, texts), *_beside(facts, context)),
        totals=(
            (texts.text("tables.cells"), shown(facts.cells, texts)),
            (texts.text("tables.suppressed"), shown(facts.suppressed, texts)),
            *((texts.text(f"tables.unsafe.{rule}"), shown(figure, texts)) for rule, figure in sorted(facts.unsafe.items())),
            (texts.text("tables.secondary"), shown(facts.secondary, texts)),
            (texts.text("tables.left_out"), shown(facts.left_out, texts)),
        ),
        rows=tuple(_row(one, texts) for one in facts.intervals),
        earlier=earlier,
    )


def _rules(facts: TableFacts, texts: Catalogue) -> list[Fact]:
    found = [
        Fact(texts.text("tables.by"), facts.by),
        Fact(texts.text("tables.figures"), facts.figures),
        Fact(texts.text("tables.min_count"), (numbers.count(facts.min_count),)),
    ]
    for name in ("dominance", "p_percent"):
        value = getattr(facts, name)
        shown_as = texts.text("word.none") if value is None else texts.values(value)
        found.append(Fact(texts.text(f"tables.{name}"), (shown_as,), gap=value is None))
    answers = {True: texts.text("word.yes"), False: texts.text("word.no")}
    found += [
        Fact(texts.text(f"tables.{name}"), (answers[getattr(facts, name)],))
        for name in ("margins", "zeros_shown", "class_disclosure")
    ]
    if facts.round_up > 1:
        found.append(Fact(texts.text("tables.round_up"), (numbers.count(facts.round_up),)))
    return found


def _beside(facts: TableFacts, context: Context) -> list[Fact]:
    """The tables that it was judged together with: their names are for who released them."""
    if not facts.beside or context.edition is Edition.RECIPIENT:
        return []
    return [Fact(context.catalogue.text("tables.beside"), facts.beside)]


def _row(one: IntervalFacts, texts: Catalogue) -> IntervalRow:
    holds = one.exposed.value == 0
    return IntervalRow(
        figure=one.figure,
        unsafe=shown(one.unsafe, texts),
        narrowest=shown(one.narrowest, texts),
        exposed=shown(one.exposed, texts),
        status="pass" if holds else "fail",
        result=texts.text("status.pass" if holds else "status.fail"),
    )
