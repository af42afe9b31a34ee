"""The verdict: fail where a check or a threshold fails, review where the policy's legal profile lacks a field, pass otherwise.

What could not be looked at is no pass: it fails, except what a file that came from elsewhere has nothing to compare with, which is left to
a person. What the policy itself asks for and what had nothing to look at (no rows, no values, an attack's limit with nobody to attack) neither
passes nor fails: it means review. Evidence and residual risk are stated; nothing is called anonymous.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.audit.checks.codes import ATTACK_CODES, CONTROL_CHECK, INTEGRITY_CODES, MEASURE_CODES
from privrelease.audit.checks.findings import finding_record, place
from privrelease.audit.checks.hints import HINTS, hint_of
from privrelease.audit.document.model import Decision, FindingRecord, Outcome, WorstFigure, check_unmade
from privrelease.audit.microdata.risk.figures import NO_RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.audit.checks.findings import Place
    from privrelease.audit.document.model import CheckResult, LegalFacts, ThreatResult, ThresholdVerdict
    from privrelease.findings import Finding, Location
    from privrelease.plan.model import MicrodataPlan, ThreatPlan

__all__ = ["REMAINING", "check_records", "decide", "finding_record", "findings_of", "place_of"]

#: What no audit of a file can settle.
REMAINING = (
    "Whether the threats named in the policy are those that exist: an attacker who knows other columns was not measured.",
    "Whether other releases or outside data, combined with this one, tell more.",
    "Whether what a class has in common (sensitive values shared by all its members) harms its members.",
    "Whether the release is lawful and necessary: the controller's decision, on the data-protection officer's advice.",
)
UNION_REMAINING = "Whether an attacker may know all threats' columns together: that risk is reported and has no limit."

_CODES = {check_id: code for check_id, code, _ in (*INTEGRITY_CODES, *ATTACK_CODES, CONTROL_CHECK)}


def _fails(check: CheckResult) -> bool:
    fails = check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED} and not check.vacuous
    return check.severity == "error" and not check.waived and not check.private and fails


def _undecided(check: CheckResult) -> bool:
    """Whether a check that must hold had nothing to look at."""
    return check.vacuous and check.severity == "error"


def _severity(check: CheckResult) -> Literal["error", "warn", "info"] | None:
    if check.outcome is Outcome.PASS:
        return None
    return "error" if _fails(check) else "warn"


def _about_threat(plan: ThreatPlan, code: str, message: str, severity: Literal["error", "warn"] = "error") -> FindingRecord:
    return FindingRecord(
        code=code,
        message=message,
        severity=severity,
        hint=HINTS[code],
        subject=f"threats.{plan.name}",
        **place(plan.location),
    )


def _number(text: str | None, value: float | None) -> str:
    return text if text is not None else f"{value}"


#: What a threshold means, and how the same is said as a demand that is not met.
_DEMANDS = (
    ("every class has ", "every class needs "),
    (" has classes of ", " needs classes of "),
    (" is that of ", " must be that of "),
    (" is found with ", " may be found with "),
    (" have a risk", " may have a risk"),
)


def _demand(means: str) -> str:
    """Say what a missed threshold demands.

    >>> _demand("every class has at least 5 records")
    'every class needs at least 5 records'
    """
    for is_so, should in _DEMANDS:
        means = means.replace(is_so, should, 1)
    return means


def _sentence(result: ThreatResult, verdict: ThresholdVerdict) -> str:
    figure, limit = verdict.figure, verdict.threshold
    k = result.after.k.value
    size = f" (k = {k})" if verdict.measure == "highest_risk" and k is not None else ""
    observed, threshold = _number(figure.exact, figure.value), _number(limit.exact, limit.value)
    relation = "is below" if verdict.measure == "subsets" else "is above"
    return f"{verdict.measure} of threat {result.name} is {observed}{size} and {relation} {threshold}: {_demand(verdict.means)}"


def _population_short(plan: ThreatPlan, classes: int) -> FindingRecord:
    message = (
        f"the population of threat {plan.name} has fewer persons than the file in {classes} classes: "
        "the file is no sample of it; those classes count as in the file"
    )
    return _about_threat(plan, "A108", message, "warn")


def _threat_findings(plans: Iterable[ThreatPlan], results: Sequence[ThreatResult]) -> list[FindingRecord]:
    found: list[FindingRecord] = []
    by_name = {result.name: result for result in results}
    for plan in plans:
        result = by_name[plan.name]
        if result.after.k.value is None:
            message = f"threat {plan.name} has nothing to measure: {result.after.k.note}"
            found.append(_about_threat(plan, "A105", message))
            continue
        short = result.after.further.get("population_short")
        if short is not None and short.value:
            found.append(_population_short(plan, int(short.value)))
        for verdict in result.verdicts:
            if not verdict.holds:
                code = MEASURE_CODES[verdict.measure]
                found.append(_about_threat(plan, code, _sentence(result, verdict)))
    return found


def findings_of(
    plan: MicrodataPlan, threats: Sequence[ThreatResult], checks: Iterable[CheckResult], warnings: Iterable[Finding]
) -> tuple[FindingRecord, ...]:
    """Name every failure: threat, measure, figure and threshold, or the check; and what reading the source warned of."""
    checks = tuple(checks)
    found = _threat_findings(plan.threats, threats)
    if any(check.id == "AUDIT-RECORDS" and _fails(check) for check in checks):
        # that no record is there is said once, by the check; a threat says more only where records leave
        found = [one for one in found if one.code != "A105" or not one.message.endswith(NO_RECORDS)]
    if not threats and not plan.checks:
        message = "nothing was checked: the release has no threat and no check"
        found.append(
            FindingRecord(
                code="A107",
                message=message,
                severity="error",
                hint=HINTS["A107"],
                subject=f"releases.{plan.id}",
                **place(plan.location),
            )
        )
    found += check_records(plan.location, checks)
    return (*found, *(finding_record(finding) for finding in warnings))


def check_records(release: Location | None, checks: Iterable[CheckResult]) -> tuple[FindingRecord, ...]:
    """Name every check that does not pass, with its place in the policy: where it was written, else that of the ``release``."""
    return tuple(
        FindingRecord(
            code=(code := _code(check)),
            message=f"{check.id} {check.title}: {check.message}",
            severity=severity,
            hint=hint_of(code, check),
            subject=f"checks.{check.id}",
            **place_of(check, release),
        )
        for check in checks
        if (severity := _severity(check)) is not None
    )


def place_of(check: CheckResult, release: Location | None) -> Place:
    """Where a check was written; one that no policy wrote is about the release."""
    return {"file": check.file, "line": check.line, "column": check.column} if check.file is not None else place(release)


def _code(check: CheckResult) -> str:
    return _CODES.get(check.id.rstrip("-0123456789"), "A302" if check.outcome is Outcome.NOT_EVALUATED else "A301")


def _ratio(verdict: ThresholdVerdict) -> Fraction | None:
    """How much of its threshold a figure takes up; None: undefined, worse than any."""
    figure, limit = verdict.figure.exact, verdict.threshold.exact
    if figure is None or limit is None:
        return None
    if verdict.measure == "subsets":
        return Fraction(limit) / Fraction(figure) if Fraction(figure) else None
    return Fraction(figure) / Fraction(limit) if Fraction(limit) else Fraction(0 if not Fraction(figure) else 10**9)


def _worst(threats: Iterable[ThreatResult]) -> WorstFigure | None:
    pairs = [(threat, verdict) for threat in threats for verdict in threat.verdicts]
    if not pairs:
        return None

    def rank(pair: tuple[ThreatResult, ThresholdVerdict]) -> tuple[bool, bool, Fraction]:
        ratio = _ratio(pair[1])
        return (not pair[1].holds, ratio is None, ratio or Fraction(0))

    threat, verdict = max(pairs, key=rank)
    what = f"{verdict.measure.replace('_', ' ')} of threat {threat.name}"
    return WorstFigure(what=what, figure=verdict.figure, threshold=verdict.threshold, holds=verdict.holds)


def decide(
    threats: Sequence[ThreatResult],
    union: ThreatResult | None,
    checks: Sequence[CheckResult],
    findings: Sequence[FindingRecord],
    legal: LegalFacts,
) -> Decision:
    """Decide from what was found."""
    errors = [finding.message for finding in findings if finding.severity == "error"]
    checks = [check for check in checks if not check.private]
    unlooked = [check for check in checks if check.outcome is Outcome.NOT_EVALUATED and not _fails(check)]
    failing = any(_fails(check) for check in checks) or not all(threat.holds for threat in threats) or bool(errors)
    empty = tuple(f"{check.id} {check.title}: {check.message}" for check in checks if _undecided(check))
    incomplete = legal.profile is not None and bool(legal.missing)
    missing = (f"the policy does not state what its legal profile requires: {', '.join(legal.missing)}",) if incomplete else ()
    if failing:
        outcome: Literal[Outcome.PASS, Outcome.FAIL, Outcome.REVIEW] = Outcome.FAIL
    else:
        outcome = Outcome.REVIEW if incomplete or empty else Outcome.PASS
    verdicts = [verdict.holds for threat in threats for verdict in threat.verdicts]
    made = [check for check in checks if check.outcome is not Outcome.NOT_EVALUATED]
    good = [check.outcome is Outcome.PASS for check in made]
    return Decision(
        outcome=outcome,
        checks_passed=sum(verdicts) + sum(good),
        checks_total=len(verdicts) + len(good),
        checks_not_made=len(checks) - len(made),
        worst=_worst(threats),
        reasons=(*errors, *missing, *empty),
        assessment_remaining=(
            *REMAINING,
            *((UNION_REMAINING,) if union is not None else ()),
            *(check_unmade(check) for check in unlooked),
        ),
    )
