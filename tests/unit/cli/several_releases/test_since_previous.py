"""What a report says changed since the previous release is what `diff` says of the two audits, of every kind and ending of a run."""

from __future__ import annotations

import json

import pytest

from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import ledger as ledger_commands
from tests.unit.cli.audits.test_waivers import CHECKS, waivers
from tests.unit.cli.conftest import DATA, POLICY
from tests.unit.cli.statistics.test_run_statistics import DATA as NUMBERS
from tests.unit.cli.statistics.test_run_statistics import POLICY as STATISTICS
from tests.unit.cli.tables.test_run_tables import POLICY as TABLE
from tests.unit.cli.tables.test_run_tables import SAFE


def twice(desk, data, first, second):
    """Run two policies; the folders of their runs, wherever they ended."""
    desk.data(data)
    for text in (first, second):
        desk.policy(text)
        desk.run()
    state = desk.folder / ".privrelease"
    found = [path for part in ("runs", "quarantine") for path in (state / part).glob("*") if path.is_dir()]
    return sorted(found, key=lambda path: path.name)


def told(desk, runs):
    """The section of the second audit, which is what `diff` says and what the report shows."""
    audit = json.loads((runs[1] / "internal" / "audit.json").read_text(encoding="utf-8"))
    section = audit["since"]
    said = desk("diff", str(runs[0]), str(runs[1]), "--format", "json")
    assert said.json["changes"] == section["changes"]
    assert section["run"] == runs[0].name
    page = (runs[1] / "internal" / "report.html").read_text(encoding="utf-8")
    assert "Since the previous release" in page
    outside = [path.read_text(encoding="utf-8") for path in (runs[1] / "outgoing").glob("*.report.html")]
    assert not any("Since the previous release" in one for one in outside)
    return {(change["what"], change["about"], change["effect"]) for change in section["changes"]}


def test_of_tables(desk):
    runs = twice(
        desk, SAFE, TABLE.replace("p_percent: 0.1", "p_percent: 0.11"), TABLE.replace("margins: true", "margins: false")
    )
    assert {("p_percent", "", "worse"), ("margins", "", "better")} <= told(desk, runs)


def test_of_statistics(desk, monkeypatch):
    kept = MemoryLedger()
    monkeypatch.setattr(ledger_commands, "opened", lambda *_: kept)
    second = STATISTICS.replace("epsilon: 0.5}", "epsilon: 0.6}").replace("budget: {epsilon: 1,", "budget: {epsilon: 1.1,")
    runs = twice(desk, NUMBERS, STATISTICS, second)
    found = told(desk, runs)
    assert {("query_epsilon", "pay", "worse"), ("epsilon", "", "worse")} <= found


def test_of_a_waiver_that_expired_and_stopped_the_release(desk):
    first, second = waivers("U-1", "U-2"), waivers("U-1", "U-2", until="2026-01-01")
    runs = twice(desk, DATA, first, second)
    assert runs[1].parent.name == "quarantine"
    found = told(desk, runs)
    assert {("decision", "", "worse"), ("waiver", "U-1", "changed"), ("waiver", "U-2", "changed")} <= found


def test_of_a_check_that_is_gone(desk):
    runs = twice(desk, DATA, POLICY + CHECKS.replace("max: 0}", "max: 1}").replace("1000", "1"), POLICY)
    assert {("check", "U-1", "worse"), ("check", "U-2", "worse")} <= told(desk, runs)


@pytest.mark.parametrize("risk", ["0.5", "0.1"])
def test_of_another_k(desk, risk):
    runs = twice(desk, DATA, POLICY, POLICY.replace("highest_risk: 0.2", f"highest_risk: {risk}"))
    worse = risk == "0.5"
    assert ("highest_risk_limit", "t", "worse" if worse else "better") in told(desk, runs)
