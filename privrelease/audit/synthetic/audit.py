"""The audit of a synthetic release: the parked files against the plan, the claim and the ledger.

Nothing that is private decides (DESIGN, semantics 12): every check that decides looks at the released rows, which are drawn from noisy answers,
and at public statements. What reads the source is reported internally, and warns at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.audit.attacks.assessment import ATTACK_CHECKS
from privrelease.audit.check import check_findings, run_checks
from privrelease.audit.checks.aggregate_checks import remaining
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.facts import column_facts, context_facts, identity_of, legal_facts
from privrelease.audit.checks.great_expectations import figure_checks, source_checks
from privrelease.audit.comparison.combine import with_earlier
from privrelease.audit.document.model import AuditResult, DataFacts, Figure, OutputFacts, Visibility
from privrelease.audit.document.sentences import both
from privrelease.audit.synthetic.attacks import attack
from privrelease.audit.synthetic.checks import SYNTHETIC_CHECKS
from privrelease.audit.synthetic.evidence import SyntheticEvidence, read_file
from privrelease.audit.synthetic.facts import privacy_section, synthesis_section
from privrelease.audit.synthetic.informing import INFORMING_CHECKS, informing_checks
from privrelease.audit.synthetic.previous_releases import beside_synthetic
from privrelease.audit.synthetic.source import beside_source
from privrelease.plan.model import ReleasedColumn
from privrelease.relational.treatments import REMOVED, Synthetic
from privrelease.release.digests import sha256_of
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.audit.check import Need
    from privrelease.audit.comparison.previous_release import EarlierReleases
    from privrelease.audit.synthetic.evidence import SyntheticTarget
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.plan.model import Plan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.texts.sentences import Said

__all__ = ["audit_synthetic"]

#: The codes of what no audit of such a release can settle.
REMAINING: Final = ("remaining.budget", "remaining.unit", "remaining.rows_fit", "remaining.understood", "remaining.lawful")


def audit_synthetic(
    plan: SyntheticPlan,
    policy: Plan,
    target: SyntheticTarget,
    engine: AuditEngine,
    *,
    audited_at: str,
    versions: Mapping[str, str],
    earlier: EarlierReleases | None = None,
) -> AuditResult:
    """Check the files of ``target`` against ``plan`` and the claim, and decide. Everything wrong is a finding, not an exception.

    ``earlier``: previous releases of the same persons.
    """
    seeded = target.manifest is not None and target.manifest.privacy is not None and not target.manifest.privacy.private
    files = tuple(read_file(sink, plan.columns, engine, marked=seeded) for sink in target.files)
    evidence = SyntheticEvidence(plan, target, files, engine)
    lacking: dict[Need, Said] = {}
    if target.manifest is None:
        lacking = dict.fromkeys(("manifest", "ledger"), say("no_manifest"))
    if target.charges is None and target.ledger_fault is None:
        lacking["ledger"] = say("no_ledger")
    checks = run_checks(SYNTHETIC_CHECKS, evidence, lacking)
    legal = legal_facts(policy.legal, policy.missing_legal)
    types = {column.name: column.type for column in plan.columns}
    on_file = figure_checks(plan.checks, types, target.files, engine)
    beside = beside_source(evidence)
    attacks, on_attacks = attack(evidence, beside)
    on_source = (*source_checks(plan, engine), *informing_checks(plan, beside), *on_attacks)
    checks = (*checks, *on_file)
    findings = (
        *check_findings(plan.location, checks, SYNTHETIC_CHECKS),
        *check_findings(plan.location, on_source, (*INFORMING_CHECKS, *ATTACK_CHECKS), informs=True),
    )
    decision = decide((), None, checks, findings, legal)
    audit = AuditResult(
        kind=plan.kind,
        decision=decision.model_copy(update=both("assessment_remaining", remaining(REMAINING, checks))),
        identity=identity_of(policy, plan.id, target.run, _outputs(evidence), audited_at, versions),
        legal=legal,
        context=context_facts(policy.context, policy.review),
        data=_data(evidence),
        threats=(),
        union=None,
        utility=None,
        checks=(*checks, *on_source),
        findings=findings,
        statistics=privacy_section(evidence, policy, versions.get("privrelease")),
        synthetic=synthesis_section(evidence, beside),
        attacks=attacks,
    )
    if earlier is None:
        return audit
    return with_earlier(audit, beside_synthetic(plan, policy, target.manifest, target.charges, earlier), plan)


def _outputs(evidence: SyntheticEvidence) -> tuple[OutputFacts, ...]:
    return tuple(
        OutputFacts(
            label=sink.label,
            kind=sink.kind.value,
            sha256=sha256_of(sink.path),
            bytes=sink.path.stat().st_size,
            rows=Figure.of(None if read.staged is None else read.staged.n_rows, "count", Visibility.RECIPIENT),
        )
        for sink, read in zip(evidence.target.files, evidence.files, strict=True)
        if sink.path.is_file()
    )


def _data(evidence: SyntheticEvidence) -> DataFacts:
    """Describe the released columns, and those of the source that the model did not see."""
    plan, first = evidence.plan, evidence.first
    treatment = Synthetic()
    released = {one.name: ReleasedColumn(one.name, one.type, one.role, treatment) for one in plan.columns}
    facts = [column_facts(one, treatment.words, released[one.name]) for one in plan.columns]
    others = [column_facts(one, REMOVED.words) for one in plan.source.declared if one.name not in released]
    return DataFacts(
        dataset=plan.source.dataset,
        snapshot=plan.snapshot,
        population=plan.population,
        unit=None if plan.unit is None else plan.unit.column,
        source_rows=None,
        source_persons=None,
        released_rows=Figure.of(None if first is None else first.n_rows, "count", Visibility.RECIPIENT),
        columns=(*facts, *others),
        order="values",
        recipients=plan.recipients,
    )
