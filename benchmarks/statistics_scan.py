"""Count and mean by 20 groups over 10 million rows: the engine's aggregate beside the same clamped and cast aggregate as one raw query.

Ratios are taken turn by turn in CPU seconds of this process. A second table bounds each person to one row, where nobody, one person or everybody
has more, next to the aggregate of the same file without `unit` and to a raw query with the same window. Reading the source is stated with it.
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

    from privrelease.engine.duckdb.engine import DuckDBEngine as Engine
    from privrelease.engine.protocol.base import Staged

ROWS = 10_000_000
TURNS = 3
#: The person of row i, in no order: each has one row; one person has 1,000; each has 5, 20 or 1,000.
SHUFFLED = f"(i * 7368787 + 12345) % {ROWS}"
PERSONS = {
    "nobody": SHUFFLED,
    "one": f"CASE WHEN i < 1000 THEN 0 ELSE {SHUFFLED} END",
    "everybody, 5 rows each": f"{SHUFFLED} % {ROWS // 5}",
    "everybody, 20 rows each": f"{SHUFFLED} % {ROWS // 20}",
    "everybody, 1,000 rows each": f"{SHUFFLED} % {ROWS // 1000}",
}
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


def made(name: str) -> Path:
    """Return the Parquet file of synthetic rows of a case, written once."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"statistics-{list(PERSONS).index(name)}.parquet"
    if not path.is_file():
        rows = f"SELECT {PERSONS[name]} AS id, 'g' || (hash(i) % 20) AS g, (hash(i, 7) % 3500 + 500) / 10.0 AS x FROM range({ROWS}) t(i)"  # noqa: S608 -- our own rows
        duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    return path


def asked() -> Aggregate:
    """Return count and mean by group, as a mean takes them: a sum and a count."""
    measures = (Measure("sum", "x", 500, 4000, 2250, grid=Fraction(1, 10)), Measure("rows"))
    return Aggregate(measures, (ColumnKey("g", GROUPS),), complete=("x",))


def by_turns(*work: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Return the medians of each work, and of its ratio to the first, turn by turn."""
    for one in work:
        one()
    turns = [[cpu(one) for one in work] for _ in range(TURNS)]
    medians = [statistics.median(column) for column in zip(*turns, strict=True)]
    ratios = [statistics.median(turn[place] / turn[0] for turn in turns) for place in range(len(work))]
    return medians, ratios


def staged(engine: Engine, name: str, columns: tuple[Column, ...]) -> tuple[Staged, float]:
    """Return the staged file of a case, and the CPU seconds of reading it."""
    path = made(name)
    source = TableSource("d", SourceKind.PARQUET, str(path), path.name, columns, unlisted_columns="drop")
    before = time.process_time()
    return engine.stage(source), time.process_time() - before


def measured(name: str) -> tuple[str, ...]:
    """Return the row of a case: the aggregate without and with `unit`, and a raw query of the latter."""
    with open_engine(EngineSettings(readable=(OUT,), memory_limit="4GiB")) as engine:
        plain, reading_plain = staged(engine, name, COLUMNS[1:])
        persons, reading = staged(engine, name, COLUMNS)
        raw = RAW.format(g=1, x=2, steps=STEPS.format(x=2), rows=WINDOW.format(table=persons.handle))
        connection = engine._connection._connection  # noqa: SLF001 -- the raw query runs next to ours, over the same table
        (without, bounded, by_hand), (_, times, _) = by_turns(
            lambda: engine.aggregates(plain, Bounding(None, 1, 5), (asked(),)),
            lambda: engine.aggregates(persons, Bounding("id", 1, 5), (asked(),)),
            lambda: connection.execute(raw).fetchall(),
        )
    whole = (reading + bounded) / (reading_plain + without)
    figures = (without, bounded, times, by_hand, reading_plain, reading, whole)
    return (name, *(f"{figure:.2f}" for figure in figures))


def one_row_each() -> tuple[str, ...]:
    """Return the aggregate where every row is a person, next to the raw query."""
    with open_engine(EngineSettings(readable=(OUT,), memory_limit="4GiB")) as engine:
        plain, reading = staged(engine, "nobody", COLUMNS[1:])
        raw = RAW.format(g=0, x=1, steps=STEPS.format(x=1), rows=plain.handle)
        connection = engine._connection._connection  # noqa: SLF001 -- the raw query runs next to ours, over the same table
        (by_hand, ours), (_, times) = by_turns(
            lambda: connection.execute(raw).fetchall(),
            lambda: engine.aggregates(plain, Bounding(None, 1, 5), (asked(),)),
        )
    return (f"{ours:.2f}", f"{by_hand:.2f}", f"{times:.2f}", f"{reading:.2f}")


def main() -> None:
    """Print the tables."""
    header = ("aggregate, CPU s", "raw query, CPU s", "ratio", "reading the source, CPU s")
    print_table(f"Statistics over {ROWS:,} rows", header, [one_row_each()])
    header = (
        "persons above max_rows: 1",
        "without unit, CPU s",
        "with unit, CPU s",
        "ratio",
        "raw query, CPU s",
        "reading without, CPU s",
        "reading with, CPU s",
        "ratio with reading",
    )
    print_table(f"Statistics with unit over {ROWS:,} rows", header, [measured(name) for name in PERSONS])
    print(f"\n{machine()}; medians of {TURNS} turns; python {sys.argv[0]}")


if __name__ == "__main__":
    main()
