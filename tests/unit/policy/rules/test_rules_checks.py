"""Rules of checks: limits, threats and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import STEP, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "no limit",
        ((", max: 0.05", ""),),
        [
            "p.yaml:29:5: P418 UTIL-001 has no limit: nothing would be checked\nhint: write `max` or `min`",
        ],
        ((", max: 0.05", ", min: 0"),),
    ),
    Rule(
        "limits that exclude each other",
        (("max: 0.05", "min: 0.5, max: 0.05"),),
        [
            "p.yaml:29:71: P418 min 0.5 is above max 0.05: UTIL-001 could never pass",
        ],
        (("max: 0.05", "min: 0.05, max: 0.05"),),
    ),
    Rule(
        "a fraction of a count",
        (("expect: suppressed_cells, max: 0.05", "expect: rows, min: 0.5"),),
        [
            "p.yaml:29:59: P418 min of rows must be a whole number of at least 0, got 0.5",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: rows, min: 5"),),
    ),
    Rule(
        "a threat where none is measured",
        (("max: 0.05", "max: 0.05, threat: external"),),
        [
            "p.yaml:29:77: P418 suppressed_cells takes no threat\nhint: remove it",
        ],
        (("max: 0.05", "max: 0.05, column: age"),),
    ),
    Rule(
        "a column that does not leave",
        (("max: 0.05", "max: 0.05, column: patient_id"),),
        [
            "p.yaml:29:85: P418 patient_id does not leave in release microdata\nhint: name a released column",
        ],
        (("max: 0.05", "max: 0.05, column: sex"),),
    ),
    Rule(
        "missing cells of no column",
        (("expect: suppressed_cells, max: 0.05", "expect: missing_cells, max: 0.05"),),
        [
            "p.yaml:29:5: P418 missing_cells needs a column\nhint: write `column`",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: missing_cells, max: 0.05, column: glucose"),),
    ),
    Rule(
        "a threat that the release does not protect against",
        (
            ("threats:", "threats:\n  other: {dataset: patients, knows: [glucose], highest_risk: 0.5}"),
            ("expect: suppressed_cells, max: 0.05", "expect: k, min: 2, threat: other"),
        ),
        [
            "p.yaml:16:3: P607 warn: no release protects against other\nhint: name it under `protect`, or remove it",
            "p.yaml:30:67: P418 release microdata does not protect against other\nhint: add it to `protect`, or name a protected threat",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 2, threat: external"),),
    ),
    Rule(
        "risk without a threat",
        (
            ("protect: [external]", "protect: []"),
            (STEP, "      - {drop: [glucose]}"),
            ("expect: suppressed_cells, max: 0.05", "expect: k, min: 2"),
        ),
        [
            "p.yaml:16:3: P607 warn: no release protects against external\nhint: name it under `protect`, or remove it",
            "p.yaml:21:5: P601 warn: age is a quasi-identifier and is published in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and is published in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:29:5: P418 k needs a threat: release microdata protects against none\nhint: write `threat`",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 2"),),
    ),
    Rule(
        "two checks of one name",
        (("max: 0.05}", "max: 0.05}\n  - {id: UTIL-001, release: microdata, expect: rows, min: 1}"),),
        [
            "p.yaml:30:10: P408 two checks are called UTIL-001\nhint: rename one of them",
        ],
        (("max: 0.05}", "max: 0.05}\n  - {id: UTIL-002, release: microdata, expect: rows, min: 1}"),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
