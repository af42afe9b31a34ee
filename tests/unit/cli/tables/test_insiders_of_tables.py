"""A table through the command line: contributors of a suppressed cell do not learn another one by subtracting their own."""

from __future__ import annotations

import csv

from tests.unit.cli.conftest import POLICY_HEAD

CELLS = {
    ("a", "x"): [500],
    ("a", "y"): [100, 90, 80, 70],
    ("a", "z"): [100] * 6,
    ("b", "x"): [100, 95, 80, 75],
    ("b", "y"): [600, 10, 5],
    ("b", "z"): [120] * 6,
    ("c", "x"): [100] * 7,
    ("c", "y"): [130] * 7,
    ("c", "z"): [130] * 7,
}
POLICY = (
    POLICY_HEAD
    + """\
    columns:
      r: {role: quasi, type: category, domain: [a, b, c]}
      s: {role: quasi, type: category, domain: [x, y, z]}
      v: {role: sensitive, type: integer, domain: [0, 1000]}
releases:
  - id: t
    kind: table
    from: d
    by: [r, s]
    measures: [{count: true}, {sum: v}]
    margins: true
    protect: {min_count: 3, p_percent: 0.1}
    output: {path: out/t.csv}
"""
)


def rectangle(lines):
    """The table with the four cells of a rectangle alone suppressed."""
    for line in lines:
        values = [value for (r, s), found in CELLS.items() for value in found if line["r"] in {r, ""} and line["s"] in {s, ""}]
        hidden = line["r"] in {"a", "b"} and line["s"] in {"x", "y"}
        yield [
            line["r"],
            line["s"],
            line["total_over"],
            *(["", "", "suppressed"] if hidden else [len(values), sum(values), "shown"]),
        ]


def test_three_cells_of_a_rectangle_do_not_give_the_fourth_to_who_fills_one(desk):
    desk.data("r,s,v\n" + "".join(f"{r},{s},{value}\n" for (r, s), values in CELLS.items() for value in values))
    desk.policy(POLICY)
    said = desk.run()
    assert said.code == 0, said.err
    with (desk.folder / "out" / "t.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = [["r", "s", "total_over", "count", "sum_v", "status"], *rectangle(lines)]
    (desk.folder / "made.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "t", "--file", "made.csv")
    assert said.code == 1
    assert "AUDIT-TABLE-INTERVAL" in said.err
    assert (
        "who contributes to another suppressed cell, and knows that part, has suppressed cells too narrowly: b / y" in said.err
    )
