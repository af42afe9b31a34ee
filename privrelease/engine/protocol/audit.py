"""Questions that only an auditor asks of an engine, about a parked release, each answered by counts, never by rows.

Apart from :mod:`privrelease.engine.protocol.base` because no executor needs them. A row map is a Parquet file of (``source_row``,
``output_row``), both from 0; it is the executor's word, so its own soundness is a question too (``row_map_faults``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from privrelease.engine.assignment_protocol import AssignmentEngine
from privrelease.engine.protocol.attacks import AttackEngine
from privrelease.engine.protocol.base import Engine
from privrelease.engine.protocol.identifiers import ExpectationEngine, IdentifierEngine
from privrelease.engine.protocol.release_pairs import AcrossEngine
from privrelease.engine.protocol.source_comparison import BesideEngine
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.base import ColumnChange, PersonsFrom, ReleasedFile, RowMapFaults, Staged
    from privrelease.relational.schema import Column, Sink
    from privrelease.relational.tables import Contributions, TableQuery

__all__ = [
    "AuditEngine",
    "HouseholdCounts",
    "LeftRows",
    "MeasuringEngine",
    "PersonClasses",
    "SameCells",
    "TokenFacts",
    "UnitFacts",
    "ValuePairs",
    "ValueRows",
]


@dataclass(frozen=True, slots=True)
class LeftRows:
    """Source rows that the row map does not lead to: how many, of how many persons, and their cells that held a value, per column."""

    rows: int
    persons: int | None
    cells: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SameCells:
    """Counts of how often a released column holds, as text, the value that a source column has in the same row; ``compared``: both hold one.

    ``most``: the most source rows that share one value of the source column; measured where some rows are the same, else 0. ``expected``: in how
    many rows they would agree on average, were the released cells shuffled; None where not measured.
    """

    source: str
    released: str
    compared: int
    same: int
    most: int = 0
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """A pseudonym column against its source column through the row map.

    ``values``, ``tokens``, ``pairs``: distinct, over rows where both are there. ``missing_differs``: rows where one is missing and the other
    is not. ``plain``: values whose token is the value itself. ``unkeyed``: values whose token begins like their MD5, SHA-1 or SHA-256 in
    hexadecimal (16 digits or more).
    """

    column: str
    values: int
    tokens: int
    pairs: int
    missing_differs: int
    plain: int
    unkeyed: int


@dataclass(frozen=True, eq=False, slots=True)
class ValuePairs:
    """Distinct pairs of a cell of the source and the released one of a ``column``, as Arrow arrays, and the rows of each: (m,) int64. Missing is null."""

    column: str
    source: pa.Array
    released: pa.Array
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class ValueRows:
    """Distinct values of a column as an Arrow array, and the rows of each: (m,) int64."""

    values: pa.Array
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """Persons in a staged source: rows, distinct persons, rows without one, the most rows of one person."""

    rows: int
    persons: int
    missing: int
    most_rows: int


@dataclass(frozen=True, eq=False, slots=True)
class PersonClasses:
    """A class table of persons, and how many rows each of its pairs of a class and a person has: (m,) int64.

    Persons with as many rows of the same classes are one number of the table, which says how many they are (``alike``). Rows without a person
    count as one person together: classes are then smaller, never larger, than they are.
    """

    table: ClassTable
    pair_rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class HouseholdCounts:
    """Households by composition, the multiset of what is known of their members.

    ``sizes``, ``classes``: numbers of households with the same composition, and how many compositions have so many. ``largest``: members of the
    largest household, 0 where there is none. ``kind``, ``crowd``, ``members``: for each different make-up, (r,) each, how many ``members`` have
    values that ``crowd`` persons have: the fewest, of a member with several values. ``alone_sizes``, ``alone_classes``: the same of persons in rows
    without a household, by their own values among these rows; empty where no row has a household.
    """

    sizes: NDArray[np.int64]
    classes: NDArray[np.int64]
    largest: int
    kind: NDArray[np.int64]
    crowd: NDArray[np.int64]
    members: NDArray[np.int64]
    alone_sizes: NDArray[np.int64]
    alone_classes: NDArray[np.int64]


class MeasuringEngine(Engine, AcrossEngine, AssignmentEngine, BesideEngine, IdentifierEngine, Protocol):
    """An engine that also measures what a decision rests on. None of it is optional: a check that could not be made fails a run.

    ``released`` None: the question is about the source's own rows, and ``row_map`` is not read.
    """

    def open_release(self, sink: Sink, columns: Sequence[Column], *, marked: bool = False) -> ReleasedFile:
        """Open a released file. Raises InputError where it cannot be read as that kind; extra or lacking columns are returned as found.

        ``marked``: a cell that equals a mark of missing or suppressed values, declared in its column's ``format``, is missing.
        """
        ...

    def class_table(self, of: Staged | ReleasedFile, columns: Sequence[str]) -> ClassTable:
        """Return the class table, coded from the released values."""
        ...

    def changes(
        self, source: Staged, released: ReleasedFile, row_map: Path, columns: Sequence[str]
    ) -> tuple[ColumnChange, ...]:
        """Compare every released row with its source row through the row map, column by column."""
        ...

    def row_map_faults(self, source: Staged, released: ReleasedFile, row_map: Path) -> RowMapFaults:
        """Check that the row map is a map: every output row from one source row, no source row twice."""
        ...

    def unsorted_rows(self, released: ReleasedFile) -> int:
        """Return the number of rows that come before a row they should follow (column by column, NULLs last); 0 where sorted."""
        ...

    def hold(self, released: ReleasedFile, source: Staged, recoded: Collection[str] = ()) -> ReleasedFile:
        """Read a released file once into memory, for many questions; no cell is lost or changed by it.

        ``recoded``: columns whose values are not those of the source, so that they are not stored by its values.
        """
        ...

    def leftovers(self, sink: Sink) -> tuple[str, ...]:
        """Say in words what a readable file holds besides its rows: metadata, other tables, dictionary values that no row uses."""
        ...

    def left_rows(self, source: Staged, row_map: Path, columns: Sequence[str], unit: str | None) -> LeftRows:
        """Count the source rows that did not leave."""
        ...

    def unequal_rows(self, first: ReleasedFile, second: ReleasedFile, columns: Sequence[str]) -> int:
        """Count positions at which two files hold different rows, rows that only one of them has included."""
        ...

    def same_cells(
        self, source: Staged, released: ReleasedFile, row_map: Path, pairs: Sequence[tuple[str, str]]
    ) -> tuple[SameCells, ...]:
        """Compare (source column, released column) pairs row by row, as text."""
        ...

    def token_facts(self, source: Staged, released: ReleasedFile, row_map: Path, column: str) -> TokenFacts:
        """Compare a pseudonym column with its source."""
        ...

    def value_pairs(
        self, source: Staged, released: ReleasedFile, row_map: Path, columns: Sequence[str]
    ) -> Iterator[ValuePairs]:
        """Yield the distinct pairs of a source cell and the cell that is released for it, of each column, in blocks."""
        ...

    def value_rows(self, of: Staged | ReleasedFile, column: str) -> Iterator[ValueRows]:
        """Yield the distinct values of a column, none missing, in blocks."""
        ...

    def unit_facts(self, source: Staged, unit: str) -> UnitFacts:
        """Count persons."""
        ...

    def person_classes(
        self, source: Staged | None, released: ReleasedFile | None, row_map: Path | None, columns: Sequence[str], unit: str
    ) -> PersonClasses:
        """Collapse rows to classes by persons, found in the source through the row map; codes are local to the call.

        ``source`` None: ``unit`` is a column of the released file.
        """
        ...

    def weighted_classes(
        self,
        source: Staged,
        released: ReleasedFile | None,
        row_map: Path | None,
        columns: Sequence[str],
        weight: str,
        unit: str | None = None,
    ) -> ClassTable:
        """Collapse rows to classes with exact sums of the source's sampling weights; a row without a weight adds none. With ``unit``, a column of
        the source, a person counts once in a class, by the smallest weight of their rows in it.
        """
        ...

    def number_counts(self, of: Staged | ReleasedFile, column: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the finite values of a numeric column in ascending order, and the rows of each; very many values on even steps."""
        ...

    def text_counts(self, of: Staged | ReleasedFile, column: str, values: Sequence[str]) -> tuple[tuple[int, ...], int]:
        """Return the rows that hold each of ``values`` in a column of texts, and the rows that hold any value."""
        ...

    def number_distances(
        self, source: Staged, released: ReleasedFile, row_map: Path, column: str
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return |released - source| where both are known and differ, in ascending order, and the rows of each distance."""
        ...

    def contributions(self, staged: Staged, asked: TableQuery) -> Contributions:
        """Return what each person adds to each inner cell of a table."""
        ...

    def changed_contributions(
        self, now: Staged, before: Staged, asked: TableQuery, earlier: TableQuery | None = None
    ) -> Contributions:
        """Return what each person adds to each inner cell of a table now more than before, signed. ``earlier``: the query of the state before, of
        the same cells and figures, where it reads them from other columns.
        """
        ...

    def household_counts(
        self,
        of: ReleasedFile,
        household: str,
        columns: Sequence[str],
        *,
        unit: str | None = None,
        persons_from: PersonsFrom | None = None,
        knows_rows: bool = False,
    ) -> HouseholdCounts:
        """Count the values of the column ``household`` by what is known, in ``columns``, of the persons with it; missing equals missing, and a row
        without a household is no one's member. A person's several rows there are a set, a multiset with ``knows_rows``. ``unit``,
        ``persons_from``: where persons are found; without them each row is one.
        """
        ...


class AuditEngine(MeasuringEngine, ExpectationEngine, AttackEngine, Protocol):
    """An engine with every optional part, too: of one that lacks some (:attr:`Engine.offers`), no policy that is let through asks for them."""
