"""The DuckDB engine: what the parts of this package do, behind the engine protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from privrelease.engine.duckdb.assignment_queries import AssignmentQueries
from privrelease.engine.duckdb.auditing.expectations import ExpectationQueries
from privrelease.engine.duckdb.auditing.queries import AuditQueries
from privrelease.engine.duckdb.auditing.records import RecordQueries
from privrelease.engine.duckdb.auditing.release_pairs import AcrossQueries
from privrelease.engine.duckdb.auditing.source_comparison import BesideQueries
from privrelease.engine.duckdb.connection import Connection
from privrelease.engine.duckdb.measuring import coding, opening, row_classes
from privrelease.engine.duckdb.measuring import released_file as measuring
from privrelease.engine.duckdb.reading import staging
from privrelease.engine.duckdb.reading.corruption import SYMPTOMS, damage_of
from privrelease.engine.duckdb.reading.csv_source import read_csv
from privrelease.engine.duckdb.reading.parquet_source import read_parquet
from privrelease.engine.duckdb.reading.table_source import read_duckdb, read_sqlite
from privrelease.engine.duckdb.writing import sinks as writing
from privrelease.engine.protocol.base import Offer, ReleasedFile
from privrelease.errors import InputError, InternalError
from privrelease.relational.schema import ColumnType, SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import HouseholdCounts
    from privrelease.engine.protocol.base import (
        ColumnChange,
        EngineSettings,
        OutputTable,
        PersonsFrom,
        Recode,
        RowClasses,
        RowMapFaults,
        SizeHistogram,
        Staged,
        WrittenOutput,
    )
    from privrelease.relational.aggregates import Aggregate, Aggregated, BinKey, Bounding, CodedRows, ColumnKey
    from privrelease.relational.schema import Column, Sink, TableSource
    from privrelease.relational.tables import Contributions, TableCells, TableQuery

__all__ = ["DuckDBEngine"]

_READERS = {
    SourceKind.CSV: read_csv,
    SourceKind.PARQUET: read_parquet,
    SourceKind.DUCKDB: read_duckdb,
    SourceKind.SQLITE: read_sqlite,
}
_DAMAGEABLE = frozenset({SourceKind.PARQUET, SourceKind.DUCKDB})


class DuckDBEngine(AuditQueries, ExpectationQueries, AcrossQueries, AssignmentQueries, BesideQueries, RecordQueries):
    """An in-memory DuckDB that spills to a private folder; see :class:`privrelease.engine.protocol.base.Engine` for what the methods do.

    Raises InputError D1xx (files, environment) and D2xx (cells); see the list in :mod:`privrelease.engine.duckdb`.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._connection = Connection(settings)
        self._staged: dict[str, staging.StagedTable] = {}
        self._codes: dict[str, dict[int, coding.Coding]] = {}
        self._keys: dict[str, row_classes.RowKeys] = {}
        self._released: dict[str, opening.Opened] = {}
        self._records = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def offers(self) -> frozenset[Offer]:
        """Every optional part."""
        return frozenset(Offer)

    @property
    def libraries(self) -> tuple[str, ...]:
        """The distributions whose versions matter for what is read and written."""
        return ("duckdb",)

    def close(self) -> None:
        """Free the database and its spill folder."""
        self._codes.clear()
        self._connection.close()

    # reading
    def stage(self, source: TableSource) -> Staged:
        """Read a source strictly."""
        try:
            table, staged = self._read(source)
        except (InputError, InternalError) as error:
            if error.code not in SYMPTOMS or source.kind not in _DAMAGEABLE:
                raise
            apart = self._connection.single_threaded()
            try:
                found = damage_of(apart, source, _READERS[source.kind])
            finally:
                apart.close()
            if found is None:
                raise
            raise found from None
        self._staged[staged.handle] = table
        self._codes[staged.handle] = {}
        return staged

    def _read(self, source: TableSource) -> tuple[staging.StagedTable, Staged]:
        raw = _READERS[source.kind](self._connection, source)
        try:
            return staging.stage(self._connection, source, raw)
        finally:
            if raw.close is not None:
                raw.close()

    # making
    def recode(self, staged: Staged, recodes: Sequence[Recode]) -> Staged:
        """Replace the values of columns."""
        from privrelease.engine.duckdb.writing import recoding

        table, codes = recoding.recode(self._connection, self._staged[staged.handle], recodes, self._codes[staged.handle])
        self._staged[table.table], self._codes[table.table] = table, codes
        return replace(staged, handle=table.table, columns=table.columns)

    def classes(
        self, staged: Staged, columns: Sequence[str], *, unit: str | None = None, weight: str | None = None
    ) -> RowClasses:
        """Collapse rows to equivalence classes."""
        table, cache = self._staged[staged.handle], self._codes[staged.handle]
        found, keys = row_classes.classes(self._connection, table, columns, unit=unit, weight=weight, cache=cache)
        self._keys[found.handle] = keys
        return found

    def aggregates(self, staged: Staged, bounding: Bounding, asked: Sequence[Aggregate]) -> tuple[Aggregated, ...]:
        """Return exact integers by cell, a person's contribution bounded."""
        from privrelease.engine.duckdb.measuring import aggregates

        return aggregates.aggregates(self._connection, self._staged[staged.handle], bounding, asked)

    def coded_rows(self, staged: Staged, bounding: Bounding, keys: Sequence[ColumnKey | BinKey]) -> CodedRows:
        """Return distinct tuples of declared cells with their rows."""
        from privrelease.engine.duckdb.measuring import coded_rows

        return coded_rows.coded_rows(self._connection, self._staged[staged.handle], bounding, keys)

    def divided(self, staged: Staged, unit: str | None, share: Fraction, key: bytes) -> tuple[Staged, Staged]:
        """Put the persons of a keyed hash aside."""
        from privrelease.engine.duckdb.measuring import coded_rows

        found = coded_rows.divided(self._connection, self._staged[staged.handle], unit, share, key)
        for table in found:
            self._staged[table.table], self._codes[table.table] = table, {}
        stay, aside = (replace(staged, handle=table.table, n_rows=table.n_rows) for table in found)
        return stay, aside

    def write_tables(self, tables: Sequence[tuple[pa.Table, Sink]]) -> None:
        """Write tables that were made here."""
        writing.write_tables(self._connection, tables)

    def table_cells(self, staged: Staged, asked: TableQuery) -> TableCells:
        """Return the cells of a table of counts and sums."""
        from privrelease.engine.duckdb.measuring import tables

        return tables.table_cells(self._connection, self._staged[staged.handle], asked)

    def write(self, staged: Staged, output: OutputTable) -> WrittenOutput:
        """Write every sink and the row map."""
        return writing.write(self._connection, self._keys[output.parts.classes], output, self._codes[staged.handle])

    # measuring
    def contributions(self, staged: Staged, asked: TableQuery) -> Contributions:
        """Return what each person adds to each cell of a table."""
        from privrelease.engine.duckdb.auditing import tables as table_audit

        return table_audit.contributions(self._connection, self._staged[staged.handle], asked)

    def changed_contributions(
        self, now: Staged, before: Staged, asked: TableQuery, earlier: TableQuery | None = None
    ) -> Contributions:
        """Return what each person adds to each cell of a table now more than before."""
        from privrelease.engine.duckdb.auditing import tables as table_audit

        staged = self._staged[now.handle], self._staged[before.handle]
        return table_audit.changed_contributions(self._connection, *staged, asked, earlier)

    def open_release(self, sink: Sink, columns: Sequence[Column], *, marked: bool = False) -> ReleasedFile:
        """Open a released file for measuring."""
        opened, released = opening.open_release(self._connection, sink, columns, marked=marked)
        self._released[released.handle] = opened
        return released

    def _opened(self, of: Staged | ReleasedFile) -> opening.Opened:
        if of.handle in self._released:
            return self._released[of.handle]
        return opening.opened_source(self._staged[of.handle])

    def _persons(self, persons_from: PersonsFrom | None) -> measuring.Persons | None:
        if persons_from is None:
            return None
        return measuring.Persons(self._opened(persons_from.staged), persons_from.row_map, persons_from.unit)

    def size_histogram(
        self,
        of: Staged | ReleasedFile,
        columns: Sequence[str],
        *,
        unit: str | None = None,
        residual: bool = False,
        persons_from: PersonsFrom | None = None,
    ) -> SizeHistogram:
        """Return the class-size histogram."""
        persons = self._persons(persons_from)
        return measuring.size_histogram(
            self._connection, self._opened(of), columns, unit=unit, residual=residual, persons=persons
        )

    def value_sizes(
        self,
        of: Staged | ReleasedFile,
        columns: Sequence[str],
        *,
        unit: str | None = None,
        persons_from: PersonsFrom | None = None,
    ) -> tuple[SizeHistogram, ...]:
        """Return the histogram of each column alone."""
        persons = self._persons(persons_from)
        kinds = dict(of.columns) if isinstance(of, ReleasedFile) else {column.name: column.type for column in of.columns}
        numbers = frozenset(name for name, kind in kinds.items() if kind is ColumnType.NUMBER)
        return measuring.value_sizes(self._connection, self._opened(of), columns, unit=unit, persons=persons, numbers=numbers)

    def class_table(self, of: Staged | ReleasedFile, columns: Sequence[str]) -> ClassTable:
        """Return the class table by a GROUP BY."""
        return measuring.class_table(self._connection, self._opened(of), columns)

    def class_tables(self, of: Iterable[Staged | ReleasedFile], columns: Sequence[str]) -> tuple[ClassTable, ...]:
        """Return class tables in one common coding."""
        return measuring.class_tables(self._connection, [self._opened(one) for one in of], columns)

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
        """Count households by what is known of their members."""
        from privrelease.engine.duckdb.auditing.households import household_counts

        persons = self._persons(persons_from)
        return household_counts(
            self._connection, self._opened(of), household, columns, unit=unit, persons=persons, knows_rows=knows_rows
        )

    def changes(
        self, source: Staged, released: ReleasedFile, row_map: Path, columns: Sequence[str]
    ) -> tuple[ColumnChange, ...]:
        """Compare every released row with its source row."""
        return measuring.changes(self._connection, self._opened(source), self._opened(released), row_map, columns)

    def row_map_faults(self, source: Staged, released: ReleasedFile, row_map: Path) -> RowMapFaults:
        """Check that the row map is a map: every output row from one source row."""
        return measuring.row_map_faults(self._connection, self._opened(source), self._opened(released), row_map)

    def unsorted_rows(self, released: ReleasedFile) -> int:
        """Return the number of rows that come before a row they should follow."""
        return measuring.unsorted_rows(self._connection, self._opened(released))
