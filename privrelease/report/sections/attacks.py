"""Section 9: each attack with its rates, intervals and limit; distances as information.

Names of attacks, and the attacks without a limit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.charts.intervals import ErrorBars, error_bars
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Absent, coarser_columns, exact, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.attacks import AttackFacts, AttacksFacts, BoundedFacts, ClosestFacts, RateFacts
    from privrelease.audit.document.model import AuditResult, Figure
    from privrelease.report.view.page import Context, Sentence, Status
    from privrelease.texts.catalogue import Catalogue

__all__ = ["AttackRow", "AttacksBody", "attack_name", "bounded", "build", "signed", "unlimited"]


def attack_name(one: AttackFacts, texts: Catalogue, *, isolated: bool = True) -> str:
    """Return what an attack is called. ``isolated``: names of columns are put in marks that keep the direction of the text
    around them.
    """
    values = {
        "knows": ", ".join(one.knows),
        "other": ", ".join(one.other),
        "target": one.target or "",
        "combine": str(one.combine or ""),
    }
    return (texts.text if isolated else texts.plain)(f"attacks.name.{one.attack}", **values)


def unlimited(audit: AuditResult, texts: Catalogue, *, isolated: bool = True) -> str:
    """Name the attacks that the policy sets no limit for; empty where each has one, or none was asked for."""
    facts = audit.attacks
    found = () if facts is None else facts.attacks
    free = (one for one in found if one.max_risk is None and one.max_advantage is None)
    return ", ".join(attack_name(one, texts, isolated=isolated) for one in free)


@dataclass(frozen=True, slots=True)
class AttackRow:
    """An attack as it is read. ``status`` empty: it has no limit."""

    name: str
    main: str
    baseline: str
    control: str
    risk: str
    advantage: str
    limit: str
    status: Status
    result: str
    said: str
    more: str = ""
    strongest: Sentence | None = None


@dataclass(frozen=True, slots=True)
class ClosestRow:
    """Distances of one kind of records."""

    of: str
    rows: str
    median: str
    copies: str


@dataclass(frozen=True, slots=True)
class AttacksBody:
    """Sentences before the table, the attacks, their chart where a rate can be drawn, and distances."""

    said: tuple[Sentence, ...]
    rows: tuple[AttackRow, ...]
    chart: ErrorBars | None
    closest: tuple[ClosestRow, ...]


def build(context: Context) -> AttacksBody | Absent:
    """Show the attacks; where none was tried, say so: a reader would otherwise take the risk figures for one."""
    texts = context.catalogue
    facts = context.audit.attacks
    if facts is None:
        return Absent(texts.of_kind("attacks.absent", context.audit.kind))
    return AttacksBody(
        said=_sentences(facts, context.edition, coarser_columns(context.audit), texts),
        rows=tuple(_row(one, texts) for one in facts.attacks),
        chart=_chart(facts, texts),
        closest=() if facts.closest is None else _closest(facts.closest, texts),
    )


def _sentences(facts: AttacksFacts, edition: Edition, coarser: Sequence[str], texts: Catalogue) -> tuple[Sentence, ...]:
    confidence = numbers.percent(Fraction(facts.confidence))
    said: list[Sentence] = [
        ("attacks.intro", {"sample": numbers.count(facts.sample), "confidence": confidence}),
        ("attacks.risk_said", {}),
    ]
    if edition is Edition.RECIPIENT:
        said.append(("attacks.rounded", {}))
    elif facts.held_out is not None:
        said.append(("attacks.held_out_said", {"rows": shown(facts.held_out, texts).text}))
    elif facts.control is None:
        said.append(("attacks.no_control", {}))
    else:
        said.append(("attacks.control_said", {"control": facts.control}))
    if coarser:
        said.append(("attacks.labels_said", {"columns": ", ".join(coarser)}))
    if any(one.attack == "membership" and one.main is not None for one in facts.attacks):
        said.append(("attacks.membership_said", {}))
    if not facts.decides:
        said.append(("attacks.not_dp", {}))
    return tuple(said)


def _row(one: AttackFacts, texts: Catalogue) -> AttackRow:
    limits = [
        texts.plain(f"attacks.limit_{what}", limit=shown(limit, texts).text)
        for what, limit in (("risk", one.max_risk), ("advantage", one.max_advantage))
        if limit is not None
    ]
    status: Status = "info" if one.outcome is None else _status(one.outcome.value)
    return AttackRow(
        name=attack_name(one, texts),
        main=numbers.unbroken(_rate(one.main, texts)),
        baseline=numbers.unbroken(_rate(one.baseline, texts)),
        control=numbers.unbroken(_control(one, texts)),
        risk=numbers.unbroken(bounded(one.risk, texts)),
        advantage=numbers.unbroken(bounded(one.advantage, texts)),
        limit=", ".join(limits) or texts.text("attacks.no_limit"),
        status=status,
        result=texts.text("word.withheld" if one.outcome is None and limits else f"status.{status}"),
        said=numbers.unbroken(one.told),
        more=numbers.unbroken(" ".join(filter(None, (_covered(one, texts), _exist(one, texts))))),
        strongest=("attacks.strongest", {"columns": ", ".join(one.strongest)}) if one.strongest else None,
    )


def _exist(one: AttackFacts, texts: Catalogue) -> str:
    if one.exist is None or exact(one.exist) is None:
        return ""
    return texts.plain("attacks.exist", number=shown(one.exist, texts).text)


def _covered(one: AttackFacts, texts: Catalogue) -> str:
    if one.covered is None or exact(one.covered) is None:
        return ""
    return texts.plain("attacks.covered", share=shown(one.covered, texts).text)


def _status(outcome: str) -> Status:
    found: dict[str, Status] = {"pass": "pass", "fail": "fail", "warn": "warn", "review": "review"}
    return found.get(outcome, "not_evaluated")


def _control(one: AttackFacts, texts: Catalogue) -> str:
    if one.control_kind == "by_definition":
        return texts.text("attacks.by_definition")
    if one.control_kind == "none":
        return texts.text("word.none")
    rate = _rate(one.control, texts)
    return texts.text("attacks.scaled", rate=rate) if one.control_kind == "scaled" else rate


def _rate(rate: RateFacts | None, texts: Catalogue) -> str:
    if rate is None:
        return texts.text("attacks.not_made")
    successes, attempts = exact(rate.successes), exact(rate.attempts)
    bounds = rate.rate
    if rate.attempts is None:
        return shown(bounds.value, texts).text
    if successes is None or attempts is None or exact(bounds.value) is None:
        return bounded(bounds, texts)
    return texts.plain(
        "attacks.of",
        rate=shown(bounds.value, texts).text,
        successes=numbers.number(successes),
        attempts=numbers.number(attempts),
        low=signed(bounds.low),
        high=signed(bounds.high),
    )


def bounded(bounds: BoundedFacts | None, texts: Catalogue) -> str:
    """Write a share with the ends of its interval."""
    if bounds is None:
        return texts.text("attacks.not_made")
    if exact(bounds.value) is None:
        return shown(bounds.value, texts).text
    if exact(bounds.low) in {None, exact(bounds.value)} and exact(bounds.high) in {None, exact(bounds.value)}:
        return signed(bounds.value)
    return texts.plain("attacks.between", rate=signed(bounds.value), low=signed(bounds.low), high=signed(bounds.high))


def signed(figure: Figure) -> str:
    """Write a share that may be below 0."""
    value = exact(figure)
    if value is None:
        return "?"
    if value >= 0:
        return numbers.percent(value)
    text = numbers.percent(-value)
    return f">-{text[1:]}" if text.startswith("<") else f"-{text}"


def _chart(facts: AttacksFacts, texts: Catalogue) -> ErrorBars | None:
    rows = []
    for one in facts.attacks:
        name = texts.plain(f"attacks.short.{one.attack}", target=one.target or "", combine=str(one.combine or ""))
        for key, rate in (("main", one.main), ("control", one.control if one.control_kind in {"held_out", "scaled"} else None)):
            if rate is None:
                continue
            value, low, high = exact(rate.rate.value), exact(rate.rate.low), exact(rate.rate.high)
            if value is not None and low is not None and high is not None:
                label = texts.plain(f"chart.attacks.{key}", name=name)
                rows.append((label, numbers.percent(value), value, low, high))
    if not rows:
        return None
    most = max(rows, key=lambda row: row[2])
    described = texts.plain("chart.attacks_desc", n=numbers.count(len(rows)), most=f"{most[0]}, {most[1]}")
    return error_bars("attacks", texts.text("chart.attacks"), described, rows)


def _closest(facts: ClosestFacts, texts: Catalogue) -> tuple[ClosestRow, ...]:
    found = [("released", facts.rows, facts.median, facts.copies)]
    if facts.held_out_rows is not None and facts.held_out_median is not None and facts.held_out_copies is not None:
        found.append(("held_out", facts.held_out_rows, facts.held_out_median, facts.held_out_copies))
    return tuple(
        ClosestRow(
            texts.text(f"attacks.closest_{name}"), shown(rows, texts).text, shown(median, texts).text, shown(copies, texts).text
        )
        for name, rows, median, copies in found
    )
