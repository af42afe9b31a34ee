"""Bad input of releases of statistics: each refused at its place, with what is wrong and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from privrelease.policy.language.statistics import StatisticsRelease
from privrelease.policy.statistics.queries import resolve

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
      area: {role: quasi, type: string}
      glucose: {role: sensitive, type: number, domain: [50, 400], grid: 0.1}
      free: {role: sensitive, type: number, grid: 0.1}
      rough: {role: sensitive, type: number, domain: [0, 1]}
      same: {role: sensitive, type: integer, domain: [3, 3]}
releases:
  - id: s
    kind: statistics
    from: patients
"""
BUDGET = "    budget: {epsilon: 1, delta: 1e-6}\n"
OUT = "    output: out/s.csv\n"
LEDGER = 'ledger: {cap: {epsilon: 1000, delta: 0.99}, url: "sqlite:///ledger.db"}\n'


def policy(*queries: str, budget: str = BUDGET, more: str = "", head: str = HEAD) -> str:
    return head + budget + more + "    queries:\n" + "".join(f"      - {{{query}}}\n" for query in queries) + OUT + LEDGER


SOUND = (
    "id: n, count: true",
    "id: p, count_persons: {where: \"sex = 'F'\"}",
    "id: s, sum: glucose, by: [sex], epsilon: 0.25",
    "id: m, mean: glucose, where: age > 30 AND NOT sex IN ('M'), share: 2",
    "id: v, stddev: age, mechanism: gaussian",
    "id: q, quantile: glucose, at: 0.9",
    "id: e, median: age, by: [sex], interval: true",
    "id: h, histogram: age, bins: {width: 10}, by: [sex]",
    "id: b, histogram: glucose, bins: {edges: [50, 100, 400]}",
    "id: k, count: true, by: [area], keys: private",
    "id: l, count: true, by: [sex], keys: {sex: [M]}",
    "id: a, count: true, by: [age, sex]",
    "id: f, count: {column: glucose}, fresh: true, post: [non_negative]",
)


def test_a_sound_policy_of_every_kind_of_query_has_no_finding(folder: Folder) -> None:
    assert folder.check(policy(*SOUND)) == []


