"""Files of other tools without a row map are held against the source: what no dropping and suppressing could have made fails."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import PERSONS, marked_policy

SUPPRESS = "{suppress: cells}"
#: Four of north and 30, two of south and 40, one of south and 30, and one whose age is not known.
ROWS = [
    *[("north", "30", "1.5")] * 4,
    ("south", "40", "1.5"),
    ("south", "40", "-2"),
    ("south", "30", "0"),
    ("west", "", "7.25"),
]


def text_of(rows, head="area,age,pay"):
    return "\n".join([head, *(",".join(row) for row in rows), ""])


@pytest.fixture
def theirs(desk):
    def use(steps=SUPPRESS, rows=ROWS, unit=PERSONS, people=None, form="csv"):
        people = people or [f"p{n}" for n in range(len(rows))]
        desk.data(text_of([(who, *row) for who, row in zip(people, rows, strict=True)], "id,area,age,pay"))
        desk.policy(marked_policy(risk="1", pay="number", steps=steps, unit=unit, form=form))

        def audit(rows, head="area,age,pay", name="theirs.csv"):
            if rows is not None:
                (desk.folder / name).write_text(text_of(rows, head), encoding="utf-8")
            said = desk("audit", "policy.yaml", "--release", "r", "--file", name, "--format", "json")
            return said, next((one for one in said.json["checks"] if one["id"] == "AUDIT-EXPLAINED"), None)

        return audit

    return use


def changed(place, column, value, rows=ROWS):
    made = [list(row) for row in rows]
    made[place][column] = value
    return made


def faults(check):
    return check["outcome"], check["message"], check["observed"]["exact"]


@pytest.mark.parametrize(
    ("place", "column", "value", "names"),
    [
        (4, 0, "north", "area"),
        (6, 1, "40", "age"),
        (7, 0, "south", "area"),
        (7, 2, "1.5", "pay"),  # a column that is not protected
        (7, 1, "30", "age"),  # a value where the source has none
        (5, 2, "*", "pay"),  # missing in a column that is never suppressed
    ],
)
def test_a_cell_changed_instead_of_suppressed_fails_with_its_own_finding(theirs, place, column, value, names):
    said, check = theirs()(changed(place, column, value))
    assert said.code == 1
    assert check["outcome"] == "fail"
    assert said.json["decision"]["outcome"] == "fail"
    assert f"A222 AUDIT-EXPLAINED Rows are explained by the source: {check['message']}" in said.err
    assert f"{names} (1 row)" in check["message"]
    assert check["observed"]["exact"] == "1"
    assert (check["visibility"], check["severity"]) == ("internal", "error")


def test_values_that_the_source_has_nowhere_are_named_by_column_and_never_shown(theirs):
    said, check = theirs()([(area.replace("south", "zouth"), age, pay) for area, age, pay in ROWS])
    assert said.code == 1
    assert faults(check) == ("fail", "values not in the source, recoded or changed, in: area (3 rows)", "3")
    assert "zouth" not in said.out + said.err


def test_the_other_columns_are_compared_without_one_that_was_recoded(theirs):
    rows = [(area[:1] + "*", age, pay) for area, age, pay in changed(6, 1, "40")]
    said, check = theirs()(rows)
    assert said.code == 1
    assert (
        "recoded or changed, in: area (8 rows); values in more rows than in the source, changed or repeated, in: age (1 row)"
        in check["message"]
    )


MANY = {0: (0, 1), 1: (0,), 2: (1,), 6: (0, 1), 5: (1,)}


@pytest.mark.parametrize(
    ("mark", "lost"),
    [("", {}), ("", MANY), ("*", MANY), ("NA", MANY), ("", dict.fromkeys(range(8), (0, 1)))],
    ids=["none", "many", "stars", "NA", "all"],
)
def test_dropped_rows_and_suppressed_cells_in_any_order_are_explained(theirs, mark, lost):
    rows = [[mark if place in lost.get(n, ()) else cell for place, cell in enumerate(row)] for n, row in enumerate(ROWS)]
    audit = theirs()
    for made in (rows[::-1], rows[2:5]):
        _, check = audit(made)
        assert check["outcome"] == "pass", check["message"]


def test_cells_of_two_rows_exchanged_fail_though_every_column_alone_is_as_before(theirs):
    rows = changed(5, 2, "0", changed(6, 2, "-2"))
    _, check = theirs()(rows)
    assert faults(check) == (
        "fail",
        "values in more rows than in the source, changed or repeated, in: age with pay (2 rows)",
        "2",
    )


def test_nested_patterns_show_a_source_row_for_each_row_and_others_say_that_they_do_not(theirs):
    audit = theirs()
    alone = audit(ROWS)[1]["message"]
    assert alone.startswith("every row has a source row of its own")
    assert "not shown" not in alone
    assert audit(changed(0, 1, "*"))[1]["message"].startswith("every row has a source row of its own")
    crossing = audit(changed(0, 1, "*", changed(4, 0, "*")))[1]["message"]
    assert "(all 3 patterns of suppressed cells)" in crossing
    assert "necessary where cells were only suppressed, not sufficient: that no cell was changed is not shown" in crossing


def test_a_change_that_only_a_matching_would_show_passes_and_is_not_claimed_to_be_shown(theirs):
    """Both rows could only be the first source row, by area the one and by age the other: each set alone has enough rows."""
    rows = [("a", "1", "0"), ("a", "2", "0"), ("b", "1", "0")]
    audit = theirs(rows=rows)
    _, check = audit([("a", "", "0"), ("", "1", "0"), ("a", "1", "0")])
    assert check["outcome"] == "pass"
    assert "not sufficient" in check["message"]


def test_a_row_repeated_in_place_of_another_fails_also_where_cells_of_the_copy_are_suppressed(theirs):
    audit = theirs()
    said, check = audit([*ROWS[:-1], ROWS[6]])
    assert said.code == 1
    assert check["outcome"] == "fail"
    _, check = audit([*ROWS[:-1], ("south", "", "0")])
    assert faults(check) == (
        "fail",
        "values in more rows than in the source, changed or repeated, in: area (1 row), pay (1 row)",
        "1",
    )


def test_more_rows_than_the_source_fail(theirs):
    said, check = theirs()([*ROWS, ("", "", "1.5")])
    assert said.code == 1
    assert check["message"].startswith("values in more rows")


def test_a_release_without_suppression_may_lose_rows_and_no_cell(theirs):
    audit = theirs(steps="")
    assert audit(ROWS[:6])[1]["outcome"] == "pass"
    _, check = audit(changed(5, 1, ""))
    assert (check["outcome"], "age" in check["message"]) == ("fail", True)


def test_numbers_are_compared_by_what_they_are_worth(theirs):
    audit = theirs()
    same = {"1.5": "1.500", "-2": "-2.0", "0": "-0.0", "7.25": "7.250"}
    assert audit([(area, age, same[pay]) for area, age, pay in ROWS])[1]["outcome"] == "pass"
    assert audit(changed(7, 2, "7.2500001"))[1]["message"] == "values not in the source, recoded or changed, in: pay (1 row)"


def test_files_of_other_kinds_and_widths_are_read_alike(theirs, desk):
    import duckdb

    audit = theirs(form="parquet")
    query = "SELECT area, age::SMALLINT AS age, PAY AS pay FROM read_csv('data.csv', nullstr='') ORDER BY pay"
    for worth in ("pay::DECIMAL(8, 3)", "pay::FLOAT", "CASE WHEN pay = 0 THEN -0.0::DOUBLE ELSE pay::DOUBLE END"):
        duckdb.sql(query.replace("PAY", worth)).write_parquet(str(desk.folder / "theirs.parquet"))
        assert audit(None, name="theirs.parquet")[1]["outcome"] == "pass", worth
    duckdb.sql(query.replace("PAY", "if(pay = 0, 'nan'::DOUBLE, pay)")).write_parquet(str(desk.folder / "theirs.parquet"))
    said, check = audit(None, name="theirs.parquet")
    assert said.code == 1
    assert check["message"] == "values not in the source, recoded or changed, in: pay (1 row)"


def test_pseudonyms_are_not_compared_but_persons_are_counted_by_them(theirs, monkeypatch):
    monkeypatch.setenv("KEY", "k" * 32)
    steps = "{pseudonymise: [id], key: KEY}, {suppress: cells}"
    people = ["a", "a", "b", "b", "c", "d", "e", "f"]
    audit = theirs(steps, unit="unit: {column: id, max_rows: 2}", people=people)
    head = "id,area,age,pay"
    rows = [(f"t{who}", *row) for who, row in zip(people, ROWS, strict=True)]
    _, check = audit(rows, head)
    assert check["outcome"] == "pass"
    assert check["message"].endswith("not compared: id")
    _, check = audit([("tz", *rows[0][1:]), *rows[1:]], head)
    assert check["outcome"] == "fail"
    assert "values with more persons than in the source, in: " in check["message"]


def test_a_file_of_a_run_is_led_back_by_its_row_map_and_not_asked_what_could_explain_it(theirs, desk):
    theirs()
    assert desk.run_once().code == 0
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "out/r.csv", "--format", "json")
    assert said.code == 0, said.err
    assert not [one for one in said.json["checks"] if one["id"] == "AUDIT-EXPLAINED"]


def test_without_the_source_the_check_is_named_as_not_made(theirs, desk):
    theirs()(ROWS)
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--no-source", "--format", "json")
    check = next(one for one in said.json["checks"] if one["id"] == "AUDIT-EXPLAINED")
    assert (check["outcome"], check["severity"], check["message"]) == ("not_evaluated", "warn", "the source was not measured")


def test_of_very_many_patterns_the_commonest_are_tried_and_the_others_named(theirs, monkeypatch):
    import privrelease.audit.microdata.source_consistency as explained

    monkeypatch.setattr(explained, "MOST_PATTERNS", 2)
    _, check = theirs()([*ROWS[:5], ("", "40", "-2"), ("south", "", "0"), ("", "", "7.25")])
    assert check["outcome"] == "warn"
    assert "over the commonest 2 of 4 patterns" in check["message"]
