"""The second half of the faults that other systems had, numbered as in test_release_faults.py: budgets, relations, generators, evidence, timing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from privrelease.audit.document.model import Outcome
from privrelease.audit.statistics import audit as audit_statistics
from privrelease.dp import calibration, draws, sensitivity
from privrelease.dp.mechanisms import discrete_laplace
from privrelease.dp.randomness import SystemRandomness, TestRandomness
from privrelease.dp.sensitivity import Neighbours
from privrelease.execute.statistics import run as statistics
from tests.contract.dp.conftest import ROWS, fails, published
from tests.contract.dp.test_release_neighbours import excesses
from tests.statistical.door import caught, data_of, planted, policy_of

pytestmark = pytest.mark.usefixtures("folder")


# 8 --------------------------------------------------------------------------------------------------- spent twice, composed wrongly


def whole(query, figure, part, groups, real=calibration._draw):
    return real(query, figure, replace(part, epsilon=draws.Epsilon(Fraction(1, 3))), groups)


@pytest.mark.parametrize("fault", ["each figure for the whole of its query", "a mean's count is not charged"])
def test_a_release_costs_its_budget(ledger, fault):
    policy = policy_of(
        {"count": "count: true, by: [g]", "mean": "mean: n", "middle": "median: n, interval: true"}, "epsilon: 1"
    )

    def check():
        rows = published(policy)
        if rows is None:
            return False
        (claim,) = ledger.claims[-1:]
        by_query = {row["query"]: Fraction(row["epsilon"]) for row in rows}
        drawn = sum(
            Fraction(draw.sensitivity.l1) * (2 if draw.mechanism == "permute_and_flip" else 1) / draw.scale
            for draw in claim.draws
        )
        return drawn == claim.cost.epsilon.value == 1 and abs(sum(by_query.values()) - 1) < Fraction(1, 10**9)

    if fault.startswith("each"):
        plant = (calibration, "_draw", whole)
    else:
        real = calibration._figures
        plant = (
            calibration,
            "_figures",
            lambda query, setting: tuple(f for f in real(query, setting) if f.target.figure != "rows")[:1],
        )
    assert fails(check, plant)


def test_the_same_question_is_charged_once(ledger):
    policy = policy_of({"count": "count: true, by: [g]"}, "epsilon: 1").replace(
        "population: everybody", "population: everybody\n    snapshot: one"
    )

    def check():
        before = len(ledger.claims)
        one, other = published(policy), published(policy)
        return one == other and len(ledger.claims) <= before + 1

    assert fails(check, (statistics, "stored_answers", lambda *_: {}))


# 9 ------------------------------------------------------------------------------------------------ add/remove noise under replace


#: By the sensitivity that it needs, a question.
MADE = {
    "of_group_counts": "histogram: n, bins: {width: 2}",
    "of_quantile_scores": "quantile: n, at: 0.75",
    "of_group_quantile_scores": "median: n, by: [g]",
    "of_group_persons": "count_persons: true, by: [g]",
    "of_group_sums": "sum: n, by: [g]",
}


def exceeding(asked):
    """What moves further than it says where one person is replaced."""
    policy = policy_of(asked, "epsilon: 1", relation=Neighbours.REPLACE)
    held = {"low": ("a", "u", "-2", "0"), "high": ("a", "u", "5", "1"), "away": ("b", "u", "5", "1")}
    found = {name: caught(policy, data_of([*ROWS, *ROWS, ("p9", *row)])) for name, row in held.items()}
    return list(excesses(found, Neighbours.REPLACE))


@cache
def exceeding_as_built():
    """The same of all questions in one release, asked once."""
    return exceeding(MADE)


@pytest.mark.parametrize("of", MADE)
def test_what_is_made_for_adding_is_not_used_for_replacing(of):
    assert exceeding_as_built() == []
    real = getattr(sensitivity, of)
    with planted((sensitivity, of, lambda *asked: real(*asked[:-1], Neighbours.ADD_REMOVE))):
        assert exceeding({of: MADE[of]})


# 10 ------------------------------------------------------------------------------------------------------ one generator for several


@pytest.mark.parametrize("fault", ["a seed", "the same draws for every query"])
def test_noise_of_two_queries_and_of_two_runs_has_nothing_in_common(ledger, fault):
    policy = policy_of({"one": "histogram: n, bins: {width: 0.25}", "two": "histogram: n, bins: {width: 0.25}"}, "epsilon: 0.1")

    def check():
        found = []
        for _ in range(2):
            rows = published(policy)
            found += [tuple(row["value"] for row in rows if row["query"] == name) for name in ("one", "two")]
        return max(Counter(found).values()) == 1

    if fault == "a seed":
        plant = (SystemRandomness, "draw", lambda _, size: TestRandomness(7).draw(size))
    else:
        real = draws.add_noise
        plant = (draws, "add_noise", lambda noise, values, _: real(noise, values, TestRandomness(8)))
    assert fails(check, plant)


# 11 --------------------------------------------------------------------------------------------------- closeness as evidence


def test_what_looks_at_the_source_decides_nothing(ledger):
    watched = "checks:\n  - {{id: NEAR, release: s, on: source, severity: warn, expect: expect_column_values_to_match_regex, column: k, regex: {}}}\n"
    policy = policy_of({"count": "count: true, by: [g]"}, "epsilon: 1")

    def check():
        decisions = []
        for regex in ("^[uv]$", "^nobody$"):
            if published(policy + watched.format(f'"{regex}"')) is None:
                return False
            run = max(Path(".privrelease").rglob("audit.json"), key=lambda path: path.stat().st_mtime_ns)
            audit = json.loads(run.read_text(encoding="utf-8"))
            (near,) = [one["outcome"] for one in audit["checks"] if one["id"] == "NEAR"]
            earlier = sum(one["id"].startswith("AUDIT-EARLIER") for one in audit["checks"])
            decision = audit["decision"]
            decisions.append(
                (near, decision["outcome"], decision["checks_passed"] - earlier, decision["checks_total"] - earlier)
            )
        (first, *one), (second, *other) = decisions
        assert first != second
        return one == other

    real = audit_statistics.source_checks

    def taken_for_public(plan, engine):
        failing = {"private": False, "severity": "error", "outcome": Outcome.FAIL}
        return tuple(one if one.outcome is Outcome.PASS else one.model_copy(update=failing) for one in real(plan, engine))

    assert fails(check, (audit_statistics, "source_checks", taken_for_public))


# 12 --------------------------------------------------------------------------------------------------------------- timing


def test_draws_are_batched_and_do_not_depend_on_the_figures(monkeypatch):
    policy = policy_of({"bands": "histogram: n, bins: {width: 0.1}"}, "epsilon: 0.1")
    calls = []
    real = TestRandomness.draw
    monkeypatch.setattr(TestRandomness, "draw", lambda self, size: calls.append(size) or real(self, size))

    def check():
        work = []
        for rows in ([], ROWS * 25):
            calls.clear()
            run = caught(policy, data_of(rows))
            cells = len(run.work[0][1])
            work.append(tuple(calls))
        return work[0] == work[1] and len(work[0]) < cells

    assert fails(check, (discrete_laplace, "SMALL", 10**9))
