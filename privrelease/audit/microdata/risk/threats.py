"""One threat on the final output: risk before and after, both readings, and a verdict on every threshold.

The verdict is on the threat's own reading of missing values; the other is reported next to it. A threshold on a release without
records does not hold: nothing can be said of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from privrelease.audit.document.model import Figure, SubsetFacts, ThreatResult, ThresholdVerdict, Visibility
from privrelease.audit.document.sensitive import KeyFacts
from privrelease.audit.document.sentences import coded
from privrelease.audit.document.visibility import Audience, minimum_of
from privrelease.audit.microdata.risk.attacker_risk import attacker_risk
from privrelease.audit.microdata.risk.class_sizes import Table, compatible, measured, person_sets, subsets
from privrelease.audit.microdata.risk.figures import NO_RECORDS, risk_facts, undefined_risk
from privrelease.audit.threat_checks import limit_words
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.risk.verdict import judge
from privrelease.plan.model import ThreatPlan
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import RiskFacts
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.risk.class_sizes import Residual
    from privrelease.audit.microdata.risk.figures import Measured, Reading
    from privrelease.disclosure.risk.verdict import RiskMeasures

__all__ = ["UNION", "key_facts", "lost_where_missing", "threat_result", "threat_results", "union_result"]

UNION = "all threats together"


@dataclass(frozen=True, eq=False, slots=True)
class _Sides:
    before: Table | None
    after: Table
    audience: Audience


def _marked(evidence: Evidence) -> bool:
    """Return True if the source writes suppressed cells with a mark of their own in a column that some threat knows."""
    known = set(evidence.plan.quasi_identifiers)
    columns = evidence.plan.source.columns
    return any(column.format.suppression_mark is not None for column in columns if column.name in known)


def lost_where_missing(evidence: Evidence) -> bool:
    """Return True if a released record with every known column missing is lost: a step or a declared mark suppressed it."""
    return _marked(evidence) or evidence.plan.suppress is not None


def _sides(evidence: Evidence, threat: ThreatPlan) -> _Sides | None:
    if evidence.after is None:
        return None
    marked, lost = _marked(evidence), lost_where_missing(evidence)
    before = None
    if evidence.before is not None:
        kind: Residual = "lost" if marked else "class"
        before = Table(
            evidence.before, evidence.person_before, kind, evidence.linkable, evidence.one_each, sizes=evidence.sizes
        )
    kind = "lost" if lost else "class"
    labelled = evidence.labelled
    after = Table(evidence.after, evidence.person_after, kind, evidence.linkable, evidence.one_each, labelled, evidence.sizes)
    own = threat.thresholds.k
    return _Sides(before, after, Audience(own if own > 1 else minimum_of(evidence.plan.threats)))


def _other(reading: Reading) -> Reading:
    return "wildcard" if reading == "category" else "category"


def _verdicts(threat: ThreatPlan, risk: RiskMeasures, size: Measured, facts: RiskFacts) -> tuple[ThresholdVerdict, ...]:
    figures = {"highest_risk": facts.highest, "average_risk": facts.average, "records_at_risk": facts.at_risk}
    verdicts = []
    for judgement in judge(risk, threat.thresholds).judgements:
        means = limit_words(threat, judgement.measure, size.counted)
        figure = figures[judgement.measure] or Figure.of(None, "share", note=NO_RECORDS)
        unit: Literal["share", "risk"] = "share" if judgement.measure == "records_at_risk" else "risk"
        verdicts.append(
            ThresholdVerdict(
                measure=judgement.measure,
                figure=figure,
                threshold=Figure.of(judgement.limit, unit, Visibility.RECIPIENT),
                holds=risk.n_records > 0 and judgement.holds,
                means=means,
                means_coded=coded(means),
            )
        )
    return tuple(verdicts)


def _undefined_verdicts(threat: ThreatPlan) -> tuple[ThresholdVerdict, ...]:
    limits = threat.thresholds
    share = None if limits.at_risk is None else limits.at_risk.share
    unmeasured = say("figure_not_measured")
    pairs = (("highest_risk", limits.highest), ("average_risk", limits.average), ("records_at_risk", share))
    return tuple(
        ThresholdVerdict(
            measure=measure,
            figure=Figure.of(None, note="not measured"),
            threshold=Figure.of(limit, "risk", Visibility.RECIPIENT),
            holds=False,
            means=unmeasured,
            means_coded=coded(unmeasured),
        )
        for measure, limit in pairs
        if limit is not None
    )


def _unmeasured(threat: ThreatPlan, *, limits: bool) -> ThreatResult:
    return ThreatResult(
        name=threat.name,
        columns=threat.columns,
        attacker=threat.attacker,
        missing=threat.missing,
        limits=limits,
        before=None,
        after=undefined_risk(threat.missing, "the released file could not be measured on these columns"),
        after_other_reading=None,
        verdicts=_undefined_verdicts(threat),
        holds=False,
    )


def _facts(
    evidence: Evidence, threat: ThreatPlan, table: Table, reading: Reading, audience: Audience
) -> tuple[RiskFacts, Measured, RiskMeasures]:
    above = None if threat.thresholds.at_risk is None else threat.thresholds.at_risk.above
    size = measured(table, threat.columns, reading, knows_rows=threat.knows_rows)
    outside = evidence.outside.get(threat.name)
    side = None if outside is None else outside.before if audience.minimum is None else outside.after
    risk, further = attacker_risk(threat, size, side, outside, table.residual)
    further |= _linkable(threat, table)
    return risk_facts(size, k=threat.thresholds.k, above=above, audience=audience, risk=risk, further=further), size, risk


def threat_result(evidence: Evidence, threat: ThreatPlan, *, limits: bool = True) -> ThreatResult:
    """Measure one threat and judge its thresholds."""
    sides = _sides(evidence, threat)
    if sides is None or not evidence.measurable(threat.columns):
        return _unmeasured(threat, limits=limits)
    after, size, risk = _facts(evidence, threat, sides.after, threat.missing, sides.audience)
    other, _, _ = _facts(evidence, threat, sides.after, _other(threat.missing), sides.audience)
    before = None
    if sides.before is not None:
        before, _, _ = _facts(evidence, threat, sides.before, threat.missing, Audience(None))
    if threat.missing == "wildcard" and sides.before is not None:
        after = after.model_copy(update={"further": after.further | _compatible(threat, sides.before, sides.after)})
    verdicts = _verdicts(threat, risk, size, after)
    looked, further_verdicts = _subsets(threat, sides, size)
    verdicts += further_verdicts
    return ThreatResult(
        name=threat.name,
        columns=threat.columns,
        attacker=threat.attacker,
        missing=threat.missing,
        limits=limits,
        before=before,
        after=after,
        after_other_reading=other,
        verdicts=verdicts,
        subsets=looked,
        holds=risk.n_records > 0 and all(verdict.holds for verdict in verdicts),
    )


def _linkable(threat: ThreatPlan, table: Table) -> dict[str, Figure]:
    """Both counts where rows of a person stay linkable: persons with the same set, and with the same multiset, of rows."""
    found = {}
    for name, multiset in (("k_person_sets", False), ("k_person_multisets", True)):
        sizes = person_sets(table, threat.columns, multiset=multiset)
        if sizes is not None:
            found[name] = Figure.of(sizes.smallest, "count", note=None if sizes.n_records else NO_RECORDS)
    return found


def _subsets(threat: ThreatPlan, sides: _Sides, size: Measured) -> tuple[SubsetFacts | None, tuple[ThresholdVerdict, ...]]:
    """Look at combinations of the threat's columns. None is skipped in silence: how many were not looked at is said."""
    limit = threat.subsets
    if limit is None or not threat.columns:
        return None, ()
    means = limit_words(threat, "subsets", size.counted)
    report = subsets(sides.after, threat.columns, limit.up_to, limit.k)
    smallest = [found.smallest for found in report.combinations if found.smallest is not None]
    facts = SubsetFacts(
        up_to=limit.up_to,
        k=limit.k,
        by_size=tuple((columns, looked, least or 0, below) for columns, looked, least, below in report.by_size()),
        looked_at=len(report.combinations),
        not_looked_at=report.not_looked_at,
    )
    least = min(smallest, default=None)
    shown = Visibility.INTERNAL if least is None else sides.audience.of(least)
    verdict = ThresholdVerdict(
        measure="subsets",
        figure=Figure.of(least, "count", shown, None if smallest else NO_RECORDS),
        threshold=Figure.of(limit.k, "count", Visibility.RECIPIENT),
        holds=bool(smallest) and not report.failing,
        means=means,
        means_coded=coded(means),
    )
    return facts, (verdict,)


