"""The command line on each kind of database, its URL in an environment variable."""

from __future__ import annotations

import json

from privrelease.cli.main import main

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    population: everybody
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 0.6}
    queries: [{id: n, count: true}]
    output: out/s.csv
ledger: {cap: {epsilon: 1}, url: LEDGER_URL}
"""


def test_a_budget_is_spent_shown_and_refused(durable, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("LEDGER_URL", durable.url)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "data.csv").write_text("id\n1\n2\n", encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 4
    assert main(["ledger", "verify", "p.yaml"]) == 0
    said = capsys.readouterr()
    assert "L120" in said.err
    assert main(["ledger", "status", "p.yaml", "--format", "json"]) == 0
    out = capsys.readouterr().out
    (population,) = json.loads(out)["populations"]
    assert (population["spent"]["epsilon"], population["left"]["epsilon"]) == ("0.6", "0.4")
    if durable.kind == "postgresql":  # whoever reads a log learns where the URL is, and not the URL
        assert durable.url not in out + said.out + said.err
    monkeypatch.delenv("LEDGER_URL")
    assert main(["run", "p.yaml"]) == 4
    assert "L106 the environment variable LEDGER_URL" in capsys.readouterr().err


def test_an_envelope_is_listed_exported_and_named_where_it_was_never_committed(
    tmp_path, monkeypatch, capsys, envelope_claim
) -> None:
    from privrelease.ledger.open import open_ledger

    monkeypatch.setenv("LEDGER_URL", "sqlite:///ledger.db")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY.replace("{epsilon: 1}", "{epsilon: 1, delta: 1e-4}"), encoding="utf-8")
    assert main(["ledger", "init", "p.yaml"]) == 0
    ledger = open_ledger("sqlite:///ledger.db", folder=tmp_path)
    names = {"population": "everybody", "dataset": "d"}
    ledger.commit(ledger.reserve(envelope_claim("0.25", **names)), {"q1": b"1"}, ())
    ledger.reserve(envelope_claim("0.25", run="r9", **names))
    capsys.readouterr()
    assert main(["ledger", "history", "p.yaml"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("in an envelope of rho") == 2
    assert "1 answer of reservation 1, 0 draws from its envelope" in listed
    assert listed.count("(run r9, never committed)") == 1
    assert main(["ledger", "verify", "p.yaml"]) == 0
    said = capsys.readouterr()
    assert "L137" in said.out + said.err
    assert main(["ledger", "verify", "p.yaml", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["uncommitted"]
    assert one["code"] == "L137"
    assert main(["ledger", "status", "p.yaml", "--format", "json"]) == 0
    (population,) = json.loads(capsys.readouterr().out)["populations"]
    assert population["spent"]["epsilon"] == "0.5"
    assert main(["ledger", "export", "p.yaml", "--output", "entries.jsonl"]) == 0
    entries = [json.loads(line) for line in (tmp_path / "entries.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [entry["kind"] for entry in entries] == ["ledger", "reserve", "commit", "reserve"]
    assert set(entries[1]["body"]["claim"]["envelope"]) == {"rho", "failure"}
