"""Risk audit alone: class sizes and prosecutor risk of a file of 1.2 million rows, beside the raw `GROUP BY ALL` count in the same run.

The ratio is taken pair by pair, raw query and audit in turn, in CPU seconds of this process. Further rows state what the other readings cost.
"""

from __future__ import annotations

import statistics
import sys
import time
from fractions import Fraction
from typing import TYPE_CHECKING

import duckdb
from measure import OUT, machine, print_table, standin

from policies import COLUMNS
from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.wildcard import match_sizes
from privrelease.disclosure.risk.prosecutor import prosecutor_verdict
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.open import open_engine
from privrelease.engine.protocol.base import EngineSettings
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAIRS = 5


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that ``work`` took."""
    before = time.process_time()
    work()
    return time.process_time() - before


def raw(path: Path) -> int:
    """Count the classes with one raw query over the nine columns."""
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    connection = duckdb.connect()
    found = connection.sql(f"SELECT count(*) FROM (SELECT count(*) FROM read_parquet('{path}') GROUP BY {names})").fetchall()  # noqa: S608 -- our own file and columns
    connection.close()
    return int(found[0][0])


def audit(path: Path, *, wildcard: bool = False) -> int:
    """Open the file as an audit does, measure it, judge it; return the number of classes."""
    columns = [Column(name, ColumnType.CATEGORY, Role.QUASI) for name in COLUMNS]
    with open_engine(EngineSettings(readable=(path.parent,))) as engine:
        released = engine.open_release(Sink(SinkKind.PARQUET, path, path.name), columns)
        if wildcard:
            matches = match_sizes(engine.class_table(released, COLUMNS), list(COLUMNS))
            prosecutor_verdict(matches, Thresholds(highest=Fraction(1, 5)))
            return matches.n_records
        histogram = engine.size_histogram(released, COLUMNS)
        sizes = ClassSizes.from_arrays(histogram.sizes, histogram.classes, residual=histogram.residual)
        prosecutor_verdict(sizes, Thresholds(highest=Fraction(1, 5), average=Fraction(1, 10)))
        return sizes.n_classes


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    path = standin()
    classes, ours = raw(path), audit(path)
    audit(path, wildcard=True)
    if classes != ours:
        sys.exit(f"the audit counts {ours} classes, the raw query {classes}")
    pairs = [(cpu(lambda: raw(path)), cpu(lambda: audit(path)), cpu(lambda: audit(path, wildcard=True))) for _ in range(PAIRS)]
    rows = [
        ("raw GROUP BY ALL count", f"{statistics.median(one[0] for one in pairs):.2f}", "1.00", ""),
        *(
            (
                name,
                f"{statistics.median(one[i] for one in pairs):.2f}",
                f"{statistics.median(one[i] / one[0] for one in pairs):.2f}",
                limit,
            )
            for i, name, limit in (
                (1, "risk audit, missing as category", "1.5"),
                (2, "risk audit, missing as wildcard", "states its figure"),
            )
        ),
    ]
    print_table(f"Risk audit, 1,193,504 rows, 9 QIs, {classes:,} classes", ("work", "CPU s", "ratio to raw", "limit"), rows)


if __name__ == "__main__":
    main()
