"""Diversity of the sensitive columns of a released file within its classes: l and t as information, for those inside."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.audit.document.model import Figure
from privrelease.audit.document.sensitive import SensitiveFacts, SensitiveRow
from privrelease.audit.microdata.risk.diversity import sensitive_counts
from privrelease.audit.microdata.risk.threats import lost_where_missing
from privrelease.disclosure.risk.l_diversity import distinct_l, entropy_l
from privrelease.disclosure.risk.t_closeness import t_closeness
from privrelease.relational.schema import ColumnType, Role
from privrelease.relational.treatments import CellRelation

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.disclosure.risk.sensitive import SensitiveCounts
    from privrelease.engine.protocol.audit import MeasuringEngine

__all__ = ["row_of", "sensitive_values"]

#: Pairs of threat and column that are looked at: each is one grouping of the file.
MOST_PAIRS = 12
_ORDERED = frozenset({ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.DATETIME})


def sensitive_values(evidence: Evidence, engine: MeasuringEngine) -> SensitiveFacts | None:
    """Measure every sensitive column that is released, as it is or written coarser, under every threat that does not know it.

    Of a column that is written coarser the released values count: members of a class who share one share what it represents. Pseudonyms are left out. None where there is nothing to measure, or where persons have several rows: these measures count rows.
    """
    if evidence.main is None or evidence.person_after is not None:
        return None
    sensitive = [
        column
        for column in evidence.plan.columns
        if column.role is Role.SENSITIVE
        and (column.treatment.relation.own_values or column.treatment.relation is CellRelation.MAPPED)
    ]
    pairs = [
        (threat, column)
        for threat in evidence.plan.threats
        for column in sensitive
        if column.name not in threat.columns and evidence.measurable([*threat.columns, column.name])
    ]
    lost, rows = lost_where_missing(evidence), []
    for threat, column in pairs[:MOST_PAIRS]:
        table = engine.class_table(evidence.main, [*threat.columns, column.name])
        counts = sensitive_counts(table, threat.columns, column.name, lost=lost)
        if counts.n_classes:
            rows.append(row_of(threat.name, column.name, counts, "ordered" if column.type in _ORDERED else "equal"))
    return SensitiveFacts(rows=tuple(rows), left_out=max(0, len(pairs) - MOST_PAIRS)) if rows else None


def row_of(threat: str, column: str, counts: SensitiveCounts, distance: Literal["equal", "ordered"]) -> SensitiveRow:
    """Return the figures of the least varied class.

    >>> import numpy as np
    >>> from privrelease.disclosure.risk.sensitive import SensitiveCounts
    >>> counts = SensitiveCounts.of(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([2, 1, 3]))
    >>> row = row_of("t", "diagnosis", counts, "equal")
    >>> row.distinct_l.value, row.shared.exact, row.t.exact
    (1, '1/2', '1/3')
    """
    distinct = distinct_l(counts)
    records = int(counts.totals.sum())
    shared = int(counts.totals[distinct == 1].sum())
    largest = t_closeness(counts, distance).largest
    return SensitiveRow(
        threat=threat,
        column=column,
        distinct_l=Figure.of(int(distinct.min())),
        entropy_l=Figure.of(round(float(entropy_l(counts).min()), 6)),
        t=Figure.of(largest, "share", note=None if largest is not None else "a class holds no known value"),
        distance=distance,
        shared=Figure.of(Fraction(shared, records) if records else Fraction(0), "share"),
    )
