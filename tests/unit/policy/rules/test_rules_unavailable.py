"""Rules of what this version does not do, or not without more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import RISK, SOURCE, STEP, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "microaggregation",
        ((STEP, "      - {microaggregate: [glucose], k: 5, method: mdav}"),),
        [
            "p.yaml:26:10: P210 the transform step microaggregate is not available in this version\nhint: remove it: what is not done must not be promised by the policy",
        ],
        ((STEP, "      - {drop: [glucose]}"),),
    ),
    Rule(
        "l-diversity",
        ((RISK, RISK + "\n    also: {l_diversity: {column: glucose, l: 2}}"),),
        [
            "p.yaml:20:12: P210 l-diversity is not available in this version\nhint: remove it: what is not done must not be promised by the policy",
        ],
        ((RISK, RISK + "\n    also: {subsets: {up_to: 1, k: 3}}"),),
    ),
    Rule(
        "a PostgreSQL source, whose password is not shown",
        ((SOURCE, "postgresql://u:pw@h/db"),),
        [
            "p.yaml:8:5: P210 a PostgreSQL source is not available in this version\nhint: remove it: what is not done must not be promised by the policy",
        ],
        ((SOURCE, "{sqlite: data/p.db, table: t}"),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