BAD = [
    (
        "a key in a column of its own with a name that is taken",
        ("id: v, count: true, by: [Value]",),
        {
            "head": ("      sex:", "      Value: {role: quasi, type: category, domain: [a, b]}\n      sex:"),
            "more": "    groups: columns\n",
        },
        "P746 a key in a column of its own cannot be called Value",
        "or write `groups: json`",
    ),
    (
        "no bounds",
        ("id: s, sum: free",),
        {},
        "p.yaml:27:22: DP111 free has no lower and upper bound",
        "write `domain: [lower, upper]`",
    ),
    ("equal bounds", ("id: s, sum: same",), {}, "p.yaml:27:22: DP112 the bounds of same are equal", "needs no query"),
    ("swapped bounds", ("id: s, mean: age",), {"head": ("[18, 85]", "[85, 18]")}, "p.yaml:14:41: P402", "write [18, 85]"),
    ("no grid", ("id: s, sum: rough",), {}, "p.yaml:27:22: P705 rough has no grid", "write e.g. `grid: 0.1`"),
    (
        "a text summed",
        ("id: s, sum: sex",),
        {},
        "p.yaml:27:22: P703 sex is of type category: it has no sum",
        "integer or number",
    ),
    (
        "delta 0 for a Gaussian",
        ("id: n, count: true, mechanism: gaussian",),
        {"budget": "{epsilon: 1, delta: 0}"},
        "p.yaml:25:33: DP103",
        "write a delta",
    ),
    (
        "no delta for a Gaussian",
        ("id: n, count: true, mechanism: gaussian",),
        {"budget": "{epsilon: 1}"},
        "p.yaml:25:5: DP103",
        "write a delta",
    ),
    (
        "no delta for private keys",
        ("id: n, count: true, by: [area], keys: private",),
        {"budget": "{epsilon: 1}"},
        "p.yaml:25:5: DP103 publishing private group keys needs a delta",
        "write a delta",
    ),
    ("epsilon 0", ("id: n, count: true",), {"budget": "{epsilon: 0}"}, "p.yaml:25:23: DP101 epsilon must be above 0", "0.5"),
    (
        "epsilon negative",
        ("id: n, count: true",),
        {"budget": "{epsilon: -1}"},
        "p.yaml:25:23: DP101",
        "write what the release may spend",
    ),
    (
        "epsilon 1e-300",
        ("id: n, count: true",),
        {"budget": "{epsilon: 1e-300}"},
        "p.yaml:25:23: P203 epsilon is too large or too close to 0",
        "",
    ),
    ("epsilon 1e-9", ("id: n, count: true",), {"budget": "{epsilon: 1e-9}"}, "p.yaml:25:23: DP102", "between 0.000001 and 100"),
    ("epsilon of a query 0", ("id: n, count: true, epsilon: 0",), {}, "p.yaml:27:39: DP101", "0.5"),
    ("epsilon of a query negative", ("id: n, count: true, epsilon: -0.1",), {}, "p.yaml:27:39: DP101", "0.5"),
    (
        "delta 0.99",
        ("id: n, count: true, mechanism: gaussian",),
        {"budget": "{epsilon: 1, delta: 0.99}"},
        "p.yaml:25:33: DP108 delta is 0.01 or more",
        "well below 1 / number of persons",
    ),
    ("delta above 1", ("id: n, count: true",), {"budget": "{epsilon: 1, delta: 2}"}, "p.yaml:25:33: DP104", "1e-6"),
    (
        "more than the budget",
        ("id: n, count: true, epsilon: 0.6", "id: m, count: true, epsilon: 0.6"),
        {},
        "p.yaml:25:23: DP105",
        "lower that of a query",
    ),
    (
        "nothing left for a share",
        ("id: n, count: true, epsilon: 1", "id: m, count: true"),
        {},
        "p.yaml:25:23: DP105",
        "raise the budget",
    ),
    (
        "a key outside its domain",
        ("id: n, count: true, by: [sex], keys: {sex: [F, X]}",),
        {},
        "p.yaml:27:57: P704 X is not a key of sex",
        "domain",
    ),
    (
        "keys without a domain",
        ("id: n, count: true, by: [area]",),
        {},
        "p.yaml:27:35: P704 area has no list of keys",
        "keys: private",
    ),
    ("a direct identifier as key", ("id: n, count: true, by: [id]",), {}, "p.yaml:27:35: P407", "another column"),
    (
        "a unit that repeats without maximum",
        ("id: n, count: true",),
        {"head": (", max_rows: 1", "")},
        "p.yaml:11:5: DP121",
        "max_rows: 1",
    ),
    (
        "a filter of an undeclared column",
        ("id: n, count: true, where: weight > 3",),
        {},
        "p.yaml:27:37: P702 the filter names 'weight'",
        "declared: id, age",
    ),
    (
        "a filter that holds SQL",
        ("id: n, count: {where: 'age > (SELECT 1)'}",),
        {},
        "p.yaml:27:32: P702 a filter compares columns with literals",
        "allowed:",
    ),
    (
        "a filter that ends the query",
        ("id: n, count: true, where: 'age > 3; DROP TABLE x'",),
        {},
        "p.yaml:27:37: P702",
        "allowed:",
    ),
    ("a filter with a function", ("id: n, count: true, where: 'random() > 1'",), {}, "p.yaml:27:37: P702", "allowed:"),
    (
        "a filter of a wrong type",
        ("id: n, count: true, where: \"age = 'old'\"",),
        {},
        "p.yaml:27:37: P702 age is of type integer",
        "whole number",
    ),
    (
        "a filter outside a domain",
        ("id: n, count: true, where: \"sex = 'f'\"",),
        {},
        "p.yaml:27:37: P702 f is not in the domain of sex",
        "F",
    ),
    ("no figure", ("id: n, by: [sex]",), {}, "p.yaml:27:9: P204", "write one of count, count_persons"),
    ("two figures", ("id: n, count: true, sum: age",), {}, "p.yaml:27:9: P204", "write one of"),
    (
        "an interval of a count",
        ("id: n, count: true, interval: true",),
        {},
        "p.yaml:27:9: P204",
        "has its interval for nothing",
    ),
    ("a histogram without bins", ("id: n, histogram: age",), {}, "p.yaml:27:9: P204", "bins: {width: 10}"),
    ("bins out of order", ("id: n, histogram: age, bins: {edges: [5, 1]}",), {}, "p.yaml:27:33: DP117", "edges: [0, 10, 20]"),
    (
        "ten million bins",
        ("id: n, histogram: rough, bins: {width: 0.0000001}",),
        {"head": ("rough: {role: sensitive, type: number, ", "rough: {role: sensitive, type: number, grid: 0.0000001, ")},
        "p.yaml:27:35: DP123 too many bins of rough",
        "choose wider bins",
    ),
    (
        "more bins and keys together",
        ("id: n, histogram: age, bins: {width: 0.001}, by: [age]",),
        {},
        "p.yaml:27:33: DP123 the query has 4556000 cells, more than 1000000",
        "fewer groups",
    ),
    (
        "a range of whole numbers that is too wide for keys",
        ("id: n, count: true, by: [age, sex]",),
        {"head": ("[18, 85]", "[0, 999999999999]")},
        "p.yaml:27:30: DP123 the query has 2000000000000 cells, more than 1000000",
        "coarser keys",
    ),
    ("bins of width 0", ("id: n, histogram: age, bins: {width: 0}",), {}, "p.yaml:27:47: P104", ""),
    ("a quantile of 1", ("id: n, quantile: age, at: 1",), {}, "p.yaml:27:36: DP119", "0.5"),
    ("a Gaussian median", ("id: n, median: age, mechanism: gaussian",), {}, "p.yaml:27:41: DP122", "remove `mechanism`"),
    (
        "private keys of a histogram",
        ("id: n, histogram: age, bins: {width: 5}, by: [area], keys: private",),
        {},
        "p.yaml:27:69: DP122",
        "declare the keys",
    ),
    ("a column that does not exist", ("id: n, sum: weight",), {}, "p.yaml:27:22: P302 column weight does not exist", ""),
    ("a group that does not exist", ("id: n, count: true, by: [weight]",), {}, "p.yaml:27:35: P302", ""),
    (
        "two queries of one name",
        ("id: n, count: true", "id: n, sum: age"),
        {},
        "p.yaml:28:14: P408 two queries are called n",
        "rename",
    ),
    (
        "a count that replace makes public",
        ("id: n, count: true",),
        {"more": "    neighbours: replace\n"},
        "DP122 under `neighbours: replace` this number is public",
        "add_remove",
    ),
    (
        "nothing that could agree",
        ("id: n, count: true", "id: m, sum: age"),
        {"more": "    post: [consistent]\n"},
        "p.yaml:26:5: P708 there are no counts that could agree",
        "count the total and its parts",
    ),
    (
        "a DuckDB file",
        ("id: n, count: true",),
        {"out": "out/s.duckdb"},
        "P404 statistics leave as CSV or Parquet",
        ".csv or .parquet",
    ),
    (
        "an unknown mechanism",
        ("id: n, count: true, mechanism: gauss",),
        {},
        "P202 mechanism must be laplace or gaussian, got gauss",
        "gaussian",
    ),
]


