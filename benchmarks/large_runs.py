"""Whole `privrelease run` of large tables under a memory limit of 1 GiB: CPU seconds, peak memory and the most that was spilled.

Rows are drawn as those of the stand-in are (nine text columns of Adult, each cell replaced with probability 0.1), in blocks with a seed each, and
written as Parquet in row groups, so that a table of any length is made in the memory of one block. ``--quick``: ten million rows at most.
Arguments: numbers of rows. The files are removed once they were measured.

`PRIVRELEASE_BEFORE=…/bin/privrelease` names the command of another version, installed in an environment of its own: tables of ten million rows
at most then run with both by turns, and the ratio of CPU seconds is printed (an earlier version takes too much memory for more).
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from measure import OUT, SHARED, Usage, by_turns, machine, print_table, usage_of

from policies import write_policy

BLOCK = 1_000_000
ROWS = (1_193_504, 10_000_000, 50_000_000, 100_000_000)
LIMITS = {10_000_000: "26 s, 900 MiB", 100_000_000: "300 s, 4,096 MiB"}
#: The most rows that an earlier version runs with, and how often.
BEFORE_AT_MOST, TURNS = 10_000_000, 3
CLASSES = 1_500_000
SENSITIVE_POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: benchmark-classes
version: 1.0.0
title: Benchmark classes
datasets:
  rows:
    source: classes.parquet
    unit: rows
    columns:
      a: {role: quasi, type: category}
      b: {role: quasi, type: category}
      s: {role: sensitive, type: category}
threats:
  everyone: {dataset: rows, knows: [a, b], highest_risk: 0.5}
releases:
  - {id: microdata, kind: microdata, from: rows, protect: [everyone], transform: [{suppress: cells, limit: 0.5}], output: {path: out/classes.parquet}}
checks:
  - {id: CLOSE, release: microdata, expect: t_closeness, threat: everyone, column: s, distance: equal, max: 0.99}
"""


