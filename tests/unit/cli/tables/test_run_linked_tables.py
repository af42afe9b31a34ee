"""Several tables of one dataset from the command line: what one hides no other gives back, whichever leaves first."""

from __future__ import annotations

import csv
import json

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category}
      sex: {role: quasi, type: category, domain: [F, M]}
      age: {role: quasi, type: integer, domain: [0, 99]}
      pay: {role: sensitive, type: integer, domain: [0, 1000]}
tables: {min_count: 5}
releases:
  - id: a
    kind: table
    from: d
    by: [area, sex]
    keys: {area: areas.csv}
    measures: [{count: true}, {mean: pay}]
    margins: true
    protect: {}
    output: [{path: out/a.csv}, {path: out/a.parquet}]
  - id: b
    kind: table
    from: d
    by: [area]
    keys: {area: areas.csv}
    where: age >= 40
    measures: [{count: true}]
    margins: true
    protect: {}
    output: out/b.csv
"""
)
SECOND = POLICY[POLICY.index("  - id: b") :]


def rows(*groups):
    """Lines for groups of (area, sex, age, pays)."""
    found = ["id,area,sex,age,pay"]
    for area, sex, age, pays in groups:
        found += [f"{len(found) + number},{area},{sex},{age},{pay}" for number, pay in enumerate(pays)]
    return "\n".join(found) + "\n"


#: Two of the north are younger than 40: the difference of both tables, where both print the north.
DATA = rows(
    ("north", "F", 50, [10] * 10),
    ("north", "M", 50, [20] * 10),
    ("north", "M", 30, [20] * 2),
    *((area, sex, age, [30] * 8) for area in ("south", "east") for sex in "FM" for age in (30, 50)),
)


@pytest.fixture
def tables(desk):
    desk.policy(POLICY)
    desk.data(DATA)
    (desk.folder / "areas.csv").write_text("area\nnorth\nsouth\neast\nisland\n", encoding="utf-8")
    return desk


def printed(tables, name):
    with (tables.folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def section(tables, name):
    found = [
        json.loads(path.read_text(encoding="utf-8")) for path in tables.folder.glob(".privrelease/*/*/internal/audit.json")
    ]
    return next(one for one in found if one["identity"]["release"] == name)


def test_the_difference_between_two_tables_is_in_neither(tables) -> None:
    said = tables("run", "policy.yaml")
    assert said.code == 0, said.err
    counts = [
        {row["area"]: row["count"] for row in printed(tables, name) if row["area"] == "north" and not row.get("sex")}
        for name in "ab"
    ]
    assert "" in (counts[0]["north"], counts[1]["north"])
    assert section(tables, "b")["table"]["beside"] == ["a"]
    assert "Judged together" in (tables.folder / section_report(tables, "b")).read_text(encoding="utf-8")
    assert "Judged together" not in (tables.folder / "out" / "b.report.html").read_text(encoding="utf-8")


def section_report(tables, name):
    (path,) = [
        path.parent / "report.html"
        for path in tables.folder.glob(".privrelease/*/*/internal/audit.json")
        if json.loads(path.read_text(encoding="utf-8"))["identity"]["release"] == name
    ]
    return path.relative_to(tables.folder)


def test_every_listed_key_has_its_cells_and_a_mean_of_nobody_is_blank(tables) -> None:
    assert tables.once("run", "policy.yaml", "--release", "a").code == 0
    island = [row for row in printed(tables, "a") if row["area"] == "island"]
    assert [(row["count"], row["mean_pay"], row["status"]) for row in island] == [("0", "", "shown")] * 3
    shown = {(row["area"], row["sex"]): row["mean_pay"] for row in printed(tables, "a") if row["status"] == "shown"}
    assert shown["south", "F"] == "30"


def test_a_list_of_keys_is_digested_with_the_source_and_another_one_is_noticed(tables) -> None:
    assert tables.once("run", "policy.yaml", "--release", "a").code == 0
    (internal,) = tables.folder.glob(".privrelease/runs/*/internal/manifest.json")
    inputs = json.loads(internal.read_text(encoding="utf-8"))["inputs"]
    assert [one["label"] for one in inputs] == ["data.csv", "areas.csv"]
    digests = [one["hmac_sha256"] for one in inputs]
    assert section(tables, "a")["identity"]["input_digest"] == ", ".join(digests)
    for public in (tables.folder / "out").glob("*.json"):
        assert not any(digest in public.read_text(encoding="utf-8") for digest in digests)
    file = ("audit", "policy.yaml", "--release", "a", "--file", "out/a.csv", "--file", "out/a.parquet")
    assert "audited with its manifest and source" in tables(*file).err
    # the same keys, so that nothing else could tell that the file is another
    names = "area,name\nnorth,N\nsouth,S\neast,E\nisland,I\n"
    (tables.folder / "areas.csv").write_text(names, encoding="utf-8")
    assert "the source, or a file of keys, is not the one that was read then: audited as a file of others" in tables(*file).err


def test_a_table_that_is_out_binds_those_that_follow(tables) -> None:
    tables.policy(POLICY.replace(SECOND, ""))
    assert tables.once("run", "policy.yaml").code == 0
    before = printed(tables, "a")
    assert any(row["area"] == "north" and not row["sex"] and row["count"] == "22" for row in before)
    tables.policy(POLICY)
    said = tables("run", "policy.yaml", "--release", "b")
    assert said.code == 0, said.err
    assert next(row for row in printed(tables, "b") if row["area"] == "north")["status"] == "suppressed"
    assert printed(tables, "a") == before


def test_a_second_table_that_gives_the_difference_away_fails_its_audit(tables) -> None:
    tables.policy(POLICY.replace(SECOND, ""))
    assert tables.once("run", "policy.yaml").code == 0
    tables.policy(POLICY.replace("protect: {}", "protect: {secondary: false}"))
    said = tables("run", "policy.yaml", "--release", "b")
    assert said.code == 1
    failing = [check["id"] for check in section(tables, "b")["checks"] if check["outcome"] == "fail"]
    assert "AUDIT-TABLE-INTERVAL" in failing
    assert not (tables.folder / "out" / "b.csv").exists()


def test_few_with_a_value_make_a_mean_unsafe(tables) -> None:
    tables.policy(POLICY.replace(SECOND, ""))
    tables.data(
        rows(
            ("north", "F", 50, [10, 20, *[""] * 10]), *((area, sex, 50, [30] * 9) for area in ("south", "east") for sex in "FM")
        )
    )
    said = tables("run", "policy.yaml")
    assert said.code == 0, said.err
    assert next(row for row in printed(tables, "a") if (row["area"], row["sex"]) == ("north", "F"))["status"] == "suppressed"


def test_an_altered_mean_is_found_out(tables) -> None:
    assert tables.once("run", "policy.yaml", "--release", "a").code == 0
    made = tables.folder / "made.csv"
    honest = (tables.folder / "out" / "a.csv").read_text(encoding="utf-8")
    assert "south,F,,16,30,shown" in honest
    for new in ("south,F,,16,30.001,shown", "south,F,,16,,shown"):
        made.write_text(honest.replace("south,F,,16,30,shown", new), encoding="utf-8")
        said = tables("audit", "policy.yaml", "--release", "a", "--file", "made.csv", "--format", "json")
        failing = [check["id"] for check in said.json["checks"] if check["outcome"] == "fail"]
        assert failing[:1] in (["AUDIT-TABLE-FIGURES"], ["AUDIT-TABLE-BLANKS"])


def test_a_row_in_an_impossible_cell_stops_the_run(tables) -> None:
    more = "    impossible: area = 'AREA' AND sex = 'F'\n    measures: [{count: true}, {mean: pay}]"
    only = POLICY.replace(SECOND, "")
    tables.policy(only.replace("    measures: [{count: true}, {mean: pay}]", more.replace("AREA", "south")))
    said = tables("run", "policy.yaml")
    assert said.code == 3
    assert "D631" in said.err
    tables.policy(only.replace("    measures: [{count: true}, {mean: pay}]", more.replace("AREA", "island")))
    assert tables("run", "policy.yaml").code == 0


RING = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      a: {role: quasi, type: category, domain: [s, t, u, v, w, x, y, z]}
      b: {role: quasi, type: category, domain: [s, t, u, v, w, x, y, z]}
      c: {role: quasi, type: category, domain: [s, t, u, v, w, x, y, z]}
tables: {min_count: 5}
releases:
"""
)
SIDE = "  - {{id: {0}{1}, kind: table, from: d, by: [{0}, {1}], measures: [{{count: true}}], margins: true, protect: {{}}, output: out/{0}{1}.csv}}\n"


