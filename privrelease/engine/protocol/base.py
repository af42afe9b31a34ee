"""The work of an engine for the executor, as a protocol over plain values: reading, making and counting.

Deciding needs more, see :class:`privrelease.engine.protocol.audit.MeasuringEngine`. The two share reading (a source is staged with its declared
types) and nothing else: the auditor's queries are written apart from the executor's, so that a fault of one is not repeated by the other.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.findings import Finding
    from privrelease.relational.aggregates import Aggregate, Aggregated, BinKey, Bounding, CodedRows, ColumnKey
    from privrelease.relational.recoding import Recoding
    from privrelease.relational.schema import Column, ColumnType, Sink, TableSource
    from privrelease.relational.tables import TableCells, TableQuery

__all__ = [
    "ColumnChange",
    "Engine",
    "EngineSettings",
    "Offer",
    "OutputColumn",
    "OutputTable",
    "Parts",
    "PersonsFrom",
    "Recode",
    "ReleasedFile",
    "RowClasses",
    "RowMapFaults",
    "SizeHistogram",
    "Staged",
    "WrittenOutput",
]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Limits of an engine: DuckDB memory limit (e.g. ``1GiB``), threads, a temporary folder, folders it may read and write."""

    memory_limit: str = "1GiB"
    threads: int | None = None
    temp_folder: Path | None = None
    max_temp_size: str | None = None
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Staged:
    """A source that was read, with declared types, rows numbered 0..n-1 in source order. ``handle`` is the engine's own.

    ``dropped_outside``: rows left out because a value was outside a domain that says ``drop``. ``warnings``: e.g. texts that would
    be equal after normalisation. ``suppressed_marks``: cells per column that held the declared suppression mark.
    """

    handle: str
    columns: tuple[Column, ...]
    n_rows: int
    dropped_outside: int = 0
    warnings: tuple[Finding, ...] = ()
    suppressed_marks: tuple[tuple[str, int], ...] = ()

    @property
    def file_rows(self) -> int:
        """Rows of the source itself, those included that a domain leaves out."""
        return self.n_rows + self.dropped_outside


@dataclass(frozen=True, eq=False, slots=True)
class RowClasses:
    """A class table, and the engine's own name (``handle``) for the class and the person of every row, which stay in the engine.

    ``pair_rows``: (m,) int64 rows of each of the table's (class, person) pairs, of one person; None without persons. Persons with as many rows of
    the same classes (and the same weights, where asked for) are one number of the table, numbered by the first of them; who they are stays in
    the engine.
    """

    table: ClassTable
    handle: str
    pair_rows: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """Treatment of rows by class: each class is one part or several, whose rows are treated alike.

    ``classes``: the handle of the classes. Part p, in ascending order of ``class_index`` (P,) uint32, has ``records[p]`` (P,) int64 rows of its class: the
    first ones in source order belong to the class's first part, and so on; the parts of a class have all of its rows. ``pair_part``: (m,) uint32, where
    rows belong to parts by person instead, the part of each (class, person) pair, for all persons that the pair represents.

    ``levels``: (P, len(columns)) uint8, how the cells of ``columns`` are released: 0 as they are, 255 missing; the numbers between are
    reserved. ``dropped``: (P,) bool, rows that are not released.
    """

    classes: str
    class_index: NDArray[np.uint32]
    records: NDArray[np.int64]
    columns: tuple[str, ...]
    levels: NDArray[np.uint8]
    dropped: NDArray[np.bool_]
    pair_part: NDArray[np.uint32] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Recode:
    """A column whose values are replaced: the ``column`` as it is then declared, and the released ``values`` of an Arrow array of values of the
    source, none missing, one for each; null where nothing represents a value, which refuses the source (D256). Equal values have equal ones: it is
    asked by distinct values or by blocks of rows, as the engine sees fit.

    ``recoding``: how values that have equal ones are drawn together; the engine renders it and asks for representatives alone, or for nothing where it
    lists what is released.
    """

    column: Column
    values: Callable[[pa.Array], pa.Array]
    recoding: Recoding | None = None


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of an output. ``pseudonym_key``: the secret key bytes where the column leaves as a keyed pseudonym."""

    name: str
    type: ColumnType
    pseudonym_key: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False, slots=True)
class OutputTable:
    """A table to write.

    ``parts``: the treatment of its rows. ``order``: by the released values, column by column in output order, NULLs last; or as in the
    source. ``row_map``: where the map (source_row, output_row) is written as Parquet; it is never released.
    """

    columns: tuple[OutputColumn, ...]
    parts: Parts
    sinks: tuple[Sink, ...]
    row_map: Path
    order: Literal["values", "source"] = "values"


@dataclass(frozen=True, slots=True)
class WrittenOutput:
    """The written output: rows, and per sink its path."""

    rows: int
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class ReleasedFile:
    """A file that is about to leave (or came from elsewhere), opened for measuring. ``columns``: (name, type) as the file has them,
    types in the policy's terms (for CSV all types are as declared, and the cells were checked to fit).
    """

    handle: str
    columns: tuple[tuple[str, ColumnType], ...]
    n_rows: int


@dataclass(frozen=True, eq=False, slots=True)
class SizeHistogram:
    """``sizes`` ascending (int64), ``classes`` of each size; ``residual``: records whose every column is missing, where set apart."""

    sizes: NDArray[np.int64]
    classes: NDArray[np.int64]
    residual: int = 0


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A released column against its source through the row map: cells equal (missing on both sides too), cells made NULL, cells
    changed to another value, cells missing in the source that hold a value in the output.
    """

    column: str
    equal: int
    nulled: int
    changed: int
    invented: int


