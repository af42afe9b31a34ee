"""Answers that versions before kept by the policy's digest: served under that very policy, and never taken for another question's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from privrelease.cli.main import main
from privrelease.dp.budget import Budget
from privrelease.ledger.memory import MemoryLedger
from privrelease.ledger.protocol import Claim
from privrelease.plan.build import build_plan
from privrelease.policy.loader import load_policy
from privrelease.units import Delta, Epsilon
from tests.unit.cli.statistics.test_run_statistics import DATA, POLICY, rows


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    return tmp_path


def stored_as_before(ledger, content="old:aa"):
    """What format 2 held of one run: 77 rows in the north, and so on."""
    plan = build_plan(load_policy(Path("p.yaml")))
    (release,) = plan.releases
    keys, stored = [], {}
    for query in release.queries:
        parts = [plan.policy_sha256, plan.environment, "d", "first", "s", query.id]
        keys.append(hashlib.sha256(json.dumps(parts).encode()).hexdigest())
        values = [[77] * (draw.size or 1) for draw in query.draws]
        value = {
            "version": 1,
            "content": content,
            "draws": [draw.record() for draw in query.draws],
            "values": values,
            "keys": [],
            "run": "r0",
        }
        stored[keys[-1]] = json.dumps(value, sort_keys=True).encode()
    claim = Claim(
        population="everybody",
        dataset="d",
        release="made/s",
        policy_sha256=plan.policy_sha256,
        draws=release.draws,
        cost=Budget(Epsilon(1), Delta("1e-6")),
        snapshot="first",
        content=content,
        run="r0",
        queries=tuple(keys),
    )
    ledger.commit(ledger.reserve(claim), stored)


def test_answers_kept_by_the_policy_are_served_under_it_and_the_data_is_said_not_to_be_compared(folder, monkeypatch, capsys):
    ledger = MemoryLedger()
    monkeypatch.setattr("privrelease.pipeline.ledger.opened", lambda *_: ledger)
    stored_as_before(ledger)
    assert main(["run", "p.yaml"]) == 0
    assert len(ledger.claims) == 1
    assert next(row["value"] for row in rows(folder) if row["query"] == "n") == "77"
    assert "L134 warn: stored answers are served for 3 queries of snapshot first" in capsys.readouterr().err
    text = (folder / "p.yaml").read_text(encoding="utf-8").replace("area = 'north'", "area = 'south'")
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    assert main(["run", "p.yaml"]) == 0
    assert len(ledger.claims) == 2  # under another policy the old keys say nothing: paid again, and kept by what determines it
    text = text.replace("title: Made-up", "title: Otherwise")
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    assert main(["run", "p.yaml"]) == 0
    assert len(ledger.claims) == 2
