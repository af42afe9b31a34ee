from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.language.checks import CHECKS
from privrelease.policy.loader import check_policy
from privrelease.policy.validation.unsupported import UNAVAILABLE

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.policy.validation.unsupported import Feature
    from tests.unit.policy.conftest import Folder

STEPS = {
    "microaggregate": "{microaggregate: [glucose], k: 5, method: mdav}",
    "swap": "{swap: sex, within: [age], share: 0.05}",
    "pram": "{pram: sex, matrix: invariant, keep: 0.9}",
    "quantise": "quantise: {columns: {age: {distance: absolute, radius: 5}}, min_size: 10}",
}


def using(feature: Feature, sound: str) -> str:
    """The sound policy with the feature in it."""
    match feature.path:
        case (top,):
            return sound + f"{top}: {{any: thing}}\n"
        case ("releases", "[]", "kind"):
            return sound.replace("checks:", f"  - {{id: more, kind: {feature.value}, from: patients, output: m.csv}}\nchecks:")
        case ("releases", "[]", "transform", "[]", step):
            return sound.replace("      - {suppress", f"      - {STEPS[step]}\n      - {{suppress")
        case ("threats", "*", "also", model):
            return sound.replace("highest_risk: 0.2", f"highest_risk: 0.2\n    also: {{{model}: {{column: glucose}}}}")
        case ("datasets", "*", "source"):
            return sound.replace("data/patients.csv", "postgres://h/db")
        case ("datasets", "*", "source", kind):
            return sound.replace("data/patients.csv", f"{{{kind}: DATABASE_URL, table: t}}")
    raise AssertionError(feature)


@pytest.mark.parametrize("feature", UNAVAILABLE, ids=lambda feature: feature.name.replace(" ", "-"))
def test_what_is_not_done_is_refused_where_it_stands_and_nothing_else_is_said(
    feature: Feature, folder: Folder, sound: str
) -> None:
    findings = folder.check(using(feature, sound))
    assert len(findings) == 1
    assert findings[0].split(" ", 1)[1] == (
        f"P210 {feature.name} is not available in this version\n"
        "hint: remove it: what is not done must not be promised by the policy"
    )


def test_checks_that_are_built_in_are_no_names_of_great_expectations() -> None:
    assert not [kind.name for kind in CHECKS if kind.name.startswith("expect_")]


def test_the_example_of_the_language_is_refused_only_for_what_is_not_done(shared: Path, tmp_path: Path) -> None:
    text = (shared / "POLICY.md").read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    (tmp_path / "org-base.yaml").write_text("review: {triggers: [new data]}\n")
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    _, findings = check_policy(tmp_path / "p.yaml")
    errors = [finding for finding in findings if finding.severity.value == "error"]
    # the page of the format writes a hierarchy at the step; since then it belongs to the column
    moved = {finding.message for finding in errors if finding.code == "P200"}
    assert moved <= {"unknown key hierarchy in item 1 of transform", "unknown key hierarchy in item 2 of transform"}
    # and its synthetic release names no columns, and a method that this version may lack
    released = [finding.message for finding in errors if finding.code in {"P201", "P202"}]
    assert all("columns" in message or message.startswith("method must be") for message in released), released
    assert {finding.code for finding in errors} <= {"P200", "P201", "P202", "P210"}
    names = {finding.message.removesuffix(" is not available in this version") for finding in errors if finding.code == "P210"}
    assert names <= {feature.name for feature in UNAVAILABLE}
