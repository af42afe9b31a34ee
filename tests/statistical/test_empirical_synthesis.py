"""Empirical privacy of co-clustering and Bayesian networks: whole fits of two neighbouring tables, and a lower bound on what was spent.

The event is fixed beforehand, where the likelihood ratio of the two tables is at its largest; n is declared below, and bounds are Clopper-Pearson at
alpha = 1e-9. The bound must not exceed the claim, and must exceed it for each planted fault.
"""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope, Marginal, marginal_name
from privrelease.dp.envelope_queries import Dependence
from privrelease.dp.envelope_records import Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.synthesis import dpcocgen, privbayes
from privrelease.synthesis.domain import CodedColumn, CodedDomain
from privrelease.synthesis.modl import search
from privrelease.units import Epsilon
from tests.depth import depth
from tests.statistical.bounds import epsilon_bound

CLAIM = 2
#: Fits of each table: always, and in the slow lane.
FITS = [pytest.param(400, id="400"), pytest.param(4000, marks=pytest.mark.slow, id="4000")]
#: Where every fit shows the fault, few do.
FEW = 180
CHOICES = 12_000

DOMAIN = CodedDomain(
    (CodedColumn("a", ("a0", "a1", "missing")), CodedColumn("b", ("b0", "missing")), CodedColumn("c", ("c0", "missing")))
)
BASE = np.array([[[6, 1], [0, 2]], [[1, 0], [7, 2]], [[0, 1], [0, 3]]])
MORE = BASE.copy()
MORE[0, 0, 0] += 1


class Exact:
    """Exact counts of every marginal."""

    def __init__(self, joint):
        self.joint = joint

    def rows(self, query):
        names = [name for name in DOMAIN.names if name in query.name.split(" x ")]
        assert marginal_name(names) == query.name
        return self.joint.sum(axis=tuple(at for at, name in enumerate(DOMAIN.names) if name not in names)).reshape(-1)


class Seen(Envelope):
    """Keeps each answer to a measurement next to its question."""

    def measure(self, query, loss):
        found = super().measure(query, loss)
        self.seen.append((query, found))
        return found


def envelope(joint, source, epsilon=CLAIM, neighbours=Neighbours.ADD_REMOVE):
    made = Seen(
        Reserved.of(Budget(Epsilon(epsilon))), Setting(Contribution(1), neighbours), Exact(joint), lambda _: None, source
    )
    made.seen = []
    return made


GRID = {"split": "1/2", "max_cells": 0, "refine": True}
NETWORK = {"theta": "1/4", "degree": None}


def fitted(method, joint, source, settings):
    """The envelope and the model of a fit."""
    opened = envelope(joint, source)
    return opened, method.fit(opened, DOMAIN, settings, lambda *_: None)


def all_high(opened, model):
    """Every answer with the added row is at least what it would be without noise: each is likelier with the row by exp(its epsilon)."""
    del model
    exact = [query.exact(Exact(MORE)) for query, _ in opened.seen]
    touched = [query.exact(Exact(MORE)) != query.exact(Exact(BASE)) for query, _ in opened.seen]
    return all((found >= counts)[at].all() for (_, found), counts, at in zip(opened.seen, exact, touched, strict=True))


def bound(method, settings, event, n, seed, tables=(MORE, BASE)):
    source = TestRandomness(seed)
    hits, misses = (sum(event(*fitted(method, joint, source, settings)) for _ in range(n)) for joint in tables)
    return epsilon_bound(hits, misses, n)


@pytest.fixture
def short_search(monkeypatch):
    """One start and no rounds: which grid is found is not what is tested."""
    monkeypatch.setattr(search, "_STARTS", 1)
    monkeypatch.setattr(search, "_MOST_ROUNDS", 0)


# ------------------------------------------------------------------------------------------------------------------ co-clustering


@pytest.mark.parametrize("n", FITS)
def test_co_clustering_spends_what_it_claims(short_search, n):
    assert 0 < bound(dpcocgen.DPCOCGEN, GRID, all_high, n, 1) < CLAIM


@pytest.mark.slow
def test_phase_two_at_the_full_epsilon_is_found(short_search, monkeypatch):
    """The ratio is exp(3) where exp(2) is claimed."""

    class Double(Seen):
        """The second measurement has the noise of the whole epsilon."""

        def measure(self, query, loss):
            if self.seen:
                found = query.exact(self._counts) + type(self).noise.sample(query.size, self._randomness)
                self.seen.append((query, found))
                return found
            return super().measure(query, loss)

    from privrelease.dp.mechanisms import DiscreteLaplace

    Double.noise = DiscreteLaplace.calibrated(sensitivity=1, epsilon=Epsilon(CLAIM).value)
    monkeypatch.setitem(globals(), "Seen", Double)
    assert bound(dpcocgen.DPCOCGEN, GRID, all_high, 4000, 2) > CLAIM


