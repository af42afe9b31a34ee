"""Bad input of synthetic releases: each refused at its place, with what is wrong and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

HEAD = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: registry
version: 2.1.0
title: A registry
datasets:
  patients:
    source: data/patients.csv
    population: patients
    snapshot: spring
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [18, 85]}
      sex: {role: quasi, type: category, domain: [F, M]}
      glucose: {role: sensitive, type: number, domain: [50, 400], grid: 0.1}
      rough: {role: sensitive, type: number, domain: [0, 1]}
      born: {role: quasi, type: date, domain: [2000-01-01, 2009-12-31]}
      weight: {role: quasi, type: number, grid: 0.1}
      day: {role: quasi, type: integer, domain: [20190101, 20231231]}
      area: {role: quasi, type: string}
      note: {role: sensitive, type: string}
      code: {role: insensitive, type: string}
releases:
  - id: s
    kind: synthetic
    from: patients
    method: histogram
"""
BODY = {
    "columns": "[age, sex, area, code]",
    "rows": "100",
    "bins": "{age: {width: 10}}",
    "make": '{code: {pattern: "[0-9]{3}", unique: true}}',
    "discover": "{area: {epsilon: 0.1, delta: 1e-7}}",
    "impossible": "[\"sex = 'M' AND age >= 80\"]",
    "holdout": "0.2",
    "budget": "{epsilon: 1, delta: 1e-6}",
    "output": "out/s.csv",
}
LEDGER = 'ledger: {cap: {epsilon: 1000, delta: 0.99}, url: "sqlite:///ledger.db"}\n'


def policy(head: str = HEAD, **changes: str | None) -> str:
    keys = {name: value for name, value in (BODY | changes).items() if value is not None}
    return head + "".join(f"    {name}: {value}\n" for name, value in keys.items()) + LEDGER


def test_a_sound_release_is_valid(folder: Folder) -> None:
    assert folder.check(policy()) == []


def test_edges_of_dates_and_bounds_that_are_bought_are_valid_with_or_without_a_delta(folder: Folder) -> None:
    bins = "{age: {width: 10}, born: {edges: [2000-01-01, 2005-07-01, 2010-01-01]}}"
    columns = "[age, sex, born, weight, code]"
    given = {
        "columns": columns,
        "bins": bins,
        "discover": "{weight: {epsilon: 0.1, at_most: 5}}",
        "impossible": '["weight IS NULL"]',
    }
    assert folder.check(policy(**given)) == []
    assert folder.check(policy(**given, budget="{epsilon: 1}")) == []


