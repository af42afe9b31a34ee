"""Rules of tables: their minimum count, groups, sums and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import TABLE, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "a table without a minimum count",
        (("checks:", TABLE.replace("{min_count: 10}", "{p_percent: 0.1}") + "checks:"),),
        ["p.yaml:28:5: P440 has no minimum count\nhint: write `protect: {min_count: 10}`"],
        (("checks:", TABLE.replace("{min_count: 10}", "{p_percent: 0.1}") + "tables: {min_count: 3}\nchecks:"),),
    ),
    Rule(
        "a minimum count that gives cells away",
        (("checks:", TABLE.replace("min_count: 10", "min_count: 2") + "checks:"),),
        [
            "p.yaml:34:26: P440 min_count must be at least 3\nhint: a suppressed count is known to be at least 1 and below the minimum"
        ],
        (("checks:", TABLE.replace("min_count: 10", "min_count: 3") + "checks:"),),
    ),
    Rule(
        "a table weaker than the policy's rules",
        (("checks:", TABLE + "tables: {min_count: 11}\nchecks:"),),
        ["p.yaml:34:26: P445 min_count is below that of `tables`\nhint: write 11"],
        (("checks:", TABLE + "tables: {min_count: 10}\nchecks:"),),
    ),
    Rule(
        "groups by a person",
        (("checks:", TABLE.replace("[sex]", "[patient_id]") + "checks:"),),
        ["p.yaml:31:10: P446 patient_id names persons: a cell of one would be a person\nhint: group by another column"],
        (("checks:", TABLE + "checks:"),),
    ),
    Rule(
        "a figure of a table twice",
        (("checks:", TABLE.replace("{sum: glucose}", "{count: true}") + "checks:"),),
        ["p.yaml:32:31: P446 this figure appears twice\nhint: remove one"],
        (("checks:", TABLE + "checks:"),),
    ),
    Rule(
        "groups by a column whose keys are not declared",
        (("domain: [F, M]", "description: sex"), ("checks:", TABLE + "checks:")),
        [
            "p.yaml:31:10: P441 the keys of sex are not declared: which of them occur would disclose something\nhint: write `domain: [key, …]` for sex, of at most 1000 keys"
        ],
        (("domain: [F, M]", "domain: [F, M, X]"), ("checks:", TABLE + "checks:")),
    ),
    Rule(
        "a table too large",
        (
            ("checks:", TABLE.replace("[sex]", "[sex, age]") + "checks:"),
            ("domain: [18, 85]", "domain: [0, 999]"),
            ("domain: [F, M]", "domain: [F, M, X, Y]"),
        ),
        ["p.yaml:31:5: P442 has 5005 cells, more than 5000\nhint: group by fewer columns or coarser keys"],
        (("checks:", TABLE.replace("[sex]", "[sex, age]") + "checks:"),),
    ),
    Rule(
        "a sum of values that are not bounded",
        (("checks:", TABLE + "checks:"), (", domain: [50, 400]", "")),
        [
            "p.yaml:32:37: P443 glucose has no smallest value\nhint: write `domain: [lowest, highest]` for glucose; `lowest` may be negative under `min_count` alone"
        ],
        (("checks:", TABLE + "checks:"),),
    ),
    Rule(
        "dominance of values that may be negative",
        (
            ("checks:", TABLE.replace("{min_count: 10}", "{min_count: 10, p_percent: 0.1}") + "checks:"),
            ("[50, 400]", "[-50, 400]"),
        ),
        [
            "p.yaml:32:37: P600 `p_percent` is not a rule for glucose, whose values may be negative: they cancel out, and the largest are no share of the sum\nhint: leave `p_percent` out, so that `min_count` alone protects the sum; or count persons here and publish the sum in a release with `kind: statistics`"
        ],
        (("checks:", TABLE + "checks:"), ("[50, 400]", "[-50, 400]")),
    ),
    Rule(
        "one recipient under two ids",
        (
            (
                "checks:",
                "legal: {recipients: [{id: lab, name: The Lab}, {id: other, name: ' the  lab'}]}\nchecks:",
            ),
        ),
        [
            "p.yaml:28:66: P608 has the name of the recipient lab: releases to both would count as releases to two recipients\nhint: give it the first one's id in `recipients`; where they are two, write names that differ"
        ],
        (("checks:", "legal: {recipients: [{id: lab, name: The Lab}, {id: other, name: Another Lab}]}\nchecks:"),),
    ),
    Rule(
        "two tables of one dataset under different rules",
        (("checks:", TABLE + TABLE.replace("admissions", "others").replace("10}", "11}") + "checks:"),),
        [
            "p.yaml:42:5: P444 min_count is not that of admissions, a table of the same rows: what one hides the other could disclose\nhint: write the same `protect` in both"
        ],
        (("checks:", TABLE + TABLE.replace("admissions", "others") + "checks:"),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
