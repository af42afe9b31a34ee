"""Policies of the benchmarks: k = 5 on the first quasi-identifiers of Adult's columns, no checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")


def write_policy(folder: Path, name: str, source: str, *, csv: bool = False, age: str = "category", n: int = 9) -> Path:
    """Write a policy that protects all of the first ``n`` columns against one prosecutor, highest risk 0.2."""
    known = ", ".join(COLUMNS[:n])
    columns = "\n".join(
        f"      {column}: {{role: quasi, type: {age if column == 'age' else 'category'}}}" for column in COLUMNS[:n]
    )
    text = f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: benchmark-{name}
version: 1.0.0
title: Benchmark {name}
datasets:
  rows:
    source: {source}
{'    format: {delimiter: ";"}' if csv else ""}
    unlisted_columns: drop
    columns:
{columns}
threats:
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
