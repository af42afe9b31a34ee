"""Rows and a table of the same persons: what the rows give back of suppressed cells, whichever was published first."""

from __future__ import annotations

import csv

import pytest

CASE = "t07-rows-and-table-of-one-dataset"
GIVEN = "AUDIT-EARLIER-ROWS"

#: Nobody in both tests below is real: district, allergic, and how many persons.
FEW = (("hill", "no", 30), ("hill", "yes", 4), ("lake", "no", 25), ("lake", "yes", 12), ("town", "no", 28), ("town", "yes", 5))


def policy(rows="", cells="", by="district, allergic", drop="", step="", measures="{count: true}", extra=""):
    return f"""datasets:
  a:
    source: input.csv
    population: p
    unit: {{column: member, max_rows: 1}}
    columns:
      member: {{role: direct, type: string}}
      birth_year: {{role: quasi, type: integer, domain: [1920, 2010]}}
      district: {{role: quasi, type: category, domain: [hill, lake, town]}}
      allergic: {{role: sensitive, type: category, domain: ["no", "yes"]}}
      fee: {{role: insensitive, type: integer, domain: [0, 1000], links: none}}
threats:
  n: {{dataset: a, knows: [birth_year, district], highest_risk: 0.5}}
{extra}releases:
  - {{id: rows, kind: microdata, from: a, protect: [n], transform: [{drop}{step or "{suppress: cells, limit: 0.6}"}], output: out/rows.csv{rows}}}
  - {{id: cells, kind: table, from: a, by: [{by}], measures: [{measures}], margins: true,
     protect: {{min_count: 10, class_disclosure: false}}, output: out/cells.csv{cells}}}
"""


