"""Figures of the first screen: first the one that decided, then the others. Nothing looks like a pass next to a failure."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.check import fails
from privrelease.audit.document.model import Outcome
from privrelease.report.sections.attacks import attack_name, signed
from privrelease.report.sections.privacy import budget_texts
from privrelease.report.view import numbers
from privrelease.report.view.edition import is_withheld
from privrelease.report.view.page import Shown, exact, released_words, shown, shown_beside
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult, CheckResult, WorstFigure
    from privrelease.report.view.page import Status
    from privrelease.texts.catalogue import Catalogue

__all__ = ["Tile", "tiles"]


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure, and what appears next to it: its limit with a status, or a plain remark."""

    label: str
    figure: Shown
    beside: str | None
    status: Status | None


def tiles(audit: AuditResult, texts: Catalogue) -> tuple[Tile, ...]:
    """Return the deciding figure and the others; of a release that does not pass, no other is marked as one that does."""
    first = _deciding(audit, texts)
    rest = [*_privacy(audit, texts), *_attacked(audit, texts), *_smallest(audit, texts), *_lost(audit, texts)]
    rest.append(_released(audit, texts))
    if audit.decision.outcome is not Outcome.PASS:
        rest = [replace(tile, status=None) if tile.status == "pass" else tile for tile in rest]
    if first is not None:
        rest = [tile for tile in rest if tile.label != first.label]
    return (*(() if first is None else (first,)), *rest)


# -------------------------------------------------------------------------------------------------------------------- deciding


def _deciding(audit: AuditResult, texts: Catalogue) -> Tile | None:
    """Return the figure by which it was decided; None where no figure may be shown."""
    decided = {Outcome.FAIL: _failing, Outcome.REVIEW: _undecided, Outcome.PASS: _nearest}
    return decided[audit.decision.outcome](audit, texts)


def _failing(audit: AuditResult, texts: Catalogue) -> Tile | None:
    worst = audit.decision.worst
    if worst is not None and not worst.holds:
        figure, limit = shown_beside(worst.figure, worst.threshold, texts)
        return Tile(texts.text("decision.failed", what=_what(audit, worst, texts)), figure, _limited(limit, texts), "fail")
    failing = sorted((check for check in audit.checks if fails(check)), key=lambda check: (check.observed is None, check.id))
    return _of_check(failing[0], "decision.failed", "fail", texts) if failing else None


def _undecided(audit: AuditResult, texts: Catalogue) -> Tile | None:
    """Return what stands between this release and a pass: legal fields that are missing, or checks that a person has to judge."""
    missing = len(audit.legal.missing) if audit.legal.profile is not None else 0
    if missing:
        return Tile(
            texts.text("decision.missing"), Shown(numbers.count(missing)), texts.text("decision.missing_said"), "review"
        )
    left = [
        check
        for check in audit.checks
        if not check.private and ((check.vacuous and check.severity == "error") or check.outcome is Outcome.REVIEW)
    ]
    return _of_check(left[0], "decision.left", "review", texts) if left else None


def _nearest(audit: AuditResult, texts: Catalogue) -> Tile | None:
    """A waived failure first; else the figure nearest to its limit; of a table what an attacker can work out."""
    waived = [check for check in audit.checks if check.waived]
    if waived:
        return _of_check(waived[0], "decision.waived_figure", "warn", texts)
    worst = audit.decision.worst
    if worst is not None:
        figure, limit = shown_beside(worst.figure, worst.threshold, texts)
        return Tile(texts.text("decision.worst", what=_what(audit, worst, texts)), figure, _limited(limit, texts), "pass")
    if audit.table is not None and audit.table.intervals:
        exposed = [exact(one.exposed) for one in audit.table.intervals]
        unsafe = [exact(one.unsafe) for one in audit.table.intervals]
        if all(one is not None for one in (*exposed, *unsafe)):
            most = max(one for one in unsafe if one is not None)
            of = texts.plain("decision.of_unsafe", total=numbers.number(most))
            found = max(one for one in exposed if one is not None)
            return Tile(texts.text("decision.exposed"), Shown(numbers.number(found)), of, "pass" if not found else "fail")
    return None


def _what(audit: AuditResult, worst: WorstFigure, texts: Catalogue) -> str:
    """Name a threshold in the language of the page; in English as the audit does."""
    for threat in audit.threats if texts.is_foreign(worst.what) else ():
        for verdict in threat.verdicts:
            if (verdict.figure, verdict.threshold) == (worst.figure, worst.threshold):
                measure = f"risk.{verdict.measure}"
                return f"{texts.text(measure)}, {texts.text('risk.threat')} {threat.name}"
    return worst.what


