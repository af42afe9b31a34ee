"""Households: a released column that links persons lets a group be found by its members, and is judged, dropped or answered for."""

from __future__ import annotations

import gzip
import re

import pytest

CASE = "w03-household-links-persons"
DIRECT = "household: {role: direct, type: string}"
PSEUDONYM = "      - {pseudonymise: [household], key: HH_KEY}\n"
DECLARED = (DIRECT, "household: {role: direct, type: string, links: household}")
AS_IT_IS = (DIRECT, "household: {role: insensitive, type: string}")
AS_CODES = (DIRECT, "household: {role: insensitive, type: integer}")
PLAIN = (PSEUDONYM, "")
PAIRS = [("F,20-39", "M,40-59"), ("M,40-59", "M,20-39")]


@pytest.fixture
def survey(case):
    """The case, with a key for pseudonyms."""
    case.environment["HH_KEY"] = "5" * 64
    return case


def edited(case, *edits: tuple[str, str], name: str = "p.yaml") -> str:
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (case.folder / name).write_text(text, encoding="utf-8")
    return name


def check(case, name: str) -> dict:
    return next(one for one in case.audit()["checks"] if one["id"] == name)


def coded(case) -> None:
    """Write the numbers of households as integers."""
    path = case.folder / "input.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",H", ",1"), encoding="utf-8")


def households(case, *members: tuple[str, ...], again: str = "") -> None:
    """Write a source of these households, a tuple of members each; ``again``: a further row of every person, with these values."""
    rows = []
    for house, people in enumerate(members):
        for place, values in enumerate(people):
            rows += [f"P{house}-{place},H{house},{own},no" for own in (values, again) if own]
    (case.folder / "input.csv").write_text("\n".join(["person,household,sex,age,ill", *rows]) + "\n", encoding="utf-8")


@pytest.mark.parametrize("edits", [(), (AS_IT_IS, PLAIN), (AS_CODES, PLAIN)])
def test_a_column_that_links_few_persons_is_left_to_a_person(survey, edits):
    if AS_CODES in edits:
        coded(survey)
    policy = edited(survey, *edits)
    foreseen = survey("plan", policy, "--data")
    assert foreseen.code == 0
    assert "D254 warn: most values of household belong to 2 to 20 persons each (10 values)" in foreseen.err
    for _ in range(2):  # a second run is told the same
        ran = survey("run", policy)
        assert ran.code == 5, ran.err
        assert "A299 warn: AUDIT-LINKS" in ran.err
        assert "household (10 values)" in ran.err
        assert "declare `links: household` on the column" in ran.err
        assert "is person the person?" not in ran.err
        assert not (survey.folder / "out" / "rows.csv").exists()


@pytest.mark.parametrize("edits", [(DECLARED,), ((DIRECT, AS_IT_IS[1][:-1] + ", links: household}"), PLAIN)])
def test_households_that_are_found_by_their_members_fail(survey, edits):
    policy = edited(survey, *edits)
    foreseen = survey("plan", policy, "--data")
    assert foreseen.code == 1
    assert "D255 threat neighbour would find 10 households of 10 in household" in foreseen.err
    ran = survey("run", policy)
    assert ran.code == 1
    assert "A298 AUDIT-HOUSEHOLDS" in ran.err
    assert "threat neighbour finds 10 households of 10" in ran.err
    assert "the highest risk is 100 %, the limit 20 %" in ran.err
    assert "sdcMicro's household risk, members taken for independent, is at most 36 %" in ran.err
    found = check(survey, "AUDIT-HOUSEHOLDS")
    assert (found["observed"]["value"], found["limit"]["value"]) == (1, 0.2)
    assert found["visibility"] == "internal"


