"""Everything an audit of microdata measured, before anything is judged; :func:`~privrelease.audit.microdata.measurements.gather` measures it.

``None`` in a field means that it could not be measured: a check that needs it is then not evaluated, which is no pass.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from privrelease.audit.microdata.linkage import naming_columns
from privrelease.disclosure.classes.grouping import column_indices, is_residual
from privrelease.disclosure.classes.persons import linkable_class_sizes, person_class_sizes
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.audit.microdata.disguised_identifiers import Hidden
    from privrelease.audit.microdata.households import Links
    from privrelease.audit.microdata.linkage import Repeats
    from privrelease.audit.microdata.recoding import Counted, OffLevel, Pairs
    from privrelease.audit.microdata.risk.class_sizes import Sizes
    from privrelease.audit.microdata.risk.labels import LabelledClasses
    from privrelease.audit.microdata.source_consistency import SourceConsistency
    from privrelease.audit.microdata.target import AuditTarget
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import LeftRows, PersonClasses, SameCells, TokenFacts, UnitFacts
    from privrelease.engine.protocol.base import ColumnChange, ReleasedFile, RowMapFaults, Staged
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn
    from privrelease.relational.schema import Sink

__all__ = ["Evidence", "FileEvidence", "PopulationSide"]


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """One file: digest and size of its bytes, and the opened file, or the code of the error that kept it shut (``why``: and its message).

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
    why: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class PopulationSide:
    """Facts about the population of one threat: class tables of source and release in one coding with the ``population``'s
    table, or with sums of sampling weights (``population`` None). ``after`` None: released rows could not be led to their
    weights.
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
    undeclared: tuple[tuple[str, int], ...] = ()
    """Without the source: columns of texts with values that their declared list does not have, and the rows of these."""
    changes: tuple[ColumnChange, ...] | None = None
    levels: tuple[OffLevel, ...] | None = None
    """Of columns with planned levels, rows whose released values are of another; None: no file can be read."""
    tokens: tuple[TokenFacts, ...] | None = None
    same: tuple[SameCells, ...] | None = None
    hidden: tuple[Hidden, ...] | None = None
    """Direct identifiers and released columns that have something in common, in any form; with a row map in the forms but the plain one."""
    explained: SourceConsistency | None = None
    """Without a row map: whether the source has the values that released rows keep."""
    repeats: tuple[Repeats, ...] | None = None
    unnamed: tuple[tuple[str, int], ...] = ()
    """If the policy declares no persons: direct identifiers of the source of which values occur in several rows, and how many do."""
    links: Links | None = None
    """Columns that bring rows of several persons together; None where none is to be judged, or the persons of rows cannot be determined."""
    order_breaks: int | None = None
    before: ClassTable | None = None
    after: ClassTable | None = None
    person_before: PersonClasses | None = None
    person_after: PersonClasses | None = None
    outside: Mapping[str, PopulationSide] = field(default_factory=dict)
    labels: Mapping[str, Counted] = field(default_factory=dict, repr=False, compare=False)
    """Of columns with planned levels, the distinct released values in ascending order, and the rows of each."""
    pairs: Mapping[str, Pairs] = field(default_factory=dict, repr=False, compare=False)
    """Of columns that are written coarser, the distinct pairs of a value of the source and the released one, where rows are led back to it."""
    labelled: LabelledClasses | None = None
    """Classes for the wildcard reading, where the file holds labels of which it must be asked what they represent."""
    sizes: Sizes = field(default_factory=dict, repr=False, compare=False)
    """Sizes that were measured already: several threats, and the union of all, may know the same columns."""

    @property
    def sound_map(self) -> bool:
        """Return True if the row map leads every released row to its own source row and stays within both tables."""
        return self.row_map is not None and is_sound(self.row_map)

    def measurable(self, columns: Sequence[str]) -> bool:
        """Return True if the released file has all these columns, with the planned types."""
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
        """Return True if rows of one person stay linkable: some person has several rows, and the unit is released, or a
        pseudonym repeats in them.
        """
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
        """Return True if a unit is declared and every person has one row: records are then persons."""
        return self.persons is not None and self.persons.most_rows <= 1 and not self.persons.missing


def is_sound(faults: RowMapFaults) -> bool:
    """Return True if a row map is an injection of the released rows into the source rows.

    >>> from privrelease.engine.protocol.base import RowMapFaults
    >>> is_sound(RowMapFaults(0, 0, 0, 0, 7)), is_sound(RowMapFaults(0, 1, 0, 0, 1))
    (True, False)
    """
    return not (faults.out_of_range or faults.sources_twice or faults.outputs_twice or faults.outputs_unmapped)


def _residual_records(table: ClassTable, columns: Sequence[str]) -> int:
    return int(table.counts[is_residual(table.codes[:, list(column_indices(table, columns))])].sum())
