"""Rules of releases: columns, steps, persons, their own names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import RISK, STEP, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

FROM = "    from: patients\n"
#: Two threats of a release that each name a column of weights.
WEIGHED = (
    ("threats:\n", "      w: {role: insensitive, type: number}\nthreats:\n"),
    (
        f"{RISK}\n",
        (
            f"{RISK}\n    attacker: journalist\n    population: {{weight: glucose}}\n"
            "  other: {dataset: patients, knows: [age], attacker: journalist, highest_risk: 0.2, population: {weight: bmi}}\n"
        ),
    ),
    ("protect: [external]", "protect: [external, other]"),
)

RULES = [
    Rule(
        "a direct identifier that is selected",
        ((FROM, FROM + "    columns: [age, sex, patient_id]\n"),),
        [
            "p.yaml:24:25: P407 patient_id is a direct identifier and cannot leave as it is\nhint: remove it, or add a `pseudonymise` step for it",
        ],
        (
            (FROM, FROM + "    columns: [age, sex, patient_id]\n"),
            (STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),
        ),
    ),
    Rule(
        "a column that is selected twice",
        ((FROM, FROM + "    columns: [age, sex, age]\n"),),
        [
            "p.yaml:24:25: P408 age appears twice in columns\nhint: remove one",
        ],
        ((FROM, FROM + "    columns: [age, sex]\n"),),
    ),
    Rule(
        "a column that is selected and dropped",
        (
            (FROM, FROM + "    columns: [age, sex, glucose]\n"),
            (STEP, "      - {drop: [glucose]}\n" + STEP),
        ),
        [
            "p.yaml:24:25: P408 glucose is selected and dropped\nhint: keep one of the two",
        ],
        ((STEP, "      - {drop: [glucose]}\n" + STEP),),
    ),
    Rule(
        "a column that is dropped and pseudonymised",
        ((STEP, "      - {drop: [patient_id]}\n      - {pseudonymise: [patient_id], key: K}\n" + STEP),),
        [
            "p.yaml:27:25: P408 patient_id is to drop and to pseudonymise\nhint: remove one",
        ],
        ((STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),),
    ),
    Rule(
        "a known column that leaves as a pseudonym",
        ((STEP, "      - {pseudonymise: [sex], key: K}\n" + STEP),),
        [
            "p.yaml:24:15: P414 external knows sex, which is released as a pseudonym\nhint: drop sex, or let it leave as it is",
        ],
        ((STEP, "      - {pseudonymise: [glucose], key: K}\n" + STEP),),
    ),
    Rule(
        "a pseudonym of what does not leave",
        (
            (FROM, FROM + "    columns: [age, sex]\n"),
            (STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),
        ),
        [
            "p.yaml:27:25: P609 warn: patient_id is pseudonymised but does not leave\nhint: add it to `columns`, or remove the step",
        ],
        (
            (FROM, FROM + "    columns: [age, sex, patient_id]\n"),
            (STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),
        ),
    ),
    Rule(
        "suppression twice",
        ((STEP, STEP + "\n      - {suppress: cells, limit: 0.05, weights: {age: 2}}"),),
        [
            "p.yaml:27:9: P411 cells are suppressed twice\nhint: keep one `suppress` step, the last",
        ],
        ((STEP, STEP),),
    ),
    Rule(
        "a step after suppression",
        ((STEP, STEP + "\n      - {drop: [glucose]}"),),
        [
            "p.yaml:27:10: P411 drop comes after the suppression of cells, which must close the gap at the end\nhint: move it before `suppress`",
        ],
        ((STEP, "      - {drop: [glucose]}\n" + STEP),),
    ),
    Rule(
        "no known column leaves",
        ((FROM, FROM + "    columns: [glucose]\n"),),
        [
            "p.yaml:25:15: P414 none of the columns that external knows is released: there is nothing to protect\nhint: remove it from `protect`, or select its columns",
        ],
        ((FROM, FROM + "    columns: [glucose, age]\n"),),
    ),
    Rule(
        "no column is published",
        (
            ("protect: [external]", "protect: []"),
            (STEP, "      - {drop: [age, sex, glucose]}"),
        ),
        [
            "p.yaml:16:3: P607 warn: no release protects against external\nhint: name it under `protect`, or remove it",
            "p.yaml:21:5: P415 no column is published in release microdata\nhint: select columns",
        ],
        ((STEP, "      - {drop: [sex, glucose]}"),),
    ),
    Rule(
        "a weight of what is never suppressed",
        (("weights: {age: 2}", "weights: {glucose: 2}"),),
        [
            "p.yaml:26:50: P416 glucose is known in no protected threat: none of its cells is suppressed\nhint: remove its weight",
        ],
        (("weights: {age: 2}", "weights: {age: 2, sex: 3}"),),
    ),
    Rule(
        "suppression for no threat",
        (("protect: [external]", "protect: []"),),
        [
            "p.yaml:16:3: P607 warn: no release protects against external\nhint: name it under `protect`, or remove it",
            "p.yaml:21:5: P601 warn: age is a quasi-identifier and is published in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and is published in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:26:9: P416 cells are suppressed for threats, and the release protects against none\nhint: name threats under `protect`",
        ],
        (("limit: 0.05", "limit: 0.06"),),
    ),
    Rule(
        "nothing would be checked",
        (
            ("    protect: [external]\n    transform:\n      - {suppress: cells, limit: 0.05, weights: {age: 2}}\n", ""),
            ("checks:\n  - {id: UTIL-001, release: microdata, expect: suppressed_cells, max: 0.05}\n", ""),
        ),
        [
            "p.yaml:16:3: P607 warn: no release protects against external\nhint: name it under `protect`, or remove it",
            "p.yaml:21:5: P417 release microdata protects against nothing and has no checks: nothing would be checked\nhint: name threats under `protect`, or write checks for it",
            "p.yaml:21:5: P601 warn: age is a quasi-identifier and is published in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and is published in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
        ],
        (("checks:\n  - {id: UTIL-001, release: microdata, expect: suppressed_cells, max: 0.05}\n", ""),),
    ),
    Rule(
        "a quasi-identifier that nobody knows",
        (("knows: [age, sex]", "knows: [age]"),),
        [
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and is published in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
        ],
        (
            ("knows: [age, sex]", "knows: [age]"),
            (STEP, "      - {drop: [sex]}\n" + STEP),
        ),
    ),
    Rule(
        "rows of persons that stay linkable",
        (
            ("max_rows: 1", "max_rows: 3"),
            (STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),
        ),
        [
            "p.yaml:21:5: P602 warn: patient_id is released and a person may have several rows: the rows of a person stay linkable, so classes are sets of rows of persons\nhint: drop patient_id, or write `max_rows: 1` if each person has one row",
        ],
        ((STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),),
    ),
    Rule(
        "another pseudonym that may repeat in the rows of a person",
        (
            ("max_rows: 1", "max_rows: 3"),
            ("      glucose: {", "      phone: {role: direct, type: string}\n      glucose: {"),
            (STEP, "      - {pseudonymise: [phone], key: K}\n" + STEP),
        ),
        [
            "p.yaml:22:5: P602 warn: phone is released as a pseudonym and a person may have several rows: where it repeats in them the rows of a person stay linkable, and classes are then sets of rows of persons\nhint: drop phone, or write `max_rows: 1` if each person has one row",
        ],
        (
            ("      glucose: {", "      phone: {role: direct, type: string}\n      glucose: {"),
            (STEP, "      - {pseudonymise: [phone], key: K}\n" + STEP),
        ),
    ),
    Rule(
        "a pseudonym and no persons",
        (
            ("    unit: {column: patient_id, max_rows: 1}\n", ""),
            (STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),
        ),
        [
            "p.yaml:7:3: P610 info: dataset patients has no unit: every row counts as a person of its own\nhint: write `unit: {column: …}` if persons may repeat: a run stops where a pseudonym of patient_id would occur in several rows",
        ],
        ((STEP, "      - {pseudonymise: [patient_id], key: K}\n" + STEP),),
    ),
    Rule(
        "the order of the source",
        ((FROM, FROM + "    order: source\n"),),
        [
            "p.yaml:24:12: P604 warn: rows in the order of the source can be linked to persons by their position\nhint: write `order: values`",
        ],
        ((FROM, FROM + "    order: values\n"),),
    ),
    Rule(
        "no persons",
        (("    unit: {column: patient_id, max_rows: 1}\n", ""),),
        [
            "p.yaml:7:3: P610 info: dataset patients has no unit: every row counts as a person of its own\nhint: write `unit: {column: …}` if persons may repeat",
        ],
        (("max_rows: 1", "max_rows: 2"),),
    ),
    Rule(
        "two releases of one name",
        (("checks:", "  - {id: microdata, kind: microdata, from: patients, protect: [external], output: b.csv}\nchecks:"),),
        [
            "p.yaml:28:10: P408 two releases are called microdata\nhint: rename one of them",
        ],
        (("checks:", "  - {id: microdata2, kind: microdata, from: patients, protect: [external], output: b.csv}\nchecks:"),),
    ),
    Rule(
        "releases that differ only in case",
        (("checks:", "  - {id: Microdata, kind: microdata, from: patients, protect: [external], output: b.csv}\nchecks:"),),
        [
            "p.yaml:28:10: P409 releases microdata and Microdata differ only in case\nhint: rename one of them",
        ],
        (("checks:", "  - {id: micro-data, kind: microdata, from: patients, protect: [external], output: b.csv}\nchecks:"),),
    ),
    Rule(
        "a threat of another dataset",
        (
            (
                "threats:",
                "  others:\n    source: o.csv\n    unit: {column: id}\n    columns: {id: {role: direct, type: string}, a: {role: quasi, type: string}}\nthreats:\n  elsewhere: {dataset: others, knows: [a], highest_risk: 0.2}",
            ),
            ("protect: [external]", "protect: [external, elsewhere]"),
        ),
        [
            "p.yaml:29:25: P413 elsewhere is about dataset others, the release is made of patients\nhint: name a threat of that dataset",
        ],
        (
            (
                "threats:",
                "  others:\n    source: o.csv\n    unit: {column: id}\n    columns: {id: {role: direct, type: string}, a: {role: quasi, type: string}}\nthreats:",
            ),
        ),
    ),
    Rule(
        "threats that weigh the population differently",
        (*WEIGHED, ("weight: bmi", "weight: w")),
        [
            "p.yaml:28:25: P412 other counts the population by w, another threat of the release by glucose\nhint: protect against them in releases of their own",
        ],
        (*WEIGHED, ("weight: bmi", "weight: glucose")),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