@pytest.mark.parametrize(
    ("queries", "changes", "says", "hint"), [bad[1:] for bad in BAD], ids=[bad[0].replace(" ", "-") for bad in BAD]
)
def test_bad_input_is_refused_at_its_place(folder: Folder, queries, changes, says, hint) -> None:
    text = policy(*queries, more=changes.get("more", ""))
    if "budget" in changes:
        text = text.replace("{epsilon: 1, delta: 1e-6}", changes["budget"])
    if "head" in changes:
        assert changes["head"][0] in text
        text = text.replace(*changes["head"])
    text = text.replace("out/s.csv", changes.get("out", "out/s.csv"))
    findings = folder.check(text)
    assert len(findings) == 1, findings
    assert says in findings[0]
    assert hint in findings[0]


def test_every_fault_is_told_at_once(folder: Folder) -> None:
    findings = folder.check(
        policy("id: a, sum: free", "id: b, sum: same", "id: c, count: true, by: [area]", "id: d, count: true, where: x = 1")
    )
    assert [finding.split(" ")[1] for finding in findings] == ["DP111", "DP112", "P704", "P702"]


def test_draws_never_cost_more_than_the_budget_and_are_all_listed(folder: Folder) -> None:
    loaded, _ = folder.load(policy(*SOUND))
    assert loaded is not None
    release = loaded.policy.releases[0]
    assert isinstance(release, StatisticsRelease)
    found, faults = resolve(release, "patients", loaded.policy.datasets["patients"])
    assert found is not None
    assert not faults
    spent = sum(draw.epsilon.value for query in found.queries for draw in query.draws)
    assert spent == found.budget.epsilon.value == 1
    assert sum(draw.delta.value for query in found.queries for draw in query.draws) <= found.budget.delta.value
    assert [len(query.draws) for query in found.queries] == [1, 1, 1, 2, 3, 1, 3, 1, 1, 1, 1, 1, 1]


