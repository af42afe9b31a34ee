"""Section 0: the verdict, what became of the release, the figure that decided, and what remains for a person; then every check."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.document.model import Outcome
from privrelease.report.sections.attacks import unlimited
from privrelease.report.sections.deciding import tiles
from privrelease.report.sections.glance import glance
from privrelease.report.sections.plain_words import plain_words
from privrelease.report.view import numbers
from privrelease.report.view.changes import change_rows
from privrelease.report.view.edition import Edition, is_withheld
from privrelease.report.view.page import Shown, exact, shown, shown_beside
from privrelease.report.view.standing import standing_said
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult, CheckResult, FindingRecord
    from privrelease.audit.document.previous_releases import SinceFacts
    from privrelease.report.sections.deciding import Tile
    from privrelease.report.sections.glance import Glance
    from privrelease.report.view.changes import ChangeRow
    from privrelease.report.view.page import Context, Sentence, Status
    from privrelease.texts.catalogue import Catalogue

__all__ = ["CheckRow", "DecisionBody", "Noted", "build"]

_OUTCOMES: dict[Outcome, Status] = {
    Outcome.PASS: "pass",
    Outcome.WARN: "warn",
    Outcome.FAIL: "fail",
    Outcome.REVIEW: "review",
    Outcome.NOT_EVALUATED: "not_evaluated",
    Outcome.NOT_ASKED: "not_asked",
}
_SEVERITIES: dict[str, Status] = {"error": "fail", "warn": "warn", "info": "info"}
_ORDER = {"fail": 0, "not_evaluated": 1, "review": 2, "warn": 3, "not_asked": 4, "pass": 5}


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check: what was observed compared with its limit, and what it says."""

    id: str
    title: str
    status: Status
    observed: Shown | None
    limit: Shown | None
    message: str


@dataclass(frozen=True, slots=True)
class Noted:
    """A finding: its code, its text, what to do, and where in the policy."""

    code: str
    status: Status
    message: str
    hint: str | None
    where: str | None


@dataclass(frozen=True, slots=True)
class DecisionBody:
    """The verdict and its evidence. ``box``: its mark, of which a withdrawn release has a neutral one; ``standing``: what became of the release; ``warnings``: what a reader must know first; ``plain``: paragraphs.

    ``checks`` are those that do not hold; ``measured`` those that hold and have a figure, or that the policy does not ask for; ``held`` the rest.
    """

    outcome: Status
    box: Status
    headline: str
    standing: Sentence | None
    warnings: tuple[Sentence, ...]
    sentences: tuple[str, ...]
    reasons: tuple[str, ...]
    remaining: tuple[str, ...]
    tiles: tuple[Tile, ...]
    rows_said: Sentence | None
    plain: tuple[tuple[Sentence, ...], ...]
    charts: tuple[Glance, ...]
    checks: tuple[CheckRow, ...]
    measured: tuple[CheckRow, ...]
    held: tuple[CheckRow, ...]
    others_said: Sentence
    findings: tuple[Noted, ...]
    since: Sentence | None
    changes: tuple[ChangeRow, ...]


def build(context: Context) -> DecisionBody:
    """Show the decision first; nothing here calls a release anonymous or lawful."""
    audit, catalogue = context.audit, context.catalogue
    decision = audit.decision
    outcome = _OUTCOMES[decision.outcome]
    said = catalogue.text("decision.checks_none")
    if decision.checks_total:
        counts = numbers.count(decision.checks_passed), numbers.count(decision.checks_total)
        said = catalogue.plain("decision.checks", passed=counts[0], total=counts[1])
    sentences = [
        said,
        *_not_made(context),
        *([catalogue.text("decision.checks_shown")] if context.edition is Edition.RECIPIENT and decision.checks_total else []),
        catalogue.text("decision.evidence" if outcome == "pass" else "decision.not_published"),
    ]
    waived = ", ".join(check.id for check in audit.checks if check.waived)
    sentences += [catalogue.text("decision.waived", checks=waived)] if waived else []
    free = unlimited(audit, catalogue)
    sentences += [catalogue.text("decision.unlimited", attacks=free)] if free else []
    sentences += _signoff(context)
    since = audit.since
    ordered = sorted(audit.checks, key=lambda check: (_ORDER[check.outcome.value], check.id))
    checks = [_check(check, catalogue) for check in ordered]
    return DecisionBody(
        outcome=outcome,
        box="info" if context.standing is not None and context.standing.state == "withdrawn" else outcome,
        headline=catalogue.text(f"decision.{outcome}"),
        standing=None if context.standing is None else standing_said(context.standing, _missing(audit)),
        warnings=tuple(_warnings(context)),
        sentences=tuple(sentences),
        reasons=decision.told_reasons,
        remaining=decision.told_remaining,
        tiles=tiles(audit, catalogue),
        rows_said=_rows_said(audit),
        plain=plain_words(context),
        charts=glance(context),
        checks=tuple(check for check in checks if check.status not in {"pass", "not_asked"}),
        measured=tuple(check for check in checks if check.status == "not_asked" or (check.status == "pass" and check.observed)),
        others_said=_others_said(checks),
        held=tuple(check for check in checks if check.status == "pass" and not check.observed),
        findings=tuple(_noted(finding) for finding in audit.findings if finding.message not in decision.reasons),
        since=_since(since),
        changes=() if since is None else change_rows(since.changes, catalogue),
    )


