"""Setup of the attacks: data, release, control and auxiliary file in one coding, and who is attacked.

A target is a person: one row of each, where persons have several. Records of the data that were not released are targets too:
they are in the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.microdata.attacks.control import LEAST_CONTROL, compared
from privrelease.audit.microdata.attacks.records import Attribute
from privrelease.audit.microdata.attacks.sampling import Draws, one_row_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.microdata.attacks.control import ControlContent
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.microdata.attacks import AttacksPlan

__all__ = ["AttackSetup", "Auxiliary", "Table", "ground"]


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Rows of one table: a column by its name, (n,) persons (None: each row is one), number of rows."""

    columns: dict[str, Attribute]
    persons: NDArray[np.int64] | None
    rows: int

    @property
    def number(self) -> int:
        """Number of persons."""
        return self.rows if self.persons is None else len(np.unique(self.persons))

    def of(self, names: Sequence[str]) -> list[Attribute]:
        """Return some columns, in this order."""
        return [self.columns[name] for name in names]

    def at(self, names: Sequence[str], rows: NDArray[np.int64]) -> list[Attribute]:
        """Return some columns of some rows."""
        return [self.columns[name].of(rows) for name in names]


@dataclass(frozen=True, eq=False, slots=True)
class Auxiliary:
    """The attacker's own list: its columns, and for each row the row of its person in the data and in the control, -1 for none."""

    columns: dict[str, Attribute]
    in_data: NDArray[np.int64]
    in_control: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class AttackSetup:
    """See the module. ``released_persons``: (n,) person of each released row as in ``data`` (None: no row map leads there)."""

    plan: AttacksPlan
    draws: Draws
    data: Table
    released: Table
    control: Table | None = None
    row_persons: NDArray[np.int64] | None = None
    """(n,) persons of the data's rows; None: nothing names them, and each row is one."""
    released_persons: NDArray[np.int64] | None = None
    auxiliary: Auxiliary | None = None
    shared_persons: int | None = None
    """Persons of the control file who are in the data; None: there is none, or nothing names persons."""
    content: ControlContent | None = None
    """The control compared with the data by content; None: there is no control file."""
    other_keys: tuple[str, ...] = ()
    """Runs about the same persons under another key of digests, in words."""

    def targets(self, table: Table, draws: Draws) -> NDArray[np.int64]:
        """Return the rows that are attacked."""
        return one_row_each(draws.order(table.rows), table.persons, self.plan.sample)

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


def ground(evidence: Evidence, plan: AttacksPlan, engine: AuditEngine) -> AttackSetup:
    """Read and code every table. ``evidence`` has source and file. Raises InputError where a file of the policy cannot be read."""
    source, main = evidence.source, evidence.main
    assert source is not None
    assert main is not None
    link = plan.linkability
    control = None if plan.control is None else engine.stage(plan.control)
    listed = None if link is None or link.auxiliary is None else engine.stage(link.auxiliary)
    names = [name for name in plan.columns if evidence.measurable([name])]
    tables = [one for one in (source, main, control) if one is not None]
    both = [] if link is None or listed is None else [name for name in names if name in link.first]
    sides: list[dict[str, Attribute]] = [{} for _ in range(4)]
    _code(engine, tables, [name for name in names if name not in both], sides)
    if listed is not None:
        _code(engine, [*tables, listed], both, [*sides[: len(tables)], sides[3]])
    persons = _persons(evidence, [source, control, listed], engine)
    order = _by_values(sides[1], main.n_rows)
    owners = _released_persons(evidence, persons[0], engine)
    several = not evidence.one_each
    made = AttackSetup(
        plan,
        Draws.of("attacks", *evidence.target.source_digests),
        Table(sides[0], persons[0] if several else None, source.n_rows),
        Table({name: one.of(order) for name, one in sides[1].items()}, None, main.n_rows),
        None if control is None else Table(sides[2], persons[1], control.n_rows),
        persons[0],
        None if owners is None else owners[order],
        content=None if control is None else compared(*engine.class_tables((source, control), plan.columns)),
        other_keys=evidence.target.other_keys,
        shared_persons=None if persons[0] is None or persons[1] is None else _shared(persons[0], persons[1]),
    )
    if persons[0] is None or persons[2] is None:
        return made
    return replace(
        made,
        auxiliary=Auxiliary(sides[3], _first_rows(persons[2], persons[0]), _first_rows(persons[2], persons[1])),
    )


def _code(
    engine: AuditEngine, tables: Sequence[Staged | ReleasedFile], names: Sequence[str], sides: Sequence[dict[str, Attribute]]
) -> None:
    """Code some columns over tables, each into its side."""
    for coded in engine.coded_columns(tables, names):
        for side, codes in zip(sides, coded.codes, strict=False):
            side[coded.name] = Attribute(coded.name, codes, coded.values)


def _by_values(columns: dict[str, Attribute], n_rows: int) -> NDArray[np.int64]:
    """The rows of a table in the order of their values, columns by name: neither the file's order of rows nor that of its columns, which a
    policy words, has a part in what is drawn among released rows.

    >>> _by_values({"b": Attribute("b", np.array([1, 2, 1])), "a": Attribute("a", np.array([2, 1, 1]))}, 3).tolist()
    [2, 1, 0]
    """
    if not columns:
        return np.arange(n_rows, dtype=np.int64)
    return np.lexsort([columns[name].codes for name in sorted(columns, reverse=True)]).astype(np.int64)


def _persons(evidence: Evidence, tables: Sequence[Staged | None], engine: AuditEngine) -> list[NDArray[np.int64] | None]:
    """The person of each row of each table, in one coding; None where there is no table, or no column names persons."""
    unit = evidence.plan.unit
    if unit is None:
        return [None] * len(tables)
    named = [one for one in tables if one is not None]
    coded = iter(next(iter(engine.coded_columns(named, [unit.column]))).codes)
    return [None if one is None else next(coded).astype(np.int64) for one in tables]


def _shared(persons: NDArray[np.int64], others: NDArray[np.int64]) -> int:
    """Persons that are in both; 0 is no one."""
    return int(np.count_nonzero(np.intersect1d(persons, others) > 0))


def _first_rows(wanted: NDArray[np.int64], persons: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The first row of each wanted person among ``persons``, -1 for none.

    >>> _first_rows(np.array([5, 6, 0]), np.array([7, 5, 5])).tolist()
    [1, -1, -1]
    """
    if persons is None or not len(persons):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(persons, kind="stable")
    ordered = persons[order]
    place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where((ordered[place] == wanted) & (wanted > 0), order[place], -1).astype(np.int64)


def _released_persons(evidence: Evidence, persons: NDArray[np.int64] | None, engine: AuditEngine) -> NDArray[np.int64] | None:
    """The person of each released row, found in the data through a sound row map; its source row where nothing names persons."""
    source, main, row_map = evidence.source, evidence.main, evidence.target.row_map
    if source is None or main is None or row_map is None or not evidence.sound_map:
        return None
    source_row, output_row = engine.mapped_rows(row_map)
    found = np.full(main.n_rows, -1, np.int64)
    found[output_row] = source_row if persons is None else persons[source_row]
    return found
