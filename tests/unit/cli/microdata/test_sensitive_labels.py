"""What members of a class share is told of sensitive columns that are written coarser, too."""

from __future__ import annotations

import json

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

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


@pytest.mark.parametrize(
    ("mark", "step"),
    [("[20, 30)", "{generalise: age}"), ("30+", "{code: age, top: 30}")],
)
def test_a_label_that_readers_take_for_a_missing_value_is_refused(desk, mark, step):
    text = POLICY.replace("STEP", step).replace("domain: [18, 99]}", "domain: [18, 99], hierarchy: {widths: [10]}}")
    desk.data("id,age,pay,ill\n" + "".join(f"p{n},{20 + n // 6},{2000 + n},x\n" for n in range(72)))
    desk.policy(text)
    assert desk.run().code == 0
    desk.policy(text.replace("source: data.csv", f'source: data.csv\n    format: {{missing: ["", "{mark}"]}}'))
    said = desk.run()
    assert (said.code, "D257" in said.err) == (3, True)
    assert mark not in said.out + said.err
