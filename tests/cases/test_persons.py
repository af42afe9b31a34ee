"""The cases of persons: what is counted is persons, or the release says openly that it is not."""

from __future__ import annotations

import html
import re

import pytest


def edited(case, name: str, *edits: tuple[str, str]):
    """The case's own policy, edited, in its folder."""
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (case.folder / name).write_text(text, encoding="utf-8")
    return name


def check(case, name):
    return next(one for one in case.audit()["checks"] if one["id"] == name)


REPEATS = pytest.mark.case("k16-a-direct-identifier-that-repeats")
SOURCE = "source: input.csv"
ROWS = (SOURCE, "source: input.csv\n    unit: rows")


@REPEATS
def test_a_direct_identifier_that_repeats_stops_a_run_and_names_both_ways_out(case):
    ran = case("run", edited(case, "p.yaml"))
    assert ran.code == 3
    assert "D250 10 values of the direct identifier pid occur in several rows" in ran.err
    assert "`unit: {column: pid}`" in ran.err
    assert "`unit: rows`" in ran.err
    assert not (case.folder / "out").exists()


@REPEATS
def test_with_the_unit_declared_k_is_one(case):
    ran = case("run", edited(case, "p.yaml", (SOURCE, "source: input.csv\n    unit: {column: pid}")))
    assert ran.code in {1, 3}, ran.out
    assert "k 6" not in ran.out


@REPEATS
def test_where_rows_are_said_to_be_persons_the_check_is_not_asked_for(case):
    ran = case("run", edited(case, "p.yaml", ROWS))
    assert ran.code == 0, ran.err
    assert check(case, "AUDIT-PERSONS")["outcome"] == "not_asked"
    told = case("validate", "p.yaml")
    assert "P610" not in told.out + told.err
    # the same file under a policy that says nothing of persons is no pass
    audited = case("audit", edited(case, "q.yaml"), "--release", "m", "--file", "out/m.csv")
    assert audited.code == 1, audited.out
    assert "AUDIT-PERSONS" in audited.out + audited.err


@REPEATS
def test_missing_identifiers_are_no_repeats(case):
    rows = [f"p{number},{20 + number % 3}" for number in range(20)] + [",20", ",21", ",22"]
    (case.folder / "input.csv").write_text("\n".join(["pid,age", *rows]) + "\n", encoding="utf-8")
    ran = case("run", edited(case, "p.yaml"))
    assert ran.code == 0, ran.err


TABLE = """
  - {id: cells, kind: table, from: d, by: [age], measures: [{count: true}], protect: {min_count: 3}, keys: {age: ages.csv}, output: out/cells.csv}
"""
STATISTICS = """
  - {id: s, kind: statistics, from: d, budget: {epsilon: 1}, queries: [{id: n, count: true}], output: out/s.csv}
ledger: {url: "sqlite:///ledger.db", cap: {epsilon: 10}}
"""


@REPEATS
@pytest.mark.parametrize(("kind", "further"), [("cells", TABLE), ("s", STATISTICS)])
def test_figures_are_refused_as_rows_are(case, kind, further):
    (case.folder / "ages.csv").write_text("age\n" + "\n".join(str(age) for age in range(18, 40)) + "\n", encoding="utf-8")
    whole = edited(
        case,
        "p.yaml",
        (SOURCE, "source: input.csv\n    population: p\n    snapshot: v1"),
        ("type: integer}", "type: category}"),
    )
    text = (case.folder / whole).read_text(encoding="utf-8")
    text = text[: text.index("  - {id: m")].rstrip("\n") + further
    text = text.replace("threats:\n  t: {dataset: d, knows: [age], highest_risk: 0.2}\n", "")
    (case.folder / "p.yaml").write_text(text, encoding="utf-8")
    case("ledger", "init", "p.yaml")
    stopped = case("run", "p.yaml")
    assert stopped.code == 3, stopped.err
    assert "D250 10 values" in stopped.err
    (case.folder / "p.yaml").write_text(text.replace(SOURCE, ROWS[1]), encoding="utf-8")
    ran = case("run", "p.yaml")
    assert ran.code == 0, ran.err + ran.out
    assert kind in ran.out


@pytest.mark.case("k13-audit-without-source-and-persons")
@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ((), 5),
        ((("{column: student}", "{column: student, max_rows: 4}"),), 5),
        ((("{column: student}", "{column: student, max_rows: 1}"),), 0),
    ],
)
def test_persons_cannot_be_confirmed_without_the_source(case, edits, code):
    ran = case("audit", edited(case, "p.yaml", *edits), "--release", "rows", "--file", "file.csv", "--no-source")
    assert ran.code == code, ran.err
    assert ("how many persons they are cannot be known" in ran.out) is (code == 5)


FIGURES = {
    "cells": "kind: table, by: [area], measures: [{count: true}], protect: {min_count: 3}",
    "noisy": "kind: statistics, budget: {epsilon: 1}, queries: [{id: n, count: true, by: [area]}]",
}


