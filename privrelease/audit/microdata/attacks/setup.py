"""Setup of the attacks: the distinct records of data, release, control and auxiliary file in one coding, and who is attacked.

A target is a person: one row of each, where persons have several. Records of the data that were not released are targets too:
they are in the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.microdata.attacks.control import LEAST_CONTROL, compared
from privrelease.audit.microdata.attacks.records import Attribute
from privrelease.audit.microdata.attacks.sampling import Draws, drawn_rows
from privrelease.audit.microdata.recoding import VERIFIERS, recoded_columns, verifier_of
from privrelease.errors import InputError, InternalError
from privrelease.findings import pluralise
from privrelease.relational.treatments import declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.microdata.attacks.control import ControlContent
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.generalised.cover import Cover
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.engine.protocol.attacks import CodedColumn, DistinctRecords, SharedPersons
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.microdata.attacks import AttacksPlan

__all__ = ["AttackSetup", "Auxiliary", "Table", "ground"]


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Distinct records of one table: a column by its name, and the table's rows of each. ``unit``: the column that names the persons of its rows;
    None: each row is one. ``of``: the table, where rows of it are asked for.
    """

    columns: dict[str, Attribute]
    """By name. Where the release holds labels, its columns have codes of these, and those of other tables have a cover."""
    records: DistinctRecords
    rows: int
    number: int
    of: Staged | None = None
    unit: str | None = None

    @classmethod
    def made(
        cls,
        records: DistinctRecords,
        engine: AuditEngine,
        covers: Mapping[str, Labels],
        of: Staged | None = None,
        unit: str | None = None,
    ) -> Table:
        """Make a table of distinct records; its ``number`` of persons is asked for where a unit names them.

        ``covers``: of columns of which the release holds labels, for the coding of its own or for that of the other tables.
        """
        columns = {
            one.name: covers[one.name].attribute(one) if one.name in covers else Attribute(one.name, one.codes, one.values)
            for one in records.columns
        }
        rows = int(records.rows.sum())
        if of is None or unit is None:
            return cls(columns, records, rows, rows, of)
        found = engine.unit_facts(of, unit)
        return cls(columns, records, rows, found.persons + (found.missing > 0), of, unit)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Rows of each record: (u,)."""
        return self.records.rows

    @property
    def spans(self) -> NDArray[np.int64] | None:
        """The lowest and the highest number of the persons of each record, (2, u); None where each row is a person."""
        return None if self.unit is None else self.records.persons

    def columns_of(self, names: Sequence[str]) -> list[Attribute]:
        """Return some columns, in this order."""
        return [self.columns[name] for name in names]

    def at(self, names: Sequence[str], records: NDArray[np.int64]) -> list[Attribute]:
        """Return some columns of some records."""
        return [self.columns[name].of(records) for name in names]

    def placed(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the record at each of some places of the rows in the order of their records."""
        return np.searchsorted(np.cumsum(self.counts), places, side="right").astype(np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Auxiliary:
    """The attacker's own list, and which of its rows are of persons in the data, and in the control (None: there is none)."""

    table: Table
    in_data: SharedPersons
    in_control: SharedPersons | None


@dataclass(frozen=True, eq=False, slots=True)
class AttackSetup:
    """See the module. ``owners``: the person in the data of each of some places of released rows in the order of their records, -1 where not known
    (None: no row map leads there).
    """

    plan: AttacksPlan
    draws: Draws
    data: Table
    released: Table
    engine: AuditEngine
    control: Table | None = None
    owners: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = None
    unit: str | None = None
    """The column that names the persons of the data's rows; None: nothing does, and each row is one."""
    auxiliary: Auxiliary | None = None
    shared_persons: int | None = None
    """Persons of the control file who are in the data; None: there is none, or nothing names persons."""
    content: ControlContent | None = None
    """The control compared with the data by content; None: there is no control file."""
    other_keys: tuple[str, ...] = ()
    """Runs about the same persons under another key of digests, in words."""

    def target_rows(self, table: Table, draws: Draws) -> NDArray[np.int64]:
        """Return the rows that are attacked."""

        def persons(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            assert table.of is not None
            assert table.unit is not None
            return self.engine.persons_at(table.of, table.unit, rows)

        return drawn_rows(draws, table.rows, self.plan.sample, None if table.unit is None else persons)

    def targets(self, table: Table, draws: Draws) -> NDArray[np.int64]:
        """Return the records of the rows that are attacked: of released ones by their place, of others by their number."""
        rows = self.target_rows(table, draws)
        return table.placed(rows) if table.of is None else self.engine.records_at(table.records, rows)

    def lot(self, draws: Draws) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the lowest lot of the rows of each released record, (u,), and the place of that row."""
        return draws.least(self.released.counts)

    def person_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the person of each of some rows of the data; the row where nothing names persons."""
        if self.unit is None:
            return rows
        assert self.data.of is not None
        return self.engine.persons_at(self.data.of, self.unit, rows)

    @property
    def unsound(self) -> str | None:
        """Why success on the control shows nothing; None where there is no control, or it can be used."""
        if self.control is None or self.content is None:
            return None
        if self.shared_persons:
            return "persons of the control are in the data"
        if self.content.overlaps:
            return "the control repeats rows of the data"
        if self.control.number < self.least_control:
            return "the control has too few persons"
        return None

    @property
    def least_control(self) -> int:
        """The fewest persons of a control that a limit is judged by."""
        return min(LEAST_CONTROL, self.data.number)

    def has(self, names: Sequence[str]) -> bool:
        """Return True if the released file has all these columns, with the types planned."""
        return all(name in self.released.columns for name in names)


def ground(evidence: Evidence, plan: AttacksPlan, engine: AuditEngine, verifiers: Verifiers = VERIFIERS) -> AttackSetup:
    """Read and code every table. ``evidence`` has source and file. Raises InputError where a file of the policy cannot be read."""
    source, main = evidence.source, evidence.main
    assert source is not None
    assert main is not None
    link = plan.linkability
    control = None if plan.control is None else engine.stage(plan.control)
    listed = None if link is None or link.auxiliary is None else engine.stage(link.auxiliary)
    names = [name for name in plan.columns if evidence.measurable([name])]
    unit = None if evidence.plan.unit is None else evidence.plan.unit.column
    several = None if evidence.one_each else unit
    of: list[Staged | ReleasedFile] = [source, main]
    columns, units = [names, names], [several, None]
    if control is not None:
        of, columns, units = [*of, control], [*columns, names], [*units, unit]
    if listed is not None and link is not None:
        of, columns, units = [*of, listed], [*columns, [name for name in names if name in link.first]], [*units, None]
    coarser = [name for name in recoded_columns(evidence.usable) if name in names]
    found = list(engine.distinct_records(of, columns, units, (1, coarser)))
    ours, theirs = _covers(evidence, coarser, found, verifiers)
    if control is not None and plan.control is not None:
        _all_covered(ours, found[2], plan.control.label)
    if listed is not None and link is not None and link.auxiliary is not None:
        _all_covered(ours, found[-1], link.auxiliary.label)
    made = AttackSetup(
        plan,
        Draws.of("attacks", *evidence.target.source_digests),
        Table.made(found[0], engine, ours, source, several),
        Table.made(found[1], engine, theirs),
        engine,
        None if control is None else Table.made(found[2], engine, ours, control, unit),
        unit=unit,
        content=None if control is None else compared(*engine.class_tables((source, control), plan.columns)),
        other_keys=evidence.target.other_keys,
        shared_persons=None if control is None or unit is None else engine.shared_persons(control, source, unit).persons,
    )
    made = replace(made, owners=_owners(evidence, made))
    if listed is None or unit is None:
        return made
    list_ = Auxiliary(
        Table.made(found[-1], engine, ours, listed),
        engine.shared_persons(listed, source, unit),
        None if control is None else engine.shared_persons(listed, control, unit),
    )
    return replace(made, auxiliary=list_)


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """The reading of the columns of tables where the release holds labels. ``places``: (v + 1,) code by code of the engine; None: as it is."""

    cover: Cover
    places: NDArray[np.int64] | None = None

    def attribute(self, column: CodedColumn) -> Attribute:
        """Return the column as attacks compare it: of the release labels, which are in order where they have one; of others values with the cover."""
        if self.places is None:
            return Attribute(column.name, column.codes, column.values, self.cover)
        return Attribute(column.name, self.places[column.codes], self.cover.middles)


def _covers(
    evidence: Evidence, coarser: Sequence[str], found: Sequence[DistinctRecords], verifiers: Verifiers
) -> tuple[dict[str, Labels], dict[str, Labels]]:
    """Return the covers of columns of which the release holds labels, for the other tables and for its own."""
    ours, theirs = {}, {}
    for name in coarser:
        released = next(column for column in evidence.usable if column.name == name)
        covers = verifier_of(released, verifiers).covers
        if covers is None:
            message = f"nothing says which values the labels of {name} represent"
            raise InternalError(code="R197", message=message)
        values, labels = (next(one.cells for one in found[side].columns if one.name == name) for side in (0, 1))
        domain = evidence.plan.source.column(name).domain
        cover, order = covers(declaration_of(released.treatment), values, labels, domain)
        places = np.zeros(len(order) + 1, np.int64)
        places[order + 1] = np.arange(1, len(order) + 1)
        ours[name], theirs[name] = Labels(cover), Labels(cover, places)
    return ours, theirs


def _all_covered(covers: Mapping[str, Labels], found: DistinctRecords, file: str) -> None:
    """Raise InputError D258 where a file of the policy holds a value that the hierarchy lacks: no label could be compared with it."""
    for column in found.columns:
        lacking = covers[column.name].cover.lacking if column.name in covers else None
        if lacking is None or not (there := lacking[column.codes]).any():
            continue
        rows, first = int(found.rows[there].sum()), int(found.first[there].min()) + 1
        message = f"{file}: column {column.name}: {pluralise(rows, 'row has', 'rows have')} a value that its hierarchy lacks (first in row {first})"
        raise InputError(code="D258", message=message, hint="add the values to the hierarchy, or correct the file")


def _owners(evidence: Evidence, setup: AttackSetup) -> Callable[[NDArray[np.int64]], NDArray[np.int64]] | None:
    """Return how the person of a released row is found in the data, through a sound row map."""
    row_map = evidence.target.row_map
    if row_map is None or not evidence.sound_map:
        return None
    engine = setup.engine

    def owners(places: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = engine.source_rows(row_map, engine.rows_at(setup.released.records, places))
        found = np.full(len(rows), -1, np.int64)
        there = rows >= 0
        found[there] = setup.person_of(rows[there])
        return found

    return owners
