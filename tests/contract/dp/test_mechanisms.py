"""One suite over every noise law: what `AdditiveNoise` promises, checked exactly where it can be."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.mechanisms import MECHANISMS, DiscreteGaussian, DiscreteLaplace, add_noise
from privrelease.dp.mechanisms.additive import SMALL
from privrelease.dp.randomness import SystemRandomness, TestRandomness

ADDITIVE = [mechanism for mechanism in MECHANISMS if hasattr(mechanism, "sample")]
SCALES = [Fraction(1, 4), Fraction(1), Fraction(22, 7), Fraction(100)]

pytestmark = pytest.mark.parametrize("mechanism", ADDITIVE, ids=lambda mechanism: mechanism.name)


def test_the_additive_laws_are_listed(mechanism):
    assert mechanism in (DiscreteLaplace, DiscreteGaussian)
    assert len({law.name for law in MECHANISMS}) == len(MECHANISMS)


def test_it_has_a_proof_note(mechanism):
    import sys

    note = sys.modules[mechanism.__module__].__doc__ or ""
    for heading in ("Law\n", "Guarantee", "Sampler\n"):
        assert heading in note


@pytest.mark.parametrize("scale", SCALES)
def test_draws_are_integers_whatever_their_number(mechanism, scale):
    noise = mechanism(scale)
    for size in (1, SMALL - 1, SMALL, 500):
        draws = noise.sample(size, SystemRandomness())
        assert draws.shape == (size,)
        assert np.issubdtype(draws.dtype, np.integer)
    assert all(type(value) is int for value in add_noise(noise, [1, 2, 3] * 10, SystemRandomness()))


@pytest.mark.parametrize("scale", SCALES)
def test_small_and_large_samples_follow_one_law(mechanism, scale):
    noise = mechanism(scale)
    source = TestRandomness(21)
    n = 4000
    singles = np.array([noise.sample_one(source) for _ in range(n)])
    batch = noise.sample(n, source)
    expected = {k: noise.probability(k) for k in range(-2, 3)}
    for sample in (singles, batch):
        for k, probability in expected.items():
            assert abs(int((sample == k).sum()) - n * probability) < 6.5 * math.sqrt(n * probability) + 1
        assert (
            abs(float(sample.std()) - noise.standard_deviation()) < 6.5 * noise.standard_deviation() * 1.2 / math.sqrt(n) + 0.02
        )


@pytest.mark.parametrize("scale", SCALES)
def test_the_law_is_symmetric_and_its_tail_bounds_it(mechanism, scale):
    noise = mechanism(scale)
    assert noise.probability(3) == noise.probability(-3)
    for k in (1, 2, 5):
        assert noise.tail(k) >= noise.tail(k + 1) > 0
        assert float(noise.tail(k) + noise.tail(1 - k)) >= 1 - 1e-12
        assert math.isclose(float(noise.tail(k) - noise.tail(k + 1)), noise.probability(k), rel_tol=1e-6, abs_tol=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_a_seed_repeats_draws_and_the_system_does_not(mechanism, scale):
    noise = mechanism(scale)
    assert noise.sample(300, TestRandomness(1)).tolist() == noise.sample(300, TestRandomness(1)).tolist()
    assert noise.sample(300, SystemRandomness()).tolist() != noise.sample(300, SystemRandomness()).tolist()


def test_a_scale_is_kept_exact(mechanism):
    assert mechanism(Fraction(10**20, 3)).scale == Fraction(10**20, 3)
    for scale in (Fraction(0), Fraction(-1)):
        with pytest.raises(ValueError, match="positive"):
            mechanism(scale)


def test_a_large_sample_is_drawn_in_pieces_and_has_its_spread(mechanism):
    noise = mechanism(Fraction(9))
    sample = noise.sample(300_001, TestRandomness(5))
    assert sample.size == 300_001
    assert abs(sample.std() / noise.standard_deviation() - 1) < 0.02
    assert abs(np.corrcoef(sample[:-1], sample[1:])[0, 1]) < 0.015