def test_co_clustering_of_exact_counts_is_found(short_search, monkeypatch):
    """One row decides whether two by two cells pay: the grid shows it in every fit."""

    def grid(many):
        joint = np.zeros((3, 2, 2), int)
        joint[0, 0, :] = joint[1, 1, :] = many, 1
        return joint

    def cells(joint):
        return search.cocluster(dpcocgen._frequencies(joint, DOMAIN)).best.cells

    with_structure = next(many for many in range(1, 60) if cells(grid(many)) > 1)
    more = grid(with_structure)
    fewer = more.copy()
    while cells(fewer) > 1:
        more, fewer = fewer, fewer.copy()
        fewer[0, 0, 0] -= 1
    assert (more - fewer).sum() == 1
    exact = iter(())
    real = dpcocgen._frequencies
    monkeypatch.setattr(dpcocgen, "_frequencies", lambda counted, domain: real(next(exact), domain))
    hits = misses = 0
    source = TestRandomness(3)
    for _ in range(FEW):
        exact = iter((more, fewer))
        hits += fitted(dpcocgen.DPCOCGEN, more, source, GRID)[1].level.cells > 1
        misses += fitted(dpcocgen.DPCOCGEN, fewer, source, GRID)[1].level.cells > 1
    assert epsilon_bound(hits, misses, FEW) > CLAIM


# ------------------------------------------------------------------------------------------------------------------------ networks


@pytest.mark.parametrize("n", FITS)
def test_a_network_spends_what_it_claims(n):
    assert 0 < bound(privbayes.PRIVBAYES, NETWORK, all_high, 2 * n, 4) < CLAIM


#: Two candidates of three columns, and a row of it that is replaced: one score rises and the other falls, 3.79 together.
BEFORE = np.array([[[0, 4], [0, 0], [0, 0]], [[72, 0], [0, 0], [0, 0]]])
AFTER = BEFORE.copy()
AFTER[0, 0, 1] -= 1
AFTER[0, 1, 0] += 1


class Sides:
    def __init__(self, joint):
        self._cells = {"a x b": joint.sum(axis=2).reshape(-1), "a x c": joint.sum(axis=1).reshape(-1)}

    def rows(self, query):
        return self._cells[query.name]


def chosen(joint, neighbours, n, seed):
    """How often the first of two candidates is chosen at epsilon 1."""
    offered = [Marginal("a x b", (2, 3)), Marginal("a x c", (2, 2))]
    scores, source, hits = [Dependence(0), Dependence(0)], TestRandomness(seed), 0
    for _ in range(n):
        opened = Envelope(
            Reserved.of(Budget(Epsilon(1))), Setting(Contribution(1), neighbours), Sides(joint), lambda _: None, source
        )
        hits += opened.select(offered, scores, Epsilon(1), grid=16) == 0
    return hits


def test_a_choice_spends_what_it_claims():
    n = depth(3_000, CHOICES)
    hits, misses = (chosen(joint, Neighbours.REPLACE, n, 5) for joint in (AFTER, BEFORE))
    assert 0 < epsilon_bound(hits, misses, n) < 1


def test_the_published_sensitivity_under_replace_is_found(monkeypatch):
    """1/n, which is that of PrivBayes's score for binary columns with n public, taken for R where a row is replaced."""
    monkeypatch.setattr(Dependence, "reach", 1)
    hits, misses = (chosen(joint, Neighbours.ADD_REMOVE, CHOICES, 6) for joint in (AFTER, BEFORE))
    assert epsilon_bound(hits, misses, CHOICES) > 1


def shows_n(opened, model):
    del opened
    return model.total == int(MORE.sum())


def degree(opened, model):
    del opened
    return max(len(one.parents) for one in model.network)


def with_total(model, exact):
    return lambda domain, network, total, limit: model(domain, network, exact, limit)


def of_exact(limit, exact):
    return lambda settings, total, error: limit(settings, exact, error)


def test_the_exact_number_of_rows_is_found(monkeypatch):
    honest = bound(privbayes.PRIVBAYES, NETWORK, shows_n, FEW, 7)
    assert honest < CLAIM
    real = privbayes.NetworkModel
    for joint, expected in ((MORE, True), (BASE, False)):
        monkeypatch.setattr(privbayes, "NetworkModel", with_total(real, int(joint.sum())))
        found = [shows_n(*fitted(privbayes.PRIVBAYES, joint, TestRandomness(8 + at), NETWORK)) for at in range(FEW)]
        assert found == [expected] * (FEW)
    assert epsilon_bound(FEW, 0, FEW) > CLAIM


def test_theta_of_the_exact_number_of_rows_is_found(monkeypatch):
    """A theta at which one row more makes a marginal of one cell more useful: which are offered shows it in every fit."""
    n = int(MORE.sum())
    error = privbayes.expected_error(Setting(Contribution(1)), Epsilon(CLAIM * privbayes._shares(3)[1]))
    # a marginal of two parents has 12 cells: useful from n rows on, and not from n - 1
    settings = {"theta": str(round((n - 0.5) / (12 * error) * 10**6) / 10**6), "degree": None}
    assert [privbayes._limit(settings, rows, error) for rows in (n, n - 1)] == [12, 11]
    assert bound(privbayes.PRIVBAYES, settings, lambda opened, model: degree(opened, model) == 2, FEW, 9) < CLAIM
    real = privbayes._limit
    for joint, expected in ((MORE, 2), (BASE, 1)):
        monkeypatch.setattr(privbayes, "_limit", of_exact(real, int(joint.sum())))
        found = [degree(*fitted(privbayes.PRIVBAYES, joint, TestRandomness(9 + at), settings)) for at in range(FEW)]
        assert found == [expected] * (FEW)
