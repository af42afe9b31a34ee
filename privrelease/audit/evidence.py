"""Everything an audit of microdata measured, gathered once, before anything is judged.

``None`` in a field means that it could not be measured: a check that needs it is then not evaluated, which is no pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.explained import explain
from privrelease.audit.linkage import naming_columns, repeats_of
from privrelease.disclosure.classes import ClassTable
from privrelease.disclosure.grouping import column_indices, is_residual
from privrelease.disclosure.persons import linkable_class_sizes, person_class_sizes
from privrelease.engine.audit_protocol import LeftRows
from privrelease.errors import InputError, PrivreleaseError
from privrelease.relational.schema import ColumnType, Role
from privrelease.release.digests import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from privrelease.audit.explained import Explained
    from privrelease.audit.linkage import Repeats
    from privrelease.audit.readings import Sizes
    from privrelease.audit.target import AuditTarget
    from privrelease.engine.across_protocol import SharedValues
    from privrelease.engine.audit_protocol import (
        AuditEngine,
        PersonClasses,
        SameCells,
        TokenFacts,
        UnitFacts,
    )
    from privrelease.engine.protocol import ColumnChange, ReleasedFile, RowMapFaults, Staged
    from privrelease.plan.model import MicrodataPlan, PopulationPlan, ReleasedColumn
    from privrelease.relational.schema import Column, Sink

__all__ = ["Evidence", "FileEvidence", "gather"]

_MOST_PERSONS = 10**15


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """One file: digest and size of its bytes, and the opened file, or the code of the error that kept it shut.

    ``differs``: positions at which it holds another row than the first readable file (None: it is that file, or could not be compared).
    ``leftovers``: what it holds besides its rows, in words.
    """

    sink: Sink
    sha256: str | None
    size: int
    released: ReleasedFile | None
    refused: str | None = None
    differs: int | None = None
    leftovers: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Outside:
    """What is known of the population of one threat: class tables of source and release in one coding with the ``population``'s table, or
    with sums of sampling weights (``population`` None). ``after`` None: released rows could not be led to their weights.
    """

    before: ClassTable
    after: ClassTable | None
    population: ClassTable | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """See the module. ``main``: the file that is measured; ``usable``: its columns that are planned and have the planned type."""

    plan: MicrodataPlan
    target: AuditTarget
    files: tuple[FileEvidence, ...]
    main: ReleasedFile | None
    usable: tuple[ReleasedColumn, ...]
    source: Staged | None
    persons: UnitFacts | None = None
    row_map: RowMapFaults | None = None
    row_map_refused: str | None = None
    row_map_sha256: str | None = None
    left: LeftRows | None = None
    changes: tuple[ColumnChange, ...] | None = None
    tokens: tuple[TokenFacts, ...] | None = None
    same: tuple[SameCells, ...] | None = None
    values: tuple[tuple[str, str, SharedValues], ...] | None = None
    """Without a row map: (direct identifier, released column, the values that both have)."""
    explained: Explained | None = None
    """Without a row map: whether the source has the values that released rows keep."""
    repeats: tuple[Repeats, ...] | None = None
    order_breaks: int | None = None
    before: ClassTable | None = None
    after: ClassTable | None = None
    person_before: PersonClasses | None = None
    person_after: PersonClasses | None = None
    outside: Mapping[str, Outside] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=dict, repr=False, compare=False)
    """Sizes that were measured already: several threats, and the union of all, may know the same columns."""

    @property
    def sound_map(self) -> bool:
        """Whether the row map leads every released row to one source row, no two to the same, and stays within both tables."""
        return self.row_map is not None and is_sound(self.row_map)

    def measurable(self, columns: Sequence[str]) -> bool:
        """Whether the released file has all these columns, with the planned types."""
        return set(columns) <= {column.name for column in self.usable}

    def residual(self, columns: Sequence[str]) -> int | None:
        """Count released records with every one of ``columns`` missing; None: not measurable.

        Persons where they have several rows: those with such a row, or, where their rows stay linkable, with no other row.
        """
        if self.after is None or not self.measurable(columns):
            return None
        if self.person_after is None:
            return _residual_records(self.after, columns)
        table, pair_rows = self.person_after.table, self.person_after.pair_rows
        if self.linkable:
            return linkable_class_sizes(table, list(columns), pair_rows=pair_rows).residual
        return person_class_sizes(table, list(columns)).residual

    @property
    def linkable(self) -> bool:
        """Whether rows of one person stay linkable: some person has several rows, and the unit leaves, or a pseudonym repeats in them."""
        unit = self.plan.unit
        if unit is None or (self.persons is not None and self.persons.most_rows <= 1):
            return False
        if any(column.name == unit.column for column in self.plan.columns):
            return True
        if self.repeats is None:
            return bool(naming_columns(self.plan))
        return any(column.ties for column in self.repeats)

    @property
    def one_each(self) -> bool:
        """Whether a unit is declared and every person has one row: records are then persons."""
        return self.persons is not None and self.persons.most_rows <= 1 and not self.persons.missing


def is_sound(faults: RowMapFaults) -> bool:
    """Whether a row map is an injection of the released rows into the source rows.

    >>> from privrelease.engine.protocol import RowMapFaults
    >>> is_sound(RowMapFaults(0, 0, 0, 0, 7)), is_sound(RowMapFaults(0, 1, 0, 0, 1))
    (True, False)
    """
    return not (faults.out_of_range or faults.sources_twice or faults.outputs_twice or faults.outputs_unmapped)


def _residual_records(table: ClassTable, columns: Sequence[str]) -> int:
    return int(table.counts[is_residual(table.codes[:, list(column_indices(table, columns))])].sum())


def planned_columns(plan: MicrodataPlan) -> tuple[Column, ...]:
    """Give the columns that the plan releases, as the source declares them, typed as they leave."""
    return tuple(replace(plan.source.column(column.name), type=column.type) for column in plan.columns)


def _digest(path: Path | None) -> str | None:
    try:
        return None if path is None else sha256_of(path)
    except OSError:
        return None


def _unreadable(error: PrivreleaseError) -> str:
    """Give the code of a file's fault; want of memory is no fault of the file, and is raised."""
    if error.code == "D120":
        raise error
    return error.code