BAD = [
    ({"columns": "[age, sex, area, code, note]"}, "P700", "note has no domain", "columns"),
    ({"columns": "[code]", "bins": None, "discover": None, "impossible": None}, "P700", "no column is modelled", "columns"),
    ({"columns": "[age, rough, area, code]", "impossible": None}, "P705", "rough has no grid", "columns"),
    (
        {"columns": "[age, sex, area, code, glucose]", "bins": "{glucose: {edges: [60, 100, 400]}}"},
        "P701",
        "leave a gap",
        "bins",
    ),
    (
        {"columns": "[age, sex, area, code, glucose]", "bins": "{glucose: {edges: [50, 100, 390]}}"},
        "P701",
        "leave a gap",
        "bins",
    ),
    ({"bins": "{age: {edges: [0, 10, 90]}}"}, "P701", "holds no value of its range", "bins"),
    ({"bins": "{age: {edges: [18, 60, 50, 90]}}"}, "P701", "do not ascend", "bins"),
    ({"bins": "{age: {width: 0.5}}"}, "P701", "not a multiple of the grid", "bins"),
    ({"bins": "{sex: {width: 5}}"}, "P701", "has bins and no range", "bins"),
    ({"columns": "[age, sex, area, code, born]", "bins": "{born: {edges: [0, 10]}}"}, "P701", "dates", "bins"),
    ({"rows": "1001"}, "P714", "has 1000 different texts, and 1001 rows are asked for", "make"),
    ({"make": '{code: {pattern: "[0-9]+"}}'}, "P714", "a pattern of fixed length cannot have", "make"),
    ({"make": '{code: {pattern: "[9-0]{3}"}}'}, "P714", "is not a list of characters and ranges", "make"),
    ({"make": '{code: {pattern: "[0-9]{99}"}}'}, "P714", "is longer than 64", "make"),
    ({"bins": "{born: {width: 30}}"}, "P715", "born is not one of the columns", "bins"),
    (
        {"discover": "{sex: {epsilon: 0.1, delta: 1e-7}}", "columns": "[age, sex, code]"},
        "P715",
        "is declared already",
        "discover",
    ),
    (
        {"columns": "[age, sex, code]", "discover": "{age: {epsilon: 0.1}}", "bins": None},
        "P715",
        "is declared already",
        "discover",
    ),
    (
        {"columns": "[weight, code]", "impossible": None, "discover": "{weight: {epsilon: 0.1, delta: 1e-7}}", "bins": None},
        "P723",
        "take no delta",
        "discover",
    ),
    ({"discover": "{area: {epsilon: 0.1}}"}, "P723", "are not read without a delta", "discover"),
    (
        {
            "columns": "[weight, code]",
            "impossible": None,
            "discover": "{weight: {epsilon: 0.1}}",
            "bins": "{weight: {width: 5}}",
        },
        "P715",
        "is declared already",
        "discover",
    ),
    (
        {
            "columns": "[weight, sex, code]",
            "discover": "{weight: {epsilon: 0.1}}",
            "bins": None,
            "impossible": '["weight > 3 AND sex IS NULL"]',
        },
        "P716",
        "compares weight, whose bins are not known",
        "impossible",
    ),
    (
        {"columns": "[weight, code]", "impossible": None, "discover": "{weight: {epsilon: 2}}", "bins": None},
        "P720",
        "spends the whole budget",
        "discover",
    ),
    (
        {"columns": "[age, sex, area, code, born]", "bins": "{born: {edges: [2000-01-01, 2005-06-31, 2009-12-31]}}"},
        "P701",
        "are dates",
        "bins",
    ),
    (
        {"columns": "[age, sex, area, code, born]", "bins": "{born: {edges: [2000-01-02, 2009-12-31]}}"},
        "P701",
        "leave a gap",
        "bins",
    ),
    ({"bins": "{age: {edges: [2000-01-01, 2009-12-31]}}"}, "P701", "are numbers", "bins"),
    ({"make": '{code: {pattern: "x"}, area: {pattern: "y"}}'}, "P715", "area is made up, and has discover", "discover"),
    ({"impossible": "[\"sex = 'M' AND age > 80\"]"}, "P716", "holds for a part of a bin", "impossible"),
    ({"impossible": '["born IS NULL"]'}, "P716", "born, which is not modelled", "impossible"),
    ({"impossible": "[\"sex = 'X'\"]"}, "P716", "X", "impossible"),
    ({"impossible": '["sex >"]'}, "P716", "cannot be read", "impossible"),
    (
        {"impossible": "[\"sex IN ('F', 'M') OR sex IS NULL\"]"},
        "P716",
        "leave no cell that is possible",
        "impossible",
    ),
    ({"impossible": "[\"area = 'north' AND age >= 75\"]"}, "P716", "holds for a part of a bin", "impossible"),
    (
        {"impossible": '["area IS NULL"]'},
        "P716",
        "leave no cell that is possible where no value of area is found",
        "impossible",
    ),
    (
        {
            "impossible": "[\"sex = 'F' AND (age < 50 OR age IS NULL)\", \"age >= 50 AND (area = 'x' OR area <> 'x' OR area IS NULL)\", "
            "\"(sex = 'M' OR sex IS NULL) AND (area = 'x' OR area <> 'x' OR area IS NULL)\"]"
        },
        "P716",
        "leave no cell that is possible",
        "impossible",
    ),
    ({"columns": "[age, sex, area, code, glucose, born]", "bins": None}, "P717", "holds at most 10000000", "columns"),
    ({"rows": "0"}, "P718", "must be a whole number of at least 1, or noisy, got 0", "rows"),
    ({"rows": "1.5"}, "P718", "got 1.5", "rows"),
    ({"holdout": "1"}, "P718", "must be above 0 and below 1, got 1", "holdout"),
    ({"holdout": "0"}, "P718", "got 0", "holdout"),
    ({"budget": "{epsilon: 1}"}, "P720", "reading values from the data needs a delta", "budget"),
    ({"discover": "{area: {epsilon: 2, delta: 1e-7}}"}, "P720", "spends the whole budget", "discover"),
    ({"discover": "{area: {epsilon: 0.1, delta: 1e-6}}"}, "P720", "add up to the delta of the budget, or more", "discover"),
    ({"discover": "{area: {epsilon: 0, delta: 1e-7}}"}, "P720", "epsilon must be above 0", "discover"),
    ({"budget": "{epsilon: 1, delta: 1e-6, accounting: pure}"}, "P720", "must be zcdp", "budget"),
    ({"budget": "{epsilon: 0, delta: 1e-6}"}, "DP101", "epsilon must be above 0", "budget"),
    ({"columns": "[id, age, sex, area, code]"}, "P721", "id is a direct identifier", "columns"),
]


