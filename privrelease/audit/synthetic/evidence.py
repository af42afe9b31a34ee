"""The parked files of a synthetic release, read again as strictly as a source, and what the run says of itself."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from privrelease.errors import PrivreleaseError
from privrelease.relational.coded_columns import DiscoveredCells, DiscoveredRange
from privrelease.relational.schema import ColumnFormat, ColumnType, FileFormat, SinkKind, SourceKind, TableSource
from privrelease.texts.sentences import listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.checks.charges import Charges
    from privrelease.dp.envelope_records import EnvelopeDraw
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.relational.coded_columns import CellsOf
    from privrelease.relational.schema import Column, Sink
    from privrelease.release.manifest import Manifest
    from privrelease.release.privacy import PrivacyClaim, SyntheticClaim, SyntheticColumn
    from privrelease.texts.sentences import Said

__all__ = ["MARK", "ReadFile", "SyntheticEvidence", "SyntheticTarget", "read_file"]

#: Before the name of the first column where the noise came from a test's seed.
MARK: Final = "not private: "
_KINDS: Final = {
    SinkKind.CSV: SourceKind.CSV,
    SinkKind.PARQUET: SourceKind.PARQUET,
    SinkKind.DUCKDB: SourceKind.DUCKDB,
}


@dataclass(frozen=True, slots=True)
class SyntheticTarget:
    """The parked release: its files in the plan's order, and what the run says of itself (None: nothing is claimed)."""

    files: tuple[Sink, ...]
    manifest: Manifest | None = None
    run: str | None = None
    charges: Charges | None = None
    """The ledger's record; None where it is not available, and then nothing is said about it."""
    altered: tuple[Said, ...] = ()
    """Parts of the run that are no longer as they were decided upon, in words."""
    ledger_fault: Said | None = None
    """Why the ledger that should have been charged cannot be believed."""
    source_digests: tuple[str, ...] = ()
    """Keyed digests of the source's files; they choose who is attacked."""
    divided_by: bytes | None = field(default=None, repr=False)
    """The secret by which persons were held out; None: the source is not compared with."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as it was read: its rows, or ``fault``, why it is not the table that was planned."""

    staged: Staged | None = None
    fault: Said | None = None


def read_file(sink: Sink, columns: tuple[Column, ...], engine: AuditEngine, *, marked: bool) -> ReadFile:
    """Read a file as a source with exactly the planned columns. A type that is not the planned one is a fault."""
    wanted = tuple(_as_released(column, sink) for column in columns)
    if marked:
        wanted = (replace(wanted[0], name=MARK + wanted[0].name), *wanted[1:])
    form = FileFormat(delimiter=sink.delimiter)
    source = TableSource("release", _KINDS[sink.kind], str(sink.path), sink.label, wanted, table=_table(sink), format=form)
    try:
        if sink.kind is not SinkKind.CSV:
            found = engine.open_release(sink, wanted).columns
            if [name for name, _ in found] != [column.name for column in wanted]:
                return ReadFile(fault=say("other_columns"))
            types = {column.name: _bare(column.type) for column in wanted}
            other = [name for name, kind in found if _bare(kind) is not types[name]]
            if other:
                return ReadFile(fault=say("other_type", columns=listed(other)))
        staged = engine.stage(source)
    except PrivreleaseError as error:
        return ReadFile(fault=say("unreadable_as_planned", code=error.code))
    return ReadFile(staged)


def _table(sink: Sink) -> str | None:
    return sink.table if sink.kind is SinkKind.DUCKDB else None


def _bare(kind: ColumnType) -> ColumnType:
    return ColumnType.STRING if kind is ColumnType.CATEGORY else kind


def _as_released(column: Column, sink: Sink) -> Column:
    """The column as the file has it: no marks, no domain; dates of a CSV file in the declared format."""
    csv = sink.kind is SinkKind.CSV
    date = column.format.date if csv else None
    form = ColumnFormat(missing=("",) if csv else (), date=date, pivot=column.format.pivot, decimal=sink.decimal)
    return replace(column, domain=None, format=form)


@dataclass(frozen=True, eq=False)
class SyntheticEvidence:
    """The evidence of the checks. ``engine`` None: no file was read, since there is none."""

    plan: SyntheticPlan
    target: SyntheticTarget
    files: tuple[ReadFile, ...]
    engine: AuditEngine

    @property
    def first(self) -> Staged | None:
        """The rows of the first file that can be read."""
        return next((one.staged for one in self.files if one.staged is not None), None)

    @property
    def marked(self) -> bool:
        """Return whether the first column's name says that the release is not private."""
        return bool(self.first) and self.first is not None and self.first.columns[0].name.startswith(MARK)

    def name(self, column: str) -> str:
        """Return a column's name in the file."""
        return MARK + column if self.marked and column == self.plan.columns[0].name else column

    @property
    def privacy(self) -> PrivacyClaim | None:
        """The claim of differential privacy."""
        return None if self.target.manifest is None else self.target.manifest.privacy

    @property
    def claim(self) -> SyntheticClaim | None:
        """Return the claim of the run about the model."""
        return None if self.target.manifest is None else self.target.manifest.synthetic

    @cached_property
    def draws(self) -> tuple[EnvelopeDraw, ...] | None:
        """The draws that the manifest lists; None where one is not valid, or nothing is claimed."""
        from privrelease.dp.envelope_records import EnvelopeDraw

        if self.privacy is None:
            return None
        try:
            return tuple(EnvelopeDraw.from_record(draw) for query in self.privacy.queries for draw in query.draws)
        except ValueError:
            return None

    def cells(self) -> tuple[CellsOf, ...]:
        """Return the cells of the modelled columns; values and bounds that were bought as the manifest lists them."""
        listed = {} if self.claim is None else {one.name: one for one in self.claim.columns}
        return tuple(_as_listed(one, listed.get(one.column)) for one in self.plan.modelled)


def _as_listed(cells: CellsOf, column: SyntheticColumn | None) -> CellsOf:
    if isinstance(cells, DiscoveredCells) and column is not None and column.values is not None:
        return cells.found(column.values)
    if isinstance(cells, DiscoveredRange) and column is not None and column.bounds is not None:
        low, high = column.bounds
        if cells.outer[0] <= low <= high <= cells.outer[1]:
            return cells.found(low, high)
    return cells
