"""Rules of structure: keys, words, names, addresses, dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import RISK, SOURCE, STEP, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "a misspelt key",
        (("knows: [age, sex]", "knwos: [age, sex]"),),
        [
            "p.yaml:18:5: P200 unknown key knwos in external\nhint: did you mean knows?",
        ],
        (("knows: [age, sex]", "knows: [sex, age]"),),
    ),
    Rule(
        "a word of another tool",
        ((RISK, "k: 5"),),
        [
            "p.yaml:19:5: P200 unknown key k in external\nhint: here it is called highest_risk, which is 1/k: `highest_risk: 0.2` for k = 5",
        ],
        ((RISK, RISK + "5"),),
    ),
    Rule(
        "a key that is lacking",
        (("version: 2.1.0\n", ""),),
        [
            "p.yaml:1:1: P201 version is missing",
        ],
        (("version: 2.1.0\n", "version: 3\n"),),
    ),
    Rule(
        "a role that is lacking",
        (("role: sensitive, ", ""),),
        [
            "p.yaml:14:7: P201 role is missing in glucose",
        ],
        (("role: sensitive, ", "role: insensitive, "),),
    ),
    Rule(
        "a role that is not decided",
        (("role: sensitive, ", "role: , "),),
        [
            "p.yaml:14:22: P205 role of glucose is not decided: write direct, quasi, sensitive or insensitive",
        ],
        (("role: sensitive, ", "role: quasi, "),),
    ),
    Rule(
        "a misspelt role",
        (("role: sensitive", "role: sensible"),),
        [
            "p.yaml:14:23: P202 role must be direct, quasi, sensitive or insensitive, got sensible\nhint: did you mean sensitive?",
        ],
        (("role: sensitive", "role: insensitive"),),
    ),
    Rule(
        "an unknown type",
        (("type: number", "type: numeric"),),
        [
            "p.yaml:14:40: P202 type must be string, category, integer, number, date, datetime or boolean, got numeric\nhint: did you mean number?",
        ],
        (("type: number, domain: [50, 400], grid: 0.1", "type: integer"),),
    ),
    Rule(
        "an unknown kind of file",
        (("kind: ReleasePolicy", "kind: Policy"),),
        [
            "p.yaml:2:7: P202 kind must be ReleasePolicy, got Policy\nhint: did you mean ReleasePolicy?",
        ],
        (("kind: ReleasePolicy", 'kind: "ReleasePolicy"'),),
    ),
    Rule(
        "a text for a list",
        (("knows: [age, sex]", "knows: age"),),
        [
            "p.yaml:18:5: P203 knows needs a list, got the text age\nhint: write `knows: [age]`",
        ],
        (("knows: [age, sex]", "knows:\n      - age\n      - sex"),),
    ),
    Rule(
        "an empty list",
        (("knows: [age, sex]", "knows: []"),),
        [
            "p.yaml:18:5: P203 knows must not be empty",
        ],
        (("knows: [age, sex]", "knows: [age, sex, glucose]"),),
    ),
    Rule(
        "a list for a mapping",
        (("    unit: {column: patient_id, max_rows: 1}", "    unit: [patient_id]"),),
        [
            "p.yaml:9:5: P203 unit needs a mapping (keys and values), got a list",
        ],
        (("    unit: {column: patient_id, max_rows: 1}", "    unit: {column: patient_id}"),),
    ),
    Rule(
        "a name with a slash",
        (("id: registry", "id: a/b"),),
        [
            "p.yaml:3:5: P203 id is not a name: a/b\nhint: letters, digits, `-`, `_` and `.`, at most 64, starting with a letter or digit",
        ],
        (("id: registry", "id: a-b"),),
    ),
    Rule(
        "a name that climbs",
        (("id: registry", "id: a..b"),),
        [
            "p.yaml:3:5: P203 id is not a name: a..b\nhint: letters, digits, `-`, `_` and `.`, at most 64, starting with a letter or digit",
        ],
        (("id: registry", "id: a.b"),),
    ),
    Rule(
        "a secret where its name belongs",
        ((STEP, "      - {pseudonymise: [patient_id], key: s3cret}"),),
        [
            "p.yaml:26:43: P203 key must be the name of an environment variable (capitals, digits, `_`)\nhint: secrets are named, never written in a policy",
        ],
        ((STEP, "      - {pseudonymise: [patient_id], key: PSEUDONYM_KEY}"),),
    ),
    Rule(
        "a misspelt step",
        ((STEP, "      - {supress: cells}"),),
        [
            "p.yaml:26:9: P202 item 1 of transform is not a transform step\nhint: did you mean suppress?",
        ],
        ((STEP, "      - {suppress: cells}"),),
    ),
    Rule(
        "a step without a key",
        ((STEP, "      - suppress"),),
        [
            "p.yaml:26:9: P202 item 1 of transform is not a transform step\nhint: steps: drop, pseudonymise, generalise, code, round, suppress",
        ],
        ((STEP, "      - suppress: cells"),),
    ),
    Rule(
        "no output",
        (("    output: out/patients.parquet\n", ""),),
        [
            "p.yaml:21:5: P201 output is missing in item 1 of releases",
        ],
        (("    output: out/patients.parquet\n", "    output: [out/patients.csv, {path: out/p, format: parquet}]\n"),),
    ),
    Rule(
        "two files for one source",
        ((SOURCE, "{csv: a, parquet: b}"),),
        [
            "p.yaml:8:5: P204 source names 2 files\nhint: write a path, or one of `csv:`, `parquet:`, `duckdb:` and `sqlite:` with a path",
        ],
        ((SOURCE, "{csv: a}"),),
    ),
    Rule(
        "an address for a path",
        ((SOURCE, "https://example.org/y.csv"),),
        [
            "p.yaml:8:13: P203 source must be a path of a file, not an address",
        ],
        ((SOURCE, "data/*.csv"),),
    ),
    Rule(
        "a date that is no day",
        (("checks:", "review: {next: 2027-02-30}\nchecks:"),),
        [
            "p.yaml:28:16: P203 next must be a day as YYYY-MM-DD, got 2027-02-30",
        ],
        (("checks:", "review: {next: 2027-02-28}\nchecks:"),),
    ),
    Rule(
        "a duration in words",
        (("checks:", "legal: {retention: {source: ten years}}\nchecks:"),),
        [
            "p.yaml:28:29: P203 source must be a duration such as P10Y (ISO 8601), got ten years",
        ],
        (("checks:", "legal: {retention: {source: P10Y}}\nchecks:"),),
    ),
    Rule(
        "a country by name",
        (("checks:", "legal: {recipients: [{name: A, country: Norway}]}\nchecks:"),),
        [
            "p.yaml:28:41: P203 country must be a country code of two capitals (ISO 3166-1), got Norway",
        ],
        (("checks:", "legal: {recipients: [{name: A, country: NO}]}\nchecks:"),),
    ),
    Rule(
        "a size without an estimator",
        ((RISK, RISK + "\n    attacker: journalist\n    population: {size: 1000}"),),
        [
            "p.yaml:21:5: P204 population `size` and `estimator` go together\nhint: estimators: pitman, zayatz, snb, dankar",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {size: 1000, estimator: pitman}"),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)
