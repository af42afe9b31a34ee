"""Individual risk with sampling weights: the chance of picking the right person of the population class, given what the sample shows.

Of a class with f records in the sample and estimated population size F̂ = Σ weights, the population size F is taken as negative binomial given f,
with success probability p = f/F̂; the risk of each of its records is E[1/F | f]. With q = 1-p,

    E[1/F | f] = p ∫_0^1 s^(f-1) / (p + q s) ds,

for f = 1: (p/q) ln(1/p); f = 2: p/q - (p/q)² ln(1/p). This integral is the ``exact`` method, and holds for fractional f too (as ``alpha`` < 1 gives).
``approximate`` is what sdcMicro reports: for f > 2, p/(f-q). They are different numbers: name which.
Source: Benedetti and Franconi, Statistical and technological solutions for controlled data dissemination (1998); Franconi and Polettini (2004);
case k09; `reference/sdcmicro/README.md`, whose faults are excluded here: a risk of 0 for 1 < f < 2, risks above 1 for weights below 1. The sample
is part of the population, so F̂ < f counts as f, and the risk is 1/f.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GlobalRisk", "RiskMethod", "global_risk", "household_risk", "individual_risk"]

RiskMethod = Literal["exact", "approximate"]

_PANELS = 20
_NODES = 16
_BLOCK = 4096


def individual_risk(
    f: NDArray[np.float64] | NDArray[np.int64],
    population: NDArray[np.float64] | NDArray[np.int64],
    method: RiskMethod = "exact",
) -> NDArray[np.float64]:
    """Individual risk of the records of each class: (J,) in (0, 1], from f and F̂, (J,) each. Relative error below 1e-12.

    Errors: ValueError for f below 1, for an F̂ that is not finite, for shapes that differ.

    >>> individual_risk(np.array([2, 1, 3]), np.array([300.0, 90.0, 150.0])).round(8).tolist()
    [0.00648572, 0.05055966, 0.00982084]
    >>> individual_risk(np.array([3]), np.array([150.0]), "approximate").round(8).tolist()
    [0.00990099]
    """
    ours, theirs = np.asarray(f, np.float64), np.asarray(population, np.float64)
    if ours.shape != theirs.shape or ours.ndim != 1:
        msg = "f and the population sizes must be arrays of one length"
        raise ValueError(msg)
    if not bool(np.all(np.isfinite(theirs)) and np.all(ours >= 1)):
        msg = "f must be at least 1, population sizes finite"
        raise ValueError(msg)
    pairs, where = np.unique(np.stack([ours, np.maximum(ours, theirs)]), axis=1, return_inverse=True)
    size, p = pairs[0], pairs[0] / pairs[1]
    if method == "approximate":
        risk = p / (size - (1 - p))
        small = size <= 2
        risk[small] = _expected_reciprocal(size[small], p[small])
    else:
        risk = _expected_reciprocal(size, p)
    return np.asarray(risk[np.asarray(where).reshape(-1)], np.float64)


def _expected_reciprocal(f: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Integrate p ∫_0^∞ e^(-fy) / (p + q e^(-y)) dy (s = e^(-y)), by Gauss-Legendre panels: the integrand's poles are π away from the axis."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    panels = (np.arange(_PANELS)[:, None] + (nodes + 1) / 2).ravel() / _PANELS
    panel_weights = np.tile(weights / 2, _PANELS) / _PANELS
    risk = np.empty(len(f))
    for begin in range(0, len(f), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        fs, ps = f[block, None], p[block, None]
        end = (36 - np.log(ps)) / fs
        y = end * panels
        values = np.exp(-fs * y) / (ps + (1 - ps) * np.exp(-y))
        risk[block] = (ps * end)[:, 0] * (values @ panel_weights)
    return risk


@dataclass(frozen=True, slots=True)
class GlobalRisk:
    """``expected``: expected number of re-identifications, the sum of individual risks. ``records``: n."""

    expected: float
    records: int

    @property
    def share(self) -> float | None:
        """Expected share of records re-identified; None without a record."""
        return self.expected / self.records if self.records else None


def global_risk(risk: NDArray[np.float64], records: NDArray[np.int64]) -> GlobalRisk:
    """Sum the individual risk of classes, (J,), over their records, (J,).

    >>> round(global_risk(np.array([0.5, 0.1]), np.array([1, 5])).expected, 6)
    1.0
    """
    return GlobalRisk(float(np.dot(risk, records)), int(records.sum()))


def household_risk(risk: NDArray[np.float64], household: NDArray[np.int64]) -> NDArray[np.float64]:
    """Chance that some member of the household is re-identified, 1 - Π(1 - r): (n,) from the members' risk and household, (n,) each.

    >>> household_risk(np.array([0.5, 0.5, 0.25]), np.array([7, 7, 9])).round(12).tolist()
    [0.75, 0.75, 0.25]
    """
    _, where = np.unique(household, return_inverse=True)
    certain = np.bincount(where, weights=risk >= 1) > 0
    logarithms = np.bincount(where, weights=np.log1p(-np.where(risk >= 1, 0.0, risk)))
    return np.asarray(np.where(certain, 1.0, -np.expm1(logarithms))[where], np.float64)
