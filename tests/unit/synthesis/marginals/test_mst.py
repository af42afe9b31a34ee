"""MST: a spanning tree of the strongest pairs, a third of rho for each step, and rare cells summed by noisy counts alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.envelope import Marginal
from privrelease.dp.randomness import SystemRandomness
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.estimate import NoisyMarginal
from privrelease.synthesis.marginals.model import Zero
from privrelease.synthesis.marginals.mst import coarsening, mst
from tests.unit.synthesis.marginals.asked import Recording, door

DOMAIN = Domain(("a", "b", "c"), (3, 3, 2))


def joint():
    """a and b agree; c follows b, less."""
    table = np.zeros(DOMAIN.sizes, np.int64)
    for a in range(3):
        for b in range(3):
            for c in range(2):
                table[a, b, c] = (900 if a == b else 30) * (3 if (b == 0) == (c == 0) else 1)
    return table


def test_a_third_of_rho_goes_to_each_step_and_all_of_it_is_spent():
    at = door(DOMAIN, joint(), "3/10", kind=Recording)
    fit, _ = mst(at, cells=1000)
    kinds = [
        (one[0], one[1].name if one[0] == "measure" else None, one[-1 if one[0] == "measure" else 3].value)
        for one in at.envelope.questions
    ]
    assert kinds[:3] == [("measure", name, Fraction(1, 30)) for name in "abc"]
    assert [(kind, rho) for kind, _, rho in kinds[3:5]] == [("select", Fraction(1, 20))] * 2
    assert [kind for kind, _, _ in kinds[5:]] == ["measure", "measure"]
    assert kinds[5][2] == pytest.approx(Fraction(1, 20), rel=1e-3)
    assert at.left < Fraction(1, 10_000)
    assert {name for _, name, _ in kinds[5:]} == {"a x b", "b x c"}
    assert fit.model.total == pytest.approx(joint().sum(), rel=0.02)


@pytest.mark.parametrize("seed", range(12))
def test_a_fit_ends_where_two_points_agree_to_the_last_digit(seed):
    """Parts of a split measurement are fitted far below their noise, where a step no longer moves a float64."""
    fit, _ = mst(door(DOMAIN, joint(), "3/10", seed=seed), cells=1000)
    assert fit.model.total == pytest.approx(joint().sum(), rel=0.02)


def test_scores_are_whole_distances_to_the_product_of_the_columns():
    at = door(DOMAIN, joint(), "1000000", kind=Recording)
    mst(at, cells=1000)
    _, queries, scores, _, grid = next(one for one in at.envelope.questions if one[0] == "select")
    for query, score in zip(queries, scores, strict=True):
        first, second = query.name.split(" x ")
        one, two = (DOMAIN.project(joint(), DOMAIN.names, (name,)) for name in (first, second))
        np.testing.assert_allclose(score.model, (grid * np.outer(one, two) / joint().sum()).reshape(-1), atol=1)
        assert (score.weight, score.penalty) == (1, 0)


def test_a_pair_above_the_size_is_no_candidate_and_its_columns_stay_independent():
    at = door(DOMAIN, joint(), "1", kind=Recording)
    mst(at, cells=12)
    measured = [one[1].size for one in at.envelope.questions if one[0] == "measure"][3:]
    assert measured in ([9], [6, 6])  # a x b leaves room for 3 cells; a x c and b x c are just enough
    none = door(DOMAIN, joint(), "1", kind=Recording)
    fit, _ = mst(none, cells=5)
    np.testing.assert_allclose(
        fit.model.marginal(("a", "b")),
        np.outer(fit.model.marginal(("a",)), fit.model.marginal(("b",))) / fit.model.total,
        rtol=1e-6,
    )


def test_rare_cells_are_counted_as_one_and_records_get_them_by_their_noisy_counts():
    domain = Domain(("a", "b"), (5, 2))
    noisy = [
        NoisyMarginal(("a",), np.array([500.0, 8.0, 400.0, -3.0, 4.0]), 9.0),
        NoisyMarginal(("b",), np.array([3.0, 900.0]), 9.0),  # one rare cell alone is no sum
    ]
    rough = coarsening(domain, noisy)
    assert rough.coarse.sizes == (3, 2)
    assert rough.labels["a"].tolist() == [0, 2, 1, 2, 2]
    sums = rough.noisy(noisy[0])
    assert (sums.counts.tolist(), sums.variance.tolist()) == ([500, 400, 9], [9, 9, 27])
    assert rough.noisy(noisy[1]) is noisy[1]
    query = rough.query(lambda clique: Marginal(" x ".join(clique), domain.shape(clique)))
    assert query(("a", "b")) == Marginal("a x b", (5, 2), ((0, 2, 1, 2, 2), ()))
    assert query(("a", "b")).size == 6
    codes = np.array([[0, 0]] * 10 + [[1, 1]] * 10 + [[2, 0]] * 120, np.int32)
    found = rough.refined(codes, SystemRandomness())
    assert np.bincount(found[:, 0], minlength=5).tolist() == [10, 80, 10, 0, 40]  # 8 to 4
    assert (found[:, 1] == codes[:, 1]).all()
    assert coarsening(domain, noisy, [Zero(("a", "b"), np.zeros((5, 2), bool))]).labels == {}
    never = Zero(("a",), np.array([False, False, False, True, False]))  # -3 rows: impossible, and so not rare
    rough = coarsening(domain, noisy, [never])
    assert rough.labels["a"].tolist() == [0, 3, 1, 2, 3]
    assert rough.zero(never).impossible.tolist() == [False, False, True, False]


def test_sums_of_rare_cells_are_made_before_the_noise():
    domain = Domain(("a", "b"), (5, 2))
    table = np.array([[5000, 4000], [1, 0], [3000, 3000], [0, 2], [1, 1]])
    at = door(domain, table, "100", kind=Recording)
    fit, rough = mst(at, cells=1000)
    assert rough.coarse.sizes == (5, 2)  # sigma is 0.1: nothing is rare
    at = door(domain, table, "1/100", kind=Recording)
    fit, rough = mst(at, cells=1000)
    assert rough.coarse.sizes == (3, 2)
    pair = [draw for draw in at.envelope.close() if draw.figure == "cells"][-1]
    assert (pair.query, pair.size) == ("a x b", 6)
    assert at.noisy[0].counts.size == 5
    assert fit.model.marginal(("a",)).size == 3


def test_columns_of_structural_zeros_keep_their_cells_and_the_zeros_hold():
    table = joint()
    table[2, :, 0] = 0
    table[2, 2, 1] = 4  # rare
    impossible = np.zeros((3, 2), bool)
    impossible[2, 0] = True
    at = door(DOMAIN, table, "1/50", kind=Recording)
    fit, rough = mst(at, cells=1000, zeros=[Zero(("a", "c"), impossible)])
    assert not set(rough.labels) & {"a", "c"}
    assert fit.model.marginal(("a", "c"))[2, 0] == 0


def test_one_column_alone_gets_everything():
    domain = Domain(("a",), (3,))
    at = door(domain, np.array([5, 50, 500]), "2", kind=Recording)
    fit, _ = mst(at, cells=10)
    assert [one[2].value for one in at.envelope.questions] == [2]
    assert fit.model.marginal(("a",)).sum() == pytest.approx(555, abs=5)
