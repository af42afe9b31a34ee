"""Two versions of a table: their difference is a cell of the persons who joined, left or changed, and keeps every rule."""

from __future__ import annotations

import pytest

CASE = "e02-one-person-joins-a-table-of-sums"


def prepared(case, shared):
    text = (shared / "cases" / CASE / "policy.yaml").read_text(encoding="utf-8")
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    return text


def rows(case, name):
    return (case.folder / name).read_text(encoding="utf-8").splitlines()


def check(case):
    return next(one for one in case.audit()["checks"] if one["id"] == "AUDIT-EARLIER-DIFFERENCE")


@pytest.mark.parametrize("kept", [True, False], ids=["the earlier file is kept", "the earlier file is gone"])
def test_the_one_who_joins_is_the_difference(case, shared, kept):
    text = prepared(case, shared).replace("snapshot: v1", "snapshot: v2")
    if kept:
        text = text.replace("source: input.csv", "source: input2.csv")
    else:
        (case.folder / "input2.csv").replace(case.folder / "input.csv")
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    assert check(case)["outcome"] == "fail"
    assert ("cannot be read" in check(case)["message"]) != kept
    assert "777" not in ran.out + ran.err


def test_six_who_join_pass_where_the_earlier_file_is_kept_and_fail_where_it_is_gone(case, shared):
    """p-percent asks who has how much of the difference, which only the earlier state tells."""
    text = prepared(case, shared).replace("snapshot: v1", "snapshot: v2")
    more = [f"q{i},n,{100 + i}" for i in range(6)]
    (case.folder / "input2.csv").write_text("\n".join([*rows(case, "input.csv"), *more]) + "\n", encoding="utf-8")
    (case.folder / "policy.yaml").write_text(text.replace("source: input.csv", "source: input2.csv"), encoding="utf-8")
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    (case.folder / "input.csv").write_text(
        "\n".join([*rows(case, "input2.csv"), *(line.replace("q", "r") for line in more)]) + "\n", encoding="utf-8"
    )
    (case.folder / "input2.csv").unlink()
    (case.folder / "policy.yaml").write_text(text.replace("v2", "v3"), encoding="utf-8")
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    assert check(case)["outcome"] == "fail"


def test_one_value_of_six_who_join_is_a_difference_of_one(case, shared):
    """The earlier file is gone: that six joined shows in the count, and not that one of them alone has an income."""
    text = (shared / "cases" / CASE / "policy.yaml").read_text(encoding="utf-8")
    text = text.replace("[{sum: inc}]", "[{count: true}, {sum: inc}]").replace(", p_percent: 0.1", "")
    text = text.replace("{column: pid}", "{column: pid, max_rows: 1}")
    original = rows(case, "input.csv")
    for version, incomes, code in (
        ("v1", (), 0),
        ("v2", (777, "", "", "", "", ""), 1),
        ("v3", (777, 101, 102, 103, 104, 105), 0),
    ):
        more = [f"q{i},n,{income}" for i, income in enumerate(incomes)]
        (case.folder / "input.csv").write_text("\n".join([*original, *more]) + "\n", encoding="utf-8")
        (case.folder / "policy.yaml").write_text(text.replace("snapshot: v1", f"snapshot: {version}"), encoding="utf-8")
        assert (case("run", "policy.yaml").code, version) == (code, version)
