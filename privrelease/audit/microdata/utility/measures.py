"""Utility of a microdata release: every measure, taken from what the audit gathered, as section 13 of ``audit.json``."""

from __future__ import annotations

from dataclasses import asdict, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.document.frontier import frontier_facts
from privrelease.audit.document.utility import ColumnUtility, QueryErrors, UtilityMeasures
from privrelease.audit.document.visibility import minimum_of
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.audit.microdata.recoding import VERIFIERS, recoded_columns
from privrelease.audit.microdata.utility.entropy import entropy_loss, kept
from privrelease.audit.microdata.utility.granularity import granularity, suppressed
from privrelease.audit.microdata.utility.labels import (
    class_codes,
    in_order,
    label_columns,
    label_entropy,
    label_granularity,
)
from privrelease.audit.microdata.utility.number_shifts import number_shifts
from privrelease.audit.microdata.utility.queries import Draws, median_error, point_queries, range_queries
from privrelease.audit.microdata.utility.rounding import Change
from privrelease.audit.microdata.utility.value_counts import column_counts
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.audit.document.frontier import FrontierFacts
    from privrelease.audit.document.utility import Measured
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.audit.microdata.utility.entropy import EntropyLoss
    from privrelease.audit.microdata.utility.granularity import Coarseness
    from privrelease.audit.microdata.utility.labels import LabelCounts
    from privrelease.audit.microdata.utility.value_counts import ValueCounts
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.plan.model import Plan

__all__ = ["InformationKept", "information_kept", "utility_measures"]

_SHARE_STEP = Fraction(1, 1000)
_ORDERED = (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.DATETIME)
_OTHER_VALUES = "values are other than they were: what was lost cannot be computed from counts"
_NOTHING = "there is nothing to lose"
_NOT_LED_BACK = "which of the values under a label were lost is not known, as released rows are not led back to the source"


@dataclass(frozen=True, slots=True)
class InformationKept:
    """Non-uniform entropy in both readings, and granularity: 1 keeps everything; None where it cannot be measured."""

    entropy_whole_file: float | None
    entropy_suppressed: float | None
    granularity: Fraction | None


@dataclass(frozen=True, slots=True)
class _Cells:
    """The outcome of the cells of one column. ``labelled``: released cells that hold labels. ``clean``: cells were lost, or are labels, and nothing else."""

    column: str
    known: int
    shown: int
    clean: bool
    entropy: EntropyLoss | None
    coarse: Coarseness | None
    labelled: int = 0

    @classmethod
    def of_values(cls, counts: ValueCounts) -> _Cells:
        """Of a column that is released as it is, or missing."""
        return cls(
            counts.column,
            counts.known_before,
            counts.known_after,
            counts.only_lost,
            entropy_loss(counts),
            suppressed(counts),
        )

    @classmethod
    def of_labels(cls, counts: LabelCounts) -> _Cells:
        """Of a column that is released as labels."""
        return cls(
            counts.column,
            counts.known_before,
            counts.known_after,
            counts.only_lost,
            label_entropy(counts),
            label_granularity(counts),
            counts.known_after,
        )


