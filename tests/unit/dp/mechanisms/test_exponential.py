from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from privrelease.dp.mechanisms import PermuteAndFlip
from privrelease.dp.mechanisms.exponential import _random_order
from privrelease.dp.randomness import TestRandomness


def by_every_order(scores, scale):
    """The law from its definition: the mean over all orders of the chance that each candidate is the first to be taken."""
    best = max(scores)
    biases = [math.exp(-(best - score) / scale) for score in scores]
    law = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for candidate in order:
            law[candidate] += left * biases[candidate] / len(orders)
            left *= 1 - biases[candidate]
    return law


@pytest.mark.parametrize("scores", [[3], [0, 0], [5, 1, 4], [2, 2, 0, -7, 1], [0, -1, -1, -1, -2, -30]])
def test_the_stated_law_is_that_of_every_order(scores):
    stated = PermuteAndFlip(Fraction(3, 2)).probabilities(scores)
    assert np.allclose(stated, by_every_order(scores, 1.5), atol=1e-12)
    assert math.isclose(math.fsum(stated), 1, rel_tol=1e-12)


@pytest.mark.parametrize("monotone", [False, True])
def test_no_pair_of_neighbouring_scores_is_told_apart_beyond_epsilon(monotone):
    # all score vectors of three candidates and all moves of at most D = 2 each (in one direction only where monotone)
    epsilon = Fraction("0.7")
    mechanism = PermuteAndFlip.calibrated(sensitivity=2, epsilon=epsilon, monotone=monotone)
    worst = 0.0
    for scores in product(range(-3, 1), repeat=3):
        before = mechanism.probabilities(scores)
        for move in product((0, 1, 2) if monotone else (-2, -1, 0, 1, 2), repeat=3):
            after = mechanism.probabilities([score + step for score, step in zip(scores, move, strict=True)])
            worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(before, after, strict=True)))
    assert worst <= float(epsilon) * (1 + 1e-12)
    assert worst > 0.6 * float(epsilon)  # half the scale would be found out


def test_half_the_scale_breaks_epsilon():
    halved = PermuteAndFlip.calibrated(sensitivity=2, epsilon=Fraction("1.4"))
    before, after = halved.probabilities([0, -2, -2]), halved.probabilities([-2, 0, 0])
    assert max(abs(math.log(p / q)) for p, q in zip(before, after, strict=True)) > 0.7


@pytest.mark.parametrize("count", [3, 40])
def test_the_sampler_follows_the_law(count):
    scores = [0, -1, -4] if count == 3 else [0, -1, -4, *[-9] * 37]
    mechanism = PermuteAndFlip(Fraction(2))
    law = mechanism.probabilities(scores[:3]) if count == 3 else None
    source = TestRandomness(3)
    n = 20_000 if count == 3 else 4_000
    found = np.bincount([mechanism.choose(scores, source) for _ in range(n)], minlength=count)
    if law is None:  # 37 equal candidates: integrate the law's product form
        law = _law_by_quadrature(scores, 2.0)
        found = np.array([*found[:3], found[3:].sum()])
        law = [*law[:3], sum(law[3:])]
    for hits, probability in zip(found.tolist(), law, strict=True):
        assert abs(hits - n * probability) < 6.5 * math.sqrt(n * probability)


def _law_by_quadrature(scores, scale):
    """P(r) = p_r times the integral over u in [0, 1] of prod (1 - p_s u): the time u at which r is visited."""
    biases = [math.exp(-(max(scores) - score) / scale) for score in scores]
    u = np.linspace(0, 1, 20_001)
    return [
        bias * float(np.trapezoid(np.prod([1 - other * u for s, other in enumerate(biases) if s != r], axis=0), u))
        for r, bias in enumerate(biases)
    ]


def test_scores_too_wide_for_64_bits_are_compared_exactly():
    mechanism = PermuteAndFlip(Fraction(1, 10**15))
    scores = np.array([2**62, -(2**62), *[0] * 30], dtype=np.int64)
    assert mechanism.choose(scores, TestRandomness(1)) == 0


def test_an_order_with_equal_keys_is_drawn_again(scripted):
    equal = b"\x01" * 8 * 2
    assert sorted(_random_order(2, scripted(equal, TestRandomness(1))).tolist()) == [0, 1]


def test_every_order_is_equally_likely():
    source = TestRandomness(8)
    n = 12_000
    found = {}
    for _ in range(n):
        order = tuple(_random_order(3, source).tolist())
        found[order] = found.get(order, 0) + 1
    assert len(found) == 6
    assert all(abs(hits - n / 6) < 6.5 * math.sqrt(n / 6) for hits in found.values())


def test_no_candidates_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        PermuteAndFlip(Fraction(1)).choose([], TestRandomness(1))
