"""Tables of a new state of the data beside all tables of an earlier one, from the command line: what several of them give together of who changed."""

from __future__ import annotations

import csv

import pytest

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: towns
version: 1.0.0
title: Made-up
tables: {{min_count: 3{rules}}}
datasets:
  d:
    source: {source}
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: string}}
      town: {{role: quasi, type: category, domain: [t0, t1, t2, t3, t4, t5]}}
      county: {{role: quasi, type: category, domain: [c0, c1]}}
      sex: {{role: {role}, type: category, domain: [f, m]}}
      x: {{role: insensitive, type: integer, domain: [1, 1000]}}
releases:
{releases}
"""
LIES = {f"t{i}": f"c{i // 3}" for i in range(6)}
#: Of each county two towns are small: both are suppressed.
MANY = {"t0": 2, "t1": 4, "t2": 30, "t3": 2, "t4": 4, "t5": 30}
COUNT, SUM = "{count: true}", "{sum: x}"


def table(name: str, by: str, measures: str = COUNT, *, margins: bool = False, where: str = "") -> str:
    more = f", where: {where!r}" if where else ""
    return f"  - {{id: {name}, kind: table, from: d, by: [{by}], measures: [{measures}], margins: {str(margins).lower()}{more}, output: out/{name}.csv}}\n"


def persons(many, prefix: str = "p", lies=LIES, x: int = 10):
    return [
        (f"{prefix}{town}{i}", town, lies.get(town, ""), "fm"[i % 2], x + 7 * i % 31)
        for town, number in many.items()
        for i in range(number)
    ]


def state(desk, name: str, people) -> None:
    lines = "".join(f"{one},{town},{county},{sex},{x}\n" for one, town, county, sex, x in people)
    (desk.folder / name).write_text("id,town,county,sex,x\n" + lines, encoding="utf-8")


def run(desk, source: str, releases: str, *options: str, rules: str = "", role: str = "quasi"):
    desk.policy(HEAD.format(source=source, releases=releases, rules=rules, role=role))
    return desk.run(*options)


STAY = persons(MANY)
GREW = persons({"t2": 8, "t5": 8, "t3": 3}, "n", x=40)
JOINED = ("joined", "t0", "c0", "f", 999)


@pytest.mark.parametrize(
    ("measures", "first", "then"),
    [(COUNT, False, False), (SUM, False, False), (SUM, True, True), (COUNT, False, True), (SUM, True, False)],
)
def test_who_joined_two_suppressed_towns_is_not_told_by_their_county(desk, measures, first, then) -> None:
    """The county grew by nine, its only other town by eight: 999 is what is left of the sums."""
    state(desk, "1.csv", STAY)
    state(desk, "2.csv", [*STAY, *GREW, JOINED])
    both = [table("s", "town", measures, margins=one) + table("m", "county", measures) for one in (first, then)]
    assert run(desk, "1.csv", both[0]).code == 0
    with (desk.folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)][:2] == ["suppressed", "suppressed"]
    for _ in range(2):
        said = run(desk, "2.csv", both[1])
        assert said.code == 1, said.out + said.err
        assert "A282" in said.err
        assert "999" not in said.err.split()


@pytest.mark.parametrize("measures", [COUNT, SUM])
def test_it_does_not_matter_which_is_released_last(desk, measures) -> None:
    state(desk, "1.csv", STAY)
    state(desk, "2.csv", [*STAY, *GREW, JOINED])
    both = table("s", "town", measures) + table("m", "county", measures)
    for one in ("m", "s"):
        assert run(desk, "1.csv", both, "--release", one).code == 0
    assert run(desk, "2.csv", both, "--release", "m").code == 0
    said = run(desk, "2.csv", both, "--release", "s")
    assert said.code == 1, said.out + said.err


@pytest.mark.parametrize("measures", [COUNT, SUM])
def test_enough_who_joined_everywhere_pass_three_times(desk, measures) -> None:
    both = table("s", "town", measures, margins=True) + table("m", "county", measures)
    people = STAY
    for quarter in range(3):
        people = [*people, *persons(dict.fromkeys(LIES, 8), f"q{quarter}")]
        state(desk, f"{quarter}.csv", people)
        said = run(desk, f"{quarter}.csv", both)
        assert said.code == 0, said.out + said.err
        assert run(desk, f"{quarter}.csv", "# nothing\n" + both).code == 0


def test_tables_of_other_rows_are_compared_by_who_changed(desk) -> None:
    """All, and women alone: eight joined of either sex; then eight women and one man, whom both tables leave."""
    both = table("s", "town") + table("f", "town", where="sex = 'f'")
    people = persons(dict.fromkeys(LIES, 40))
    state(desk, "1.csv", people)
    assert run(desk, "1.csv", both).code == 0
    people = [*people, *persons(dict.fromkeys(LIES, 16), "q")]
    state(desk, "2.csv", people)
    said = run(desk, "2.csv", both)
    assert said.code == 0, said.out + said.err
    women = [(f"w{i}", "t0", "c0", "f", 20) for i in range(8)]
    state(desk, "3.csv", [*people, *women, ("one", "t0", "c0", "m", 20)])
    said = run(desk, "3.csv", both)
    assert said.code == 1, said.out + said.err
    assert "A282" in said.err


MOVED = LIES | {"t2": "c1"}


@pytest.mark.parametrize(("first", "then"), [("town", "county"), ("county", "town"), ("town", "town"), ("county", "county")])
def test_a_town_that_moved_to_another_county_is_added_up_to_either(desk, first, then) -> None:
    """With one who joined it is refused where both give it away, with eight in every town it passes."""
    many = dict.fromkeys(LIES, 20)
    state(desk, "1.csv", persons(many))
    moved = persons(many, lies=MOVED)
    state(desk, "2.csv", [*moved, ("joined", "t0", "c0", "f", 20), *persons({"t3": 8}, "n")])
    state(desk, "3.csv", [*moved, *persons(dict.fromkeys(LIES, 8), "n", MOVED)])
    assert run(desk, "1.csv", table("s", first)).code == 0
    said = run(desk, "2.csv", table("s", then))
    assert said.code == (0 if first == then == "county" else 1), said.out + said.err
    if said.code:
        said = run(desk, "3.csv", table("s", then))
        assert said.code == 0, said.out + said.err


def test_a_town_that_was_merged_is_added_up_to_the_county_it_lay_in(desk) -> None:
    many = dict.fromkeys(LIES, 20) | {"t1": 6}
    state(desk, "1.csv", persons(many))
    merged = [(one, "t0" if town == "t1" else town, *rest) for one, town, *rest in persons(many)]
    state(desk, "2.csv", [*merged, ("joined", "t0", "c0", "f", 20), *persons({"t3": 8}, "n")])
    assert run(desk, "1.csv", table("s", "town")).code == 0
    said = run(desk, "2.csv", table("s", "county"))
    assert said.code == 1, said.out + said.err
    assert "A282" in said.err


def test_what_nobody_changed_is_still_known_of_an_earlier_version(desk) -> None:
    """Of t0 the first two of 2, 8 and 9 persons are suppressed, then the first and last: nobody of t0 changed, so 19 - 9 - 8 = 2."""
    ages = "domain: [c0, c1]}\n      age: {role: quasi, type: category, domain: [y0, y1, y2]}"
    rows = [[2, 8, 9], [20, 6, 30], [25, 30, 40]]
    later = [[2, 8, 9], [20, 26, 30], [25, 30, 10]]
    for source, cells in (("1.csv", rows), ("2.csv", later)):
        lines = "".join(
            f"p{town}{age}{i},t{town},y{age}\n"
            for town, row in enumerate(cells)
            for age, many in enumerate(row)
            for i in range(many)
        )
        (desk.folder / source).write_text("id,town,age\n" + lines, encoding="utf-8")
    found = []
    for source in ("1.csv", "2.csv"):
        policy = HEAD.format(source=source, releases=table("s", "town, age", margins=True), rules="", role="quasi")
        policy = policy.replace("[t0, t1, t2, t3, t4, t5]", "[t0, t1, t2]").replace("domain: [c0, c1]}", ages)
        desk.policy(
            "".join(line for line in policy.splitlines(True) if not line.lstrip().startswith(("county:", "sex:", "x:")))
        )
        found.append(desk.run())
    assert [said.code for said in found] == [0, 1], found[-1].out + found[-1].err
    assert "A283" in found[-1].err


@pytest.mark.parametrize("measures", [COUNT, SUM, "{mean: x}", "{mean: x}, {count: true}"])
def test_all_who_joined_share_one_key(desk, measures) -> None:
    """Every figure tells it, a sum and a mean too; where the policy does not say whether that may be, a person decides."""
    people = persons(dict.fromkeys(LIES, 20))
    state(desk, "1.csv", people)
    state(desk, "2.csv", [*people, *((f"n{i}", "t0", "c0", "f", 500 + i) for i in range(8))])
    cells = table("s", "town, sex", measures, margins=True)
    asked, declined = (
        cells.replace(", output", f", protect: {{class_disclosure: {one}}}, output") for one in ("true", "false")
    )
    assert run(desk, "1.csv", asked).code == 0
    said = run(desk, "2.csv", asked)
    assert said.code == 1, said.out + said.err
    said = run(desk, "2.csv", cells, role="sensitive")
    assert said.code == 5, said.out + said.err
    assert "class_disclosure" in said.out + said.err
    said = run(desk, "2.csv", declined, role="sensitive")
    assert said.code == 0, said.out + said.err


def test_a_weighted_count_is_published_again_where_enough_changed(desk) -> None:
    state(desk, "1.csv", STAY)
    state(desk, "2.csv", [*STAY, *persons(dict.fromkeys(LIES, 8), "q")])
    state(desk, "3.csv", [*STAY, *persons(dict.fromkeys(LIES, 8), "q"), JOINED])
    for source, code in (("1.csv", 0), ("2.csv", 0), ("3.csv", 1)):
        said = run(desk, source, table("s", "county", "{count: true, weight: x}"))
        assert said.code == code, said.out + said.err
