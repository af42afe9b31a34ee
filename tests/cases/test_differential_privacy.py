"""The shared cases of differential privacy, through the real command line; noise is a test's, so that nothing of it is published."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from fractions import Fraction

import pytest

DATA = """datasets:
  d:
    source: {source}
    population: everybody
    snapshot: first
    {unit}
    columns:
      {columns}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {budget}
    {more}
    queries:
      {queries}
    output: [{{path: out/s.csv}}, {{path: out/s.parquet}}]
"""


def statistics(
    *queries, columns, budget, unit="unit: {column: id, max_rows: 1}", source="input.csv", more="neighbours: add_remove"
):
    lines = "\n      ".join
    return DATA.format(
        source=source,
        unit=unit,
        columns=lines(columns),
        budget=budget,
        more=more,
        queries=lines(f"- {{{query}}}" for query in queries),
    )


def newest(case):
    return max(case.folder.glob(".privrelease/quarantine/*"))


def released(case):
    with (newest(case) / "outgoing" / "s.csv").open(encoding="utf-8", newline="") as file:
        return [{**row, "group": json.loads(row["group"])} for row in csv.DictReader(file)]


def claim(case):
    return json.loads((newest(case) / "outgoing" / "s.manifest.json").read_text(encoding="utf-8"))["privacy"]


def run(case, seed=1, *more):
    """Run with a test's noise: it ends in quarantine, for that and for no other reason."""
    ran = case("run", "policy.yaml", "--test-noise", seed, *more)
    assert ran.code == 1, ran.err
    assert [check["id"] for check in case.audit()["checks"] if check["outcome"] != "pass"] == ["AUDIT-DP-NOISE"]
    assert not (case.folder / "out").exists() or not list((case.folder / "out").iterdir())
    return ran


