"""Faults planted in the product and looked for in what it releases: every mutant of the noise is rejected from the published file alone.

The law that released figures must follow is worked out here by hand from the policy (max_rows / epsilon and the like), not read from the claim,
which a fault in a sensitivity would change as well. Counts by N declared keys of a data set without rows are N draws of one law. Chi-square on
bins of at least 1/40 of them, correlations against their normal bound, alpha = 1e-9 a test; the power against each mutant is asserted to
be at least 0.99 (for scales by the non-central law; what is drawn twice is correlated by a half or more, many bounds away).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from privrelease.cli.main import main
from privrelease.dp import draws, sensitivity
from privrelease.dp.conversion import rho_within
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours
from tests.statistical.door import planted

ALPHA = 1e-9
N = 4_000
M = 2
POLICY = f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    population: everybody
    unit: {{column: id, max_rows: {M}}}
    columns:
      id: {{role: direct, type: string}}
      k: {{role: quasi, type: integer, domain: [1, {N}]}}
releases:
  - id: s
    kind: statistics
    from: d
    neighbours: RELATION
    budget: {{epsilon: 3, delta: 1e-5, accounting: approximate}}
    queries:
      - {{id: laplace, count: true, by: [k], epsilon: 1}}
      - {{id: again, count: true, by: [k], epsilon: 1}}
      - {{id: gaussian, count: true, by: [k], epsilon: 1, mechanism: gaussian}}
    output: out/s.parquet
"""
RHO = rho_within(Fraction(1), Fraction("1e-5"))
#: b = L1 / epsilon and sigma^2 = L2^2 / (2 rho), for one person's rows, and for those of two.
LAWS = {
    "add_remove": {"laplace": DiscreteLaplace(Fraction(M)), "gaussian": DiscreteGaussian(M * M / (2 * RHO))},
    "replace": {"laplace": DiscreteLaplace(Fraction(2 * M)), "gaussian": DiscreteGaussian(2 * M * M / (2 * RHO))},
}


def released(relation, *faults):
    """The figures of each query of one run."""
    folder = Path.cwd()
    (folder / "p.yaml").write_text(POLICY.replace("RELATION", relation), encoding="utf-8")
    (folder / "data.csv").write_text("id,k\n", encoding="utf-8")
    with planted(*faults):
        assert main(["run", "p.yaml", "--test-noise", "5", "-q"]) == 1
    table = pq.read_table(max(folder.glob(".privrelease/quarantine/*")) / "outgoing" / "s.parquet")
    names, values = np.array(table.column("query")), np.array(table.column("value"))
    return {name: np.rint(values[names == name]).astype(int) for name in ("laplace", "again", "gaussian")}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def scaled(noise, factor):
    return type(noise)(noise.scale * (factor if isinstance(noise, DiscreteLaplace) else factor**2))


@cache
def values_and_masses(noise):
    reach = int(14 * noise.standard_deviation()) + 20
    values = np.arange(-reach, reach + 1)
    return values, np.array([noise.probability(int(value)) for value in values])


def edges_of(noise):
    values, mass = values_and_masses(noise)
    edges, gathered = [], 0.0
    for value, part in zip(values, mass, strict=True):
        gathered += part
        if gathered >= 1 / 40:
            edges.append(value)
            gathered = 0.0
    return np.array(edges[:-1])


def binned(noise, edges):
    values, mass = values_and_masses(noise)
    return np.bincount(np.searchsorted(edges, values), weights=mass, minlength=edges.size + 1)


def p_value(sample, noise):
    edges = edges_of(noise)
    expected = binned(noise, edges) * sample.size
    found = np.bincount(np.searchsorted(edges, sample), minlength=edges.size + 1)
    return float(stats.chi2.sf(((found - expected) ** 2 / expected).sum(), edges.size))


def power(noise, mutant):
    edges = edges_of(noise)
    p, r = binned(noise, edges), binned(mutant, edges)
    return float(stats.ncx2.sf(stats.chi2.isf(ALPHA, edges.size), edges.size, N * ((r - p) ** 2 / p).sum()))


def correlated(figures):
    """Whether neighbouring cells, or two queries, move together more than independent noise would."""
    bound = stats.norm.isf(ALPHA / 2) / math.sqrt(N)
    centred = {name: values - values.mean() for name, values in figures.items()}
    pairs = [(one[:-1], one[1:]) for one in centred.values()]
    pairs += [(centred["laplace"], centred["again"]), (centred["laplace"], centred["gaussian"])]
    return any(abs(np.corrcoef(left, right)[0, 1]) > bound for left, right in pairs)


@pytest.mark.parametrize("relation", LAWS)
def test_as_built_released_noise_follows_the_law_of_the_policy_each_draw_its_own(relation):
    figures = released(relation)
    assert all(p_value(figures[name], noise) > ALPHA for name, noise in LAWS[relation].items())
    assert not correlated(figures)


def added(change):
    real = draws.add_noise
    return (draws, "add_noise", lambda noise, values, source: real(change(noise), values, source))


def counted(contribution, relation, real=sensitivity.of_group_counts):
    return real(contribution, relation)


MUTANTS = {
    "scale x 0.8": ("add_remove", added(lambda noise: scaled(noise, Fraction(4, 5))), Fraction(4, 5)),
    "scale x 1.25": ("add_remove", added(lambda noise: scaled(noise, Fraction(5, 4))), Fraction(5, 4)),
    "a sensitivity off by one row": (
        "add_remove",
        (sensitivity, "of_group_counts", lambda _, relation: counted(Contribution(M - 1), relation)),
        Fraction(M - 1, M),
    ),
    "noise for add and remove under replace": (
        "replace",
        (sensitivity, "of_group_counts", lambda contribution, _: counted(contribution, Neighbours.ADD_REMOVE)),
        None,
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_noise_of_another_size_is_rejected(name):
    relation, fault, factor = MUTANTS[name]
    figures = released(relation, fault)
    for kind, noise in LAWS[relation].items():
        mutant = LAWS["add_remove"][kind] if factor is None else scaled(noise, factor)
        assert power(noise, mutant) >= 0.99
        assert p_value(figures[kind], noise) < ALPHA
        assert p_value(figures[kind], mutant) > ALPHA  # and it is rejected for what was planted


def repeated(noise, values, source, real=draws.add_noise):
    noised = real(noise, [0] * len(values), source)
    return tuple(value + noised[place - place % 2] for place, value in enumerate(values))


def shared(noise, values, _, real=draws.add_noise):
    return real(noise, values, TestRandomness(7))


@pytest.mark.parametrize("fault", [repeated, shared])
def test_a_draw_that_is_used_twice_is_rejected(fault):
    assert correlated(released("add_remove", (draws, "add_noise", fault)))
