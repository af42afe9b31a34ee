"""Evidence for the audit of a table: the parked rows, the source's cells counted again, and what an attacker makes of both.

Other published tables of the same rows are looked at together with it, as far as what they print still holds of the source.
"""

from __future__ import annotations

from dataclasses import field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from privrelease.audit.comparison.earlier.nested_versions import NestedVersion, changes_by_coarser, nested_pairs
from privrelease.audit.tables.published_tables import others_out
from privrelease.audit.tables.rows import TableRow, places_of, read_table, round_half_up
from privrelease.audit.tables.table_recount import cells_of
from privrelease.audit.tables.two_states import Together, differences_together
from privrelease.disclosure.tables.attack_assessment import Attack, weaknesses
from privrelease.errors import InputError
from privrelease.plan.tables.plan import joined, joint_source, public_columns, tables_of_same_rows
from privrelease.relational.filters import columns_of
from privrelease.relational.schema import Role
from privrelease.texts.sentences import every, listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.comparison.earlier.table_changes import Changes
    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.tables.published_tables import TableOut
    from privrelease.disclosure.tables.attack_assessment import Weakness
    from privrelease.disclosure.tables.figures import ProtectedTable
    from privrelease.disclosure.tables.linked import Linked
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.model import Plan
    from privrelease.plan.tables.plan import MeasurePlan, TablePlan
    from privrelease.relational.schema import Sink
    from privrelease.relational.tables import Contributions, TableCells, TableQuery
    from privrelease.release.manifest import InternalPart, Manifest
    from privrelease.texts.sentences import Said, Value

__all__ = ["TableEvidence", "TableTarget", "agrees", "cell_value", "table_evidence"]

_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class TableTarget:
    """The parked release: its files in the plan's order, what the run says of itself, whether the source may be read; ``altered``:
    what of the run is no longer as it was decided upon; ``internal``: what the run keeps to itself, digests of what it read among it.
    """

    files: tuple[Sink, ...]
    manifest: Manifest | None = None
    run: str | None = None
    without_source: bool = False
    altered: tuple[Said, ...] = ()
    internal: InternalPart | None = None


