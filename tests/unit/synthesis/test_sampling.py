"""Draws after the noise: their laws against exact probabilities, and the projection against a search over its threshold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from privrelease.dp.randomness import TestRandomness
from privrelease.errors import InputError
from privrelease.synthesis.domain import StructuralZero
from privrelease.synthesis.sampling import multinomial, simplex, systematic, uniforms, unravelled, without_impossible


class Fixed:
    """Words that are given, for draws at the edges."""

    def __init__(self, *words):
        self.words = np.array(words, "<u8").tobytes()

    def draw(self, size):
        assert size <= len(self.words)
        found, self.words = self.words[:size], self.words[size:]
        return found


def test_uniform_numbers_are_multiples_of_two_to_the_minus_53_below_one():
    found = uniforms(3, Fixed(0, 2**64 - 1, 2**63))
    assert found.tolist() == [0.0, 1 - 2.0**-53, 0.5]
    assert uniforms((2, 3), TestRandomness(1)).shape == (2, 3)


def test_rows_are_drawn_in_proportion_to_the_weights():
    weights, rows = np.array([0.0, 1.0, 0.0, 3.0, 6.0, 0.0]), 20_000
    counts = np.bincount(multinomial(weights, rows, TestRandomness(3)), minlength=6)
    assert counts[[0, 2, 5]].tolist() == [0, 0, 0]
    # chi-squared with 2 degrees of freedom: 41.4 is exceeded with probability 1e-9
    assert distance(counts[[1, 3, 4]], rows * np.array([0.1, 0.3, 0.6])) < 41.4
    assert distance(counts[[1, 3, 4]], rows * np.array([0.12, 0.3, 0.58])) > 41.4, "a law two points off is rejected"


def distance(counts, expected):
    return float(((counts - expected) ** 2 / expected).sum())


def test_the_extreme_draws_never_reach_a_cell_of_weight_zero():
    weights = np.array([0.0, 0.1, 0.7, 0.0])
    assert multinomial(weights, 2, Fixed(0, 2**64 - 1)).tolist() == [1, 2]


@pytest.mark.parametrize("weights", [[], [0.0, 0.0]])
def test_no_weight_at_all_is_refused(weights):
    with pytest.raises(ValueError, match="no cell"):
        multinomial(np.array(weights), 1, TestRandomness(1))


def test_each_cell_and_stratum_gets_its_expected_rows_rounded_up_or_down():
    weights, strata = np.array([0.5, 0.0, 1.5, 2.0, 0.3, 0.7, 5.0]), np.array([0, 0, 1, 0, 1, 2, 2])
    rows = 7
    expected = rows * weights / weights.sum()
    source, seen = TestRandomness(4), np.zeros(7)
    for _ in range(400):
        counts = np.bincount(systematic(weights, strata, rows, source), minlength=7)
        seen += counts
        assert (np.abs(counts - expected) < 1).all()
        assert (np.abs(np.bincount(strata, counts) - np.bincount(strata, expected)) < 1).all()
        assert counts.sum() == rows
    # the mean of 400 counts that are floor or ceil: a standard deviation of at most 0.025
    assert np.abs(seen / 400 - expected).max() < 0.15


def test_rows_of_a_stratum_fall_on_any_of_its_cells():
    """One row for ten cells of equal weight: each cell in turn, not always the first."""
    source = TestRandomness(5)
    found = [int(systematic(np.ones(10), np.zeros(10, np.int64), 1, source)[0]) for _ in range(300)]
    assert set(found) == set(range(10))


def test_systematic_draws_never_reach_a_cell_of_weight_zero_and_refuse_a_model_without_any():
    assert set(systematic(np.array([0.0, 0.1, 0.0]), np.arange(3), 50, TestRandomness(6)).tolist()) == {1}
    assert systematic(np.ones(3), np.arange(3), 0, TestRandomness(6)).size == 0
    with pytest.raises(ValueError, match="no cell"):
        systematic(np.zeros(3), np.arange(3), 1, TestRandomness(6))


def test_cells_of_a_joint_become_codes_with_the_last_column_fastest():
    shape = (2, 3, 2)
    assert unravelled(np.arange(12), shape).tolist() == [list(codes) for codes in product(*map(range, shape))]


@pytest.mark.parametrize("seed", range(5))
def test_the_projection_is_the_nearest_point_of_the_simplex(seed):
    draw = np.random.default_rng(seed)
    noisy, total = draw.integers(-6, 9, 7), int(draw.integers(1, 20))
    possible = draw.random(7) < 0.8
    possible[0] = True
    found = simplex(noisy, total, possible)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)
    assert not found[~possible].any()
    # no point of the simplex that a step of mass from one cell to another reaches is nearer
    for source, target in product(np.flatnonzero(possible & (found > 0)), np.flatnonzero(possible)):
        other = found.copy()
        step = min(0.01, other[source])
        other[source] -= step
        other[target] += step
        assert ((other - noisy) ** 2).sum() >= ((found - noisy) ** 2).sum() - 1e-9


@pytest.mark.parametrize(("total", "possible"), [(0, None), (-3, None), (5, [False, False, False])])
def test_nothing_to_share_out_is_all_zeros(total, possible):
    found = simplex(np.array([4, -1, 2]), total, None if possible is None else np.array(possible))
    assert found.tolist() == [0, 0, 0]


def test_a_projection_keeps_the_shape():
    assert simplex(np.array([[5, 3], [-2, 0]]), 6).tolist() == [[4, 2], [0, 0]]


def test_impossible_rows_are_drawn_again_and_the_law_is_that_of_the_rest(domain):
    rule = StructuralZero((0, 1), np.array([[True, False, False], [False, False, False], [False, False, False]]))
    made, randomness = domain(3, 3, zeros=[rule]), TestRandomness(5)

    def draw(rows):
        return unravelled(multinomial(np.ones(9), rows, randomness), (3, 3))

    found = without_impossible(draw, made, 9_000)
    counts = np.bincount(np.ravel_multi_index(found.T, (3, 3)), minlength=9)
    assert counts[0] == 0
    assert distance(counts[1:], np.full(8, 9_000 / 8)) < 60.8  # 7 degrees of freedom, 1e-10


def test_a_model_of_impossible_rows_alone_is_stopped(domain):
    made = domain(2, zeros=[StructuralZero((0,), np.array([True, False]))])
    with pytest.raises(InputError) as caught:
        without_impossible(lambda rows: np.zeros((rows, 1), np.int32), made, 4)
    assert caught.value.code == "D272"