@pytest.mark.parametrize(
    ("without", "code", "said"),
    [
        (["F,20-39"] * 5 + ["M,40-59"] * 5, 0, ""),
        (["F,20-39"] * 5 + ["M,40-59"] * 4, 1, "4 persons of 9 without a number in household have values"),
        (["F,20-39"], 1, "1 person of 1 without a number in household have values"),
    ],
)
def test_who_is_in_no_numbered_household_is_looked_for_among_those_without_a_number(survey, without, code, said):
    households(survey, *[("F,20-39", "M,40-59")] * 10)
    path = survey.folder / "input.csv"
    more = "".join(f"X{number},,{values},no\n" for number, values in enumerate(without))
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    policy = edited(survey, DECLARED)
    foreseen = survey("plan", policy, "--data")
    assert (foreseen.code, "without a number in household: fewer than 5 of these" in foreseen.err) == (code, bool(code))
    ran = survey("run", policy)
    assert (ran.code, said in ran.err) == (code, True), ran.err
    assert ("A298" in ran.err) == bool(code)


def test_a_household_that_is_dropped_is_not_asked_for(survey):
    ran = survey("run", edited(survey, DECLARED, PLAIN, ("columns: [household, ", "columns: [")))
    assert ran.code == 0, ran.err
    assert "not asked for: AUDIT-HOUSEHOLDS" in ran.out
    assert "no column that links the persons of a household is released" in ran.out


def test_the_word_that_it_is_none_is_believed_and_weaker(survey):
    none = edited(survey, (DIRECT, "household: {role: direct, type: string, links: none}"))
    ran = survey("run", none)
    assert ran.code == 0, ran.err
    assert "AUDIT-LINKS" not in ran.out + ran.err
    assert "weaker" in survey("diff", edited(survey, name="before.yaml"), none).out
    assert "stricter" in survey("diff", none, edited(survey, DECLARED, name="declared.yaml")).out


@pytest.mark.parametrize("moved", [False, True])
def test_households_that_share_their_composition_are_released(survey, moved):
    households(survey, *(pair if number % 2 else pair[::-1] for pair in PAIRS for number in range(5)))
    policy = edited(survey, DECLARED)
    if moved:
        inner = survey.folder / "elsewhere"
        inner.mkdir()
        for name in ("input.csv", policy):
            (survey.folder / name).rename(inner / name)
        survey.folder = inner
    assert survey("plan", policy, "--data").code == 0
    ran = survey("run", policy)
    assert ran.code == 0, ran.err
    assert check(survey, "AUDIT-HOUSEHOLDS")["outcome"] == "pass"
    page = (survey.folder / "out" / "rows.report.html").read_text(encoding="utf-8")
    assert "every composition of a household is shared by as many households as the threats demand" in page
    assert "10 households" not in page
    assert "household risk" not in page
    within = next(survey.folder.glob(".privrelease/runs/*/internal/report.html")).read_text(encoding="utf-8")
    assert "household risk, members taken for independent, is at most 28" in within


@pytest.mark.parametrize(
    ("members", "code"),
    [
        (PAIRS * 4, 1),  # four of each
        ([PAIRS[0]] * 5 + [("F,20-39", "F,20-39")] * 4 + [("F,20-39",)] * 5, 1),
        ([PAIRS[0]] * 5 + [("F,20-39", "F,20-39")] * 5 + [("F,20-39",)] * 5, 0),  # a household of one is a composition
        ([("F,20-39",)] * 20 + [("F,20-39",) * 3] * 5, 0),
        ([("F,20-39",)] * 20 + [("F,20-39",) * 7], 1),  # one is found by its size alone
        ([(",20-39", "F,20-39")] * 5 + [("F,20-39", "F,20-39")] * 5, 0),  # missing is a value
        ([(",20-39", "F,20-39")] * 4 + [("F,20-39", "F,20-39")] * 5, 1),
    ],
)
def test_compositions_are_counted_and_missing_is_a_value_in_them(survey, members, code):
    """Under either reading of a missing value, by a threat of each: both would have the same households released, and the same refused."""
    households(survey, *members)
    policy = edited(
        survey,
        DECLARED,
        ("threats:\n", "threats:\n  wild: {dataset: persons, knows: [sex, age], missing: wildcard, highest_risk: 0.2}\n"),
        ("  neighbour:\n", "  neighbour:\n    missing: category\n"),
        ("protect: [neighbour]", "protect: [neighbour, wild]"),
        ("      - {suppress: cells}\n", ""),
    )
    ran = survey("run", policy)
    assert check(survey, "AUDIT-HOUSEHOLDS")["outcome"] == ("fail" if code else "pass")
    shared = dict(re.findall(r"household, threat (\w+): .* of which at least (\d+) share a composition", ran.err))
    assert {name: int(number) < 5 for name, number in shared.items()} == {"neighbour": bool(code), "wild": bool(code)}
    foreseen = survey("plan", policy, "--data")
    assert foreseen.code == ran.code
    assert [f"threat {name} would find" in foreseen.err for name in shared] == [bool(code)] * 2