@dataclass(frozen=True, eq=False, slots=True)
class TableEvidence:
    """Evidence of one table. ``cells`` and ``judged``: of this table alone; ``attack`` and ``weak``: of it together with the
    tables ``beside`` it, where ``own`` are the numbers of its cells. ``source_rows``: None where it was not read.
    ``outside``: rows that a domain left out of it. ``linked``:
    earlier releases that were looked at together with it; ``elsewhere``: those of them with another filter, whose cells with the same keys are of
    other persons; ``unlinked``: those of the same rows that have too many cells for that. ``changes``: what changed since others whose rows can still be read.
    ``nested``: of tables of another state, the columns of one table that determine one of the other, and what changed once they are added up.
    """

    plan: TablePlan
    target: TableTarget
    tables: tuple[tuple[TableRow, ...] | None, ...]
    cells: TableCells | None
    judged: ProtectedTable | None = None
    suppressed: NDArray[np.bool_] | None = None
    weak: tuple[Weakness, ...] = ()
    attack: Attack | None = None
    own: NDArray[np.int64] | None = None
    beside: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    nested: Mapping[str, tuple[NestedVersion, ...]] = field(default_factory=dict)
    apart: tuple[tuple[str, Said], ...] = ()
    """Tables whose figures say something of this one's that no judge adds up, and why."""
    changes: Mapping[str, Changes] = field(default_factory=dict)
    together: Mapping[str, Together] = field(default_factory=dict)
    """Findings of this table and others of this state with those of an earlier one, by the name of its version."""
    rows_of_one: int = 1
    source_rows: int | None = None
    outside: int = 0
    unnamed: tuple[str, ...] = ()
    """If the policy declares no persons: direct identifiers of which values occur in several rows of the source."""

    @property
    def rows(self) -> tuple[TableRow, ...]:
        """The rows of the first file that can be read."""
        return next((table for table in self.tables if table is not None), ())

    @property
    def printed(self) -> dict[frozenset[tuple[str, str]], dict[str, Fraction | None]]:
        """The cells of the file by what they are of, in their order."""
        names = [one.name for one in self.plan.measures]
        found = {}
        for row in self.rows:
            totals = row.over.split(" ")
            keys = frozenset((name, key) for name, key in zip(self.plan.by, row.keys, strict=True) if name not in totals)
            found[keys] = dict(zip(names, row.figures, strict=True))
        return found

    @property
    def complete(self) -> frozenset[str]:
        """Return the columns added up of which no row of the table lacks a value."""
        if self.cells is None:
            return frozenset()
        whole = (self.cells.known_rows == self.cells.rows).all(axis=1).tolist()
        return frozenset(name for name, every in zip(self.plan.query.sums, whole, strict=True) if every)

    @property
    def places(self) -> list[tuple[tuple[str, ...], str]]:
        """Keys and totals of every cell, in order."""
        return places_of(self.plan)

    @property
    def all_suppressed(self) -> bool:
        """Return True if nothing with somebody in it is printed, by this table or those looked at together with it."""
        return (
            self.attack is not None
            and not (self.attack.table.contributors[~(self.attack.suppressed | self.attack.table.silent)]).any()
        )

    def named(self, cells: Iterable[int]) -> Said:
        """The first cells by their keys, which the policy declares."""
        found = list(cells)
        words: list[Value] = []
        for cell in found[:_NAMED]:
            keys, over = self.places[cell]
            totals = over.split(" ")
            parts = zip(self.plan.by, keys, strict=True)
            words.append(listed((say("total") if name in totals else key for name, key in parts), "slash"))
        names = listed(words, "semicolon")
        more = len(found) - _NAMED
        return say("names_more", names=names, n=more) if more > 0 else say("names", names=names)

    def exposed(self, kind: str, *, inside: bool | None = None) -> Said | None:
        """The cells of weaknesses of a kind; those that are none of this table are only counted. ``inside``: only those that contributors
        of other cells have found, or only those that anybody has.
        """
        assert self.own is not None
        place = {int(number): cell for cell, number in enumerate(self.own)}
        weak = [one for one in self.weak if one.kind == kind and inside in {None, bool(one.held)}]
        mine = dict.fromkeys(place[cell] for one in weak for cell in one.cells if cell in place)
        if not weak:
            return None
        others = sum(not any(cell in place for cell in one.cells) for one in weak)
        names = listed((self.plan.id, *(self.linked or self.beside)))
        found = [self.named(mine)] if mine else []
        return every((*found, say("follows_together", names=names, n=others)) if others else found)


