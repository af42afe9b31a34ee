"""The summary of an audit for a terminal or a log: verdict, then figures next to their limits, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.document.model import Outcome
from privrelease.report.sections.attacks import unlimited
from privrelease.report.sections.risk import counted_words
from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition, for_edition
from privrelease.report.view.page import exact, released_words, shown, shown_beside
from privrelease.texts.catalogue import english

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.audit.document.model import AuditResult, Decision, ThreatResult
    from privrelease.audit.document.signoff import WaiverRecord
    from privrelease.texts.catalogue import Catalogue

__all__ = ["not_made_words", "render_text"]

_WIDTH = 30


def render_text(audit: AuditResult, edition: Edition = Edition.INTERNAL, catalogue: Catalogue | None = None) -> str:
    """Return the summary: several lines, each ended by a line feed."""
    texts = catalogue or english()
    kept = for_edition(audit, edition)
    return "".join(f"{line}\n" for line in _lines(kept, texts))


def _lines(audit: AuditResult, catalogue: Catalogue) -> Iterator[str]:
    decision = audit.decision
    values = {
        "release": audit.identity.release,
        "verdict": catalogue.plain(f"console.{decision.outcome.value}"),
        "passed": str(decision.checks_passed),
        "total": str(decision.checks_total),
        "others": not_made_words(decision, catalogue),
    }
    yield catalogue.plain("console.release", **values)
    for threat in audit.threats:
        yield from _threat(threat, catalogue)
    utility = audit.utility
    if utility is not None:
        figure = shown(utility.cells_share, catalogue).text
        limit = None
        if utility.limit is not None:
            beside = shown_beside(utility.cells_share, utility.limit, catalogue)
            figure, limit = beside[0].text, beside[1].text
        lost, total = shown(utility.cells_lost, catalogue).text, shown(utility.cells_total, catalogue).text
        if exact(utility.cells_share) is not None:
            figure = f"{figure}, {lost} of {total}"
        yield _figure(catalogue.plain("console.cells"), figure, limit, None, catalogue)
        rows = catalogue.plain("utility.rows_dropped").lower()
        yield _figure(rows, shown(utility.rows_dropped, catalogue).text, None, None, catalogue)
    released = released_words(audit, catalogue).lower()
    yield _figure(released, shown(audit.data.released_rows, catalogue).text, None, None, catalogue)
    if audit.table is not None:
        suppressed, cells = shown(audit.table.suppressed, catalogue).text, shown(audit.table.cells, catalogue).text
        yield _figure(catalogue.plain("console.suppressed"), f"{suppressed} of {cells}", None, None, catalogue)
    if free := unlimited(audit, catalogue, isolated=False):
        yield _figure(catalogue.plain("console.unlimited"), free, None, None, catalogue)
    for check in audit.checks:
        if check.outcome.value != "pass":
            said = catalogue.plain("case.waived" if check.waived else f"status.{check.outcome.value}")
            yield f"  {said}: {check.id} {check.title}: {check.message}"
    facts = audit.waivers
    for waiver in () if facts is None else facts.waivers:
        key = f"console.waiver.{_waiver_state(waiver, audit)}"
        yield f"  {catalogue.plain(key, check=waiver.check, expires=waiver.expires)}"


def not_made_words(decision: Decision, catalogue: Catalogue) -> str:
    """Say after the number of checks that hold how many could not be made, and how many were not asked for; nothing where all were made."""
    counts = (("console.not_made", decision.checks_not_made), ("console.not_asked", decision.checks_not_asked))
    return "".join(catalogue.plain(key, n=str(n)) for key, n in counts if n)


def _waiver_state(waiver: WaiverRecord, audit: AuditResult) -> str:
    """Return why a waiver counts or does not; for an unused one, by the outcome of its check."""
    if waiver.state != "unused":
        return waiver.state
    check = next((check for check in audit.checks if check.id == waiver.check), None)
    if check is None:
        return "absent"
    found = {Outcome.NOT_EVALUATED: "not_made", Outcome.WARN: "warns"}
    return found.get(check.outcome, "unused")


def _threat(threat: ThreatResult, catalogue: Catalogue) -> Iterator[str]:
    name = catalogue.plain("console.threat", name=threat.name)
    k = shown(threat.after.k, catalogue)
    before = shown(threat.before.k, catalogue) if threat.before is not None else None
    was = catalogue.plain("console.before", k=before.text) if before is not None and not before.gap else ""
    yield _figure(name, catalogue.plain("console.no_k" if k.gap else "console.k", k=k.text) + was, None, None, catalogue)
    for verdict in threat.verdicts:
        figure, limit = shown_beside(verdict.figure, verdict.threshold, catalogue)
        label = catalogue.plain(f"risk.{verdict.measure}") if catalogue.has(f"risk.{verdict.measure}") else verdict.measure
        yield _figure(f"  {label.lower()}", figure.text, limit.text, verdict.holds, catalogue)
    stand_in = threat.after.further.get("population")
    if stand_in is not None and stand_in.note:
        label = catalogue.plain(f"console.not_assessed.{threat.attacker}")
        yield _figure(f"  {label}", catalogue.plain("console.stand_in", why=stand_in.note), None, None, catalogue)
    residual, counted = exact(threat.after.residual), exact(threat.after.records)
    if residual:
        label = catalogue.plain(f"console.residual.{counted_words(threat.after)}")
        text = shown(threat.after.residual, catalogue).text
        persons = exact(threat.after.persons)
        if counted is not None and persons is not None:
            others = {"persons": numbers.number(persons), "records": numbers.number(counted)}
            text = catalogue.plain("console.residual.in_classes", residual=text, **others)
        elif counted is not None and threat.after.persons is None:
            text = f"{text} {catalogue.plain('decision.of', total=numbers.number(counted + residual))}"
        yield _figure(f"  {label}", text, None, None, catalogue)


def _figure(label: str, text: str, limit: str | None, holds: bool | None, catalogue: Catalogue) -> str:
    beside = f" ({catalogue.plain('decision.limit', limit=limit)})" if limit is not None else ""
    mark = "" if holds is None else f" {catalogue.plain('status.pass' if holds else 'status.fail')}"
    return f"  {label:<{_WIDTH}} {text}{beside}{mark}"
