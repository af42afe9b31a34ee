"""Sums of values that may be negative: the hint of P443, followed through the command line, leads to a release and into no other error."""

from __future__ import annotations

import csv

import pytest

from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import ledger as ledger_commands
from tests.unit.cli.conftest import POLICY_HEAD

COLUMNS = """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south, west]}
      change: {role: sensitive, type: integer, domain: [-50, 50]}
"""
TABLE = "  - {id: t, kind: table, from: d, by: [area], measures: [MEASURES], protect: {min_count: 3}, output: out/t.csv}\n"
NOISY = """  - {id: s, kind: statistics, from: d, budget: {epsilon: 1},
     queries: [{id: total, sum: change, by: [area], epsilon: 1}], output: out/s.csv}
"""
#: In the west every change is below 0: a domain from 0 that leaves rows out would print a zero there.
DATA = "id,area,change\n" + "".join(
    f"{n},{area},{value}\n"
    for n, (area, value) in enumerate(
        [*(("north", n) for n in range(9)), *(("south", -n) for n in range(9)), *[("west", -7)] * 9]
    )
)


def policy(measures, *releases):
    return POLICY_HEAD + COLUMNS + "releases:\n" + TABLE.replace("MEASURES", measures) + "".join(releases)


@pytest.mark.parametrize("key", ["sum", "mean"])
def test_the_hint_does_not_ask_for_a_domain_that_the_data_breaks(desk, key):
    desk.data(DATA)
    desk.policy(policy(f"{{count: true}}, {{{key}: change}}"))
    said = desk("validate", "policy.yaml")
    assert said.code == 2
    assert "P443 change has no smallest value of at least 0" in said.out
    assert "`domain: [0, highest]` for change if no value is below 0" in said.out
    assert f"where some are, count persons here and publish the {key} in a release with `kind: statistics`" in said.out


def test_followed_the_hint_leads_to_counts_and_noisy_sums(desk, monkeypatch):
    kept = MemoryLedger()
    monkeypatch.setattr(ledger_commands, "opened", lambda *_: kept)
    desk.data(DATA)
    desk.policy(policy("{count: true}", NOISY))
    assert desk("validate", "policy.yaml").code == 0
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    assert "D209" not in said.err
    with (desk.folder / "out" / "t.csv").open(newline="", encoding="utf-8") as stream:
        rows = {row["area"]: row for row in csv.DictReader(stream)}
    assert {area: row["count"] for area, row in rows.items() if area} == {"north": "9", "south": "9", "west": "9"}
    assert (desk.folder / "out" / "s.csv").is_file()
