"""Sources and outputs of a release, as an engine is asked to read and write them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from privrelease.plan.model import (
    naming_columns,
)
from privrelease.policy.rules.datasets import two_digit_years
from privrelease.relational.schema import (
    Column,
    ColumnFormat,
    ColumnType,
    Domain,
    FileFormat,
    Sink,
    SourceKind,
    TableSource,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.plan.model import CheckPlan
    from privrelease.policy.language.datasets import ColumnSpec, Dataset, FormatSpec
    from privrelease.policy.language.kinds import Release
    from privrelease.policy.loader import LoadedPolicy

__all__ = ["declared_sources", "looked_at", "needed", "release_sinks", "release_source", "sinks_of", "table_source"]


def needed(source: TableSource, wanted: set[str], dataset: Dataset) -> TableSource:
    """The source less the columns that no one asks for, nor the persons: what is not asked for is not read."""
    persons = {dataset.person.column} if dataset.person is not None else naming_columns(source) if dataset.undeclared else set()
    needed = persons | wanted
    dropping = {column.name for column in source.columns if column.domain is not None and column.domain.outside == "drop"}
    read = [column for column in source.columns if column.name in needed | dropping] or list(source.columns[:1])
    unread = tuple(column for column in source.columns if column not in read)
    return replace(source, columns=tuple(_unbounded(column) for column in read), unread=unread)


def looked_at(loaded: LoadedPolicy, name: str, dataset: Dataset, checks: tuple[CheckPlan, ...]) -> TableSource | None:
    """The source as checks on it read it: their columns alone, domains left out, since no value may stop a release of statistics."""
    if not checks:
        return None
    source = table_source(loaded, name, dataset, dataset.columns)
    wanted = {column for check in checks if check.expectation is not None for column in check.expectation.columns}
    whole = any(check.expectation is not None and not check.expectation.columns for check in checks)
    read = [column for column in source.columns if whole or column.name in wanted]
    unread = tuple(column for column in source.columns if column not in read)
    return replace(source, columns=tuple(replace(column, domain=None) for column in read), unread=unread)


def _unbounded(column: Column) -> Column:
    """The column as statistics read it: a value outside its domain is clamped, and does not reveal that it was there."""
    dropped = column.domain is not None and column.domain.outside == "drop"
    return column if dropped else replace(column, domain=None)


def release_source(loaded: LoadedPolicy, dataset: str) -> TableSource:
    """Return where a dataset of the policy is read, with all of its columns."""
    found = loaded.policy.datasets[dataset]
    return table_source(loaded, dataset, found, found.columns)


def declared_sources(loaded: LoadedPolicy, bounded: frozenset[str] = frozenset()) -> tuple[TableSource, ...]:
    """Return every dataset of the policy with all of its columns; ``bounded``: of these, values outside a domain are clamped."""
    found = tuple(release_source(loaded, name) for name in loaded.policy.datasets)
    return tuple(replace(one, columns=tuple(map(_unbounded, one.columns))) if one.dataset in bounded else one for one in found)


def release_sinks(loaded: LoadedPolicy, release: Any) -> tuple[Sink, ...]:  # noqa: ANN401 -- a release of any kind
    """Return the output files of a release, in the policy's order."""
    return tuple(sinks_of(loaded, release))


def sinks_of(loaded: LoadedPolicy, release: Release) -> Iterable[Sink]:
    """Yield the outputs of a release as the policy writes them, extra copies included."""
    for output in release.output:
        kind, path = loaded.roots.sink(output)
        yield Sink(kind, path, output.path, output.table, output.delimiter, output.decimal)


def table_source(
    loaded: LoadedPolicy, name: str, dataset: Dataset, columns: dict[str, ColumnSpec], *, unlisted_columns: str | None = None
) -> TableSource:
    """Return a dataset as an engine reads it, with these of its columns."""
    place = loaded.roots.source(dataset)
    return TableSource(
        dataset=name,
        kind=place.kind,
        path=place.path,
        label=place.label,
        columns=tuple(_column_of(column, spec, dataset.format, place.kind) for column, spec in columns.items()),
        table=place.table,
        format=FileFormat(dataset.format.delimiter, dataset.format.quote, dataset.format.encoding),
        unlisted_columns="drop" if unlisted_columns == "drop" else dataset.unlisted_columns,
        location=loaded.location("datasets", name, "source"),
        unit=None if dataset.person is None else dataset.person.column,
        places={column: loaded.location("datasets", name, "columns", column) for column in columns},
    )


def _column_of(name: str, spec: ColumnSpec, form: FormatSpec, kind: SourceKind) -> Column:
    return Column(name, spec.type, spec.role, _domain_of(spec), spec.grid, _format(spec, form, kind), spec.category, spec.links)


def _domain_of(spec: ColumnSpec) -> Domain | None:
    if spec.domain is None:
        return None
    low, high = spec.domain.range if spec.domain.range is not None else (None, None)
    return Domain(spec.domain.values, low, high, spec.outside)


def _format(spec: ColumnSpec, form: FormatSpec, kind: SourceKind) -> ColumnFormat:
    """The column's own format over the dataset's; date formats only where they say something about the type.

    That an empty text means a missing value is a default of CSV, which has no other sign for it; elsewhere it is a text unless declared.
    """
    own = spec.format
    default = ("",) if kind is SourceKind.CSV else ()
    missing = form.missing if form.missing is not None else default
    date = None
    if spec.type is ColumnType.DATE:
        date = own.date if own is not None and own.date is not None else form.date
    elif spec.type is ColumnType.DATETIME:
        date = own.datetime if own is not None and own.datetime is not None else form.datetime
    return ColumnFormat(
        missing=own.missing if own is not None and own.missing is not None else missing,
        suppression_mark=own.suppression_mark
        if own is not None and own.suppression_mark is not None
        else form.suppression_mark,
        aliases=tuple(own.aliases.items()) if own is not None else (),
        normalise=own.normalise if own is not None else (),
        date=date,
        pivot=(own.pivot if own is not None and own.pivot is not None else form.pivot) if two_digit_years(date) else None,
        decimal=own.decimal if own is not None and own.decimal is not None else form.decimal,
        thousands=own.thousands if own is not None and own.thousands is not None else form.thousands,
    )
