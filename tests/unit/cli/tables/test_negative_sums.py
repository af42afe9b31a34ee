"""Sums of values that may be negative are released under the minimum count alone; where a rule cannot judge them, its hint leads to a release."""

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
      half: {role: quasi, type: category, domain: ["1", "2"]}
      change: {role: sensitive, type: integer, domain: [-50, 50]}
"""
TABLE = "  - {id: t, kind: table, from: d, by: [area, half], margins: true, measures: [MEASURES], protect: {RULES}, output: out/t.csv}\n"
NOISY = """  - {id: s, kind: statistics, from: d, budget: {epsilon: 1},
     queries: [{id: total, sum: change, by: [area], epsilon: 1}], output: out/s.csv}
"""
#: In the west every change is below 0: a domain from 0 that leaves rows out would print a zero there. In the north, second half, one person only.
VALUES = [
    *(("north", "1", n) for n in range(9)),
    ("north", "2", -13),
    *(("south", "1", -n) for n in range(9)),
    *(("south", "2", (-1) ** n * 5) for n in range(8)),
    *(("west", half, -7) for half in "12" for _ in range(9)),
]


def data(values):
    return "id,area,half,change\n" + "".join(f"{n},{','.join(map(str, one))}\n" for n, one in enumerate(values))


def policy(measures, *releases, rules="min_count: 3", columns=COLUMNS):
    return (
        POLICY_HEAD + columns + "releases:\n" + TABLE.replace("MEASURES", measures).replace("RULES", rules) + "".join(releases)
    )


def cells(desk):
    with (desk.folder / "out" / "t.csv").open(newline="", encoding="utf-8") as stream:
        return {(row["area"], row["half"]): row for row in csv.DictReader(stream)}


def test_sums_and_means_of_either_sign_are_released_under_the_minimum_count(desk):
    desk.data(data(VALUES))
    desk.policy(policy("{count: true}, {sum: change}, {mean: change}"))
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    rows = cells(desk)
    assert (rows["west", ""]["sum_change"], rows["west", ""]["mean_change"]) == ("-126", "-7")
    assert rows["north", "2"]["status"] == "suppressed"
    # -13 is neither the difference of totals nor a sum with one other cell that is suppressed alone in its row
    hidden = {key for key, row in rows.items() if row["status"] == "suppressed"}
    for side, keys in enumerate((("north", "south", "west", ""), ("1", "2", ""))):
        for key in keys:
            line = [place for place in hidden if place[side] == key]
            assert len(line) != 1


def test_a_sum_of_zero_of_either_sign_is_printed(desk):
    desk.data(data([*VALUES, ("north", "2", 4), ("north", "2", 6)]))
    desk.policy(policy("{count: true}, {sum: change}", rules="min_count: 3, zeros: suppress"))
    assert desk("run", "policy.yaml").code == 0
    shown = {place: row["sum_change"] for place, row in cells(desk).items() if row["status"] == "shown"}
    assert (shown["south", "2"], shown["north", "2"]) == ("0", "-3")


@pytest.mark.parametrize("key", ["sum", "mean"])
@pytest.mark.parametrize("rule", ["p_percent: 0.1", "dominance: [1, 0.8]"])
def test_a_rule_of_the_largest_refuses_them_and_says_what_to_do(desk, key, rule):
    desk.data(data(VALUES))
    desk.policy(policy(f"{{count: true}}, {{{key}: change}}", rules=f"min_count: 3, {rule}"))
    said = desk("validate", "policy.yaml")
    name = rule.partition(":")[0]
    assert said.code == 2
    assert f"P600 `{name}` is not a rule for change, whose values may be negative" in said.out
    assert f"leave `{name}` out, so that `min_count` alone protects the {key}" in said.out
    assert "domain" not in said.out  # a domain from 0 would refuse the rows that are there


def test_a_rule_of_the_whole_policy_is_named(desk):
    desk.data(data(VALUES))
    desk.policy(policy("{sum: change}") + "tables: {p_percent: 0.1}\n")
    assert "P600 `p_percent` of `tables` is not a rule for change" in desk("validate", "policy.yaml").out


def test_without_a_domain_the_hint_asks_for_one_that_the_data_keeps(desk):
    desk.data(data(VALUES))
    desk.policy(policy("{sum: change}", columns=COLUMNS.replace(", domain: [-50, 50]", "")))
    said = desk("validate", "policy.yaml")
    assert "P443 change has no smallest value" in said.out
    assert "write `domain: [lowest, highest]` for change; `lowest` may be negative" in said.out
    desk.policy(policy("{sum: change}"))
    assert desk("run", "policy.yaml").code == 0


def test_followed_the_other_hint_leads_to_counts_and_noisy_sums(desk, monkeypatch):
    kept = MemoryLedger()
    monkeypatch.setattr(ledger_commands, "opened", lambda *_: kept)
    desk.data(data(VALUES))
    desk.policy(policy("{count: true}", NOISY, rules="min_count: 3, p_percent: 0.1"))
    assert desk("validate", "policy.yaml").code == 0
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    assert "D209" not in said.err
    assert (desk.folder / "out" / "s.csv").is_file()