@dataclass(frozen=True, slots=True)
class PersonsFrom:
    """The place where the person of a released row is found when the unit column was not released: in the source, through the row map."""

    staged: Staged
    row_map: Path
    unit: str


@dataclass(frozen=True, slots=True)
class RowMapFaults:
    """Soundness of a row map: it is a map from every output row to one source row, none used twice.

    ``out_of_range``: entries beyond the rows of the source or of the output. ``sources_twice``, ``outputs_twice``: rows named more
    than once. ``outputs_unmapped``: output rows that no entry names. ``sources_absent``: source rows that no entry names (they were
    dropped, or lost).
    """

    out_of_range: int
    sources_twice: int
    outputs_twice: int
    outputs_unmapped: int
    sources_absent: int


class Offer(StrEnum):
    """A part of the protocols that an engine may lack, by its name in a message; a policy that asks for it is then refused."""

    ATTACKS = "attacks"
    EXPECTATIONS = "expectations"
    DATABASES = "database files"


class Engine(Protocol):
    """An engine that reads, makes and counts: all that an executor needs. A context manager that frees what it holds. One thread at a time."""

    @property
    def offers(self) -> frozenset[Offer]:
        """Return the optional parts that the engine has."""
        ...

    @property
    def libraries(self) -> tuple[str, ...]:
        """The distributions whose versions matter for what is read and written."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    # reading
    def stage(self, source: TableSource) -> Staged:
        """Read a source strictly. Raises InputError holding every kind of misfit found, with file, line, column; never a cell."""
        ...

    # making
    def recode(self, staged: Staged, recodes: Sequence[Recode]) -> Staged:
        """Replace the values of columns; rows, their order and all other columns stay. What is missing stays missing."""
        ...

    def classes(
        self, staged: Staged, columns: Sequence[str], *, unit: str | None = None, weight: str | None = None
    ) -> RowClasses:
        """Collapse rows to equivalence classes over ``columns``, one class of all rows where there are none; with ``unit`` also the distinct
        (class, person) pairs.
        """
        ...

    def write(self, staged: Staged, output: OutputTable) -> WrittenOutput:
        """Write every sink (each a new file in an existing folder, completely or not at all) and the row map."""
        ...

    def aggregates(self, staged: Staged, bounding: Bounding, asked: Sequence[Aggregate]) -> tuple[Aggregated, ...]:
        """Return exact integers by declared cell, a person's contribution bounded; for noise, and for no other eye."""
        ...

    def coded_rows(self, staged: Staged, bounding: Bounding, keys: Sequence[ColumnKey | BinKey]) -> CodedRows:
        """Return the tuples of declared cells that rows lie in, with their rows: exact, for noise, and for no other eye. In one scan."""
        ...

    def divided(self, staged: Staged, unit: str | None, share: Fraction, key: bytes) -> tuple[Staged, Staged]:
        """Return the rows that stay, and those of about a ``share`` of the persons, chosen by a hash of the person under ``key`` alone; of the row's
        content where every row is a person.
        """
        ...

    def write_tables(self, tables: Sequence[tuple[pa.Table, Sink]]) -> None:
        """Write tables that hold no row of a source, each to a new file in an existing folder, all completely or none."""
        ...

    def table_cells(self, staged: Staged, asked: TableQuery) -> TableCells:
        """Return the exact cells of a table with the contributors of each; no one may see them before the table is protected."""
        ...

    # counting
    def size_histogram(
        self,
        of: Staged | ReleasedFile,
        columns: Sequence[str],
        *,
        unit: str | None = None,
        residual: bool = False,
        persons_from: PersonsFrom | None = None,
    ) -> SizeHistogram:
        """Return the class-size histogram by one aggregate query; sizes count rows, or distinct persons with ``unit`` (a column of
        the file) or ``persons_from`` (the unit did not leave). ``residual``: records (rows, always) with every column missing are
        set apart.
        """
        ...

    def value_sizes(
        self,
        of: Staged | ReleasedFile,
        columns: Sequence[str],
        *,
        unit: str | None = None,
        persons_from: PersonsFrom | None = None,
    ) -> tuple[SizeHistogram, ...]:
        """Return the numbers of rows, or of distinct persons, of the values of each column alone; a missing value is none."""
        ...

    def class_tables(self, of: Iterable[Staged | ReleasedFile], columns: Sequence[str]) -> tuple[ClassTable, ...]:
        """Return one class table each, all in one common coding, so that they can be compared."""
        ...
