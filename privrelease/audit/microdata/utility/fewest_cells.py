"""The fewest cells that suppression must take, recomputed from the source: how far the release can be from them.

The classes are of the source's values as the release shows them. Of columns that are written coarser, each value is replaced by the released
label that represents it. Values whose label was suppressed everywhere become one value that the file does not hold: taking values together
never raises the bound. A column whose released values cannot be compared with the source's is left out, with the same effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.document.model import CellBoundFacts, Figure
from privrelease.audit.document.visibility import count
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.audit.microdata.recoding import VERIFIERS, in_released_values
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.plan.microdata.cell_bound import bound_of_release

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.engine.protocol.audit import MeasuringEngine

__all__ = ["cell_bound"]


def cell_bound(evidence: Evidence, engine: MeasuringEngine, verifiers: Verifiers = VERIFIERS) -> CellBoundFacts | None:
    """Return the bound and the gap; None where no step suppresses cells, or the cells lost are not known."""
    lost = None if evidence.plan.suppress is None else cells_lost(evidence)
    if lost is None or evidence.before is None:
        return None
    found = bound_of_release(evidence.plan, _as_released(evidence, engine, verifiers), linkable=evidence.linkable)
    assert found is not None  # there is a suppress step
    gap = found.gap(sum(nulled + dropped for nulled, dropped in lost.values()))
    note = None if gap is not None or found.cells is None else "the cells lost are no multiple of the bound"
    return CellBoundFacts(
        threat=found.threat,
        cells=None if found.cells is None else count(found.cells),
        above=None if found.cells is None else Figure.of(gap, "share", note=note),
        why_not=found.why_not,
    )


def _as_released(evidence: Evidence, engine: MeasuringEngine, verifiers: Verifiers) -> ClassTable:
    """Return the source's classes over the columns whose values are the source's own, or labels that the audit can read."""
    before, source, main = evidence.before, evidence.source, evidence.main
    assert before is not None
    assert source is not None
    assert main is not None
    columns = [column for column in evidence.usable if column.name in before.columns]
    known = {column.name for column in columns if column.treatment.relation.own_values}
    if len(known) == len(before.columns):
        return before
    recoded, labelled = in_released_values(columns, source, main, engine, verifiers)
    names = [name for name in before.columns if name in known or name in labelled]
    if labelled:
        return engine.class_table(recoded, names)
    places = [before.columns.index(name) for name in names]
    return ClassTable(tuple(names), before.codes[:, places], before.counts)
