"""A protected table as CSV and Parquet: the same bytes for the same cells. A suppressed figure is blank and its row says so; a true zero is 0."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from privrelease.errors import InputError
from privrelease.relational.schema import SinkKind
from privrelease.release.files import os_errors, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from privrelease.relational.schema import Sink

__all__ = ["write_table"]

Row = tuple["str | Fraction | None", ...]


def write_table(columns: Sequence[tuple[str, str]], rows: Sequence[Row], sinks: Sequence[Sink]) -> None:
    """Write every sink, each a new file, completely or not at all. ``columns``: names and types. Raises InputError (R1xx)."""
    for sink in sinks:
        if sink.kind is SinkKind.DUCKDB:
            raise InputError(code="R115", message=f"{sink.label}: tables leave as CSV or Parquet", hint="name such a file")
        content = _csv(columns, rows, sink) if sink.kind is SinkKind.CSV else _parquet(columns, rows)
        with os_errors("writing a table"):
            write_atomically(sink.path, content)


def _text(value: str | Fraction | None, sign: str) -> str:
    """Whole numbers without a decimal sign, others as exact decimals."""
    if value is None or isinstance(value, str):
        return value or ""
    if value.denominator == 1:
        return str(value.numerator)
    from decimal import Context

    return f"{Context(prec=40).divide(value.numerator, value.denominator).normalize():f}".replace(".", sign)


def _csv(columns: Sequence[tuple[str, str]], rows: Sequence[Row], sink: Sink) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", delimiter=sink.delimiter)
    writer.writerow([name for name, _ in columns])
    writer.writerows([_text(value, sink.decimal) for value in row] for row in rows)
    return stream.getvalue().encode()


def _parquet(columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"string": pa.string(), "integer": pa.int64(), "number": pa.float64()}
    arrays = {}
    for place, (name, kind) in enumerate(columns):
        cells: list[object] = [row[place] for row in rows]
        if kind != "string":
            convert = int if kind == "integer" else float
            cells = [None if row[place] is None else convert(row[place] or 0) for row in rows]
        arrays[name] = pa.array(cells, kinds[kind])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays), sink, compression="zstd", store_schema=False)
    return bytes(sink.getvalue())
