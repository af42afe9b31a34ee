"""The audit of a table: the parked files against the plan and the source, and against an attacker who has only the files.

Nothing that the run says is believed: cells are added up again from what each person contributes, unsafe cells are found again,
and what is suppressed is read from the file. Intervals are the attacker's, by linear programs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.audit.check import (
    AGAIN,
    EDITED,
    FAULT,
    Check,
    CheckOutcome,
    check_findings,
    failed,
    fault,
    nothing_to_look_at,
    passed,
    run_checks,
)
from privrelease.audit.checks.aggregate_checks import data_of, digest_mismatches, output_facts, remaining
from privrelease.audit.checks.codes import NO_MANIFEST
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
from privrelease.audit.document.model import AuditResult, Figure, Outcome, Visibility
from privrelease.audit.document.tables import IntervalFacts, TableFacts
from privrelease.audit.tables.beside_rows import table_beside_rows
from privrelease.audit.tables.evidence import TableEvidence, TableTarget, agrees, cell_value, table_evidence
from privrelease.audit.tables.previous_releases import beside_tables
from privrelease.audit.tables.table_without_source import blanks_below_minimum, printed_below_minimum
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import AGGREGATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.audit.check import Need
    from privrelease.audit.comparison.previous_release import EarlierReleases
    from privrelease.audit.tables.rows import TableRow
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import TablePlan

__all__ = ["TABLE_CHECKS", "TableTarget", "audit_table"]

REMAINING: Final = (
    "Whether other tables or outside figures of the same persons, combined with this one, give cells back.",
    "Whether who contributes knows more of the others than the rules assume.",
    "Whether what a group has in common harms its members, where the policy does not ask for that rule.",
    "Whether the release is lawful and necessary: the controller's decision, on the data-protection officer's advice.",
)


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
    lacking: dict[Need, str] = {} if target.manifest is not None else {"manifest": NO_MANIFEST}
    if evidence.cells is None:
        lacking["source"] = _NO_SOURCE
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
        decision=decision.model_copy(update={"assessment_remaining": remaining(REMAINING, checks)}),
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
    blind = tuple(UnreadableRelease(name, None, _TOO_MANY) for name in evidence.unlinked)
    earlier = replace(earlier, unlooked=(*earlier.unlooked, *blind))
    beside = beside_tables(
        plan,
        evidence.printed,
        evidence.judged,
        evidence.suppressed,
        earlier,
        evidence.linked,
        evidence.changes,
        table_beside_rows(evidence, earlier.releases, engine),
    )
    return with_earlier(audit, beside, plan)


# ----------------------------------------------------------------------------------------------------------------------- checks

_TOO_MANY: Final = "it and this table have too many cells of all columns together"
_NO_SOURCE: Final = "the source was not read"
_ALL: Final = (
    "no pattern holds: every cell with somebody in it is suppressed, and the rules and the cells that are known to be empty"
)
_GIVES_ALL: Final = f"{_ALL} still give suppressed cells back"
_GIVES_ALL_SUMS: Final = f"{_ALL} still give the sum of suppressed cells, which is unsafe itself"


def _records(evidence: TableEvidence) -> CheckOutcome:
    """A table of no one is no table: its zeros would pass for figures."""
    return passed("the source has records") if evidence.source_rows else failed("the source has no record")


def _readable(evidence: TableEvidence) -> str | None:
    lost = [sink.label for sink, table in zip(evidence.target.files, evidence.tables, strict=True) if table is None]
    if lost or not evidence.tables:
        return f"not readable as the table of the plan: {', '.join(lost) or 'no file'}"
    return None


def _digests(evidence: TableEvidence) -> str | None:
    return digest_mismatches(evidence.target.files, evidence.target.manifest, evidence.target.altered)


def _same(evidence: TableEvidence) -> str | None:
    def rounded(table: tuple[TableRow, ...] | None) -> object:
        if table is None:
            return None
        return [(row.keys, row.over, tuple(x if x is None else float(x) for x in row.figures), row.status) for row in table]

    first = rounded(evidence.tables[0]) if evidence.tables else None
    return None if all(rounded(table) == first for table in evidence.tables) else "the files hold different figures"


def _keys(evidence: TableEvidence) -> str | None:
    if [(row.keys, row.over) for row in evidence.rows] != evidence.places:
        return "the cells are not exactly the declared ones in their order"
    return None


def _blanks(evidence: TableEvidence) -> str | None:
    """A mean of no value is blank too; whether there is none is seen with the figures."""
    means = [one.kind == "mean" for one in evidence.plan.measures]
    for row in evidence.rows:
        blank = [figure is None for figure in row.figures]
        hidden = row.status == "suppressed"
        if row.status not in {"shown", "suppressed"} or any(
            one != hidden and not (one and mean) for one, mean in zip(blank, means, strict=True)
        ):
            return "a row does not say whether its figures are suppressed, or says it wrongly"
    return None


def _figures(evidence: TableEvidence) -> str | None:
    plan, cells = evidence.plan, evidence.cells
    assert cells is not None
    wrong = []
    for cell, row in enumerate(evidence.rows[: len(cells.rows)]):
        for one, figure in zip(plan.measures, row.figures, strict=True):
            value = cell_value(plan, one, plan.query.sums, cells, cell)
            missing = figure is None and row.status == "shown" and value is not None
            if missing or (figure is not None and not agrees(figure, value)):
                wrong.append(cell)
    return f"not the figures of the source: {evidence.named(dict.fromkeys(wrong))}" if wrong else None


def _persons(evidence: TableEvidence) -> str | None:
    unit = evidence.plan.unit
    if evidence.unnamed:
        return f"the direct identifier {evidence.unnamed[0]} occurs in several rows, and no person is declared: rows were counted as persons"
    if unit is None or unit.max_rows is None or evidence.rows_of_one <= unit.max_rows:
        return None
    return "a person has more rows than unit.max_rows allows"


def _persons_unknown(evidence: TableEvidence) -> CheckOutcome:
    """Without the source a count of rows is no count of persons, unless each has one row."""
    unit = evidence.plan.unit
    if unit is None or unit.max_rows == 1:
        return CheckOutcome(Outcome.NOT_EVALUATED, _NO_SOURCE, visibility=Visibility.RECIPIENT, absent=True)
    return nothing_to_look_at("how many persons contribute to a cell cannot be known without the source")


def _primary(evidence: TableEvidence) -> str | None:
    assert evidence.judged is not None
    if evidence.suppressed is None:
        return "the file could not be compared with the cells of the plan"
    for rule, cells in evidence.judged.primaries().items():
        printed = np.flatnonzero(cells & ~evidence.suppressed)
        if len(printed):
            return f"printed against the rule {rule}: {evidence.named(map(int, printed))}"
    return None


def _intervals(evidence: TableEvidence) -> str | None:
    gives = _GIVES_ALL if evidence.all_suppressed else "what is printed gives suppressed cells back"
    anybody = _exposed(evidence, "cell", gives, inside=False)
    if evidence.suppressed is None:
        return anybody
    words = "who contributes to another suppressed cell, and knows that part, has suppressed cells too narrowly"
    found = (anybody, _exposed(evidence, "cell", words, inside=True))
    return "; ".join(text for text in found if text) or None


def _groups(evidence: TableEvidence) -> str | None:
    gives = (
        _GIVES_ALL_SUMS
        if evidence.all_suppressed
        else "what is printed gives the sum of suppressed cells, which is unsafe itself"
    )
    return _exposed(evidence, "group", gives)


def _classes(evidence: TableEvidence) -> CheckOutcome:
    """Judge groups that share one key: each fails where the policy asks for none; where it says nothing, a person decides."""
    words = "whoever is in a group is known to have its only key, since these are known to be empty"
    wrong = _exposed(evidence, "class", words)
    if wrong is None:
        return CheckOutcome(Outcome.PASS, "no group is known to share one key", visibility=Visibility.RECIPIENT)
    outcome = Outcome.FAIL if evidence.plan.class_check == "repaired" else Outcome.REVIEW
    return CheckOutcome(outcome, wrong, visibility=Visibility.RECIPIENT)


def _classes_declined(evidence: TableEvidence) -> str | None:
    reasons = {
        "declined": "the policy says `class_disclosure: false`",
        "needless": "no group column is sensitive, and the policy does not ask for it (`class_disclosure`)",
    }
    return reasons.get(evidence.plan.class_check)


def _persons_declined(evidence: TableEvidence) -> str | None:
    unit = evidence.plan.unit
    if evidence.unnamed:
        return None
    if evidence.plan.rows_are_persons:
        return "the policy says that every row is a person of its own (`unit: rows`)"
    if unit is None:
        return "no person is declared (`unit`): every row counts as a person of its own"
    return "the policy does not say how many rows a person has (`unit.max_rows`)" if unit.max_rows is None else None


def _impossible_declined(evidence: TableEvidence) -> str | None:
    return "the policy calls no cell impossible" if evidence.plan.impossible is None else None


def _exposed(evidence: TableEvidence, kind: str, words: str, *, inside: bool | None = None) -> str | None:
    if evidence.suppressed is None:
        return "the file could not be compared with the cells of the plan"
    weak = evidence.exposed(kind, inside=inside)
    return None if weak is None else f"{words}: {weak}"


def _impossible(evidence: TableEvidence) -> str | None:
    impossible, cells = evidence.plan.impossible_cells, evidence.cells
    assert cells is not None
    return (
        None
        if impossible is None or not cells.rows[impossible].any()
        else "the source has rows in a cell that is called impossible"
    )


_NARROW: Final = (
    "suppress more cells of its rows and columns, or leave totals out (`margins: false`); where all with somebody in them are suppressed, raise "
    "`min_count`, suppress zeros too (`zeros: suppress`), or group by fewer or coarser keys"
)

#: In the order in which they are reported; that there are records is reported only where there are none.
TABLE_CHECKS: tuple[Check[TableEvidence], ...] = (
    Check("A251", "AUDIT-TABLE-FILES", "Every output is the table of the plan", FAULT, fault(_readable)),
    Check("A252", "AUDIT-TABLE-DIGEST", "Files are those of the manifest", EDITED, fault(_digests), needs="manifest"),
    Check(
        "A253",
        "AUDIT-TABLE-SAME",
        "All files hold the same",
        f"all outputs of a release hold the same cells: {AGAIN}",
        fault(_same),
    ),
    Check(
        "A254",
        "AUDIT-TABLE-KEYS",
        "Every declared cell is there, and no other",
        "write every declared cell, also those with no one in them: a missing cell discloses that",
        fault(_keys),
    ),
    Check(
        "A255",
        "AUDIT-TABLE-BLANKS",
        "Suppressed cells are blank and marked, zeros are zeros",
        "leave a suppressed cell blank and mark it, and print a zero as a zero",
        fault(_blanks),
    ),
    Check(
        "A256",
        "AUDIT-TABLE-FIGURES",
        "Printed figures are those of the source",
        "print the figures of the source, or none: a changed figure is not a protection that the policy declares",
        fault(_figures),
        needs="source",
    ),
    Check(
        "A257",
        "AUDIT-TABLE-PERSONS",
        "Persons have the declared rows",
        "declare the person (`unit: {column: …, max_rows: …}`) as the data has them",
        fault(_persons),
        needs="source",
        alone=_persons_unknown,
        declined=_persons_declined,
    ),
    Check(
        "A258",
        "AUDIT-TABLE-PRIMARY",
        "No unsafe cell is printed",
        "suppress the cell: print no figure of so few, or of one who dominates it",
        fault(_primary),
        needs="source",
        alone=fault(printed_below_minimum),
        promised=True,
    ),
    Check(
        "A259", "AUDIT-TABLE-INTERVAL", "Unsafe cells stay uncertain", _NARROW, fault(_intervals), needs="source", promised=True
    ),
    Check(
        "A260",
        "AUDIT-TABLE-GROUP",
        "No unsafe group can be worked out",
        _NARROW,
        fault(_groups),
        needs="source",
        alone=fault(blanks_below_minimum),
        promised=True,
    ),
    Check(
        "A261",
        "AUDIT-TABLE-CLASS",
        "No group shares one key",
        "suppress the cells of that group (`class_disclosure: true`), or group by fewer columns; write `false` where such groups are harmless",
        _classes,
        needs="source",
        declined=_classes_declined,
    ),
    Check(
        "A262",
        "AUDIT-TABLE-IMPOSSIBLE",
        "Nobody is in an impossible cell",
        "correct the source or the rule: somebody is in a cell that the policy calls impossible",
        fault(_impossible),
        needs="source",
        declined=_impossible_declined,
    ),
    Check(
        "A219",
        "AUDIT-RECORDS",
        "There are records",
        "an empty release shows nothing: look at the filters of the policy",
        _records,
        asked=lambda evidence: evidence.source_rows == 0,
    ),
)


# ------------------------------------------------------------------------------------------------------------------------- facts


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
