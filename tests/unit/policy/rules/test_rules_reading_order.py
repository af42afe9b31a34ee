"""Signs that make a policy's text read otherwise than it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.text.yaml import MOST_LINES
from tests.unit.policy.rules.rule_table import RISK, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.policy.conftest import Folder

RULES = [
    Rule(
        "a comment that a sign puts before the value",
        ((RISK, f"{RISK} # \u202e2.0"),),
        [
            (
                "p.yaml:19:25: P613 warn: U+202E (right-to-left override): this text reads otherwise than it is\n"
                'hint: remove it; where a value needs it, write it as "\\u202E" in double quotes'
            ),
        ],
        ((RISK, f"{RISK} # \u200f2.0"),),
    ),
    Rule(
        "an isolate in a value",
        (("title: A registry", "title: A \u2067registry\u2069"),),
        [
            (
                "p.yaml:5:10: P613 warn: U+2067 (right-to-left isolate): this text reads otherwise than it is\n"
                'hint: remove it; where a value needs it, write it as "\\u2067" in double quotes'
            ),
        ],
        (("title: A registry", 'title: "A \\u2067registry\\u2069"'),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_what_breaks_a_rule_is_told_and_what_keeps_it_is_not(tried: Callable[[Rule], None], rule: Rule) -> None:
    tried(rule)


@pytest.mark.parametrize("sign", [chr(n) for n in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))], ids=ascii)
def test_a_policy_with_such_a_sign_is_loaded_and_no_message_holds_it(folder: Folder, change, sign: str) -> None:
    loaded, (finding,) = folder.load(change(("title: A registry", f"title: {sign}made-up")))
    assert loaded is not None
    assert loaded.warnings == (finding,)
    assert loaded.policy.title == f"{sign}made-up"
    assert str(finding).isascii()
    assert "made-up" not in str(finding)
    assert f"U+{ord(sign):04X}" in finding.message


@pytest.mark.parametrize("sign", ["\u200e", "\u200f", "\u061c", "\u2065", "\u206a", "\u2029"])
def test_marks_of_a_direction_and_other_signs_are_not_told(folder: Folder, change, sign: str) -> None:
    _, findings = folder.load(change(("title: A registry", f"title: A # {sign}registry")))
    assert not [finding for finding in findings if finding.code == "P613"]


def test_a_file_that_is_extended_or_broken_is_looked_at_too_and_many_lines_are_not_all_told(folder: Folder, change) -> None:
    _, findings = folder.load(
        change(("title: A registry", "title: A registry\nextends: [base.yaml]")), base="# \u202a\nreview: {}\n"
    )
    assert [(finding.code, finding.location.file.endswith("base.yaml")) for finding in findings if finding.location] == [
        ("P613", True)
    ]
    _, findings = folder.load("a: [\u202e")
    assert {finding.code for finding in findings} == {"P102", "P613"}
    _, findings = folder.load(change(("title: A registry", "title: A registry\n" + "# \u202e\n" * (MOST_LINES + 5))))
    assert len(findings) == MOST_LINES
