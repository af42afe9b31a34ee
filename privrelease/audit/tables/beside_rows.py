"""A table and released rows of the same persons: which suppressed cells the rows give back, whichever of both was published first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.comparison.earlier.granted_maps import SourceColumns
from privrelease.audit.comparison.earlier.rows_and_table import (
    COUNT,
    CellsByRows,
    RowsOut,
    TableShown,
    TableVerdict,
    cells_by_rows,
    same_source,
)
from privrelease.audit.comparison.earlier.tables_together import BesideRows, OutTable, with_others
from privrelease.audit.tables.evidence import TableTarget, agrees, cell_value, table_evidence
from privrelease.audit.tables.previous_releases import given_back, printed_in
from privrelease.disclosure.tables.figures import known_of, needs
from privrelease.errors import PrivreleaseError
from privrelease.plan.model import releases_of
from privrelease.plan.tables.description import described, plan_described
from privrelease.plan.tables.plan import TablePlan
from privrelease.relational.schema import ColumnType
from privrelease.texts.sentences import listed, say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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
    evidence: TableEvidence, policy: Plan, earlier: Sequence[EarlierRelease], engine: MeasuringEngine
) -> list[tuple[EarlierRelease, TableVerdict]]:
    """Judge a table next to every release of rows that is out, and together with the tables that are. Where the source was not read, any
    suppressed cell that follows is too many.
    """
    inputs = () if evidence.target.internal is None else evidence.target.internal.inputs
    source = SourceColumns(engine, (evidence.plan.source,), readable=evidence.source_rows is not None)
    mine = _by_plan(evidence)
    shows = any(one.content == "rows" and one.held and not one.recoded for one in earlier)
    others = [(one, _out(one, policy, engine)) for one in earlier if shows and one.content == "cells" and one.held]
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
        known = evidence.source_rows is not None and same_source(inputs, one.inputs)
        left_out = _left_out(evidence.source_rows, file, same=known)
        rows = RowsOut(file, one.own, one.lossy, left_out, one.pseudonyms, source)
        verdict, alone = _alone(mine, rows, engine)
        if verdict.agree:
            beside = [BesideRows(mine, alone, same=known)]
            for table, shown in others:
                if shown is None or shown.shown == mine.shown:
                    continue
                same = known and same_source(inputs, table.inputs)
                of = _of_table(replace(rows, left_out=left_out if same else None), shown)
                beside.append(BesideRows(replace(shown, name=table.name), cells_by_rows(shown.shown, of, engine), same=same))
            (verdict, *_) = with_others(beside, [verdict], rows, engine)
        found.append((one, rows, verdict))
    own = [one.own for one, _, _ in found]
    return [(one, verdict.settled(rows, own)) for one, rows, verdict in found]


def _left_out(made_of: int | None, file: ReleasedFile, *, same: bool) -> int | None:
    """Return how many rows that a table is made of are not in a file of rows of the ``same`` source, at least; None where that is not known.

    Rows that the domain of another dataset over this source keeps out of the file count, those that the table's own keeps out of both do not.
    """
    return max(0, made_of - file.n_rows) if same and made_of is not None else None


def table_judge(policy: Plan) -> TableJudge:
    """Return a judge of published tables, each next to rows and all together: by what their runs kept of them or the plan of the policy where either
    describes them, else by their files alone.
    """

    def judge(pairs: Sequence[tuple[EarlierRelease, RowsOut]], engine: MeasuringEngine) -> list[TableVerdict]:
        verdicts, beside, places, known = [], [], [], []
        for table, rows in pairs:
            if rows.recoded:
                try:
                    verdicts.append(TableVerdict(agree=True if _prints_all(printed_in(table.file)[1]) else None))
                except (OSError, ValueError, PrivreleaseError):
                    verdicts.append(TableVerdict(agree=None))
                continue
            shown = _out(table, policy, engine)
            if shown is None:
                verdicts.append(TableVerdict(agree=None))
                continue
            of = _of_table(rows, shown)
            verdict, alone = _alone(shown, of, engine)
            if verdict.agree:
                places.append(len(verdicts))
                known.append(of)
                beside.append(BesideRows(replace(shown, name=table.name), alone, same=rows.left_out is not None))
            verdicts.append(verdict)
        if len(beside) > 1:
            rows = max(known, key=lambda one: -1 if one.left_out is None else one.left_out)
            together = with_others(beside, [verdicts[place] for place in places], rows, engine)
            for place, verdict in zip(places, together, strict=True):
                verdicts[place] = verdict
        return verdicts

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


def _out(table: EarlierRelease, policy: Plan, engine: MeasuringEngine) -> OutTable | None:
    """Return a published table by the description that its run kept, and by the policy's plan too where that says otherwise; by its file alone where
    neither describes it. None where its file cannot be read.
    """
    # a release of this name in another policy is another release, with rules of its own
    own = table.manifest is not None and table.manifest.policy.id == policy.policy_id
    name = table.manifest.release if own and table.manifest is not None else None
    plan = next((one for one in releases_of(policy.releases, TablePlan) if one.id == name), None)
    try:
        made = _as_made(table, policy, engine)
        if made is not None and plan is not None and described(plan) == table.description:
            plan = None
        now = None if plan is None else _fitting(plan, policy, table, engine)
        if made is not None and now is not None:
            return _by_either(_by_plan(made), _by_plan(now))
        found = now if made is None else made
        return _by_file(table) if found is None else _by_plan(found)
    except (OSError, ValueError, PrivreleaseError):
        return None


def _fitting(plan: TablePlan, policy: Plan, table: EarlierRelease, engine: MeasuringEngine) -> TableEvidence | None:
    """Return the evidence of a published table by a plan; None where what it prints is not what the source gives under it."""
    evidence = table_evidence(plan, policy, TableTarget((table.file,)), engine, ())
    return evidence if evidence.suppressed is not None and _holds(evidence) else None


def _as_made(table: EarlierRelease, policy: Plan, engine: MeasuringEngine) -> TableEvidence | None:
    """Return the evidence of a table by the description that its run kept. The description is a claim: it counts where the file that the table was made of,
    or else a source of the policy, gives under it all that is printed.
    """
    of = table.description
    if of is None:
        return None
    sources = dict.fromkeys(source.path for release in policy.releases for source in release.sources)
    state = None if table.state is None else table.state.resolve()
    # one source has one path, also where it is written otherwise
    same = [path for path in sources if state is not None and Path(path).resolve() == state]
    for path in dict.fromkeys((*same, *(() if table.state is None else (str(table.state),)), *sources)):
        try:
            found = _fitting(plan_described(of, path), policy, table, engine)
        except (OSError, ValueError, PrivreleaseError):
            continue
        if found is not None:
            return found
    return None


def _by_plan(evidence: TableEvidence) -> OutTable:
    plan, judged, suppressed, printed = evidence.plan, evidence.judged, evidence.suppressed, evidence.printed
    added = {one.name: one.column for one in plan.measures if one.column is not None}
    apart = (frozenset(plan.by),) if plan.rules.class_disclosure else ()
    shown = TableShown(plan.by, plan.keys, printed, added, plan.where, round_up=plan.round_up, apart=apart)
    if judged is None or suppressed is None:
        return OutTable(shown, _any_hidden(shown), plan.source, evidence.source_rows)
    counts, cells = known_of(judged, -1, suppressed), list(printed)
    hidden = np.flatnonzero(suppressed).tolist()
    shown = replace(
        shown,
        granted={cells[place]: (float(counts.low[place]), float(counts.high[place])) for place in hidden},
        widths={cells[place]: float(needs(judged, -1, place)[0]) for place in hidden},
    )

    def given(known: Mapping[Cell, frozenset[str]], words: tuple[str, str]) -> tuple[Said, ...]:
        every = {cell: known.get(cell, frozenset()) for cell in cells}
        return tuple(given_back(plan, cells, every, judged, suppressed, words))

    return OutTable(shown, given, plan.source, evidence.source_rows)


def _by_either(made: OutTable, now: OutTable) -> OutTable:
    """Return a table that the policy describes by other rules than those it was published under: its suppressed cells are known to be what the latter say,
    and what is unsafe by either must not follow.
    """

    def given(known: Mapping[Cell, frozenset[str]], words: tuple[str, str]) -> tuple[Said, ...]:
        return tuple(dict.fromkeys((*made.given(known, words), *now.given(known, words))))

    wide = {cell: max(width, now.shown.widths.get(cell, 1.0)) for cell, width in made.shown.widths.items()}
    return replace(made, shown=replace(made.shown, widths=wide), given=given)


def _by_file(table: EarlierRelease) -> OutTable:
    """Return a table of which only the file is known: any suppressed cell counts as unsafe, and it is taken to be made of
    all rows, which shows in what it prints. A file does not say which column a figure adds up.
    """
    by, printed = printed_in(table.file)
    keys = tuple(tuple(dict.fromkeys(key for cell in printed for column, key in cell if column == name)) for name in by)
    unnamed = frozenset(name for figures in printed.values() for name in figures) - {COUNT}
    shown = TableShown(by, keys, printed, unnamed=unnamed)
    return OutTable(shown, _any_hidden(shown))


def _any_hidden(shown: TableShown) -> Callable[[Mapping[Cell, frozenset[str]], tuple[str, str]], tuple[Said, ...]]:
    def given(known: Mapping[Cell, frozenset[str]], words: tuple[str, str]) -> tuple[Said, ...]:
        found = sum(bool(known.get(cell)) for cell in shown.printed if shown.hides(cell))
        return (say(words[0], cells=say("n_cells", n=found)),) if found else ()

    return given


def _of_table(rows: RowsOut, table: OutTable) -> RowsOut:
    """Return the rows with the source of a table's plan, which may have more columns, and with what they lack of the rows that it is made of."""
    if table.source is None:
        return rows
    source = None if rows.source is None else rows.source.also(table.source)
    if source is not rows.source:
        return replace(rows, source=source)
    # the table is made of the very file of the rows, perhaps by another dataset over it
    return replace(rows, left_out=_left_out(table.source_rows, rows.file, same=rows.left_out is not None))


def _alone(table: OutTable, rows: RowsOut, engine: MeasuringEngine) -> tuple[TableVerdict, CellsByRows]:
    """Judge a table with the rows alone; also return what is learnt of it."""
    shown = table.shown
    try:
        learnt = cells_by_rows(shown, rows, engine)
    except (OSError, ValueError, PrivreleaseError):
        learnt = CellsByRows(agree=None)
        return TableVerdict(agree=None), learnt
    by = frozenset(shown.by) if shown.hiding else frozenset[str]()
    if not learnt.agree:
        return TableVerdict(agree=learnt.agree, by=by), learnt
    narrowed = learnt.narrowed
    if any(kind in _NUMBERS for name, kind in rows.file.columns if name in rows.own):
        narrowed |= {name for figures in shown.printed.values() for name in shown.unnamed if figures[name] is None}
    open_ = say("narrowed_sums", figures=listed(sorted(narrowed))) if narrowed else None
    return TableVerdict(table.given(learnt.known, _WORDS), unjudged=open_, by=by), learnt
