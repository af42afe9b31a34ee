"""The maximum-entropy estimate of a distribution from noisy marginals, by mirror descent.

Objective
    L(p) = sum over measured marginals i of |N M_i p - y_i|^2 / (2 sigma_i^2) over distributions p without mass on structural zeros: up to a
    constant minus the log-likelihood of Gaussian noise. N is fixed: what the measurements say of it together (:func:`noisy_total`). The least L
    fixes the marginals of p alone; of all p with these the estimate is the one of maximum entropy. Measurements may contradict each other and
    may be negative: each counts by 1/sigma^2, and two of one marginal count as their mean weighted so.
Method
    Entropic mirror descent (Beck and Teboulle 2003; McKenna, Sheldon, Miklau 2019): log p moves against the gradient, which lies in the span of the
    measured marginals. So every iterate is a graphical model over the measured cliques, and its limit the one of maximum entropy. Steps
    are extrapolated (Nesterov 1983) and begin again where L rises (O'Donoghue and Candès 2015). The step size is held below the local
    curvature of L relative to the entropy (Bauschke, Bolte, Teboulle 2017): a step of displacement d has D_L(d) <= KL(d)/step.
Stopping rule
    The gap <grad, p> - min over cells of grad bounds L - min L (Frank and Wolfe 1956); it is found by messages of minima. Descent ends
    where the gap is at most ``tolerance`` (in nats of log-likelihood), or where twenty evaluations lower L by less than a hundredth of it,
    or after ``most`` evaluations. The gap that was reached is returned.
    With ``enough`` it ends earlier, where L is at most that share of half the number of measured cells, which is what the noise alone makes of L at
    the true distribution (the discrepancy principle, Morozov 1966; of maximum entropy Gull and Skilling 1984). Closer is fitting noise: counts of
    cells without rows become positive. The share follows from the measurements (:mod:`privrelease.synthesis.marginals.stopping`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.synthesis.marginals.domain import maximal
from privrelease.synthesis.marginals.junction_tree import joint_or_tree
from privrelease.synthesis.marginals.model import GraphicalModel, calibrated, least
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.synthesis.marginals.domain import Clique, Domain, Table
    from privrelease.synthesis.marginals.junction_tree import JunctionTree
    from privrelease.synthesis.marginals.model import Beliefs, Zero

__all__ = ["Estimate", "NoisyMarginal", "estimate", "noisy_total"]

#: Evaluations between two looks at the gap.
_LOOK: Final = 20
#: Evaluations of a fit that is limited by its work.
_FEWEST: Final = 10
#: Growth of the step: at first until the curvature is met, then slowly, since a step that is too long costs the momentum.
_SEEK, _GROW, _SHRINK = 2.0, 1.003, 4.0
#: A relative difference that float64 sums cannot tell apart.
_NOTHING: Final = 1e-13


@dataclass(frozen=True, eq=False, slots=True)
class NoisyMarginal:
    """A measurement: noisy counts by cell of a clique. ``variance``: of each cell, or one of all (rows squared, above 0)."""

    clique: Clique
    counts: Table
    variance: float | Table

    @property
    def spread(self) -> float:
        """The variance of the sum of all cells."""
        return float(np.broadcast_to(self.variance, self.counts.shape).sum())


@dataclass(frozen=True, eq=False, slots=True)
class Estimate:
    """A model with what its fit reached. ``gap``: at least L - min L, in nats; ``step``: the last step size, to go on from."""

    model: GraphicalModel
    loss: float
    gap: float
    evaluations: int
    step: float


def noisy_total(noisy: Sequence[NoisyMarginal]) -> float:
    """Return the unbiased total of least variance among weighted means of the sums of the measurements, at least 1.

    >>> import numpy as np
    >>> both = [NoisyMarginal(("a",), np.array([40.0, 62.0]), 4.0), NoisyMarginal(("b",), np.full(8, 12.0), 4.0)]
    >>> round(noisy_total(both), 6)  # 102 and 96, weights 4 to 1
    100.8
    """
    weights = [1.0 / one.spread for one in noisy]
    sums = [float(one.counts.sum()) * weight for one, weight in zip(noisy, weights, strict=True)]
    return max(1.0, sum(sums) / sum(weights))


def estimate(
    domain: Domain,
    noisy: Sequence[NoisyMarginal],
    *,
    zeros: Sequence[Zero] = (),
    total: float | None = None,
    start: Estimate | None = None,
    most: int = 2000,
    work: int | None = None,
    enough: float = 0.0,
    tolerance: float = 0.1,
) -> Estimate:
    """Return the estimate of a domain from at least one noisy marginal.

    ``start``: an estimate from a part of the measurements, to go on from. ``work``: potentials that may be computed in all, where that is less than
    ``most`` evaluations, but never fewer than ten; a large model gets fewer. Raises ValueError where zeros leave no cell.
    """
    objective = _Objective(domain, noisy, zeros, noisy_total(noisy) if total is None else total)
    potentials = objective.folded({} if start is None else start.model.potentials)
    step = 1.0 / objective.steepest if start is None else start.step
    if work is not None:
        most = min(most, max(_FEWEST, work // objective.tree.cells))
    return _descent(objective, potentials, step, most, tolerance, enough * sum(one.counts.size for one in noisy) / 2)


class _Objective:
    """L and its gradient as tables of the maximal measured cliques, which are the cliques of the model."""

    def __init__(self, domain: Domain, noisy: Sequence[NoisyMarginal], zeros: Sequence[Zero], total: float) -> None:
        self.domain, self.zeros, self.total = domain, zeros, total
        self.cliques = maximal(one.clique for one in noisy)
        self.tree: JunctionTree = joint_or_tree(domain, [*self.cliques, *(zero.clique for zero in zeros)])
        self.by_clique: dict[Clique, list[NoisyMarginal]] = {clique: [] for clique in self.cliques}
        for one in _merged(noisy):
            self.by_clique[self.owner(one.clique)].append(one)
        #: A bound on the curvature of L along any move of probability.
        self.steepest = total * sum(1.0 / float(np.min(one.variance)) for one in noisy)

    def owner(self, clique: Clique) -> Clique:
        return next(one for one in self.cliques if set(clique) <= set(one))

    def folded(self, potentials: Mapping[Clique, Table]) -> dict[Clique, Table]:
        """Return potentials of the model's cliques with the same product as ``potentials``."""
        found = {clique: np.zeros(self.domain.shape(clique)) for clique in self.cliques}
        for clique, table in potentials.items():
            owner = self.owner(clique)
            found[owner] += self.domain.spread(table, clique, owner)
        return found

    def at(self, potentials: Mapping[Clique, Table]) -> _Point:
        beliefs = calibrated(self.tree, potentials, self.zeros)
        loss = 0.0
        marginals: dict[Clique, Table] = {}
        gradient: dict[Clique, Table] = {}
        for clique, measured in self.by_clique.items():
            marginal = marginals[clique] = self.total * beliefs.marginal(clique)
            slope = np.zeros(marginal.shape)
            for one in measured:
                residual = self.domain.project(marginal, clique, one.clique) - one.counts
                pull = residual / one.variance
                loss += 0.5 * float(np.vdot(residual, pull))
                slope += self.domain.spread(pull, one.clique, clique)
            gradient[clique] = slope
        return _Point(potentials, beliefs, marginals, loss, gradient)

    def curved(self, here: _Point, there: _Point) -> float:
        """Return L(there) - L(here) - <grad L(here), there - here>: half the squared distance, since L is quadratic."""
        found = 0.0
        for clique, measured in self.by_clique.items():
            moved = there.marginals[clique] - here.marginals[clique]
            for one in measured:
                part = self.domain.project(moved, clique, one.clique)
                found += 0.5 * float(np.vdot(part, part / one.variance))
        return found

    def divergence(self, here: _Point, there: _Point) -> float:
        """Return N KL(there || here), to the last digits of its terms."""
        found = self.total * (here.beliefs.log_partition - there.beliefs.log_partition)
        size = abs(found)
        for clique in self.cliques:
            part = float(np.vdot(there.potentials[clique] - here.potentials[clique], there.marginals[clique]))
            found, size = found + part, size + abs(part)
        return found + _NOTHING * size

    def gap(self, point: _Point) -> float:
        spent = sum(float(np.vdot(point.gradient[clique], point.marginals[clique])) for clique in self.cliques)
        return spent - self.total * least(self.tree, point.gradient, self.zeros)


