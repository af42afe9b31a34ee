"""Figures below a minimum count are left blank after the noise, and the output says so."""

from __future__ import annotations

import csv
import json

import pytest

from privrelease.cli.main import main
from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import spending
from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    population: everybody
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
      pay: {role: sensitive, type: integer, domain: [0, 200]}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 100}
    queries:
      - {id: n, count: true, by: [area], epsilon: 15}
      - {id: pay, mean: pay, by: [area], epsilon: 15}
      - {id: sum, sum: pay, by: [area], epsilon: 15}
      - {id: bands, histogram: pay, bins: {width: 100}, epsilon: 15}
      - {id: middle, median: pay, by: [area], epsilon: 15}
    output: out/s.csv
"""
)
#: 40 in the north, 4 in the south; at these budgets noise moves a count by less than 5 with probability beyond 1 - 1e-9.
DATA = "id,area,pay\n" + "".join(f"{n},{'north' if n < 40 else 'south'},{n}\n" for n in range(44))


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spending, "_ledger", lambda *_: MemoryLedger())
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")

    def run(text):
        (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
        assert main(["run", "p.yaml", "-q"]) == 0
        with (tmp_path / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        claim = json.loads((tmp_path / "out" / "s.manifest.json").read_text(encoding="utf-8"))["privacy"]
        report = (tmp_path / "out" / "s.report.html").read_text(encoding="utf-8")
        return rows, claim, report

    return run


def blank(rows):
    found = [(row["query"], row["group"]) for row in rows if row["value"] == ""]
    assert all(row["low"] == row["high"] == "" for row in rows if row["value"] == "")
    return found


SOUTH = '{"area": "south"}'


@pytest.mark.parametrize("where", ["own", "common"])
def test_figures_of_few_are_masked_by_the_release_or_for_all_of_them_and_the_output_names_it(run, where):
    own = POLICY.replace("    budget:", "    min_count: 20\n    budget:")
    rows, claim, report = run(own if where == "own" else POLICY + "tables: {min_count: 20}\n")
    assert blank(rows) == [("n", SOUTH), ("pay", SOUTH), ("bands", '{"bin": "[100, 200]"}')]
    assert claim["min_count"] == 20
    named = {query["id"]: query["post"] for query in claim["queries"]}
    assert named == {
        "n": ["masked below 20"],
        "pay": ["masked below 20"],
        "sum": [],
        "bands": ["masked below 20"],
        "middle": [],
    }
    assert "masked below 20" in report


def test_without_a_minimum_nothing_is_masked(run):
    rows, claim, _ = run(POLICY)
    assert blank(rows) == []
    assert claim["min_count"] is None
    assert all(query["post"] == [] for query in claim["queries"])


def test_a_count_is_judged_as_it_is_published(run):
    """Made consistent, the south is what north and total leave of it: near 4, whatever its own noise was."""
    two = POLICY.replace("    budget:", "    post: [consistent]\n    min_count: 20\n    budget:").replace(
        "queries:\n", "queries:\n      - {id: all, count: true, epsilon: 15}\n"
    )
    rows, claim, _ = run(two)
    counts = {row["group"]: row["value"] for row in rows if row["query"] == "n"}
    assert counts[SOUTH] == ""
    assert counts['{"area": "north"}'] != ""
    assert claim["queries"][1]["post"] == ["consistent", "masked below 20"]


def test_a_release_cannot_go_below_the_rule_for_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(
        POLICY.replace("    budget:", "    min_count: 9\n    budget:") + "tables: {min_count: 10}\n", encoding="utf-8"
    )
    assert main(["validate", "p.yaml"]) == 2
    assert "P445 min_count is below that of `tables`" in capsys.readouterr().out
