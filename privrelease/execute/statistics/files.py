"""The long table of a release of statistics, as CSV and Parquet: the same bytes for the same figures.

A figure's keys stand in one text (``group``, JSON), or each in a column of its own, which is blank where a query has no such key.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Final

from privrelease.errors import InputError
from privrelease.relational.schema import ColumnType, SinkKind
from privrelease.release.files import os_errors, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.execute.statistics.figures import ReleasedFigure
    from privrelease.relational.schema import Sink

__all__ = ["NOT_PRIVATE", "write_statistics"]

_NUMBERS: Final = ("value", "low", "high", "scale", "epsilon", "delta")
#: Prefix of the mechanism where the noise came from a test's seed.
NOT_PRIVATE: Final = "not private: "


def write_statistics(
    figures: Sequence[ReleasedFigure], sinks: Sequence[Sink], columns: Mapping[str, ColumnType], *, private: bool
) -> None:
    """Write every sink, each a new file, completely or not at all. Raises InputError (R1xx).

    ``columns``: of the files, with their types; those that are no part of every table of figures are keys.
    """
    mark = "" if private else NOT_PRIVATE
    rows = [_row(figure, columns, mark) for figure in figures]
    for sink in sinks:
        if sink.kind is SinkKind.DUCKDB:
            raise InputError(code="R115", message=f"{sink.label}: statistics leave as CSV or Parquet", hint="name such a file")
        content = _csv(rows, columns, sink) if sink.kind is SinkKind.CSV else _parquet(rows, columns)
        with os_errors("writing statistics"):
            write_atomically(sink.path, content)


def _row(figure: ReleasedFigure, columns: Mapping[str, ColumnType], mark: str) -> list[str | float | None]:
    """The cells of a figure in the order of the columns."""
    keys: dict[str, str] = {} if "group" in columns else json.loads(figure.group)
    numbers = {name: getattr(figure, name) for name in _NUMBERS}
    texts = {"query": figure.query, "group": figure.group, "mechanism": mark + figure.mechanism}
    cells = keys | texts | {name: None if number is None else float(number) for name, number in numbers.items()}
    return [cells.get(name) for name in columns]


def _text(cell: str | float | None, sink: Sink) -> str:
    """A text as it is; of a number the shortest text that reads back as the same double; whole numbers without a point."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    text = str(int(cell)) if cell == int(cell) and abs(cell) < 1e15 else repr(cell)
    return text.replace(".", sink.decimal)


def _csv(rows: Sequence[Sequence[str | float | None]], columns: Mapping[str, ColumnType], sink: Sink) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", delimiter=sink.delimiter)
    writer.writerow(columns)
    writer.writerows([_text(cell, sink) for cell in row] for row in rows)
    return stream.getvalue().encode()


def _parquet(rows: Sequence[Sequence[str | float | None]], columns: Mapping[str, ColumnType]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            name: pa.array([row[at] for row in rows], pa.string() if kind is ColumnType.STRING else pa.float64())
            for at, (name, kind) in enumerate(columns.items())
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=False)
    return bytes(sink.getvalue())
