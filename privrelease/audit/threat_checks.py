"""The limits of a threat as checks: their codes and remedies, what each asks for in words, and the findings about those that do not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.check import Check, failed, passed
from privrelease.audit.checks.codes import kind_of
from privrelease.audit.checks.findings import place
from privrelease.audit.document.model import FindingRecord, Outcome
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from privrelease.audit.check import CheckOutcome
    from privrelease.audit.document.model import ThreatResult, ThresholdVerdict
    from privrelease.plan.model import ThreatPlan

    Counted = Literal["records", "persons", "person_sets", "person_multisets"]

__all__ = ["THREAT_CHECKS", "LimitOfThreat", "limit_words", "threat_findings"]

_LINKED: Final = {"person_sets": "set of rows", "person_multisets": "set of rows, repeated ones counted,"}


@dataclass(frozen=True, slots=True)
class LimitOfThreat:
    """One limit of a threat on the final output."""

    plan: ThreatPlan
    result: ThreatResult
    verdict: ThresholdVerdict


def _held(limit: LimitOfThreat) -> CheckOutcome:
    verdict, result = limit.verdict, limit.result
    if verdict.holds:
        return passed(verdict.means)
    k = result.after.k.value
    size = f" (k = {k})" if verdict.measure == "highest_risk" and k is not None else ""
    observed, most = (
        _number(verdict.figure.exact, verdict.figure.value),
        _number(verdict.threshold.exact, verdict.threshold.value),
    )
    relation = "is below" if verdict.measure == "subsets" else "is above"
    demand = limit_words(limit.plan, verdict.measure, result.after.counted, demanded=True)
    whose = "" if verdict.measure == "subsets" else _stands_in(result)
    return failed(f"{verdict.measure} of threat {result.name} is {observed}{size} and {relation} {most}: {demand}{whose}")


def _stands_in(result: ThreatResult) -> str:
    """Name the figure where another attacker's stands in for the threat's own, and why; nothing where it is the threat's own."""
    note = result.after.further.get("population")
    return "" if note is None or note.note is None else f"; the {result.attacker}'s risk is not assessed, this is {note.note}"


_PROTECT: Final = "generalise (`generalise`) or drop (`drop`) a column that distinguishes persons, or suppress cells (`suppress`) for this threat (`protect`)"

_ASSESS: Final = (
    "audit the file with its source and row map, or name the population's table (`population: {table: …}`): class sizes in the population "
    "follow from these"
)

#: In the order in which they are reported; the id of each is its measure.
THREAT_CHECKS: tuple[Check[LimitOfThreat], ...] = (
    Check("A101", "highest_risk", "highest risk above its limit", _PROTECT, _held),
    Check("A102", "average_risk", "average risk above its limit", _PROTECT, _held),
    Check(
        "A103",
        "records_at_risk",
        "more records at risk than the limit",
        "protect the threat (`protect`), so that fewer records are in small classes: generalise or drop a column that distinguishes persons, or suppress cells",
        _held,
    ),
    Check(
        "A104",
        "subsets",
        "a combination of columns has too small a class",
        "protect the threat with its `subsets`, or leave a column of the combination out",
        _held,
    ),
)
_BY_MEASURE: Final = {check.id: check for check in THREAT_CHECKS}


def limit_words(threat: ThreatPlan, measure: str, counted: Counted, *, demanded: bool = False) -> str:
    """Say in words what a limit asks for: of records, of persons, or of persons known by all their rows together.

    ``demanded``: as a demand that is not met. Records at risk and average risk are worded by their limits in the plan.
    """
    one, many = ("record", "records") if counted == "records" else ("person", "persons")
    limits, k = threat.thresholds, threat.thresholds.k
    has = "needs" if demanded else "has"
    if measure == "highest_risk" and counted in _LINKED:
        is_that = "must be that" if demanded else "is that"
        return f"rows of one person can be linked: every {_LINKED[counted]} {is_that} of at least {k} persons"
    if measure == "highest_risk":
        return f"every class {has} at least {k} {many}"
    if measure == "average_risk":
        assert limits.average is not None
        is_found = "may be found" if demanded else "is found"
        return f"a {one} {is_found} with a chance of at most {float(limits.average):.6g} on average"
    if measure == "records_at_risk":
        assert limits.at_risk is not None
        have = "may have" if demanded else "have"
        return f"at most {float(limits.at_risk.share):.6g} of the {many} {have} a risk above {float(limits.at_risk.above):.6g}"
    subsets = threat.subsets
    assert subsets is not None
    deepest = min(subsets.up_to, len(threat.columns))
    return f"every combination of at most {deepest} columns {has} classes of at least {subsets.k} {many}"


def threat_findings(plans: Iterable[ThreatPlan], results: Sequence[ThreatResult]) -> tuple[FindingRecord, ...]:
    """Name every threat that has nothing to measure or a population that is too small, and every limit that does not hold."""
    found: list[FindingRecord] = []
    by_name = {result.name: result for result in results}
    for plan in plans:
        result = by_name[plan.name]
        if result.after.k.value is None:
            message = f"threat {plan.name} has nothing to measure: {result.after.k.note}"
            found.append(_about(plan, "A105", kind_of("A105").hint, message))
            continue
        short = result.after.further.get("population_short")
        if short is not None and short.value:
            found.append(_population_short(plan, int(short.value)))
        for verdict in result.verdicts:
            check = _BY_MEASURE[verdict.measure]
            outcome = check.judge(LimitOfThreat(plan, result, verdict))
            if outcome.outcome is Outcome.FAIL:
                hint = _ASSESS if verdict.measure != "subsets" and _stands_in(result) else check.hint
                found.append(_about(plan, check.code, hint, outcome.message))
    return tuple(found)


def _about(plan: ThreatPlan, code: str, hint: str, message: str, severity: Literal["error", "warn"] = "error") -> FindingRecord:
    return FindingRecord(
        code=code, message=message, severity=severity, hint=hint, subject=f"threats.{plan.name}", **place(plan.location)
    )


def _population_short(plan: ThreatPlan, classes: int) -> FindingRecord:
    message = (
        f"the population of threat {plan.name} has fewer persons than the file in {classes} classes: "
        "the file is not a sample of it; those classes count as in the file"
    )
    return _about(plan, "A108", kind_of("A108").hint, message, "warn")


def _number(text: str | None, value: float | None) -> str:
    return text if text is not None else f"{value}"
