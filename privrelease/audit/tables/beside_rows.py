"""A table and released rows of the same persons: which suppressed cells the rows give back, whichever of both was published first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.comparison.earlier.granted_maps import SourceColumns
from privrelease.audit.comparison.earlier.rows_and_table import (
    CellsByRows,
    RowsOut,
    TableShown,
    TableVerdict,
    cells_by_rows,
    same_source,
)
from privrelease.audit.tables.evidence import TableTarget, agrees, cell_value, table_evidence
from privrelease.audit.tables.previous_releases import given_back, printed_in
from privrelease.disclosure.tables.figures import known_of, needs
from privrelease.errors import PrivreleaseError
from privrelease.plan.model import releases_of
from privrelease.plan.tables.plan import TablePlan
from privrelease.relational.schema import ColumnType
from privrelease.texts.sentences import listed, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from privrelease.audit.comparison.earlier.rows_and_table import Cell, TableJudge
    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.tables.evidence import TableEvidence
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile
    from privrelease.plan.model import Plan
    from privrelease.texts.sentences import Said

__all__ = ["table_beside_rows", "table_judge"]

_WORDS = ("rows_count_hidden", "rows_give")
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})


def table_beside_rows(
    evidence: TableEvidence, earlier: Sequence[EarlierRelease], engine: MeasuringEngine
) -> list[tuple[EarlierRelease, TableVerdict]]:
    """Judge a table next to every release of rows that is out. Where the source was not read, any suppressed cell that follows is too many."""
    inputs = () if evidence.target.internal is None else evidence.target.internal.inputs
    source = SourceColumns(engine, (evidence.plan.source,), readable=evidence.source_rows is not None)
    found: list[tuple[EarlierRelease, RowsOut | None, TableVerdict]] = []
    for one in earlier:
        if one.content != "rows" or not one.held:
            continue
        if one.recoded and not _prints_all(
            evidence.printed
        ):  # a label counts persons of several cells together, whose other cells may be printed
            note = say("recoded_cells", columns=listed(one.recoded))
            found.append((one, None, TableVerdict(agree=None, unjudged=note)))
            continue
        if one.recoded:
            found.append((one, None, TableVerdict()))
            continue
        try:
            file = engine.open_release(one.file, one.columns, marked=one.marked)
        except PrivreleaseError:
            found.append((one, None, TableVerdict(agree=None)))
            continue
        left_out = _left_out(evidence, file, same=same_source(inputs, one.inputs))
        rows = RowsOut(file, one.own, one.lossy, left_out, one.pseudonyms, source)
        found.append((one, rows, _verdict(evidence, rows, engine)))
    own = [one.own for one, _, _ in found]
    return [(one, verdict.settled(rows, own)) for one, rows, verdict in found]


def _left_out(evidence: TableEvidence, file: ReleasedFile, *, same: bool) -> int | None:
    """Return how many rows that the table is made of are not in a file of rows of the ``same`` source, at least; None where that is not known.

    Rows that the domain of another dataset over this source keeps out of the file count, those that the table's own keeps out of both do not.
    """
    return max(0, evidence.source_rows - file.n_rows) if same and evidence.source_rows is not None else None


def table_judge(policy: Plan) -> TableJudge:
    """Return a judge of published tables: by the plan of the policy that made them where it still describes them, else by their files alone."""

    def judge(table: EarlierRelease, rows: RowsOut, engine: MeasuringEngine) -> TableVerdict:
        # a release of this name in another policy is another release, with rules of its own
        own = table.manifest is not None and table.manifest.policy.id == policy.policy_id
        name = table.manifest.release if own and table.manifest is not None else None
        plan = next((one for one in releases_of(policy.releases, TablePlan) if one.id == name), None)
        try:
            if rows.recoded:
                return TableVerdict(agree=True if _prints_all(printed_in(table.file)[1]) else None)
            if plan is not None:
                evidence = table_evidence(plan, policy, TableTarget((table.file,)), engine, ())
                if evidence.suppressed is not None and _holds(evidence):
                    source = None if rows.source is None else rows.source.also(plan.source)
                    left_out = rows.left_out
                    if (
                        source is rows.source
                    ):  # the table is made of the very file of the rows, perhaps by another dataset over it
                        left_out = _left_out(evidence, rows.file, same=left_out is not None)
                    return _verdict(evidence, replace(rows, source=source, left_out=left_out), engine)
            return _by_file(table, rows, engine)
        except (OSError, ValueError, PrivreleaseError):
            return TableVerdict(agree=None)

    return judge


def _prints_all(printed: Mapping[Cell, Mapping[str, Fraction | None]]) -> bool:
    """Return True if no figure is suppressed, so that no rows, however they are written, give one back."""
    return all(figure is not None for figures in printed.values() for figure in figures.values())


def _holds(evidence: TableEvidence) -> bool:
    """Return True if what the file prints is what the source gives now, so that its cells can be judged by it."""
    plan, cells = evidence.plan, evidence.cells
    return cells is not None and all(
        figure is None or agrees(figure, cell_value(plan, one, plan.query.sums, cells, place))
        for place, row in enumerate(evidence.rows)
        for one, figure in zip(plan.measures, row.figures, strict=True)
    )


def _verdict(evidence: TableEvidence, rows: RowsOut, engine: MeasuringEngine) -> TableVerdict:
    plan, judged, suppressed, printed = evidence.plan, evidence.judged, evidence.suppressed, evidence.printed
    if judged is None or suppressed is None:
        shown = TableShown(
            plan.by, plan.keys, printed, _added(plan), plan.where, round_up=plan.round_up, apart=plan.rules.class_disclosure
        )
        return _any_hidden(shown, rows, engine)
    counts, cells = known_of(judged, -1, suppressed), list(printed)
    hidden = np.flatnonzero(suppressed).tolist()
    shown = TableShown(
        plan.by,
        plan.keys,
        printed,
        _added(plan),
        plan.where,
        round_up=plan.round_up,
        granted={cells[place]: (float(counts.low[place]), float(counts.high[place])) for place in hidden},
        widths={cells[place]: float(needs(judged, -1, place)[0]) for place in hidden},
        apart=plan.rules.class_disclosure,
    )
    learnt = cells_by_rows(shown, rows, engine)
    if not learnt.agree:
        return TableVerdict(agree=learnt.agree, by=_hiding(shown))
    given = given_back(plan, cells, learnt.known, judged, suppressed, _WORDS)
    return TableVerdict(tuple(given), unjudged=_open(learnt), by=_hiding(shown))


def _open(learnt: CellsByRows) -> Said | None:
    """Say which suppressed sums the rows narrow down, which no one has judged; None where there is none."""
    return say("narrowed_sums", figures=listed(sorted(learnt.narrowed))) if learnt.narrowed else None


def _added(plan: TablePlan) -> dict[str, str]:
    return {one.name: one.column for one in plan.measures if one.column is not None}


def _by_file(table: EarlierRelease, rows: RowsOut, engine: MeasuringEngine) -> TableVerdict:
    """Judge a table of which only the file is known: any suppressed cell counts as unsafe, and it is taken to be made of
    all rows, which shows in what it prints.
    """
    by, printed = printed_in(table.file)
    keys = tuple(tuple(dict.fromkeys(key for cell in printed for column, key in cell if column == name)) for name in by)
    found = _any_hidden(TableShown(by, keys, printed), rows, engine)
    summed = sorted({name for figures in printed.values() for name, figure in figures.items() if figure is None} - {"count"})
    numbers = any(kind in _NUMBERS for name, kind in rows.file.columns if name in rows.own)
    if found.agree and found.unjudged is None and summed and numbers:  # a file does not say which column a figure adds up
        return replace(found, unjudged=say("narrowed_sums", figures=listed(summed)))
    return found


def _any_hidden(shown: TableShown, rows: RowsOut, engine: MeasuringEngine) -> TableVerdict:
    learnt = cells_by_rows(shown, rows, engine)
    if not learnt.agree:
        return TableVerdict(agree=learnt.agree, by=_hiding(shown))
    given = sum(bool(learnt.known[cell]) for cell in shown.printed if shown.hides(cell))
    faults = (say(_WORDS[0], cells=say("n_cells", n=given)),) if given else ()
    return TableVerdict(faults, unjudged=_open(learnt), by=_hiding(shown))


def _hiding(shown: TableShown) -> frozenset[str]:
    """Return the group columns of a table that suppresses something."""
    return frozenset(shown.by) if any(map(shown.hides, shown.printed)) else frozenset()
