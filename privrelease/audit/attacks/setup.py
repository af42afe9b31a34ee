"""Setup of the attacks: the distinct records of data, release, control and auxiliary file in one coding, and who is attacked.

A target is a person: one row of each, where persons have several. Records of the data that were not released are targets too:
they are in the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.attacks.control import LEAST_CONTROL
from privrelease.audit.attacks.records import Attribute
from privrelease.audit.attacks.sampling import Draws, drawn_rows
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.control import ControlContent
    from privrelease.audit.attacks.cover import Cover
    from privrelease.engine.protocol.attacks import CodedColumn, DistinctRecords, SharedPersons
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.attacks import AttacksPlan
    from privrelease.texts.sentences import Said

__all__ = ["AttackSetup", "Auxiliary", "Labels", "Table"]


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
    def unsound(self) -> Said | None:
        """Why success on the control shows nothing; None where there is no control, or it can be used."""
        if self.control is None or self.content is None:
            return None
        if self.shared_persons:
            return say("unsound_shared")
        if self.content.overlaps:
            return say("unsound_repeats")
        if self.control.number < self.least_control:
            return say("unsound_few")
        return None

    @property
    def least_control(self) -> int:
        """The fewest persons of a control that a limit is judged by."""
        return min(LEAST_CONTROL, self.data.number)

    def has(self, names: Sequence[str]) -> bool:
        """Return True if the released file has all these columns, with the types planned."""
        return all(name in self.released.columns for name in names)


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