def table_evidence(
    plan: TablePlan, policy: Plan, target: TableTarget, engine: MeasuringEngine, earlier: Sequence[EarlierRelease]
) -> TableEvidence:
    """Read the files and, unless that is not wanted, the source. Raises InputError where the source cannot be read."""
    tables = tuple(read_table(plan, sink) for sink in target.files)
    rows = next((table for table in tables if table is not None), None)
    evidence = TableEvidence(plan, target, tables, None)
    if target.without_source:
        return evidence
    out = others_out(plan, policy, earlier)
    staged = engine.stage(joint_source((plan, *(other for one in out for other, _ in one.readings))))
    found = engine.contributions(staged, plan.query)
    most = _rows_of_one(found)
    declared = 1 if plan.unit is None else plan.unit.max_rows
    at_most = declared if declared is not None and most <= declared else float("inf")

    def fetch(asked: TableQuery) -> TableCells:
        return cells_of(engine.contributions(staged, asked), asked)

    alone = replace(plan, rules=replace(plan.rules, class_disclosure=False))
    judged_by = replace(plan, rules=replace(plan.rules, classes_judged=plan.class_check == "checked"))
    query = replace(plan.query, several=at_most > 1)
    cells = cells_of(engine.contributions(staged, query) if query.several else found, query)
    judged = joined((alone,), most=at_most, fetch=lambda asked: cells if asked == query else fetch(asked)).table
    judged = replace(judged, rules=plan.rules)
    evidence = replace(
        evidence,
        cells=cells,
        judged=judged,
        rows_of_one=most,
        source_rows=staged.n_rows,
        outside=staged.dropped_outside,
        unnamed=_unnamed(plan, staged, engine),
    )
    if rows is None or [(row.keys, row.over) for row in rows] != evidence.places:
        return evidence
    suppressed = np.array([any(figure is None for figure in row.figures) and row.status != "shown" for row in rows], np.bool_)
    read = [_reading(one, lambda other: joined((other,), most=at_most, fetch=fetch)) for one in out]
    others = [one for one in read if one is not None]
    listed = tables_of_same_rows(plan, policy)
    try:
        every = _by_plan(plan, suppressed, others)
        together = joined([judged_by, *(other for other, _ in every[1:])], most=at_most, fetch=fetch)
        unlinked: tuple[str, ...] = ()
    except InputError:  # too many cells: tables that no policy here describes are left to a person
        every = _by_plan(plan, suppressed, [one for one in others if one[1] in listed])
        together = joined([judged_by, *(other for other, _ in every[1:])], most=at_most, fetch=fetch)
        unlinked = tuple(one.name for one, other, _ in others if other not in listed)
    attack = Attack(together.table, together.hidden([pattern for _, pattern in every]))
    return replace(
        evidence,
        suppressed=suppressed,
        weak=tuple(weaknesses(together.table, attack.suppressed, attack)),
        attack=attack,
        own=together.places[0],
        beside=tuple(other.id for other, _ in every[1:] if other in listed),
        linked=tuple(one.name for one, _, _ in others if one.name not in unlinked),
        elsewhere=tuple(one.name for one, other, _ in others if one.name not in unlinked and other.where != plan.where),
        unlinked=unlinked,
        apart=_apart(
            plan, [(one.id, one) for one in listed if one is not plan] + [(one.release.name, one.made[0]) for one in out]
        ),
        nested={
            one.release.name: tuple(_nested(plan, one.made[0], staged, engine, one.release))
            for one in out
            if all(one.release is not other for other, _, _ in others)
        },
        changes=_changes(
            plan,
            staged,
            engine,
            [one for one in earlier if one.kind == plan.kind and one.held],
            {one.release.name: one.made[0] for one in out},
        ),
        together=differences_together((plan, rows), [(other, printed) for _, other, printed in others], out, staged, engine),
    )


def _apart(plan: TablePlan, others: Sequence[tuple[str, TablePlan]]) -> tuple[tuple[str, Said], ...]:
    """Return the tables that add up a column as weights which this one adds up as values, and those whose rows or keys are the values that a sum counts."""
    found = []
    for name, other in others:
        pairs = ((plan, other), (other, plan))
        weights = {column for one, two in pairs for column in _summed(one, weighted=True) & _summed(two, weighted=False)}
        counted = {
            one.column
            for mine, two in pairs
            for one in mine.measures
            if one.two_values is not None and one.column in {*two.by, *(() if two.where is None else columns_of(two.where))}
        }
        for columns, key in ((weights, "weights_and_sums"), (counted, "two_values_and_rows")):
            if columns:
                found.append((name, say(key, columns=listed(sorted(str(column) for column in columns)))))
    return tuple(found)


def _summed(plan: TablePlan, *, weighted: bool) -> set[str]:
    return {one.column for one in plan.measures if one.column is not None and (one.kind == "weighted_count") is weighted}


def _unnamed(plan: TablePlan, staged: Staged, engine: MeasuringEngine) -> tuple[str, ...]:
    if plan.unit is not None or plan.rows_are_persons:
        return ()
    columns = [column.name for column in staged.columns if column.role is Role.DIRECT]
    sizes = {name: engine.size_histogram(staged, (name,), residual=True).sizes for name in columns}
    return tuple(name for name, found in sizes.items() if (found > 1).any())


def _changes(
    plan: TablePlan, staged: Staged, engine: MeasuringEngine, earlier: Sequence[EarlierRelease], plans: Mapping[str, TablePlan]
) -> dict[str, Changes]:
    """Return the changes since each earlier table with an unchanged source; one that cannot be read as this one is skipped. ``plans``: by the name of a
    release, what its table is of, where that is known.
    """
    found = {}
    for one in earlier:
        other = plans.get(one.name, plan)
        before = _state(one, (plan, other), engine)
        if before is not None:
            found[one.name] = changes_by_coarser(plan, other, (), staged, before, engine)
    return found


