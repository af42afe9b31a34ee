"""Tables from the command line: sums keep their rules, persons are counted, planted leaks are named, and nothing leaves then."""

from __future__ import annotations

import csv
import json

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 2}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south, east, west]}
      pay: {role: sensitive, type: integer, domain: [0, 1000]}
tables: {min_count: 3}
releases:
  - id: t
    kind: table
    from: d
    by: [area]
    measures: [{count: true}, {sum: pay}]
    margins: true
    protect: {p_percent: 0.1, dominance: [2, 0.9]}
    output: [{path: out/t.csv}, {path: out/t.parquet}]
"""
)


def people(*groups):
    """One row for each contribution of a group; persons are numbered through."""
    rows = [(area, pay) for area, pays in groups for pay in pays]
    return "id,area,pay\n" + "".join(f"{number},{area},{pay}\n" for number, (area, pay) in enumerate(rows))


SAFE = people(("north", [100] * 6), ("south", [110] * 7), ("east", [90] * 8), ("west", [80] * 9))


def cells(desk):
    with (desk.folder / "out" / "t.csv").open(encoding="utf-8", newline="") as file:
        return {row["area"] or "total": (row["count"], row["sum_pay"], row["status"]) for row in csv.DictReader(file)}


def audit(desk):
    found = sorted(desk.folder.glob(".privrelease/*/*/internal/audit.json"))
    return json.loads(found[-1].read_text(encoding="utf-8"))


def failing(document):
    return [check["id"] for check in document["checks"] if check["outcome"] == "fail"]


@pytest.fixture
def tables(desk):
    desk.policy(POLICY)
    desk.data(SAFE)
    return desk


def test_a_safe_table_leaves_whole(tables) -> None:
    said = tables.once("run", "policy.yaml")
    assert said.code == 0, said.err
    assert cells(tables)["total"] == ("30", "2810", "shown")
    assert {status for _, _, status in cells(tables).values()} == {"shown"}


def test_a_dominated_sum_goes_and_another_with_it(tables) -> None:
    tables.data(people(("north", [900, 5, 5, 5, 5, 5]), ("south", [110] * 7), ("east", [90] * 8), ("west", [80] * 9)))
    said = tables.once("run", "policy.yaml")
    assert said.code == 0, said.err
    found = cells(tables)
    assert found["north"] == ("", "", "suppressed")
    assert sum(status == "suppressed" for _, _, status in found.values()) == 2
    section = audit(tables)["table"]
    assert section["unsafe"]["p_percent"]["value"] == section["unsafe"]["dominance"]["value"] == 1
    assert [one["exposed"]["value"] for one in section["intervals"]] == [0, 0]
    report = next(tables.folder.glob(".privrelease/runs/*/internal/report.html")).read_text(encoding="utf-8")
    assert "Unsafe: dominated by few" in report
    assert "dominated by few" not in (tables.folder / "out" / "t.report.html").read_text(encoding="utf-8")


def test_weights_are_no_contributions(tables) -> None:
    tables.policy(POLICY.replace("{sum: pay}", "{count: true, weight: pay}"))
    tables.data(people(("north", [900, 5, 5, 5, 5, 5]), ("south", [110] * 7), ("east", [90] * 8), ("west", [80] * 9)))
    said = tables("run", "policy.yaml")
    assert said.code == 0, said.err
    with (tables.folder / "out" / "t.csv").open(encoding="utf-8", newline="") as file:
        found = {row["area"]: row["weighted_count_pay"] for row in csv.DictReader(file)}
    assert found["north"] == "925"
    assert "" not in found.values()


def test_rows_of_one_person_are_one_contributor(tables) -> None:
    tables.data(SAFE + "p1,north,1\n" + SAFE.replace("id,area,pay\n", "").splitlines()[0] + "\n")
    assert tables.once("run", "policy.yaml").code == 0
    tables.policy(POLICY.replace("    by: [area]", "    recipients_hold_previous: false\n    by: [area]"))  # other persons
    two_each = "id,area,pay\n" + "".join(f"{n // 2},west,10\n" for n in range(4))
    tables.data(two_each + "".join(f"x{n},{area},50\n" for n, area in enumerate(["north", "south", "east"] * 12)))
    said = tables("run", "policy.yaml")
    assert said.code == 0, said.err
    assert cells(tables)["west"][2] == "suppressed"  # four rows, two persons


def test_a_person_with_more_rows_than_declared_stops_the_release(tables) -> None:
    tables.data("id,area,pay\n" + "one,north,5\n" * 3)
    said = tables("run", "policy.yaml")
    assert said.code == 3
    assert "D602" in said.err


def one_key_in_the_north(tables, protect):
    tables.policy(
        POLICY.replace("by: [area]", "by: [area, ward]")
        .replace("protect: {", f"protect: {{{protect}, ")
        .replace("      pay:", "      ward: {role: quasi, type: category, domain: [a, b]}\n      pay:")
    )
    rows = [
        f"{n},{area},{'a' if area == 'north' else 'ab'[n % 2]},50\n"
        for n, area in enumerate(["north", "south", "east", "west"] * 8)
    ]
    tables.data("id,area,ward,pay\n" + "".join(rows))
    return tables("run", "policy.yaml")


def test_groups_of_one_key_fail_where_the_policy_asks(tables) -> None:
    assert one_key_in_the_north(tables, "class_disclosure: true, secondary: false").code == 1
    assert failing(audit(tables)) == ["AUDIT-TABLE-CLASS"]
    assert not (tables.folder / "out" / "t.csv").exists()


def test_empty_cells_are_suppressed_so_that_nobody_knows_that_a_group_shares_one_key(tables) -> None:
    assert one_key_in_the_north(tables, "class_disclosure: true").code == 0
    with (tables.folder / "out" / "t.csv").open(encoding="utf-8", newline="") as file:
        hidden = {(row["area"], row["ward"]) for row in csv.DictReader(file) if row["status"] == "suppressed"}
    assert {("north", "a"), ("north", "b")} <= hidden


def test_an_altered_file_is_found_out(tables) -> None:
    tables.data(people(("north", [900, 5, 5, 5, 5, 5]), ("south", [110] * 7), ("east", [90] * 8), ("west", [80] * 9)))
    assert tables.once("run", "policy.yaml").code == 0
    honest = (tables.folder / "out" / "t.csv").read_text(encoding="utf-8")
    made = tables.folder / "made.csv"
    for old, new, check in [
        ("north,,,,suppressed", "north,,6,,suppressed", "AUDIT-TABLE-BLANKS"),
        ("north,,,,suppressed", "north,,6,925,shown", "AUDIT-TABLE-PRIMARY"),
        ("north,,,,suppressed", "north,,7,930,shown", "AUDIT-TABLE-FIGURES"),
        ("north,,,,suppressed\n", "", "AUDIT-TABLE-KEYS"),
        ("status", "state", "AUDIT-TABLE-FILES"),
    ]:
        assert old in honest
        made.write_text(honest.replace(old, new), encoding="utf-8")
        said = tables("audit", "policy.yaml", "--release", "t", "--file", "made.csv", "--format", "json")
        assert said.code == 1
        assert check in failing(said.json)
    hidden = next(name for name, (_, _, status) in cells(tables).items() if status == "suppressed" and name != "north")
    count, total = {"south": (7, 770), "east": (8, 720), "west": (9, 720), "total": (30, 3135)}[hidden]
    key = f",area,{count},{total}" if hidden == "total" else f"{hidden},,{count},{total}"
    blank = ",area,,,suppressed" if hidden == "total" else f"{hidden},,,,suppressed"
    made.write_text(honest.replace(blank, f"{key},shown"), encoding="utf-8")
    said = tables("audit", "policy.yaml", "--release", "t", "--file", "made.csv", "--format", "json")
    assert failing(said.json) == ["AUDIT-TABLE-INTERVAL"]


def test_without_the_source_the_audit_says_what_it_could_not_check(tables) -> None:
    assert tables("run", "policy.yaml").code == 0
    said = tables("audit", "policy.yaml", "--release", "t", "--file", "out/t.csv", "--no-source", "--format", "json")
    assert said.code == 5, said.err  # what the policy promises could not be looked at: a person decides
    assert said.json["decision"]["outcome"] == "review"
    unlooked = [check["id"] for check in said.json["checks"] if check["outcome"] == "not_evaluated"]
    assert "AUDIT-TABLE-INTERVAL" in unlooked
    assert "AUDIT-TABLE-DIGEST" not in unlooked  # a run known here made the file, and its manifest says which bytes
    assert len(unlooked) == 5  # nor are the two that the policy does not ask for


def test_an_environment_may_only_tighten_a_table(tables) -> None:
    release = POLICY[POLICY.index("releases:") :].replace("\n", "\n    ").rstrip()
    old = "protect: {p_percent: 0.1, dominance: [2, 0.9]}"
    for new, code in [
        (old, 0),
        ("protect: {p_percent: 0.1, dominance: [2, 0.9], min_count: 4, zeros: suppress}", 0),
        ("protect: {p_percent: 0.05, dominance: [2, 0.9]}", 2),
        ("protect: {p_percent: 0.1}", 2),
        ("protect: {p_percent: 0.1, dominance: [2, 0.9], secondary: false}", 2),
    ]:
        tables.policy(f"{POLICY}environments:\n  ci:\n    {release.replace(old, new)}\n")
        said = tables("validate", "policy.yaml", "--env", "ci")
        assert said.code == code, (new, said.out)


def test_a_plan_says_what_the_table_keeps(tables) -> None:
    said = tables("plan", "policy.yaml")
    assert said.code == 0
    assert "5 cells" in said.out
    assert "at least 3 contributors" in said.out
    assert "0.1 of its value" in said.out


SQUARE = [[3, 20, 6], [20, 20, 20], [7, 20, 8]]


def counted(desk, protect):
    """A table of two columns: the counts of SQUARE under a minimum of 5."""
    columns = POLICY.replace("[north, south, east, west]}", "[north, south, east]}").replace(
        "pay: {role: sensitive, type: integer, domain: [0, 1000]}", "side: {role: quasi, type: category, domain: [a, b, c]}"
    )
    text = columns.replace("by: [area]", "by: [area, side]").replace("[{count: true}, {sum: pay}]", "[{count: true}]")
    desk.policy(text.replace("min_count: 3", "min_count: 5").replace("{p_percent: 0.1, dominance: [2, 0.9]}", protect))
    rows = [
        (a, s)
        for a, line in zip(("north", "south", "east"), SQUARE, strict=True)
        for s, n in zip("abc", line, strict=True)
        for _ in range(n)
    ]
    desk.data("id,area,side\n" + "".join(f"{number},{a},{s}\n" for number, (a, s) in enumerate(rows)))
    return desk


@pytest.mark.parametrize(("prefer", "lost"), [("persons", 24), ("cells", 4)])
def test_a_forecast_says_how_far_a_suppression_is_from_the_minimum(desk, prefer, lost):
    desk = counted(desk, f"{{prefer: {prefer}}}")
    said = desk("plan", "--data", "policy.yaml")
    assert said.code == 0, said.err
    assert f"fewest {prefer} at the minimum" in " ".join(said.out.split())
    (forecast,) = json.loads(desk("plan", "--data", "policy.yaml", "--format", "json").out)["forecasts"]
    assert (forecast["prefer"], forecast["lost"], forecast["least"], forecast["suppressed"]) == (prefer, lost, lost, 4)
    assert desk("run", "policy.yaml").code == 0
    with (desk.folder / "out" / "t.csv").open(encoding="utf-8", newline="") as file:
        hidden = {(row["area"], row["side"]) for row in csv.DictReader(file) if row["status"] == "suppressed"}
    assert len(hidden) == 4
    if prefer == "persons":
        assert hidden == {("north", "a"), ("north", "c"), ("east", "a"), ("east", "c")}


def test_tables_of_one_dataset_prefer_the_same(desk):
    desk = counted(desk, "{prefer: cells}")
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    release = (
        text[text.index("  - id: t") :].replace("id: t", "id: u").replace("out/t.", "out/u.").replace("{prefer: cells}", "{}")
    )
    desk.policy(text + release)
    said = desk("validate", "policy.yaml")
    assert said.code != 0
    assert "P444 prefer" in said.err + said.out
