"""Every kind of statistics published again and again: prices that are no finite decimal, every rule that adds up, snapshots, withdrawals."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.examples.registry import write_example

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    snapshot: first
    population: everybody
    unit: {column: id, max_rows: 2}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
      name: {role: quasi, type: string}
      pay: {role: sensitive, type: integer, domain: [0, 200]}
ledger: {cap: {epsilon: 100, delta: 0.1}, url: "sqlite:///ledger.db"}
releases:
"""
KINDS = {
    "thirds": "{epsilon: 1}|{id: a, count: true}|{id: b, sum: pay}|{id: c, count_persons: true, by: [area]}",
    "sevenths": "{epsilon: 0.1}|{id: a, count: true, share: 3}|{id: b, mean: pay, share: 4}",
    "zcdp": "{epsilon: 1, delta: 1e-6, accounting: zcdp}|{id: a, mean: pay, mechanism: gaussian}|{id: b, stddev: pay, mechanism: gaussian}|{id: c, count: true}",
    "pld": "{epsilon: 1, delta: 1e-6, accounting: pld}|{id: a, count: true, mechanism: gaussian}|{id: b, count: true, by: [area]}|{id: c, count_persons: true}",
    "quantiles": "{epsilon: 1}|{id: a, median: pay, interval: true}|{id: b, quantile: pay, at: 0.9, by: [area]}",
    "keys": "{epsilon: 3, delta: 1e-3}|{id: a, count: true, by: [name], keys: private}|{id: b, sum: pay, by: [name], keys: private}|{id: c, count: true}",
    "bins": "{epsilon: 1, delta: 1e-6}|{id: a, histogram: pay, bins: {width: 50}, by: [area]}|{id: b, variance: pay, mechanism: gaussian}|{id: c, count: true}",
    "parts": "{epsilon: 1}|{id: a, count: {where: \"area = 'north'\"}}|{id: b, count: {where: \"area = 'south'\"}}|{id: c, count: true}",
}
DATA = "id,area,name,pay\n" + "".join(
    f"{n % 150},{'north' if n % 3 else 'south'},{'ann' if n % 5 else 'bob'},{n % 200}\n" for n in range(300)
)


def release(kind, **more):
    budget, *queries = KINDS[kind].split("|")
    lines = [f"  - id: {kind}", "    kind: statistics", "    from: d", f"    budget: {budget}", "    queries:"]
    lines += [f"      - {one}" for one in queries] + [f"    output: {{path: out/{kind}.csv}}"]
    lines += [f"    {key}: {value}" for key, value in more.items()]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    return tmp_path


def charges(capsys, policy="p.yaml"):
    capsys.readouterr()
    assert main(["ledger", "history", policy, "--format", "json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    return [one["claim"] for one in entries if one["kind"] == "reserve"]


def figures(folder):
    return {path.name: path.read_bytes() for path in (folder / "out").glob("*.csv")}


def test_every_kind_of_statistics_is_published_three_times_for_one_price(folder, capsys):
    (folder / "p.yaml").write_text(HEAD + "".join(map(release, KINDS)), encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    for _ in range(3):
        assert main(["run", "p.yaml"]) == 0
    first = charges(capsys)
    assert len(first) == len(KINDS)
    assert Fraction(1, 3) in {Fraction(draw["epsilon"]) for claim in first for draw in claim["draws"]}
    published = figures(folder)
    assert len(published) == len(KINDS)
    assert main(["withdraw", "p.yaml", "thirds", "--reason", "a test"]) == 0
    assert main(["run", "p.yaml", "--release", "thirds"]) == 0
    assert charges(capsys) == first
    assert figures(folder) == published
    text = (folder / "p.yaml").read_text(encoding="utf-8").replace("snapshot: first", "snapshot: second")
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    for _ in range(2):
        assert main(["run", "p.yaml"]) == 0
    again = charges(capsys)
    assert [claim["cost"] for claim in again] == [claim["cost"] for claim in [*first, *first]]
    assert main(["ledger", "verify", "p.yaml"]) == 0


def test_the_example_with_statistics_is_published_three_times_for_one_price(tmp_path, monkeypatch, capsys):
    source = Path(__file__).parents[4] / "policies" / "diabetes.yaml"
    text = source.read_text(encoding="utf-8")
    shutil.copy(source, tmp_path / "diabetes.yaml")
    assert "kind: statistics" in text
    (tmp_path / "data").mkdir()
    write_example(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    assert main(["ledger", "init", "diabetes.yaml"]) == 0
    for _ in range(3):
        assert main(["run", "diabetes.yaml", "--release", "statistics"]) in {0, 5}
    assert len(charges(capsys, "diabetes.yaml")) == 1


def test_a_failed_release_of_rows_keeps_no_paid_statistics_from_being_served(folder, capsys):
    rows = """  - {id: m, kind: microdata, from: d, protect: [t], transform: [{drop: [id, pay]}, {suppress: cells, limit: 0.0001}], output: {path: out/m.csv}}
threats:
  t: {dataset: d, knows: [area, name], highest_risk: 0.0001}
"""
    (folder / "p.yaml").write_text(HEAD + release("thirds") + rows, encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) != 0
    published = figures(folder)
    assert set(published) == {"thirds.csv"}
    (folder / "p.yaml").write_text(
        HEAD + release("thirds") + rows.replace("0.0001}]", "0.9}]").replace("title", "titles"), encoding="utf-8"
    )
    main(["run", "p.yaml"])
    assert len(charges(capsys)) == 1
    assert figures(folder)["thirds.csv"] == published["thirds.csv"]


def test_two_releases_that_ask_the_same_pay_once(folder, capsys):
    other = release("thirds").replace("id: thirds", "id: others").replace("out/thirds", "out/others").replace("id: a", "id: z")
    (folder / "p.yaml").write_text(HEAD + release("thirds") + other, encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    assert len(charges(capsys)) == 1


def test_a_question_that_is_asked_twice_in_one_release_has_two_answers_and_keeps_them(folder, capsys):
    twice = release("thirds").replace("{id: b, sum: pay}", "{id: b, count: true}")
    (folder / "p.yaml").write_text(HEAD + twice, encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    for _ in range(2):
        assert main(["run", "p.yaml"]) == 0
        assert len(charges(capsys)) == 1
