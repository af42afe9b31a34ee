"""The cases of generalisation: every value has a label, the label is the right one, and nothing finer is released or told."""

from __future__ import annotations

import csv

import pytest
from ruamel.yaml import YAML


def expected(case):
    return YAML(typ="safe").load(case.expected.read_text(encoding="utf-8"))["values"]


def rows(case, name="out/r.csv"):
    return list(csv.DictReader((case.folder / name).read_text(encoding="utf-8").splitlines()))


def policy(columns, steps, *, knows, risk="1", source="input.csv", extra=""):
    return f"""datasets:
  d:
    source: {source}
    unit: rows
    columns:
{columns}threats:
  t: {{dataset: d, knows: [{knows}], highest_risk: {risk}}}
releases:
  - {{id: r, kind: microdata, from: d, protect: [t], transform: [{steps}], output: out/r.csv}}
{extra}"""


H01 = policy(
    """      id: {role: insensitive, type: integer}
      age: {role: quasi, type: TYPE, hierarchy: {csv: hierarchy.csv, delimiter: ",", heading: true}}
      town: {role: insensitive, type: category}
""",
    "{generalise: age, level: 1}",
    knows="age",
)


@pytest.mark.case("h01-hierarchy-misses-values")
@pytest.mark.parametrize("kind", ["integer", "string"])
def test_values_that_a_hierarchy_misses_or_lists_twice_are_told_before_any_output(case, kind):
    case.policy(H01.replace("TYPE", kind))
    ran = case("run", "policy.yaml")
    assert ran.code == 2
    assert "hierarchy.csv:3: P573 hierarchy of age: one value has different labels in lines 3 and 4" in ran.err
    assert expected(case)["uncovered"] == {"rows": [2]}
    hierarchy = case.folder / "hierarchy.csv"
    hierarchy.write_text(hierarchy.read_text().replace("45,45-54\n", ""))
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    # the empty age in row 3 is missing, and stays so
    assert "input.csv: D256 column age: 1 value is not covered by its transform step (row 2)" in ran.err
    assert "99" not in ran.out + ran.err
    assert not (case.folder / "out").exists()
    with hierarchy.open("a") as stream:
        stream.write("99,90-99\n")
    assert case("run", "policy.yaml").code == 0
    assert sorted(row["age"] for row in rows(case)) == ["", "30-39", "40-49", "90-99"]


@pytest.mark.case("h01-hierarchy-misses-values")
def test_an_empty_text_that_is_not_missing_is_not_covered(case):
    hierarchy = case.folder / "hierarchy.csv"
    hierarchy.write_text(hierarchy.read_text().replace("45,45-54\n", "99,90-99\n"))
    case.policy(H01.replace("type: TYPE", "type: string, format: {missing: [NA]}"))
    ran = case("run", "policy.yaml")
    assert (ran.code, "1 value is not covered" in ran.err, "(row 3)" in ran.err) == (3, True, True)


H03 = policy(
    """      id: {role: insensitive, type: integer, links: none}
      age: {role: quasi, type: integer, domain: [0, 120]}
      zip: {role: quasi, type: string, hierarchy: {prefix: [3], small: {file: population.csv, above: 20000, label: "000"}}}
""",
    "{code: age, top: 90}, {generalise: zip}",
    knows="age, zip",
)


