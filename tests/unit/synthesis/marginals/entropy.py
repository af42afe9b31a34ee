"""Brute force for small domains: the least squares fit by active sets, then the distribution of maximum entropy with its marginals.

Nothing of the product but names of columns: every cell is listed, marginals are rows of a matrix. Which cells are 0 in every distribution
with the fitted marginals is found by a linear program, and the rest by Newton's method on the dual.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import optimize

from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.estimate import NoisyMarginal


def random_problem(rng, *, twice=False, zeros=False, most=200):
    """A domain of at most ``most`` cells, noisy marginals of up to three columns that contradict each other, and impossible cells."""
    while True:
        sizes = tuple(int(size) for size in rng.integers(2, 7, size=rng.integers(2, 5)))
        if np.prod(sizes) <= most:
            break
    domain = Domain(tuple("abcd"[: len(sizes)]), sizes)
    impossible = None
    weights = rng.dirichlet(np.full(int(np.prod(sizes)), 0.8)).reshape(sizes)
    if zeros:
        pair = domain.names[:2]
        mask = rng.random(domain.shape(pair)) < 0.25
        mask[0, 0] = False
        impossible = (pair, mask)
        weights = weights * ~domain.spread(mask, pair, domain.names)
        weights /= weights.sum()
    rows = int(rng.integers(400, 4000))
    data = rng.multinomial(rows, weights.reshape(-1)).reshape(sizes).astype(float)
    cliques = [c for ways in (1, 2, 3) for c in combinations(domain.names, ways)]
    picked = [cliques[i] for i in rng.permutation(len(cliques))[: rng.integers(1, 6)]]
    if twice:
        picked.append(picked[0])
    noisy = []
    for clique in picked:
        sigma = float(rng.choice([1.0, 2.0, 4.0]))
        exact = domain.project(data, domain.names, clique)
        noisy.append(NoisyMarginal(clique, exact + np.rint(rng.normal(0, sigma, exact.shape)), sigma**2))
    return domain, rows, noisy, impossible


def maximum_entropy(domain, rows, noisy, impossible=None):
    """The distribution over all cells."""
    cells = np.indices(domain.sizes).reshape(len(domain.sizes), -1)
    possible = np.ones(cells.shape[1], bool)
    if impossible is not None:
        names, mask = impossible
        possible = ~mask[tuple(cells[domain.names.index(name)] for name in names)]
    matrix, target = [], []
    for one in noisy:
        shape = domain.shape(one.clique)
        row = np.ravel_multi_index([cells[domain.names.index(name)] for name in one.clique], shape)
        block = np.zeros((int(np.prod(shape)), cells.shape[1]))
        block[row, np.arange(cells.shape[1])] = rows / np.sqrt(one.variance)
        matrix.append(block)
        target.append(one.counts.reshape(-1) / np.sqrt(one.variance))
    least = np.vstack(matrix)[:, possible] - np.concatenate(target)[:, None]  # homogeneous: q adds up to 1
    least /= np.abs(least).max()
    ones = np.ones((1, least.shape[1]))
    fitted, _ = optimize.nnls(np.vstack([least, ones]), np.append(np.zeros(len(least)), 1.0), maxiter=100_000)
    fitted /= fitted.sum()
    found = np.zeros(cells.shape[1])
    found[possible] = _flattest(np.vstack([np.vstack(matrix)[:, possible] / rows, ones]), fitted)
    return found.reshape(domain.sizes)


def _flattest(matrix, fitted):
    wanted, n = matrix @ fitted, len(fitted)
    # the largest support: p >= s with s in [0, 1], marginals scaled up as far as it takes
    program = optimize.linprog(
        np.concatenate([np.zeros(n), -np.ones(n), [0.0]]),
        A_ub=np.hstack([-np.eye(n), np.eye(n), np.zeros((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.hstack([matrix, np.zeros((len(matrix), n)), -wanted[:, None]]),
        b_eq=np.zeros(len(matrix)),
        bounds=[(0, None)] * n + [(0, 1)] * n + [(1, None)],
    )
    support = program.x[n : 2 * n] > 0.5
    on = matrix[:, support]
    dual = np.zeros(len(on))
    for _ in range(500):
        p = np.exp(dual @ on - 1)
        slope = on @ p - wanted
        if np.abs(slope).max() < 1e-13:
            break
        step = np.linalg.lstsq((on * p) @ on.T, -slope, rcond=1e-13)[0]
        length, here = 1.0, p.sum() - dual @ wanted
        while length > 1e-9:
            there = dual + length * step
            if np.exp(there @ on - 1).sum() - there @ wanted <= here + 1e-4 * length * (slope @ step) + 1e-15:
                break
            length /= 2
        dual = dual + length * step
    flat = np.zeros(n)
    flat[support] = np.exp(dual @ on - 1)
    return flat


def divergence(p, q):
    """KL(p || q) of two tables; infinite where q is 0 and p is not."""
    there = p > 0
    return float((p[there] * np.log(p[there] / np.maximum(q[there], 1e-300))).sum() - p.sum() + q.sum())
