"""Intervals of means, variances and standard deviations hold the figure without noise as often as they claim, whatever the rows are.

N groups of the same made rows are N independent releases of one figure. Binomial, alpha = 1e-9 a test; the mutants' coverage is at most
0.88, which 1,200 intervals tell from 0.95 with a power of 0.998 (computed below). Seeds are fixed.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from scipy import stats

from privrelease.dp import calibration
from privrelease.dp import queries as q
from privrelease.dp.budget import Budget
from privrelease.dp.domains import CategoryDomain, NumericDomain
from privrelease.dp.draws import charge_then_draw
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.execute.statistics import figures as statistic_figures
from privrelease.execute.statistics.figures import Noisy, figures_of, value_of
from privrelease.plan.statistics.plan import StatisticPlan
from privrelease.units import Delta, Epsilon
from tests.depth import depth

ALPHA, N = 1e-9, depth(1_200, 3_000)
PAY = NumericDomain("0", "200", grid="0.5")
KEYS = q.PublicKeys(("g",), (CategoryDomain([str(k) for k in range(N)]),))
ROWS = {
    "nobody": [],
    "one row at the end": [400],
    "three rows": [0, 10, 400],
    "a thousand alike": [250] * 1000,
    "two thousand at both ends": [0, 400] * 1000,
}
QUERIES = {
    "mean": q.Mean("m", "pay", PAY, KEYS),
    "variance": q.Variance("v", "pay", PAY, KEYS),
    "stddev": q.Variance("s", "pay", PAY, KEYS, root=True),
}


def exact(draw, rows):
    target = draw.target
    if target.figure == "rows":
        return len(rows)
    distances = [row - target.centre for row in rows]
    return sum(distances) if target.figure == "sum" else sum(d * d - target.offset for d in distances)


def covered(query, noise, rows, seed):
    budget = Budget(Epsilon(1), Delta("1e-6"))
    drawn = calibration.draws(query, q.Setting(Contribution(1)), budget, noise)
    plan = StatisticPlan(query.id, "f", query, None, budget, drawn, noise)
    truths = {str(draw.target.figure): exact(draw, rows) for draw in drawn}
    true = value_of(plan, truths)
    work = [(draw, [truths[str(draw.target.figure)]] * N) for draw in drawn]
    noisy = charge_then_draw(work, lambda _: None, TestRandomness(seed))
    figures = figures_of(plan, Noisy(tuple(one.values for one in noisy)))
    assert all(one.low <= one.value <= one.high for one in figures)
    return sum(one.low <= true <= one.high for one in figures)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("figure", QUERIES)
def test_an_interval_holds_the_figure_as_often_as_it_claims(figure, noise, rows):
    assert stats.binom.cdf(covered(QUERIES[figure], noise, ROWS[rows], 5), N, 0.95) > ALPHA


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("figure", QUERIES)
def test_a_fifth_of_the_width_is_found_out(figure, noise, monkeypatch):
    inner = statistic_figures._half_width
    monkeypatch.setattr(statistic_figures, "_half_width", lambda draw, parts: inner(draw, parts) // 5)
    found = covered(QUERIES[figure], noise, ROWS["a thousand alike" if figure == "mean" else "two thousand at both ends"], 6)
    assert stats.binom.cdf(found, N, 0.95) < ALPHA
    assert stats.binom.cdf(stats.binom.ppf(ALPHA, N, 0.95) - 1, N, 0.88) > 0.99  # the power
    assert Fraction(found, N) < Fraction(88, 100)