@pytest.mark.parametrize(
    ("method", "width", "cells"),
    [("histogram", 20, 15_127_560), ("dpcocgen", 20, None), ("dpcocgen", 2, 133_878_906)],
)
def test_a_method_that_holds_the_joint_has_its_own_limit(folder: Folder, method: str, width: int, cells: int | None) -> None:
    """By hand: 69 ages, 3,654 days, 3 sexes, and 20 bins of glucose by 20 (from 40 on) or 177 by 2 (400 has its own), each with missing."""
    text = policy(
        columns="[age, born, sex, glucose]", bins=f"{{glucose: {{width: {width}}}}}", discover=None, impossible=None, make=None
    ).replace("method: histogram", f"method: {method}")
    found = [one for one in folder.check(text) if "P717" in one]
    assert bool(found) == (cells is not None)
    assert cells is None or f"has {cells} cells, and method {method} holds at most" in found[0]


@pytest.mark.parametrize(("changes", "code", "said", "key"), BAD, ids=lambda value: str(value)[:60])
def test_bad_input_is_refused_where_it_stands(folder: Folder, changes, code, said, key) -> None:
    text = policy(**changes)
    findings = folder.check(text)
    assert len(findings) == 1, findings
    place, rest = findings[0].split(" ", 1)
    assert rest.startswith(f"{code} ")
    assert said in rest
    line = int(place.split(":")[1])
    assert f"{key}:" in text.splitlines()[line - 1]
    assert "hint: " in rest


def test_whole_numbers_that_look_like_dates_are_warned_of(folder: Folder) -> None:
    findings = folder.check(policy(columns="[day, sex, area, code]", bins="{day: {width: 10000}}", impossible=None))
    assert [one.split(" ", 2)[1] for one in findings] == ["P722"]
    assert "day looks like dates" in findings[0]


def test_persons_with_several_rows_are_refused(folder: Folder) -> None:
    findings = folder.check(policy(HEAD.replace("max_rows: 1", "max_rows: 3")))
    assert [one.split(" ", 2)[1] for one in findings] == ["P713"]


def test_made_direct_identifiers_are_allowed(folder: Folder) -> None:
    columns, make = "[id, age, sex, area, code]", '{id: {pattern: "P[0-9]{6}"}, code: {pattern: "[0-9]{3}", unique: true}}'
    assert folder.check(policy(columns=columns, make=make)) == []


def test_rules_over_values_that_are_not_known_yet_are_allowed(folder: Folder) -> None:
    assert folder.check(policy(impossible="[\"area = 'north' AND age >= 80\", \"area < 'm' AND sex = 'F'\"]")) == []


def test_dates_of_a_format_begin_where_they_can_be_read(folder: Folder) -> None:
    head = HEAD.replace("domain: [2000-01-01, 2009-12-31]", "domain: [0001-01-01, 2009-12-31], format: {date: '%Y-%m-%d'}")
    asked = {"columns": "[born, sex, area, code]", "bins": "{born: {width: 100000}}", "impossible": None}
    findings = folder.check(policy(head, **asked))
    assert [one.split(" ", 2)[1] for one in findings] == ["P701"]
    assert "begins before the year 1000" in findings[0]
    assert folder.check(policy(head.replace(", format: {date: '%Y-%m-%d'}", ""), **asked)) == []


ATTACKS = "attacks: {{releases: [s], membership: {{}}{}}}\n"
INFORMING = [
    (ATTACKS.format(", inference: {target: sex, knows: [age]}"), []),
    (ATTACKS.format(", inference: {target: sex, knows: [code]}"), ["P461 code does not leave as it is in release s"]),
    ("checks: [{id: c, release: s, expect: marginal_error, columns: [age, sex], max: 0.1, severity: warn}]\n", []),
    ("checks: [{id: c, release: s, expect: marginal_error, columns: [age, sex], max: 0.1}]\n", ["P452 c compares a release"]),
    (
        "checks: [{id: c, release: s, expect: marginal_error, columns: [code], max: 0.1, severity: warn}]\n",
        ["P418 code has no value of the source in release s"],
    ),
    ("checks: [{id: c, release: s, expect: rows, max: 1, severity: warn}]\n", ["P418 rows measures rows about persons"]),
]


@pytest.mark.parametrize(("more", "said"), INFORMING)
def test_what_reads_the_source_of_synthetic_rows_names_modelled_columns_and_warns(folder: Folder, more, said) -> None:
    findings = folder.check(policy() + more)
    assert len(findings) == len(said), findings
    assert all(words in finding for words, finding in zip(said, findings, strict=True))


def test_membership_needs_a_control_where_no_one_is_held_out_and_synthetic_rows_are_attacked_only_where_they_are_named(
    folder: Folder,
) -> None:
    (found,) = folder.check(policy(holdout=None) + ATTACKS.format(""))
    assert "P460 membership needs persons who are not in the data" in found
    (found,) = folder.check(policy() + "attacks: {singling_out: {}}\n")
    assert "no release is of kind microdata" in found
    assert "write `releases: [s]` under attacks" in found
