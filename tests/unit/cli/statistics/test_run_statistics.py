"""A release of statistics from the command line: charged once, published, served again free, refused where nothing is left."""

from __future__ import annotations

import csv
import json
import os
import signal
from itertools import pairwise
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.dp.budget import Budget
from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import ledger as ledger_commands
from privrelease.units import Delta, Epsilon

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
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
      - {id: n, count: {where: "area = 'north'"}, epsilon: 0.25}
      - {id: pay, mean: pay, by: [area], epsilon: 0.5}
      - {id: bands, histogram: pay, bins: {width: 50}, mechanism: gaussian, epsilon: 0.25}
    output: [{path: out/s.csv}, {path: out/s.parquet}]
"""
DATA = "id,area,pay\n" + "".join(f"{n},{'north' if n % 3 else 'south'},{n % 200}\n" for n in range(300))


@pytest.fixture
def ledger(monkeypatch):
    kept = MemoryLedger()
    monkeypatch.setattr(ledger_commands, "opened", lambda *_: kept)
    return kept


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    return tmp_path


def change(folder, old, new):
    text = (folder / "p.yaml").read_text(encoding="utf-8")
    assert old in text
    (folder / "p.yaml").write_text(text.replace(old, new), encoding="utf-8")


def rows(folder):
    with (folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_release_is_published_with_its_claim_and_charged_once(folder, ledger):
    assert main(["run", "p.yaml"]) == 0
    (claim,) = ledger.claims
    assert claim.cost == Budget(Epsilon(1), Delta("1e-6"))
    assert len(claim.draws) == 4
    manifest = json.loads((folder / "out" / "s.manifest.json").read_text(encoding="utf-8"))
    assert manifest["privacy"]["private"] is True
    assert manifest["privacy"]["epsilon"] == "1"
    assert manifest["privacy"]["anchor"]["sequence"] == 1
    assert [draw for query in manifest["privacy"]["queries"] for draw in query["draws"]] == [d.record() for d in claim.draws]
    assert [row["query"] for row in rows(folder)] == ["n", "pay", "pay", *["bands"] * 4]
    assert not any("not private" in row["mechanism"] for row in rows(folder))
    assert (folder / "out" / "s.report.html").is_file()


def test_the_same_query_on_the_same_snapshot_and_policy_is_served_again_free(folder, ledger):
    assert main(["run", "p.yaml"]) == 0
    before = [(folder / "out" / name).resolve().read_bytes() for name in ("s.csv", "s.parquet")]
    assert main(["run", "p.yaml"]) == 0
    assert [(folder / "out" / name).resolve().read_bytes() for name in ("s.csv", "s.parquet")] == before
    assert len(ledger.claims) == 1
    manifest = json.loads((folder / "out" / "s.manifest.json").read_text(encoding="utf-8"))
    assert all(query["served_again"] for query in manifest["privacy"]["queries"])


def test_a_fresh_query_is_drawn_and_paid_anew_and_it_alone(folder, ledger):
    change(folder, "epsilon: 0.25}\n      - {id: pay", "epsilon: 0.25, fresh: true}\n      - {id: pay")
    assert main(["run", "p.yaml"]) == 0
    before = rows(folder)
    assert main(["run", "p.yaml"]) == 0
    assert [claim.cost.epsilon for claim in ledger.claims] == [Epsilon(1), Epsilon("0.25")]
    assert rows(folder)[1:] == before[1:]


def test_another_policy_or_snapshot_pays_anew(folder, ledger):
    assert main(["run", "p.yaml"]) == 0
    change(folder, "snapshot: first", "snapshot: second")
    assert main(["run", "p.yaml"]) == 0
    assert len(ledger.claims) == 2


def test_without_a_snapshot_nothing_is_served_again(folder, ledger):
    change(folder, "    snapshot: first\n", "")
    assert main(["run", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    assert len(ledger.claims) == 2


def test_other_content_under_one_label_is_an_error_and_the_old_release_stays(folder, ledger, capsys):
    assert main(["run", "p.yaml"]) == 0
    before = (folder / "out" / "s.csv").resolve().read_bytes()
    (folder / "data.csv").write_text(DATA + "300,north,7\n", encoding="utf-8")
    assert main(["run", "p.yaml"]) == 4
    assert "give changed data a new `snapshot` label" in capsys.readouterr().err
    assert (folder / "out" / "s.csv").resolve().read_bytes() == before
    assert len(ledger.claims) == 1


def test_a_budget_that_does_not_cover_the_draws_refuses_before_any_is_drawn(folder, monkeypatch, capsys):
    kept = MemoryLedger(Budget(Epsilon("0.999"), Delta("1e-5")))
    monkeypatch.setattr(ledger_commands, "opened", lambda *_: kept)
    assert main(["run", "p.yaml"]) == 4
    assert kept.claims == ()
    assert not (folder / "out").exists() or not list((folder / "out").iterdir())
    said = capsys.readouterr()
    assert "L120" in said.err
    first, why, became = said.out.splitlines()
    assert (first, became) == ("release s: STOPPED (budget refused)", "  failed")
    assert why.startswith("  L120 ")
    assert not list(folder.glob(".privrelease/runs/*/outgoing/s.csv"))


def test_without_a_ledger_nothing_is_released(folder, capsys):
    assert main(["run", "p.yaml"]) == 2
    assert "ledger" in capsys.readouterr().err
    assert not (folder / "out").exists() or not list((folder / "out").iterdir())


def test_a_source_that_cannot_be_read_costs_nothing(folder, ledger, capsys):
    (folder / "data.csv").write_text("id,area,pay\n1,north,many\n", encoding="utf-8")
    assert main(["run", "p.yaml"]) == 3
    assert ledger.claims == ()
    assert "many" not in capsys.readouterr().err


def test_noise_from_the_system_differs_from_run_to_run(folder, ledger):
    change(folder, "    snapshot: first\n", "")
    seen = set()
    for _ in range(3):
        assert main(["run", "p.yaml"]) == 0
        seen.add((folder / "out" / "s.csv").resolve().read_bytes())
    assert len(seen) == 3


def test_the_audit_finds_a_file_that_is_not_the_plans(folder, ledger, capsys):
    assert main(["run", "p.yaml"]) == 0
    path = (folder / "out" / "s.csv").resolve()
    good = path.read_text(encoding="utf-8")
    lines = good.splitlines(keepends=True)
    faults = {
        "AUDIT-DP-GROUPS": good.replace(lines[2], ""),
        "AUDIT-DP-SCALE": good.replace(",4,0.25,0\n", ",3,0.25,0\n"),
        "AUDIT-DP-ORDER": good + "more,{},1,0,2,discrete_laplace,1,0.1,0\n",
        "AUDIT-DP-FILES": good.replace("query,", "name,"),
        "AUDIT-DP-FIGURES": good.replace(lines[1].split(",")[2], "nan", 1),
    }
    for check, text in faults.items():
        assert text != good
        other = folder / "other.csv"
        other.write_text(text, encoding="utf-8")
        assert main(["audit", "p.yaml", "--release", "s", "--file", "other.csv"]) == 1
        assert check in capsys.readouterr().err


@pytest.mark.parametrize("theirs", [False, True])
def test_the_audit_looks_up_the_run_that_made_a_file_and_the_ledger(folder, ledger, capsys, theirs):
    assert main(["run", "p.yaml"]) == 0
    good = (folder / "out" / "s.csv").resolve().read_bytes()
    (folder / "other.csv").write_bytes(good.replace(b"\n", b"\r\n") if theirs else good)
    capsys.readouterr()
    # without the claim of a run nothing shows that noise was drawn: a person decides
    assert main(["audit", "p.yaml", "--release", "s", "--file", "other.csv", "--format", "json"]) == (5 if theirs else 0)
    said = capsys.readouterr()
    checks = json.loads(said.out)["checks"]
    unlooked = ["AUDIT-DP-DIGEST", "AUDIT-DP-BUDGET", "AUDIT-DP-NOISE", "AUDIT-DP-LEDGER"] if theirs else []
    assert [one["id"] for one in checks if one["outcome"] == "not_evaluated"] == unlooked
    assert {one["outcome"] for one in checks} == ({"pass", "not_evaluated"} if theirs else {"pass"})
    assert ("made by run" in said.err) is not theirs


def test_post_processing_and_small_counts(folder, ledger):
    (folder / "data.csv").write_text("id,area,pay\n", encoding="utf-8")
    change(folder, "    budget:", "    post: [non_negative, integer]\n    min_count: 1000\n    budget:")
    assert main(["run", "p.yaml"]) == 0
    assert all(row["value"] == row["low"] == row["high"] == "" for row in rows(folder))
    change(folder, "    min_count: 1000\n", "")
    assert main(["run", "p.yaml"]) == 0
    assert all(float(row["value"]) >= 0 and float(row["value"]).is_integer() for row in rows(folder))
    assert all(float(row["low"]) >= 0 for row in rows(folder))


LEDGER = 'ledger: {cap: {epsilon: 1.5, delta: 1e-5}, url: "sqlite:///ledger.db"}\n'


def test_plan_says_what_is_left_before_and_after_and_what_is_served_again(folder, capsys):
    change(folder, "title: Made-up\n", f"title: Made-up\n{LEDGER}")
    assert main(["plan", "p.yaml"]) == 0
    assert "not known (L102" in capsys.readouterr().out
    assert main(["ledger", "init", "p.yaml"]) == 0
    capsys.readouterr()
    assert main(["plan", "p.yaml"]) == 0
    out = capsys.readouterr().out
    assert "epsilon 1.5 and delta 0.00001 left; a run now spends epsilon 1 and delta 0.000001" in out
    assert "left after it: epsilon 0.5 and delta 0.000009" in out
    assert main(["run", "p.yaml"]) == 0
    capsys.readouterr()
    assert main(["plan", "p.yaml", "--format", "json"]) == 0
    (budget,) = json.loads(capsys.readouterr().out)["budgets"]
    assert (budget["left"], budget["spends"], budget["stored"], budget["fits"]) == (
        "epsilon 0.5 and delta 0.000009",
        "epsilon 0",
        3,
        True,
    )
    change(folder, "snapshot: first", "snapshot: second")
    assert main(["plan", "p.yaml"]) == 0
    assert "a run would be refused" in capsys.readouterr().out


def test_a_run_killed_while_it_draws_has_spent_its_budget(folder, capsys, fork):
    change(folder, "title: Made-up\n", f"title: Made-up\n{LEDGER}")
    assert main(["ledger", "init", "p.yaml"]) == 0
    killed = (
        "import os, signal, privrelease.dp.draws as draws\ndraws._perform = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = fork(["run", "p.yaml"], folder, dict(os.environ), killed)
    assert done.returncode == -signal.SIGKILL
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    assert "there are epsilon 0.5" in capsys.readouterr().err
    assert not (folder / "out").exists() or not list((folder / "out").iterdir())


def test_counts_agree_across_margins_where_the_policy_asks_for_it(folder, ledger):
    queries = """    post: [consistent]
    queries:
      - {id: total, count: true}
      - {id: areas, count: true, by: [area]}
      - {id: bands, histogram: pay, bins: {width: 50}}
      - {id: both, histogram: pay, bins: {width: 50}, by: [area], mechanism: gaussian}
      - {id: filtered, count: {where: pay > 100}}
