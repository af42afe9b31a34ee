"""Replace with exactly one row each: what is public then, what is refused as a figure, and what takes rows away."""

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
      pay: {role: sensitive, type: integer, domain: [0, 100]}
releases:
  - id: s
    kind: statistics
    from: d
    neighbours: replace
    budget: {epsilon: 60}
    queries:
      - {id: filled, mean: pay, fill: 100, epsilon: 20}
      - {id: known, mean: pay, epsilon: 20}
      - {id: north, mean: pay, fill: 100, where: "area = 'north'", epsilon: 20}
    output: out/s.csv
"""
)
#: 100 persons of one row and 10 of three; half of the first have no pay, all others 40. One row belongs to nobody.
DATA = (
    "id,area,pay\n"
    + "".join(f"{n},{'north' if n % 4 < 2 else 'south'},{'' if n % 2 else 40}\n" for n in range(100))
    + "".join(f"r{n},south,40\n" * 3 for n in range(10))
    + ",north,100\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    kept = MemoryLedger()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spending, "_ledger", lambda *_: kept)
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    return tmp_path


def draws(folder):
    claim = json.loads((folder / "out" / "s.manifest.json").read_text(encoding="utf-8"))["privacy"]
    return {
        query["id"]: [
            (draw["target.figure"], draw["mechanism"], draw["epsilon"], draw["sensitivity.l1"]) for draw in query["draws"]
        ]
        for query in claim["queries"]
    }


def test_only_a_mean_of_all_rows_of_everybody_takes_no_noisy_count(folder):
    """110 persons count with one row each: (50 · 100 + 60 · 40)/110. The sum moves by 100 at most, all of epsilon is for it."""
    assert main(["run", "p.yaml", "-q"]) == 0
    found = draws(folder)
    assert found["filled"] == [("sum", "discrete_laplace", "20", 100), ("rows", "public", "0", 0)]
    assert [one[:3] for one in found["known"]] == [("sum", "discrete_laplace", "10"), ("rows", "discrete_laplace", "10")]
    assert [one[:3] for one in found["north"]] == [("sum", "discrete_laplace", "10"), ("rows", "discrete_laplace", "10")]
    with (folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["query"]: {name: float(row[name]) for name in ("value", "low", "high")} for row in csv.DictReader(file)}
    true = {"filled": (50 * 100 + 60 * 40) / 110, "known": 40, "north": (25 * 40 + 25 * 100) / 50}
    for name, value in true.items():
        assert rows[name]["value"] == pytest.approx(value, abs=8)
    assert rows["filled"]["high"] - rows["filled"]["low"] < rows["known"]["high"] - rows["known"]["low"]


def test_under_add_or_remove_or_with_more_rows_each_the_count_is_private(folder):
    for old, new in (("    neighbours: replace\n", ""), ("max_rows: 1", "max_rows: 2")):
        (folder / "p.yaml").write_text(POLICY.replace(old, new), encoding="utf-8")
        assert main(["run", "p.yaml", "-q"]) == 0
        assert "public" not in {one[1] for query in draws(folder).values() for one in query}


def test_where_reading_drops_rows_of_persons_the_count_is_private(folder):
    (folder / "p.yaml").write_text(
        POLICY.replace("domain: [north, south]", "domain: [north, south], outside: drop"), encoding="utf-8"
    )
    assert main(["run", "p.yaml", "-q"]) == 0
    assert "public" not in {one[1] for query in draws(folder).values() for one in query}


@pytest.mark.parametrize("figure", ["count: true", "count_persons: true"])
def test_the_public_number_itself_is_no_figure(folder, capsys, figure):
    (folder / "p.yaml").write_text(POLICY.replace("mean: pay, epsilon", f"{figure}, epsilon"), encoding="utf-8")
    assert main(["validate", "p.yaml"]) == 2
    assert "DP122 under `neighbours: replace` this number is public" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("fill: 100, epsilon", "fill: 101, epsilon", "DP115 101 is not a value of pay"),
        ("fill: 100, epsilon", "fill: 0.5, epsilon", "DP115 0.5 is not a value of pay"),
        (
            "mean: pay, epsilon: 20",
            "histogram: pay, bins: {width: 10}, fill: 0, epsilon: 20",
            "says `fill`, and is a histogram",
        ),
    ],
)
def test_what_stands_for_missing_values_is_a_value_of_the_column(folder, capsys, old, new, told):
    (folder / "p.yaml").write_text(POLICY.replace(old, new, 1), encoding="utf-8")
    assert main(["validate", "p.yaml"]) == 2
    assert told in capsys.readouterr().out


def test_the_plan_and_the_report_name_it(folder, capsys):
    assert main(["run", "p.yaml", "-q"]) == 0
    assert "missing values as 100" in (folder / "out" / "s.report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["plan", "p.yaml"]) == 0
    said = capsys.readouterr().out
    assert "mean of pay, missing values as 100" in said
    assert "number of rows: public, no noise" in said
