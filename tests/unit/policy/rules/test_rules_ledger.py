"""Rules of the ledger: where it is, its caps, what releases take from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import SOURCE, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

LEDGER = 'ledger: {cap: {epsilon: 4, delta: 1e-5}, url: "sqlite:///ledger.db"}\nchecks:'
POPULATION = (f"source: {SOURCE}", f"source: {SOURCE}\n    population: patients\n    snapshot: s")
STATISTICS = """\
  - id: numbers
    kind: statistics
    from: patients
    budget: {epsilon: 5}
    queries: [{id: n, count: true}]
    output: out/numbers.csv
"""

RULES = [
    Rule(
        "a ledger that is nowhere",
        (("checks:", "ledger: {cap: {epsilon: 4}}\nchecks:"),),
        ["p.yaml:28:1: P201 url is missing in ledger"],
        (("checks:", LEDGER),),
    ),
    Rule(
        "a ledger with a password",
        (("checks:", 'ledger: {cap: {epsilon: 4}, url: "postgresql://dpo:made-up@db/ledger"}\nchecks:'),),
        [
            "p.yaml:28:34: P203 url must not hold a password\nhint: put the whole URL into an environment variable and write its name"
        ],
        (("checks:", 'ledger: {cap: {epsilon: 4}, url: "postgresql://dpo@db/ledger"}\nchecks:'),),
    ),
    Rule(
        "a ledger in an unknown kind of place",
        (("checks:", "ledger: {cap: {epsilon: 4}, url: ledger.db}\nchecks:"),),
        [
            "p.yaml:28:34: P203 url must be the place of a ledger\nhint: write sqlite:///FILE, postgresql://USER@HOST/DATABASE, or the name of an environment variable that holds the URL"
        ],
        (("checks:", "ledger: {cap: {epsilon: 4}, url: LEDGER_URL}\nchecks:"),),
    ),
    Rule(
        "a cap without budget",
        (("checks:", LEDGER.replace("epsilon: 4", "epsilon: 0")),),
        ["p.yaml:28:25: P104 epsilon must be above 0, got 0"],
        (("checks:", LEDGER.replace("epsilon: 4", "epsilon: 1e-3")),),
    ),
    Rule(
        "a cap whose delta is certainty",
        (("checks:", LEDGER.replace("1e-5", "1")),),
        ["p.yaml:28:35: P104 delta must be in [0, 1)\nhint: write e.g. 1e-5"],
        (("checks:", LEDGER.replace("1e-5", "0")),),
    ),
    Rule(
        "a release above the cap",
        (("checks:", STATISTICS + LEDGER), POPULATION),
        [
            "p.yaml:33:23: P430 the epsilon of release numbers, 5, is above the ledger's cap, 4: it could never be charged\nhint: lower it, or raise `ledger.cap.epsilon`"
        ],
        (("checks:", STATISTICS + LEDGER.replace("epsilon: 4", "epsilon: 5")), POPULATION),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
