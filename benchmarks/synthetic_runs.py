"""Whole `privrelease run` of synthetic releases: CPU seconds and peak memory of the process, with every draw, fit and check.

Adult's nine columns by PrivBayes and MST, and the stand-in (1,193,504 rows, nine columns) by MST and AIM. Noise is drawn as
in production; each run takes a ledger of its own, since the next run of one snapshot would be served from it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measure import OUT, SHARED, machine, print_table, standin, usage_of

from policies import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Of each run: its name, its source, its method, its keys, and the limit on the whole run.
RUNS = (
    ("Adult, PrivBayes", "adult.csv", "privbayes", {}, "5 s"),
    ("Adult, MST", "adult.csv", "mst", {}, "5 s"),
    ("stand-in, MST", "standin.parquet", "mst", {}, "40 s, 1,536 MiB"),
    ("stand-in, AIM", "standin.parquet", "aim", {"rounds": 40}, "40 s, 1,536 MiB"),
)


def domains() -> dict[str, list[str]]:
    """Return the values of each of Adult's columns, which are those of the stand-in too: in a policy they are public."""
    import pyarrow.compute as pc
    from pyarrow import csv

    adult = csv.read_csv(
        SHARED / "data" / "adult.csv",
        parse_options=csv.ParseOptions(delimiter=";"),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, "string")),
    )
    return {name: sorted(pc.unique(adult[name]).to_pylist()) for name in COLUMNS}


def policy_of(
    folder: Path, number: int, source: str, method: str, keys: Mapping[str, object], values: Mapping[str, list[str]]
) -> Path:
    """Write the policy of a run."""
    import json

    columns = "\n".join(
        f"      {name}: {{role: quasi, type: category, domain: {json.dumps(values[name])}}}" for name in COLUMNS
    )
    more = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in keys.items())
    form = '\n    format: {delimiter: ";"}' if source.endswith(".csv") else ""
    path = folder / f"run{number}.yaml"
    path.write_text(
        f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: benchmark-{number}
version: 1.0.0
title: Benchmark {number}
datasets:
  rows:
    source: {source}{form}
    unit: rows
    unlisted_columns: drop
    columns:
{columns}
releases:
  - id: rows
    kind: synthetic
    from: rows
    method: {method}
    columns: [{", ".join(COLUMNS)}]
    rows: noisy
{more}    budget: {{epsilon: 1, delta: 1e-6}}
    output: {{path: out/rows{number}.parquet}}
ledger: {{cap: {{epsilon: 1, delta: 1e-6}}, url: "sqlite:///ledger{number}.db"}}
""",
        encoding="utf-8",
    )
    return path


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    program = [sys.executable, "-m", "privrelease.cli.main"]
    rows, values = [], domains()
    for number, (title, source, method, keys, limit) in enumerate(RUNS):
        with tempfile.TemporaryDirectory(dir=OUT) as name:
            policy = policy_of(Path(name), number, source, method, keys, values)
            data = SHARED / "data" if source == "adult.csv" else standin().parent
            usage_of([*program, "ledger", "init", str(policy), "--quiet"], cwd=Path(name))
            used = usage_of([*program, "run", str(policy), "--data-root", str(data), "--quiet"], cwd=Path(name))
            rows.append((title, f"{used.cpu:.2f}", f"{used.peak_mib:,.0f}", limit))
    print_table("Synthetic runs", ("run", "CPU s", "peak MiB", "limit"), rows)


if __name__ == "__main__":
    main()
