"""The limits of a threat as checks: their codes and remedies, what each asks for in words, and the findings about those that do not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.check import Check, failed, passed
from privrelease.audit.checks.codes import kind_of
from privrelease.audit.checks.findings import place
from privrelease.audit.document.model import FindingRecord, Outcome
from privrelease.audit.document.sentences import coded
from privrelease.texts.sentences import Number, every, known, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from privrelease.audit.check import CheckOutcome
    from privrelease.audit.document.model import ThreatResult, ThresholdVerdict
    from privrelease.plan.model import ThreatPlan
    from privrelease.texts.sentences import Said, Value

    Counted = Literal["records", "persons", "person_sets", "person_multisets"]

__all__ = ["THREAT_CHECKS", "LimitOfThreat", "limit_words", "threat_findings"]

_LINKED: Final = {"person_sets": "linked_sets", "person_multisets": "linked_multisets"}


@dataclass(frozen=True, slots=True)
class LimitOfThreat:
    """One limit of a threat on the final output."""

    plan: ThreatPlan
    result: ThreatResult
    verdict: ThresholdVerdict


def _held(limit: LimitOfThreat) -> CheckOutcome:
    verdict, result = limit.verdict, limit.result
    if verdict.holds:
        return passed(limit_words(limit.plan, verdict.measure, result.after.counted))
    k = result.after.k.value
    observed, most = (
        _number(verdict.figure.exact, verdict.figure.value),
        _number(verdict.threshold.exact, verdict.threshold.value),
    )
    demand = limit_words(limit.plan, verdict.measure, result.after.counted, demanded=True)
    values: dict[str, Value] = {
        "measure": say(f"measure_{verdict.measure}"),
        "threat": result.name,
        "observed": Number(observed),
        "most": Number(most),
        "demand": demand,
    }
    if verdict.measure == "subsets":
        return failed(say("threat_below", **values))
    sized = verdict.measure == "highest_risk" and k is not None
    said = say("threat_above_k", k=int(k), **values) if sized and k is not None else say("threat_above", **values)
    whose = _stands_in(result)
    return failed(said if whose is None else every((said, whose)) or said)


def _stands_in(result: ThreatResult) -> Said | None:
    """Name the figure where another attacker's stands in for the threat's own, and why; None where it is the threat's own."""
    note = result.after.further.get("population")
    if note is None or note.told is None:
        return None
    return say("stood_in_for", attacker=say(f"attacker_{result.attacker}"), note=known(note.told))


_ASSESS: Final = (
    "audit the file with its source and row map, or name the population's table (`population: {table: …}`): class sizes in the population "
    "follow from these"
)

#: In the order in which they are reported; the id of each is its measure.
THREAT_CHECKS: tuple[Check[LimitOfThreat], ...] = (
    Check("A101", "highest_risk", _held),
    Check("A102", "average_risk", _held),
    Check(
        "A103",
        "records_at_risk",
        _held,
    ),
    Check(
        "A104",
        "subsets",
        _held,
    ),
)
_BY_MEASURE: Final = {check.id: check for check in THREAT_CHECKS}


def limit_words(threat: ThreatPlan, measure: str, counted: Counted, *, demanded: bool = False) -> Said:
    """Say in words what a limit asks for: of records, of persons, or of persons known by all their rows together.

    ``demanded``: as a demand that is not met. Records at risk and average risk are worded by their limits in the plan.
    """
    one, many = ("record", "records") if counted == "records" else ("person", "persons")
    may = "_may" if demanded else ""
    limits, k = threat.thresholds, threat.thresholds.k
    has = "needs" if demanded else "has"
    if measure == "highest_risk" and counted in _LINKED:
        return say(_LINKED[counted] + ("_must" if demanded else ""), k=k)
    if measure == "highest_risk":
        return say(f"class_{has}_{many}", k=k)
    if measure == "average_risk":
        assert limits.average is not None
        return say(f"average{may}_{one}", chance=Number(f"{float(limits.average):.6g}"))
    if measure == "records_at_risk":
        assert limits.at_risk is not None
        share, above = (Number(f"{float(one):.6g}") for one in (limits.at_risk.share, limits.at_risk.above))
        return say(f"share{may}_{many}", share=share, above=above)
    subsets = threat.subsets
    assert subsets is not None
    deepest = min(subsets.up_to, len(threat.columns))
    return say(f"subsets_{has}_{many}", n=deepest, k=subsets.k)


def threat_findings(plans: Iterable[ThreatPlan], results: Sequence[ThreatResult]) -> tuple[FindingRecord, ...]:
    """Name every threat that has nothing to measure or a population that is too small, and every limit that does not hold."""
    found: list[FindingRecord] = []
    by_name = {result.name: result for result in results}
    for plan in plans:
        result = by_name[plan.name]
        if result.after.k.value is None:
            message = say("threat_unmeasured", threat=plan.name, note=known(result.after.k.told or ""))
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
                assert outcome.message is not None
                found.append(_about(plan, check.code, hint, outcome.message))
    return tuple(found)


def _about(
    plan: ThreatPlan, code: str, hint: str, message: Said, severity: Literal["error", "warn"] = "error"
) -> FindingRecord:
    return FindingRecord(
        code=code,
        message=message,
        message_coded=coded(message),
        severity=severity,
        hint=hint,
        subject=f"threats.{plan.name}",
        **place(plan.location),
    )


def _population_short(plan: ThreatPlan, classes: int) -> FindingRecord:
    message = say("population_short", threat=plan.name, n=classes)
    return _about(plan, "A108", kind_of("A108").hint, message, "warn")


def _number(text: str | None, value: float | None) -> str:
    return text if text is not None else f"{value}"
