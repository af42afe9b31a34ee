"""What counts prove of privacy: Clopper-Pearson bounds at alpha = 1e-9 on both probabilities of an event that was fixed beforehand."""

from __future__ import annotations

import math

from scipy import stats

ALPHA = 1e-9


def lower(hits, n):
    """The probability is at least this."""
    return float(stats.beta.ppf(ALPHA / 2, hits, n - hits + 1)) if hits else 0.0


def upper(hits, n):
    """The probability is at most this."""
    return float(stats.beta.isf(ALPHA / 2, hits + 1, n - hits)) if hits < n else 1.0


def epsilon_bound(hits, misses, n):
    """A lower bound on epsilon, of ``hits`` of n releases of one table and ``misses`` of n of its neighbour in the event."""
    low = lower(hits, n)
    return math.log(low / upper(misses, n)) if low else 0.0


def delta_bound(hits, misses, n, epsilon):
    """A lower bound on delta at ``epsilon``."""
    return lower(hits, n) - math.exp(epsilon) * upper(misses, n)


def has_power(p, r, n, beyond):
    """Whether with probability 0.99 the bound from (p, r) lies beyond the claim: at the unlucky 0.5 % quantile of each count."""
    return beyond(stats.binom.ppf(0.005, n, p), stats.binom.ppf(0.995, n, r))
