"""The faults that other systems had, planted in whole releases of statistics: each check passes as built and fails once the fault is in.

Numbers are those of reference/dp-and-synthesis.md; the mechanisms alone are in tests/unit/dp/test_known_faults.py. Every check runs the command line
on a policy and a file, and looks at what leaves, what is charged, or the exact figures at the door to the noise.

==  ====================================================  ==================================================================================
 1  float noise                                           test_figures_that_leave_lie_on_their_grid
 2  sums that overflow, round or depend on an order       test_sums_are_exact_whatever_their_size_and_order
 3  NaN and infinities that pass clamps                   test_what_is_no_number_counts_as_missing
 4  the clipped copy discarded; no bounds, no noise       test_values_beyond_their_bounds_count_as_the_bounds, test_a_number_without_bounds_is_refused
 5  domain, bounds or bins from the data                  test_what_is_asked_does_not_depend_on_the_data
 6  the exact row count in a scale, or under a mean       test_what_is_asked_does_not_depend_on_the_data, test_no_count_under_a_mean_is_exact
 7  noise of probabilities on counts; a scale that is 0   test_noise_is_as_wide_as_it_must_be_at_every_edge
 8  spent twice, composed wrongly, a budget per column    test_a_release_costs_its_budget, test_the_same_question_is_charged_once
 9  scores and counts for add/remove under replace        test_what_is_made_for_adding_is_not_used_for_replacing
10  seeded or shared generators                           test_noise_of_two_queries_and_of_two_runs_has_nothing_in_common
11  closeness to the source as evidence                   test_what_looks_at_the_source_decides_nothing
12  timing of samplers                                    test_draws_are_batched_and_do_not_depend_on_the_figures
==  ====================================================  ==================================================================================

The checks of 8 to 12 are in test_release_faults_of_spending.py.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sqlglot import exp

from privrelease.dp import calibration, draws
from privrelease.dp.domains import NumericDomain
from privrelease.dp.mechanisms import DiscreteLaplace
from privrelease.dp.sensitivity import Neighbours, Sensitivity
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring import aggregate_keys, aggregates
from privrelease.policy.statistics import queries as statistics_queries
from tests.contract.dp.conftest import ROWS, fails, published
from tests.contract.dp.test_release_neighbours import excesses
from tests.statistical.door import caught, data_of, policy_of

pytestmark = pytest.mark.usefixtures("folder")


# 1 -------------------------------------------------------------------------------------------------------------- float noise


def test_figures_that_leave_lie_on_their_grid(ledger):
    policy = policy_of({"count": "count: true, by: [g]", "sum": "sum: x, by: [g]"}, "epsilon: 1")

    def check():
        grids = {"count": Fraction(1), "sum": Fraction(1, 2)}
        return all((Fraction(row["value"]) / grids[row["query"]]).denominator == 1 for row in published(policy))

    def floats(noise, values, _):
        return tuple(np.array(values) + np.random.default_rng(1).laplace(0, float(noise.scale), len(values)))

    assert fails(check, (draws, "add_noise", floats))


# 2 ------------------------------------------------------------------------------------------------- sums that overflow or round


@pytest.mark.parametrize("fault", ["floats", "64 bits"])
def test_sums_are_exact_whatever_their_size_and_order(fault):
    wide = policy_of({"spread": "variance: n", "sum": "sum: n"}, "epsilon: 1").replace(
        "domain: [-2, 5]", f"domain: [0, {2**40}]"
    )
    values = [2**40, 2**40 - 1, 1, 3, 2**39 + 12345] * 3
    rows = [(f"q{i}", "a", "u", str(value), "") for i, value in enumerate(values)]

    def check():
        found = [caught(wide, "id,g,k,n,x\n" + "".join(",".join(row) + "\n" for row in order)) for order in (rows, rows[::-1])]
        squares, _ = found[0].draws("spread")["squares"]
        exact = sum((value - squares.target.centre) ** 2 - squares.target.offset for value in values)
        return all(
            run.draws("spread")["squares"][1] == [exact] and run.draws("sum")["sum"][1] == [sum(values)] for run in found
        )

    real = aggregates._term

    def rounded(measure, table):
        return sql.cast(sql.cast(real(measure, table), "DOUBLE"), "HUGEINT")

    def cut(measure, table):
        return exp.Mod(this=exp.paren(real(measure, table)), expression=sql.cast(sql.text(str(2**63)), "HUGEINT"))

    assert fails(check, (aggregates, "_term", rounded if fault == "floats" else cut))


# 3 and 4 ----------------------------------------------------------------------------- no numbers, values beyond bounds, no bounds


def test_what_is_no_number_counts_as_missing():
    policy = policy_of({"left": "count: {column: x}", "sum": "sum: x", "filled": "sum: x, fill: 0.5"}, "epsilon: 1")
    policy = policy.replace('missing: ["", "NA"]', 'missing: [""]')
    rows = [(f"q{i}", "a", "u", "1", x) for i, x in enumerate(("nan", "inf", "-inf", "NaN", "", "1"))]

    def check():
        run = caught(policy, data_of(rows))
        return [run.draws(name)["rows" if name == "left" else "sum"][1] for name in ("left", "sum", "filled")] == [
            [1],
            [2],
            [7],
        ]

    assert fails(check, (aggregate_keys, "_there", lambda _: exp.true()))


def test_values_beyond_their_bounds_count_as_the_bounds():
    policy = policy_of({"sum": "sum: n", "mean": "mean: n", "bands": "histogram: n, bins: {edges: [0, 2, 5]}"}, "epsilon: 1")

    def check():
        far, at = (caught(policy, data_of([("q", "a", "u", n, "")])) for n in ("99999", "5"))
        return [figures for _, figures in far.work] == [figures for _, figures in at.work]

    assert fails(check, (aggregate_keys, "_clamped", lambda value, *_: value))


def test_a_number_without_bounds_is_refused(ledger):
    policy = policy_of({"sum": "sum: n"}, "epsilon: 1").replace(", domain: [-2, 5]", "")
    real = statistics_queries._numbers

    def lenient(figure, column, spec):
        return real(figure, column, spec) if spec.domain is not None else NumericDomain(0, 1)

    assert fails(lambda: published(policy) is None and not ledger.claims, (statistics_queries, "_numbers", lenient))


# 5 and 6 ------------------------------------------------------------------------------------------ domains and counts from the data


def of_data(figure, column, spec):
    """Bounds as other systems take them: the least and the greatest value."""
    with Path("data.csv").open(encoding="utf-8", newline="") as file:
        values = [int(row[column]) for row in csv.DictReader(file) if row[column]]
    return NumericDomain(min(values), max(values))


def by_rows(query, figure, part, groups, real=calibration._draw):
    """A scale over the number of rows, as for a mean of n."""
    rows = len(Path("data.csv").read_text(encoding="utf-8").splitlines())
    drawn = real(query, figure, part, groups)
    return replace(drawn, scale=drawn.scale * rows)


@pytest.mark.parametrize(
    "fault",
    [(statistics_queries, "_numbers", of_data), (calibration, "_draw", by_rows)],
    ids=["bounds of the data", "rows in a scale"],
)
def test_what_is_asked_does_not_depend_on_the_data(fault):
    asked = {
        "sum": "sum: n",
        "mean": "mean: n, by: [g]",
        "bands": "histogram: n, bins: {width: 2}",
        "count": "count: true, by: [g]",
    }
    policy = policy_of(asked, "epsilon: 1")

    def check():
        forms = []
        for rows in (ROWS, ROWS[:2], [("p", "c", "z", "4", ""), *ROWS]):
            run = caught(policy, data_of(rows))
            forms.append([(draw, len(figures)) for draw, figures in run.work])
        return all(one == other for one, other in pairwise(forms))

    assert fails(check, fault)


def test_no_count_under_a_mean_is_exact():
    policy = policy_of({"mean": "mean: n", "means": "mean: x, by: [g]"}, "epsilon: 1")

    def check():
        found = {None: caught(policy, data_of(ROWS)), "one": caught(policy, data_of([*ROWS, ("p9", "a", "u", "5", "1")]))}
        return list(excesses(found, Neighbours.ADD_REMOVE)) == []

    def exact(keys, column, *_):
        return calibration._Figure(calibration.Target("rows", column), Sensitivity.of_one_number(0))

    assert fails(check, (calibration, "_rows", exact))


# 7 ------------------------------------------------------------------------------------------------- a scale that is too small


@pytest.mark.parametrize("fault", ["whole scales", "made for probabilities"])
def test_noise_is_as_wide_as_it_must_be_at_every_edge(ledger, fault):
    def check():
        for epsilon in ("0.000001", "3", "100"):
            for high in (1, 2**40):
                policy = policy_of({"sum": "sum: n"}, f"epsilon: {epsilon}").replace("domain: [-2, 5]", f"domain: [0, {high}]")
                rows = published(policy)
                if rows is None or Fraction(rows[0]["scale"]) * Fraction(epsilon) < high * (1 - Fraction(1, 10**9)):
                    return False
        return True

    if fault == "whole scales":
        plant = classmethod(lambda cls, *, sensitivity, epsilon: cls(Fraction(sensitivity // epsilon)))
    else:
        plant = classmethod(lambda cls, *, sensitivity, epsilon: cls(Fraction(sensitivity, 4) / epsilon))
    assert fails(check, (DiscreteLaplace, "calibrated", plant))