def test_an_environment_may_spend_less_and_never_more(folder: Folder) -> None:
    for epsilon, code in (("0.5", None), ("2", "P504")):
        own = f"id: s, kind: statistics, from: patients, budget: {{epsilon: {epsilon}}}, queries: [{{id: n, count: true}}], output: out/s.csv"
        overlay = f"environments:\n  ci:\n    releases: [{{{own}}}]\n"
        findings = folder.check(policy("id: n, count: true") + overlay)
        assert [finding.split(" ")[1] for finding in findings] == ([] if code is None else [code])


def test_a_dataset_without_population_or_unit_is_told(folder: Folder) -> None:
    text = (
        policy("id: n, count: true")
        .replace("    population: patients\n", "")
        .replace("    unit: {column: id, max_rows: 1}\n", "")
    )
    findings = folder.check(text)
    assert [finding.split(" ")[1] for finding in findings] == ["P706", "P707"]
    assert all(" warn: " in finding for finding in findings)


def test_a_release_of_data_without_a_snapshot_is_told_that_every_run_is_charged(folder: Folder) -> None:
    (finding,) = folder.check(policy("id: n, count: true").replace("    snapshot: spring\n", ""))
    assert finding.startswith("p.yaml:23:11: P711 warn: dataset patients names no snapshot: every run of release s draws again")
    assert "write e.g. `snapshot: " in finding


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("population: patients, unit: {column: id, max_rows: 3}", None),
        ("population: others", None),
        (
            "population: patients",
            "dataset patients protect persons by id, those of dataset visits rows, and both are of population patients",
        ),
        (
            "population: patients, unit: {column: sex, max_rows: 1}",
            "dataset patients protect persons by id, those of dataset visits persons by sex",
        ),
    ],
)
def test_statistics_of_one_population_have_one_unit(folder: Folder, other: str, says: str | None) -> None:
    columns = "id: {role: direct, type: string}, sex: {role: quasi, type: category, domain: [F, M]}"
    more = f"  visits: {{source: data/visits.csv, snapshot: spring, {other}, columns: {{{columns}}}}}\nreleases:\n"
    again = "  - {id: again, kind: statistics, from: visits, budget: {epsilon: 1}, queries: [{id: n, count: true}], output: out/a.csv}\n"
    text = policy("id: n, count: true").replace("releases:\n", more + again)
    found = [one for one in folder.check(text) if " P712 " in one]
    assert len(found) == (says is not None)
    assert says is None or says in found[0]


def test_statistics_without_a_ledger_are_told_where_their_budget_stands(folder: Folder) -> None:
    (finding,) = folder.check(policy("id: n, count: true").replace(LEDGER, ""))
    assert finding.startswith("p.yaml:25:5: P709 warn: release s spends privacy budget, and the policy names no ledger")
    assert "write `ledger: {cap:" in finding


def test_checks_are_for_rows_about_persons(folder: Folder) -> None:
    findings = folder.check(policy("id: n, count: true") + "checks:\n  - {id: C, release: s, expect: rows, max: 3}\n")
    assert [finding.split(" ")[1] for finding in findings] == ["P418"]