def planned(case):
    ran = case("plan", "policy.yaml", "--format", "json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)["releases"][0]


ID = "id: {role: direct, type: string}"


@pytest.mark.case("d01-sum-without-bounds")
def test_a_sum_without_bounds_is_refused_before_anything_is_written(case):
    columns = [ID, "duration: {role: sensitive, type: number, grid: 0.5}"]
    case.policy(
        statistics(
            "id: n, count: true", "id: s, sum: duration", "id: a, mean: duration", columns=columns, budget="{epsilon: 1}"
        )
    )
    for command in (("validate", "policy.yaml"), ("run", "policy.yaml", "--test-noise", "1")):
        ran = case(*command)
        assert ran.code == 2
        assert (ran.out + ran.err).count("duration has no lower and upper bound") == 2
        assert "write `domain: [lower, upper]` for duration" in ran.out + ran.err
        assert "30" not in (ran.out + ran.err).replace("1300", "")
    assert not (case.folder / ".privrelease").exists()


@pytest.mark.case("d01-sum-without-bounds")
def test_a_count_alone_needs_no_bounds(case):
    columns = [ID, "duration: {role: sensitive, type: number}"]
    case.policy(statistics("id: n, count: true", columns=columns, budget="{epsilon: 1}"))
    run(case)
    assert [float(row["scale"]) for row in released(case)] == [1.0]


@pytest.mark.case("d03-one-budget-for-several-statistics")
def test_count_sum_and_mean_spend_one_budget_and_every_hidden_draw_is_listed(case):
    columns = [ID, "x: {role: sensitive, type: integer, domain: [0, 100]}"]
    queries = ("id: n, count: true", "id: s, sum: x", "id: a, mean: x")
    case.policy(statistics(*queries, columns=columns, budget="{epsilon: 1.2}"))
    run(case)
    draws = [draw for query in claim(case)["queries"] for draw in query["draws"]]
    assert len(draws) == 4
    assert sum(Fraction(draw["epsilon"]) for draw in draws) == Fraction("1.2")
    assert claim(case)["epsilon"] == "1.2"
    assert [Fraction(draw["scale"]) for draw in draws[:2]] == [Fraction(5, 2), 250]
    assert planned(case)["spends"] == "epsilon 1.2"


@pytest.mark.case("d04-mean-with-unknown-n")
def test_no_scale_depends_on_the_number_of_rows(case):
    columns = [ID, "x: {role: sensitive, type: integer, domain: [0, 100]}"]
    (case.folder / "empty.csv").write_text("id,x\n", encoding="utf-8")
    seen = []
    for source in ("input.csv", "neighbour.csv", "empty.csv"):
        case.policy(statistics("id: a, mean: x", columns=columns, budget="{epsilon: 1}", source=source))
        run(case)
        (row,) = released(case)
        assert 0 <= float(row["value"]) <= 100
        seen.append((row["scale"], [draw for query in claim(case)["queries"] for draw in query["draws"]]))
    assert seen[0] == seen[1] == seen[2]
    assert [draw["scale"] for draw in seen[0][1]] == ["100", "2"]  # 50 and 1, each at half of epsilon


@pytest.mark.case("d05-keys-from-data-versus-listed-keys")
def test_a_key_of_one_person_does_not_appear(case):
    columns = ["surname: {role: quasi, type: string}"]
    query = "id: n, count: true, by: [surname], keys: private"
    case.policy(statistics(query, columns=columns, unit="", budget="{epsilon: 1, delta: 1e-6}"))
    assert planned(case)["queries"][0]["draws"][0]["threshold"] == 15
    for seed in range(2):
        run(case, seed)
        assert [row["group"] for row in released(case)] == [{"surname": "Adler"}, {"surname": "Brock"}]
        assert b"Zyx" not in case.everything_written()


@pytest.mark.case("d05-keys-from-data-versus-listed-keys")
def test_every_listed_key_appears_with_noise_of_its_own(case):
    columns = ["surname: {role: quasi, type: string, domain: [Adler, Brock, Cole, Zyx]}"]
    case.policy(statistics("id: n, count: true, by: [surname]", columns=columns, unit="", budget="{epsilon: 1}"))
    noise = []
    for seed in range(4):
        run(case, seed)
        rows = released(case)
        assert [row["group"]["surname"] for row in rows] == ["Adler", "Brock", "Cole", "Zyx"]
        noise.append([int(row["value"]) - true for row, true in zip(rows, (40, 25, 0, 1), strict=True)])
    assert any(
        row[2] for row in noise
    )  # the empty key is noisy: 0 four times has probability 0.4621^4 = 0.05, and seeds are fixed
    assert all(abs(value) < 30 for row in noise for value in row)


@pytest.mark.case("d09-missing-nan-infinity")
def test_missing_nan_and_infinity_leave_every_figure_finite_and_no_count_exact(case):
    columns = [ID, "x: {role: sensitive, type: number, domain: [0, 5], grid: 0.5}"]
    queries = ("id: s, sum: x", "id: n, count: {column: x}", "id: rows, count: true", "id: m, mean: x", "id: q, median: x")
    exact = {}
    # the same seed draws the same noise: what differs between the two sources is what the rows add
    (case.folder / "empty.csv").write_text("id,x\n", encoding="utf-8")
    for source in ("input.csv", "empty.csv"):
        case.policy(statistics(*queries, columns=columns, budget="{epsilon: 5}", source=source))
        run(case, 3)
        rows = {row["query"]: row for row in released(case)}
        assert all(math.isfinite(float(row[name])) for row in rows.values() for name in ("value", "scale"))
        exact[source] = {name: Fraction(rows[name]["value"]) for name in ("s", "n", "rows")}
    added = {name: exact["input.csv"][name] - exact["empty.csv"][name] for name in exact["input.csv"]}
    assert added == {"s": Fraction("7.5"), "n": 4, "rows": 7}


@pytest.mark.case("d12-cost-of-a-grouped-count")
@pytest.mark.parametrize(("source", "rows", "scale"), [("input_A.csv", 1, 2), ("input_B.csv", 3, 6)])
def test_a_grouped_count_costs_its_budget_once_and_its_scale_follows_how_many_groups_a_person_is_in(case, source, rows, scale):
    columns = [ID, "region: {role: quasi, type: category, domain: [N, E, S, W]}"]
    unit = f"unit: {{column: id, max_rows: {rows}}}"
    query = "id: n, count: true, by: [region]"
    case.policy(statistics(query, columns=columns, unit=unit, budget="{epsilon: 0.5}", source=source))
    assert planned(case)["spends"] == "epsilon 0.5"
    run(case)
    assert [float(row["scale"]) for row in released(case)] == [scale] * 4
    assert {float(row["epsilon"]) for row in released(case)} == {0.5}
    assert claim(case)["epsilon"] == "0.5"


P02 = statistics(
    "id: m, mean: x, by: [g]",
    columns=[
        ID,
        "g: {role: quasi, type: category, domain: ['0', '1', '2', '3', '4', '5', '6']}",
        "x: {role: sensitive, type: number, domain: [0, 1000], grid: 1e-12}",
    ],
    budget="{epsilon: 1}",
)


@pytest.mark.anew
@pytest.mark.case("p02-same-seed-other-thread-count")
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads(case):
    subprocess.run([sys.executable, "gen.py"], cwd=case.folder, check=True)
    case.policy(P02.replace("grid: 1e-12", "grid: 0.01").replace("type: number", "type: number, format: {missing: ['']}"))
    text = (case.folder / "input.csv").read_text(encoding="utf-8").splitlines()
    rounded = [text[0]] + [f"{i},{g},{float(x):.2f}" for i, g, x in (line.split(",") for line in text[1:])]
    (case.folder / "input.csv").write_text("\n".join(rounded) + "\n", encoding="utf-8")
    seen = set()
    for threads in (1, 4, 4):
        run(case, 7, "--threads", threads)
        outgoing = newest(case) / "outgoing"
        seen.add((outgoing.joinpath("s.csv").read_bytes(), outgoing.joinpath("s.parquet").read_bytes()))
        assert all(row["mechanism"].startswith("not private: ") for row in released(case))
        assert claim(case)["private"] is False
    assert len(seen) == 1
    case.anew = False
    run(case, 8)
    assert (newest(case) / "outgoing" / "s.csv").read_bytes() not in {one for one, _ in seen}


# ---------------------------------------------------------------------------------------------------------------- figures that are printed


@pytest.mark.case("d15-interval-of-a-figure-shown-because-it-is-large")
def test_intervals_hold_among_the_keys_that_are_printed(case) -> None:
    """20,000 keys of 11 persons: some 280 pass the threshold of 15. Binomial at 0.95, alpha 1e-9."""
    from scipy import stats

    (case.folder / "input.csv").write_text("name\n" + "".join(f"k{n % 20_000}\n" for n in range(220_000)), encoding="utf-8")
    policy = case.folder / "policy.yaml"
    policy.write_text(case.expected.with_name("policy.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert case("ledger", "init", policy).code == 0
    ran = case("run", policy)
    assert ran.code == 0, ran.err
    with (case.folder / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 100
    held = sum(float(row["low"]) <= 11 <= float(row["high"]) for row in rows)
    assert stats.binom.cdf(held, len(rows), 0.95) > 1e-9
    assert min(float(row["low"]) for row in rows) == 1
