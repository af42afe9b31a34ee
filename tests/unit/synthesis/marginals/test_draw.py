"""Records agree with their model to less than one row in every group, and columns are independent where the model says so."""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.dp.randomness import SystemRandomness, TestRandomness
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.draw import assigned, draw, rounded
from privrelease.synthesis.marginals.junction_tree import JunctionTree, junction_tree
from privrelease.synthesis.marginals.model import Zero, calibrated


def model(seed, *, zeros=()):
    rng = np.random.default_rng(seed)
    domain = Domain(("a", "b", "c", "d"), (5, 4, 3, 6))
    cliques = [("a", "b"), ("b", "c"), ("b", "d")]
    tables = {clique: rng.normal(size=domain.shape(clique)) for clique in cliques}
    return calibrated(junction_tree(domain, [*cliques, *(zero.clique for zero in zeros)]), tables, zeros)


def counted(codes, domain, clique):
    places = [domain.names.index(name) for name in clique]
    shape = domain.shape(clique)
    return np.bincount(
        np.ravel_multi_index([codes[:, place] for place in places], shape), minlength=int(np.prod(shape))
    ).reshape(shape)


@pytest.mark.parametrize("rows", [0, 1, 7, 1000, 54_321])
@pytest.mark.parametrize("seed", range(3))
def test_each_group_has_less_than_one_row_more_or_less_than_expected(rows, seed):
    beliefs = model(seed)
    tree, domain = beliefs.tree, beliefs.tree.domain
    codes = draw(beliefs, rows, SystemRandomness())
    assert codes.shape == (rows, 4)
    for clique, separator, conditional in zip(tree.cliques, tree.separators, beliefs.conditional, strict=True):
        own = np.asarray(counted(codes, domain, separator) if separator else np.array(rows))
        expected = conditional * domain.spread(own, separator, clique)
        assert np.abs(counted(codes, domain, clique) - expected).max(initial=0) < 1
    root = tree.cliques[0]
    assert np.abs(counted(codes, domain, root[:1]) - rows * beliefs.marginal(root[:1])).max() < 1


def test_no_records_are_assigned_no_cells():
    """A noisy number of rows can be 0 where values were counted as one."""
    assert assigned(np.full((1, 3), 1 / 3), np.zeros(0, np.int64), SystemRandomness()).shape == (0,)


def test_marginals_of_an_explicit_joint_agree_to_one_row_in_all_its_first_columns():
    rng = np.random.default_rng(3)
    domain = Domain(("a", "b", "c"), (4, 5, 6))
    tree = JunctionTree(domain, (domain.names,), (-1,), ((),))
    beliefs = calibrated(tree, {domain.names: rng.normal(size=domain.sizes)})
    codes = draw(beliefs, 9_999, SystemRandomness())
    for clique in (("a",), ("a", "b"), ("a", "b", "c")):
        assert np.abs(counted(codes, domain, clique) - 9_999 * beliefs.marginal(clique)).max() < 1


def test_numbers_are_right_in_the_mean():
    expected = np.array([[0.3, 0.0, 1.45, 0.25], [0.5, 0.5, 0.0, 0.0]])
    drawn = [rounded(expected, np.array([one, one])) for one in (np.arange(2000) + 0.5) / 2000]
    np.testing.assert_allclose(np.mean(drawn, axis=0), expected, atol=1e-9)
    assert {int(one.sum()) for one in drawn} == {3}


def test_columns_of_different_cliques_are_independent_given_their_separator():
    beliefs = model(5)
    domain = beliefs.tree.domain
    rows = 200_000
    codes = draw(beliefs, rows, TestRandomness(7))
    table = counted(codes, domain, ("a", "b", "d"))
    expected = rows * beliefs.marginal(("a", "b", "d"))
    # a permutation within each group: chi-square of the interaction alone, far below what a pairing in order would give
    statistic = ((table - expected) ** 2 / expected).sum()
    free = 4 * (5 - 1) * (6 - 1)
    assert statistic < free + 6.5 * np.sqrt(2 * free)


def test_records_of_a_separator_that_are_paired_in_order_would_be_found_out(monkeypatch):
    from privrelease.synthesis.marginals import draw as drawing

    beliefs = model(5)
    monkeypatch.setattr(drawing.np, "lexsort", lambda keys: np.argsort(keys[-1], kind="stable"))
    codes = draw(beliefs, 200_000, TestRandomness(7))
    monkeypatch.undo()
    domain = beliefs.tree.domain
    expected = 200_000 * beliefs.marginal(("a", "b", "d"))
    statistic = ((counted(codes, domain, ("a", "b", "d")) - expected) ** 2 / expected).sum()
    free = 4 * (5 - 1) * (6 - 1)
    assert statistic > free + 6.5 * np.sqrt(2 * free)


def test_impossible_cells_have_no_record():
    impossible = np.zeros((5, 3), bool)
    impossible[1:, 0] = impossible[2, 1] = True
    beliefs = model(2, zeros=(Zero(("a", "c"), impossible),))
    codes = draw(beliefs, 30_000, SystemRandomness())
    assert not impossible[codes[:, 0], codes[:, 2]].any()
