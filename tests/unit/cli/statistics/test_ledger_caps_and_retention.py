"""``privrelease ledger``: caps of single datasets, the view by zCDP, and answers whose retention is over."""

from __future__ import annotations

import json
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
ledger:
  cap: {epsilon: 1, delta: 1e-5}
  datasets: {d: {epsilon: 0.5, delta: 1e-6}}
  retention: P1Y
  url: "sqlite:///ledger.db"
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


def document(capsys, *command):
    capsys.readouterr()
    assert main([*command, "p.yaml", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_init_writes_the_cap_of_a_dataset_and_a_run_is_held_to_it(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert "dataset d\n  cap    epsilon 0.5  delta 0.000001" in capsys.readouterr().out
    assert main(["run", "p.yaml"]) == 0
    change(folder, "snapshot: first", "snapshot: second")
    capsys.readouterr()
    assert main(["plan", "p.yaml"]) == 0
    assert "a run would be refused: dataset d has epsilon 0.1 and delta 0.000001 left" in capsys.readouterr().out
    assert main(["run", "p.yaml"]) == 4
    assert "L120 the privacy budget of dataset d does not cover release made/s" in capsys.readouterr().err
    (dataset,) = document(capsys, "ledger", "status")["datasets"]
    assert (dataset["dataset"], dataset["spent"], dataset["left"]) == (
        "d",
        {"epsilon": "0.4", "delta": "0"},
        {"epsilon": "0.1", "delta": "0.000001"},
    )


@pytest.mark.parametrize("caps", ["  datasets: {e: {epsilon: 0.5, delta: 1e-6}}\n", ""])
def test_another_policy_that_renames_a_dataset_escapes_its_cap_by_no_init(folder, capsys, caps):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    text = POLICY.replace("  d:\n", "  e:\n").replace("from: d", "from: e").replace("id: made", "id: second")
    text = text.replace("  datasets: {d: {epsilon: 0.5, delta: 1e-6}}\n", caps).replace("out/s.csv", "out/second.csv")
    text = text.replace("budget: {epsilon: 0.4}", "budget: {epsilon: 0.3}")  # another question than was paid for
    (folder / "second.yaml").write_text(text, encoding="utf-8")
    assert main(["ledger", "init", "second.yaml"]) == 0
    capsys.readouterr()
    assert main(["run", "second.yaml"]) == 4
    said = capsys.readouterr().err
    assert "L129 the data of dataset e has been used before, as dataset d of population everybody" in said
    assert "name the dataset d in the policy" in said
    assert not (folder / "out" / "second.csv").exists()
    found = document(capsys, "ledger", "status")
    assert [(one["dataset"], one["spent"]["epsilon"]) for one in found["datasets"] if one["dataset"] == "d"] == [("d", "0.4")]
    assert found["populations"][0]["spent"]["epsilon"] == "0.4"


def test_a_dataset_that_is_added_later_brings_its_cap(folder, capsys):
    text = (folder / "p.yaml").read_text(encoding="utf-8")
    (folder / "p.yaml").write_text(
        text.replace("datasets: {d:", "datasets: {e:").replace("  d:\n", "  e:\n").replace("from: d", "from: e")
    )
    assert main(["ledger", "init", "p.yaml"]) == 0
    (folder / "p.yaml").write_text(text)
    assert main(["ledger", "init", "p.yaml"]) == 0
    found = document(capsys, "ledger", "status")
    assert [(one["dataset"], one["cap"]["epsilon"]) for one in found["datasets"]] == [("d", "0.5"), ("e", "0.5")]


def test_the_cap_of_a_dataset_is_raised_by_an_owner_only(folder, capsys):
    assert main(["keygen", "-o", "owner.key"]) == 0
    assert main(["ledger", "init", "p.yaml", "--owner", "owner.key.pub"]) == 0
    change(folder, "datasets: {d: {epsilon: 0.5, delta: 1e-6}}", "datasets: {}")
    assert main(["keygen", "-o", "other.key"]) == 0
    raising = ["ledger", "raise", "p.yaml", "--dataset", "d", "--epsilon", "0.8", "--delta", "1e-6"]
    assert main([*raising, "--key", "other.key"]) == 4
    assert main([*raising, "--key", "owner.key"]) == 0
    assert "the cap of dataset d is set by a signed entry" in capsys.readouterr().err
    (dataset,) = document(capsys, "ledger", "status")["datasets"]
    assert dataset["cap"] == {"epsilon": "0.8", "delta": "0.000001"}
    assert main(["ledger", "history", "p.yaml"]) == 0
    assert "cap         dataset d: cap epsilon 0.8, delta 0.000001, signed by an owner" in capsys.readouterr().out
    assert main(["ledger", "verify", "p.yaml"]) == 0
    for wrong in (["--dataset", "x"], [], ["--dataset", "d", "--population", "everybody"]):
        assert main(["ledger", "raise", "p.yaml", *wrong, "--epsilon", "2", "--key", "owner.key"]) == 2


def test_a_policy_names_caps_of_its_datasets_only(folder, capsys):
    change(folder, "datasets: {d: {", "datasets: {f: {")
    assert main(["validate", "p.yaml"]) == 2
    assert "P301 dataset f does not exist" in capsys.readouterr().out


def test_a_release_that_the_cap_of_its_dataset_could_never_cover_is_refused(folder, capsys):
    change(folder, "datasets: {d: {epsilon: 0.5", "datasets: {d: {epsilon: 0.3")
    assert main(["validate", "p.yaml"]) == 2
    found = capsys.readouterr().out
    assert "P430 the epsilon of release s, 0.4, is above the ledger's cap, 0.3" in found
    assert "raise `ledger.datasets.d.epsilon`" in found


def test_status_shows_what_zcdp_makes_of_all_draws(folder, capsys):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert document(capsys, "ledger", "status")["populations"][0]["zcdp"] is None
    assert main(["run", "p.yaml"]) == 0
    view = document(capsys, "ledger", "status")["populations"][0]["zcdp"]
    assert (view["rho"], view["failure"], view["delta"]) == ("0.08", "0", "0.00001")
    assert 1.5 < float(view["epsilon"]) < 2
    assert main(["ledger", "status", "p.yaml"]) == 0
    assert "  by zCDP epsilon " in capsys.readouterr().out


def answers(folder):
    return sqlite3.connect(folder / "ledger.db").execute("SELECT count(*) FROM privrelease_answers").fetchone()[0]


def years_later(monkeypatch, years):
    import privrelease.ledger.database as database

    real = database.utc_now
    monkeypatch.setattr(database, "utc_now", lambda: real().replace(year=real().year + years, day=15))


def test_answers_go_when_their_retention_is_over_and_then_cost_again(folder, capsys, monkeypatch):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    assert main(["ledger", "forget", "p.yaml"]) == 0
    assert "0 stored answers are deleted" in capsys.readouterr().err
    assert answers(folder) == 1
    years_later(monkeypatch, 2)
    assert document(capsys, "ledger", "forget") == {"policy": "made", "retention": "P1Y", "answers": 1}
    assert answers(folder) == 0
    assert main(["ledger", "history", "p.yaml"]) == 0
    assert "forget      1 answer of policy made, kept for longer than P1Y" in capsys.readouterr().out
    assert main(["ledger", "verify", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 4  # the dataset's 0.5 covers 0.4 once


def test_a_run_deletes_what_is_too_old_before_it_serves_anything(folder, monkeypatch):
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    assert answers(folder) == 1
    years_later(monkeypatch, 2)
    assert main(["run", "p.yaml"]) == 4
    assert answers(folder) == 0


def test_the_retention_of_the_release_counts_where_the_ledger_has_none(folder, capsys):
    change(folder, "  retention: P1Y\n", "")
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["ledger", "forget", "p.yaml"]) == 2
    assert "does not say how long answers are kept" in capsys.readouterr().err
    with (folder / "p.yaml").open("a", encoding="utf-8") as file:
        file.write("legal: {retention: {release: P5Y}}\n")
    assert main(["ledger", "forget", "p.yaml"]) == 0


def test_an_environment_may_lower_and_add_caps_of_datasets_and_not_loosen_them(folder, capsys):
    for overlay, code in (("epsilon: 0.45", 0), ("epsilon: 0.9", 2)):
        own = f"environments:\n  ci: {{ledger: {{datasets: {{d: {{{overlay}}}}}}}}}\n"
        (folder / "p.yaml").write_text(POLICY + own, encoding="utf-8")
        assert main(["validate", "p.yaml", "--env", "ci"]) == code
    assert "P504" in capsys.readouterr().out