"""
    text = (folder / "p.yaml").read_text(encoding="utf-8")
    (folder / "p.yaml").write_text(text[: text.index("    queries:")] + queries + "    output: out/s.csv\n", encoding="utf-8")
    (folder / "data.csv").write_text(DATA + "301,,5\n302,elsewhere,5\n303,north,\n", encoding="utf-8")
    assert main(["run", "p.yaml"]) == 0
    values: dict[str, list[float]] = {}
    for row in rows(folder):
        values.setdefault(row["query"], []).append(float(row["value"]))
        assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
    assert sum(values["areas"]) == pytest.approx(values["total"][0], abs=1e-4)
    assert sum(values["bands"]) == pytest.approx(values["total"][0], abs=1e-4)
    assert sum(values["both"][:4]) == pytest.approx(values["areas"][0], abs=1e-4)
    assert values["both"][1] + values["both"][5] == pytest.approx(values["bands"][1], abs=1e-4)
    assert values["filtered"][0].is_integer()
    # rows with a key or value that is not declared are in none of them: 300 of 303 rows count
    assert abs(values["total"][0] - 300) < 120
    manifest = json.loads((folder / "out" / "s.manifest.json").read_text(encoding="utf-8"))
    assert [query["post"] for query in manifest["privacy"]["queries"]] == [["consistent"]] * 4 + [[]]


def test_a_sweep_shows_both_mechanisms_for_each_budget_and_reads_no_row(folder, capsys):
    (folder / "data.csv").unlink()
    assert main(["plan", "p.yaml", "--sweep", "epsilon=0.1,0.5,1,2", "--format", "json"]) == 0
    swept = json.loads(capsys.readouterr().out)["sweep"]
    count = {row["mechanism"]: row["deviations"] for row in swept if row["query"] == "n"}
    assert count["laplace"] == pytest.approx([14.136, 2.799, 1.357, 0.602], abs=5e-4)
    assert all(more > less for more, less in pairwise(count["gaussian"]))
    assert len(swept) == 2 * 4  # a mean has two draws
    assert main(["plan", "p.yaml", "--sweep", "epsilon=1,2"]) == 0
    assert "epsilon 2" in capsys.readouterr().out
    for wrong in ("epsilon=", "delta=1", "epsilon=0", "epsilon=1e-300", "epsilon=1,x", "epsilon=nan"):
        assert main(["plan", "p.yaml", "--sweep", wrong]) == 2
        assert "C109" in capsys.readouterr().err


def test_the_report_shows_claim_figures_and_budget_to_both_kinds_of_reader(folder, ledger):
    assert main(["run", "p.yaml"]) == 0
    (audit,) = (folder / ".privrelease" / "runs").glob("*/internal/audit.json")
    section = json.loads(audit.read_text(encoding="utf-8"))["statistics"]
    released = [group["value"]["value"] for query in section["queries"] for group in query["groups"]]
    assert released == [float(row["value"]) for row in rows(folder)]
    assert (section["epsilon"], section["noise"]) == ("1", "secret")
    budget = section["budget"]
    assert (budget["before_epsilon"], budget["charged_epsilon"], budget["after_epsilon"]) == ("0", "1", "1")
    assert [one["release"] for one in budget["history"]] == [ledger.claims[0].release]
    report = (folder / "out" / "s.report.html").read_text(encoding="utf-8")
    assert report.count("95 % intervals</title>") == 5  # of three queries, two of them once more where the page begins


def test_a_simulation_reads_no_row_spends_nothing_and_says_what_no_mechanism_gives(folder, ledger, capsys):
    (folder / "data.csv").unlink()
    before = sorted(folder.iterdir())
    assert main(["simulate", "p.yaml", "--repetitions", "200", "--format", "json"]) == 0
    (release,) = json.loads(capsys.readouterr().out)["releases"]
    assert {(one["query"], one["mechanism"]) for one in release["figures"]} == {
        (query, mechanism) for query in ("n", "pay", "bands") for mechanism in ("laplace", "gaussian")
    }
    assert "the paper's 20 for a count at epsilon 0.1: no mechanism here gives it" in release["paper"][0]
    assert release["paper"][-1] == "no single mechanism gives all of the paper's figures"
    assert main(["simulate", "p.yaml", "--repetitions", "20", "--sweep", "epsilon=3"]) == 0
    assert "paper's 20" not in capsys.readouterr().out
    assert main(["simulate", "p.yaml", "--sweep", "delta=1"]) == 2
    example = Path(__file__).parents[4] / "policies" / "diabetes.yaml"
    assert main(["simulate", str(example), "--release", "microdata"]) == 2
    assert "C115" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before
    assert ledger.claims == ()
