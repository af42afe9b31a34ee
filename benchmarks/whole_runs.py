"""Whole `privrelease run`: read, protect, audit, write, report. CPU seconds and peak memory of the process.

The stand-in from Parquet with nine quasi-identifiers, Adult from CSV, and ten million generated rows with six under a 1 GiB memory limit.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from measure import OUT, SHARED, machine, median_usage, print_table, standin, usage_of

from policies import COLUMNS, write_policy


def ten_million() -> Path:
    """Write ten million rows of six columns, each drawn from Adult's marginal on its own, fixed seed; once."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    target = OUT / "ten_million.parquet"
    if not target.is_file():
        adult = csv.read_csv(SHARED / "data" / "adult.csv", parse_options=csv.ParseOptions(delimiter=";"))
        adult = adult.select(list(COLUMNS[:6])).cast(pa.schema([(name, pa.string()) for name in COLUMNS[:6]]))
        random = np.random.Generator(np.random.PCG64(42))
        with pq.ParquetWriter(target, adult.schema, compression="zstd") as writer:
            for _ in range(10):
                picks = [pa.array(random.integers(0, adult.num_rows, 1_000_000)) for _ in COLUMNS[:6]]
                writer.write_table(pa.table([adult.column(i).take(pick) for i, pick in enumerate(picks)], schema=adult.schema))
    return target


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        program = [sys.executable, "-m", "privrelease.cli.main", "run"]
        rows = []
        adult = write_policy(folder, "adult", "adult.csv", csv=True)
        used = median_usage([*program, str(adult), "--data-root", str(SHARED / "data"), "--quiet"])
        rows.append(("Adult, 30,162 rows, 9 QIs, CSV", f"{used.cpu:.2f}", f"{used.peak_mib:,.0f}", "3 s"))
        big = write_policy(folder, "standin", "standin.parquet")
        used = median_usage([*program, str(big), "--data-root", str(standin().parent), "--quiet"])
        rows.append(("stand-in, 1,193,504 rows, 9 QIs, Parquet", f"{used.cpu:.2f}", f"{used.peak_mib:,.0f}", "8 s, 1,024 MiB"))
        if "--quick" not in sys.argv:
            huge = write_policy(folder, "ten_million", "ten_million.parquet", n=6)
            ten_million()
            used = usage_of([*program, str(huge), "--data-root", str(OUT), "--memory-limit", "1GiB", "--quiet"])
            rows.append(
                ("10,000,000 rows, 6 QIs, Parquet, DuckDB limit 1 GiB", f"{used.cpu:.2f}", f"{used.peak_mib:,.0f}", "finishes")
            )
        shutil.rmtree(folder / "out", ignore_errors=True)
    print_table("Whole runs", ("run", "CPU s", "peak MiB", "limit"), rows)


if __name__ == "__main__":
    main()
