"""A composed release from the command line: planned, charged, claimed and audited by one rule, whichever it is."""

from __future__ import annotations

import csv
import json
import sqlite3
from fractions import Fraction

import pytest

from privrelease.cli.main import main
from privrelease.dp.accountants import pld
from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    snapshot: first
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
    budget: {epsilon: 1, delta: 1e-6}
    queries:
      - {id: n, count: {where: "area = 'north'"}, share: 2}
      - {id: s, count: {where: "area = 'south'"}}
      - {id: pay, sum: pay, by: [area], mechanism: gaussian}
      - {id: poor, count: {where: pay < 50}, mechanism: gaussian}
      - {id: rich, count: {where: pay >= 50}, mechanism: gaussian}
      - {id: all, count: true, mechanism: gaussian}
      - {id: total, sum: pay, mechanism: gaussian}
      - {id: persons, count_persons: true, mechanism: gaussian}
      - {id: bands, histogram: pay, bins: {width: 50}, mechanism: gaussian}
      - {id: areas, count: true, by: [area], mechanism: gaussian}
    output: out/s.csv
ledger: {cap: {epsilon: 2, delta: 1e-5}, url: "sqlite:///ledger.db"}
"""
)
DATA = "id,area,pay\n" + "".join(f"{n},{'north' if n % 3 else 'south'},{n % 200}\n" for n in range(300))
RULES = ("approximate", "zcdp", "pld")
#: Of the deltas that are added up, those of two parts count once.
DELTA = {"approximate": "0.000000875", "zcdp": "0.000001", "pld": "0.000001"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    return tmp_path


@pytest.fixture
def published(folder, made_once):
    """The folder with its ledger and a published release: a copy, where a test had it before."""
    commands = (["ledger", "init", "p.yaml"], ["run", "p.yaml"])
    assert made_once(folder, commands, lambda: [main(words) for words in commands]) == [0, 0]
    return folder


def change(folder, old, new):
    text = (folder / "p.yaml").read_text(encoding="utf-8")
    assert old in text
    (folder / "p.yaml").write_text(text.replace(old, new), encoding="utf-8")


def manifest(folder):
    return json.loads((folder / "out" / "s.manifest.json").read_text(encoding="utf-8"))["privacy"]


def document(capsys, *command):
    capsys.readouterr()
    assert main([*command, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def reserved(capsys):
    entries = document(capsys, "ledger", "history", "p.yaml")["entries"]
    return [entry["claim"] for entry in entries if entry["kind"] == "reserve"]


@pytest.mark.parametrize("rule", RULES)
def test_plan_run_claim_ledger_and_audit_tell_one_total(folder, capsys, rule):
    change(folder, "delta: 1e-6}", f"delta: 1e-6, accounting: {rule}}}")
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    claim = manifest(folder)
    assert (claim["accountant"], claim["epsilon"], claim["delta"]) == (rule, "1", DELTA[rule])
    assert [(one["parts"], one["at_most"]) for one in claim["apart"]] == [([["n"], ["s"]], 1), ([["poor"], ["rich"]], 1)]
    (entry,) = reserved(capsys)
    assert (entry["accountant"], entry["cost"]) == (rule, {"epsilon": "1", "delta": DELTA[rule]})
    assert entry["draws"] == [draw for query in claim["queries"] for draw in query["draws"]]
    assert entry["apart"][0]["parts"][0] == {"queries": ["n"], "where": ["=", "area", ["text", "north"]]}
    assert main(["ledger", "verify", "p.yaml"]) == 0
    assert main(["audit", "p.yaml", "--release", "s", "--file", "out/s.csv"]) == 0
    capsys.readouterr()
    assert main(["plan", "p.yaml"]) == 0
    planned = capsys.readouterr().out
    assert f"spends  epsilon 1, delta {float(DELTA[rule]):g}, once per snapshot" in planned
    assert "; the queries alone would add up to epsilon " in planned
    assert "in parallel, at most 1 part a person: n | s" in planned
    with (folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        prices = {row["query"]: float(row["epsilon"]) for row in csv.DictReader(file)}
    assert prices == {query["id"]: float(Fraction(query["epsilon"])) for query in claim["queries"]}
    assert sum(prices.values()) > 1


def test_a_tighter_rule_draws_less_noise_for_the_same_claim(folder, capsys):
    scales = []
    for rule in RULES:
        (folder / "p.yaml").write_text(POLICY.replace("delta: 1e-6}", f"delta: 1e-6, accounting: {rule}}}"), encoding="utf-8")
        (plan,) = document(capsys, "plan", "p.yaml")["releases"]
        scales.append(float(plan["queries"][5]["draws"][0]["scale"]))
    assert scales[0] > scales[1] > scales[2]


def test_the_report_names_the_rule_and_what_prices_alone_would_add_up_to(published):
    page = (published / "out" / "s.report.html").read_text(encoding="utf-8")
    assert "the rhos of all draws add up (zCDP)" in page
    assert "Prices of the queries, added up" in page
    assert "In parallel" in page


def test_a_composed_answer_is_served_again_free(published, capsys):
    before = (published / "out" / "s.csv").resolve().read_bytes()
    assert main(["run", "p.yaml"]) == 0
    assert (published / "out" / "s.csv").resolve().read_bytes() == before
    assert len(reserved(capsys)) == 1
    assert main(["audit", "p.yaml", "--release", "s", "--file", "out/s.csv"]) == 0


def test_a_query_that_is_drawn_anew_alone_costs_what_it_costs_alone(folder, capsys):
    change(folder, "{id: all, count: true,", "{id: all, count: true, fresh: true,")
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    first, second = reserved(capsys)
    assert [draw["query"] for draw in second["draws"]] == ["all"]
    assert "apart" not in second
    assert 0 < float(second["cost"]["epsilon"]) < float(first["cost"]["epsilon"])
    assert main(["ledger", "verify", "p.yaml"]) == 0


def test_parts_are_not_served_from_different_runs(folder, capsys):
    """Another run may have kept another row of a person: a part of which one answer is lost is drawn anew as a whole."""
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    (entry,) = reserved(capsys)
    lost = entry["queries"][1]  # s, in one family with n
    with sqlite3.connect(folder / "ledger.db") as database:
        assert database.execute("DELETE FROM privrelease_answers WHERE query = ?", (lost,)).rowcount == 1
    assert main(["run", "p.yaml"]) == 0
    _, second = reserved(capsys)
    assert [draw["query"] for draw in second["draws"]] == ["n", "s"]
    assert len(second["apart"]) == 1
    assert {query["id"] for query in manifest(folder)["queries"] if query["served_again"]} == {
        "pay",
        "poor",
        "rich",
        "all",
        "total",
        "persons",
        "bands",
        "areas",
    }


TAMPERED = [
    ("another rule", lambda claim: claim.update(accountant="approximate"), "by another rule than the plan"),
    ("no parts", lambda claim: claim.update(apart=[]), "by another rule than the plan"),
    ("one part for all", lambda claim: claim["apart"][0].update(at_most=2), "by another rule than the plan"),
    ("a lower total", lambda claim: claim.update(epsilon="0.9"), "the manifest claims epsilon 0.9"),
]


@pytest.mark.parametrize(("tamper", "says"), [case[1:] for case in TAMPERED], ids=[case[0] for case in TAMPERED])
def test_the_audit_composes_the_claim_anew(published, tamper, says):
    from privrelease.audit.statistics.audit import StatisticsTarget, audit_statistics
    from privrelease.plan.build import build_plan
    from privrelease.policy.loader import load_policy
    from privrelease.release.manifest import Manifest

    raw = json.loads((published / "out" / "s.manifest.json").read_text(encoding="utf-8"))
    tamper(raw["privacy"])
    policy = build_plan(load_policy(published / "p.yaml"))
    (plan,) = policy.releases
    target = StatisticsTarget(plan.sinks, Manifest.model_validate_json(json.dumps(raw)))
    result = audit_statistics(plan, policy, target, audited_at="2026-01-01T00:00:00Z", versions={})
    (check,) = [check for check in result.checks if check.id == "AUDIT-DP-BUDGET"]
    assert check.outcome.value == "fail"
    assert says in check.message


def test_pld_without_dp_accounting_ends_with_3_and_spends_nothing(folder, capsys, monkeypatch):
    assert main(["ledger", "init", "p.yaml"]) == 0
    change(folder, "delta: 1e-6}", "delta: 1e-6, accounting: pld}")
    monkeypatch.setattr(pld, "find_spec", lambda _: None)
    for command in ("validate", "plan", "run"):
        capsys.readouterr()
        assert main([command, "p.yaml"]) == 3
        said = "".join(capsys.readouterr())
        assert "D301 the PLD accountant needs dp-accounting" in said
        assert "pip install 'privrelease[dp]'" in said
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert reserved(capsys) == []
    assert not (folder / "out" / "s.csv").exists()