@dataclass(frozen=True, eq=False, slots=True)
class _Point:
    potentials: Mapping[Clique, Table]
    beliefs: Beliefs
    marginals: dict[Clique, Table]
    loss: float
    gradient: dict[Clique, Table]


def _merged(noisy: Sequence[NoisyMarginal]) -> list[NoisyMarginal]:
    """Return one measurement a clique: the mean weighted by 1/variance, which has the same L but for a constant."""
    by_clique: dict[Clique, list[NoisyMarginal]] = {}
    for one in noisy:
        by_clique.setdefault(one.clique, []).append(one)
    merged = []
    for clique, several in by_clique.items():
        weight = sum(1.0 / one.variance for one in several)
        counts = np.sum([one.counts / one.variance for one in several], axis=0) / weight
        merged.append(NoisyMarginal(clique, counts, 1.0 / weight))
    return merged


def _descent(
    objective: _Objective, potentials: dict[Clique, Table], step: float, most: int, tolerance: float, enough: float
) -> Estimate:
    cliques, total = objective.cliques, objective.total
    here = objective.at(potentials)  # the extrapolated point
    last: Mapping[Clique, Table] = potentials
    momentum, evaluations, looked, met = 0, 1, here.loss, False
    gap = objective.gap(here)
    while gap > tolerance and here.loss > enough and evaluations < most and step > 0:
        pull = momentum / (momentum + 3.0)
        stepped = {clique: here.potentials[clique] - step * here.gradient[clique] for clique in cliques}
        there = objective.at({clique: stepped[clique] + pull * (stepped[clique] - last[clique]) for clique in cliques})
        evaluations += 1
        curved, entropy = objective.curved(here, there), objective.divergence(here, there)
        short = curved * step <= entropy or not curved  # marginals that agree to the last digit say nothing against a step
        if there.loss <= here.loss * (1 + _NOTHING):
            here, last, momentum = there, stepped, momentum + 1
        elif short and momentum:
            last, momentum = here.potentials, 0
        if short:
            step *= _GROW if met else _SEEK
        else:
            met = True
            step = max(step / _SHRINK, min(step / 1.3, entropy / curved))
        if evaluations % _LOOK == 0:
            gap = objective.gap(here)
            if looked - here.loss < tolerance / 100:
                break
            looked = here.loss
    model = GraphicalModel(objective.tree, total, here.potentials, tuple(objective.zeros), [here.beliefs])
    return Estimate(model, here.loss, objective.gap(here), evaluations, step)