def _opened(engine: AuditEngine, sink: Sink, columns: Sequence[Column], *, marked: bool) -> FileEvidence:
    try:
        digest, size = sha256_of(sink.path), sink.path.stat().st_size
    except OSError:
        return FileEvidence(sink, None, 0, None, "missing")
    try:
        released = engine.open_release(sink, columns, marked=marked)
        return FileEvidence(sink, digest, size, released, leftovers=engine.leftovers(sink))
    except PrivreleaseError as error:
        return FileEvidence(sink, digest, size, None, _unreadable(error))


def _held(engine: AuditEngine, files: tuple[FileEvidence, ...], source: Staged) -> tuple[FileEvidence, ...]:
    """Hold the first readable file, of which most is asked, in memory; a file may prove unreadable only then."""
    for place, file in enumerate(files):
        if file.released is None:
            continue
        try:
            held = replace(file, released=engine.hold(file.released, source))
        except PrivreleaseError as error:
            refused = replace(file, released=None, refused=_unreadable(error))
            return _held(engine, (*files[:place], refused, *files[place + 1 :]), source)
        return (*files[:place], held, *files[place + 1 :])
    return files


def _compared(engine: AuditEngine, files: Sequence[FileEvidence], main: ReleasedFile | None) -> tuple[FileEvidence, ...]:
    """Compare every further readable file of the same columns with the main one, row by row."""
    done = []
    for file in files:
        other = file.released
        if main is None or other is None or other is main or other.columns != main.columns:
            done.append(file)
            continue
        names = [name for name, _ in main.columns]
        done.append(replace(file, differs=engine.unequal_rows(main, other, names)))
    return tuple(done)


def _usable(plan: MicrodataPlan, main: ReleasedFile | None) -> tuple[ReleasedColumn, ...]:
    found = {} if main is None else dict(main.columns)
    return tuple(column for column in plan.columns if found.get(column.name) is column.type)


def _textual(column_type: ColumnType) -> bool:
    return column_type in {ColumnType.STRING, ColumnType.CATEGORY, ColumnType.INTEGER}


def identifier_pairs(plan: MicrodataPlan, main: ReleasedFile) -> tuple[tuple[str, str], ...]:
    """Give (direct identifier, column of the file) pairs of which the second could hold the first under another name; columns that nobody
    planned are among them.
    """
    direct = [column.name for column in plan.source.columns if column.role is Role.DIRECT]
    released = [name for name, kind in main.columns if _textual(kind)]
    return tuple((source, name) for source in direct for name in released)


