"""The estimate is the distribution of maximum entropy: by brute force, by hand, and on the tree as on the joint."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privrelease.synthesis.marginals import estimate as estimates
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.estimate import NoisyMarginal, estimate, noisy_total
from privrelease.synthesis.marginals.junction_tree import JunctionTree, junction_tree
from privrelease.synthesis.marginals.model import Zero, calibrated, least
from tests.unit.synthesis.marginals.entropy import divergence, maximum_entropy, random_problem

FINE = {"most": 20_000, "tolerance": 1e-8}


def fitted(domain, rows, noisy, impossible):
    zeros = () if impossible is None else (Zero(*impossible),)
    return estimate(domain, noisy, zeros=zeros, total=float(rows), **FINE)


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 100))])
def test_it_is_the_distribution_of_maximum_entropy(seed):
    """Measurements contradict each other in all; every third measures a marginal twice, every other has structural zeros."""
    problem = random_problem(np.random.default_rng(seed), twice=seed % 3 == 0, zeros=seed % 2 == 0)
    domain, rows, noisy, impossible = problem
    wanted = maximum_entropy(*problem)
    found = fitted(*problem)
    assert divergence(wanted, found.model.marginal(domain.names) / rows) < 1e-6
    if impossible is not None:
        table = found.model.marginal(domain.names)
        assert not table[np.broadcast_to(domain.spread(impossible[1], impossible[0], domain.names), table.shape)].any()
    assert found.gap >= -1e-6 * max(1.0, found.loss)
    assert noisy


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_gives_the_same_as_the_joint(seed, monkeypatch):
    domain, rows, noisy, impossible = random_problem(np.random.default_rng(seed), zeros=seed % 2 == 0)
    here = fitted(domain, rows, noisy, impossible)
    monkeypatch.setattr(estimates, "joint_or_tree", junction_tree)
    there = fitted(domain, rows, noisy, impossible)
    every = [c for ways in range(1, len(domain.names) + 1) for c in combinations(domain.names, ways)]
    for clique in every:
        np.testing.assert_allclose(there.model.marginal(clique), here.model.marginal(clique), atol=rows * 1e-3)
    loss = [sum(((f.model.marginal(m.clique) - m.counts) ** 2).sum() / m.variance / 2 for m in noisy) for f in (here, there)]
    assert loss[0] == pytest.approx(loss[1], abs=1e-4)


def test_two_columns_that_are_measured_alone_are_independent():
    domain = Domain(("a", "b"), (2, 3))
    noisy = [NoisyMarginal(("a",), np.array([30.0, 10.0]), 1.0), NoisyMarginal(("b",), np.array([20.0, 10.0, 10.0]), 1.0)]
    table = estimate(domain, noisy, **FINE).model.marginal(("a", "b"))
    np.testing.assert_allclose(table, np.outer([0.75, 0.25], [20, 10, 10]), rtol=1e-4)


def test_a_marginal_that_is_measured_twice_counts_by_its_precision():
    domain = Domain(("a",), (2,))
    noisy = [NoisyMarginal(("a",), np.array([10.0, 30.0]), 1.0), NoisyMarginal(("a",), np.array([20.0, 20.0]), 3.0)]
    assert noisy_total(noisy) == 40
    np.testing.assert_allclose(estimate(domain, noisy, **FINE).model.marginal(("a",)), [12.5, 27.5], rtol=1e-4)


def test_a_negative_count_becomes_nearly_0_and_the_others_share_what_is_too_much():
    domain = Domain(("a",), (3,))
    found = estimate(domain, [NoisyMarginal(("a",), np.array([-6.0, 10.0, 20.0]), 1.0)], **FINE).model.marginal(("a",))
    np.testing.assert_allclose(found, [0, 7, 17], atol=0.02)  # the projection to the simplex of 24 rows


def test_cells_may_have_variances_of_their_own():
    domain = Domain(("a",), (2,))
    noisy = [NoisyMarginal(("a",), np.array([12.0, 31.0]), np.array([1.0, 2.0]))]
    found = estimate(domain, noisy, total=40.0, **FINE).model.marginal(("a",))
    np.testing.assert_allclose(found, [11, 29], rtol=1e-4)  # 3 rows too many, shared 1 to 2
    assert noisy[0].spread == 3


def test_going_on_from_an_estimate_ends_where_a_fresh_one_does():
    domain, rows, noisy, _ = random_problem(np.random.default_rng(4))
    part = estimate(domain, noisy[:1], total=float(rows), most=30)
    on = estimate(domain, noisy, total=float(rows), start=part, **FINE)
    fresh = estimate(domain, noisy, total=float(rows), **FINE)
    assert divergence(fresh.model.marginal(domain.names) / rows, on.model.marginal(domain.names) / rows) < 1e-6


def test_the_gap_bounds_what_is_left_to_gain_at_every_length_of_the_descent():
    for seed in range(6):
        domain, rows, noisy, impossible = random_problem(np.random.default_rng(seed), zeros=seed % 2 == 0)
        zeros = () if impossible is None else (Zero(*impossible),)
        best = fitted(domain, rows, noisy, impossible).loss
        short = [estimate(domain, noisy, zeros=zeros, total=float(rows), most=most, tolerance=1e-8) for most in (1, 5, 20, 80)]
        assert all(one.gap >= one.loss - best - 1e-6 for one in short)
        assert [one.loss for one in short] == sorted((one.loss for one in short), reverse=True)


@pytest.mark.parametrize("seed", range(6))
def test_messages_find_the_least_sum_and_the_marginals_of_all_cells(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(("a", "b", "c", "d", "e"), (2, 3, 2, 4, 2))
    cliques = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("b", "d")][: 3 + seed % 3]
    tables = {clique: rng.normal(size=domain.shape(clique)) * 3 for clique in cliques}
    zero = Zero(("a", "c"), rng.random((2, 2)) < 0.3)
    tree = junction_tree(domain, [*cliques, zero.clique])
    total = sum(domain.spread(table, clique, domain.names) for clique, table in tables.items()) + np.zeros(domain.sizes)
    possible = ~np.broadcast_to(domain.spread(zero.impossible, zero.clique, domain.names), domain.sizes)
    assert least(tree, tables, [zero]) == pytest.approx(total[possible].min())
    beliefs = calibrated(tree, tables, [zero])
    weights = np.exp(total) * possible
    assert beliefs.log_partition == pytest.approx(np.log(weights.sum()))
    for ways in range(1, 6):
        for clique in combinations(domain.names, ways):
            wanted = domain.project(weights / weights.sum(), domain.names, clique)
            np.testing.assert_allclose(beliefs.marginal(clique), wanted, atol=1e-12)


def test_potentials_far_out_of_the_range_of_exp_do_not_overflow():
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    tree = junction_tree(domain, [("a", "b"), ("b", "c")])
    potential = np.array([[4000.0, -4000.0], [-4000.0, 4000.0]])
    beliefs = calibrated(tree, {("a", "b"): potential, ("b", "c"): -potential})
    np.testing.assert_allclose(beliefs.marginal(("a", "c")), [[0, 0.5], [0.5, 0]], atol=1e-12)


def test_zeros_that_leave_no_cell_are_refused():
    domain = Domain(("a", "b"), (2, 2))
    with pytest.raises(ValueError, match="leave no cell"):
        calibrated(junction_tree(domain, [("a", "b")]), {}, [Zero(("a", "b"), np.ones((2, 2), bool))])
    with pytest.raises(ValueError, match="clique of the tree"):
        calibrated(JunctionTree(domain, (("a",), ("b",)), (-1, 0), ((), ())), {("a", "b"): np.zeros((2, 2))})