def test_members_are_persons_with_all_their_rows(survey):
    several = ("{column: person, max_rows: 1}", "{column: person, max_rows: 2}")
    households(survey, *[PAIRS[0]] * 5, *[PAIRS[1]] * 5, again="F,40-59")
    ran = survey("run", edited(survey, DECLARED, several))
    assert check(survey, "AUDIT-HOUSEHOLDS")["outcome"] == "pass", ran.err
    assert "10 households with at most 2 members" in ran.err
    households(survey, *[PAIRS[0]] * 5, *[PAIRS[1]] * 4, ("M,40-59", "M,40-59"), again="M,20-39")
    survey("run", edited(survey, DECLARED, several))
    assert check(survey, "AUDIT-HOUSEHOLDS")["outcome"] == "fail"
    alone = survey("audit", "p.yaml", "--release", "rows", "--file", "input.csv", "--no-source")
    assert "AUDIT-HOUSEHOLDS" in alone.out


def test_rows_that_are_persons_may_share_the_pseudonym_of_their_household(survey):
    rows = ("unit: {column: person, max_rows: 1}", "unit: rows")
    assert survey("run", edited(survey, rows)).code == 3
    ran = survey("run", edited(survey, rows, DECLARED))
    assert ran.code == 1
    assert "A298" in ran.err
    assert "AUDIT-PERSONS" not in ran.err


def test_an_audit_without_the_source_judges_households_where_rows_are_persons(survey):
    file = survey.folder / "file.csv"
    lines = (survey.folder / "input.csv").read_text(encoding="utf-8").splitlines()
    header, *rows = [line.partition(",")[2] for line in lines]
    file.write_text("\n".join([header, *sorted(rows)]) + "\n", encoding="utf-8")
    declared = edited(survey, (DIRECT, AS_IT_IS[1][:-1] + ", links: household}"), PLAIN)
    audited = survey("audit", declared, "--release", "rows", "--file", "file.csv", "--no-source")
    assert audited.code == 1
    assert "A298 AUDIT-HOUSEHOLDS" in audited.err
    unsaid = edited(survey, AS_IT_IS, PLAIN)
    audited = survey("audit", unsaid, "--release", "rows", "--file", "file.csv", "--no-source")
    assert audited.code == 5
    assert "A299" in audited.err
    several = ("max_rows: 1}", "max_rows: 2}")
    audited = survey(
        "audit", edited(survey, AS_IT_IS, PLAIN, several), "--release", "rows", "--file", "file.csv", "--no-source"
    )
    assert audited.code == 5
    assert "not evaluated: AUDIT-LINKS" in audited.out


def test_a_household_is_not_the_person_and_needs_a_limit(survey):
    person = ("person: {role: direct, type: string}", "person: {role: direct, type: string, links: household}")
    refused = survey("validate", edited(survey, person))
    assert refused.code == 2
    assert "P555" in refused.err + refused.out
    unlimited = survey("validate", edited(survey, DECLARED, ("highest_risk: 0.2", "average_risk: 0.2")))
    assert unlimited.code == 0
    assert "P556 warn" in unlimited.err + unlimited.out
    ran = survey("run", edited(survey, DECLARED, ("highest_risk: 0.2", "average_risk: 0.2")))
    assert "not asked for: AUDIT-HOUSEHOLDS" in ran.out


