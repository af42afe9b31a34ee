"""Sums and means of a column with two values count persons, and are judged as the two counts that they give away."""

from __future__ import annotations

import csv

import pytest

CASE = "t05-mean-of-an-indicator"


def policy(measures, protect="min_count: 6", column="type: integer, domain: [0, 1]", more="", by="sex"):
    return f"""datasets:
  d:
    source: input.csv
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: string}}
      sex: {{role: quasi, type: category, domain: [f, m]}}
      smokes: {{role: sensitive, {column}}}
releases:
  - {{id: u, kind: table, from: d, by: [{by}], measures: [{measures}], protect: {{{protect}}}, {more} output: out/u.csv}}
"""


def written(case, groups, low="0", high="1"):
    """``groups``: by sex, how many have the lower and how many the higher value, and how many have none."""
    lines, person = ["id,sex,smokes"], 0
    for sex, counts in groups.items():
        for value, count in zip((low, high, ""), counts, strict=False):
            for _ in range(count):
                person += 1
                lines.append(f"{person},{sex},{value}")
    (case.folder / "input.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def shown(case):
    with (case.folder / "out" / "u.csv").open(encoding="utf-8", newline="") as file:
        return {row["sex"] for row in csv.DictReader(file) if row["status"] == "shown"}


def test_the_mean_of_a_few_smokers_is_suppressed(case, shared):
    text = (shared / "cases" / CASE / "policy.yaml").read_text(encoding="utf-8")
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "0.019" not in (case.folder / "out" / "u.csv").read_text(encoding="utf-8")
    assert case.audit()["table"]["unsafe"]["two_values"]["value"] == 2
    ran = case("validate", "policy.yaml")
    assert ran.code == 0
    assert "P614" in ran.out + ran.err


@pytest.mark.parametrize("measures", ["{count: true}, {mean: smokes}", "{sum: smokes}", "{mean: smokes}"])
@pytest.mark.parametrize(
    ("low", "high", "column"),
    [("0", "1", "type: integer, domain: [0, 1]"), ("2", "2.5", "type: number, grid: 0.5, domain: [2, 2.5]")],
)
def test_each_side_has_the_minimum_count_or_is_hidden(case, measures, low, high, column):
    written(case, {"f": (6, 6), "m": (60, 5)}, low, high)
    case.policy(policy(measures, column=column))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert shown(case) == {"f"}


def test_those_without_a_value_are_on_neither_side(case):
    written(case, {"f": (7, 7, 30), "m": (7, 3, 30)})
    case.policy(policy("{count: true}, {mean: smokes}"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert shown(case) == {"f"}


@pytest.mark.parametrize(
    ("protect", "expected"),
    [
        ("min_count: 6", {"f", "m"}),
        ("min_count: 6, zeros: suppress", {"m"}),
        ("min_count: 6, class_disclosure: true", {"m"}),
    ],
)
def test_a_group_of_one_value_is_as_an_empty_cell_of_a_count_table(case, protect, expected):
    written(case, {"f": (0, 40), "m": (20, 20)})
    case.policy(policy("{count: true}, {mean: smokes}", protect))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert shown(case) == expected


def test_totals_do_not_give_the_small_side_back(case):
    written(case, {"f": (50, 2), "m": (50, 50)})
    case.policy(policy("{count: true}, {sum: smokes}", more="margins: true,"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "f" not in shown(case)
    assert len(shown(case)) <= 1


def test_a_file_that_shows_them_fails_its_audit(case):
    case.policy(policy("{count: true}, {mean: smokes}"))
    lines = ["sex,total_over,count,mean_smokes,status", "f,,105,0.019,shown", "m,,105,0.019,shown"]
    (case.folder / "made.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = case("audit", "policy.yaml", "--release", "u", "--file", "made.csv")
    assert ran.code == 1
    assert "two_values" in ran.out + ran.err


def test_a_column_that_has_two_values_in_the_source_alone(case):
    """The domain allows ten values; the source has two, and who knows the column knows that."""
    written(case, {"f": (60, 3), "m": (60, 30)}, "0", "4")
    case.policy(policy("{count: true}, {sum: smokes}", column="type: integer, domain: [0, 9]"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert shown(case) == {"m"}
