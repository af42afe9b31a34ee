"""The end of a fit of noisy marginals: the noise is split, and the fit to one part is judged by the other.

A model that comes too close fits noise: counts of cells without rows become positive. A model that stays too far lacks structure that was paid for.
Which share of the expected misfit is best depends on the table: 0.1 and less where all cells hold many rows, 0.6 where most hold none
(benchmarks/stopping.py). So it is not a constant.

Method
    Fission of Gaussian data (Rasines and Young 2023; Leiner, Duan, Wasserman, Ramdas 2025; thinning of Neufeld and others 2024). Of noisy counts y
    with variance s^2 and fresh z of the same law, y + t z and y - z / t are independent, with variances (1 + t^2) s^2 and (1 + 1/t^2) s^2, and both are
    unbiased. The descent goes down on the first, from the columns that were measured alone, taken as independent; at each of ten shares of its expected misfit, half the measured
    cells, the squared distance to the second is an unbiased estimate of the error of the model's marginals, up to a constant. The share of
    the least one is returned. With t = 1/2 the first part has 1.25 of the variance of y.
    The noise of measurements is discrete Gaussian; what the law of z lacks in likeness touches quality alone.

All of it is post-processing of noisy counts. z follows from a hash of them, so that equal answers give equal models.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.synthesis.marginals.estimate import Estimate, NoisyMarginal, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.synthesis.marginals.domain import Domain
    from privrelease.synthesis.marginals.model import Zero

__all__ = ["SHARES", "estimate_that_stops", "stopping_share"]

#: Shares that are tried, on the way down.
SHARES: Final = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
#: Noise that is added to the part that is fitted, in standard deviations of the measurements.
_ADDED: Final = 0.5


def stopping_share(
    domain: Domain,
    noisy: Sequence[NoisyMarginal],
    *,
    zeros: Sequence[Zero] = (),
    most: int = 2000,
    work: int | None = None,
    tolerance: float = 0.1,
) -> float:
    """Return the share of the expected misfit at which a fit of these measurements should end, one of SHARES.

    ``most``, ``work``, ``tolerance``: as of :func:`~privrelease.synthesis.marginals.estimate.estimate`, of each step between two shares.

    >>> from privrelease.synthesis.marginals.domain import Domain
    >>> alone = [NoisyMarginal((name,), np.array([510.0, 510.0]), 1.0) for name in "ab"]
    >>> pair = NoisyMarginal(("a", "b"), np.array([[500.0, 10.0], [10.0, 500.0]]), 1.0)
    >>> stopping_share(Domain(("a", "b"), (2, 2)), [*alone, pair])  # few cells of many rows: to the end
    0.0
    """
    bits = np.random.Generator(np.random.PCG64(_seed(noisy)))  # of what is public by then: its bits are part of no guarantee
    fitted, held = [], []
    for one in noisy:
        noise = bits.standard_normal(one.counts.shape) * np.sqrt(one.variance)
        fitted.append(NoisyMarginal(one.clique, one.counts + _ADDED * noise, one.variance * (1 + _ADDED**2)))
        held.append(NoisyMarginal(one.clique, one.counts - noise / _ADDED, one.variance * (1 + _ADDED**-2)))
    fit = _independent(domain, fitted, zeros, most, work, tolerance)
    errors = []
    for share in SHARES:
        fit = estimate(domain, fitted, zeros=zeros, start=fit, most=most, work=work, enough=share, tolerance=tolerance)
        errors.append(sum(_misfit(fit, one) for one in held))
    return SHARES[int(np.argmin(errors))]


def estimate_that_stops(
    domain: Domain,
    noisy: Sequence[NoisyMarginal],
    *,
    zeros: Sequence[Zero] = (),
    most: int = 2000,
    work: int | None = None,
    tolerance: float = 0.1,
) -> Estimate:
    """Return the estimate whose descent from independent columns ends at :func:`stopping_share`. The arguments are those of ``estimate``."""
    part = None if work is None else work // len(SHARES)
    share = stopping_share(domain, noisy, zeros=zeros, most=most // len(SHARES), work=part, tolerance=tolerance)
    start = _independent(domain, noisy, zeros, most, part, tolerance)
    return estimate(domain, noisy, zeros=zeros, start=start, most=most, work=work, enough=share, tolerance=tolerance)


def _independent(
    domain: Domain, noisy: Sequence[NoisyMarginal], zeros: Sequence[Zero], most: int, work: int | None, tolerance: float
) -> Estimate | None:
    """Return the estimate from measurements of single columns, where a descent begins; None where there is none."""
    alone = [one for one in noisy if len(one.clique) == 1]
    return estimate(domain, alone, zeros=zeros, most=most, work=work, tolerance=tolerance) if alone else None


def _misfit(fit: Estimate, one: NoisyMarginal) -> float:
    residual = fit.model.marginal(one.clique) - one.counts
    return 0.5 * float(np.vdot(residual, residual / one.variance))


def _seed(noisy: Sequence[NoisyMarginal]) -> int:
    """Return a number that follows from the measurements alone."""
    hashed = hashlib.blake2b(digest_size=16, person=b"fission")
    for one in noisy:
        hashed.update(repr(one.clique).encode())
        hashed.update(np.rint(one.counts).astype("<i8").tobytes())
    return int.from_bytes(hashed.digest())
