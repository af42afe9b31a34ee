"""The audit of a table: the parked files are judged by the checks of :mod:`~privrelease.audit.tables.checks`, and compared with previous releases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.audit.check import (
    check_findings,
    run_checks,
)
from privrelease.audit.checks.aggregate_checks import data_of, output_facts, remaining
from privrelease.audit.checks.decision import decide
from privrelease.audit.checks.facts import (
    context_facts,
    drops_rows,
    identity_of,
    input_digest,
    left_out,
    legal_facts,
    rows_outside,
)
from privrelease.audit.checks.findings import finding_record
from privrelease.audit.checks.great_expectations import figure_checks
from privrelease.audit.comparison.combine import with_earlier
from privrelease.audit.comparison.previous_release import UnreadableRelease
from privrelease.audit.document.model import AuditResult, Figure, Visibility
from privrelease.audit.document.sentences import both
from privrelease.audit.document.tables import IntervalFacts, TableFacts
from privrelease.audit.tables.beside_rows import table_beside_rows
from privrelease.audit.tables.checks import TABLE_CHECKS
from privrelease.audit.tables.evidence import TableEvidence, TableTarget, table_evidence
from privrelease.audit.tables.previous_releases import beside_tables
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import AGGREGATED
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.audit.check import Need
    from privrelease.audit.comparison.previous_release import EarlierReleases
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.texts.sentences import Said

__all__ = ["TableTarget", "audit_table"]

#: The codes of what no audit of such a release can settle.
REMAINING: Final = ("remaining.other_tables", "remaining.contributors", "remaining.group", "remaining.lawful")


def audit_table(
    plan: TablePlan,
    policy: Plan,
    target: TableTarget,
    *,
    engine: AuditEngine,
    audited_at: str,
    versions: Mapping[str, str],
    earlier: EarlierReleases | None = None,
) -> AuditResult:
    """Check the files of ``target`` and decide. Everything wrong with them is a finding. Raises InputError where the source cannot be read.

    ``earlier``: previous releases of the same persons.
    """
    evidence = table_evidence(plan, policy, target, engine, () if earlier is None else earlier.releases)
    lacking: dict[Need, Said] = {} if target.manifest is not None else {"manifest": say("no_manifest")}
    if evidence.cells is None:
        lacking["source"] = say("source_not_read")
    checks = run_checks(TABLE_CHECKS, evidence, lacking)
    legal = legal_facts(policy.legal, policy.missing_legal)
    types = {name: ColumnType(kind) for name, kind in plan.columns}
    checks = (*checks, *figure_checks(plan.checks, types, target.files, engine))
    outside = tuple(finding_record(one) for one in left_out(evidence.outside, plan))
    found = (*check_findings(plan.location, checks, TABLE_CHECKS), *outside)
    decision = decide((), None, checks, found, legal)
    facts = _facts(evidence)
    outputs = output_facts(target.files, evidence.tables)
    used = {*plan.by, *(one.column for one in plan.measures)}
    named = identity_of(policy, plan.id, target.run, outputs, audited_at, versions)
    audit = AuditResult(
        kind=plan.kind,
        decision=decision.model_copy(update=both("assessment_remaining", remaining(REMAINING, checks))),
        identity=named.model_copy(update={"input_digest": input_digest(target.internal)}),
        legal=legal,
        context=context_facts(policy.context, policy.review),
        data=data_of(plan, plan.population_id, used, AGGREGATED, len(evidence.rows)).model_copy(
            update={"rows_outside": _rows_outside(evidence)}
        ),
        threats=(),
        union=None,
        utility=None,
        checks=checks,
        findings=found,
        table=facts,
    )
    if earlier is None or [(row.keys, row.over) for row in evidence.rows] != evidence.places:
        return audit
    blind = tuple(
        UnreadableRelease(name, None, say("too_many_cells"), must=True)
        for name in (*evidence.unlinked, *(name for name, found in evidence.together.items() if found.unknown))
    )
    apart = tuple(UnreadableRelease(name, None, why, must=True) for name, why in evidence.apart)
    earlier = replace(earlier, unlooked=(*earlier.unlooked, *blind, *apart))
    beside = beside_tables(
        plan,
        evidence.printed,
        evidence.judged,
        evidence.suppressed,
        earlier,
        evidence.linked,
        evidence.changes,
        table_beside_rows(evidence, policy, earlier.releases, engine),
        evidence.complete,
        evidence.elsewhere,
        evidence.nested,
        evidence.together,
    )
    return with_earlier(audit, beside, plan)


def _facts(evidence: TableEvidence) -> TableFacts | None:
    plan, judged, suppressed = evidence.plan, evidence.judged, evidence.suppressed
    if judged is None or suppressed is None or evidence.cells is None or evidence.attack is None:
        return None
    primary = judged.primaries()
    unsafe = np.logical_or.reduce(list(primary.values()))
    rules = plan.rules
    return TableFacts(
        by=plan.by,
        figures=tuple(one.name for one in plan.measures),
        margins=plan.margins,
        min_count=rules.min_count,
        dominance=None if rules.dominance is None else f"{rules.dominance[0]}, {float(rules.dominance[1]):g}",
        p_percent=None if rules.p_percent is None else f"{float(rules.p_percent):g}",
        interval=f"{float(rules.interval):g}",
        zeros_shown=rules.zeros_shown,
        class_disclosure=rules.class_disclosure,
        round_up=plan.round_up,
        cells=Figure.of(len(suppressed), "count", Visibility.RECIPIENT),
        suppressed=Figure.of(int(suppressed.sum()), "count", Visibility.RECIPIENT),
        unsafe={rule: Figure.of(int(cells.sum()), "count") for rule, cells in primary.items()},
        secondary=Figure.of(int((suppressed & ~unsafe).sum()), "count"),
        left_out=Figure.of(evidence.cells.left_out + evidence.outside, "count"),
        beside=evidence.beside,
        intervals=tuple(_interval(evidence, figure) for figure in evidence.attack.table.figures),
    )


def _rows_outside(evidence: TableEvidence) -> Figure | None:
    """Count the rows that a domain leaves out; None where the source was not read, or no domain does that."""
    if evidence.source_rows is None or not any(map(drops_rows, evidence.plan.source.declared)):
        return None
    return rows_outside(evidence.outside, evidence.source_rows, evidence.plan.unit, evidence.plan.rules.min_count)


def _interval(evidence: TableEvidence, figure: int) -> IntervalFacts:
    attack = evidence.attack
    assert attack is not None
    unsafe = np.logical_or.reduce(list(attack.table.primaries().values())) & (attack.suppressed | attack.table.silent)
    width = attack.narrowest(figure)
    one = attack.table.sums[figure] if figure >= 0 else None
    grid = next((measure.grid for measure in evidence.plan.added if one is not None and measure.column == one.column), None)
    if width is None or width == float("inf"):
        narrowest = Figure.of(None, note="no unsafe cell" if width is None else "no upper bound")
    else:
        narrowest = Figure.of(round(width) if one is None or one.whole else width * float(grid or 1))
    known = {(weak.kind, weak.cells) for weak in evidence.weak if weak.figure == figure and weak.kind != "class"}
    return IntervalFacts(
        figure="count" if one is None else one.name,
        unsafe=Figure.of(int(unsafe.sum()), "count"),
        narrowest=narrowest,
        exposed=Figure.of(len(known), "count"),
    )
