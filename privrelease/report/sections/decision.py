"""Section 0: the verdict, the figures that decide next to their limits, every check, and what remains for a person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.document.model import Outcome
from privrelease.report.sections.attacks import unlimited
from privrelease.report.sections.privacy import budget_texts
from privrelease.report.view import numbers
from privrelease.report.view.changes import change_rows
from privrelease.report.view.edition import Edition, is_withheld
from privrelease.report.view.page import Shown, exact, released_words, shown, shown_beside

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult, CheckResult, FindingRecord
    from privrelease.audit.document.previous_releases import SinceFacts
    from privrelease.report.view.changes import ChangeRow
    from privrelease.report.view.page import Context, Sentence, Status
    from privrelease.texts.catalogue import Catalogue

__all__ = ["CheckRow", "DecisionBody", "Noted", "Tile", "build"]

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
class Tile:
    """A figure, and what appears next to it: its limit with a status, or a plain remark."""

    label: str
    figure: Shown
    beside: str | None
    status: Status | None


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
    """The verdict and its evidence."""

    outcome: Status
    headline: str
    sentences: tuple[str, ...]
    reasons: tuple[str, ...]
    remaining: tuple[str, ...]
    tiles: tuple[Tile, ...]
    checks: tuple[CheckRow, ...]
    held: tuple[CheckRow, ...]
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
    sentences += _signoff(audit, catalogue)
    since = audit.since
    ordered = sorted(audit.checks, key=lambda check: (_ORDER[check.outcome.value], check.id))
    checks = [_check(check, catalogue) for check in ordered]
    return DecisionBody(
        outcome=outcome,
        headline=catalogue.text(f"decision.{outcome}"),
        sentences=tuple(sentences),
        reasons=decision.reasons,
        remaining=decision.assessment_remaining,
        tiles=tuple(_tiles(audit, catalogue)),
        checks=tuple(check for check in checks if check.status != "pass" or check.observed),
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


def _since(since: SinceFacts | None) -> Sentence | None:
    """Say which release the changes are since; nothing for recipients, whose edition holds no section of internal figures."""
    if since is None:
        return None
    return ("since.caption" if since.changes else "since.nothing"), {"date": since.audited_at}


def _signoff(audit: AuditResult, catalogue: Catalogue) -> list[str]:
    """Say who approved and who has yet to; nothing for recipients, whose edition holds no sign-off."""
    facts = audit.signoff
    if facts is None:
        return []
    signed = ", ".join(dict.fromkeys(one.role for one in facts.approvals))
    said = [catalogue.text("decision.signed", roles=signed)] if signed else []
    return [*said, catalogue.text("decision.signoff", roles=", ".join(facts.missing))] if facts.missing else said


def _tiles(audit: AuditResult, catalogue: Catalogue) -> list[Tile]:
    tiles: list[Tile] = []
    worst = audit.decision.worst
    if worst is not None:
        figure, limit = shown_beside(worst.figure, worst.threshold, catalogue)
        key = "decision.worst" if worst.holds else "decision.worst_failed"
        beside = catalogue.plain("decision.limit", limit=limit.text)
        tiles.append(Tile(catalogue.text(key, what=worst.what), figure, beside, "pass" if worst.holds else "fail"))
    smallest = [(k, threat) for threat in audit.threats if (k := exact(threat.after.k)) is not None]
    if smallest:
        k, threat = min(smallest, key=lambda pair: pair[0])
        label = "decision.k" if threat.after.counted == "records" else "decision.k_persons"
        tiles.append(Tile(catalogue.text(label), Shown(numbers.number(k)), catalogue.text("decision.k_unit"), None))
    utility = audit.utility
    if utility is not None and exact(utility.cells_share) is not None:
        if utility.limit is None:
            tiles.append(Tile(catalogue.text("decision.cells"), shown(utility.cells_share, catalogue), None, None))
        else:
            figure, limit = shown_beside(utility.cells_share, utility.limit, catalogue)
            within = (exact(utility.cells_share) or 0) <= (exact(utility.limit) or 0)
            beside = catalogue.plain("decision.limit", limit=limit.text)
            tiles.append(Tile(catalogue.text("decision.cells"), figure, beside, "pass" if within else "fail"))
    total = exact(audit.data.source_rows)
    of_source = catalogue.plain("decision.of", total=numbers.number(total)) if total is not None else None
    tiles.append(Tile(released_words(audit, catalogue), shown(audit.data.released_rows, catalogue), of_source, None))
    return [*_privacy_tiles(audit, catalogue), *tiles]


def _privacy_tiles(audit: AuditResult, catalogue: Catalogue) -> list[Tile]:
    """Epsilon spent compared with what the policy allows, and the population's rest; nothing where no privacy is claimed."""
    facts = audit.statistics
    if facts is None:
        return []
    spent, allowed = Fraction(facts.epsilon), Fraction(facts.allowed_epsilon)
    within = catalogue.plain("dp.within", allowed=numbers.number(allowed))
    status: Status = "pass" if spent <= allowed else "fail"
    tiles = [Tile(catalogue.text("dp.tile.epsilon"), Shown(numbers.number(spent)), within, status)]
    left = None if facts.budget is None else budget_texts(facts.budget, catalogue)
    return tiles if left is None else [*tiles, Tile(catalogue.text("dp.tile.left"), Shown(left[0]), left[1], None)]


def _check(check: CheckResult, catalogue: Catalogue) -> CheckRow:
    observed = None if check.observed is None or is_withheld(check.observed) else shown(check.observed, catalogue)
    limit = None if check.limit is None or is_withheld(check.limit) else shown(check.limit, catalogue)
    if check.observed is not None and check.limit is not None and observed is not None:
        observed, limit = shown_beside(check.observed, check.limit, catalogue)
    status, said = _OUTCOMES[check.outcome], check.message
    if check.waived:
        status, said = "warn", f"{catalogue.plain('case.waived')}: {check.message}"
    return CheckRow(check.id, check.title, status, observed, limit, numbers.unbroken(said))


def _noted(finding: FindingRecord) -> Noted:
    where = None
    if finding.file:
        where = finding.file + (f":{finding.line}" if finding.line else "") + (f":{finding.column}" if finding.column else "")
    return Noted(finding.code, _SEVERITIES[finding.severity], numbers.unbroken(finding.message), finding.hint, where)
