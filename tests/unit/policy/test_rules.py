"""Every rule: a policy that breaks it, the message word for word, and a policy close to it that does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.policy.conftest import Folder

RISK = "highest_risk: 0.2"
STEP = "      - {suppress: cells, limit: 0.05, weights: {age: 2}}"
OUT = "out/patients.parquet"
SOURCE = "data/patients.csv"
FROM = "    from: patients\n"
LEDGER = 'ledger: {cap: {epsilon: 4, delta: 1e-5}, url: "sqlite:///ledger.db"}\nchecks:'
POPULATION = (f"source: {SOURCE}", f"source: {SOURCE}\n    population: patients")
STATISTICS = """\
  - id: numbers
    kind: statistics
    from: patients
    budget: {epsilon: 5}
    queries: [{id: n, count: true}]
    output: out/numbers.csv
"""
TABLE = """\
  - id: admissions
    kind: table
    from: patients
    by: [sex]
    measures: [{count: true}, {sum: glucose}]
    margins: true
    protect: {min_count: 10}
    output: out/admissions.csv
"""

Changes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Rule:
    name: str
    breaks: Changes
    says: list[str]
    keeps: Changes


RULES = [
    # syntax and values
    Rule(
        "a value too large by a hundred",
        ((RISK, "highest_risk: 20"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 20\nhint: write 0.2 for 20 %",
        ],
        ((RISK, "highest_risk: 1e-1"),),
    ),
    Rule(
        "a threshold of zero",
        ((RISK, "highest_risk: 0"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 0",
        ],
        ((RISK, "highest_risk: 0.001"),),
    ),
    Rule(
        "a limit in per cent",
        (("limit: 0.05", "limit: 5"),),
        [
            "p.yaml:26:34: P104 limit must be in [0, 1], got 5\nhint: write 0.05 for 5 %",
        ],
        (("limit: 0.05", "limit: 1"),),
    ),
    Rule(
        "a weight of nothing",
        (("weights: {age: 2}", "weights: {age: 0}"),),
        [
            "p.yaml:26:55: P104 weight of age must be above 0, got 0",
        ],
        (("weights: {age: 2}", "weights: {age: 0.5}"),),
    ),
    Rule(
        "rows per person below one",
        (("max_rows: 1", "max_rows: 0"),),
        [
            "p.yaml:9:42: P104 max_rows must be at least 1, got 0",
        ],
        (("max_rows: 1", "max_rows: 2"),),
    ),
    Rule(
        "a share of a check in per cent",
        (("max: 0.05", "max: 5"),),
        [
            "p.yaml:29:71: P104 max of suppressed_cells must be in [0, 1], got 5\nhint: write 0.05 for 5 %",
        ],
        (("max: 0.05", "max: 1"),),
    ),
    Rule(
        "a per cent sign",
        ((RISK, "highest_risk: 20 %"),),
        [
            "p.yaml:19:19: P203 highest_risk needs a number, got 20 %\nhint: write 0.2 for 20 %",
        ],
        ((RISK, RISK + "0"),),
    ),
    Rule(
        "a number in quotes",
        ((RISK, "highest_risk: '0.2'"),),
        [
            "p.yaml:19:19: P203 highest_risk needs a number, got the text '0.2'\nhint: remove the quotes",
        ],
        ((RISK, "highest_risk: .2"),),
    ),
    Rule(
        "not a number",
        ((RISK, "highest_risk: .nan"),),
        [
            "p.yaml:19:19: P203 highest_risk must be finite, got .nan",
        ],
        ((RISK, "highest_risk: 0.5"),),
    ),
    Rule(
        "infinity",
        (("limit: 0.05", "limit: .inf"),),
        [
            "p.yaml:26:34: P203 limit must be finite, got .inf",
        ],
        (("limit: 0.05", "limit: 0"),),
    ),
    Rule(
        "a decimal comma",
        ((RISK, "highest_risk: 0,2"),),
        [
            "p.yaml:19:19: P203 highest_risk needs a number, got 0,2\nhint: write 0.2",
        ],
        ((RISK, RISK + "5"),),
    ),
    Rule(
        "leading zeros where a number is wanted",
        (("max_rows: 1", "max_rows: 010"),),
        [
            "p.yaml:9:42: P203 max_rows must not start with zeros, got 010\nhint: write 10",
        ],
        (("max_rows: 1", "max_rows: 10"),),
    ),
    Rule(
        "a number too close to zero",
        ((RISK, "highest_risk: 1e-99"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1] and at least 1e-30, got 1e-99",
        ],
        ((RISK, "highest_risk: 1e-9"),),
    ),
    Rule(
        "a number with an endless exponent",
        ((RISK, "highest_risk: 1e400000000"),),
        [
            "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 1e400000000",
        ],
        ((RISK, "highest_risk: 1e0"),),
    ),
    Rule(
        "a weight without end",
        (("weights: {age: 2}", "weights: {age: 1e99}"),),
        [
            "p.yaml:26:55: P104 weight of age must be above 0 and at most 1e30, got 1e99",
        ],
        (("weights: {age: 2}", "weights: {age: 1e9}"),),
    ),
    Rule(
        "a whole number without end",
        (("max_rows: 1", "max_rows: 1e400000000"),),
        [
            "p.yaml:9:42: P104 max_rows must be at most 9223372036854775807, got 1e400000000",
        ],
        (("max_rows: 1", "max_rows: 1e2"),),
    ),
    Rule(
        "a list for a number",
        ((RISK, "highest_risk: [0.2]"),),
        [
            "p.yaml:19:5: P203 highest_risk needs a number, got a list",
        ],
        ((RISK, "highest_risk: 2e-1"),),
    ),
    Rule(
        "a fraction for a whole number",
        (("max_rows: 1", "max_rows: 1.5"),),
        [
            "p.yaml:9:42: P203 max_rows needs a whole number, got 1.5",
        ],
        (("max_rows: 1", "max_rows: 3"),),
    ),
    Rule(
        "yes for a truth value",
        ((RISK, RISK + "\n    knows_rows: yes"),),
        [
            "p.yaml:20:17: P203 knows_rows must be true or false, got yes",
        ],
        ((RISK, RISK + "\n    knows_rows: true"),),
    ),
    # structure
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
            "p.yaml:3:5: P203 id is no name: a/b\nhint: letters, digits, `-`, `_` and `.`, at most 64, starting with a letter or digit",
        ],
        (("id: registry", "id: a-b"),),
    ),
    Rule(
        "a name that climbs",
        (("id: registry", "id: a..b"),),
        [
            "p.yaml:3:5: P203 id is no name: a..b\nhint: letters, digits, `-`, `_` and `.`, at most 64, starting with a letter or digit",
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
            "p.yaml:26:9: P202 item 1 of transform is no transform step\nhint: did you mean suppress?",
        ],
        ((STEP, "      - {suppress: cells}"),),
    ),
    Rule(
        "a step without a key",
        ((STEP, "      - suppress"),),
        [
            "p.yaml:26:9: P202 item 1 of transform is no transform step\nhint: steps: drop, pseudonymise, suppress",
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
    # what this version does not do
    Rule(
        "a synthetic release",
        (("kind: microdata", "kind: synthetic"),),
        [
            "p.yaml:22:5: P210 a release of kind synthetic is not available in this version\nhint: remove it: what is not done must not stand in the policy as a promise",
        ],
        (("kind: microdata", "kind: 'microdata'"),),
    ),
    Rule(
        "generalisation",
        ((STEP, "      - {generalise: age, hierarchy: {width: 10}}"),),
        [
            "p.yaml:26:10: P210 the transform step generalise is not available in this version\nhint: remove it: what is not done must not stand in the policy as a promise",
        ],
        ((STEP, "      - {drop: [glucose]}"),),
    ),
    Rule(
        "l-diversity",
        ((RISK, RISK + "\n    also: {l_diversity: {column: glucose, l: 2}}"),),
        [
            "p.yaml:20:12: P210 l-diversity is not available in this version\nhint: remove it: what is not done must not stand in the policy as a promise",
        ],
        ((RISK, RISK + "\n    also: {subsets: {up_to: 1, k: 3}}"),),
    ),
    Rule(
        "a ledger that is nowhere",
        (("checks:", "ledger: {cap: {epsilon: 4}}\nchecks:"),),
        ["p.yaml:28:1: P201 url is missing in ledger"],
        (("checks:", LEDGER),),
    ),
    Rule(
        "a ledger with a password",
        (("checks:", 'ledger: {cap: {epsilon: 4}, url: "postgresql://dpo:made-up@db/ledger"}\nchecks:'),),
        [
            "p.yaml:28:34: P203 url must not hold a password\nhint: put the whole URL into an environment variable and write its name"
        ],
        (("checks:", 'ledger: {cap: {epsilon: 4}, url: "postgresql://dpo@db/ledger"}\nchecks:'),),
    ),
    Rule(
        "a ledger in an unknown kind of place",
        (("checks:", "ledger: {cap: {epsilon: 4}, url: ledger.db}\nchecks:"),),
        [
            "p.yaml:28:34: P203 url must be the place of a ledger\nhint: write sqlite:///FILE, postgresql://USER@HOST/DATABASE, or the name of an environment variable that holds the URL"
        ],
        (("checks:", "ledger: {cap: {epsilon: 4}, url: LEDGER_URL}\nchecks:"),),
    ),
    Rule(
        "a cap without budget",
        (("checks:", LEDGER.replace("epsilon: 4", "epsilon: 0")),),
        ["p.yaml:28:25: P104 epsilon must be above 0, got 0"],
        (("checks:", LEDGER.replace("epsilon: 4", "epsilon: 1e-3")),),
    ),
    Rule(
        "a cap whose delta is certainty",
        (("checks:", LEDGER.replace("1e-5", "1")),),
        ["p.yaml:28:35: P104 delta must be in [0, 1)\nhint: write e.g. 1e-5"],
        (("checks:", LEDGER.replace("1e-5", "0")),),
    ),
    Rule(
        "a table without a minimum count",
        (("checks:", TABLE.replace("{min_count: 10}", "{p_percent: 0.1}") + "checks:"),),
        ["p.yaml:28:5: P440 has no minimum count\nhint: write `protect: {min_count: 10}`"],
        (("checks:", TABLE.replace("{min_count: 10}", "{p_percent: 0.1}") + "tables: {min_count: 3}\nchecks:"),),
    ),
    Rule(
        "a minimum count that gives cells away",
        (("checks:", TABLE.replace("min_count: 10", "min_count: 2") + "checks:"),),
        [
            "p.yaml:34:26: P440 min_count must be at least 3\nhint: a suppressed count is known to be at least 1 and below the minimum"
        ],
        (("checks:", TABLE.replace("min_count: 10", "min_count: 3") + "checks:"),),
    ),
    Rule(
        "a table weaker than the policy's rules",
        (("checks:", TABLE + "tables: {min_count: 11}\nchecks:"),),
        ["p.yaml:34:26: P445 min_count is below that of `tables`\nhint: write 11"],
        (("checks:", TABLE + "tables: {min_count: 10}\nchecks:"),),
    ),
    Rule(
        "groups by a person",
        (("checks:", TABLE.replace("[sex]", "[patient_id]") + "checks:"),),
        ["p.yaml:31:10: P446 patient_id names persons: a cell of one would be a person\nhint: group by another column"],
        (("checks:", TABLE + "checks:"),),
    ),
    Rule(
        "a figure of a table twice",
        (("checks:", TABLE.replace("{sum: glucose}", "{count: true}") + "checks:"),),
        ["p.yaml:32:31: P446 this figure stands twice\nhint: remove one"],
        (("checks:", TABLE + "checks:"),),
    ),
    Rule(
        "groups by a column whose keys are not declared",
        (("domain: [F, M]", "description: sex"), ("checks:", TABLE + "checks:")),
        [
            "p.yaml:31:10: P441 the keys of sex are not declared: which of them occur would tell\nhint: write `domain: [key, …]` for sex, of at most 1000 keys"
        ],
        (("domain: [F, M]", "domain: [F, M, X]"), ("checks:", TABLE + "checks:")),
    ),
    Rule(
        "a table too large",
        (
            ("checks:", TABLE.replace("[sex]", "[sex, age]") + "checks:"),
            ("domain: [18, 85]", "domain: [0, 999]"),
            ("domain: [F, M]", "domain: [F, M, X, Y]"),
        ),
        ["p.yaml:31:5: P442 has 5005 cells, more than 5000\nhint: group by fewer columns or coarser keys"],
        (("checks:", TABLE.replace("[sex]", "[sex, age]") + "checks:"),),
    ),
    Rule(
        "a sum of values that are not bounded",
        (("checks:", TABLE + "checks:"), (", domain: [50, 400]", "")),
        ["p.yaml:32:37: P443 glucose has no smallest value of at least 0\nhint: write `domain: [0, highest]` for glucose"],
        (("checks:", TABLE + "checks:"),),
    ),
    Rule(
        "two tables of one dataset under different rules",
        (("checks:", TABLE + TABLE.replace("admissions", "others").replace("10}", "11}") + "checks:"),),
        [
            "p.yaml:42:5: P444 min_count is not that of admissions, a table of the same rows: what one hides the other could tell\nhint: write the same `protect` in both"
        ],
        (("checks:", TABLE + TABLE.replace("admissions", "others") + "checks:"),),
    ),
    Rule(
        "a release above the cap",
        (("checks:", STATISTICS + LEDGER), POPULATION),
        [
            "p.yaml:32:23: P430 the epsilon of release numbers, 5, is above the ledger's cap, 4: it could never be charged\nhint: lower it, or raise `ledger.cap.epsilon`"
        ],
        (("checks:", STATISTICS + LEDGER.replace("epsilon: 4", "epsilon: 5")), POPULATION),
    ),
    Rule(
        "approvers' keys outside the policy's folder",
        (("checks:", "approvals: {required: [dpo], keys: ../approvers.yaml}\nchecks:"),),
        [
            "p.yaml:28:36: P403 ../approvers.yaml is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        (("checks:", "approvals: {required: [dpo], keys: approvers.yaml}\nchecks:"),),
    ),
    Rule(
        "a role that is required twice",
        (("checks:", "approvals: {required: [dpo, dpo], keys: approvers.yaml}\nchecks:"),),
        [
            "p.yaml:28:29: P408 role dpo is required twice\nhint: keep one",
        ],
        (("checks:", "approvals: {required: [dpo, steward], keys: approvers.yaml}\nchecks:"),),
    ),
    Rule(
        "a waiver of a check that does not exist",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-002, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:19: P305 check UTIL-002 does not exist\nhint: did you mean UTIL-001?",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver of a threshold",
        (
            (
                "checks:",
                "waivers: [{check: external, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:19: P419 external cannot be waived: only a check of this policy can\nhint: a threshold is changed in its threat; what guards the release itself always counts",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver of what guards the release",
        (
            (
                "checks:",
                "waivers: [{check: AUDIT-CELLS, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:19: P419 AUDIT-CELLS cannot be waived: only a check of this policy can\nhint: a threshold is changed in its threat; what guards the release itself always counts",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver for a release that does not exist",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: other, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:38: P304 release other does not exist\nhint: there is: microdata",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver that its owner approved",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: role:DPO, approved_by: role:dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:94: P611 warn: the waiver of UTIL-001 is approved by its owner and does not count\nhint: let somebody else approve it",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a waiver without an end",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:11: P201 expires is missing in item 1 of waivers",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "two waivers of one check",
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}, {check: UTIL-001, release: microdata, reason: again, owner: a, approved_by: b, expires: 2027-12-31}]\nchecks:",
            ),
        ),
        [
            "p.yaml:28:128: P408 two waivers are about check UTIL-001 of release microdata\nhint: keep one of them",
        ],
        (
            (
                "checks:",
                "waivers: [{check: UTIL-001, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: 2026-12-31}]\nchecks:",
            ),
        ),
    ),
    Rule(
        "a PostgreSQL source, whose password is not shown",
        ((SOURCE, "postgresql://u:pw@h/db"),),
        [
            "p.yaml:8:5: P210 a PostgreSQL source is not available in this version\nhint: remove it: what is not done must not stand in the policy as a promise",
        ],
        ((SOURCE, "{sqlite: data/p.db, table: t}"),),
    ),
    # references
    Rule(
        "a dataset of a threat",
        (("dataset: patients", "dataset: patiens"),),
        [
            "p.yaml:17:14: P301 dataset patiens does not exist\nhint: did you mean patients?",
        ],
        (("dataset: patients", 'dataset: "patients"'),),
    ),
    Rule(
        "a dataset of a release",
        (("from: patients", "from: people"),),
        [
            "p.yaml:23:11: P301 dataset people does not exist\nhint: there is: patients",
        ],
        (("from: patients", "from: 'patients'"),),
    ),
    Rule(
        "a column of a threat",
        (("knows: [age, sex]", "knows: [agee, sex]"),),
        [
            "p.yaml:18:13: P302 column agee does not exist in dataset patients\nhint: did you mean age?",
        ],
        (("knows: [age, sex]", "knows: [age, sex]  # as declared"),),
    ),
    Rule(
        "a column in other case",
        (("knows: [age, sex]", "knows: [Age, sex]"),),
        [
            "p.yaml:18:13: P302 column Age does not exist in dataset patients\nhint: did you mean age?",
        ],
        (("knows: [age, sex]", "knows: ['age', sex]"),),
    ),
    Rule(
        "a column of the unit",
        (("column: patient_id", "column: patientid"),),
        [
            "p.yaml:9:20: P302 column patientid does not exist in dataset patients\nhint: did you mean patient_id?",
        ],
        (("column: patient_id", 'column: "patient_id"'),),
    ),
    Rule(
        "a column of weights",
        (("weights: {age: 2}", "weights: {gluc: 2}"),),
        [
            "p.yaml:26:50: P302 column gluc does not exist in dataset patients\nhint: did you mean glucose?",
        ],
        (("weights: {age: 2}", "weights: {sex: 2}"),),
    ),
    Rule(
        "a threat of a release",
        (("protect: [external]", "protect: [Extrenal]"),),
        [
            "p.yaml:24:15: P303 threat Extrenal does not exist\nhint: did you mean external?",
        ],
        (("protect: [external]", "protect: ['external']"),),
    ),
    Rule(
        "a release of a check",
        (("release: microdata", "release: micro"),),
        [
            "p.yaml:29:29: P304 release micro does not exist\nhint: did you mean microdata?",
        ],
        (("release: microdata", 'release: "microdata"'),),
    ),
    Rule(
        "a check",
        (("expect: suppressed_cells", "expect: supressed_cells"),),
        [
            "p.yaml:29:48: P305 check supressed_cells does not exist\nhint: did you mean suppressed_cells?",
        ],
        (("expect: suppressed_cells", "expect: unique_records"),),
    ),
    Rule(
        "a threat of a check",
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 5, threat: outsider"),),
        [
            "p.yaml:29:67: P303 threat outsider does not exist\nhint: there is: external",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 5, threat: external"),),
    ),
    Rule(
        "a population that is a path",
        ((RISK, RISK + "\n    attacker: journalist\n    population: {table: data/census.csv}"),),
        [
            "p.yaml:21:25: P301 dataset data/census.csv does not exist\nhint: declare the population under `datasets` and write its name here",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {weight: glucose}"),),
    ),
    # datasets
    Rule(
        "a domain that ends before it starts",
        (("domain: [18, 85]", "domain: [85, 18]"),),
        [
            "p.yaml:12:41: P402 the domain of age ends before it starts: [85, 18]\nhint: write [18, 85]",
        ],
        (("domain: [18, 85]", "domain: [18, 18]"),),
    ),
    Rule(
        "a domain of the wrong type",
        (("domain: [18, 85]", "domain: [18, old]"),),
        [
            "p.yaml:12:54: P402 age needs a whole number in its domain, got old",
        ],
        (("domain: [18, 85]", "domain: [-5, 85]"),),
    ),
    Rule(
        "a range of texts",
        (("domain: [F, M]", "domain: {range: [F, M]}"),),
        [
            "p.yaml:13:42: P402 sex is of type category: it has no range\nhint: write `domain: [a, b, …]`",
        ],
        (("domain: [F, M]", "domain: {values: [F, M]}"),),
    ),
    Rule(
        "a value twice in a domain",
        (("domain: [F, M]", "domain: [F, M, F]"),),
        [
            "p.yaml:13:57: P408 F stands twice in the domain of sex\nhint: remove one",
        ],
        (("domain: [F, M]", "domain: [F, M, f]"),),
    ),
    Rule(
        "an empty domain",
        (("domain: [F, M]", "domain: []"),),
        [
            "p.yaml:13:42: P402 the domain of sex is empty: no value could be read",
        ],
        (("domain: [F, M]", "domain: [F]"),),
    ),
    Rule(
        "a bound off the grid",
        (("domain: [50, 400]", "domain: [50.05, 400]"),),
        [
            "p.yaml:14:57: P402 50.05 is not on the grid 0.1 of glucose",
        ],
        (("domain: [50, 400]", "domain: [50.1, 400]"),),
    ),
    Rule(
        "a grid on a text",
        (("type: category, domain: [F, M]", "type: category, grid: 1"),),
        [
            "p.yaml:13:48: P402 sex has a grid but is no number\nhint: remove `grid`, or write `type: number`",
        ],
        (("type: category, domain: [F, M]", "type: number, grid: 1"),),
    ),
    Rule(
        "outside of no domain",
        (("type: category, domain: [F, M]", "type: category, outside: drop"),),
        [
            "p.yaml:13:51: P402 sex says what happens outside a domain but has none\nhint: write `domain`",
        ],
        (("type: category, domain: [F, M]", "type: category, domain: [F], outside: drop"),),
    ),
    Rule(
        "a date format on a number",
        (("type: integer, domain", "format: {date: '%d.%m.%Y'}, type: integer, domain"),),
        [
            "p.yaml:12:41: P401 age is of type integer: date says nothing about it\nhint: remove it, or correct the type",
        ],
        (("type: integer, domain: [18, 85]", "format: {date: '%d.%m.%Y'}, type: date"),),
    ),
    Rule(
        "a date format that depends on the machine",
        (("    unit:", "    format: {date: '%x'}\n    unit:"),),
        [
            "p.yaml:9:20: P203 date must be a date format such as %d.%m.%Y\nhint: allowed: %Y %y %m %d %H %M %S %f %j %b %B %%",
        ],
        (("    unit:", "    format: {date: '%d.%m.%y'}\n    unit:"),),
    ),
    Rule(
        "one sign for two things",
        (("    unit:", "    format: {decimal: ',', thousands: ','}\n    unit:"),),
        [
            "p.yaml:9:5: P401 format decimal and thousands must differ",
        ],
        (("    unit:", "    format: {decimal: ',', thousands: '.', delimiter: ;}\n    unit:"),),
    ),
    Rule(
        "an encoding that nobody knows",
        (("    unit:", "    format: {encoding: utf-9}\n    unit:"),),
        [
            (
                "p.yaml:9:5: P401 format encoding is unknown: utf-9\n"
                "hint: write utf-8, latin-1, cp1252, utf-16 or another encoding of Python"
            ),
        ],
        (("    unit:", "    format: {encoding: cp1252}\n    unit:"),),
    ),
    Rule(
        "columns that differ only in case",
        (("      sex:", "      Age: {role: insensitive, type: string}\n      sex:"),),
        [
            "p.yaml:13:7: P409 columns age and Age differ only in case\nhint: rename one of them in the source: an engine that folds case would take one for the other",
        ],
        (("      sex:", "      age2: {role: insensitive, type: string}\n      sex:"),),
    ),
    Rule(
        "a database without a table",
        ((SOURCE, "data/patients.duckdb"),),
        [
            "p.yaml:8:13: P404 a duckdb file needs `table`\nhint: write `source: {duckdb: data/patients.duckdb, table: …}`",
        ],
        ((SOURCE, "data/patients.duckdb\n    table: visits"),),
    ),
    Rule(
        "a table of a csv file",
        ((SOURCE, SOURCE + "\n    table: visits"),),
        [
            "p.yaml:8:13: P404 a csv file has no tables\nhint: remove `table`",
        ],
        ((SOURCE, "{duckdb: data/patients.csv, table: visits}"),),
    ),
    Rule(
        "a suffix of two meanings",
        ((SOURCE, "data/patients.db"),),
        [
            "p.yaml:8:13: P404 the kind of file does not follow from the suffix of data/patients.db\nhint: write `source: {csv: …}`, or parquet, duckdb, sqlite",
        ],
        ((SOURCE, SOURCE + ".gz"),),
    ),
    Rule(
        "a source outside",
        ((SOURCE, "../patients.csv"),),
        [
            "p.yaml:8:13: P403 ../patients.csv is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        ((SOURCE, "data/../patients.csv"),),
    ),
    # threats
    Rule(
        "no threshold",
        ((RISK, "highest_risk: null"),),
        [
            "p.yaml:16:3: P410 external sets no threshold: nothing would be protected\nhint: write `highest_risk`, `average_risk` or `records_at_risk`",
        ],
        ((RISK, "average_risk: 0.1"),),
    ),
    Rule(
        "a direct identifier that is known",
        (("knows: [age, sex]", "knows: [age, sex, patient_id]"),),
        [
            "p.yaml:18:23: P406 external knows patient_id, a direct identifier: it never leaves as it is, so no threshold can hold on it\nhint: remove it from `knows`",
        ],
        (("knows: [age, sex]", "knows: [age, sex, glucose]"),),
    ),
    Rule(
        "the person that is known",
        (
            ("role: direct, type: string", "role: quasi, type: string"),
            ("knows: [age, sex]", "knows: [age, sex, patient_id]"),
        ),
        [
            "p.yaml:18:23: P406 external knows patient_id, which names the person: every class would hold one person\nhint: remove it from `knows`",
        ],
        (("knows: [age, sex]", "knows: [sex, age]"),),
    ),
    Rule(
        "a column that is known twice",
        (("knows: [age, sex]", "knows: [age, sex, sex]"),),
        [
            "p.yaml:18:23: P408 sex stands twice in knows\nhint: remove one",
        ],
        (("knows: [age, sex]", "knows: [age, sex]"),),
    ),
    Rule(
        "a journalist without a population",
        ((RISK, RISK + "\n    attacker: journalist"),),
        [
            "p.yaml:20:15: P412 external is a journalist, whose risk depends on the population: population is missing\nhint: write `population: {table: …}`, `{weight: …}` or `{size: …, estimator: …}`, or `attacker: prosecutor`",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {size: 50000, estimator: zayatz}"),),
    ),
    Rule(
        "a weight that is no number",
        ((RISK, RISK + "\n    attacker: journalist\n    population: {weight: patient_id}"),),
        [
            "p.yaml:21:26: P412 patient_id is of type string: a sampling weight is a number\nhint: write `type: number` for it",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {weight: glucose}"),),
    ),
    Rule(
        "a marketer with a highest risk",
        ((RISK, RISK + "\n    attacker: marketer"),),
        [
            "p.yaml:19:5: P412 external is a marketer, whose risk is an average: highest_risk means nothing\nhint: write `average_risk`",
        ],
        ((RISK, "average_risk: 0.2\n    attacker: marketer"),),
    ),
    Rule(
        "rows of a person without persons",
        (
            ("    unit: {column: patient_id, max_rows: 1}\n", ""),
            (RISK, RISK + "\n    knows_rows: true"),
        ),
        [
            "p.yaml:7:3: P610 info: dataset patients has no unit: every row counts as a person of its own\nhint: write `unit: {column: …}` if persons may repeat",
            "p.yaml:19:17: P412 external knows rows of a person, but dataset patients has no unit\nhint: write `unit: {column: …}` in the dataset",
        ],
        ((RISK, RISK + "\n    knows_rows: true"),),
    ),
    Rule(
        "combinations of more columns than are known",
        ((RISK, RISK + "\n    also: {subsets: {up_to: 3, k: 3}}"),),
        [
            "p.yaml:20:29: P410 up_to 3 is more than the 2 columns that external knows\nhint: write 2",
        ],
        ((RISK, RISK + "\n    also: {subsets: {up_to: 2, k: 3}}"),),
    ),
    Rule(
        "a threshold that allows everything",
        ((RISK, "highest_risk: 1"),),
        [
            "p.yaml:19:19: P605 warn: highest_risk 1 allows every record to be unique\nhint: 0.2 means k = 5",
        ],
        ((RISK, "highest_risk: 0.99"),),
    ),
    Rule(
        "an average that is never reached",
        ((RISK, RISK + "\n    average_risk: 0.3"),),
        [
            "p.yaml:20:19: P605 warn: average_risk 0.3 is never reached: no record may have more than highest_risk 0.2\nhint: write a smaller average_risk, or remove it",
        ],
        ((RISK, RISK + "\n    average_risk: 0.1"),),
    ),
    Rule(
        "a level that is never reached",
        ((RISK, RISK + "\n    records_at_risk: {above: 0.2, share: 0.1}"),),
        [
            "p.yaml:20:30: P605 warn: no record may be above 0.2: highest_risk is 0.2\nhint: write a level below highest_risk",
        ],
        ((RISK, RISK + "\n    records_at_risk: {above: 0.1, share: 0.1}"),),
    ),
    Rule(
        "a share that allows everything",
        ((RISK, RISK + "\n    records_at_risk: {above: 0.1, share: 1}"),),
        [
            "p.yaml:20:42: P605 warn: a share of 1 allows every record above the level",
        ],
        ((RISK, RISK + "\n    records_at_risk: {above: 0.1, share: 0}"),),
    ),
    Rule(
        "missing values that match anything",
        ((RISK, RISK + "\n    missing: wildcard"),),
        [
            "p.yaml:20:14: P603 warn: external reads a missing value as anything: this reading is not transitive, classes of it overlap\nhint: protect under `missing: category`; the audit reports both readings",
        ],
        ((RISK, RISK + "\n    missing: category"),),
    ),
    Rule(
        "a population that changes nothing",
        ((RISK, RISK + "\n    population: {size: 1000, estimator: snb}"),),
        [
            "p.yaml:20:5: P605 warn: external is a prosecutor, who knows that the person is in the data: population changes nothing\nhint: remove it, or write `attacker: journalist`",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {size: 1000, estimator: snb}"),),
    ),
    Rule(
        "a threat that nothing is protected against",
        (
            (
                "    knows: [age, sex]\n    highest_risk: 0.2\n",
                "    knows: [age, sex]\n    highest_risk: 0.2\n  insider: {dataset: patients, knows: [glucose], highest_risk: 0.5}\n",
            ),
        ),
        [
            "p.yaml:20:3: P607 warn: no release protects against insider\nhint: name it under `protect`, or remove it",
        ],
        (
            (
                "    knows: [age, sex]\n    highest_risk: 0.2\n",
                "    knows: [age, sex]\n    highest_risk: 0.2\n  insider: {dataset: patients, knows: [glucose], highest_risk: 0.5}\n",
            ),
            ("protect: [external]", "protect: [external, insider]"),
        ),
    ),
    # releases
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
            "p.yaml:24:25: P408 age stands twice in columns\nhint: remove one",
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
            "p.yaml:24:15: P414 external knows sex, which leaves as a pseudonym\nhint: drop sex, or let it leave as it is",
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
            "p.yaml:27:10: P411 drop stands after the suppression of cells, which must close the gap at the end\nhint: move it before `suppress`",
        ],
        ((STEP, "      - {drop: [glucose]}\n" + STEP),),
    ),
    Rule(
        "no known column leaves",
        ((FROM, FROM + "    columns: [glucose]\n"),),
        [
            "p.yaml:25:15: P414 none of the columns that external knows leaves: there is nothing to protect\nhint: remove it from `protect`, or select its columns",
        ],
        ((FROM, FROM + "    columns: [glucose, age]\n"),),
    ),
    Rule(
        "no column leaves",
        (
            ("protect: [external]", "protect: []"),
            (STEP, "      - {drop: [age, sex, glucose]}"),
        ),
        [
            "p.yaml:16:3: P607 warn: no release protects against external\nhint: name it under `protect`, or remove it",
            "p.yaml:21:5: P415 no column leaves in release microdata\nhint: select columns",
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
            "p.yaml:21:5: P601 warn: age is a quasi-identifier and leaves in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and leaves in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
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
            "p.yaml:21:5: P601 warn: age is a quasi-identifier and leaves in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and leaves in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
        ],
        (("checks:\n  - {id: UTIL-001, release: microdata, expect: suppressed_cells, max: 0.05}\n", ""),),
    ),
    Rule(
        "a quasi-identifier that nobody knows",
        (("knows: [age, sex]", "knows: [age]"),),
        [
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and leaves in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
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
            "p.yaml:21:5: P602 warn: patient_id leaves and a person may have several rows: the rows of a person stay linkable, so classes are sets of rows of persons\nhint: drop patient_id, or write `max_rows: 1` if each person has one row",
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
            "p.yaml:22:5: P602 warn: phone leaves as a pseudonym and a person may have several rows: where it repeats in them the rows of a person stay linkable, and classes are then sets of rows of persons\nhint: drop phone, or write `max_rows: 1` if each person has one row",
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
            "p.yaml:7:3: P610 info: dataset patients has no unit: every row counts as a person of its own\nhint: write `unit: {column: …}` if persons may repeat: a run stops where a pseudonym of patient_id would stand in several rows",
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
    # outputs
    Rule(
        "above the policy",
        ((OUT, "../patients.parquet"),),
        [
            "p.yaml:27:13: P403 ../patients.parquet is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        ((OUT, "out/../patients.parquet"),),
    ),
    Rule(
        "somewhere else on the machine",
        ((OUT, "/etc/patients.parquet"),),
        [
            "p.yaml:27:13: P403 /etc/patients.parquet is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ],
        ((OUT, "etc/patients.parquet"),),
    ),
    Rule(
        "over the source",
        ((OUT, SOURCE),),
        [
            "p.yaml:27:13: P405 data/patients.csv would overwrite the source data/patients.csv\nhint: publish somewhere else",
        ],
        ((OUT, "data/patients-protected.csv"),),
    ),
    Rule(
        "over the source by another name",
        ((OUT, "data/../data/Patients.CSV"),),
        [
            "p.yaml:27:13: P405 data/../data/Patients.CSV would overwrite the source data/patients.csv, which differs only in case\nhint: publish somewhere else",
        ],
        ((OUT, "data2/patients.csv"),),
    ),
    Rule(
        "into a pattern of sources",
        (
            (SOURCE, "data/*.csv"),
            (OUT, "data/out.csv"),
        ),
        [
            "p.yaml:27:13: P405 data/out.csv would become part of the source data/*.csv\nhint: publish somewhere else",
        ],
        (
            (SOURCE, "data/*.csv"),
            (OUT, "data/out.parquet"),
        ),
    ),
    Rule(
        "over the policy",
        ((OUT, "{path: p.yaml, format: csv}"),),
        [
            "p.yaml:27:20: P405 p.yaml would overwrite the policy\nhint: publish somewhere else",
        ],
        ((OUT, "{path: q.yaml, format: csv}"),),
    ),
    Rule(
        "into the state folder",
        ((OUT, ".privrelease/x.csv"),),
        [
            "p.yaml:27:13: P405 .privrelease/x.csv is inside the state folder .privrelease\nhint: publish somewhere else",
        ],
        ((OUT, "privrelease/x.csv"),),
    ),
    Rule(
        "a kind that nobody writes",
        ((OUT, "out/patients.xlsx"),),
        [
            "p.yaml:27:13: P404 the kind of file does not follow from the suffix of out/patients.xlsx\nhint: write `format: csv`, `parquet` or `duckdb`",
        ],
        ((OUT, "{path: out/patients.xlsx, format: csv}"),),
    ),
    Rule(
        "a folder",
        ((OUT, "{path: out/, format: csv}"),),
        [
            "p.yaml:27:20: P404 out/ is a folder\nhint: name a file",
        ],
        ((OUT, "{path: out, format: csv}"),),
    ),
    Rule(
        "two outputs at one place",
        ((OUT, "[out/a.csv, out/A.csv]"),),
        [
            "p.yaml:27:25: P405 out/A.csv and out/a.csv differ only in case, so some systems take them for one\nhint: give each a path of its own",
        ],
        ((OUT, "[out/a.csv, out/b.csv]"),),
    ),
    Rule(
        "two outputs at one path",
        ((OUT, "[out/a.csv, out/b/../a.csv]"),),
        [
            "p.yaml:27:25: P405 two outputs go to out/a.csv\nhint: give each a path of its own",
        ],
        ((OUT, "[out/a.csv, b/a.csv]"),),
    ),
    Rule(
        "a name that is read in another direction",
        ((OUT, '"out/r\\u202Evsc.csv"'),),
        [
            "p.yaml:27:13: P420 out/r?vsc.csv holds a character that nobody sees (U+202E)\nhint: give it a short name of letters that can be seen",
        ],
        ((OUT, "out/rückgabe-Ж-表.csv"),),
    ),
    Rule(
        "a name with a space of no width",
        ((OUT, '"out/r\\u200B.csv"'),),
        [
            "p.yaml:27:13: P420 out/r?.csv holds a character that nobody sees (U+200B)\nhint: give it a short name of letters that can be seen",
        ],
        ((OUT, '"out/r .csv"'),),
    ),
    Rule(
        "a name with a control character",
        ((OUT, '"out/r\\u0007.csv"'),),
        [
            "p.yaml:27:13: P203 output is no path: no control characters, at most 1000 characters",
        ],
        ((OUT, '"out/r7.csv"'),),
    ),
    Rule(
        "a name longer than file systems take",
        ((OUT, f"out/{'r' * 197}.csv"),),
        [
            f"p.yaml:27:13: P420 out/{'r' * 33}... has a name of 201 bytes, more than 200\nhint: give it a short name of letters that can be seen",
        ],
        ((OUT, f"out/{'r' * 196}.csv"),),
    ),
    Rule(
        "into a hidden folder",
        ((OUT, "{path: .git/hooks/x, format: csv}"),),
        [
            "p.yaml:27:20: P421 .git/hooks/x is hidden: .git begins with a dot\nhint: publish where it is seen",
        ],
        ((OUT, "{path: ./git/../hooks/x, format: csv}"),),
    ),
    Rule(
        "over the manifest beside it",
        ((OUT, "[out/a.csv, {path: out/a.manifest.json, format: csv}]"),),
        [
            "p.yaml:27:32: P422 out/a.manifest.json is where the manifest of release microdata goes\nhint: give it another name",
        ],
        ((OUT, "[out/a.csv, {path: out/b.manifest.json, format: csv}]"),),
    ),
    Rule(
        "two releases with one manifest",
        (("checks:\n", TABLE.replace("admissions.csv", "Patients.csv") + "checks:\n"),),
        [
            "p.yaml:35:13: P422 releases microdata and admissions would both have patients.manifest.json beside them, but for case\nhint: let the names differ before the suffix, or the folders",
        ],
        (("checks:\n", TABLE.replace("out/admissions.csv", "tables/patients.csv") + "checks:\n"),),
    ),
    Rule(
        "inside a source",
        ((OUT, "data/patients.csv/r.csv"),),
        [
            "p.yaml:27:13: P405 data/patients.csv/r.csv lies inside the source data/patients.csv\nhint: publish somewhere else",
        ],
        ((OUT, "data/patients/r.csv"),),
    ),
    Rule(
        "one output inside another",
        ((OUT, "[out.csv, out.csv/b.csv]"),),
        [
            "p.yaml:27:23: P405 out.csv/b.csv and out.csv lie inside each other\nhint: publish somewhere else",
        ],
        ((OUT, "[out.csv, out/b.csv]"),),
    ),
    # checks
    Rule(
        "no limit",
        ((", max: 0.05", ""),),
        [
            "p.yaml:29:5: P418 UTIL-001 has no limit: nothing would be checked\nhint: write `max` or `min`",
        ],
        ((", max: 0.05", ", min: 0"),),
    ),
    Rule(
        "limits that exclude each other",
        (("max: 0.05", "min: 0.5, max: 0.05"),),
        [
            "p.yaml:29:71: P418 min 0.5 is above max 0.05: UTIL-001 could never pass",
        ],
        (("max: 0.05", "min: 0.05, max: 0.05"),),
    ),
    Rule(
        "a fraction of a count",
        (("expect: suppressed_cells, max: 0.05", "expect: rows, min: 0.5"),),
        [
            "p.yaml:29:59: P418 min of rows must be a whole number of at least 0, got 0.5",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: rows, min: 5"),),
    ),
    Rule(
        "a threat where none is measured",
        (("max: 0.05", "max: 0.05, threat: external"),),
        [
            "p.yaml:29:77: P418 suppressed_cells takes no threat\nhint: remove it",
        ],
        (("max: 0.05", "max: 0.05, column: age"),),
    ),
    Rule(
        "a column that does not leave",
        (("max: 0.05", "max: 0.05, column: patient_id"),),
        [
            "p.yaml:29:85: P418 patient_id does not leave in release microdata\nhint: name a column that leaves",
        ],
        (("max: 0.05", "max: 0.05, column: sex"),),
    ),
    Rule(
        "missing cells of no column",
        (("expect: suppressed_cells, max: 0.05", "expect: missing_cells, max: 0.05"),),
        [
            "p.yaml:29:5: P418 missing_cells needs a column\nhint: write `column`",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: missing_cells, max: 0.05, column: glucose"),),
    ),
    Rule(
        "a threat that the release does not protect against",
        (
            ("threats:", "threats:\n  other: {dataset: patients, knows: [glucose], highest_risk: 0.5}"),
            ("expect: suppressed_cells, max: 0.05", "expect: k, min: 2, threat: other"),
        ),
        [
            "p.yaml:16:3: P607 warn: no release protects against other\nhint: name it under `protect`, or remove it",
            "p.yaml:30:67: P418 release microdata does not protect against other\nhint: add it to `protect`, or name a protected threat",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 2, threat: external"),),
    ),
    Rule(
        "risk without a threat",
        (
            ("protect: [external]", "protect: []"),
            (STEP, "      - {drop: [glucose]}"),
            ("expect: suppressed_cells, max: 0.05", "expect: k, min: 2"),
        ),
        [
            "p.yaml:16:3: P607 warn: no release protects against external\nhint: name it under `protect`, or remove it",
            "p.yaml:21:5: P601 warn: age is a quasi-identifier and leaves in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:21:5: P601 warn: sex is a quasi-identifier and leaves in release microdata, but no protected threat knows it\nhint: add it to a threat's `knows`, drop it, or correct its role",
            "p.yaml:29:5: P418 k needs a threat: release microdata protects against none\nhint: write `threat`",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 2"),),
    ),
    Rule(
        "two checks of one name",
        (("max: 0.05}", "max: 0.05}\n  - {id: UTIL-001, release: microdata, expect: rows, min: 1}"),),
        [
            "p.yaml:30:10: P408 two checks are called UTIL-001\nhint: rename one of them",
        ],
        (("max: 0.05}", "max: 0.05}\n  - {id: UTIL-002, release: microdata, expect: rows, min: 1}"),),
    ),
]


def codes(findings: list[str]) -> set[str]:
    return {finding.split()[1] for finding in findings}


def test_the_policy_that_the_table_changes_is_sound(folder: Folder, sound: str) -> None:
    assert folder.check(sound) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name.replace(" ", "-"))
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(
    rule: Rule, folder: Folder, change: Callable[..., str]
) -> None:
    assert folder.check(change(*rule.breaks)) == rule.says
    kept = folder.check(change(*rule.keeps))
    assert not codes(kept) & codes(rule.says)
    assert all(": P6" in finding or " P6" in finding for finding in kept), kept
