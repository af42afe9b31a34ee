"""Count and mean by 20 groups over 10 million rows: the engine's aggregate beside the same clamped and cast aggregate as one raw query.

The ratio is taken pair by pair over one staged table, in CPU seconds of this process; a second pair bounds each person to one row, beside a
raw query with the same window. Reading the source and whole runs are stated beside it.
"""

from __future__ import annotations

import statistics
import sys
import time
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import duckdb
from measure import OUT, machine, print_table

from privrelease.engine.open import open_engine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.relational.aggregates import Aggregate, Bounding, ColumnKey, Measure
from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 10_000_000
PAIRS = 7
GROUPS = tuple(f"g{i}" for i in range(20))
COLUMNS = (
    Column("id", ColumnType.INTEGER, Role.DIRECT),
    Column("g", ColumnType.CATEGORY, Role.QUASI),
    Column("x", ColumnType.NUMBER, Role.SENSITIVE, grid=Decimal("0.1")),
)
#: As one would write it by hand over the staged table: clamped to [50, 400], counted in tenths from the middle.
STEPS = "CAST(round(greatest(least(CAST(c{x} AS DOUBLE) / 0.1, 4000), 500)) AS BIGINT) - 2250"
RAW = "SELECT c{g}, count(*), sum({steps}) FROM {rows} WHERE c{x} IS NOT NULL GROUP BY c{g}"
WINDOW = "(SELECT * FROM (SELECT c0, c1, c2, row_number() OVER (PARTITION BY c0 ORDER BY hash(5, c0, c1, c2)) AS r FROM {table}) WHERE r <= 1)"


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that ``work`` took."""
    before = time.process_time()
    work()
    return time.process_time() - before


def made() -> Path:
    """Return the Parquet file of made-up rows, written once."""
    OUT.mkdir(exist_ok=True)
    path = OUT / "statistics.parquet"
    if not path.is_file():
        rows = f"SELECT i AS id, 'g' || (hash(i) % 20) AS g, (hash(i, 7) % 3500 + 500) / 10.0 AS x FROM range({ROWS}) t(i)"  # noqa: S608 -- our own rows
        duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    return path


def asked() -> Aggregate:
    """Return count and mean by group, as a mean takes them: a sum and a count."""
    measures = (Measure("sum", "x", 500, 4000, 2250, grid=Fraction(1, 10)), Measure("rows"))
    return Aggregate(measures, (ColumnKey("g", GROUPS),), complete=("x",))


def ratio(ours: Callable[[], object], raw: Callable[[], object]) -> tuple[float, float, float]:
    """Return the medians of ours, raw and of their ratio, pair by pair."""
    ours(), raw()
    pairs = [(cpu(ours), cpu(raw)) for _ in range(PAIRS)]
    medians = [statistics.median(column) for column in zip(*pairs, strict=True)]
    return medians[0], medians[1], statistics.median(one / other for one, other in pairs)


def main() -> None:
    """Print the table."""
    path = made()
    rows = []
    for name, bounded, columns in (
        ("one row per person", False, COLUMNS[1:]),
        ("max_rows: 1, bounded by a window", True, COLUMNS),
    ):
        source = TableSource("d", SourceKind.PARQUET, str(path), path.name, columns, unlisted_columns="drop")
        with open_engine(EngineSettings(readable=(OUT,), memory_limit="4GiB")) as engine:
            reading = cpu(lambda: rows.append(engine.stage(source)))  # noqa: B023 -- called at once
            staged = rows.pop()
            bounding = Bounding("id" if bounded else None, 1, 5)
            place = {column.name: i for i, column in enumerate(columns)}
            steps = STEPS.format(x=place["x"])
            table = WINDOW.format(table=staged.handle) if bounded else staged.handle
            raw = RAW.format(g=place["g"], x=place["x"], steps=steps, rows=table)
            connection = engine._connection._connection  # noqa: SLF001 -- the raw query runs beside ours, over the same table
            found = ratio(
                lambda: engine.aggregates(staged, bounding, (asked(),)),  # noqa: B023 -- called at once
                lambda: connection.execute(raw).fetchall(),  # noqa: B023 -- called at once
            )
        rows.append((name, f"{found[0]:.2f}", f"{found[1]:.2f}", f"{found[2]:.2f}", f"{reading:.2f}"))
    header = ("count and mean by 20 groups", "aggregate, CPU s", "raw query, CPU s", "ratio", "reading the source, CPU s")
    print_table(f"Statistics over {ROWS:,} rows", header, rows)
    print(f"\n{machine()}; {PAIRS} pairs, medians; python {sys.argv[0]}")


if __name__ == "__main__":
    main()
