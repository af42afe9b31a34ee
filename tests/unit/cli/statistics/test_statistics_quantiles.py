"""A quantile with its interval, from the policy to the file: three draws, one budget, an interval that holds the figure."""

from __future__ import annotations

import csv

import pytest

from privrelease.cli.main import main
from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import spending
from privrelease.units import Epsilon
from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    population: everybody
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south, west]}
      pay: {role: sensitive, type: number, domain: [0, 200], grid: 0.5}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 60}
    queries:
      - {id: middle, median: pay, by: [area], interval: true, epsilon: 30}
      - {id: top, quantile: pay, at: 0.9, interval: true, epsilon: 30}
    output: out/s.csv
"""
)
#: In the north 0 to 99, in the south 100 to 199, nobody in the west. Medians 49 to 50, and 149 to 150; the 90 % quantile of all 179 to 180.
DATA = "id,area,pay\n" + "".join(f"{n},{'north' if n < 100 else 'south'},{n}\n" for n in range(200))


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    kept = MemoryLedger()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spending, "_ledger", lambda *_: kept)
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    return kept


def test_the_interval_holds_the_quantile_and_all_three_draws_are_charged(ledger, tmp_path):
    assert main(["run", "p.yaml", "-q"]) == 0
    (claim,) = ledger.claims
    assert claim.cost.epsilon == Epsilon(60)
    assert [draw.target.figure for draw in claim.draws] == ["quantile", "lower", "upper"] * 2
    with (tmp_path / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = {
            row["query"] + row["group"]: [float(row[name]) for name in ("low", "value", "high")] for row in csv.DictReader(file)
        }
    for name, true in (('middle{"area": "north"}', 50), ('middle{"area": "south"}', 150), ("top{}", 180)):
        low, value, high = rows[name]
        assert low <= value <= high
        assert low <= true <= high  # at this budget an end errs with less than 1e-9: the margin is 3 rows at most
        assert high - low < 40
    low, _, high = rows['middle{"area": "west"}']
    assert (low, high) == (0, 200)  # of nobody, any value is as good: the interval is the domain


def test_the_report_and_the_plan_show_the_ends_and_their_price(ledger, tmp_path, capsys):
    assert main(["run", "p.yaml", "-q"]) == 0
    report = (tmp_path / "out" / "s.report.html").read_text(encoding="utf-8")
    assert report.count("lower end of the interval") == report.count("upper end of the interval") == 2
    capsys.readouterr()
    assert main(["plan", "p.yaml"]) == 0
    said = capsys.readouterr().out
    assert said.count("lower end of the interval") == 2
    assert "95 % within ± " in said
    assert "rows of the rank that is asked for" in said


def test_a_query_without_its_interval_spends_all_on_the_figure(ledger, tmp_path):
    (tmp_path / "p.yaml").write_text(POLICY.replace(", interval: true", ""), encoding="utf-8")
    assert main(["run", "p.yaml", "-q"]) == 0
    (claim,) = ledger.claims
    assert [draw.target.figure for draw in claim.draws] == ["quantile", "quantile"]
    assert {draw.epsilon for draw in claim.draws} == {Epsilon(30)}