@pytest.mark.case("h03-ages-over-89-and-small-zip-areas")
def test_ages_over_89_are_one_and_small_areas_are_one(case):
    case.policy(H03)
    ran = case("run", "policy.yaml")
    assert ran.code == 3  # 444 is in no listed area
    assert "input.csv: D256 column zip: 1 value is not covered by its transform step (row 6)" in ran.err
    assert "444" not in ran.out + ran.err
    assert not (case.folder / "out").exists()
    source = case.folder / "input.csv"
    source.write_text(source.read_text().replace("6,31,444\n", "6,31,\n"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    found = {int(row["id"]): row for row in rows(case)}
    values = expected(case)
    assert [found[number]["age"] or None for number in range(1, 7)] == values["age"]
    assert [found[number]["zip"] for number in range(1, 6)] == values["zip3"][:5]


F09 = policy(
    """      id: {role: insensitive, type: integer, links: none}
      imd_band: {role: quasi, type: category, hierarchy: {csv: hierarchy.csv, delimiter: ",", heading: true}FORMAT}
""",
    "{generalise: imd_band}",
    knows="imd_band",
)


@pytest.mark.case("f09-category-labels-that-do-not-match")
def test_values_that_are_written_otherwise_than_the_hierarchy_are_told_and_aliases_mend_them(case):
    values = expected(case)
    case.policy(F09.replace("FORMAT", ""))
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    assert sorted(values["A_uncovered"].values()) == [2, 4]
    assert "column imd_band: 2 values are not covered by its transform step (rows 2, 4)" in ran.err
    assert "?" not in ran.err.replace("hint", "")
    assert not (case.folder / "out").exists()
    case.policy(F09.replace("FORMAT", ', format: {aliases: {"10-20": "10-20%"}, missing: ["", "?"]}'))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    found = [row["imd_band"] or "missing" for row in rows(case)]
    assert {label: found.count(label) for label in set(found)} == values["B_counts"]
    assert found == ["low", "low", "low", "missing", "mid", "missing"]


F01 = policy(
    """      zip: {role: quasi, type: string, hierarchy: {prefix: [3]}}
      g: {role: quasi, type: category}
""",
    "{generalise: zip}",
    knows="zip",
)


@pytest.mark.case("f01-postal-code-leading-zero")
@pytest.mark.parametrize(("file", "values"), [("input.csv", "released"), ("zip_only_plain.csv", "released_plain")])
def test_the_first_three_characters_of_a_code_keep_its_zero(case, file, values):
    case.policy(F01.replace("input.csv", file).replace("out/r.csv", "[out/r.csv, out/r.parquet]"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert sorted(row["zip"] for row in rows(case)) == sorted(expected(case)[values])
    assert sorted(row[0] for row in case.released("out/r.parquet")) == sorted(expected(case)[values])


@pytest.mark.case("h01-hierarchy-misses-values")
def test_values_without_a_label_are_told_with_what_can_be_done_about_them(case):
    """Sentinel dates and the largest numbers have labels; of what has none the hint says something that helps."""
    (case.folder / "input.csv").write_text("d,n,z\n9999-12-31,9223372036854775807,310\n9999-12-31,-9223372036854775808,311\n")
    columns = """      d: {role: quasi, type: date, hierarchy: {date: [week]}}
      n: {role: quasi, type: integer, hierarchy: {widths: [10], bottom: 0, top: 90}}
      z: {role: quasi, type: string, hierarchy: {prefix: [LENGTH, 2], then: {parents: up.csv}}}
"""
    (case.folder / "up.csv").write_text("31;block 3\n32;block 4\n")
    steps = "{generalise: [d, n]}, {generalise: z, level: LEVEL}"

    def run(length, level):
        text = policy(columns.replace("LENGTH", length), steps.replace("LEVEL", level), knows="d, n, z")
        case.policy(text)
        return case("run", "policy.yaml")

    ran = run("4", "1")
    assert ran.code == 3
    assert "D256 column z" in ran.err
    assert "a value shorter than 4 characters has no prefix" in ran.err
    (case.folder / "up.csv").write_text("31;block 3\n32;310\n")
    ran = run("3", "3")
    assert ran.code == 3
    assert "input.csv: D257 column z: 1 value is, or begins with, a label that represents other values" in ran.err
    planned = case("plan", "policy.yaml", "--data")
    assert (planned.code, "D257 column z" in planned.err) == (3, True)
    assert not (case.folder / "out").exists()
    (case.folder / "up.csv").write_text("31;block 3\n32;block 4\n")
    ran = run("3", "3")
    assert ran.code == 0, ran.err
    assert [tuple(row.values()) for row in rows(case)] == [("9999-W52", "90+", "block 3"), ("9999-W52", "<0", "block 3")]
