"""Bounds that are bought: edges by hand, thresholds next to exact tails, whole spans of planted columns, and what a pair of histograms costs."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.noisy_bounds import bounds_queries, doubling_edges, even_edges, least_count, noisy_bounds
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.errors import BudgetError
from privrelease.units import Delta, Epsilon, Rho

SETTING = Setting(Contribution(1))
OUTER = (-(1 << 40), 1 << 40)


class Column:
    """Exact counts of the values of one column, by the edges that were asked for."""

    def __init__(self, values):
        self.values, self.edges = np.array(values, np.int64), {}

    def ask(self, query, edges):
        self.edges[query] = np.array(edges, np.int64)

    def rows(self, query):
        edges = self.edges[query.name]
        bins = np.clip(np.searchsorted(edges, self.values, side="right") - 1, 0, len(edges) - 2)
        return np.bincount(bins, minlength=len(edges) - 1).astype(np.int64)


def found(values, reserved, loss, seed=1, setting=SETTING, outer=OUTER):
    column = Column(values)
    envelope = Envelope(reserved, setting, column, lambda _: None, TestRandomness(seed))
    return noisy_bounds(envelope, "x", loss, outer, column.ask), envelope, column


def test_doubling_bins_hold_every_number_once_and_grow_by_powers_of_two():
    edges = doubling_edges(-5, 5)
    assert edges == (-5, -3, -1, 0, 1, 2, 4, 6)
    wide = doubling_edges(*OUTER)
    assert (wide[0], wide[-1] - 1) == OUTER
    assert len(wide) < 100
    assert all(left < right for left, right in pairwise(wide))
    assert {right - left for left, right in pairwise(wide) if left > 0} <= {1 << n for n in range(41)} | {1}


def test_even_bins_are_of_one_width_but_for_the_last():
    assert even_edges(0, 9, 5) == (0, 2, 4, 6, 8, 10)
    assert even_edges(3, 3) == (3, 4)
    edges = even_edges(-1000, 4321)
    assert (edges[0], edges[-1]) == (-1000, 4322)
    assert len(edges) <= 65


@pytest.mark.parametrize("loss", [Rho(Fraction(1, 200)), Rho(Fraction(2)), Epsilon("0.05"), Epsilon(1)])
def test_empty_bins_reach_the_threshold_with_probability_of_at_most_one_in_a_thousand(loss):
    """The exact tail of the noise, summed, times the number of bins."""
    bins, least = 80, least_count(SETTING, loss, 80)
    at = np.arange(-(1 << 14), 1 << 14, dtype=np.float64)
    if isinstance(loss, Epsilon):
        weights = np.exp(-np.abs(at) * float(loss.value))
    else:
        weights = np.exp(-(at**2) * float(loss.value))  # sigma^2 = 1 / (2 rho)
    tail = weights[at >= least].sum() / weights.sum()
    assert bins * tail <= 1e-3
    assert bins * tail > 1e-8, "not so high that persons are cut off for nothing"


@pytest.mark.parametrize(("low", "high"), [(500, 4000), (-300, 20), (17_897, 19_700), (7, 7), (-(1 << 30), 1 << 35)])
def test_the_span_of_many_rows_is_found_within_a_bin_of_the_second_histogram(low, high):
    values = np.concatenate([np.linspace(low, high, 20_000).astype(np.int64), np.repeat([low, high], 300)])
    (first, last), envelope, column = found(values, Reserved.of(Budget(Epsilon(2), Delta("1e-6"))), Rho(Fraction(1, 50)))
    coarse = column.edges[bounds_queries("x")[1]]
    bin_width = int(coarse[1] - coarse[0])
    assert first <= low < first + 2 * bin_width
    assert last - 2 * bin_width < high <= last
    assert [draw.query for draw in envelope.close()] == list(bounds_queries("x"))


@pytest.mark.parametrize("loss", [Rho(Fraction(1, 200)), Epsilon("0.2")])
def test_rows_that_lie_thinly_are_not_cut_off(loss):
    """Eighty rows a bin of the second histogram, noise of which no single bin would be told from."""
    low, high = -1000, 4000
    for seed in range(20):
        (first, last), _, _ = found(
            range(low, high),
            Reserved.of(Budget(Epsilon(2), Delta("1e-6"))) if isinstance(loss, Rho) else Reserved.of(Budget(Epsilon(2))),
            loss,
            seed,
        )
        assert -1024 <= first <= -700
        assert 3700 <= last <= 4095


def test_few_rows_far_away_move_no_bound_and_none_at_all_gives_bounds_nevertheless():
    reserved = Reserved.of(Budget(Epsilon(1)))
    values = [*range(100)] * 50
    (first, last), _, _ = found([*values, 10**9], reserved, Epsilon("0.5"))
    assert (first, last) <= (0, 130)
    (first, last), _, _ = found([], reserved, Epsilon("0.01"))
    assert OUTER[0] <= first <= last <= OUTER[1]


def test_both_histograms_together_cost_the_price_and_not_more():
    for reserved, loss in (
        (Reserved.of(Budget(Epsilon(1))), Epsilon(1)),
        (Reserved(Rho(Fraction(1, 8)), Delta(0)), Rho(Fraction(1, 8))),
    ):
        _, envelope, _ = found(range(1000), reserved, loss)
        assert envelope.left.loss.value < loss.value / 1000, "scales are rounded up"
        with pytest.raises(BudgetError, match="does not fit"):
            found(range(1000), reserved, type(loss)(loss.value * Fraction(11, 10)))


def test_what_replaces_a_row_moves_two_bins_and_takes_twice_the_noise():
    replaced = Setting(Contribution(1), Neighbours.REPLACE)
    assert least_count(replaced, Epsilon(1), 64) == pytest.approx(2 * least_count(SETTING, Epsilon(1), 64), abs=2)
