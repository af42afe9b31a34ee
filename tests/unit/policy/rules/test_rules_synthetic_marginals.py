"""Rules of MST and AIM: a workload of modelled columns, enough rounds, a size that holds them, a budget that reaches."""

from __future__ import annotations

import pytest

from privrelease.errors import PolicyError
from privrelease.policy.loader import check_policy, load_policy

POLICY = """\
apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
ledger: {cap: {epsilon: 5, delta: 1e-4}, url: "sqlite:///ledger.db"}
datasets:
  d:
    source: data.csv
    population: everybody
    snapshot: s1
    unit: rows
    columns:
      age: {role: quasi, type: integer, domain: [0, 99]}
      sex: {role: quasi, type: category, domain: [F, M]}
      arm: {role: quasi, type: category, domain: [a, b, c]}
      code: {role: direct, type: string}
releases:
  - id: s
    kind: synthetic
    from: d
    method: aim
    columns: [age, sex, arm, code]
    make: {code: {pattern: "[0-9]{6}"}}
    rows: 100
    bins: {age: {width: 10}}
    budget: {epsilon: 1, delta: 1e-6}
    output: out/s.csv
"""

CASES = [
    ("workload: [{ways: 4}]", "P761 `ways` is 4, and 3 columns are modelled", "workload: [{ways: 3}]"),
    (
        "workload: [{columns: [age, code]}]",
        "P760 the workload names code, which is not modelled",
        "workload: [{columns: [age, arm]}]",
    ),
    (
        "workload: [{columns: [age, age]}]",
        "P765 the workload names age twice in one marginal",
        "workload: [{columns: [age, sex]}]",
    ),
    (
        "workload: [{weight: 2}]",
        "P762 a part of the workload has `ways` or `columns`, one of the two",
        "workload: [{ways: 1, weight: 2}]",
    ),
    ("workload: [{ways: 2, columns: [age]}]", "P762 a part of the workload has `ways` or", "workload: [{columns: [age]}]"),
    ("rounds: 3", "P763 `rounds` is 3, and each of 3 columns is measured once before the last round", "rounds: 4"),
    ("model_size: 80MB", "P764 model_size must be a size such as 80MiB, got 80MB", "model_size: 80MiB"),
    ("model_size: 100", "P764 model_size must be at least 1KiB and at most 16GiB", "model_size: 1024"),
]


def findings(tmp_path, text):
    path = tmp_path / "p.yaml"
    path.write_text(text, encoding="utf-8")
    return [f"{one.code} {one.message}" for one in check_policy(path)[1] if one.severity.value == "error"]


def with_key(line):
    return POLICY.replace("    rows: 100\n", f"    rows: 100\n    {line}\n")


@pytest.mark.parametrize(("breaks", "says", "keeps"), CASES)
def test_a_broken_rule_is_reported_and_a_kept_one_is_not(tmp_path, breaks, says, keeps):
    (found,) = findings(tmp_path, with_key(breaks))
    assert found.startswith(says)
    assert findings(tmp_path, with_key(keeps)) == []


def test_a_place_is_that_of_the_part_that_is_wrong(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(with_key("workload:\n      - {ways: 2}\n      - {columns: [age, code], weight: 3}"), encoding="utf-8")
    with pytest.raises(PolicyError) as raised:
        load_policy(path)
    (finding,) = raised.value.findings
    assert (finding.code, finding.location.line, finding.location.column) == ("P760", 28, 25)


@pytest.mark.parametrize(
    ("method", "line", "changes", "says"),
    [
        (
            "aim",
            "model_size: 1KiB",
            {"bins: {age: {width: 10}}": "holdout: 0.1", "[0, 99]": "[0, 199]"},
            "DP137 `model_size` holds 128 cells, and column age alone has 201",
        ),
        (
            "mst",
            "model_size: 1KiB",
            {"bins: {age: {width: 10}}": "holdout: 0.1", "[0, 99]": "[0, 79]"},
            "DP138 the marginal of age and sex has 243 cells, and at most 128 are held",
        ),
        (
            "aim",
            "workload: [{columns: [age, sex, arm]}]",
            {"bins: {age: {width: 10}}": "holdout: 0.1", "[0, 99]": "[0, 999999]"},
            "DP138 the marginal of age and arm and sex has 12000012 cells, and at most 10000000",
        ),
        ("aim", "rounds: 100000000", {"epsilon: 1,": "epsilon: 0.001,"}, "DP136 rho "),
        ("mst", "", {", delta: 1e-6": ""}, "P720 method mst needs a delta"),
        ("mst", "rounds: 9", {}, "P719 `rounds` is a key of method aim, and the method is mst"),
        ("mst", "workload: [{ways: 2}]", {}, "P719 `workload` is a key of method aim, and the method is mst"),
        ("histogram", "model_size: 1MiB", {}, "P719 `model_size` is a key of method mst, aim, and the method is histogram"),
    ],
)
def test_what_does_not_fit_the_method_is_refused_before_any_work(tmp_path, method, line, changes, says):
    text = with_key(line).replace("method: aim", f"method: {method}")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (found,) = findings(tmp_path, text)
    assert found.startswith(says)


def test_a_workload_of_too_many_marginals_is_refused(tmp_path):
    columns = "".join(f"      c{number}: {{role: quasi, type: category, domain: [a, b]}}\n" for number in range(60))
    names = ", ".join(f"c{number}" for number in range(60))
    text = POLICY.replace("      age:", columns + "      age:").replace("[age, sex,", f"[{names}, age, sex,")
    (found,) = findings(tmp_path, text)
    assert found == "P766 the workload has 39711 marginals, and at most 20000 are taken"
    assert findings(tmp_path, text.replace("    rows: 100\n", "    rows: 100\n    workload: [{ways: 2}]\n")) == []
