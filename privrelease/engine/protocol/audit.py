"""What only an auditor asks of an engine: questions about a parked release, each answered by counts, never by rows.

Apart from :mod:`privrelease.engine.protocol.base` because no executor needs them. A row map is a Parquet file of (``source_row``,
``output_row``), both from 0; it is the executor's word, so its own soundness is a question too (``row_map_faults``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from privrelease.engine.assignment_protocol import AssignmentEngine
from privrelease.engine.protocol.base import Engine
from privrelease.engine.protocol.identifiers import ExpectationEngine, IdentifierEngine
from privrelease.engine.protocol.release_pairs import AcrossEngine
from privrelease.engine.protocol.source_comparison import BesideEngine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.relational.schema import Sink
    from privrelease.relational.tables import Contributions, TableQuery

__all__ = [
    "AuditEngine",
    "CodedColumn",
    "LeftRows",
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
    """How often a released column holds, as text, the value that a source column has in the same row; ``compared``: both hold one.

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
    """Distinct pairs of a cell of the source and the released one, as Arrow arrays, and the rows of each: (m,) int64. Missing is null."""

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
    """A class table with its distinct (class, person) pairs, and how many rows each pair has: (m,) int64.

    Rows without a person count as one person together: classes are then smaller, never larger, than they are.
    """

    table: ClassTable
    pair_rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class CodedColumn:
    """One column of several tables in one coding. ``codes``: of each table (n,) unsigned, in the order of its rows, 0 missing, 1..v
    ascending with the values. ``values``: (v + 1,) float64, the number that a code stands for (dates as days or seconds; code 0: nan);
    None: the column has no numbers, only values that are equal or not.
    """

    name: str
    codes: tuple[NDArray[np.unsignedinteger], ...]
    size: int
    values: NDArray[np.float64] | None = None


class AuditEngine(Engine, ExpectationEngine, AcrossEngine, AssignmentEngine, BesideEngine, IdentifierEngine, Protocol):
    """An engine that also answers an auditor's questions.

    ``released`` None: the question is about the source's own rows, and ``row_map`` is not read.
    """

    def hold(self, released: ReleasedFile, source: Staged) -> ReleasedFile:
        """Read a released file once into memory, for many questions; no cell is lost or changed by it."""
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

    def value_pairs(self, source: Staged, released: ReleasedFile, row_map: Path, column: str) -> Iterator[ValuePairs]:
        """Yield the distinct pairs of a source cell and the cell that is released for it, in blocks."""
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
        self, source: Staged, released: ReleasedFile | None, row_map: Path | None, columns: Sequence[str], weight: str
    ) -> ClassTable:
        """Collapse rows to classes with exact sums of the source's sampling weights; a row without a weight adds none."""
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

    def changed_contributions(self, now: Staged, before: Staged, asked: TableQuery) -> Contributions:
        """Return what each person adds to each inner cell of a table now more than before, signed."""
        ...

    def coded_columns(self, of: Sequence[Staged | ReleasedFile], columns: Sequence[str]) -> Iterator[CodedColumn]:
        """Yield every column of several tables, coded over all of them, in the order of their rows."""
        ...

    def mapped_rows(self, row_map: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the source rows and the output rows of a row map that was found sound."""
        ...
