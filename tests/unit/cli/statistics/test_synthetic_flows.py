"""Synthetic releases in every flow of a release: withdrawn, approved, killed, served again, listed, and added up over the same persons."""

from __future__ import annotations

import json
import os
import signal
import sqlite3

import pytest

from privrelease.ledger.open import open_ledger
from privrelease.release.runs import RunState
from privrelease.release.store import ReleaseStore
from tests.unit.cli.conftest import APPROVALS, POLICY_HEAD, Office

LEDGER = 'ledger: {url: "sqlite:///ledger.db", cap: {epsilon: 3, delta: 1e-5}}\n'
RELEASE = """\
  - id: r
    kind: synthetic
    from: d
    method: histogram
    columns: [id, area, pay]
    rows: 50
    bins: {pay: {width: 250}}
    make: {id: {pattern: "[0-9]{6}", unique: true}}
    budget: {epsilon: 1, delta: 1e-6}
    output: {path: out/r.csv}
"""
POLICY = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    population: everybody
    snapshot: spring
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south, west]}
      job: {role: quasi, type: category, domain: [clerk, smith]}
      pay: {role: sensitive, type: integer, domain: [0, 999]}
releases:
"""
    + RELEASE
)
SECOND = RELEASE.replace("id: r\n", "id: s\n").replace("area, pay]", "job]").replace("    bins: {pay: {width: 250}}\n", "")
SECOND = SECOND.replace("out/r.csv", "out/s.csv")


@pytest.fixture
def made(desk):
    desk.policy(POLICY + LEDGER)
    assert desk.once("ledger", "init", "policy.yaml").code == 0
    return desk


def spent(desk):
    return str(open_ledger("sqlite:///ledger.db", folder=desk.folder).balance("everybody").spent.epsilon)


def answers(desk):
    with sqlite3.connect(f"file:{desk.folder / 'ledger.db'}?mode=ro", uri=True) as raw:
        return dict(raw.execute("SELECT query, answer FROM privrelease_answers").fetchall())


def test_a_withdrawn_release_is_removed_and_what_it_spent_stays_spent(made):
    assert made.run_once().code == 0
    assert made.released.exists()
    said = made("withdraw", "policy.yaml", "r", "--reason", "a fault in the source")
    assert said.code == 0, said.err
    assert not made.released.exists()
    assert spent(made) == "1"
    assert made.run().code == 0, "the same question again is free, although its rows were withdrawn"
    assert spent(made) == "1"
    assert made.released.exists()


def test_a_release_waits_for_signatures_and_is_published_without_a_second_draw(made):
    made.policy(POLICY + LEDGER + APPROVALS)
    office = Office(made)
    office.list(office.person("ann", ["dpo"]), office.person("bob", ["steward"]))
    run = office.run()
    assert not made.released.exists()
    assert office.publish(run).code == 5
    outgoing = office.internal(run).parent / "outgoing" / "r.csv"
    before, stored = outgoing.read_bytes(), answers(made)
    assert len(stored) == 1
    assert office.approve(run, "ann", "dpo").code == 0
    assert "steward" in office.publish(run).last
    assert office.approve(run, "bob", "steward").code == 0
    (made.folder / "data.csv").unlink()
    assert office.publish(run).code == 0, "the source is not read again"
    assert made.released.read_bytes() == before
    assert (spent(made), answers(made)) == ("1", stored)


def test_rows_altered_after_they_were_signed_are_not_published(made):
    made.policy(POLICY + LEDGER + APPROVALS)
    office = Office(made)
    office.list(office.person("ann", ["dpo"]), office.person("bob", ["steward"]))
    run = office.run()
    assert office.approve(run, "ann", "dpo").code == 0
    assert office.approve(run, "bob", "steward").code == 0
    path = office.internal(run).parent / "outgoing" / "r.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], lines[1]]) + "\n", encoding="utf-8")
    said = office.publish(run)
    assert said.code == 1
    assert "r.csv" in said.err
    assert not made.released.exists()


def test_the_index_lists_it_with_its_decision(made):
    assert made.run_once().code == 0
    said = made("report", "--index", ".privrelease", "-o", "index.html")
    assert said.code == 0
    assert "the index shows 1 audit" in said.err
    page = (made.folder / "index.html").read_text(encoding="utf-8")
    for text in ("data.csv", "north", "clerk"):
        assert text not in page
    assert "<bdi>r</bdi>" in page or ">r<" in page


def test_two_releases_of_the_same_persons_add_up_and_the_cap_stops_the_third(made):
    made.policy(POLICY + SECOND + LEDGER)
    assert made.run().code == 0
    assert spent(made) == "2"
    assert made.run().code == 0, "both are served again"
    assert spent(made) == "2"
    other = POLICY.replace("width: 250", "width: 500") + SECOND.replace("epsilon: 1,", "epsilon: 0.5,")
    made.policy(other + LEDGER)
    said = made.run()
    assert said.code == 4, "1 + 1 + 1 are within the cap of 3, and half an epsilon more is not"
    assert "L120" in said.err
    assert spent(made) == "3"


def test_rows_and_files_are_no_other_question_and_the_model_is_served_free(made):
    assert made.run_once().code == 0
    stored, first = answers(made), made.released.read_bytes()
    made.policy(POLICY.replace("rows: 50", "rows: 80").replace("[0-9]{6}", "P[0-9]{6}") + LEDGER)
    said = made.run()
    assert said.code in {0, 1}, said.err
    assert made.released.read_bytes() != first
    assert len(made.released.read_text(encoding="utf-8").splitlines()) == 81
    assert (spent(made), answers(made)) == ("1", stored)


def test_another_snapshot_is_another_question(made):
    assert made.run_once().code == 0
    made.policy(POLICY.replace("snapshot: spring", "snapshot: autumn") + LEDGER)
    assert made.run().code == 0
    assert spent(made) == "2"


# ------------------------------------------------------------------------------------------------------------------------- killed

KILL = "import os, signal\ndie = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
WHILE_IT_IS_FITTED = {
    "before the first answer": "from privrelease.dp.envelope import Envelope as it\nit.measure = die\n",
    "after the first answer": (
        "import privrelease.synthesis.histogram as it\nold = it.HISTOGRAM\n"
        "import privrelease.execute.synthetic.run as run, dataclasses\n"
        "def fit(*a):\n    old.fit(*a)\n    die()\n"
        "run.method_named = lambda name: dataclasses.replace(old, fit=fit)\n"
    ),
}
AFTERWARDS = {
    "while rows are drawn": "from privrelease.synthesis.histogram import HistogramModel as it\nit.draw = die\n",
    "before anything is written": "import privrelease.execute.synthetic.run as it\nit.write_rows = die\n",
    "while it parks": "from privrelease.release.store import ReleaseStore as it\nit.park = die\n",
    "between parking and the audit": "import privrelease.audit.synthetic.audit as it\nit.audit_synthetic = die\n",
    "between the decision and publication": "from privrelease.release.store import ReleaseStore as it\nit.publish = die\n",
}


def killed(fork, desk, patch):
    done = fork(["run", "policy.yaml"], desk.folder, dict(os.environ), KILL + patch)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not list((desk.folder / "out").glob("*")) if (desk.folder / "out").exists() else True


@pytest.mark.parametrize("moment", WHILE_IT_IS_FITTED)
def test_a_run_killed_while_its_model_is_fitted_stays_spent_and_the_next_says_so(made, moment, fork):
    killed(fork, made, WHILE_IT_IS_FITTED[moment])
    assert (spent(made), answers(made)) == ("1", {})
    said = made.run()
    assert said.code == 0
    assert "L132 warn: run " in said.err
    assert spent(made) == "2"
    assert len(answers(made)) == 1
    assert made("ledger", "verify", "policy.yaml").code == 0


@pytest.mark.parametrize("moment", AFTERWARDS)
def test_a_run_killed_after_its_answers_are_stored_is_served_free_by_the_next(made, moment, fork):
    killed(fork, made, AFTERWARDS[moment])
    stored = answers(made)
    assert (spent(made), len(stored)) == ("1", 1)
    said = made.run()
    assert said.code == 0
    assert "L132" not in said.err
    assert (spent(made), answers(made)) == ("1", stored)
    manifest = json.loads((made.folder / "out" / "r.manifest.json").read_text(encoding="utf-8"))
    assert manifest["privacy"]["queries"][0]["served_again"]
    states = [record.state for record in ReleaseStore(made.folder / ".privrelease").records()]
    assert states.count(RunState.PUBLISHED) == 1
    assert set(states) <= {RunState.PUBLISHED, RunState.ABANDONED, RunState.PARKED}