def utility_measures(
    evidence: Evidence, policy: Plan, engine: MeasuringEngine, verifiers: Verifiers = VERIFIERS
) -> UtilityMeasures | None:
    """Measure; None where there is no source to compare with, or no file that can be read.

    Quasi-identifiers are compared by the class tables that the risk measures use; numeric columns by one scan each, where a cell of them
    was lost or changed; columns of labels by the values that each label represents. Queries are drawn from the digest of the policy and the name of
    the release.
    """
    if evidence.before is None or evidence.after is None or evidence.source is None or evidence.main is None:
        return None
    labels = label_columns(evidence, engine, verifiers)
    labelled = {one.column: one for one in labels if one.column in evidence.before.columns}
    plain = [column.name for column in evidence.usable if column.treatment.relation.own_values]
    before, after = (_of_columns(table, plain) for table in (evidence.before, evidence.after))
    minimum = minimum_of(evidence.plan.threats)
    found = {counts.column: _Cells.of_values(counts) for counts in column_counts(before, after)}
    found |= {name: _Cells.of_labels(counts) for name, counts in labelled.items()}
    cells = [found[name] for name in evidence.before.columns if name in found]
    seed = f"{policy.policy_sha256}/{evidence.plan.id}"
    opaque = [name for name in recoded_columns(evidence.usable) if name in evidence.before.columns and name not in labelled]
    # what the other columns keep is not what the file keeps
    unmeasured = f"not measured: {', '.join(opaque)} hold values that represent others" if opaque else None
    lost = None if opaque else _share_lost(cells)
    return UtilityMeasures(
        basis="rows" if evidence.sound_map else "counts",
        minimum=minimum,
        cells_lost=_lost(cells, minimum).figure(lost, "share", why=unmeasured or _why(cells), least=_SHARE_STEP),
        rows_lost=_rows_lost(evidence.source.file_rows, evidence.main.n_rows, minimum),
        **_losses(cells, minimum, unmeasured),
        columns=tuple(_column(one, minimum) for one in cells),
        numbers=number_shifts(evidence, engine, minimum, labels),
        queries=() if opaque else _queries(evidence, labelled, _changed(cells, minimum), seed),
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


def _clean(columns: Sequence[_Cells]) -> bool:
    return all(one.clean for one in columns)


def _why(columns: Sequence[_Cells]) -> str:
    if not _clean(columns):
        return _OTHER_VALUES
    return _NOTHING if all(one.entropy is not None for one in columns) else _NOT_LED_BACK


def _lost(columns: Sequence[_Cells], minimum: int) -> Change:
    """Cells that figures of loss are about."""
    known = sum(one.known for one in columns)
    lost = known - sum(one.shown for one in columns)
    return Change(lost if _clean(columns) else None, known, minimum)


def _changed(columns: Sequence[_Cells], minimum: int) -> Change:
    """Cells that figures of what is kept are about: lost ones and labels; not known where few are lost, of whom such a figure could tell."""
    lost, labels = _lost(columns, minimum), sum(one.labelled for one in columns)
    if not labels or lost.changed is None:
        return lost
    return replace(lost, changed=None if 0 < lost.changed < minimum else lost.changed + labels)


def _share_lost(columns: Sequence[_Cells]) -> Fraction | None:
    change = _lost(columns, 0)
    return None if change.changed is None or not change.cells else Fraction(change.changed, change.cells)


def information_kept(columns: Sequence[ValueCounts]) -> InformationKept:
    """Measure over all columns; every figure None where a value is more frequent than it was: that is no suppression.

    >>> import numpy as np
    >>> from privrelease.audit.microdata.utility.value_counts import ValueCounts
    >>> information_kept([ValueCounts("a", np.array([0, 4, 4]), np.array([4, 2, 2]))])
    InformationKept(entropy_whole_file=0.5, entropy_suppressed=0.5, granularity=Fraction(1, 2))
    """
    return _kept([_Cells.of_values(counts) for counts in columns])


def _kept(columns: Sequence[_Cells]) -> InformationKept:
    known = [one.entropy for one in columns if one.entropy is not None]
    coarse = [one.coarse for one in columns if one.coarse is not None]
    if not _clean(columns):
        return InformationKept(None, None, None)
    whole = len(known) == len(columns)
    return InformationKept(
        kept([(loss.whole_file, loss.most) for loss in known]) if whole else None,
        kept([(loss.suppressed, loss.most) for loss in known]) if whole else None,
        granularity(coarse),
    )


def _losses(columns: Sequence[_Cells], minimum: int, unmeasured: str | None) -> dict[str, Measured]:
    figures: dict[str, Fraction | float | None] = asdict(_kept(columns))
    change = _changed(columns, minimum)
    return {
        name: change.figure(None if unmeasured else value, "share", why=unmeasured or _why(columns))
        for name, value in figures.items()
    }


def _rows_lost(before: int, after: int, minimum: int) -> Measured:
    lost = before - after
    share = Fraction(lost, before) if before and lost >= 0 else None
    why = "the source has no row" if not before else "there are more rows than in the source"
    return Change(lost, before, minimum).figure(share, "share", why=why, least=_SHARE_STEP)


def _column(one: _Cells, minimum: int) -> ColumnUtility:
    why, loss = _why([one]), one.entropy
    return ColumnUtility(
        column=one.column,
        lost=_lost([one], minimum).figure(_share_lost([one]), "share", why=why, least=_SHARE_STEP),
        kept=_changed([one], minimum).figure(None if loss is None else kept([(loss.whole_file, loss.most)]), "share", why=why),
    )


def _queries(evidence: Evidence, labelled: Mapping[str, LabelCounts], change: Change, seed: str) -> tuple[QueryErrors, ...]:
    """Ask the queries; a label answers as if its values were spread evenly over those of the domain."""
    assert evidence.before is not None
    assert evidence.after is not None
    plain = [column.name for column in evidence.usable if column.treatment.relation.own_values]
    before, after = (_of_columns(table, [*plain, *labelled]) for table in (evidence.before, evidence.after))
    places = {name: before.columns.index(name) for name in labelled}
    codes = {place: class_codes((labelled[name].values, labelled[name].labels)) for name, place in places.items()}
    known = {place: one for place, one in codes.items() if one is not None}
    if len(known) < len(codes) or not all(one.cover.single for one in labelled.values()):
        return ()
    before, after = (
        in_order(table, {place: one[side] for place, one in known.items()}) for side, table in enumerate((before, after))
    )
    types = {column.name: evidence.plan.source.column(column.name).type for column in evidence.usable}
    ordered = [place for place, name in enumerate(before.columns) if types[name] in _ORDERED]
    asked = (
        ("point", point_queries(before, Draws(f"{seed}/point"))),
        ("range", range_queries(before, ordered, Draws(f"{seed}/range"))),
    )
    spread = {place: labelled[name].cover.within for name, place in places.items()}
    return tuple(
        QueryErrors(kind=kind, asked=len(queries), median=change.figure(median_error(before, after, queries, spread), "share"))
        for kind, queries in asked
        if queries
    )
