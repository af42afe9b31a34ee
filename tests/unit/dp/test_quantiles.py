"""Scores of quantiles and of the ends of their intervals: against definitions that know no ranks, and exact coverage of small tables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import stats

from privrelease.dp.budget import Budget
from privrelease.dp.calibration import draws
from privrelease.dp.domains import NumericDomain
from privrelease.dp.draws import Draw, Target
from privrelease.dp.mechanisms import PermuteAndFlip
from privrelease.dp.quantiles import margin, rank_error, scores
from privrelease.dp.queries import Quantile, Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution
from privrelease.units import Epsilon

LOW, HIGH = 0, 4
ATS = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)]
TABLES = [rows for n in range(7) for rows in combinations_with_replacement(range(LOW, HIGH + 1), n)]


def scored(target, rows):
    step, count = np.unique(np.array(rows, np.int64), return_counts=True)
    return scores(target, step, count)


def quantiles(rows, at, candidates=range(LOW, HIGH + 1)):
    """At least a share ``at`` of the rows is not above it, at least 1 - at not below it."""
    n = len(rows)
    return [c for c in candidates if sum(x <= c for x in rows) >= at * n and sum(x >= c for x in rows) >= (1 - at) * n]


@pytest.mark.parametrize("at", ATS)
def test_the_quantiles_and_they_alone_score_0(at):
    target = Target("quantile", "x", LOW, HIGH, quantile=at)
    for rows in TABLES:
        best = [c for c, score in enumerate(scored(target, rows).tolist()) if score == 0]
        assert best == quantiles(rows, at)


def test_a_score_is_the_rows_between_a_candidate_and_the_rank_in_parts_of_a_row():
    """Ten rows at 1, 2, ..., 10: the 7th is the 0.65 quantile. At 4 three rows are missing, at 9 there are two too many."""
    target = Target("quantile", "x", 1, 10, quantile=Fraction(65, 100))
    found = scored(target, range(1, 11)).tolist()
    assert found[6] == 0
    assert Fraction(-found[3], 20) == Fraction(65, 10) - 4
    assert Fraction(-found[8], 20) == 8 - Fraction(65, 10)


def test_of_rows_that_share_a_value_that_value_is_the_median_not_one_beside_it():
    assert quantiles([1] * 5 + [2] * 4, Fraction(1, 2)) == [1]
    found = scored(Target("quantile", "x", 0, 4, quantile=Fraction(1, 2)), [1] * 5 + [3] * 4)
    assert int(found.argmax()) == 1


def coverage(rows, at, scale, off):
    """Exact: the chance that both ends, drawn independently, hold every quantile between them."""
    mechanism = PermuteAndFlip(scale)
    held = quantiles(rows, at) or list(range(LOW, HIGH + 1))
    chances = {}
    for end in ("lower", "upper"):
        law = mechanism.probabilities(scored(Target(end, "x", LOW, HIGH, offset=off, quantile=at), rows).tolist())
        fits = [c <= held[0] if end == "lower" else c >= held[-1] for c in range(LOW, HIGH + 1)]
        chances[end] = sum(p for p, fit in zip(law, fits, strict=True) if fit)
    return chances["lower"], chances["upper"]


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(40)])
@pytest.mark.parametrize("at", ATS)
def test_each_end_is_right_with_97_and_a_half_per_cent_whatever_the_rows_are(at, scale):
    off = margin(scale, HIGH - LOW + 1)
    assert min(min(coverage(rows, at, scale, off)) for rows in TABLES) >= 0.975


@pytest.mark.parametrize("fault", ["a third of the margin", "no stretch to infinity", "distance to the rank alone"])
def test_planted_faults_lose_the_coverage(fault, monkeypatch):
    scale = Fraction(2)
    off = margin(scale, HIGH - LOW + 1)
    if fault == "a third of the margin":
        off //= 3
    else:
        inner = scores

        def wrong(target, step, rows):
            a, b = target.quantile.numerator, target.quantile.denominator
            plain = inner(Target("quantile", "x", target.low, target.high, quantile=target.quantile), step, rows)
            here = np.zeros(target.high - target.low + 1, np.int64)
            here[step - target.low] = rows
            first = b * (np.cumsum(here) - here) - a * int(rows.sum())
            centre = -target.offset if target.figure == "lower" else target.offset
            if fault == "distance to the rank alone":
                return -np.abs(first - centre)
            return np.where(plain > 1, plain, -np.maximum(np.maximum(first - centre, centre - first - b * here), 0))

        monkeypatch.setitem(globals(), "scores", wrong)
    assert min(min(coverage(rows, at, scale, off)) for rows in TABLES for at in ATS) < 0.975


def test_wide_numbers_are_scored_exactly():
    """b n passes 2^62: no width is left to overflow."""
    at = Fraction(10**12 - 1, 10**12)
    target = Target("quantile", "x", 0, 1, quantile=at)
    step, rows = np.array([0, 1]), np.array([10**9, 10**9])
    assert scores(target, step, rows).tolist() == [-(10**9 * 10**12 - 2 * 10**9), 0]


def test_an_interval_is_three_draws_within_the_budget_of_the_query():
    """Permute-and-flip of sensitivity 1 at a third of 0.6: scale 10; 101 candidates: 10 ln(100 · 40) = 82.9 half rows."""
    pay = NumericDomain(0, 100)
    three = draws(Quantile("q", "x", pay, interval=True), Setting(Contribution(1)), Budget(Epsilon("0.6")))
    assert [draw.target.figure for draw in three] == ["quantile", "lower", "upper"]
    assert {draw.epsilon for draw in three} == {Epsilon("0.2")}
    assert {draw.scale for draw in three} == {Fraction(10)}
    assert [draw.target.offset for draw in three] == [0, 84, 84]
    assert rank_error(three[0].scale, 101, 2, Fraction(1, 20)) == pytest.approx(38.005, abs=1e-3)
    assert [Draw.from_record(draw.record()) for draw in three] == list(three)
    with pytest.raises(ValueError, match="less than it costs"):
        replace(three[1], epsilon=Epsilon("0.19"))


def test_the_sampler_covers_as_often_as_claimed_and_the_chosen_value_keeps_its_rank():
    """Binomial, alpha 1e-9 each: 4,000 intervals over 400 rows of many ties; faults of half the coverage would be seen for certain."""
    rng = np.random.default_rng(3)
    rows = np.sort(rng.integers(0, 40, 400))
    step, count = np.unique(rows, return_counts=True)
    pay, at, n = NumericDomain(0, 60), Fraction(3, 4), 4000
    point, lower, upper = draws(Quantile("q", "x", pay, at=at, interval=True), Setting(Contribution(1)), Budget(Epsilon("0.9")))
    held = quantiles(rows, at, range(61))
    assert len(held) == 1
    randomness = TestRandomness(31)
    taken = {
        draw.target.figure: np.array(
            [PermuteAndFlip(draw.scale).choose(scores(draw.target, step, count), randomness) for _ in range(n)]
        )
        for draw in (point, lower, upper)
    }
    covered = int(((taken["lower"] <= held[0]) & (taken["upper"] >= held[0])).sum())
    assert stats.binom.cdf(covered, n, 0.95) > 1e-9
    narrow = float((taken["upper"] - taken["lower"]).mean())
    assert narrow < 40  # of 60: the interval says something
    far = -scores(point.target, step, count)[taken["quantile"]] / at.denominator
    assert stats.binom.cdf(int((far <= rank_error(point.scale, 61, at.denominator, Fraction(1, 20))).sum()), n, 0.95) > 1e-9
