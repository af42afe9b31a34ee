"""Policies of the benchmarks: k = 5 on the first quasi-identifiers of Adult's columns, no checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")


def _head(name: str, source: str, columns: str, more: str = "") -> str:
    return f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: benchmark-{name}
version: 1.0.0
title: Benchmark {name}
datasets:
  rows:
    source: {source}
{more}    unlisted_columns: drop
    columns:
{columns}"""


def write_policy(folder: Path, name: str, source: str, *, csv: bool = False, age: str = "category", n: int = 9) -> Path:
    """Write a policy that protects all of the first ``n`` columns against one prosecutor, highest risk 0.2."""
    known = ", ".join(COLUMNS[:n])
    columns = "".join(
        f"      {column}: {{role: quasi, type: {age if column == 'age' else 'category'}}}\n" for column in COLUMNS[:n]
    )
    text = f"""{_head(name, source, columns, '    format: {delimiter: ";"}' + chr(10) if csv else "")}threats:
  everyone: {{dataset: rows, knows: [{known}], attacker: prosecutor, highest_risk: 0.2}}
releases:
  - id: microdata
    kind: microdata
    from: rows
    protect: [everyone]
    transform:
      - {{suppress: cells, limit: 0.5}}
    output: {{path: out/{name}.parquet}}
"""
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def write_statistics(folder: Path, name: str, source: str, *, groups: tuple[str, ...]) -> Path:
    """Write a policy of a count and a mean by group, of persons with one row at most; each run spends little of the cap."""
    columns = f"""      id: {{role: direct, type: integer}}
      g: {{role: quasi, type: category, domain: [{", ".join(groups)}]}}
      x: {{role: sensitive, type: number, domain: [50, 400], grid: 0.1}}
"""
    text = (
        _head(name, source, columns, "    unit: {column: id, max_rows: 1}\n")
        + """releases:
  - id: figures
    kind: statistics
    from: rows
    budget: {epsilon: 0.01}
    queries:
      - {id: n, count: true, by: [g]}
      - {id: mean, mean: x, by: [g]}
    output: {path: out/figures.csv}
ledger: {cap: {epsilon: 1}, url: "sqlite:///ledger.db"}
"""
    )
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def write_table(folder: Path, name: str, source: str, columns: dict[str, str]) -> Path:
    """Write a policy of a table of counts with margins, at least ten in a cell."""
    listed = "".join(f"      {column}: {{role: quasi, type: category, domain: [{keys}]}}\n" for column, keys in columns.items())
    text = f"""{_head(name, source, listed)}releases:
  - id: cells
    kind: table
    from: rows
    by: [{", ".join(columns)}]
    measures: [{{count: true}}]
    margins: true
    protect: {{min_count: 10}}
    output: {{path: out/{name}.csv}}
"""
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path
