"""``privrelease ledger``: made once, shown, checked, exported; and what a run does with it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3

import pytest

from privrelease.cli.main import main
from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    snapshot: first
    population: everybody
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 0.4}
    queries: [{id: n, count: true}]
    output: out/s.csv
ledger: {cap: {epsilon: 1, delta: 1e-5}, url: "sqlite:///ledger.db"}
"""
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "data.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(50)), encoding="utf-8")
    return tmp_path


def change(folder, old, new):
    text = (folder / "p.yaml").read_text(encoding="utf-8")
    assert old in text
    (folder / "p.yaml").write_text(text.replace(old, new), encoding="utf-8")


def snapshot(folder, before, after):
    change(folder, f"snapshot: {before}", f"snapshot: {after}")


def status(capsys):
    capsys.readouterr()
    assert main(["ledger", "status", "p.yaml", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_run_without_a_ledger_spends_nothing_and_makes_none(folder, capsys):
    assert main(["run", "p.yaml"]) == 4
    assert "L102 there is no ledger" in capsys.readouterr().err
    assert not (folder / "ledger.db").exists()
    assert not (folder / "out" / "s.csv").exists()
    for verb in ("status", "history", "verify", "export"):
        assert main(["ledger", verb, "p.yaml"]) == 4
    assert not (folder / "ledger.db").exists()


def test_a_ledger_is_made_with_the_policys_cap_once(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    said = status(capsys)
    assert said["sequence"] == 0
    (population,) = said["populations"]
    assert population["population"] == "everybody"
    assert population["datasets"] == ["d"]
    assert population["cap"] == population["left"] == {"epsilon": "1", "delta": "0.00001"}
    assert main(["ledger", "init", "p.yaml"]) == 2
    assert "L125" in capsys.readouterr().err


def test_runs_spend_it_until_what_is_left_does_not_fit(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    snapshot(folder, "first", "second")
    assert main(["run", "p.yaml"]) == 0
    snapshot(folder, "second", "third")
    before = (folder / "out" / "s.csv").read_bytes()
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    said = capsys.readouterr().err
    assert "L120 the privacy budget of population everybody does not cover release made/s: it asks for epsilon 0.4" in said
    assert "there are epsilon 0.2 and delta 0.00001 left" in said
    assert "spent by: made/s epsilon 0.8. What would fit: at most epsilon 0.2" in said
    assert (folder / "out" / "s.csv").read_bytes() == before
    (population,) = status(capsys)["populations"]
    assert population["spent"] == {"epsilon": "0.8", "delta": "0"}
    assert [one["release"] for one in population["spenders"]] == ["made/s", "made/s"]


def test_a_cap_that_is_raised_in_the_policy_raises_nothing_and_a_lower_one_holds(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    change(folder, "cap: {epsilon: 1,", "cap: {epsilon: 100,")
    change(folder, "budget: {epsilon: 0.4}", "budget: {epsilon: 2}")
    assert main(["run", "p.yaml"]) == 4
    change(folder, "budget: {epsilon: 2}", "budget: {epsilon: 0.4}")
    change(folder, "cap: {epsilon: 100,", "cap: {epsilon: 0.5,")
    assert main(["run", "p.yaml"]) == 0
    snapshot(folder, "first", "second")
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    assert "of the policy's cap, epsilon 0.5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "code"), [("population: everybody", "population: others", "L115"), ("  d:\n", "  renamed:\n", "L129")]
)
def test_another_name_is_no_fresh_budget(folder, capsys, old, new, code):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    change(folder, old, new)
    if "renamed" in new:
        change(folder, "from: d\n", "from: renamed\n")
        before = (folder / "out" / "s.csv").read_bytes()
        assert main(["run", "p.yaml"]) == 0  # the same data, and what was paid for: served again
        assert (folder / "out" / "s.csv").read_bytes() == before
    change(folder, "budget: {epsilon: 0.4}", "budget: {epsilon: 0.3}")
    assert main(["run", "p.yaml"]) == 4
    capsys.readouterr()
    main(["ledger", "init", "p.yaml"])
    (population,) = [one for one in status(capsys)["populations"] if one["population"] == "everybody"]
    assert population["spent"]["epsilon"] == "0.4"
    assert main(["run", "p.yaml"]) == 4
    assert f"{code} " in capsys.readouterr().err


def test_an_older_copy_of_the_ledger_is_refused(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    shutil.copy(folder / "ledger.db", folder / "cache.db")
    assert main(["run", "p.yaml"]) == 0
    shutil.copy(folder / "cache.db", folder / "ledger.db")
    snapshot(folder, "first", "second")
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    assert "is an older copy: it ends at entry 0" in capsys.readouterr().err
    assert main(["ledger", "verify", "p.yaml"]) == 1
    assert "L111" in capsys.readouterr().err


@pytest.mark.parametrize("gone", [["out"], [".privrelease"], ["out", ".privrelease"]], ids=["outputs", "state", "both"])
def test_an_older_copy_is_refused_by_the_log_of_publications_where_manifests_are_gone(folder, capsys, gone):
    """A runner that is empty each time has the log, by version control, and whatever ledger was cached."""
    assert main(["ledger", "init", "p.yaml"]) == 0
    shutil.copy(folder / "ledger.db", folder / "cache.db")
    assert main(["run", "p.yaml"]) == 0
    shutil.copy(folder / "cache.db", folder / "ledger.db")
    for name in gone:
        shutil.rmtree(folder / name)
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    assert "is an older copy: it ends at entry 0" in capsys.readouterr().err


def test_a_ledger_that_is_lost_or_elsewhere_is_not_made_anew_where_releases_were_charged(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    change(folder, "sqlite:///ledger.db", "sqlite:///other.db")
    capsys.readouterr()
    assert main(["ledger", "init", "p.yaml"]) == 4
    assert "L126" in capsys.readouterr().err
    assert not (folder / "other.db").exists()
    shutil.rmtree(folder / ".privrelease" / "runs", ignore_errors=False)
    assert main(["ledger", "init", "p.yaml"]) == 4  # the log of publications says so
    (folder / "publications.jsonl").unlink()
    assert main(["ledger", "init", "p.yaml"]) == 0  # nothing is left to see that anything was charged


def test_another_ledger_that_knows_the_population_is_refused(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    shutil.copy(folder / "ledger.db", folder / "kept.db")
    (folder / "ledger.db").unlink()
    assert main(["ledger", "init", "p.yaml"]) == 0
    shutil.copy(folder / "ledger.db", folder / "second.db")
    shutil.copy(folder / "kept.db", folder / "ledger.db")
    assert main(["run", "p.yaml"]) == 0
    shutil.copy(folder / "second.db", folder / "ledger.db")
    snapshot(folder, "first", "second")
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    assert "L112" in capsys.readouterr().err


def test_history_export_and_verify_tell_the_same_chain(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    capsys.readouterr()
    assert main(["ledger", "export", "p.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    hashes = [hashlib.sha256(line.encode()).hexdigest() for line in lines]
    assert [json.loads(line)["previous"] for line in lines] == ["0" * 64, *hashes[:-1]]
    assert main(["ledger", "history", "p.yaml", "--format", "json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert [entry["hash"] for entry in entries] == hashes
    assert [entry["kind"] for entry in entries] == ["ledger", "reserve", "commit"]
    (drawn,) = entries[1]["claim"]["draws"]
    assert {name: drawn[name] for name in ("mechanism", "scale", "grid", "sensitivity.l1")} == {
        "mechanism": "discrete_laplace",
        "scale": "5/2",
        "grid": "1",
        "sensitivity.l1": 1,
    }
    assert main(["ledger", "history", "p.yaml"]) == 0
    assert "made/s spent epsilon 0.4, delta 0 of everybody in 1 draw" in capsys.readouterr().out
    assert main(["ledger", "verify", "p.yaml", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["head"], found["anchored"]["sequence"], found["after_anchor"]) == (hashes[-1], 1, 1)
    assert main(["ledger", "export", "p.yaml", "-o", "ledger.jsonl"]) == 0
    assert (folder / "ledger.jsonl").read_text(encoding="utf-8").splitlines() == lines


def test_verify_fails_where_an_entry_was_altered(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    with sqlite3.connect(folder / "ledger.db") as raw:
        raw.execute("UPDATE privrelease_entries SET entry = replace(entry, '0.4', '0.1') WHERE sequence = 1")
    capsys.readouterr()
    assert main(["ledger", "verify", "p.yaml", "--format", "json"]) == 1
    assert any("entry 1 was altered" in one["message"] for one in json.loads(capsys.readouterr().out)["problems"])
    assert main(["run", "p.yaml"]) == 4


def test_an_owner_raises_a_cap_and_nobody_else_does(folder, capsys):
    for name in ("dpo", "stranger"):
        assert main(["keygen", name]) == 0 or main(["keygen", "-o", name]) == 0
    assert main(["ledger", "init", "p.yaml", "--owner", "dpo.pub"]) == 0
    change(folder, "cap: {epsilon: 1,", "cap: {epsilon: 9,")
    change(folder, "budget: {epsilon: 0.4}", "budget: {epsilon: 2}")
    assert main(["run", "p.yaml"]) == 4
    asked = ["ledger", "raise", "p.yaml", "--population", "everybody", "--epsilon", "2.5", "--delta", "1e-5", "--key"]
    capsys.readouterr()
    assert main([*asked, "stranger"]) == 4
    assert "L124" in capsys.readouterr().err
    assert main([*asked, "dpo"]) == 0
    assert main(["run", "p.yaml"]) == 0
    capsys.readouterr()
    assert main(["ledger", "history", "p.yaml"]) == 0
    assert "everybody: cap epsilon 2.5, delta 0.00001, signed by an owner" in capsys.readouterr().out
    assert main(["ledger", "verify", "p.yaml"]) == 0


def test_a_policy_that_names_no_ledger_is_told_what_to_write(folder, capsys):
    change(folder, 'ledger: {cap: {epsilon: 1, delta: 1e-5}, url: "sqlite:///ledger.db"}\n', "")
    for command in (["run", "p.yaml"], ["ledger", "init", "p.yaml"], ["ledger", "status", "p.yaml"]):
        assert main(command) == 2
        assert "L101 policy made names no ledger" in capsys.readouterr().err


def test_help_of_every_verb_has_an_example(capsys):
    for verb in ("init", "status", "history", "verify", "export", "raise"):
        assert main(["ledger", verb, "--help"]) == 0
        assert "privrelease ledger" in capsys.readouterr().out


def test_a_ledger_without_owners_has_caps_that_nobody_raises_which_is_no_matter_of_budget(folder, capsys):
    assert main(["keygen", "-o", "dpo"]) == 0
    assert main(["ledger", "init", "p.yaml"]) == 0
    capsys.readouterr()
    assert main(["ledger", "raise", "p.yaml", "--population", "everybody", "--epsilon", "2", "--key", "dpo"]) == 2
    assert "L124 the ledger has no owners" in capsys.readouterr().err


def test_a_plan_of_a_policy_without_a_ledger_says_that_its_budget_is_not_known(folder, capsys):
    change(folder, 'ledger: {cap: {epsilon: 1, delta: 1e-5}, url: "sqlite:///ledger.db"}\n', "")
    assert main(["plan", "p.yaml"]) == 0
    assert "not known (L101" in capsys.readouterr().out


def test_a_population_that_was_charged_for_persons_is_not_charged_for_rows(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    before = (folder / "out" / "s.csv").read_bytes()
    change(folder, "    unit: {column: id, max_rows: 1}\n", "")
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    assert "L133 population everybody spends its budget for persons by id" in capsys.readouterr().err
    assert (folder / "out" / "s.csv").read_bytes() == before
    (population,) = status(capsys)["populations"]
    assert population["units"] == [{"unit": "persons by id", "epsilon": "0.4", "delta": "0"}]


LOST_SIGNAL = """
import os, signal
import privrelease.execute.statistics.run as module
signal.signal(signal.SIGINT, signal.default_int_handler)
real = module.answer_keys
def keys(plan, content):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**7):
            pass
    except KeyboardInterrupt:  # as a library does that calls back
        pass
    return real(plan, content)
module.answer_keys = keys
"""


def test_a_signal_that_a_library_swallows_before_the_charge_spends_nothing(folder, capsys, fork):
    assert main(["ledger", "init", "p.yaml"]) == 0
    ran = fork(["run", "p.yaml", "-q"], folder, dict(os.environ), LOST_SIGNAL)
    assert (ran.returncode, "interrupted" in ran.stderr) == (3, True), ran.stderr
    assert status(capsys)["sequence"] == 0
    assert not (folder / "out" / "s.csv").exists()
    assert main(["run", "p.yaml"]) == 0
    assert status(capsys)["sequence"] > 0
