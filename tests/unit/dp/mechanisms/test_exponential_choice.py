"""The exponential mechanism: its law by hand, its bounds by brute force, its sampler against the law, planted faults."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from privrelease.dp.mechanisms import ExponentialMechanism
from privrelease.dp.randomness import SystemRandomness, TestRandomness

ALPHA = 1e-9
VECTORS = 50
DRAWS = 2_000
ORDERS = (1.1, 1.5, 2.0, 3.0, 8.0, 32.0, 64.0)


class NoBytes:
    private = True

    def draw(self, size):
        raise AssertionError(size)


def score_vectors():
    """50 vectors of 2 to 40 candidates: below and above the size from which candidates are tried in batches; ties included."""
    rng = np.random.default_rng(15)
    return [rng.integers(-12, 13, size=size).tolist() for size in rng.integers(2, 41, size=VECTORS).tolist()]


def cells(law, n):
    """Candidates of at least 25 expected draws are cells of their own, the others one together."""
    law = np.array(law)
    large = np.flatnonzero(law * n >= 25)
    return large, np.append(law[large], max(0.0, 1 - law[large].sum()))


def p_value(found, law):
    """Chi-square of counts by candidate against a law."""
    n = int(found.sum())
    large, expected = cells(law, n)
    counts = np.append(found[large], n - found[large].sum())
    keep = expected * n > 1e-6
    statistic = ((counts[keep] - n * expected[keep]) ** 2 / (n * expected[keep])).sum()
    return float(stats.chi2.sf(statistic, max(1, keep.sum() - 1)))


def drawn(mechanism, scores, seed, n=DRAWS):
    source = TestRandomness(seed)
    return np.bincount([mechanism.choose(scores, source) for _ in range(n)], minlength=len(scores))


def test_the_law_of_two_and_three_candidates_is_that_worked_by_hand():
    # scale 2: weights exp(0), exp(-1/2); and 1, 1/e, 1/e
    two = ExponentialMechanism(Fraction(2)).probabilities([4, 3])
    assert two == pytest.approx([1 / (1 + math.exp(-0.5)), math.exp(-0.5) / (1 + math.exp(-0.5))], rel=1e-14)
    three = ExponentialMechanism(Fraction(2)).probabilities([0, -2, -2])
    assert three == pytest.approx([math.e / (math.e + 2), 1 / (math.e + 2), 1 / (math.e + 2)], rel=1e-14)


def test_calibration_and_cost_are_inverse_and_exact():
    mechanism = ExponentialMechanism.calibrated(sensitivity=3, epsilon=Fraction("0.4"))
    assert mechanism.scale == 15
    assert mechanism.epsilon(3) == Fraction("0.4")
    assert mechanism.rho(3) == Fraction("0.02")
    assert ExponentialMechanism.calibrated(sensitivity=3, epsilon=Fraction("0.4"), monotone=True).scale == Fraction(15, 2)


def power(law, other):
    """The chance that draws of ``other`` are rejected as draws of ``law``."""
    large, p = cells(law, DRAWS)
    r = np.array(other)[large]
    r = np.append(r, max(0.0, 1 - r.sum()))
    keep = p > 1e-9
    distance = DRAWS * ((r - p)[keep] ** 2 / p[keep]).sum()
    return float(stats.ncx2.sf(stats.chi2.isf(ALPHA, keep.sum() - 1), keep.sum() - 1, distance))


@pytest.mark.parametrize("vectors", [4, pytest.param(VECTORS, marks=pytest.mark.slow)])
def test_choices_follow_the_law_and_mutants_do_not(vectors):
    """Mutants: twice the epsilon, and the sign of scores swapped; rejected wherever the test has the power, which is nearly everywhere."""
    mechanism, twice = ExponentialMechanism(Fraction(7, 2)), ExponentialMechanism(Fraction(7, 4))
    tested = 0
    for place, scores in enumerate(score_vectors()[:vectors]):
        law, swapped = mechanism.probabilities(scores), [-score for score in scores]
        assert p_value(drawn(mechanism, scores, 200 + place), law) > ALPHA
        mutants = ((twice, scores), (mechanism, swapped))
        for seed, (mutant, wrong) in enumerate(mutants):
            if power(law, mutant.probabilities(wrong)) > 1 - 1e-6:
                tested += 1
                assert p_value(drawn(mutant, wrong, 1000 * seed + 300 + place), law) < ALPHA
    assert tested >= 1.6 * vectors


def test_arrays_of_every_width_have_one_law():
    scores = [0, 3, -5, 100, 101, 99, *[-120] * 30]
    mechanism = ExponentialMechanism(Fraction(1))
    for dtype in (np.int8, np.int16, np.int64):
        assert p_value(drawn(mechanism, np.array(scores, dtype), 7), mechanism.probabilities(scores)) > ALPHA
    shifted = [score + 120 for score in scores]
    assert p_value(drawn(mechanism, np.array(shifted, np.uint8), 7), mechanism.probabilities(scores)) > ALPHA


def test_scores_and_scales_too_wide_for_64_bits_are_compared_exactly():
    far = np.array([2**62, -(2**62), *[0] * 30], np.int64)
    assert ExponentialMechanism(Fraction(1, 10**15)).choose(far, TestRandomness(1)) == 0
    big = [10**40 * score for score in (0, 1, -3, 2, *[-9] * 30)]
    wide = ExponentialMechanism(Fraction(10**40 * 3 + 1, 2))
    assert p_value(drawn(wide, big, 9), wide.probabilities(big)) > ALPHA


# ----------------------------------------------------------------------------------------------------------------------- bounds


def renyi(p, q, alpha):
    """Renyi divergence of two laws given by their logarithms."""
    terms = alpha * p + (1 - alpha) * q
    return (float(terms.max()) + math.log(float(np.exp(terms - terms.max()).sum()))) / (alpha - 1)


def log_law(scores, scale):
    weights = np.array(scores, dtype=np.float64) / float(scale)
    return weights - (weights.max() + math.log(math.fsum(np.exp(weights - weights.max()).tolist())))


@pytest.mark.parametrize("pairs", [100, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("monotone", [False, True])
def test_renyi_divergence_of_neighbours_is_at_most_alpha_epsilon_squared_over_8(monotone, pairs):
    rng = np.random.default_rng(8)
    closest = 0.0
    for _ in range(pairs):
        size, d = int(rng.integers(2, 30)), int(rng.integers(1, 6))
        epsilon = Fraction(int(rng.integers(1, 40)), 10)
        mechanism = ExponentialMechanism.calibrated(sensitivity=d, epsilon=epsilon, monotone=monotone)
        scores = rng.integers(-8, 9, size=size)
        moved = scores + rng.choice([0, d] if monotone else [-d, d], size=size)
        p, q = log_law(scores, mechanism.scale), log_law(moved, mechanism.scale)
        for alpha in ORDERS:
            bound = alpha * float(mechanism.rho(d, monotone=monotone))
            for left, right in ((p, q), (q, p)):
                ratio = renyi(left, right, alpha) / bound
                assert ratio <= 1 + 1e-9
                closest = max(closest, ratio)
    assert closest > 0.9  # the bound is met: a smaller one would be found out


def test_no_pair_of_neighbouring_scores_passes_epsilon_nor_its_range():
    epsilon = Fraction("0.7")
    mechanism = ExponentialMechanism.calibrated(sensitivity=2, epsilon=epsilon)
    widest = 0.0
    for scores in product(range(-3, 1), repeat=3):
        before = np.log(mechanism.probabilities(scores))
        for move in product((-2, -1, 0, 1, 2), repeat=3):
            change = np.log(mechanism.probabilities([s + step for s, step in zip(scores, move, strict=True)])) - before
            assert change.min() <= 1e-12
            assert change.max() >= -1e-12
            widest = max(widest, float(change.max() - change.min()))
    assert widest == pytest.approx(float(epsilon), rel=1e-9)


# -------------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "scores", [[1.0, 2], [True, 0], ["1"], np.array([1.5, 2]), np.array([[1, 2]]), [Fraction(1, 2)], [1.0] * 40]
)
def test_a_score_that_is_not_an_integer_is_a_type_error_before_any_draw(scores):
    with pytest.raises(TypeError, match="integers"):
        ExponentialMechanism(Fraction(1)).choose(scores, NoBytes())


@pytest.mark.parametrize("scores", [[], np.array([], np.int64)])
def test_no_candidate_is_refused(scores):
    with pytest.raises(ValueError, match="at least one"):
        ExponentialMechanism(Fraction(1)).choose(scores, NoBytes())


def test_a_scale_is_positive():
    with pytest.raises(ValueError, match="positive"):
        ExponentialMechanism(Fraction(0))
    with pytest.raises(ValueError, match="sensitivity"):
        ExponentialMechanism.calibrated(sensitivity=0, epsilon=Fraction(1))


@pytest.mark.parametrize("kind", ["one best", "all equal", "spread", "wide scale"])
def test_a_hundred_thousand_candidates_take_at_most_200_ms(kind):
    scores = {
        "one best": np.append(np.zeros(99_999, np.int64), 10**9),
        "all equal": np.zeros(100_000, np.int64),
        "spread": np.arange(100_000),
        "wide scale": np.append(np.zeros(99_999, np.int64), 10**9),
    }[kind]
    mechanism = ExponentialMechanism(Fraction(10**30 + 1, 10**25) if kind == "wide scale" else Fraction(10))
    start = time.process_time()
    for _ in range(3):
        mechanism.choose(scores, SystemRandomness())
    assert (time.process_time() - start) / 3 < 0.2
