"""An environment lowers what a synthetic release spends, or what it shows, and weakens nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.test_synthetic_rules import HEAD

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

KEYS = {
    "id": "s",
    "kind": "synthetic",
    "from": "patients",
    "method": "histogram",
    "columns": "[id, age, sex, area]",
    "rows": "100",
    "bins": "{age: {width: 10}}",
    "make": '{id: {pattern: "[0-9]{6}", unique: true}}',
    "discover": "{area: {epsilon: 0.2, delta: 1e-7, at_most: 5}}",
    "impossible": "[age IS NULL]",
    "holdout": "0.2",
    "budget": "{epsilon: 2, delta: 1e-6}",
    "output": "out/s.csv",
}
BASE = HEAD.partition("releases:\n")[0] + "releases:\n  - {" + ", ".join(f"{k}: {v}" for k, v in KEYS.items()) + "}\n"
BASE += 'ledger: {cap: {epsilon: 4, delta: 1e-5}, url: "sqlite:///ledger.db"}\n'


def overlaid(change: dict[str, str | None]) -> str:
    keys = {name: value for name, value in (KEYS | change).items() if value is not None}
    return f"{BASE}environments:\n  ci: {{releases: [{{{', '.join(f'{k}: {v}' for k, v in keys.items())}}}]}}\n"


def loosened(folder: Folder, change: dict[str, str | None]) -> list[str]:
    found = folder.check(overlaid(change), env="ci")
    return [one.split("loosens the policy: ")[1].split("\n")[0] for one in found if " P504 " in one]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"budget": "{epsilon: 1, delta: 1e-6}"},
        {"budget": "{epsilon: 2, delta: 5e-7}"},
        {"holdout": "0.3"},
        {"columns": "[id, age, area]"},
        {"discover": "{area: {epsilon: 0.1, delta: 5e-8, at_most: 5}}"},
        {"output": "out/other.csv"},
        {"description": "for tests"},
    ],
    ids=str,
)
def test_an_environment_may_spend_less_show_less_and_hold_out_more(folder: Folder, change: dict[str, str | None]) -> None:
    assert loosened(folder, change) == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"budget": "{epsilon: 3, delta: 1e-6}"}, "budget.epsilon may become lower only"),
        ({"budget": "{epsilon: 2, delta: 2e-6}"}, "budget.delta may become lower only"),
        ({"holdout": "0.1"}, "holdout may become higher only"),
        ({"holdout": None}, "holdout may become higher only"),
        (
            {"columns": "[id, age, sex, area, born]", "bins": "{age: {width: 10}, born: {width: 400}}"},
            "columns may only lose entries",
        ),
        ({"discover": "{area: {epsilon: 0.3, delta: 1e-7, at_most: 5}}"}, "discover.area.epsilon may become lower only"),
        ({"discover": "{area: {epsilon: 0.2, delta: 2e-7, at_most: 5}}"}, "discover.area.delta may become lower only"),
        ({"discover": "{area: {epsilon: 0.2, delta: 1e-7, at_most: 9}}"}, "discover.area.at_most must not change"),
        ({"method": "mst"}, "method must not change"),
        ({"project": "false"}, "project must not change"),
        ({"bins": "{age: {width: 5}}"}, "bins.age.width must not change"),
        ({"make": '{id: {pattern: "[0-9]{7}", unique: true}}'}, "make.id.pattern must not change"),
        ({"make": '{id: {pattern: "[0-9]{6}"}}'}, "make.id.unique must not change"),
        ({"impossible": None}, "impossible must not"),
        ({"rows": "noisy"}, "rows must not change"),
        ({"neighbours": "replace"}, "neighbours must not change"),
        ({"fresh": "true"}, "fresh must not change"),
    ],
    ids=str,
)
def test_an_environment_weakens_no_key(folder: Folder, change: dict[str, str | None], name: str) -> None:
    found = loosened(folder, change)
    assert any(one.startswith(f"releases.s.{name}") for one in found), found