def test_tables_of_an_earlier_policy_that_close_too_large_a_ring_wait_for_a_person(desk) -> None:
    """Every side is safe by itself, and 729 cells of all columns together are too many to tell whether all three are."""
    people = [(a, b, c) for a in "stuvwxyz" for b in "stuvwxyz" for c in "stuvwxyz"]
    desk.data("id,a,b,c\n" + "".join(f"{i},{','.join(keys)}\n" for i, keys in enumerate(people)))
    desk.policy(RING + SIDE.format("a", "b") + SIDE.format("b", "c"))
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    desk.policy(RING + SIDE.format("c", "a"))
    said = desk("run", "policy.yaml")
    assert said.code == 5, said.err
    audit = section(desk, "ca")
    (check,) = (one for one in audit["checks"] if one["id"] == "AUDIT-EARLIER-LOOKED")
    assert (check["outcome"], check["vacuous"], audit["earlier"]["verdict"]) == ("not_evaluated", True, "unknown")
    assert "too many cells" in check["message"]
    assert not (desk.folder / "out" / "ca.csv").exists()


LISTED = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
releases:
"""
)
OF_AREAS = """\
  - {{id: {0}, kind: table, from: d, by: [area], measures: [{{count: true}}], margins: true, protect: {{min_count: 3}}, output: out/{0}.csv{1}}}
"""


def test_a_total_of_fewer_keys_is_no_version_of_the_total_of_all(desk) -> None:
    """The first lists one key of two, and nobody reads in its total how many have the other or none."""
    (desk.folder / "south.csv").write_text("area\nsouth\n", encoding="utf-8")
    people = ["north"] * 2 + ["south"] * 7 + [""] * 5
    desk.data("id,area\n" + "".join(f"{i},{area}\n" for i, area in enumerate(people)))
    desk.policy(LISTED + OF_AREAS.format("first", ", keys: {area: south.csv}") + OF_AREAS.format("second", ""))
    for release in ("first", "second", "second"):
        said = desk("run", "policy.yaml", "--release", release)
        assert said.code == 0, said.err
    assert (desk.folder / "out" / "first.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "south,,7,shown",
        ",area,7,shown",
    ]
    assert (desk.folder / "out" / "second.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "north,,,suppressed",
        "south,,7,shown",
        ",area,,suppressed",
    ]