@pytest.mark.case("k13-audit-without-source-and-persons")
@pytest.mark.parametrize("kind", ["cells", "noisy"])
@pytest.mark.parametrize("rows", [3, 1])
def test_figures_without_what_they_were_made_of_are_for_a_person_to_judge(case, kind, rows):
    """A table could be of one person, and figures without the claim of a run may have no noise at all."""
    (case.folder / "p.yaml").write_text(
        f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: k13
version: "1"
title: figures
datasets:
  d:
    source: input.csv
    unit: {{column: id, max_rows: {rows}}}
    columns: {{id: {{role: direct, type: string}}, area: {{role: quasi, type: category, domain: [north, south]}}}}
releases:
  - {{id: {kind}, from: d, {FIGURES[kind]}, output: out/f.csv}}
ledger: {{url: "sqlite:///ledger.db", cap: {{epsilon: 10}}}}
""",
        encoding="utf-8",
    )
    (case.folder / "input.csv").write_text(
        "id,area\n" + "".join(f"{n},{('north', 'south')[n % 2]}\n" for n in range(18)), encoding="utf-8"
    )
    case("ledger", "init", "p.yaml")
    assert case("run", "p.yaml").code == 0
    made = (case.folder / "out" / "f.csv").read_bytes()
    elsewhere = case.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "p.yaml").write_bytes((case.folder / "p.yaml").read_bytes())
    (elsewhere / "f.csv").write_bytes(made)
    audited = case("audit", "elsewhere/p.yaml", "--release", kind, "--file", "elsewhere/f.csv", "--no-source")
    assert audited.code == 5, audited.out + audited.err
    if kind == "cells":
        told = "AUDIT-TABLE-PERSONS Persons have the declared rows: how many persons contribute to a cell cannot be known"
        assert (told in audited.out) is (rows == 3)
    else:
        assert "AUDIT-DP-NOISE" in audited.out


ALIKE = pytest.mark.case("w11-person-ids-that-look-alike")


@ALIKE
@pytest.mark.parametrize(
    "persons", [("se-0042", '"se-0042 "', "SE-0042"), ("m\u00fc1", "mu\u03081", "x"), ("a1", "A1", "b2"), ("a1", '" a1"', "b2")]
)
@pytest.mark.parametrize("normalised", [False, True])
def test_spellings_of_a_person_that_look_alike_are_told(case, persons, normalised):
    (case.folder / "input.csv").write_text("\n".join(["pid,ward", *(f"{one},A" for one in persons)]) + "\n", encoding="utf-8")
    edits = [("type: string}", "type: string, format: {normalise: [nfc, trim]}}")] if normalised else []
    ran = case("run", edited(case, "p.yaml", *edits))
    case_differs = len({one.strip('" ') for one in persons}) != len({one.strip('" ').lower() for one in persons})
    assert ("D253 warn: the unit column pid" in ran.err) is (case_differs or not normalised)
    assert "0042" not in ran.err


@ALIKE
def test_persons_whose_numbers_differ_are_not_told(case):
    (case.folder / "input.csv").write_text("pid,ward\na1,A\na2,A\na3,A\n", encoding="utf-8")
    assert "D253" not in case("run", edited(case, "p.yaml")).err


@pytest.mark.case("k12-share-of-persons-at-risk")
@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_a_person_is_as_much_at_risk_as_in_its_smallest_class(case, missing):
    ran = case("run", edited(case, "p.yaml", ("share: 0.5}", f"share: 0.5}}, missing: {missing}")))
    assert ran.code == 1
    assert "records at risk              100 % (limit 50 %) fails" in ran.out
    after = case.threat("t")["after"]
    assert after["at_risk"]["exact"] == "1"
    assert after["average"]["exact"] == "1"


@pytest.mark.case("k12-share-of-persons-at-risk")
def test_more_rows_never_lower_the_risk_of_persons(case):
    (case.folder / "input.csv").write_text("person,place\nP1,own1\nP2,own2\n", encoding="utf-8")
    assert case("run", edited(case, "p.yaml")).code == 1
    rows = [f"P{person},c{row}" for person in (1, 2) for row in range(8)]
    (case.folder / "input.csv").write_text("\n".join(["person,place", "P1,own1", "P2,own2", *rows]) + "\n", encoding="utf-8")
    assert case("run", "p.yaml").code == 1


@pytest.mark.case("k12-share-of-persons-at-risk")
@pytest.mark.parametrize("limit", ["records_at_risk: {above: 0.5, share: 0.5}", "average_risk: 0.6"])
def test_cells_are_suppressed_until_the_persons_are_within_the_limit(case, limit):
    name = edited(
        case,
        "p.yaml",
        ("records_at_risk: {above: 0.5, share: 0.5}", limit),
        ("protect: [t]", "protect: [t], transform: [{suppress: cells}]"),
    )
    rows = [f"P{person},{place}" for person in range(6) for place in ("c", f"own{person}")]
    (case.folder / "input.csv").write_text("\n".join(["person,place", *rows]) + "\n", encoding="utf-8")
    ran = case("run", name)
    assert ran.code == 0, ran.out + ran.err
    released = [line.split(",")[-1] for line in (case.folder / "out" / "rows.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert 0 < sum(place.startswith("own") for place in released) + released.count("c") < len(rows)


@pytest.mark.case("k13-audit-without-source-and-persons")
@pytest.mark.parametrize(
    "release",
    [
        "{id: r, kind: microdata, from: d, protect: [t], columns: [area], output: out/r.csv}",
        "{id: r, kind: table, from: d, by: [area], measures: [{count: true}], protect: {min_count: 3}, output: out/r.csv}",
    ],
)
def test_rows_without_their_person_stop_rows_and_tables(case, release):
    (case.folder / "input.csv").write_text(
        "id,area\n" + "".join(f"{n if n % 10 else ''},{('north', 'south')[n % 2]}\n" for n in range(30)), encoding="utf-8"
    )
    (case.folder / "p.yaml").write_text(
        f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: missing
version: "1"
title: a unit that is missing in some rows
datasets:
  d:
    source: input.csv
    unit: {{column: id, max_rows: 2}}
    columns: {{id: {{role: direct, type: string}}, area: {{role: quasi, type: category, domain: [north, south]}}}}
threats:
  t: {{dataset: d, knows: [area], highest_risk: 0.5}}
releases:
  - {release}
""",
        encoding="utf-8",
    )
    ran = case("run", "p.yaml")
    assert ran.code == 3
    assert "p.yaml:8:13: D601 3 rows have no value in the unit column id" in ran.err
    assert not (case.folder / "out" / "r.csv").exists()


