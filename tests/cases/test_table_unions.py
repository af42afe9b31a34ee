"""Contributors of several suppressed cells: what is suppressed together is as safe as a cell, with all that a unit has in it."""

from __future__ import annotations

import csv

import pytest

CASE = "w01-holding-in-two-suppressed-cells"

COLUMNS = """
      firm: {role: direct, type: string}
      branch: {role: quasi, type: category, domain: [B05, B06, B07, B08]}
      turnover: {role: sensitive, type: integer, domain: [0, 100000]}"""


def policy(protect, measures="{count: true}, {sum: turnover}", max_rows=3):
    return f"""datasets:
  firms:
    source: input.csv
    unit: {{column: firm, max_rows: {max_rows}}}
    columns:{COLUMNS}
releases:
  - id: turnover
    kind: table
    from: firms
    by: [branch]
    measures: [{measures}]
    margins: true
    protect: {{{protect}}}
    output: out/t.csv
"""


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(case, rows):
    lines = ["firm,branch,turnover", *(f"{firm},{branch},{value}" for firm, branch, value in rows)]
    (case.folder / "input.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def hidden_together(case):
    """What each firm has in the cells that are suppressed, largest first; nothing where the total is too."""
    rows = rows_of(case.folder / "out" / "t.csv")
    hidden = {row["branch"] for row in rows if row["status"] == "suppressed"}
    if "" in hidden:
        return []
    found = {}
    for row in rows_of(case.folder / "input.csv"):
        if row["branch"] in hidden:
            found[row["firm"]] = found.get(row["firm"], 0) + int(row["turnover"])
    return sorted(found.values(), reverse=True)


def test_a_holding_in_three_suppressed_cells_dominates_them_together(case, shared):
    text = (shared / "cases" / CASE / "policy.yaml").read_text(encoding="utf-8").replace("out/turnover.csv", "out/t.csv")
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    parts = hidden_together(case)
    assert 10 * parts[0] <= 9 * sum(parts)


def test_a_file_that_gives_their_sum_fails_whoever_made_it(case):
    case.policy(policy("min_count: 3, dominance: [1, 0.9]"))
    lines = ["branch,total_over,count,sum_turnover,status"]
    lines += [f"{name},,,,suppressed" for name in ("B05", "B06")]
    lines += ["B07,,12,3522,shown", "B08,,,,suppressed", ",branch,24,6531,shown"]
    (case.folder / "made.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = case("audit", "policy.yaml", "--release", "turnover", "--file", "made.csv")
    assert ran.code == 1
    assert "AUDIT-TABLE-GROUP" in ran.out + ran.err


@pytest.mark.parametrize(
    ("protect", "measures"),
    [
        ("min_count: 3, p_percent: 0.1", "{count: true}, {sum: turnover}"),
        ("min_count: 3, p_percent: 0.1", "{sum: turnover}"),
        ("min_count: 3, dominance: [1, 0.9]", "{count: true}, {mean: turnover}"),
        ("min_count: 3, dominance: [2, 0.95]", "{count: true}, {sum: turnover}"),
    ],
)
@pytest.mark.parametrize("branches", [("B05", "B06"), ("B05", "B06", "B08")])
def test_two_and_three_cells_under_each_rule(case, protect, measures, branches):
    others = [branch for branch in ("B05", "B06", "B07", "B08") if branch not in branches]
    written(
        case,
        [
            *(("H", branch, 1000) for branch in branches),
            *((f"{branch}x{i}", branch, 100 if i else 60) for branch in branches for i in range(3)),
            *((f"{branch}y{i}", branch, 300 - i) for branch in others for i in range(12)),
        ]
        if "p_percent" not in protect
        else [
            *(("H", branch, 1000) for branch in branches),
            *((f"{branch}x{i}", branch, 30 if i else 60) for branch in branches for i in range(3)),
            *((f"{branch}y{i}", branch, 300 - i) for branch in others for i in range(12)),
        ],
    )
    case.policy(policy(protect, measures))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    parts = hidden_together(case)
    if "p_percent" in protect:
        assert not parts or 10 * sum(parts[2:]) >= parts[0]
    elif "[1," in protect:
        assert not parts or 10 * parts[0] <= 9 * sum(parts)
    else:
        assert not parts or 100 * sum(parts[:2]) <= 95 * sum(parts)


def test_persons_in_several_cells_count_once(case):
    """Three and three firms, four of them in all: the two cells together have fewer contributors than five."""
    written(
        case,
        [
            *((firm, branch, 100) for firm in ("A", "B") for branch in ("B05", "B06")),
            ("C", "B05", 90),
            ("D", "B06", 90),
            *((f"{branch}y{i}", branch, 300) for branch in ("B07", "B08") for i in range(9)),
        ],
    )
    case.policy(policy("min_count: 5", "{count: true}"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    rows = rows_of(case.folder / "out" / "t.csv")
    assert {row["branch"] for row in rows if row["status"] == "suppressed"} > {"B05", "B06"}


def test_a_row_of_every_firm_keeps_what_was_released(case):
    """Without a firm in two cells the three small ones are enough: no more is suppressed than has to be."""
    written(
        case,
        [
            *((f"{branch}x{i}", branch, 100 + i) for branch in ("B05", "B06", "B08") for i in range(2)),
            *((f"B07y{i}", "B07", 300) for i in range(12)),
        ],
    )
    case.policy(policy("min_count: 3, dominance: [1, 0.9]"))
    assert case("run", "policy.yaml").code == 0
    rows = rows_of(case.folder / "out" / "t.csv")
    assert {row["branch"] for row in rows if row["status"] == "shown"} == {"B07", ""}
