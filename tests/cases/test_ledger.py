"""The shared case of the ledger: two runs that spend at once, and one that is killed, through the real command line."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from ruamel.yaml import YAML

from tests.depth import depth

CASE = "p01-two-runs-spend-at-once"
#: Twenty repeats on fresh ledgers are in tests/contract/ledger, without a command line around each.
REPEATS = depth(1, 2)

POLICY = """datasets:
  d:
    source: input.csv
    population: everybody
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: integer}}
releases:
  - id: n
    kind: statistics
    from: d
    budget: {{epsilon: {each}}}
    queries: [{{id: n, count: true}}]
    output: {output}
ledger: {{cap: {{epsilon: {budget}}}, url: "sqlite:///ledger.db"}}
"""


@pytest.fixture
def values(case):
    return YAML(typ="safe").load(case.expected.read_text(encoding="utf-8"))["values"]


@pytest.fixture
def params(case):
    return YAML(typ="safe").load(case.expected.with_name("case.yaml").read_text(encoding="utf-8"))["params"]


def start(case, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "privrelease.cli.main", "run", f"{name}.yaml", "--state", f".state-{name}"]
    return subprocess.Popen(command, cwd=case.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def spent(case) -> str:
    ran = case("ledger", "status", "a.yaml", "--state", ".state-a", "--format", "json")
    assert ran.code == 0, ran.err
    (population,) = json.loads(ran.out)["populations"]
    return population["spent"]["epsilon"]


def prepared(case, params) -> None:
    for name in ("a", "b"):
        case.policy(POLICY.format(each=params["each"], budget=params["budget"], output=f"{name}.csv"), f"{name}.yaml")
    for path in case.folder.glob("*.csv"):
        if path.name != "input.csv":
            path.unlink()
    (case.folder / "ledger.db").unlink(missing_ok=True)


@pytest.mark.parametrize("repeat", range(REPEATS))
def test_of_two_runs_at_once_one_publishes_and_the_other_is_told_about_the_budget(case, params, values, repeat) -> None:
    prepared(case, params)
    assert case("ledger", "init", "a.yaml").code == 0
    runs = [start(case, name) for name in ("a", "b")]
    said = [run.communicate()[1] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 4], said
    outputs = [name for name in ("a.csv", "b.csv") if (case.folder / name).is_file()]
    assert len(outputs) == values["outputs_per_repeat"]
    refused = said[0] if runs[0].returncode else said[1]
    assert "L120 the privacy budget of population everybody does not cover release case/n" in refused
    assert "epsilon 0.4" in refused
    assert "Traceback" not in refused
    assert spent(case) == str(values["ledger"]) != str(values["never"])


def test_a_run_killed_between_charge_and_output_has_spent(case, params, values) -> None:
    prepared(case, params)
    assert case("ledger", "init", "a.yaml").code == 0
    run = start(case, "a")
    while charged(case.folder / "ledger.db") < 2 and run.poll() is None:
        time.sleep(0.002)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert (case.folder / "ledger.db").stat().st_size > 0
    assert spent(case) == str(values["ledger"])
    assert case("ledger", "verify", "a.yaml").code == 0
    assert case("run", "b.yaml").code == 4
    assert not (case.folder / "b.csv").exists()


def charged(path) -> int:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60) as raw:
        return raw.execute("SELECT count(*) FROM privrelease_entries").fetchone()[0]


@pytest.mark.case("d14-shares-that-are-no-finite-decimal")
def test_thirds_of_an_epsilon_are_served_again_and_charged_again_for_another_snapshot(case) -> None:
    policy = case.folder / "policy.yaml"
    policy.write_text(case.expected.with_name("policy.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert case("ledger", "init", policy).code == 0
    for run in range(4):
        ran = case("run", policy)
        assert ran.code == 0, (run, ran.err)
        if run == 2:
            policy.write_text(policy.read_text(encoding="utf-8").replace("snapshot: s1", "snapshot: s2"), encoding="utf-8")
    assert charged(case.folder / "ledger.db") == 5  # its first entry, and two runs that drew
    (population,) = json.loads(case("ledger", "status", policy, "--format", "json").out)["populations"]
    assert population["spent"]["epsilon"] == "2"
    assert case("ledger", "verify", policy).code == 0
