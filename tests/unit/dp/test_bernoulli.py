"""The exact coins: the law on average, and the rare words that only Python integers decide."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp import bernoulli as coins
from privrelease.dp.randomness import TestRandomness


def share(hits, n, probability, sigmas=6.5):
    """Whether a count is within 6.5 standard deviations (alpha about 1e-10) of its expectation."""
    return abs(hits - n * probability) <= sigmas * math.sqrt(n * probability * (1 - probability)) + 1e-9


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 256, 1000, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 61) + 12345, 1 << 62])
def test_uniform_batch_covers_the_range_evenly(bound):
    n = 40_000
    values = coins.uniform_below_batch(bound, n, TestRandomness(bound % 1000))
    assert values.size > 0.4 * n
    assert values.min() >= 0
    assert int(values.max()) < bound
    cells = min(bound, 8)
    expected = (
        np.array([(bound * (i + 1) + cells - 1) // cells - (bound * i + cells - 1) // cells for i in range(cells)]) / bound
    )
    found = np.bincount([int(v) * cells // bound for v in values.tolist()], minlength=cells)
    for hits, probability in zip(found.tolist(), expected.tolist(), strict=True):
        assert share(hits, values.size, min(probability, 1.0))


@pytest.mark.parametrize("bound", [0, -1, (1 << 62) + 1])
def test_uniform_batch_refuses_a_width_it_has_no_proof_for(bound):
    with pytest.raises(ValueError, match="bound"):
        coins.uniform_below_batch(bound, 10, TestRandomness(1))


def test_uniform_rejects_the_words_that_would_tilt_it(scripted):
    # 3 does not divide 2^32: the words whose product has a low half below 2^32 mod 3 = 1 are dropped, here w = 0
    source = scripted((0).to_bytes(4, "little") + (1 << 31).to_bytes(4, "little"), TestRandomness(1))
    assert coins.uniform_below_batch(3, 2, source).tolist() == [1]


@pytest.mark.parametrize("bound", [1, 2, 3, 255, 256, 257, 10**30])
def test_uniform_of_any_size_stays_below_its_bound(bound):
    source = TestRandomness(3)
    values = [coins.uniform_below(bound, source) for _ in range(300)]
    assert all(0 <= value < bound for value in values)
    if bound > 2:
        assert len(set(values)) > 1


def batch(numerator, denominator, source):
    """Coins of the first toss, numerator / denominator each: what the batches of exp are made of."""
    return coins._coins(numerator / float(denominator), numerator, denominator, None, 1, source)


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(0, 1), (1, 1), (1, 3), (999_999, 1_000_000), (1, 10**15), ((1 << 61) - 1, 1 << 61)]
)
def test_batch_coin_has_its_bias(numerator, denominator):
    n = 50_000
    flips = batch(np.full(n, numerator, np.int64), denominator, TestRandomness(5))
    probability = numerator / denominator
    assert share(int(flips.sum()), n, probability)
    if numerator in (0, denominator):
        assert int(flips.sum()) == (n if numerator else 0)


@pytest.mark.parametrize(("fresh", "expected"), [(b"\x00", True), (b"\x01", False), (b"\x02", False)])
def test_a_word_on_the_edge_is_decided_by_exact_integers(scripted, fresh, expected):
    # bias 1/3: 2^32/3 = 1431655765 + 1/3; the word 1431655765 leaves exactly the chance 1/3, a fresh uniform of 0..2 below 1
    word = ((1 << 32) // 3).to_bytes(4, "little")
    fresh_bits = (fresh[0] << 6).to_bytes(1, "little")  # two bits are taken from the top of a byte
    flips = batch(np.array([1], np.int64), 3, scripted(word + fresh_bits, TestRandomness(1)))
    assert flips.tolist() == [expected]


def test_words_beside_the_edge_are_decided_without_fresh_bits(scripted):
    edge = (1 << 32) // 3
    words = b"".join((edge + step).to_bytes(4, "little") for step in (-2, -1, 2, 3))
    flips = batch(np.full(4, 1, np.int64), 3, scripted(words, TestRandomness(1)))
    assert flips.tolist() == [True, True, False, False]


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(12345678901, 1 << 40)])
def test_batch_coin_of_exp_has_its_bias(x):
    n = 60_000
    flips = coins.bernoulli_exp_batch(np.full(n, x.numerator, np.int64), x.denominator, TestRandomness(11))
    assert share(int(flips.sum()), n, math.exp(-x))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 2)])
def test_single_coin_of_exp_has_its_bias(x):
    n = 6_000
    source = TestRandomness(12)
    hits = sum(coins.bernoulli_exp(x.numerator, x.denominator, source) for _ in range(n))
    assert share(hits, n, math.exp(-x))


def test_geometric_batch_has_powers_of_one_over_e():
    n = 200_000
    values = coins.geometric_batch(n, TestRandomness(13))
    for v in range(7):
        assert share(int((values >= v).sum()), n, math.exp(-v)) or v == 0


def test_thresholds_are_the_floors_of_the_powers_of_one_over_e():
    from mpmath import mp, mpf

    mp.prec = 600
    for bits in (64, 128):
        table = coins._thresholds(bits)
        assert list(table) == [int(mp.floor(mpf(2) ** bits * mp.exp(-(v + 1)))) for v in range(len(table))]
        assert table[-1] == 0
        assert table[-2] > 0


@pytest.mark.parametrize("entry", [0, 1, 5, 43, 44])
@pytest.mark.parametrize(("following", "step"), [(b"\x00" * 8, 1), (b"\xff" * 8, 0)])
def test_a_word_equal_to_a_threshold_is_extended(scripted, entry, following, step):
    # the low end of the cell lies below exp(-(v+1)), its high end above (the last entry is 0: its cell's low end goes on to larger values)
    word = coins._thresholds(64)[entry]
    batch = coins.geometric_batch(1, scripted(word.to_bytes(8, "little") + following, TestRandomness(1)))
    single = coins.geometric(scripted(word.to_bytes(8, "little") + following, TestRandomness(1)))
    assert batch.tolist() == [single]
    assert single == entry + step if word else single >= entry + step
    for neighbour, value in ((word - 1, entry + 1), (word + 1, entry)):
        if neighbour >= 0 and neighbour not in coins._thresholds(64):
            source = scripted(neighbour.to_bytes(8, "little"), TestRandomness(1))
            assert coins.geometric_batch(1, source).tolist() == [value]


def test_signs_are_fair():
    n = 100_003
    signs = coins.sign_batch(n, TestRandomness(14))
    assert signs.dtype == np.bool_
    assert signs.size == n
    assert share(int(signs.sum()), n, 0.5)