def _of_check(check: CheckResult, key: str, status: Status, texts: Catalogue) -> Tile:
    label = texts.text(key, what=texts.said(check.told_title))
    if check.observed is None or is_withheld(check.observed):
        return Tile(label, Shown(check.id, gap=False), texts.text(f"status.{status}"), status)
    if check.limit is None or is_withheld(check.limit):
        return Tile(label, shown(check.observed, texts), check.id, status)
    figure, limit = shown_beside(check.observed, check.limit, texts)
    return Tile(label, figure, _limited(limit, texts), status)


def _limited(limit: Shown, texts: Catalogue) -> str:
    return texts.plain("decision.limit", limit=limit.text)


# ------------------------------------------------------------------------------------------------------------------- the others


def _privacy(audit: AuditResult, texts: Catalogue) -> list[Tile]:
    """Epsilon spent compared with what the policy allows, and the population's rest; nothing where no privacy is claimed."""
    facts = audit.statistics
    if facts is None:
        return []
    spent, allowed = Fraction(facts.epsilon), Fraction(facts.allowed_epsilon)
    within = texts.plain("dp.within", allowed=numbers.number(allowed))
    status: Status = "pass" if spent <= allowed else "fail"
    found = [Tile(texts.text("dp.tile.epsilon"), Shown(numbers.number(spent)), within, status)]
    left = None if facts.budget is None else budget_texts(facts.budget, texts)
    return found if left is None else [*found, Tile(texts.text("dp.tile.left"), Shown(left[0]), left[1], None)]


def _attacked(audit: AuditResult, texts: Catalogue) -> list[Tile]:
    """The attack that succeeded most, by its risk; whether it has a limit or not."""
    facts = audit.attacks
    found = [
        (value, one)
        for one in (() if facts is None else facts.attacks)
        if one.risk is not None and (value := exact(one.risk.value)) is not None
    ]
    if not found:
        return []
    _, worst = max(found, key=lambda pair: pair[0])
    assert worst.risk is not None
    named = worst.model_copy(update={"knows": worst.strongest}) if worst.strongest else worst
    label = texts.text("decision.attacked", attack=attack_name(named, texts, isolated=False))
    figure = Shown(signed(worst.risk.value))
    if worst.max_risk is None:
        free = worst.max_advantage is None
        return [Tile(label, figure, texts.text("decision.no_limit") if free else None, None)]
    limit = shown(worst.max_risk, texts)
    status: Status = "fail" if worst.outcome is Outcome.FAIL else "pass" if worst.outcome is Outcome.PASS else "not_evaluated"
    return [Tile(label, figure, _limited(limit, texts), status)]


def _smallest(audit: AuditResult, texts: Catalogue) -> list[Tile]:
    known = [(k, threat) for threat in audit.threats if (k := exact(threat.after.k)) is not None]
    if not known:
        return []
    k, threat = min(known, key=lambda pair: pair[0])
    label = "decision.k" if threat.after.counted == "records" else "decision.k_persons"
    return [Tile(texts.text(label), Shown(numbers.number(k)), texts.text("decision.k_unit"), None)]


def _lost(audit: AuditResult, texts: Catalogue) -> list[Tile]:
    """Cells lost; of a table those that are not printed."""
    table = audit.table
    if table is not None:
        hidden, cells = exact(table.suppressed), exact(table.cells)
        if hidden is None or not cells:
            return []
        of = texts.plain("decision.of", total=numbers.number(cells))
        return [Tile(texts.text("decision.cells_hidden"), Shown(numbers.number(hidden)), of, None)]
    utility = audit.utility
    if utility is None or exact(utility.cells_share) is None:
        return []
    if utility.limit is None:
        return [Tile(texts.text("decision.cells"), shown(utility.cells_share, texts), None, None)]
    figure, limit = shown_beside(utility.cells_share, utility.limit, texts)
    within = (exact(utility.cells_share) or 0) <= (exact(utility.limit) or 0)
    return [Tile(texts.text("decision.cells"), figure, _limited(limit, texts), "pass" if within else "fail")]


def _released(audit: AuditResult, texts: Catalogue) -> Tile:
    total = exact(audit.data.source_rows)
    of_source = texts.plain("decision.of", total=numbers.number(total)) if total is not None and audit.threats else None
    return Tile(released_words(audit, texts), shown(audit.data.released_rows, texts), of_source, None)
