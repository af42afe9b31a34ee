"""A run of statistics that is killed at the moments that count: what is paid for is served by the next run, or stays spent and is said to be."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3

import pytest

from privrelease.cli.main import main
from privrelease.ledger.open import open_ledger
from tests.unit.cli.statistics.test_run_statistics import DATA, POLICY

LEDGER = 'ledger: {cap: {epsilon: 2.5, delta: 1e-5}, url: "sqlite:///ledger.db"}\n'
KILL = "import os, signal\ndie = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"

BEFORE_THE_ANSWERS_ARE_STORED = {
    "while it draws": "import privrelease.dp.draws as it\nit._perform = die\n",
    "before the entry of the answers": "from privrelease.ledger.database import DatabaseLedger as it\nit.commit = die\n",
    "between that entry and the answers": (
        "import privrelease.ledger.database as it\nold = it.insert\nit.insert = lambda table: die() if table is it.ANSWERS else old(table)\n"
    ),
    "before the transaction ends": (
        "import sqlalchemy.engine.base as it\nold = it.Connection._commit_impl\n"
        "from privrelease.ledger.database import DatabaseLedger as ledger\ncommit = ledger.commit\n"
        "def last(*a):\n    it.Connection._commit_impl = die\n    commit(*a)\n"
        "ledger.commit = last\n"
    ),
}
AFTERWARDS = {
    "before anything is written": "import privrelease.execute.statistics.run as it\nit.write_statistics = die\n",
    "before the program hears of it": (
        "from privrelease.ledger.state import Book as it\nold = it.apply\n"
        "it.apply = lambda self, entry, digest=None: die() if entry.kind == 'commit' and digest is None else old(self, entry, digest)\n"
    ),
    "while it parks": "from privrelease.release.store import ReleaseStore as it\nit.park = die\n",
    "before it publishes": "from privrelease.release.store import ReleaseStore as it\nit.publish = die\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY.replace("title: Made-up\n", f"title: Made-up\n{LEDGER}"), encoding="utf-8")
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    return tmp_path


def killed(fork, folder, patch):
    done = fork(["run", "p.yaml"], folder, dict(os.environ), KILL + patch)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not list((folder / "out").glob("*")) if (folder / "out").exists() else True


def spent(folder):
    return str(open_ledger("sqlite:///ledger.db", folder=folder).balance("everybody").spent.epsilon)


def answers(folder):
    with sqlite3.connect(f"file:{folder / 'ledger.db'}?mode=ro", uri=True) as raw:
        return dict(raw.execute("SELECT query, answer FROM privrelease_answers").fetchall())


@pytest.mark.parametrize("moment", BEFORE_THE_ANSWERS_ARE_STORED)
def test_a_run_killed_before_its_answers_are_stored_stays_spent_and_the_next_says_so(folder, capsys, moment, fork):
    killed(fork, folder, BEFORE_THE_ANSWERS_ARE_STORED[moment])
    assert spent(folder) == "1"
    assert answers(folder) == {}
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 0
    said = capsys.readouterr().err
    assert "L132 warn: run " in said
    assert "reserved epsilon 1 and delta 0.000001 in entry 1 of the ledger and stored no answers" in said
    assert "the budget stays spent" in said
    assert spent(folder) == "2"
    assert len(answers(folder)) == 3
    assert main(["ledger", "verify", "p.yaml"]) == 0
    assert main(["ledger", "history", "p.yaml"]) == 0
    assert capsys.readouterr().out.count("no answers stored") == 1
    assert main(["run", "p.yaml"]) == 0  # served again; the loss was said
    assert "L132" not in capsys.readouterr().err
    assert spent(folder) == "2"


@pytest.mark.parametrize("moment", AFTERWARDS)
def test_a_run_killed_after_its_answers_are_stored_is_served_free_by_the_next(folder, capsys, moment, fork):
    killed(fork, folder, AFTERWARDS[moment])
    assert spent(folder) == "1"
    stored = answers(folder)
    assert len(stored) == 3
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 0
    assert "L132" not in capsys.readouterr().err
    assert spent(folder) == "1"
    assert answers(folder) == stored
    with (folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        (count,) = [row["value"] for row in csv.DictReader(file) if row["query"] == "n"]
    kept = [json.loads(answer) for answer in stored.values()]
    assert int(count) in [one["values"][0][0] for one in kept]


def test_a_loss_is_said_also_where_the_budget_no_longer_suffices(folder, capsys, fork):
    for _ in range(2):
        killed(fork, folder, BEFORE_THE_ANSWERS_ARE_STORED["while it draws"])
    capsys.readouterr()
    assert main(["run", "p.yaml"]) == 4
    said = capsys.readouterr().err
    assert said.count("L132") == 2
    assert "L120" in said
