"""Synthetic rows as files: the types of the source, dates of a CSV file as the policy says that they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.relational.schema import ColumnType, SinkKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from privrelease.engine.protocol.base import Engine
    from privrelease.relational.schema import Column, Sink

__all__ = ["NOT_PRIVATE", "write_rows"]

#: Before the name of the first column where the noise came from a test's seed.
NOT_PRIVATE: Final = "not private: "


def write_rows(table: pa.Table, columns: Sequence[Column], sinks: Sequence[Sink], engine: Engine, *, private: bool) -> None:
    """Write every sink, each a new file, all completely or none. Raises InputError (D1xx) where one cannot be written."""
    names = list(table.column_names)
    if not private:
        names[0] = NOT_PRIVATE + names[0]
    engine.write_tables(
        [((_as_texts(table, columns) if sink.kind is SinkKind.CSV else table).rename_columns(names), sink) for sink in sinks]
    )


def _as_texts(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """The table with dates as they are written in the source, where the policy declares a format."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, column in enumerate(columns):
        form = column.format.date
        if form is None or column.type not in {ColumnType.DATE, ColumnType.DATETIME}:
            continue
        cells = table.column(place)
        if column.type is ColumnType.DATETIME:
            cells = cells.cast(pa.timestamp("s"))  # whole seconds, without a fraction in the text
        table = table.set_column(place, column.name, pc.strftime(cells, format=form))
    return table
