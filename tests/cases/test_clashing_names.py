"""A column of the source that is called like one that the output adds is refused before the work (case w05)."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.case("w05-names-that-clash-with-output-columns")
SHARED = "by: [count, status]"


def policy(case, *edits: tuple[str, str], name: str = "policy.yaml"):
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (case.folder / name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize("output", ["[out/t.csv, out/t.parquet]", "[out/t.csv]", "[out/t.parquet]"])
@pytest.mark.parametrize("verb", ["validate", "run"])
def test_a_group_called_like_a_column_of_the_output_is_refused(case, output, verb):
    ran = case(verb, policy(case, ("[out/t.csv, out/t.parquet]", output)))
    assert ran.code == 2
    assert "P533 count is called like the output's column count" in ran.out + ran.err
    assert "P533 status is called like the output's column status" in ran.out + ran.err


@pytest.mark.parametrize(
    ("by", "clashes"),
    [("[total_over]", True), ("[other]", False), ("[other, total_over]", True), ("[status]", True)],
)
def test_only_columns_that_are_grouped_by_can_clash(case, by, clashes):
    assert ("P533" in case("validate", policy(case, (SHARED, f"by: {by}"))).out) is clashes


@pytest.mark.parametrize("name", ["Count", "STATUS", "Total_Over"])
def test_capitals_do_not_tell_names_apart(case, name):
    column = f"      {name}: {{role: quasi, type: category, domain: [a, b]}}\n"
    edits = (("      other:", f"{column}      other:"), (SHARED, f"by: [{name}]"), ("      count:", "      number:"))
    text = case("validate", policy(case, *edits)).out
    assert f"P533 {name} is called like" in text


def test_a_group_called_like_a_sum_is_refused(case):
    column = (
        "      x: {role: sensitive, type: integer, domain: [0, 9]}\n      sum_x: {role: quasi, type: category, domain: [a]}\n"
    )
    edits = (("      other:", f"{column}      other:"), (SHARED, "by: [sum_x]"), ("[{count: true}]", "[{sum: x}]"))
    assert "P533 sum_x is called like the output's column sum_x" in case("validate", policy(case, *edits)).out