SEVERAL = """datasets:
  d:
    source: input.csv
    unit: {column: pid, max_rows: 3}
    format: {suppression_mark: "*"}
    columns:
      pid: {role: direct, type: string}
      age: {role: quasi, type: category}
      sex: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [age, sex], highest_risk: 0.5, average_risk: 0.5, records_at_risk: {above: 0.5, share: 0.25}}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    transform: [{suppress: cells, residual: keep}]
    output: {path: out/r.csv}
    frontier: [2]
report: {language: LANGUAGE}
"""
#: Five persons in seven rows, (1, 2), (1, 2), (1, 3), (1, 2, gone), (3, gone): class 1 has four, 2 has three, 3 two, and two have a row of marks.
SEVERAL_ROWS = ["a,1,f", "a,2,f", "b,1,f", "b,2,f", "c,1,f", "c,3,f", "d,1,f", "d,2,f", "d,*,*", "e,3,f", "e,*,*"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            (
                "a person with rows in several classes is counted in each",
                # 1/2 for c and e, 1/3 for a, b and d: each person once, as in the smallest of their classes
                "about 2 of 5 guesses would be right",
                "Records are persons here: a person with several values is counted with each",
                "In classes are 5 persons, counted 9 times, once in each of their classes; 2 persons have a row that counts as lost",
                "at most 0.25 of the persons have a risk above 0.5",
            ),
        ),
        (
            "de",
            (
                "eine Person mit Zeilen in mehreren Klassen ist in jeder gezählt",
                "In Klassen sind 5 Personen, 9-mal gezählt, einmal in jeder ihrer Klassen; 2 Personen haben eine Zeile",
                "höchstens 0,25 der Personen haben ein Risiko über 0,5",
            ),
        ),
        (
            "fr",
            (
                "une personne dont les lignes sont dans plusieurs classes est comptée dans chacune",
                "Dans les classes se trouvent 5 personnes, comptées 9 fois, une fois dans chacune de leurs classes ; 2 personnes ont",
                "au plus 0,25 des personnes ont un risque au-dessus de 0,5",
            ),
        ),
    ],
)
@REPEATS
def test_a_sum_over_classes_is_not_called_a_number_of_persons(case, language, words):
    (case.folder / "input.csv").write_text("\n".join(["pid,age,sex", *SEVERAL_ROWS]) + "\n", encoding="utf-8")
    case.policy(SEVERAL.replace("LANGUAGE", language))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "persons with a row without any known value 2, with 5 in classes, counted 9 times" in " ".join(ran.out.split())
    after = case.threat("t")["after"]
    assert (after["records"]["value"], after["residual"]["value"], after["persons"]["value"]) == (9, 2, 5)
    assert {point["counted"]["value"] for point in case.audit()["utility_measures"]["frontier"]["points"]} == {5}
    (page,) = case.folder.glob(".privrelease/*/*/internal/report.html")
    text = html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))
    text = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ").split())
    for said in words:
        assert said in text


@REPEATS
def test_a_sum_over_classes_is_of_persons_where_each_has_one_row(case):
    (case.folder / "input.csv").write_text("pid,age,sex\na,1,f\nb,1,f\nc,2,f\nd,2,f\ne,*,*\nf,*,*\n", encoding="utf-8")
    case.policy(SEVERAL.replace("LANGUAGE", "en"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "persons without any known value 2 of 6" in " ".join(ran.out.split())
    assert "persons" not in case.threat("t")["after"]
