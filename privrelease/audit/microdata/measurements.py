"""Everything that an audit of microdata needs is measured here, once, before anything is judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.checks.release_files import compared, digest_of, held_in_memory, opened, planned_columns
from privrelease.audit.microdata.evidence import Evidence
from privrelease.audit.microdata.households import with_links
from privrelease.audit.microdata.linkage import naming_columns, repeated_identifiers, repeats_of
from privrelease.audit.microdata.recoding import VERIFIERS, off_level, recoded_changes, recoded_columns
from privrelease.audit.microdata.risk.labels import with_labels
from privrelease.audit.microdata.risk.populations import with_populations
from privrelease.audit.microdata.source_consistency import explain
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.engine.protocol.audit import LeftRows
from privrelease.errors import PrivreleaseError
from privrelease.relational.schema import ColumnType, Role
from privrelease.relational.treatments import CellRelation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.audit.microdata.disguised_identifiers import Hidden
    from privrelease.audit.microdata.recoding import Counted, Pairs, Verifiers
    from privrelease.audit.microdata.target import AuditTarget
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn

__all__ = ["gather"]


def gather(plan: MicrodataPlan, target: AuditTarget, engine: MeasuringEngine, verifiers: Verifiers = VERIFIERS) -> Evidence:
    """Measure everything that the checks need. ``verifiers``: of the values that transform steps replaced. Raises InputError where the source itself cannot be read."""
    columns = planned_columns(plan)
    files = tuple(opened(engine, sink, columns, marked=target.foreign) for sink in target.files)
    source = target.source
    if source is None and not target.without_source:
        source = engine.stage(plan.source)
    if source is not None:
        files = held_in_memory(engine, files, source, recoded_columns(plan.columns))
    main = next((file.released for file in files if file.released is not None), None)
    usable = _usable(plan, main)
    unit = plan.unit.column if plan.unit is not None else None
    labels: dict[str, Counted] = {}
    evidence = Evidence(
        plan=plan,
        target=target,
        files=compared(engine, files, main),
        main=main,
        usable=usable,
        source=source,
        persons=None if unit is None or source is None else engine.unit_facts(source, unit),
        unnamed=()
        if source is None or unit is not None or plan.rows_are_persons
        else repeated_identifiers(plan.source.columns, source, engine),
        row_map_sha256=digest_of(target.row_map),
        undeclared=() if main is None or source is not None else _undeclared(plan, usable, main, engine),
        order_breaks=_order_breaks(plan, main, usable, engine),
        levels=None if main is None else off_level(usable, main, engine, verifiers, labels),
        labels=labels,
    )
    return with_links(with_labels(_traced(_with_classes(evidence, engine), engine, verifiers), engine, verifiers), engine)


def _usable(plan: MicrodataPlan, main: ReleasedFile | None) -> tuple[ReleasedColumn, ...]:
    found = {} if main is None else dict(main.columns)
    return tuple(column for column in plan.columns if found.get(column.name) is column.type)


def _undeclared(
    plan: MicrodataPlan, usable: Sequence[ReleasedColumn], main: ReleasedFile, engine: MeasuringEngine
) -> tuple[tuple[str, int], ...]:
    """Count the rows with a text that is not in the column's declared list; a list of texts that reading normalises is left out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for column in usable:
        if not column.treatment.relation.own_values or column.type not in {ColumnType.CATEGORY, ColumnType.STRING}:
            continue
        declared = plan.source.column(column.name)
        if declared.domain is None or declared.domain.values is None or declared.format.normalise:
            continue
        listed = pa.array(declared.domain.values, pa.string())
        rows = 0
        for block in engine.value_rows(main, column.name):
            known = np.asarray(pc.is_in(block.values.cast(pa.string()), value_set=listed))
            rows += int(block.rows[~known].sum())
        if rows:
            found.append((column.name, rows))
    return tuple(found)


def _order_breaks(
    plan: MicrodataPlan, main: ReleasedFile | None, usable: Sequence[ReleasedColumn], engine: MeasuringEngine
) -> int | None:
    if main is None or plan.order == "source" or len(usable) != len(plan.columns):
        return None
    return engine.unsorted_rows(main)