def _compatible(threat: ThreatPlan, before: Table, after: Table) -> dict[str, Figure]:
    sizes = compatible(before.records, after, threat.columns)
    risk = prosecutor_risk(sizes)
    return {
        "compatible_k": Figure.of(sizes.smallest, "count", note=None if sizes.n_records else NO_RECORDS),
        "compatible_average": Figure.of(risk.average, "risk", note=None if sizes.n_records else NO_RECORDS),
    }


def threat_results(evidence: Evidence) -> tuple[ThreatResult, ...]:
    """Measure every threat of the plan on the final output."""
    return tuple(threat_result(evidence, threat) for threat in evidence.plan.threats)


def union_result(evidence: Evidence) -> ThreatResult | None:
    """Measure the attacker who knows the union of all threats' columns: information, no limit. None with fewer than two threats."""
    if len({frozenset(threat.columns) for threat in evidence.plan.threats}) < 2:
        return None
    union = ThreatPlan(name=UNION, columns=evidence.plan.quasi_identifiers, thresholds=Thresholds())
    return replace_holds(threat_result(evidence, union, limits=False))


def key_facts(evidence: Evidence) -> tuple[KeyFacts, ...] | None:
    """Count the values of each quasi-identifier by itself; None where no released file can be measured."""
    if evidence.after is None or not evidence.plan.threats:
        return None
    sides = _sides(evidence, evidence.plan.threats[0])
    assert sides is not None  # there is a file
    return tuple(_key(column, sides) for column in evidence.plan.quasi_identifiers if evidence.measurable((column,)))


def _key(column: str, sides: _Sides) -> KeyFacts:
    after = measured(sides.after, (column,), "category")
    before = None if sides.before is None else measured(sides.before, (column,), "category")

    def counts(size: Measured) -> tuple[Figure, Figure, Figure]:
        note = None if size.sizes.n_records else NO_RECORDS
        found = ((size.classes, None), (size.sizes.smallest, note), (size.sizes.uniques, None))
        return tuple(Figure.of(value, "count", Visibility.INTERNAL, why) for value, why in found)  # type: ignore[return-value]  # three

    values, rarest, alone = counts(after)
    was = (None, None, None) if before is None else counts(before)
    return KeyFacts(
        column=column,
        values_before=was[0],
        values=values,
        rarest_before=was[1],
        rarest=rarest,
        alone_before=was[2],
        alone=alone,
    )


def replace_holds(result: ThreatResult) -> ThreatResult:
    """A measurement without limits holds where it could be made."""
    return result.model_copy(update={"holds": result.after.k.value is not None})