def source(case, rows):
    lines = ["member,birth_year,district,allergic,fee", *(",".join(map(str, row)) for row in rows)]
    (case.folder / "input.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def few(year=lambda _: 1980):
    persons = [(district, allergic) for district, allergic, number in FEW for _ in range(number)]
    return [(f"m{i}", year(i), district, allergic, i % 7) for i, (district, allergic) in enumerate(persons)]


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def other_than(first):
    return "cells" if first == "rows" else "rows"


def outcome(case):
    return {check["id"]: check["outcome"] for check in case.audit()["checks"]}.get(GIVEN)


@pytest.fixture
def shown(case, shared):
    text = (shared / "cases" / CASE / "policy.yaml").read_text(encoding="utf-8")
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")
    return case


def test_one_run_of_the_case_fails_and_names_rows_and_cells(shown):
    ran = shown("run", "policy.yaml")
    assert ran.code == 1
    assert "A294" in ran.err
    assert "with rows (run " in ran.err
    for district in ("hill", "lake", "town"):
        assert f"{district} / yes" in ran.err
    assert (shown.folder / "out" / "rows.csv").is_file()
    assert not (shown.folder / "out" / "cells.csv").exists()


def test_the_table_first_then_the_rows_fails_too(shown):
    assert shown("run", "policy.yaml", "--release", "cells").code == 0
    ran = shown("run", "policy.yaml", "--release", "rows")
    assert ran.code == 1
    assert "with cells (run " in ran.err
    assert not (shown.folder / "out" / "rows.csv").exists()


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_without_a_group_column_give_nothing_back(case, first):
    source(case, few())
    case.policy(policy(drop="{drop: [allergic]}, "))
    assert case("run", "policy.yaml", "--release", first).code == 0
    ran = case("run", "policy.yaml", "--release", other_than(first))
    assert ran.code == 0, ran.err
    assert outcome(case) == "pass"


def test_a_table_whose_cells_are_all_large_passes_beside_its_rows(case):
    source(case, few())
    case.policy(policy(by="district"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert outcome(case) == "pass"


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_a_filter_that_the_rows_show_is_applied_to_them(case, first):
    source(case, few(lambda i: 1980 if i % 2 else 1950))
    case.policy(policy(cells=', where: "birth_year < 1960"'))
    assert case("run", "policy.yaml", "--release", first).code == 0
    ran = case("run", "policy.yaml", "--release", other_than(first))
    assert ran.code == 1
    assert "A294" in ran.err


def test_a_filter_that_the_rows_do_not_show_leaves_cells_open(case):
    source(case, few(lambda i: 1980 if i % 2 else 1950))
    text = policy(cells=', where: "birth_year < 1960"', drop="{drop: [birth_year]}, ").replace(
        "knows: [birth_year, district]", "knows: [district]"
    )
    case.policy(text)
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert outcome(case) == "pass"


@pytest.mark.parametrize(("shows", "code"), [("", 1), ("{drop: [fee]}, ", 0)])
def test_sums_follow_where_the_rows_show_what_is_added_up(case, shows, code):
    """A table of sums alone; who knows how many are in a cell does not know their sum."""
    source(case, few())
    case.policy(policy(measures="{sum: fee}", drop=shows))
    ran = case("run", "policy.yaml")
    assert ran.code == code, ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_that_narrow_a_suppressed_sum_down_wait_for_a_person(case, first):
    """Fees of all persons of a district, less the printed sum of one half of them, are the sum of the other half: no one else may be in neither."""
    source(case, few())
    case.policy(policy(measures="{sum: fee}", drop="{drop: [allergic]}, ").replace("margins: true", "margins: false"))
    assert case("run", "policy.yaml", "--release", first).code == 0
    ran = case("run", "policy.yaml", "--release", other_than(first))
    assert ran.code == 5, ran.err
    assert outcome(case) == "not_evaluated"
    told = [check["message"] for check in case.audit()["checks"] if check["id"] == GIVEN]
    assert "how far the rows narrow down suppressed sums (sum_fee)" in told[0]
    assert not (case.folder / "out" / f"{other_than(first)}.csv").exists()


def test_a_second_policy_of_the_same_population_hides_nothing(case):
    source(case, few())
    case.policy(policy())
    assert case("run", "policy.yaml", "--release", "cells").code == 0
    text = policy().replace("  - {id: cells", "  - {id: other").replace("out/cells.csv", "out/other.csv")
    case.policy(text.replace("out/rows.csv", "out/more.csv"), "other.yaml")
    (case.folder / "other.yaml").write_text(
        (case.folder / "other.yaml").read_text(encoding="utf-8").replace("id: case", "id: second"), encoding="utf-8"
    )
    assert case("run", "other.yaml", "--release", "rows").code == 1
    assert outcome(case) == "fail"


def test_a_file_that_a_person_names_is_judged_in_both_directions(case):
    source(case, few())
    case.policy(policy())
    assert case("run", "policy.yaml", "--release", "rows").code == 0
    lines = ["district,allergic,total_over,count,status"]
    lines += [f"{one},{other},,,suppressed" for one in ("hill", "lake", "town") for other in ("no", "yes")]
    cells = [*lines[:1]]
    for place, district in enumerate(("hill", "lake", "town")):
        cells += [
            *lines[1 + 2 * place : 3 + 2 * place],
            f"{district},,allergic,{FEW[2 * place][2] + FEW[2 * place + 1][2]},shown",
        ]
    cells += [",no,district,83,shown", ",yes,district,21,shown", ",,district allergic,104,shown"]
    (case.folder / "made.csv").write_text("\n".join(cells) + "\n", encoding="utf-8")
    beside_rows = case(
        "audit", "policy.yaml", "--release", "cells", "--file", "made.csv", "--against", "policy.yaml#out/rows.csv"
    )
    assert beside_rows.code == 1, beside_rows.err
    assert GIVEN in beside_rows.out + beside_rows.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_suppressed_cells_of_rows_leave_a_count_open_exactly_where_two_tables_fit(case, first):
    """Persons of rare years lose cells; the attacker, by brute force over all ways to fill them, decides what the audit should say."""
    rare = few(lambda i: 1920 + i % 80 if i in {30, 31, 59, 60, 99} else 1980)
    source(case, rare)
    case.policy(policy(step="{suppress: cells, limit: 0.9, weights: {birth_year: 9, district: 1}}"))
    assert case("run", "policy.yaml", "--release", first).code == 0
    ran = case("run", "policy.yaml", "--release", other_than(first))
    rows = read(next(iter(case.folder.glob(".privrelease/*/*/outgoing/rows.csv"))))
    table = read(next(iter(case.folder.glob(".privrelease/*/*/outgoing/cells.csv"))))
    assert ran.code == int(_given_back(rows, table, left_out=len(rare) - len(rows))), ran.err


def _given_back(rows, table, left_out):
    """Whether an unsafe count is the same in every way to put rows with a suppressed district, and those left out, into cells."""
    districts, allergies = ("hill", "lake", "town"), ("no", "yes")
    fixed = {(d, a): sum(row["district"] == d and row["allergic"] == a for row in rows) for d in districts for a in allergies}
    loose = [[(d, row["allergic"]) for d in districts] for row in rows if not row["district"]]
    loose += [[(d, a) for d in districts for a in allergies]] * left_out
    ways = {tuple(fixed.values())}
    for cells in loose:
        places = [list(fixed).index(cell) for cell in cells]
        ways = {tuple(n + (i == place) for i, n in enumerate(way)) for way in ways for place in places}
    fits = [dict(zip(fixed, way, strict=True)) for way in ways]
    truth = {(d, a): n for d, a, n in FEW}
    for row in table:
        if row["status"] == "shown":
            cells = [c for c in fixed if row["district"] in {"", c[0]} and row["allergic"] in {"", c[1]}]
            fits = [way for way in fits if sum(way[cell] for cell in cells) == int(row["count"])]
        elif row["total_over"] == "":
            cell = (row["district"], row["allergic"])
            few_there = truth[cell] < 10
            fits = [way for way in fits if (1 <= way[cell] <= 9 if few_there else way[cell] >= 10)]
    assert truth in fits
    return any(len({way[cell] for way in fits}) == 1 for cell, n in truth.items() if n < 10)
