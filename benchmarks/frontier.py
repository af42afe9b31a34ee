"""A frontier of six points against six separate forecasts: CPU seconds and peak memory of whole processes on the stand-in."""

from __future__ import annotations

import sys
import tempfile
from math import ceil
from pathlib import Path

from measure import OUT, machine, print_table, standin, usage_of

from policies import write_policy

SIZES = (2, 3, 5, 10, 20, 50)


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    program = [sys.executable, "-m", "privrelease.cli.main"]
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        policy = write_policy(folder, "standin", "standin.parquet")
        text = policy.read_text(encoding="utf-8").replace("limit: 0.5", "limit: 1")
        policy.write_text(text, encoding="utf-8")
        given = ["--data-root", str(standin().parent), "--quiet"]
        sizes = ",".join(map(str, SIZES))
        once = usage_of([*program, "frontier", str(policy), "--k", sizes, *given])
        cpu = peak = 0.0
        for size in SIZES:
            policy.write_text(
                text.replace("highest_risk: 0.2", f"highest_risk: {ceil(10_000 / size) / 10_000}"), encoding="utf-8"
            )
            used = usage_of([*program, "plan", str(policy), "--data", *given])
            cpu, peak = cpu + used.cpu, max(peak, used.peak_mib)
    rows = [
        ("one `frontier` of six points", f"{once.cpu:.2f}", f"{once.peak_mib:,.0f}"),
        ("six `plan --data`", f"{cpu:.2f}", f"{peak:,.0f}"),
    ]
    print_table(f"Frontier at k = {sizes}, stand-in, 1,193,504 rows, 9 QIs", ("command", "CPU s", "peak MiB"), rows)


if __name__ == "__main__":
    main()
