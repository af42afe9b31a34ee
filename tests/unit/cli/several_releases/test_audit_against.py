"""Releases of the same persons beside each other, from the command line: two that intersect are told, whoever made them."""

from __future__ import annotations

import shutil

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

HEAD = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
      pay: {role: sensitive, type: integer}
threats:
  t: {dataset: d, knows: [area, job], highest_risk: 0.5}
releases:
"""
)
#: Two people alone in what is known of them: suppressing their job shows their area, and the other way round.
PEOPLE = [("north", "clerk")] * 4 + [("south", "smith")] * 4 + [("north", "smith"), ("south", "clerk")]
DATA = "id,area,job,pay\n" + "".join(f"p{n},{area},{job},{100 + n}\n" for n, (area, job) in enumerate(PEOPLE))


def release(name, weights, more=""):
    return (
        f"  - {{id: {name}, kind: microdata, from: d, protect: [t], {more}"
        f"transform: [{{suppress: cells, weights: {weights}}}], output: {{path: out/{name}.csv}}}}\n"
    )


JOB_GOES, AREA_GOES = release("a", "{area: 9, job: 1}"), release("b", "{area: 1, job: 9}")


@pytest.fixture
def two(desk):
    """Two releases of the same persons: in one the job of the two is missing, in the other their area."""
    desk.data(DATA)
    desk.policy(HEAD + JOB_GOES + AREA_GOES)
    return desk


def checks(document):
    return {check["id"]: check["outcome"] for check in document["checks"] if check["id"].startswith("AUDIT-EARLIER")}


def cells(desk, name):
    return sorted(line.rsplit(",", 1)[0] for line in (desk.folder / "out" / f"{name}.csv").read_text().splitlines()[1:])


@pytest.mark.parametrize("name", ["a", "b"])
def test_either_of_the_two_alone_holds(two, name):
    said = two.run_once("--release", name)
    assert said.code == 0, said.err


def test_a_run_tells_that_its_release_intersects_with_one_that_is_published(two):
    said = two.run()
    assert said.code == 1
    assert "AUDIT-EARLIER-INTERSECT" in said.err
    assert "A281" in said.err
    assert (two.folder / "out" / "a.csv").exists()
    assert not (two.folder / "out" / "b.csv").exists()
    assert "p8" not in said.err + said.out


def test_where_recipients_cannot_hold_it_the_earlier_release_is_named_and_not_combined(two):
    two.policy(HEAD + JOB_GOES + release("b", "{area: 1, job: 9}", "recipients_hold_previous: false, "))
    said = two.run("--format", "json")
    assert said.code == 0, said.err
    report = max((two.folder / ".privrelease" / "runs").iterdir()) / "internal" / "audit.json"
    assert '"looked": "not_held"' in report.read_text(encoding="utf-8")
    assert cells(two, "a") != cells(two, "b")


def test_the_same_release_again_is_the_same_file(two):
    two.policy(HEAD + JOB_GOES)
    assert two.run_once().code == 0
    said = two.run()
    assert said.code == 0, said.err


@pytest.fixture
def apart(two):
    """Both releases as files, made by two policies that know nothing of each other."""
    for name, text in (("a", JOB_GOES), ("b", AREA_GOES)):
        two.policy(HEAD + text)
        assert two.run_once().code == 0
        shutil.copy(two.folder / "out" / f"{name}.csv", two.folder / f"{name}-theirs.csv")
        shutil.rmtree(two.folder / ".privrelease")
        shutil.rmtree(two.folder / "out")
        (two.folder / "publications.jsonl").unlink()
    two.policy(HEAD + JOB_GOES + AREA_GOES)
    return two


AUDIT = ("audit", "policy.yaml", "--release", "b", "--file", "b-theirs.csv", "--format", "json")


def test_files_of_others_are_linked_by_what_both_show(apart):
    assert apart(*AUDIT).code == 0
    said = apart(*AUDIT, "--against", "a-theirs.csv")
    assert said.code == 1
    assert checks(said.json)["AUDIT-EARLIER-INTERSECT"] == "fail"
    assert said.json["earlier"]["releases"][0]["linked_by"] == "columns"
    assert any("can link more" in text for text in said.json["decision"]["assessment_remaining"])


def test_without_a_column_that_links_nothing_is_claimed(apart):
    """The pay of the other file is rounded away: it links no record, and that is said."""
    text = (apart.folder / "a-theirs.csv").read_text(encoding="utf-8").splitlines()
    rows = [text[0], *(",".join((*line.split(",")[:2], "0")) for line in text[1:])]
    (apart.folder / "a-theirs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    said = apart(*AUDIT, "--against", "a-theirs.csv")
    assert checks(said.json)["AUDIT-EARLIER-INTERSECT"] == "pass"
    assert any("can link more" in text for text in said.json["decision"]["assessment_remaining"])


@pytest.mark.parametrize(
    ("name", "content"),
    [("noise.csv", bytes(range(256)) * 8), ("noise.parquet", bytes(range(256)) * 8), ("foreign.csv", b"x,y\n1,2\n")],
)
def test_a_named_file_that_cannot_be_read_ends_as_bad_input(apart, name, content):
    (apart.folder / name).write_bytes(content)
    said = apart(*AUDIT, "--against", name)
    assert said.code == 3
    assert said.last.startswith(
        f"exit 3: input or environment: named with --against, and cannot be read as an earlier release: {name} (D"
    )
    assert checks(said.json) == {"AUDIT-EARLIER-LOOKED": "not_evaluated"}


@pytest.mark.parametrize("query", ["SELECT 1 AS x, 2 AS y", "SELECT 'a' AS pay, 2 AS y"])
@pytest.mark.parametrize("name", ["foreign.parquet", "foreign.duckdb"])
def test_a_named_file_without_a_column_of_the_release_ends_as_bad_input(apart, name, query):
    """It can be read, and yet nothing in it could be compared, also where a column of that name holds another type."""
    import duckdb

    path = str(apart.folder / name)
    if name.endswith("parquet"):
        duckdb.sql(query).write_parquet(path)
    else:
        with duckdb.connect(path) as database:
            database.sql(f"CREATE TABLE data AS {query}")
    said = apart(*AUDIT, "--against", name)
    assert said.code == 3
    assert said.last.endswith(f"cannot be read as an earlier release: {name} (it has no column of this release)")
    assert (
        "hint: restore what is missing, or name with `privrelease audit --against` a copy that has columns of this" in said.err
    )
    assert checks(said.json) == {"AUDIT-EARLIER-LOOKED": "not_evaluated"}
    told = f"What {name} discloses together with this release: it has no column of this release, so nothing was compared."
    assert told in said.json["decision"]["assessment_remaining"]


def test_a_named_file_that_cannot_be_read_hides_no_failure(apart):
    (apart.folder / "foreign.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    said = apart(*AUDIT, "--against", "foreign.csv", "--against", "a-theirs.csv")
    assert said.code == 1
    assert checks(said.json)["AUDIT-EARLIER-INTERSECT"] == "fail"


def test_of_a_named_file_without_rows_that_is_said(apart):
    (apart.folder / "header.csv").write_text("area,job,pay\n", encoding="utf-8")
    said = apart(*AUDIT, "--against", "header.csv")
    assert said.code == 0
    assert (
        "What header.csv discloses together with this release: its file holds no row."
        in said.json["decision"]["assessment_remaining"]
    )


def test_a_person_who_joined_alone_is_told(apart):
    """The second file is the first with one person more, who is in a class of five there."""
    text = (apart.folder / "a-theirs.csv").read_text(encoding="utf-8")
    (apart.folder / "b-theirs.csv").write_text(text + "south,smith,999\n", encoding="utf-8")
    said = apart(*AUDIT, "--against", "a-theirs.csv")
    assert said.code == 1
    assert checks(said.json) == {"AUDIT-EARLIER-INTERSECT": "pass", "AUDIT-EARLIER-DIFFERENCE": "fail"}
    assert "1 class of fewer than 2 persons is in this release and not in a-theirs.csv" in said.err


def test_two_who_joined_together_are_no_small_group(apart):
    text = (apart.folder / "a-theirs.csv").read_text(encoding="utf-8")
    (apart.folder / "b-theirs.csv").write_text(text + "south,smith,998\nsouth,smith,999\n", encoding="utf-8")
    said = apart(*AUDIT, "--against", "a-theirs.csv")
    assert checks(said.json) == {"AUDIT-EARLIER-INTERSECT": "pass", "AUDIT-EARLIER-DIFFERENCE": "pass"}


def newest(desk):
    return max((desk.folder / ".privrelease" / "runs").iterdir())


@pytest.mark.parametrize("how", ["release", "run", "folder", "outgoing", "file", "policy"])
def test_an_earlier_release_is_named_in_many_ways(two, how):
    two.policy(HEAD + JOB_GOES)
    assert two.run_once().code == 0
    run = newest(two)
    shutil.copy(two.folder / "policy.yaml", two.folder / "old.yaml")
    two.policy(HEAD + JOB_GOES + AREA_GOES)
    said = two.run_once("--release", "b")
    assert said.code == 1
    theirs = next((two.folder / ".privrelease" / "quarantine").glob("*/outgoing/b.csv"))
    named = {
        "release": "a",
        "run": run.name,
        "folder": str(run),
        "outgoing": str(run / "outgoing"),
        "file": "out/a.csv",
        "policy": "old.yaml#a",
    }[how]
    said = two("audit", "policy.yaml", "--release", "b", "--file", str(theirs), "--against", named, "--format", "json")
    assert said.code == 1
    assert checks(said.json)["AUDIT-EARLIER-INTERSECT"] == "fail"
    assert said.json["earlier"]["releases"][0]["run"] == run.name


@pytest.mark.parametrize(("named", "code"), [("nowhere", "C103"), ("b", "C140"), ("notes.txt", "C108"), ("empty", "C140")])
def test_what_is_no_earlier_release_is_bad_usage(two, named, code):
    assert two.run_once("--release", "a").code == 0
    (two.folder / "notes.txt").write_text("nothing\n", encoding="utf-8")
    (two.folder / "empty").mkdir()
    said = two("audit", "policy.yaml", "--release", "a", "--file", "out/a.csv", "--against", named)
    assert said.code == 2
    assert code in said.err
