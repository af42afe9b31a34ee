"""The checks of a table: its files against the plan and the source, and against an attacker who has only the files.

Nothing that the run says is believed: cells are added up again from what each person contributes, unsafe cells are found again,
and what is suppressed is read from the file. Intervals are the attacker's, by linear programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.audit.check import (
    AGAIN,
    EDITED,
    FAULT,
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

if TYPE_CHECKING:
    from privrelease.audit.tables.rows import TableRow

__all__ = ["NO_SOURCE", "TABLE_CHECKS"]

#: Why what needs the source was not judged.
NO_SOURCE: Final = "the source was not read"

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
        return CheckOutcome(Outcome.NOT_EVALUATED, NO_SOURCE, visibility=Visibility.RECIPIENT, absent=True)
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
        "an empty release shows nothing: look at the filters of the policy, and at what its steps suppress or drop",
        _records,
        asked=lambda evidence: evidence.source_rows == 0,
    ),
)
