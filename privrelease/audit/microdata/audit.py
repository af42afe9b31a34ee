"""The audit of a microdata release: measure the parked files, judge, decide.

Pure but for the engine: the same files, plan and ``audited_at`` give the same ``audit.json``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.attacks.assessment import ATTACK_CHECKS, GROUND_CHECKS
from privrelease.audit.check import check_findings, fails
from privrelease.audit.checks.codes import kind_of
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.facts import context_facts, left_out, legal_facts
from privrelease.audit.checks.findings import finding_record, place
from privrelease.audit.comparison.combine import with_earlier
from privrelease.audit.document.model import AuditResult, FindingRecord
from privrelease.audit.document.sentences import coded
from privrelease.audit.microdata.facts import data_facts, identity, utility_facts
from privrelease.audit.microdata.households import household_findings
from privrelease.audit.microdata.integrity.checks import MICRODATA_CHECKS, integrity
from privrelease.audit.microdata.measurements import gather
from privrelease.audit.microdata.recoding import VERIFIERS
from privrelease.audit.microdata.risk.figures import NO_RECORDS
from privrelease.audit.microdata.risk.sensitive import sensitive_values
from privrelease.audit.microdata.risk.threats import key_facts, threat_results, union_result
from privrelease.audit.microdata.utility.fewest_cells import cell_bound
from privrelease.audit.microdata.utility.measures import utility_measures
from privrelease.audit.threat_checks import threat_findings
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from privrelease.audit.comparison.earlier.rows_and_table import TableJudge
    from privrelease.audit.comparison.previous_release import EarlierReleases
    from privrelease.audit.document.attacks import AttacksFacts
    from privrelease.audit.document.model import CheckResult, ThreatResult
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.audit.microdata.target import AuditTarget
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.findings import Finding
    from privrelease.plan.model import MicrodataPlan, Plan

__all__ = ["audit_microdata", "findings_of"]


def audit_microdata(
    plan: MicrodataPlan,
    policy: Plan,
    target: AuditTarget,
    *,
    engine: AuditEngine,
    audited_at: str,
    versions: Mapping[str, str],
    earlier: EarlierReleases | None = None,
    judge_table: TableJudge | None = None,
    verifiers: Verifiers = VERIFIERS,
) -> AuditResult:
    """Recompute every guarantee of ``plan`` from the files of ``target`` and decide.

    ``audited_at``: the moment to write down (the audit reads no clock). ``versions``: of tool and libraries. Raises InputError where the
    source cannot be read; everything wrong with the release itself is a finding, not an exception. ``earlier``: releases of the same persons; ``judge_table`` tells of a
    table among them which of its suppressed cells these rows give back. ``verifiers``: of the values that transform steps replaced.
    """
    evidence = gather(plan, target, engine, verifiers)
    threats = threat_results(evidence)
    union = union_result(evidence)
    attacked, attack_checks = _attacked(evidence, engine, verifiers)
    checks = (*integrity(evidence), *_asked(evidence, threats, engine, verifiers), *attack_checks)
    legal = legal_facts(policy.legal, policy.missing_legal)
    warnings = () if evidence.source is None else (*evidence.source.warnings, *left_out(evidence.source.dropped_outside, plan))
    findings = (*findings_of(plan, threats, checks, warnings), *household_findings(evidence))
    measures = utility_measures(evidence, policy, engine, verifiers)
    audit = AuditResult(
        kind="microdata",
        decision=decide(threats, union, checks, findings, legal),
        identity=identity(evidence, policy, audited_at, versions),
        legal=legal,
        context=context_facts(policy.context, policy.review),
        data=data_facts(evidence, verifiers),
        threats=threats,
        union=union,
        utility=utility_facts(evidence, cell_bound(evidence, engine, verifiers)),
        checks=checks,
        findings=findings,
        sensitive=sensitive_values(evidence, engine),
        quasi_identifiers=key_facts(evidence),
        attacks=attacked,
        utility_measures=measures,
    )
    if earlier is None or not (earlier.releases or earlier.unlooked or earlier.unknown):
        return audit  # what compares releases is not loaded for a first one
    from privrelease.audit.microdata.previous_releases import beside_microdata

    return with_earlier(audit, beside_microdata(evidence, earlier, engine, judge_table), plan)


def _asked(
    evidence: Evidence, threats: Sequence[ThreatResult], engine: AuditEngine, verifiers: Verifiers
) -> tuple[CheckResult, ...]:
    if not evidence.plan.checks:
        return ()
    from privrelease.audit.microdata.expectations import policy_checks

    return policy_checks(evidence, threats, engine, verifiers)


def _attacked(
    evidence: Evidence, engine: AuditEngine, verifiers: Verifiers
) -> tuple[AttacksFacts | None, tuple[CheckResult, ...]]:
    if evidence.plan.attacks is None:
        return None, ()
    from privrelease.audit.microdata.attacks.run import attack

    return attack(evidence, engine, verifiers)


def findings_of(
    plan: MicrodataPlan, threats: Sequence[ThreatResult], checks: Iterable[CheckResult], warnings: Iterable[Finding]
) -> tuple[FindingRecord, ...]:
    """Name every failure: threat, measure, figure and threshold, or the check; and what reading the source warned of."""
    checks = tuple(checks)
    found = threat_findings(plan.threats, threats)
    if any(check.id == "AUDIT-RECORDS" and fails(check) for check in checks):
        # that no record is there is said once, by the check; a threat says more only where records are released
        found = tuple(one for one in found if one.code != "A105" or not one.message.endswith(NO_RECORDS))
    if not threats and not plan.checks:
        found = (*found, _nothing_checked(plan))
    found += check_findings(plan.location, checks, (*MICRODATA_CHECKS, *ATTACK_CHECKS, *GROUND_CHECKS))
    return (*found, *(finding_record(finding) for finding in warnings))


def _nothing_checked(plan: MicrodataPlan) -> FindingRecord:
    kind = kind_of("A107")
    return FindingRecord(
        code=kind.code,
        message=say("nothing_checked"),
        message_coded=coded(say("nothing_checked")),
        severity="error",
        hint=kind.hint,
        subject=f"releases.{plan.id}",
        **place(plan.location),
    )
