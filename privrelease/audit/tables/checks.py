"""The checks of a table: its files against the plan and the source, and against an attacker who has only the files.

Nothing that the run says is believed: cells are added up again from what each person contributes, unsafe cells are found again,
and what is suppressed is read from the file. Intervals are the attacker's, by linear programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.check import (
    Check,
    CheckOutcome,
    failed,
    fault,
    nothing_to_look_at,
    passed,
)
from privrelease.audit.checks.aggregate_checks import digest_mismatches
from privrelease.audit.document.model import Outcome, Visibility
from privrelease.audit.tables.evidence import TableEvidence, agrees, cell_value
from privrelease.audit.tables.table_without_source import blanks_below_minimum, printed_below_minimum
from privrelease.texts.sentences import every, listed, say

if TYPE_CHECKING:
    from privrelease.audit.tables.rows import TableRow
    from privrelease.texts.sentences import Said

__all__ = ["TABLE_CHECKS"]


def _records(evidence: TableEvidence) -> CheckOutcome:
    """A table of no one is no table: its zeros would pass for figures."""
    return passed(say("source_records")) if evidence.source_rows else failed(say("no_source_record"))


def _readable(evidence: TableEvidence) -> Said | None:
    lost = [sink.label for sink, table in zip(evidence.target.files, evidence.tables, strict=True) if table is None]
    if lost or not evidence.tables:
        return say("not_a_table", files=listed(lost) if lost else say("no_output"))
    return None


def _digests(evidence: TableEvidence) -> Said | None:
    return digest_mismatches(evidence.target.files, evidence.target.manifest, evidence.target.altered)


def _same(evidence: TableEvidence) -> Said | None:
    def rounded(table: tuple[TableRow, ...] | None) -> object:
        if table is None:
            return None
        return [(row.keys, row.over, tuple(x if x is None else float(x) for x in row.figures), row.status) for row in table]

    first = rounded(evidence.tables[0]) if evidence.tables else None
    return None if all(rounded(table) == first for table in evidence.tables) else say("other_figures")


def _keys(evidence: TableEvidence) -> Said | None:
    if [(row.keys, row.over) for row in evidence.rows] != evidence.places:
        return say("not_declared_cells")
    return None


def _blanks(evidence: TableEvidence) -> Said | None:
    """A mean of no value is blank too; whether there is none is seen with the figures."""
    means = [one.kind == "mean" for one in evidence.plan.measures]
    for row in evidence.rows:
        blank = [figure is None for figure in row.figures]
        hidden = row.status == "suppressed"
        if row.status not in {"shown", "suppressed"} or any(
            one != hidden and not (one and mean) for one, mean in zip(blank, means, strict=True)
        ):
            return say("blanks_wrong")
    return None


def _figures(evidence: TableEvidence) -> Said | None:
    plan, cells = evidence.plan, evidence.cells
    assert cells is not None
    wrong = []
    for cell, row in enumerate(evidence.rows[: len(cells.rows)]):
        for one, figure in zip(plan.measures, row.figures, strict=True):
            value = cell_value(plan, one, plan.query.sums, cells, cell)
            missing = figure is None and row.status == "shown" and value is not None
            if missing or (figure is not None and not agrees(figure, value)):
                wrong.append(cell)
    return say("not_sources_figures", cells=evidence.named(dict.fromkeys(wrong))) if wrong else None


def _persons(evidence: TableEvidence) -> Said | None:
    unit = evidence.plan.unit
    if evidence.unnamed:
        return say("direct_several", name=evidence.unnamed[0])
    if unit is None or unit.max_rows is None or evidence.rows_of_one <= unit.max_rows:
        return None
    return say("max_rows_broken")


def _persons_unknown(evidence: TableEvidence) -> CheckOutcome:
    """Without the source a count of rows is no count of persons, unless each has one row."""
    unit = evidence.plan.unit
    if unit is None or unit.max_rows == 1:
        return CheckOutcome(Outcome.NOT_EVALUATED, say("source_not_read"), visibility=Visibility.RECIPIENT, absent=True)
    return nothing_to_look_at(say("contributors_unknown"))


def _primary(evidence: TableEvidence) -> Said | None:
    assert evidence.judged is not None
    if evidence.suppressed is None:
        return say("not_compared_with_plan")
    for rule, cells in evidence.judged.primaries().items():
        printed = np.flatnonzero(cells & ~evidence.suppressed)
        if len(printed):
            return say("printed_against", rule=rule, cells=evidence.named(map(int, printed)))
    return None


def _intervals(evidence: TableEvidence) -> Said | None:
    gives = "gives_all" if evidence.all_suppressed else "gives_cells"
    anybody = _exposed(evidence, "cell", gives, inside=False)
    if evidence.suppressed is None:
        return anybody
    found = (anybody, _exposed(evidence, "cell", "gives_inside", inside=True))
    return every(said for said in found if said is not None)


def _groups(evidence: TableEvidence) -> Said | None:
    return _exposed(evidence, "group", "gives_all_sums" if evidence.all_suppressed else "gives_sums")


def _classes(evidence: TableEvidence) -> CheckOutcome:
    """Judge groups that share one key: each fails where the policy asks for none; where it says nothing, a person decides."""
    wrong = _exposed(evidence, "class", "one_key")
    if wrong is None:
        return CheckOutcome(Outcome.PASS, say("no_one_key"), visibility=Visibility.RECIPIENT)
    outcome = Outcome.FAIL if evidence.plan.class_check == "repaired" else Outcome.REVIEW
    return CheckOutcome(outcome, wrong, visibility=Visibility.RECIPIENT)


def _classes_declined(evidence: TableEvidence) -> Said | None:
    if evidence.plan.class_check == "declined":
        return say("classes_declined")
    return say("no_sensitive_group") if evidence.plan.class_check == "needless" else None


def _persons_declined(evidence: TableEvidence) -> Said | None:
    unit = evidence.plan.unit
    if evidence.unnamed:
        return None
    if evidence.plan.rows_are_persons:
        return say("persons_unit_rows")
    if unit is None:
        return say("persons_no_unit")
    return say("persons_no_max") if unit.max_rows is None else None


def _impossible_declined(evidence: TableEvidence) -> Said | None:
    return say("none_impossible") if evidence.plan.impossible is None else None


def _exposed(evidence: TableEvidence, kind: str, words: str, *, inside: bool | None = None) -> Said | None:
    if evidence.suppressed is None:
        return say("not_compared_with_plan")
    weak = evidence.exposed(kind, inside=inside)
    return None if weak is None else say(words, cells=weak)


def _impossible(evidence: TableEvidence) -> Said | None:
    impossible, cells = evidence.plan.impossible_cells, evidence.cells
    assert cells is not None
    return None if impossible is None or not cells.rows[impossible].any() else say("impossible_rows")


#: In the order in which they are reported; that there are records is reported only where there are none.
TABLE_CHECKS: tuple[Check[TableEvidence], ...] = (
    Check("A251", "AUDIT-TABLE-FILES", fault(_readable)),
    Check("A252", "AUDIT-TABLE-DIGEST", fault(_digests), needs="manifest"),
    Check(
        "A253",
        "AUDIT-TABLE-SAME",
        fault(_same),
    ),
    Check(
        "A254",
        "AUDIT-TABLE-KEYS",
        fault(_keys),
    ),
    Check(
        "A255",
        "AUDIT-TABLE-BLANKS",
        fault(_blanks),
    ),
    Check(
        "A256",
        "AUDIT-TABLE-FIGURES",
        fault(_figures),
        needs="source",
    ),
    Check(
        "A257",
        "AUDIT-TABLE-PERSONS",
        fault(_persons),
        needs="source",
        alone=_persons_unknown,
        declined=_persons_declined,
    ),
    Check(
        "A258",
        "AUDIT-TABLE-PRIMARY",
        fault(_primary),
        needs="source",
        alone=fault(printed_below_minimum),
        promised=True,
    ),
    Check("A259", "AUDIT-TABLE-INTERVAL", fault(_intervals), needs="source", promised=True),
    Check(
        "A260",
        "AUDIT-TABLE-GROUP",
        fault(_groups),
        needs="source",
        alone=fault(blanks_below_minimum),
        promised=True,
    ),
    Check(
        "A261",
        "AUDIT-TABLE-CLASS",
        _classes,
        needs="source",
        declined=_classes_declined,
    ),
    Check(
        "A262",
        "AUDIT-TABLE-IMPOSSIBLE",
        fault(_impossible),
        needs="source",
        declined=_impossible_declined,
    ),
    Check(
        "A219",
        "AUDIT-RECORDS",
        _records,
        asked=lambda evidence: evidence.source_rows == 0,
    ),
)
