"""Checks of cells: each equals its source cell, or became missing where the plan allows that; and not more than the limit."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, absent, failed, not_asked, passed, unevaluated
from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.recoding import recoded_columns

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence

__all__ = [
    "cells_lost",
    "levels_planned",
    "missing_only_where_planned",
    "none_changed",
    "none_invented",
    "planned_level",
    "untraced",
    "within_limit",
]


def untraced(evidence: Evidence) -> CheckOutcome:
    """Say that released rows cannot be led back to the source: for want of a row map, or because it is not sound."""
    message = "released rows cannot be led back to the source"
    return absent(message) if evidence.target.row_map is None else unevaluated(message)


def _counted(pairs: list[tuple[str, int]]) -> str:
    return ", ".join(f"{amount} in {column}" for column, amount in pairs)


def none_changed(evidence: Evidence) -> CheckOutcome:
    """No released cell holds another value than its source cell, or than one that represents it where the plan recodes the column."""
    if evidence.changes is None:
        return untraced(evidence)
    recoded = recoded_columns(evidence.usable)
    changed = [(change.column, change.changed) for change in evidence.changes if change.changed]
    if changed:
        total = sum(amount for _, amount in changed)
        stand = any(column in recoded for column, _ in changed)
        what = (
            "cells hold a value that does not represent their source's"
            if stand
            else "cells hold another value than their source"
        )
        return failed(f"{what}: {_counted(changed)}", count(total), count(0))
    stands = ", or represents it as the policy says" if recoded else ""
    return passed(f"every released value is its source's{stands}")


def levels_planned(evidence: Evidence) -> bool:
    """Return True if the plan writes columns coarser, by steps that have levels."""
    return bool(recoded_columns(evidence.plan.columns)) and evidence.levels != ()


def planned_level(evidence: Evidence) -> CheckOutcome:
    """Every released value of a column that is written coarser is of the planned level: a label of it, an end or a multiple."""
    if evidence.levels is None:
        return unevaluated("no file can be read")
    wrong = [(one.column, one.rows) for one in evidence.levels if one.rows]
    if wrong:
        total = sum(rows for _, rows in wrong)
        return failed(f"cells hold a value that is not of the planned level: {_counted(wrong)}", count(total), count(0))
    return passed("every released value of columns that are written coarser is of the planned level")


def none_invented(evidence: Evidence) -> CheckOutcome:
    """No released cell holds a value where the source has none."""
    if evidence.changes is None:
        return untraced(evidence)
    invented = [(change.column, change.invented) for change in evidence.changes if change.invented]
    if invented:
        total = sum(amount for _, amount in invented)
        return failed(f"cells hold a value where the source has none: {_counted(invented)}", count(total), count(0))
    return passed("no value was made up where the source has none")


def missing_only_where_planned(evidence: Evidence) -> CheckOutcome:
    """Cells became missing only in columns that a suppression step protects."""
    if evidence.changes is None:
        return untraced(evidence)
    allowed = evidence.plan.may_lack
    nulled = [(change.column, change.nulled) for change in evidence.changes if change.nulled and change.column not in allowed]
    if nulled:
        total = sum(amount for _, amount in nulled)
        return failed(f"cells became missing without a step that says so: {_counted(nulled)}", count(total), count(0))
    return passed("cells became missing only in columns that the plan suppresses")


def cells_lost(evidence: Evidence) -> dict[str, tuple[int, int]] | None:
    """Per quasi-identifier, cells made missing in released rows and cells with a value in dropped rows; None: not measurable."""
    if evidence.changes is None or evidence.left is None:
        return None
    nulled = {change.column: change.nulled for change in evidence.changes}
    dropped = dict(evidence.left.cells)
    return {column: (nulled.get(column, 0), dropped.get(column, 0)) for column in evidence.plan.quasi_identifiers}


def within_limit(evidence: Evidence) -> CheckOutcome:
    """The share of lost cells, over all cells of the threats' columns in the source, is at most the limit."""
    step = evidence.plan.suppress
    if step is None or step.limit is None:
        return not_asked("the policy sets no limit on suppressed cells")
    lost = cells_lost(evidence)
    if lost is None or evidence.source is None:
        return untraced(evidence)
    total = evidence.source.n_rows * len(lost)
    share = Fraction(sum(a + b for a, b in lost.values()), total) if total else Fraction(0)
    limit = Figure.of(step.limit, "share", Visibility.RECIPIENT)
    observed = Figure.of(share, "share")
    if share <= step.limit:
        return passed("lost cells are within the policy's limit", observed, limit)
    worst = sorted(lost.items(), key=lambda item: (-sum(item[1]), item[0]))
    most = ", ".join(f"{column} {sum(parts)}" for column, parts in worst[:3])
    over = sum(a + b for a, b in lost.values()) - int(step.limit * total)
    cells = "1 cell more was" if over == 1 else f"{over} cells more were"
    return failed(f"{cells} lost than the limit allows; most in: {most}", observed, limit)
