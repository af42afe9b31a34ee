"""Rules of the legal section: measures that risks name, levels, and special categories without a word on the law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable


def dpia(risks: str, measures: str) -> str:
    return f"legal: {{dpia: {{risks: {risks}, measures: {measures}}}}}\nchecks:"


RULES = [
    Rule(
        "a risk names a measure that is there",
        (("checks:", dpia("[{text: found, measures: [noise]}]", "[{id: nose, text: noise}]")),),
        ["p.yaml:28:49: P740 no measure has the id noise\nhint: did you mean nose?"],
        (("checks:", dpia("[{text: found, measures: [nose]}]", "[{id: nose, text: noise}]")),),
    ),
    Rule(
        "a measure in words has no id",
        (("checks:", dpia("[{text: found, measures: [noise]}]", "[noise]")),),
        ["p.yaml:28:49: P740 no measure has the id noise\nhint: write `{id: noise, text: …}` under `measures`"],
        (("checks:", dpia("[found]", "[noise]")),),
    ),
    Rule(
        "an id of one measure",
        (("checks:", dpia("[found]", "[{id: a, text: x}, {id: a, text: y}]")),),
        ["p.yaml:28:66: P741 the id a appears twice\nhint: give every measure an id of its own"],
        (("checks:", dpia("[found]", "[{id: a, text: x}, {id: b, text: y}]")),),
    ),
    Rule(
        "a level that does not rise",
        (("checks:", dpia("[{text: found, severity: {before: limited, after: maximum}}]", "[x]")),),
        [
            (
                "p.yaml:28:38: P742 warn: the severity is maximum with the measures, and limited without them\n"
                "hint: write the level without any measure as `before`, and what is left with all of them as `after`"
            )
        ],
        (("checks:", dpia("[{text: found, severity: {before: limited, after: limited}}]", "[x]")),),
    ),
    Rule(
        "a special category and a word on the law",
        (("grid: 0.1}", "grid: 0.1, category: special}"), ("checks:", "legal: {recipients: []}\nchecks:")),
        [
            (
                "p.yaml:14:88: P743 warn: column glucose is of a special category (Art. 9 GDPR), and the policy states nothing about the law\n"
                "hint: write `legal: {basis: {art6: …, art9: …}, …}`; `legal: {profile: gdpr}` makes every field required"
            )
        ],
        (("grid: 0.1}", "grid: 0.1, category: special}"), ("checks:", "legal: {basis: {art9: A9-2-j}}\nchecks:")),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
