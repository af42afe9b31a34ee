"""Checks of cells: each equals its source cell, or became missing where the plan allows that; and not more than the limit."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.check import CheckOutcome, absent, failed, not_asked, passed, unevaluated
from privrelease.audit.document.model import Figure, Visibility
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.recoding import recoded_columns
from privrelease.texts.sentences import listed, say

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.texts.sentences import Listed

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
    message = say("untraced")
    return absent(message) if evidence.target.row_map is None else unevaluated(message)


def _counted(pairs: list[tuple[str, int]]) -> Listed:
    return listed(say("amount_in", n=amount, column=column) for column, amount in pairs)


def none_changed(evidence: Evidence) -> CheckOutcome:
    """No released cell holds another value than its source cell, or than one that represents it where the plan recodes the column."""
    if evidence.changes is None:
        return untraced(evidence)
    recoded = recoded_columns(evidence.usable)
    changed = [(change.column, change.changed) for change in evidence.changes if change.changed]
    if changed:
        total = sum(amount for _, amount in changed)
        stand = any(column in recoded for column, _ in changed)
        where = _counted(changed)
        said = say("changed_labels", where=where) if stand else say("changed_values", where=where)
        return failed(said, count(total), count(0))
    return passed(say("changed_coarser") if recoded else say("changed"))


def levels_planned(evidence: Evidence) -> bool:
    """Return True if the plan writes columns coarser, by steps that have levels."""
    return bool(recoded_columns(evidence.plan.columns)) and evidence.levels != ()


def planned_level(evidence: Evidence) -> CheckOutcome:
    """Every released value of a column that is written coarser is of the planned level: a label of it, an end or a multiple."""
    if evidence.levels is None:
        return unevaluated(say("no_file"))
    wrong = [(one.column, one.rows) for one in evidence.levels if one.rows]
    if wrong:
        total = sum(rows for _, rows in wrong)
        return failed(say("not_of_level", where=_counted(wrong)), count(total), count(0))
    return passed(say("level"))


def none_invented(evidence: Evidence) -> CheckOutcome:
    """No released cell holds a value where the source has none."""
    if evidence.changes is None:
        return untraced(evidence)
    invented = [(change.column, change.invented) for change in evidence.changes if change.invented]
    if invented:
        total = sum(amount for _, amount in invented)
        return failed(say("made_up", where=_counted(invented)), count(total), count(0))
    return passed(say("invented"))


def missing_only_where_planned(evidence: Evidence) -> CheckOutcome:
    """Cells became missing only in columns that a suppression step protects."""
    if evidence.changes is None:
        return untraced(evidence)
    allowed = evidence.plan.may_lack
    nulled = [(change.column, change.nulled) for change in evidence.changes if change.nulled and change.column not in allowed]
    if nulled:
        total = sum(amount for _, amount in nulled)
        return failed(say("nulled_unplanned", where=_counted(nulled)), count(total), count(0))
    return passed(say("nulled"))


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
        return not_asked(say("no_limit"))
    lost = cells_lost(evidence)
    if lost is None or evidence.source is None:
        return untraced(evidence)
    total = evidence.source.n_rows * len(lost)
    share = Fraction(sum(a + b for a, b in lost.values()), total) if total else Fraction(0)
    limit = Figure.of(step.limit, "share", Visibility.RECIPIENT)
    observed = Figure.of(share, "share")
    if share <= step.limit:
        return passed(say("limit"), observed, limit)
    worst = sorted(lost.items(), key=lambda item: (-sum(item[1]), item[0]))
    most = listed(say("lost_in", column=column, n=sum(parts)) for column, parts in worst[:3] if sum(parts))
    over = sum(a + b for a, b in lost.values()) - int(step.limit * total)
    return failed(say("over_limit", n=over, where=most), observed, limit)