def _with_classes(evidence: Evidence, engine: MeasuringEngine) -> Evidence:
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


def _traced(evidence: Evidence, engine: MeasuringEngine, verifiers: Verifiers) -> Evidence:
    """Add what the row map makes measurable, then persons and populations, which need it."""
    row_map, source, main = evidence.target.row_map, evidence.source, evidence.main
    if row_map is not None and source is not None and main is not None:
        try:
            evidence = replace(evidence, row_map=engine.row_map_faults(source, main, row_map))
        except PrivreleaseError as error:
            evidence = replace(evidence, row_map_refused=error.code)
    evidence = with_populations(_with_persons(_with_repeats(evidence, engine), engine), engine)
    if row_map is None or source is None or main is None or not evidence.sound_map:
        if row_map is None and source is not None and main is not None:
            evidence = replace(evidence, explained=explain(evidence, engine, verifiers))
        return _with_values(evidence, engine)
    unit = None if evidence.plan.unit is None else evidence.plan.unit.column
    plain = [column.name for column in evidence.usable if column.treatment.relation.own_values]
    tokens = [column.name for column in evidence.usable if column.treatment.relation is CellRelation.KEYED_TOKEN]
    pairs: dict[str, Pairs] = {}
    return replace(
        evidence,
        pairs=pairs,
        left=_left(evidence, engine, row_map, unit),
        changes=(
            *engine.changes(source, main, row_map, plain),
            *recoded_changes(evidence.usable, source, main, row_map, engine, verifiers, pairs),
        ),
        tokens=tuple(engine.token_facts(source, main, row_map, column) for column in tokens),
        same=engine.same_cells(source, main, row_map, _identifier_pairs(evidence.plan, main)),
        hidden=_other_forms(evidence, engine),
    )


def _other_forms(evidence: Evidence, engine: MeasuringEngine) -> tuple[Hidden, ...]:
    if not any(column.role is Role.DIRECT for column in evidence.plan.source.columns):
        return ()
    from privrelease.audit.microdata.disguised_identifiers import other_forms

    return other_forms(evidence, engine)


def _with_repeats(evidence: Evidence, engine: MeasuringEngine) -> Evidence:
    """Add how often the values that name somebody repeat in the file."""
    if evidence.main is None:
        return evidence
    planned = {column.name for column in naming_columns(evidence.plan)}
    columns = [column for column in evidence.usable if column.name in planned]
    row_map = evidence.target.row_map if evidence.sound_map else None
    found = repeats_of(evidence.plan, columns, evidence.main, evidence.source, row_map, engine)
    return replace(evidence, repeats=found)


def _with_persons(evidence: Evidence, engine: MeasuringEngine) -> Evidence:
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


def _left(evidence: Evidence, engine: MeasuringEngine, row_map: Path, unit: str | None) -> LeftRows | None:
    """Count source rows that were not released; no query where the row map names them all."""
    quasi, faults, source = evidence.plan.quasi_identifiers, evidence.row_map, evidence.source
    if faults is None or source is None:
        return None
    if not faults.sources_absent:
        return LeftRows(0, None if unit is None else 0, tuple((column, 0) for column in quasi))
    return engine.left_rows(source, row_map, quasi, unit)


def _with_values(evidence: Evidence, engine: MeasuringEngine) -> Evidence:
    """Look for direct identifiers among released values, where no row leads to its source."""
    if evidence.source is None or evidence.main is None:
        return evidence
    from privrelease.audit.microdata.disguised_identifiers import find_hidden

    return replace(evidence, hidden=find_hidden(evidence, engine))


def _identifier_pairs(plan: MicrodataPlan, main: ReleasedFile) -> tuple[tuple[str, str], ...]:
    """Give (direct identifier, column of the file) pairs of which the second could hold the first under another name; columns
    that no one planned are among them.
    """
    direct = [column.name for column in plan.source.columns if column.role is Role.DIRECT]
    released = [name for name, kind in main.columns if _textual(kind)]
    return tuple((source, name) for source in direct for name in released)


def _textual(column_type: ColumnType) -> bool:
    return column_type in {ColumnType.STRING, ColumnType.CATEGORY, ColumnType.INTEGER}
