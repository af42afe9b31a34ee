"""Start-up: CPU seconds of whole commands on little data, next to a bare interpreter in the same run.

`PRIVRELEASE_BEFORE=…/bin/privrelease` names the command of another version, installed in an environment of its own: each command then
runs with both by turns, and the ratio is printed.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from measure import OUT, ROOT, SHARED, machine, print_table, usage_of

from policies import write_policy

LITTLE = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: little
version: 1.0.0
title: Thirty rows
datasets:
  people:
    source: people.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
      pay: {role: sensitive, type: integer}
threats:
  neighbour: {dataset: people, knows: [area, job], highest_risk: 0.2}
releases:
  - id: rows
    kind: microdata
    from: people
    protect: [neighbour]
    transform: [{suppress: cells}]
    output: {path: out/rows.csv}
"""
#: One expectation that Great Expectations evaluates: what its libraries cost is the difference from the run without.
EXPECTATION = """checks:
  - {id: FORM-001, release: rows, expect: expect_column_values_to_be_in_set, column: area, value_set: [north, south]}
"""
RUNS = 3


def commands(folder: Path) -> list[tuple[str, list[str], str]]:
    """Return what is measured: what it is, its arguments, and the limit in CPU seconds on a quiet machine."""
    rows = "".join(f"{n},{'north' if n % 2 else 'south'},{'clerk' if n % 7 else 'smith'},{100 + n}\n" for n in range(30))
    (folder / "people.csv").write_text(f"id,area,job,pay\n{rows}", encoding="utf-8")
    (folder / "little.yaml").write_text(LITTLE, encoding="utf-8")
    (folder / "expected.yaml").write_text(
        LITTLE.replace("id: little", "id: expected").replace("out/", "expected/") + EXPECTATION, encoding="utf-8"
    )
    audit = ROOT / "tests" / "golden" / "report" / "audit.json"
    found = [
        ("privrelease --help", ["--help"], "0.15"),
        ("privrelease validate, 30 rows", ["validate", "little.yaml"], ""),
        ("privrelease run, 30 rows", ["run", "little.yaml"], "0.9"),
        ("the same with one expectation", ["run", "expected.yaml"], ""),
        ("privrelease report audit.json", ["report", str(audit), "-o", "report.html", "--force"], "1"),
    ]
    if (SHARED / "data" / "adult.csv").is_file():
        shutil.copy(SHARED / "data" / "adult.csv", folder)
        write_policy(folder, "adult", "adult.csv", csv=True)
        found.append(("privrelease run, Adult, 9 QIs, CSV", ["run", "adult.yaml"], "1.3"))
    return found


def measured(programs: dict[str, Path], arguments: list[str]) -> list[list[float]]:
    """Return the CPU seconds of every round, by program, after one round that is not counted; programs run by turns, each in its folder: an
    earlier version does not read the records of a later one.
    """
    rounds = [
        [usage_of([program, *arguments], cwd=folder).cpu for program, folder in programs.items()] for _ in range(RUNS + 1)
    ]
    return [list(column) for column in zip(*rounds[1:], strict=True)]


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    before = os.environ.get("PRIVRELEASE_BEFORE")
    programs = [str(Path(sys.executable).with_name("privrelease")), *([before] if before else [])]
    names = ("now", "before")[: len(programs)]
    header = ("command", "CPU s", "limit", *(("before, CPU s", "ratio") if before else ()))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / one for one in names]
        for folder in folders:
            folder.mkdir()
            wanted = commands(folder)
        for what, arguments, limit in wanted:
            ours, *others = measured(dict(zip(programs, folders, strict=True)), arguments)
            row = [what, f"{statistics.median(ours):.3f}", limit]
            for other in others:
                ratio = statistics.median(mine / theirs for mine, theirs in zip(ours, other, strict=True))
                row += [f"{statistics.median(other):.3f}", f"{ratio:.2f}"]
            rows.append(tuple(row))
        (bare,) = measured({sys.executable: folders[0]}, ["-c", "pass"])
    rows.append(("python -c pass", f"{statistics.median(bare):.3f}", "", *(("", "") if before else ())))
    print_table("Start-up", header, rows)


if __name__ == "__main__":
    main()