def gather(plan: MicrodataPlan, target: AuditTarget, engine: AuditEngine) -> Evidence:
    """Measure everything that the checks need. Raises InputError where the source itself cannot be read."""
    columns = planned_columns(plan)
    opened = tuple(_opened(engine, sink, columns, marked=target.foreign) for sink in target.files)
    source = target.source
    if source is None and not target.without_source:
        source = engine.stage(plan.source)
    if source is not None:
        opened = _held(engine, opened, source)
    main = next((file.released for file in opened if file.released is not None), None)
    usable = _usable(plan, main)
    unit = plan.unit.column if plan.unit is not None else None
    evidence = Evidence(
        plan=plan,
        target=target,
        files=_compared(engine, opened, main),
        main=main,
        usable=usable,
        source=source,
        persons=None if unit is None or source is None else engine.unit_facts(source, unit),
        row_map_sha256=_digest(target.row_map),
        order_breaks=_order_breaks(plan, main, usable, engine),
    )
    return _traced(_with_classes(evidence, engine), engine)


def _order_breaks(
    plan: MicrodataPlan, main: ReleasedFile | None, usable: Sequence[ReleasedColumn], engine: AuditEngine
) -> int | None:
    if main is None or plan.order == "source" or len(usable) != len(plan.columns):
        return None
    return engine.unsorted_rows(main)


def _with_classes(evidence: Evidence, engine: AuditEngine) -> Evidence:
    """Add the class tables of source and release over every column that some threat knows, in one coding."""
    usable = {column.name for column in evidence.usable}
    columns = [column for column in evidence.plan.quasi_identifiers if column in usable]
    if evidence.main is None:
        return evidence
    if evidence.source is None:
        alone = engine.class_table(evidence.main, columns) if columns else _everything(evidence.main.n_rows)
        return replace(evidence, after=alone)
    if not columns:
        return replace(evidence, before=_everything(evidence.source.n_rows), after=_everything(evidence.main.n_rows))
    before, after = engine.class_tables((evidence.source, evidence.main), columns)
    return replace(evidence, before=before, after=after)


def _everything(n_rows: int) -> ClassTable:
    """One class of all records: what an attacker knows of a release without a single column they know."""
    classes = 1 if n_rows else 0
    return ClassTable((), np.zeros((classes, 0), np.int32), np.full(classes, n_rows, np.int64))


def _with_populations(evidence: Evidence, engine: AuditEngine) -> Evidence:
    """Add the population of every threat that has a table or weights."""
    outside: dict[str, Outside] = {}
    for threat in evidence.plan.threats:
        if threat.population is not None and threat.columns and evidence.measurable(threat.columns):
            found = _outside(evidence, engine, threat.columns, threat.population)
            if found is not None:
                outside[threat.name] = found
    return replace(evidence, outside=outside)


def _outside(evidence: Evidence, engine: AuditEngine, columns: tuple[str, ...], known: PopulationPlan) -> Outside | None:
    source, main = evidence.source, evidence.main
    row_map = evidence.target.row_map if evidence.sound_map else None
    if source is None or main is None:
        return None
    if known.table is not None:
        outsiders = engine.stage(known.table)
        if source.n_rows and not outsiders.n_rows:
            message = f"the population has no row: {known.table.label}"
            raise InputError(code="D631", message=message, hint="name the table of which the data is a sample under `table`")
        before, after, population = engine.class_tables((source, main, outsiders), columns)
        ours, theirs = before, after
    elif known.weight is not None:
        population = None
        ours = _weighted(engine, source, columns, known.weight)
        if row_map is None:
            return Outside(ours, None)
        theirs = engine.weighted_classes(source, main, row_map, columns, known.weight)
    else:
        return None
    unit = evidence.plan.unit
    if unit is None or evidence.one_each:
        return Outside(ours, theirs, population)
    persons = engine.person_classes(source, None, None, columns, unit.column)
    released = None if row_map is None else engine.person_classes(source, main, row_map, columns, unit.column)
    return Outside(_in_persons(ours, persons), _in_persons(theirs, released), population)


def _with_repeats(evidence: Evidence, engine: AuditEngine) -> Evidence:
    """Add how often the values that name somebody repeat in the file."""
    if evidence.main is None:
        return evidence
    planned = {column.name for column in naming_columns(evidence.plan)}
    columns = [column for column in evidence.usable if column.name in planned]
    row_map = evidence.target.row_map if evidence.sound_map else None
    found = repeats_of(evidence.plan, columns, evidence.main, evidence.source, row_map, engine)
    return replace(evidence, repeats=found)