def write_rows(target: Path, rows: int) -> int:
    """Write ``rows`` rows; return the bytes of their texts."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from pyarrow import csv

    adult = csv.read_csv(SHARED / "data" / "adult.csv", parse_options=csv.ParseOptions(delimiter=";"))
    adult = adult.cast(pa.schema([(name, pa.string()) for name in adult.column_names])).combine_chunks()
    decoded = 0
    with pq.ParquetWriter(target, adult.schema, compression="zstd") as writer:
        for number, start in enumerate(range(0, rows, BLOCK)):
            random = np.random.Generator(np.random.PCG64([42, number]))
            size = min(BLOCK, rows - start)
            base = random.integers(0, adult.num_rows, size)
            columns = []
            for name in adult.column_names:
                replaced, others = random.random(size) < 0.1, random.integers(0, adult.num_rows, size)
                columns.append(adult.column(name).take(pa.array(np.where(replaced, others, base))))
                decoded += pc.sum(pc.binary_length(columns[-1])).as_py()
            writer.write_table(pa.table(columns, schema=adult.schema))
    return decoded


def write_classes(target: Path) -> None:
    """Write two rows of each of 1,500,000 classes in any order, each with one of twelve sensitive values."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.Generator(np.random.PCG64(1))
    of_row = random.permutation(2 * CLASSES) % CLASSES
    sides = {"a": of_row // 1000, "b": of_row % 1000, "s": random.integers(0, 12, 2 * CLASSES)}
    names = {side: pa.array([f"{side}{one:04}" for one in range(int(codes.max()) + 1)]) for side, codes in sides.items()}
    columns = {side: names[side].take(pa.array(codes)) for side, codes in sides.items()}
    pq.write_table(pa.table(columns), target, row_group_size=500_000)


class Spill(threading.Thread):
    """The most bytes that stood in a folder, looked at every fifth of a second."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.most, self._folder, self._over = 0, folder, threading.Event()

    def run(self) -> None:
        """Look until told to end."""
        while not self._over.wait(0.2):
            total = 0
            for at, _, names in os.walk(self._folder):
                for name in names:
                    try:
                        total += (Path(at) / name).stat().st_size
                    except FileNotFoundError:
                        continue
            self.most = max(self.most, total)

    def end(self) -> int:
        """End, and return the most."""
        self._over.set()
        self.join()
        return self.most


def measured(rows: int, folder: Path) -> tuple[Usage, float, int, int]:
    """Run a release of ``rows`` rows; return what it used, its seconds, the bytes spilled and those of the source."""
    source, spill = folder / "rows.parquet", folder / "spill"
    decoded = write_rows(source, rows)
    policy = write_policy(folder, "rows", "rows.parquet")
    spill.mkdir()
    looking, began = Spill(spill), time.monotonic()
    looking.start()
    program = [sys.executable, "-m", "privrelease.cli.main", "run", str(policy), "--data-root", str(folder)]
    used = usage_of([*program, "--temp", str(spill), "--memory-limit", "1GiB", "--quiet"])
    return used, time.monotonic() - began, looking.end(), decoded


def against(before: str, rows: int) -> tuple[str, ...]:
    """Run a release of ``rows`` rows with this version and an earlier one by turns; return both CPU seconds, peaks and the ratio."""
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        write_rows(folder / "rows.parquet", rows)
        commands = {}
        for one, program in (("now", [sys.executable, "-m", "privrelease.cli.main"]), ("before", [before])):
            (folder / one).mkdir()
            (folder / one / "rows.parquet").hardlink_to(folder / "rows.parquet")
            policy = write_policy(folder / one, "rows", "rows.parquet")
            commands[one] = [*program, "run", str(policy), "--data-root", str(folder / one), "--memory-limit", "1GiB", "--quiet"]
        found = by_turns(commands, turns=TURNS)
    now, earlier = found["now"], found["before"]
    ratios = sorted(one.cpu / other.cpu for one, other in zip(now, earlier, strict=True))
    cpu = [f"{statistics.median(one.cpu for one in runs):.1f}" for runs in (now, earlier)]
    peak = [f"{max(one.peak_mib for one in runs):,.0f}" for runs in (now, earlier)]
    return f"{rows:,}", *cpu, f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", *peak


def many_classes() -> tuple[str, ...]:
    """Run a release of 1,500,000 classes with a sensitive column."""
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        write_classes(folder / "classes.parquet")
        policy = folder / "classes.yaml"
        policy.write_text(SENSITIVE_POLICY, encoding="utf-8")
        program = [sys.executable, "-m", "privrelease.cli.main", "run", str(policy), "--data-root", str(folder)]
        used = usage_of([*program, "--memory-limit", "512MiB", "--quiet"])
    return f"{CLASSES:,}", f"{used.cpu:.1f}", f"{used.peak_mib:,.0f}", "912 MiB"


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    wanted = tuple(int(one) for one in sys.argv[1:] if one.isdigit()) or (ROWS[:2] if "--quick" in sys.argv else ROWS)
    if before := os.environ.get("PRIVRELEASE_BEFORE"):
        print_table(
            "Large runs by turns with an earlier version",
            ("rows", "CPU s", "CPU s before", "ratio", "peak MiB", "peak MiB before"),
            [against(before, rows) for rows in wanted if rows <= BEFORE_AT_MOST],
        )
        return
    table = []
    for rows in wanted:
        with tempfile.TemporaryDirectory(dir=OUT) as name:
            used, seconds, spilled, decoded = measured(rows, Path(name))
        cells = (f"{rows:,}", f"{used.cpu:.1f}", f"{seconds:.0f}", f"{used.peak_mib:,.0f}", f"{spilled / decoded:.2f}")
        table.append((*cells, LIMITS.get(rows, "")))
        print(" | ".join(table[-1]), flush=True)
    if len(wanted) > 1:
        print_table(
            "Many classes: two QIs, t-closeness, engine limit 512 MiB",
            ("classes", "CPU s", "peak MiB", "limit"),
            [many_classes()],
        )
    print_table(
        "Large runs: 9 QIs, k = 5, Parquet to Parquet, engine limit 1 GiB",
        ("rows", "CPU s", "s", "peak MiB", "spilled / texts of the source", "limit"),
        table,
    )


if __name__ == "__main__":
    main()
