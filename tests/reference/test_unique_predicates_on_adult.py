"""Singling out on Adult: every predicate on three columns that matches one released record is found, and as many of them as a count of our own finds
match one record of the data.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import combinations

import duckdb

from privrelease.cli.main import main

ROWS = 20_000
NAMES = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")
POLICY = f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: adult
version: 1.0.0
title: Adult
datasets:
  persons:
    source: persons.csv
    format: {{delimiter: ";"}}
    columns:
{"".join(f"      {name}: {{role: {'quasi' if name != NAMES[-1] else 'sensitive'}, type: category}}" + chr(10) for name in NAMES)}
threats:
  neighbour: {{dataset: persons, knows: [{", ".join(NAMES[:-1])}], highest_risk: 0.2}}
releases:
  - {{id: r, kind: microdata, from: persons, protect: [neighbour], transform: [{{suppress: cells}}], output: out/r.parquet}}
attacks: {{singling_out: {{combine: 3}}}}
"""


def test_all_predicates_on_three_columns_that_match_one_record_are_tried(shared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (shared / "data" / "adult.csv").open(newline="", encoding="utf-8") as stream:
        lines = stream.readlines()[: ROWS + 1]
    (tmp_path / "persons.csv").write_text("".join(lines), encoding="utf-8", newline="")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    assert main(["run", "policy.yaml"]) == 0
    head, *rows = csv.reader(lines, delimiter=";")
    source = [[row[head.index(name)] for name in NAMES] for row in rows]
    released = duckdb.read_parquet("out/r.parquet").project(", ".join(f'"{name}"' for name in NAMES)).fetchall()
    unique = successes = 0
    for columns in combinations(range(len(NAMES)), 3):
        shown, there = (Counter(tuple(row[i] for i in columns) for row in table) for table in (released, source))
        ones = [cells for cells, n in shown.items() if n == 1 and None not in cells]
        unique += len(ones)
        successes += sum(there[cells] == 1 for cells in ones)
    (audit,) = tmp_path.glob(".privrelease/runs/*/internal/audit.json")
    (tried,) = (
        one
        for one in json.loads(audit.read_text(encoding="utf-8"))["attacks"]["attacks"]
        if one["attack"] == "singling_out_multivariate"
    )
    assert (tried["main"]["attempts"]["value"], tried["main"]["successes"]["value"]) == (unique, successes) == (243, 39)