def _not_made(context: Context) -> list[str]:
    """Say how many checks could not be made, and how many were not asked for; inside also which. The remaining assessment says why."""
    decision = context.audit.decision
    counts = {Outcome.NOT_EVALUATED: decision.checks_not_made, Outcome.NOT_ASKED: decision.checks_not_asked}
    return [_counted(context, outcome, n) for outcome, n in counts.items() if n]


_NOT_MADE = {Outcome.NOT_EVALUATED: "decision.not_made", Outcome.NOT_ASKED: "decision.not_asked"}


def _counted(context: Context, outcome: Outcome, n: int) -> str:
    catalogue = context.catalogue
    names = ", ".join(check.id for check in context.audit.checks if check.outcome is outcome and not check.private)
    if context.edition is Edition.RECIPIENT or not names:
        return catalogue.plain(f"{_NOT_MADE[outcome]}_count", n=numbers.count(n))
    return catalogue.plain(_NOT_MADE[outcome], n=numbers.count(n), checks=names)


def _others_said(checks: list[CheckRow]) -> Sentence:
    """Say how many checks hold, and how many were not asked for."""
    hold, unasked = (numbers.count(sum(check.status == status for check in checks)) for status in ("pass", "not_asked"))
    return ("decision.held", {"n": hold}) if unasked == "0" else ("decision.held_unasked", {"n": hold, "unasked": unasked})


def _missing(audit: AuditResult) -> tuple[str, ...]:
    """Return the roles that have yet to approve."""
    return () if audit.signoff is None else audit.signoff.missing


def _warnings(context: Context) -> list[Sentence]:
    """Special categories about which the policy states nothing in law, for those inside."""
    audit = context.audit
    if context.edition is Edition.RECIPIENT or audit.legal.stated:
        return []
    special = [column.name for column in audit.data.columns if column.category == "special"]
    return [("decision.no_legal", {"columns": ", ".join(special)})] if special else []


def _rows_said(audit: AuditResult) -> Sentence | None:
    """Reconcile the rows of the source with those that are released; None where one of them may not be shown, or no row is released."""
    if audit.utility is None:
        return None
    source, released, dropped = (
        exact(one) for one in (audit.data.source_rows, audit.data.released_rows, audit.utility.rows_dropped)
    )
    if source is None or released is None or dropped is None:
        return None
    outside = exact(audit.data.rows_outside) or Fraction(0)
    values = {"source": source, "outside": outside, "dropped": dropped, "released": released}
    agree = source - outside - dropped == released
    return ("decision.rows" if agree else "decision.rows_differ"), {name: numbers.number(one) for name, one in values.items()}


def _since(since: SinceFacts | None) -> Sentence | None:
    """Say which release the changes are since; nothing for recipients, whose edition holds no section of internal figures."""
    if since is None:
        return None
    return ("since.caption" if since.changes else "since.nothing"), {"date": since.audited_at}


def _signoff(context: Context) -> list[str]:
    """Say who approved and, where the standing does not, who has yet to; nothing for recipients, whose edition holds no sign-off."""
    facts, catalogue = context.audit.signoff, context.catalogue
    if facts is None:
        return []
    signed = ", ".join(dict.fromkeys(one.role for one in facts.approvals))
    said = [catalogue.text("decision.signed", roles=signed)] if signed else []
    return (
        [*said, catalogue.text("decision.signoff", roles=", ".join(facts.missing))]
        if facts.missing and context.standing is None
        else said
    )


def _check(check: CheckResult, catalogue: Catalogue) -> CheckRow:
    observed = None if check.observed is None or is_withheld(check.observed) else shown(check.observed, catalogue)
    limit = None if check.limit is None or is_withheld(check.limit) else shown(check.limit, catalogue)
    if check.observed is not None and check.limit is not None and observed is not None:
        observed, limit = shown_beside(check.observed, check.limit, catalogue)
    status, said = _OUTCOMES[check.outcome], check.told
    if check.waived:
        status, said = "warn", say("waived_message", message=said)
    return CheckRow(check.id, check.told_title, status, observed, limit, numbers.unbroken(said))


def _noted(finding: FindingRecord) -> Noted:
    where = None
    if finding.file:
        where = finding.file + (f":{finding.line}" if finding.line else "") + (f":{finding.column}" if finding.column else "")
    return Noted(finding.code, _SEVERITIES[finding.severity], numbers.unbroken(finding.told), finding.hint, where)