@pytest.mark.parametrize(
    "values",
    [
        ["A", "B"] * 10,  # a classification of a small file
        [3 * chr(97 + number) for number in range(20)],  # each person's own
        ["0"] * 300 + [str(number) for number in range(1, 21) for _ in range(3)],  # an amount that most persons have not
    ],
)
def test_other_columns_are_not_suspected(survey, values):
    rows = [f"P{number},{value},F,20-39,no" for number, value in enumerate(values)]
    (survey.folder / "input.csv").write_text("\n".join(["person,household,sex,age,ill", *rows]) + "\n", encoding="utf-8")
    role = AS_CODES if values[0] == "0" else AS_IT_IS
    ran = survey("run", edited(survey, role, PLAIN))
    assert ran.code == 0, ran.err
    assert check(survey, "AUDIT-LINKS")["outcome"] == "pass"


LISTED = ", ".join(f"H{number}" for number in range(40))


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("{role: insensitive, type: number}", lambda name: name[1:]),
        ("{role: sensitive, type: string}", lambda name: name),
        (f"{{role: insensitive, type: category, domain: [{LISTED}]}}", lambda name: name),
    ],
)
def test_a_column_that_is_plainly_the_number_of_a_household_is_suspected_whatever_it_is_called(survey, declared, written):
    rows = [f"P{house}-{place},{written(f'H{house}')},F,20-39,no" for house in range(40) for place in range(2 + house % 3)]
    (survey.folder / "input.csv").write_text("\n".join(["person,household,sex,age,ill", *rows]) + "\n", encoding="utf-8")
    policy = edited(survey, (DIRECT, f"household: {declared}"), PLAIN)
    foreseen = survey("plan", policy, "--data")
    assert "D254 warn: most values of household belong to 2 to 20 persons each (40 values)" in foreseen.err
    ran = survey("run", policy)
    assert ran.code == 5, ran.err + ran.out
    assert "household (40 values)" in ran.err


def test_a_sensitive_text_with_a_common_value_is_not_suspected(survey):
    values = ["none"] * 25 + [f"F{number}" for number in range(30) for _ in range(2)]
    rows = [f"P{number},{value},F,20-39,no" for number, value in enumerate(values)]
    (survey.folder / "input.csv").write_text("\n".join(["person,household,sex,age,ill", *rows]) + "\n", encoding="utf-8")
    ran = survey("run", edited(survey, (DIRECT, "household: {role: sensitive, type: string}"), PLAIN))
    assert ran.code == 0, ran.err


def test_a_column_whose_values_the_policy_lists_is_no_household(survey):
    listed = ", ".join(f"H{number:02d}" for number in range(1, 11))
    ran = survey(
        "run", edited(survey, (DIRECT, f"household: {{role: insensitive, type: category, domain: [{listed}]}}"), PLAIN)
    )
    assert ran.code == 0, ran.err
    assert "AUDIT-LINKS" not in ran.out


HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: adult
version: 1.0.0
title: Adult
"""
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}


@pytest.mark.parametrize("name", ["adult.csv", "adult_full.csv.gz"])
@pytest.mark.parametrize(("role", "number"), [("insensitive", "integer"), ("insensitive", "number"), ("sensitive", "integer")])
def test_no_column_of_the_shared_data_is_suspected(survey, shared, name, role, number):
    path = shared / "data" / name
    content = path.read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    header = text[: text.index(b"\n")].decode().strip()
    delimiter = ";" if ";" in header else ","
    (survey.folder / name).write_bytes(content)
    columns = "".join(
        f"      {column}: {{role: {'quasi' if column == 'sex' else role}, type: {number if column in NUMBERS else 'string'}}}\n"
        for column in header.split(delimiter)
    )
    (survey.folder / "p.yaml").write_text(
        f"{HEAD}datasets:\n  d:\n    source: {name}\n    unit: rows\n    format: {{delimiter: '{delimiter}'}}\n    columns:\n{columns}"
        "threats:\n  t: {dataset: d, knows: [sex], highest_risk: 0.2}\n"
        "releases:\n  - {id: r, kind: microdata, from: d, protect: [t], output: out/r.csv}\n",
        encoding="utf-8",
    )
    foreseen = survey("plan", "p.yaml", "--data")
    assert foreseen.code == 0, foreseen.err
    assert "D254" not in foreseen.err
