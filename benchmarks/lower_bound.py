"""How far the solver's cells can be from the fewest: the lower bound of `plan --data` and the audit, and its CPU seconds.

The trivial bound is one cell for every record of a class below k. CPU is that of one thread, median of three; the share is of a whole run's CPU
(`run`, which audits) on the same columns.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from measure import OUT, SHARED, machine, median_usage, print_table, standin
from solver import K5, class_table, measured

from policies import write_policy
from privrelease.disclosure.cell_bound import fewest_cells

PROGRAM = str(Path(sys.executable).with_name("privrelease"))


def bounded(table: object, q: int) -> tuple[int, float]:
    """Return the bound and the median CPU seconds."""
    seconds, found = [], 0
    for _ in range(3):
        start = time.thread_time()
        found = fewest_cells(table, range(q), K5.k) or 0
        seconds.append(time.thread_time() - start)
    return found, statistics.median(seconds)


def run_seconds(source: Path, q: int, *, csv: bool) -> float:
    """Return the CPU seconds of a whole run, median of three."""
    with TemporaryDirectory() as folder:
        policy = write_policy(Path(folder), "bound", str(source), csv=csv, n=q)
        command = [PROGRAM, "run", str(policy), "--data-root", str(source.parent), "--quiet"]
        return median_usage(command, cwd=Path(folder)).cpu


def main() -> None:
    """Print one table; without the shared folder there is nothing to measure."""
    adult = SHARED / "data" / "adult.csv"
    if not adult.is_file():
        sys.exit("the benchmark of the lower bound needs the shared folder: set PRIVRELEASE_SHARED")
    OUT.mkdir(parents=True, exist_ok=True)
    names = adult.open(encoding="utf-8").readline().strip().split(";")
    texts = pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    large = standin()
    data = {
        "Adult": (pa_csv.read_csv(adult, parse_options=pa_csv.ParseOptions(delimiter=";"), convert_options=texts), adult),
        "stand-in": (pq.read_table(large), large),
    }
    rows = []
    for source, q in (("Adult", 5), ("Adult", 7), ("Adult", 9), ("stand-in", 5), ("stand-in", 7), ("stand-in", 9)):
        rows_of, path = data[source]
        table = class_table(rows_of, q)
        solution, _ = measured(table, K5)
        cells = int(solution.lost_cells.sum())
        bound, seconds = bounded(table, q)
        trivial = int(table.counts[table.counts < K5.k].sum())
        whole = run_seconds(path, q, csv=source == "Adult")
        rows.append(
            [
                source,
                str(q),
                f"{cells:,}",
                f"{bound:,}",
                f"{100 * (cells / bound - 1):.1f} %",
                f"{trivial:,}",
                f"{seconds:.3f}",
                f"{100 * seconds / whole:.1f} %",
            ]
        )
    print_table(
        f"Lower bound on suppressed cells, k = 5 ({machine()})",
        ["data", "QIs", "cells", "bound", "at most above", "one a record", "CPU s", "of a run"],
        rows,
    )


if __name__ == "__main__":
    main()
