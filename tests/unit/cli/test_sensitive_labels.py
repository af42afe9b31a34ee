"""What members of a class share is told of sensitive columns that are written coarser, too."""

from __future__ import annotations

import json

import pytest

from .conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [18, 99]}
      pay: {role: sensitive, type: integer, domain: [0, 9000], hierarchy: {widths: [1000]}}
      ill: {role: sensitive, type: category}
threats: {t: {dataset: d, knows: [age], highest_risk: 0.2}}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], transform: [STEP], output: out/r.csv}
"""
)


@pytest.mark.parametrize(
    ("step", "distance"),
    [
        ("{round: [pay], to: 1000}", "ordered"),
        ("{generalise: pay, write: low}", "ordered"),
        ("{generalise: pay}", "equal"),
        ("{code: pay, top: 10}", "equal"),
    ],
)
def test_a_class_that_shares_one_released_value_is_told(desk, step, distance):
    """By hand: pay is other in each row, and one thousand in each class of six; two ill of three kinds stand in each."""
    rows = [(f"p{n}", 20 + n // 6, 2000 * (n // 6 + 1) + n, "xyz"[n % 3]) for n in range(24)]
    desk.policy(POLICY.replace("STEP", step))
    desk.data("id,age,pay,ill\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    assert desk.run().code == 0
    (audit,) = desk.folder.glob(".privrelease/runs/*/internal/audit.json")
    told = {row["column"]: row for row in json.loads(audit.read_text(encoding="utf-8"))["sensitive"]["rows"]}
    assert {name: (row["shared"]["value"], row["distinct_l"]["value"]) for name, row in told.items()} == {
        "pay": (1, 1),
        "ill": (0, 3),
    }
    assert told["pay"]["distance"] == distance
