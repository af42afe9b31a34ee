"""Where a fit ends: the two parts of the noise are independent, the share follows from the table, and equal measurements give the same one."""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.synthesis.marginals import stopping
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.estimate import NoisyMarginal, estimate
from privrelease.synthesis.marginals.stopping import SHARES, estimate_that_stops, stopping_share

#: Two columns of twelve values, and their pair.
DOMAIN = Domain(("a", "b"), (12, 12))


def measured(joint, deviation, seed):
    rng = np.random.default_rng(seed)
    tables = {("a",): joint.sum(1), ("b",): joint.sum(0), ("a", "b"): joint}
    return [
        NoisyMarginal(clique, np.rint(table + rng.normal(0, deviation, table.shape)), deviation**2)
        for clique, table in tables.items()
    ]


def sparse(rows):
    """All rows on the diagonal."""
    return np.diag(np.full(12, rows / 12))


def dense(rows):
    """Every cell far from its product of margins, and full."""
    return rows / 144 * (1 + 0.9 * np.sin(np.add.outer(np.arange(12) ** 2, 5 * np.arange(12))))


def test_a_table_whose_cells_hold_many_rows_is_fitted_to_the_end():
    assert stopping_share(DOMAIN, measured(dense(200_000), 3.0, 1)) <= 0.1


def test_a_table_of_mostly_empty_cells_is_not():
    """40 of 1,600 cells hold rows."""
    noisy = measured(np.diag(np.full(40, 100.0)), 8.0, 1)
    assert stopping_share(Domain(("a", "b"), (40, 40)), noisy, tolerance=10.0) >= 0.3


@pytest.mark.parametrize(("joint", "deviation"), [(sparse(1200), 8.0), (dense(20_000), 8.0), (dense(1000), 8.0)])
def test_its_model_is_nearly_as_near_to_the_truth_as_that_of_the_best_share(joint, deviation):
    ratios = []
    for seed in range(4):
        noisy = measured(joint, deviation, seed)
        start = estimate(DOMAIN, noisy[:2])
        errors = [error(estimate(DOMAIN, noisy, start=start, enough=share), joint) for share in SHARES]
        ratios.append(error(estimate_that_stops(DOMAIN, noisy), joint) / min(errors))
    assert np.mean(ratios) < 1.15


def error(fit, joint):
    return float(np.abs(fit.model.marginal(("a", "b")) - joint).sum())


def test_equal_measurements_give_the_same_share_and_model():
    one, two = (measured(sparse(1200), 8.0, 3) for _ in range(2))
    assert stopping_share(DOMAIN, one) == stopping_share(DOMAIN, two)
    table = estimate_that_stops(DOMAIN, one).model.marginal(("a", "b"))
    assert (table == estimate_that_stops(DOMAIN, two).model.marginal(("a", "b"))).all()


def test_what_is_fitted_and_what_judges_it_are_uncorrelated_and_unbiased(monkeypatch):
    """Of 4,000 measured cells: means within 5 standard errors, variances within 10 %, correlation below 0.08."""
    domain = Domain(("a",), (4000,))
    noise = np.random.default_rng(7).normal(0, 6, 4000)
    seen = {}
    kept = stopping._misfit

    def judging(fit, one):
        seen["held"] = one
        return kept(fit, one)

    def fitting(domain, noisy, **others):
        seen["fitted"] = noisy[0]
        return estimate(domain, noisy, most=1)

    monkeypatch.setattr(stopping, "_misfit", judging)
    monkeypatch.setattr(stopping, "estimate", fitting)
    stopping_share(domain, [NoisyMarginal(("a",), 500 + noise, 36.0)])
    fitted, held = (seen[name].counts - 500 for name in ("fitted", "held"))
    assert abs(np.corrcoef(fitted, held)[0, 1]) < 0.08
    for one, name in ((fitted, "fitted"), (held, "held")):
        assert abs(one.mean()) < 5 * one.std() / 63
        assert one.var() == pytest.approx(seen[name].variance, rel=0.1)
    assert (seen["fitted"].variance, seen["held"].variance) == (45.0, 180.0)


def test_columns_alone_are_where_a_descent_begins_and_one_pair_does_without():
    pair = measured(dense(20_000), 8.0, 2)[2:]
    assert estimate_that_stops(DOMAIN, pair).model.marginal(("a", "b")).shape == (12, 12)
