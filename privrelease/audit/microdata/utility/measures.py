"""Utility of a microdata release: every measure, taken from what the audit gathered, as section 13 of ``audit.json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.document.frontier import frontier_facts
from privrelease.audit.document.utility import ColumnUtility, QueryErrors, UtilityMeasures
from privrelease.audit.document.visibility import minimum_of
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.audit.microdata.recoding import recoded_columns
from privrelease.audit.microdata.utility.entropy import entropy_loss, kept
from privrelease.audit.microdata.utility.granularity import granularity, suppressed
from privrelease.audit.microdata.utility.number_shifts import number_shifts
from privrelease.audit.microdata.utility.queries import Draws, median_error, point_queries, range_queries
from privrelease.audit.microdata.utility.rounding import Change
from privrelease.audit.microdata.utility.value_counts import column_counts
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.frontier import FrontierFacts
    from privrelease.audit.document.utility import Measured
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.utility.value_counts import ValueCounts
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.plan.model import Plan

__all__ = ["InformationKept", "information_kept", "utility_measures"]

_SHARE_STEP = Fraction(1, 1000)
_ORDERED = (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.DATETIME)
_OTHER_VALUES = "values are other than they were: what was lost cannot be computed from counts"
_NOTHING = "there is nothing to lose"


@dataclass(frozen=True, slots=True)
class InformationKept:
    """Non-uniform entropy in both readings, and granularity: 1 keeps everything; None where it cannot be measured."""

    entropy_whole_file: float | None
    entropy_suppressed: float | None
    granularity: Fraction | None


def utility_measures(evidence: Evidence, policy: Plan, engine: MeasuringEngine) -> UtilityMeasures | None:
    """Measure; None where there is no source to compare with, or no file that can be read.

    Quasi-identifiers are compared by the class tables that the risk measures use; numeric columns by one scan each, where a cell of them
    was lost or changed. Queries are drawn from the digest of the policy and the name of the release.
    """
    if evidence.before is None or evidence.after is None or evidence.source is None or evidence.main is None:
        return None
    plain = [column.name for column in evidence.usable if column.treatment.relation.own_values]
    before, after = (_of_columns(table, plain) for table in (evidence.before, evidence.after))
    minimum = minimum_of(evidence.plan.threats)
    columns = column_counts(before, after)
    change = _change(columns, minimum)
    seed = f"{policy.policy_sha256}/{evidence.plan.id}"
    coarser = [name for name in recoded_columns(evidence.usable) if name in evidence.before.columns]
    # what the other columns keep is not what the file keeps
    unmeasured = f"not measured: {', '.join(coarser)} hold values that represent others" if coarser else None
    lost = None if coarser else _share_lost(columns)
    return UtilityMeasures(
        basis="rows" if evidence.sound_map else "counts",
        minimum=minimum,
        cells_lost=change.figure(lost, "share", why=unmeasured or _why(columns), least=_SHARE_STEP),
        rows_lost=_rows_lost(evidence.source.file_rows, evidence.main.n_rows, minimum),
        **_losses(columns, change, unmeasured),
        columns=tuple(_column(counts, minimum) for counts in columns),
        numbers=number_shifts(evidence, engine, minimum),
        queries=() if coarser else _queries(evidence, before, after, change, seed),
        seed=seed,
        frontier=_frontier(evidence),
    )


def _frontier(evidence: Evidence) -> FrontierFacts | None:
    """Return the run's forecast for other thresholds, next to the cells and rows that were found to be lost."""
    internal = evidence.target.internal
    if internal is None or internal.frontier is None:
        return None
    lost = cells_lost(evidence)
    cells = None if lost is None else sum(nulled + dropped for nulled, dropped in lost.values())
    return frontier_facts(internal.frontier, cells, None if evidence.left is None else evidence.left.rows)


def _of_columns(table: ClassTable, names: Sequence[str]) -> ClassTable:
    """Leave out columns that are released in another coding (pseudonyms); classes may then repeat, which no count minds."""
    places = [place for place, name in enumerate(table.columns) if name in names]
    if len(places) == len(table.columns):
        return table
    return ClassTable(tuple(table.columns[place] for place in places), table.codes[:, places], table.counts)


def _clean(columns: Sequence[ValueCounts]) -> bool:
    return all(counts.only_lost for counts in columns)


def _why(columns: Sequence[ValueCounts]) -> str:
    return _NOTHING if _clean(columns) else _OTHER_VALUES


def _change(columns: Sequence[ValueCounts], minimum: int) -> Change:
    known = sum(counts.known_before for counts in columns)
    lost = known - sum(counts.known_after for counts in columns)
    return Change(lost if _clean(columns) else None, known, minimum)


def _share_lost(columns: Sequence[ValueCounts]) -> Fraction | None:
    change = _change(columns, 0)
    return None if change.changed is None or not change.cells else Fraction(change.changed, change.cells)


def information_kept(columns: Sequence[ValueCounts]) -> InformationKept:
    """Measure over all columns; every figure None where a value is more frequent than it was: that is no suppression.

    >>> import numpy as np
    >>> from privrelease.audit.microdata.utility.value_counts import ValueCounts
    >>> information_kept([ValueCounts("a", np.array([0, 4, 4]), np.array([4, 2, 2]))])
    InformationKept(entropy_whole_file=0.5, entropy_suppressed=0.5, granularity=Fraction(1, 2))
    """
    losses = [entropy_loss(counts) for counts in columns] if _clean(columns) else []
    known = [loss for loss in losses if loss is not None]
    coarse = [pair for counts in columns if (pair := suppressed(counts)) is not None] if _clean(columns) else []
    return InformationKept(
        kept([(loss.whole_file, loss.most) for loss in known]),
        kept([(loss.suppressed, loss.most) for loss in known]),
        granularity(coarse),
    )


def _losses(columns: Sequence[ValueCounts], change: Change, unmeasured: str | None) -> dict[str, Measured]:
    figures: dict[str, Fraction | float | None] = asdict(information_kept(columns))
    return {
        name: change.figure(None if unmeasured else value, "share", why=unmeasured or _why(columns))
        for name, value in figures.items()
    }


def _rows_lost(before: int, after: int, minimum: int) -> Measured:
    lost = before - after
    share = Fraction(lost, before) if before and lost >= 0 else None
    why = "the source has no row" if not before else "there are more rows than in the source"
    return Change(lost, before, minimum).figure(share, "share", why=why, least=_SHARE_STEP)


def _column(counts: ValueCounts, minimum: int) -> ColumnUtility:
    change, loss, why = _change([counts], minimum), entropy_loss(counts), _why([counts])
    return ColumnUtility(
        column=counts.column,
        lost=change.figure(_share_lost([counts]), "share", why=why, least=_SHARE_STEP),
        kept=change.figure(None if loss is None else kept([(loss.whole_file, loss.most)]), "share", why=why),
    )


def _queries(evidence: Evidence, before: ClassTable, after: ClassTable, change: Change, seed: str) -> tuple[QueryErrors, ...]:
    types = {column.name: column.type for column in evidence.usable}
    ordered = [place for place, name in enumerate(before.columns) if types[name] in _ORDERED]
    asked = (
        ("point", point_queries(before, Draws(f"{seed}/point"))),
        ("range", range_queries(before, ordered, Draws(f"{seed}/range"))),
    )
    return tuple(
        QueryErrors(kind=kind, asked=len(queries), median=change.figure(median_error(before, after, queries), "share"))
        for kind, queries in asked
        if queries
    )
