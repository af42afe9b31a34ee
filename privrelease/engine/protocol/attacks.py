"""Questions of an auditor's attacks to an engine: the distinct records of tables with their counts, and single rows by their number.

No answer is as long as a table: records that are equal are one, and rows are asked for by a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.protocol.base import ReleasedFile, Staged

__all__ = ["AttackEngine", "CodedColumn", "DistinctRecords", "Drawn", "SharedPersons"]


@dataclass(frozen=True, eq=False, slots=True)
class CodedColumn:
    """One column of the distinct records of a table. ``codes``: (u,) unsigned, 0 missing, 1..v ascending with the values, the same for every
    table that was asked about together. ``values``: (v + 1,) float64, the number that a code represents (dates as days or seconds; code 0:
    nan); None: the column has no numbers, only values that are equal or not. ``cells``: the v values, an Arrow array, of a column that some table
    codes apart, else None.
    """

    name: str
    codes: NDArray[np.unsignedinteger]
    values: NDArray[np.float64] | None = None
    cells: pa.Array | None = None


@dataclass(frozen=True, eq=False, slots=True)
class DistinctRecords:
    """The distinct records of a table over ``columns``, in ascending order of their codes, columns by name.

    ``rows``: (u,) rows of each; ``first``: (u,) its least row number. ``persons``: (2, u) the lowest and the highest number of the persons of its
    rows, where a unit was given: a person's number is that of their first row, and rows without a person are those of one person.
    ``handle`` is the engine's own.
    """

    handle: str
    columns: tuple[CodedColumn, ...]
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    persons: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """Part of a table: the rows of the ``most`` persons (where rows are persons, the ``most`` rows) that come first when rows are put in ascending
    order of SplitMix64's numbers for ``seed``, the number of row i being its output i + 1.
    """

    seed: int
    most: int


@dataclass(frozen=True, slots=True)
class SharedPersons:
    """Persons of a first table who are in a second one: how many, and the first table's ``rows`` of theirs, numbered 0.. in their order."""

    handle: str
    persons: int
    rows: int


class AttackEngine(Protocol):
    """An engine that hands over distinct records, and single rows."""

    def distinct_records(
        self,
        of: Sequence[Staged | ReleasedFile],
        columns: Sequence[Sequence[str]],
        units: Sequence[str | None],
        apart: tuple[int, Collection[str]] | None = None,
    ) -> tuple[DistinctRecords, ...]:
        """Collapse each table over its own columns, a column of several tables in one coding. ``units``: the columns that name persons.

        ``apart``: the place of a table, and columns of it that have a coding of their own, since they hold other values than those of that name do.
        """
        ...

    def drawn_counts(self, records: DistinctRecords, part: Drawn) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return ``rows`` and ``persons`` of records over a part of their table; 0 rows where the part has none of a record."""
        ...

    def records_at(self, records: DistinctRecords, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the record of each of some rows of the table: (m,)."""
        ...

    def rows_at(self, records: DistinctRecords, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the row at each of some places, (m,), when rows are ordered by their records, equal ones as in the table."""
        ...

    def persons_at(self, of: Staged, unit: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the person of each of some rows: (m,)."""
        ...

    def source_rows(self, row_map: Path, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the source row of each of some output rows by a row map that was found sound: (m,), -1 where there is none."""
        ...

    def shared_persons(self, first: Staged, second: Staged, unit: str) -> SharedPersons:
        """Find the persons of a table in another one; a missing value names no one."""
        ...

    def shared_at(self, shared: SharedPersons, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return some of the shared rows: their numbers in the first table, and the numbers of their persons in the second. (m,) each."""
        ...
