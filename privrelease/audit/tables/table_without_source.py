"""Evidence of a table's file by itself, without its source: a printed count bounds how many contribute; totals give sums of
blank cells.

A cell has at most as many contributors as rows, and no more rows than its count says, rounded up or not. So a count above 0 and below the
minimum breaks the rule whatever the source holds. The converse does not hold: what needs the source is left to a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.recoverable_cells import worked_out
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from privrelease.audit.tables.evidence import TableEvidence
    from privrelease.texts.sentences import Said

__all__ = ["blanks_below_minimum", "printed_below_minimum"]


def _counts(evidence: TableEvidence) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """(n,) the printed counts, NaN where none is; None where no count is a figure of the table, or its cells are not those of the plan."""
    plan = evidence.plan
    place = next((place for place, one in enumerate(plan.measures) if one.column is None), None)
    if place is None or [(row.keys, row.over) for row in evidence.rows] != evidence.places:
        return None
    return np.array([np.nan if (count := row.figures[place]) is None else float(count) for row in evidence.rows])


def printed_below_minimum(evidence: TableEvidence) -> Said | None:
    """Name the cells whose printed count is below the minimum, and not 0."""
    counts = _counts(evidence)
    if counts is None:
        return None
    small = np.flatnonzero((counts > 0) & (counts < evidence.plan.rules.min_count))
    return say("counts_below", cells=evidence.named(map(int, small))) if len(small) else None


def blanks_below_minimum(evidence: TableEvidence) -> Said | None:
    """Name the blank cells that totals give back, alone or as a sum, with a count below the minimum, and not 0. Rounded counts do not add up."""
    counts, few = _counts(evidence), evidence.plan.rules.min_count
    if counts is None or evidence.plan.round_up > 1:
        return None
    blank = np.isnan(counts)
    relations = evidence.plan.layout.relations
    low, high = worked_out(relations, np.where(blank, 0.0, counts), np.where(blank, np.inf, counts))
    found = set(np.flatnonzero(blank & (low == high) & (low > 0) & (low < few)).tolist())
    for relation in relations:
        unknown = [part for part in relation.parts if low[part] < high[part]]
        if unknown and low[relation.total] == high[relation.total]:
            together = low[relation.total] - sum(low[part] for part in relation.parts if part not in unknown)
            if 0 < together < few:
                found |= set(unknown)
    return say("totals_give_below", cells=evidence.named(sorted(found))) if found else None