def _weighted(engine: AuditEngine, source: Staged, columns: tuple[str, ...], weight: str) -> ClassTable:
    """Add up the source's weights. Raises InputError (D632) where their sum is no number of persons."""
    hint = "a sampling weight is the number of persons a row stands for: correct the column"
    message = f"the sampling weights in {weight} do not add up to a number of persons"
    refusal = InputError(code="D632", message=message, hint=hint)
    try:
        table = engine.weighted_classes(source, None, None, columns, weight)
    except PrivreleaseError as error:
        if error.code != "D199":
            raise
        raise refusal from None  # a weight that no exact sum can hold
    if table.weights is not None and not float(table.weights.sum()) <= _MOST_PERSONS:
        raise refusal
    return table


def _with_persons(evidence: Evidence, engine: AuditEngine) -> Evidence:
    """Add classes by persons where some person may have several rows; one row each, and records are persons.

    The persons of released rows are found in the source through a sound row map, else in the file's own column of the unit.
    """
    unit, source, main, after = evidence.plan.unit, evidence.source, evidence.main, evidence.after
    if unit is None or main is None or after is None or evidence.one_each:
        return evidence
    before = None if source is None else engine.person_classes(source, None, None, after.columns, unit.column)
    row_map = evidence.target.row_map if evidence.sound_map else None
    theirs = None
    if source is not None and row_map is not None:
        theirs = engine.person_classes(source, main, row_map, after.columns, unit.column)
    elif evidence.measurable([unit.column]):
        theirs = engine.person_classes(None, main, None, after.columns, unit.column)
    return replace(evidence, person_before=before, person_after=theirs)


def _in_persons(table: ClassTable, persons: PersonClasses | None) -> ClassTable:
    """Count persons for records. Both tables list the same classes in the same order: codings ascend with the values."""
    if persons is None or persons.table.pairs_class is None:
        return table
    counts = np.bincount(persons.table.pairs_class, minlength=table.n_classes).astype(np.int64)
    return replace(table, counts=counts)


def _with_values(evidence: Evidence, engine: AuditEngine) -> Evidence:
    """Compare the values of direct identifiers with those of released columns, where no row leads to its source."""
    if evidence.source is None or evidence.main is None:
        return evidence
    pairs = identifier_pairs(evidence.plan, evidence.main)
    shared = engine.shared_values(evidence.source, evidence.main, pairs)
    return replace(evidence, values=tuple((*pair, one) for pair, one in zip(pairs, shared, strict=True)))


def _left(evidence: Evidence, engine: AuditEngine, row_map: Path, unit: str | None) -> LeftRows | None:
    """Count source rows that did not leave; no query where the row map names them all."""
    quasi, faults, source = evidence.plan.quasi_identifiers, evidence.row_map, evidence.source
    if faults is None or source is None:
        return None
    if not faults.sources_absent:
        return LeftRows(0, None if unit is None else 0, tuple((column, 0) for column in quasi))
    return engine.left_rows(source, row_map, quasi, unit)


def _traced(evidence: Evidence, engine: AuditEngine) -> Evidence:
    """Add what the row map makes measurable, then persons and populations, which need it."""
    row_map, source, main = evidence.target.row_map, evidence.source, evidence.main
    if row_map is not None and source is not None and main is not None:
        try:
            evidence = replace(evidence, row_map=engine.row_map_faults(source, main, row_map))
        except PrivreleaseError as error:
            evidence = replace(evidence, row_map_refused=error.code)
    evidence = _with_populations(_with_persons(_with_repeats(evidence, engine), engine), engine)
    if row_map is None or source is None or main is None or not evidence.sound_map:
        if row_map is None and source is not None and main is not None:
            evidence = replace(evidence, explained=explain(evidence, engine))
        return _with_values(evidence, engine)
    unit = None if evidence.plan.unit is None else evidence.plan.unit.column
    plain = [column.name for column in evidence.usable if column.treatment == "as_is"]
    tokens = [column.name for column in evidence.usable if column.treatment == "pseudonym"]
    return replace(
        evidence,
        left=_left(evidence, engine, row_map, unit),
        changes=engine.changes(source, main, row_map, plain),
        tokens=tuple(engine.token_facts(source, main, row_map, column) for column in tokens),
        same=engine.same_cells(source, main, row_map, identifier_pairs(evidence.plan, main)),
    )
