"""A warning before any charge where the noise alone decides how many rows are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.loader import check_policy

from .test_synthetic_rules import policy

if TYPE_CHECKING:
    from pathlib import Path

MANY = {"columns": "[sex, age, glucose]", "bins": "{age: {width: 1}, glucose: {width: 1}}"}
STATED = """\
  - id: m
    kind: statistics
    from: patients
    budget: {epsilon: 1}
    queries: [{id: age, mean: age, expected_rows: 300}]
    output: out/m.csv
"""


def told(folder: Path, stated: str = "", **changes: str | None) -> list[str]:
    (folder / "p.yaml").write_text(policy(**changes).replace("ledger: {", stated + "ledger: {"), encoding="utf-8")
    _, findings = check_policy(folder / "p.yaml")
    assert [one for one in findings if one.severity.value == "error"] == []
    found = [one for one in findings if one.code == "P783"]
    assert all(one.severity.value == "warn" and one.location.line > 0 for one in found)
    return [one.message for one in found]


def one_column(epsilon: str, **changes: str | None) -> dict[str, str | None]:
    plain: dict[str, str | None] = {
        "columns": "[sex]",
        "bins": None,
        "make": None,
        "discover": None,
        "impossible": None,
        "holdout": None,
    }
    return {"budget": f"{{epsilon: {epsilon}}}", **plain, "rows": "noisy", **changes}


def test_a_budget_that_tells_rows_from_noise_is_not_warned_of(tmp_path):
    assert told(tmp_path, **one_column("0.1")) == []
    assert told(tmp_path, STATED, **one_column("1")) == []


def test_without_a_stated_size_only_what_holds_for_every_size_is_said(tmp_path):
    """70,000 cells with noise of scale 10^6: a deviation of 3.7 10^8, next to half of 10^8."""
    (said,) = told(tmp_path, **one_column("0.000001", **MANY))
    assert "chance of 90%" in said
    assert "whatever the number of rows is" in said
    assert told(tmp_path, **one_column("0.0001")) == [], (
        "a sum of 10,000 times three cells may be right for some number of rows"
    )
    assert told(tmp_path, **one_column("0.000001", **MANY, rows="100")) == [], "a number that is written is drawn"


def test_with_a_stated_size_the_chance_is_that_of_the_noise(tmp_path):
    """Scale 10^4 against 300 rows: below 1 with nearly one half."""
    (said,) = told(tmp_path, STATED, **one_column("0.0001"))
    assert "49%" in said
    assert "of about 300 rows, as `expected_rows` states" in said
    assert told(tmp_path, STATED.replace("mean: age", 'mean: age, where: "age > 30"'), **one_column("0.0001")) == []


@pytest.mark.parametrize("method", ["histogram", "privbayes", "dpcocgen", "mst", "aim"])
def test_every_method_says_so(tmp_path, method, monkeypatch):
    """Under each the noise of the rows is at least that of one count for the whole budget."""
    monkeypatch.setattr("privrelease.policy.synthetic.noisy_rows.MOST_ROWS", 2_000)
    extra = {"columns": "[sex, age]", "bins": "{age: {width: 10}}"}
    budget = {"budget": "{epsilon: 0.001, delta: 1e-9}"}
    text = told_of(tmp_path, method, **{**one_column("0.001"), **extra, **budget})
    assert len(text) == 1, text


def told_of(folder: Path, method: str, **changes: str | None) -> list[str]:
    (folder / "p.yaml").write_text(policy(**changes).replace("method: histogram", f"method: {method}"), encoding="utf-8")
    _, findings = check_policy(folder / "p.yaml")
    return [one.message for one in findings if one.code == "P783"]


def test_no_row_is_read_for_it(tmp_path):
    """The source of this policy does not exist."""
    assert not (tmp_path / "data").exists()
    assert told(tmp_path, **one_column("0.000001", **MANY))
