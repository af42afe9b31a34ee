"""Rules of values: numbers, per cent, truth values, lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import RISK, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.policy.conftest import Folder

RULES = [
    Rule(
        "a value too large by a hundred",
        ((RISK, "highest_risk: 20"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 20\nhint: write 0.2 for 20 %",
        ],
        ((RISK, "highest_risk: 1e-1"),),
    ),
    Rule(
        "a threshold of zero",
        ((RISK, "highest_risk: 0"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 0",
        ],
        ((RISK, "highest_risk: 0.001"),),
    ),
    Rule(
        "a limit in per cent",
        (("limit: 0.05", "limit: 5"),),
        [
            "p.yaml:26:34: P104 limit must be in [0, 1], got 5\nhint: write 0.05 for 5 %",
        ],
        (("limit: 0.05", "limit: 1"),),
    ),
    Rule(
        "a weight of nothing",
        (("weights: {age: 2}", "weights: {age: 0}"),),
        [
            "p.yaml:26:55: P104 weight of age must be above 0, got 0",
        ],
        (("weights: {age: 2}", "weights: {age: 0.5}"),),
    ),
    Rule(
        "rows per person below one",
        (("max_rows: 1", "max_rows: 0"),),
        [
            "p.yaml:9:42: P104 max_rows must be at least 1, got 0",
        ],
        (("max_rows: 1", "max_rows: 2"),),
    ),
    Rule(
        "a share of a check in per cent",
        (("max: 0.05", "max: 5"),),
        [
            "p.yaml:29:71: P104 max of suppressed_cells must be in [0, 1], got 5\nhint: write 0.05 for 5 %",
        ],
        (("max: 0.05", "max: 1"),),
    ),
    Rule(
        "a per cent sign",
        ((RISK, "highest_risk: 20 %"),),
        [
            "p.yaml:19:19: P203 highest_risk needs a number, got 20 %\nhint: write 0.2 for 20 %",
        ],
        ((RISK, RISK + "0"),),
    ),
    Rule(
        "a number in quotes",
        ((RISK, "highest_risk: '0.2'"),),
        [
            "p.yaml:19:19: P203 highest_risk needs a number, got the text '0.2'\nhint: remove the quotes",
        ],
        ((RISK, "highest_risk: .2"),),
    ),
    Rule(
        "not a number",
        ((RISK, "highest_risk: .nan"),),
        [
            "p.yaml:19:19: P203 highest_risk must be finite, got .nan",
        ],
        ((RISK, "highest_risk: 0.5"),),
    ),
    Rule(
        "infinity",
        (("limit: 0.05", "limit: .inf"),),
        [
            "p.yaml:26:34: P203 limit must be finite, got .inf",
        ],
        (("limit: 0.05", "limit: 0"),),
    ),
    Rule(
        "a decimal comma",
        ((RISK, "highest_risk: 0,2"),),
        [
            "p.yaml:19:19: P203 highest_risk needs a number, got 0,2\nhint: write 0.2",
        ],
        ((RISK, RISK + "5"),),
    ),
    Rule(
        "leading zeros where a number is wanted",
        (("max_rows: 1", "max_rows: 010"),),
        [
            "p.yaml:9:42: P203 max_rows must not start with zeros, got 010\nhint: write 10",
        ],
        (("max_rows: 1", "max_rows: 10"),),
    ),
    Rule(
        "a number too close to zero",
        ((RISK, "highest_risk: 1e-99"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1] and at least 1e-30, got 1e-99",
        ],
        ((RISK, "highest_risk: 1e-9"),),
    ),
    Rule(
        "a number with an endless exponent",
        ((RISK, "highest_risk: 1e400000000"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 1e400000000",
        ],
        ((RISK, "highest_risk: 1e0"),),
    ),
    Rule(
        "a weight without end",
        (("weights: {age: 2}", "weights: {age: 1e99}"),),
        [
            "p.yaml:26:55: P104 weight of age must be above 0 and at most 1e30, got 1e99",
        ],
        (("weights: {age: 2}", "weights: {age: 1e9}"),),
    ),
    Rule(
        "a whole number without end",
        (("max_rows: 1", "max_rows: 1e400000000"),),
        [
            "p.yaml:9:42: P104 max_rows must be at most 9223372036854775807, got 1e400000000",
        ],
        (("max_rows: 1", "max_rows: 1e2"),),
    ),
    Rule(
        "a list for a number",
        ((RISK, "highest_risk: [0.2]"),),
        [
            "p.yaml:19:5: P203 highest_risk needs a number, got a list",
        ],
        ((RISK, "highest_risk: 2e-1"),),
    ),
    Rule(
        "a fraction for a whole number",
        (("max_rows: 1", "max_rows: 1.5"),),
        [
            "p.yaml:9:42: P203 max_rows needs a whole number, got 1.5",
        ],
        (("max_rows: 1", "max_rows: 3"),),
    ),
    Rule(
        "yes for a truth value",
        ((RISK, RISK + "\n    knows_rows: yes"),),
        [
            "p.yaml:20:17: P203 knows_rows must be true or false, got yes",
        ],
        ((RISK, RISK + "\n    knows_rows: true"),),
    ),
]


def test_the_policy_that_the_tables_change_is_sound(folder: Folder, sound: str) -> None:
    assert folder.check(sound) == []


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