def _state(earlier: EarlierRelease, tables: tuple[TablePlan, ...], engine: MeasuringEngine) -> Staged | None:
    """Read the rows that an earlier table was made of; None where they are gone, or are no such rows."""
    if earlier.state is None:
        return None
    try:
        return engine.stage(replace(joint_source(tables), path=str(earlier.state), label=earlier.state.name))
    except InputError:
        return None


def _nested(
    plan: TablePlan, other: TablePlan, staged: Staged, engine: MeasuringEngine, earlier: EarlierRelease
) -> Iterator[NestedVersion]:
    """Yield how an earlier table of another state is compared by columns of which one determines the other."""
    if {*plan.by} <= {*other.by} or {*other.by} <= {*plan.by}:
        return
    before = _state(earlier, (plan, other), engine)

    def cells(state: Staged) -> Callable[[TableQuery], TableCells]:
        return lambda asked: cells_of(engine.contributions(state, asked), asked)

    then = None if before is None else cells(before)
    for pairs in nested_pairs(plan, other, public_columns((plan,)), cells(staged), then):
        changes = None if before is None else changes_by_coarser(plan, other, pairs, staged, before, engine)
        yield NestedVersion(pairs, changes)


_Other: TypeAlias = "tuple[EarlierRelease, TablePlan, tuple[TableRow, ...]]"


def _reading(out: TableOut, alone: Callable[[TablePlan], Linked]) -> _Other | None:
    """The plan of a published table, and what it suppresses; None where it is of other rows than those that are there now."""
    for other, rows in out.readings:
        if _is_of(other, rows, alone(other)):
            return out.release, other, rows
    return None


def _by_plan(
    plan: TablePlan, suppressed: NDArray[np.bool_], others: Sequence[_Other]
) -> list[tuple[TablePlan, NDArray[np.bool_]]]:
    """Every table once, the audited one first, with the cells that no version of it prints."""
    found = [(plan, suppressed)]
    for _, other, rows in others:
        pattern = np.array([row.status != "shown" for row in rows], np.bool_)
        place = next((i for i, (one, _) in enumerate(found) if one == other), None)
        if place is None:
            found.append((other, pattern))
        else:
            found[place] = other, found[place][1] & pattern
    return found


def _is_of(plan: TablePlan, rows: tuple[TableRow, ...], alone: Linked) -> bool:
    """Return True if a published table is of the rows that are there now: what it prints is what they give."""
    return all(
        figure is None or agrees(figure, cell_value(plan, one, alone.names, alone.cells, int(mine)))
        for row, mine in zip(rows, alone.places[0], strict=True)
        for one, figure in zip(plan.measures, row.figures, strict=True)
    )


def _rows_of_one(found: Contributions) -> int:
    """The most rows of one person."""
    if not len(found.persons):
        return 0
    _, code = np.unique(found.persons, return_inverse=True)
    return int(np.bincount(code, weights=found.rows).max())


def cell_value(plan: TablePlan, one: MeasurePlan, names: Sequence[str], cells: TableCells, cell: int) -> Fraction | None:
    """Return the figure that should be printed in a cell; None for the mean of no value."""
    if one.column is None:
        steps = -(-int(cells.rows[cell]) // plan.round_up)
        return Fraction(steps * plan.round_up)
    column = names.index(one.column)
    value = int(cells.sums[column, cell]) * one.grid
    rows = int(cells.known_rows[column, cell])
    if one.kind == "mean":
        return round_half_up(value / rows, one.unit) if rows else None
    return value


def agrees(printed: Fraction, value: Fraction | None) -> bool:
    """Return True if a printed figure is the value, exactly or as the nearest double.

    >>> agrees(Fraction("0.1"), Fraction(0.1)), agrees(Fraction(1), None)
    (True, False)
    """
    return value is not None and (printed == value or float(printed) == float(value))
