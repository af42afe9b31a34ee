"""The long table of a release of statistics, as CSV and Parquet: the same bytes for the same figures."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from privrelease.errors import InputError
from privrelease.policy.kind_statistics import STATISTICS_COLUMNS
from privrelease.relational.schema import SinkKind
from privrelease.release.files import os_errors, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from privrelease.execute.statistics.figures import ReleasedFigure
    from privrelease.relational.schema import Sink

__all__ = ["COLUMNS", "NOT_PRIVATE", "write_statistics"]

#: Columns of the output and their types.
COLUMNS: Final = tuple((name, kind.value) for name, kind in STATISTICS_COLUMNS.items())
#: Prefix of the mechanism where the noise came from a test's seed.
NOT_PRIVATE: Final = "not private: "


def write_statistics(figures: Sequence[ReleasedFigure], sinks: Sequence[Sink], *, private: bool) -> None:
    """Write every sink, each a new file, completely or not at all. Raises InputError (R1xx)."""
    mark = "" if private else NOT_PRIVATE
    for sink in sinks:
        if sink.kind is SinkKind.DUCKDB:
            raise InputError(code="R115", message=f"{sink.label}: statistics leave as CSV or Parquet", hint="name such a file")
        content = _csv(figures, mark, sink) if sink.kind is SinkKind.CSV else _parquet(figures, mark)
        with os_errors("writing statistics"):
            write_atomically(sink.path, content)


def _number(value: Fraction | float | None) -> float | None:
    return None if value is None else float(value)


def _text(value: Fraction | float | None) -> str:
    """The shortest text that reads back as the same double; whole numbers without a point."""
    number = _number(value)
    if number is None:
        return ""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def _csv(figures: Sequence[ReleasedFigure], mark: str, sink: Sink) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", delimiter=sink.delimiter)
    writer.writerow([name for name, _ in COLUMNS])
    for figure in figures:
        given = (figure.value, figure.low, figure.high, figure.scale, figure.epsilon, figure.delta)
        numbers = [_text(number).replace(".", sink.decimal) for number in given]
        writer.writerow([figure.query, figure.group, *numbers[:3], mark + figure.mechanism, *numbers[3:]])
    return stream.getvalue().encode()


def _parquet(figures: Sequence[ReleasedFigure], mark: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = {"query": [f.query for f in figures], "group": [f.group for f in figures]}
    numbers = {
        name: [_number(getattr(f, name)) for f in figures] for name in ("value", "low", "high", "scale", "epsilon", "delta")
    }
    columns = {**texts, "mechanism": [mark + f.mechanism for f in figures], **numbers}
    table = pa.table(
        {name: pa.array(columns[name], pa.string() if kind == "string" else pa.float64()) for name, kind in COLUMNS}
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=False)
    return bytes(sink.getvalue())
