"""Parts of every form for machines: results (what was found, and where) and cases (what was checked, and how it ended).

Texts of data and policy for places where control characters would act or are not allowed (XML 1.0, logs).
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Literal

from privrelease.audit.checks.findings import finding_record
from privrelease.audit.document.model import Outcome
from privrelease.audit.threat_checks import THREAT_CHECKS
from privrelease.report.view.edition import Edition, for_edition
from privrelease.report.view.page import shown_beside
from privrelease.texts.catalogue import english
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.audit.document.model import AuditResult, CheckResult, State, ThreatResult, ThresholdVerdict
    from privrelease.audit.document.signoff import WaiverRecord
    from privrelease.findings import Finding

__all__ = ["Case", "Result", "cases_of", "printable", "results_of", "results_of_policy"]


Level = Literal["error", "warn", "info"]
CaseOutcome = Literal["pass", "warn", "fail", "waived", "error", "skipped", "not_asked"]

_STATES: dict[CaseOutcome, State] = {
    "pass": "holds",
    "error": "not_assessed",
    "skipped": "not_assessed",
    "not_asked": "not_asked",
}

_CODES = {check.id: check.code for check in THREAT_CHECKS}


@dataclass(frozen=True, slots=True)
class Result:
    """One thing found. ``release``: empty where it is about the policy. ``waiver``: the one that lets it pass."""

    code: str
    level: Level
    message: str
    hint: str | None = None
    subject: str = ""
    file: str | None = None
    line: int = 0
    column: int = 0
    release: str = ""
    waiver: WaiverRecord | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One thing checked. ``outcome``: error where it could not be made and had to be, skipped where it had not; waived where a waiver lets it
    pass.
    """

    suite: str
    name: str
    title: str
    outcome: CaseOutcome
    message: str

    @property
    def state(self) -> State:
        """Return the state: it holds, does not, could not be made, or was not asked for."""
        return _STATES.get(self.outcome, "does_not_hold")


def results_of(audit: AuditResult, edition: Edition) -> tuple[Result, ...]:
    """Return what an audit found, as far as the edition admits it: for recipients the limits and checks that do not hold; where what fails is
    not shown to them, that something does.
    """
    kept = for_edition(audit, edition)
    release = kept.identity.release
    if edition is Edition.RECIPIENT:
        return _for_recipients(kept, release)
    counting = {} if (facts := kept.waivers) is None else {one.check: one for one in facts.waivers if one.counts}
    return tuple(
        Result(
            code=finding.code,
            level=finding.severity,
            message=finding.message,
            hint=finding.hint,
            subject=finding.subject,
            file=finding.file,
            line=finding.line,
            column=finding.column,
            release=release,
            waiver=counting.get(finding.subject.removeprefix("checks.")) if finding.subject.startswith("checks.") else None,
        )
        for finding in kept.findings
    )


def _for_recipients(kept: AuditResult, release: str) -> tuple[Result, ...]:
    limits = [
        Result(
            _CODES[verdict.measure],
            "error",
            f"{_measure_of(verdict, threat)} does not hold its limit: {_beside(verdict)}",
            subject=f"threats.{threat.name}",
            release=release,
        )
        for threat in kept.threats
        for verdict in threat.verdicts
        if not verdict.holds
    ]
    checks = [_of_check(check, release) for check in kept.checks if check.outcome not in {Outcome.PASS, Outcome.NOT_ASKED}]
    if kept.decision.outcome is Outcome.FAIL and not any(result.level == "error" for result in (*limits, *checks)):
        checks.append(
            Result("A301", "error", "the release fails its audit by what this edition does not show", release=release)
        )
    return (*limits, *checks)


def _measure_of(verdict: ThresholdVerdict, threat: ThreatResult) -> str:
    return f"{verdict.measure.replace('_', ' ')} of threat {threat.name}"


def _beside(verdict: ThresholdVerdict) -> str:
    texts = english()
    figure, limit = shown_beside(verdict.figure, verdict.threshold, texts)
    return f"{figure.text} ({texts.plain('decision.limit', limit=limit.text)})"


def _of_check(check: CheckResult, release: str) -> Result:
    level: Level = "error" if check.outcome is Outcome.FAIL and check.severity == "error" and not check.waived else "warn"
    code = "A302" if check.outcome is Outcome.NOT_EVALUATED else "A301"
    return Result(code, level, f"{check.id} {check.title}: {check.message}", subject=f"checks.{check.id}", release=release)


def results_of_policy(findings: Iterable[Finding]) -> tuple[Result, ...]:
    """Return what was found in a policy, or what stopped a command."""
    records = map(finding_record, findings)
    return tuple(
        Result(one.code, one.severity, one.message, one.hint, one.subject, one.file, one.line, one.column) for one in records
    )


def cases_of(audit: AuditResult, edition: Edition) -> tuple[Case, ...]:
    """Return every limit of every threat and every check that decides, as far as the edition admits them; as the decision counts them."""
    kept = for_edition(audit, edition)
    release = kept.identity.release
    cases = []
    for threat in kept.threats:
        for verdict in threat.verdicts:
            name, title = f"{threat.name}.{verdict.measure}", _measure_of(verdict, threat)
            cases.append(Case(release, name, title, "pass" if verdict.holds else "fail", _beside(verdict)))
    cases += [
        Case(release, check.id, check.title, _outcome(check), check.message) for check in kept.checks if not check.private
    ]
    return tuple(cases)


def _outcome(check: CheckResult) -> CaseOutcome:
    must = check.severity == "error" and not check.vacuous
    if check.outcome is Outcome.NOT_ASKED:
        return "not_asked"
    if check.outcome is Outcome.NOT_EVALUATED:
        return "error" if must else "skipped"
    if check.outcome is Outcome.PASS:
        return "pass"
    if check.waived:
        return "waived"
    return "fail" if must and check.outcome is Outcome.FAIL else "warn"


def printable(text: str) -> str:
    r"""Return the text with every control, direction and surrogate character (but line feeds) written out.

    >>> printable("a\x1bb\u202ec\nd")
    'a\\x1bb\\u202ec\nd'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Cn"}
        else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
