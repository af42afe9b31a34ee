"""MST: a spanning tree of pairs of columns (McKenna, Miklau, Sheldon 2021).

Algorithm
    A third of rho measures every column. Pairs are then chosen, each as the one whose counts are furthest from the product of its columns, among
    those that join parts of the graph not yet joined, until all columns are (a third, in equal parts). The last third measures the
    pairs chosen. The model is the maximum-entropy estimate from both.
Rare values
    Cells of a column whose noisy count is below three sigma are counted as one in what follows. Records get one of them by their noisy
    counts, those below 0 never (the paper: evenly, which is worse where a dozen values of very different frequency are rare). What is rare, and how much,
    is read from noisy counts alone. Columns that a structural zero of several columns names keep their cells.
Score
    |g M_ab(D) - s_ab|_1, g = 16 steps a row and s_ab the product model in whole steps: one person changes it by at most g m, m = max_rows under add or
    remove, as proven for :mod:`privrelease.synthesis.marginals.aim` with weight 1.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.synthesis.marginals.asking import Door
from privrelease.synthesis.marginals.domain import Domain
from privrelease.synthesis.marginals.draw import assigned
from privrelease.synthesis.marginals.estimate import NoisyMarginal, estimate
from privrelease.synthesis.marginals.model import Zero
from privrelease.synthesis.marginals.stopping import estimate_that_stops
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.dp.envelope import Marginal
    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.marginals.domain import Clique, Table
    from privrelease.synthesis.marginals.estimate import Estimate

__all__ = ["RARE", "Coarsening", "coarsening", "mst"]

#: Noisy counts below so many standard deviations of their noise are rare.
RARE: Final = 3
_EVALUATIONS: Final = 2000


@dataclass(frozen=True, eq=False, slots=True)
class Coarsening:
    """Cells of columns that are counted as one. ``labels``: by column the coarse cell of each cell; a column without one keeps its cells.

    ``weights``: by column, of each cell, in proportion to which it represents its coarse cell.
    """

    domain: Domain
    coarse: Domain
    labels: Mapping[str, NDArray[np.int64]]
    weights: Mapping[str, Table]

    def query(self, query: Callable[[Clique], Marginal]) -> Callable[[Clique], Marginal]:
        """Return queries of the same counts, summed to coarse cells."""

        def merged(clique: Clique) -> Marginal:
            return replace(
                query(clique), merged=tuple(tuple(self.labels[name].tolist()) if name in self.labels else () for name in clique)
            )

        return merged

    def noisy(self, one: NoisyMarginal) -> NoisyMarginal:
        """Return the measurement of one column in coarse cells: sums, with the sums of their variances."""
        (name,) = one.clique
        labels = self.labels.get(name)
        if labels is None:
            return one
        cells: Table = np.bincount(labels).astype(np.float64) * float(np.max(one.variance))
        return NoisyMarginal(one.clique, np.bincount(labels, one.counts).astype(np.float64), cells)

    def zero(self, one: Zero) -> Zero:
        """Return a structural zero in coarse cells."""
        labels = self.labels.get(one.clique[0]) if len(one.clique) == 1 else None
        return one if labels is None else Zero(one.clique, np.bincount(labels, one.impossible) > 0)

    def refined(self, codes: NDArray[np.int32], randomness: Randomness) -> NDArray[np.int32]:
        """Return codes of the domain for those of the coarse one: of each coarse cell one of its cells, rounded and in random order."""
        found = codes.copy()
        for name, labels in self.labels.items():
            place = self.domain.names.index(name)
            table = np.zeros((int(labels.max()) + 1, len(labels)))
            table[labels, np.arange(len(labels))] = self.weights[name]
            sums = table.sum(axis=1, keepdims=True)
            table /= np.where(sums > 0, sums, 1.0)
            found[:, place] = assigned(table, codes[:, place].astype(np.int64), randomness)
        return found


def coarsening(domain: Domain, noisy: Sequence[NoisyMarginal], zeros: Sequence[Zero] = ()) -> Coarsening:
    """Return the coarsening of columns by their noisy counts; where fewer than two cells are rare there is nothing to sum.

    The cells that are not rare come first, in their order, and then the one of all that are. Impossible cells of a column are not rare; columns
    of zeros over several keep their cells.
    """
    kept = {name for zero in zeros if len(zero.clique) > 1 for name in zero.clique}
    alone = {zero.clique[0]: zero.impossible for zero in zeros if len(zero.clique) == 1}
    labels: dict[str, NDArray[np.int64]] = {}
    weights: dict[str, Table] = {}
    for one in noisy:
        (name,) = one.clique
        rare = one.counts < RARE * np.sqrt(one.variance)
        if name in alone:
            rare &= ~alone[name]
        if name not in kept and int(rare.sum()) > 1:
            found = np.cumsum(~rare) - 1
            found[rare] = int((~rare).sum())
            labels[name] = found
            weight = np.maximum(one.counts, 0.0)
            if not weight[rare].any():
                weight[rare] = 1.0
            weights[name] = weight
    sizes = tuple(
        int(labels[name].max()) + 1 if name in labels else size for name, size in zip(domain.names, domain.sizes, strict=True)
    )
    return Coarsening(domain, Domain(domain.names, sizes), labels, weights)


def mst(
    door: Door, *, cells: int, zeros: Sequence[Zero] = (), progress: Callable[[float], object] = lambda _: None
) -> tuple[Estimate, Coarsening]:
    """Measure columns, a tree of pairs, and return the estimate with the coarsening of its columns.

    ``cells``: most of all tables of pairs together; a pair for which there is no room is no candidate, and columns that no pair joins stay
    independent.
    """
    domain, names = door.domain, door.domain.names
    whole = door.left
    third = whole / 3
    alone = len(names) == 1
    for name in names:
        door.measure((name,), door.left if alone else third / len(names))
    rough = coarsening(domain, door.noisy, zeros)
    inner = Door(door.envelope, rough.coarse, rough.query(door.query), [rough.noisy(one) for one in door.noisy], door.asked)
    zeros = [rough.zero(one) for one in zeros]
    first = estimate(rough.coarse, inner.noisy, zeros=zeros, most=_EVALUATIONS)
    part = {name: number for number, name in enumerate(names)}
    tree: list[Clique] = []
    room = cells
    for _ in range(len(names) - 1):
        joining = [pair for pair in combinations(names, 2) if part[pair[0]] != part[pair[1]]]
        offered = [pair for pair in joining if rough.coarse.cells(pair) <= room]
        if not offered:
            break
        models = [first.model.marginal(pair) for pair in offered]
        chosen = inner.choose(offered, models, third / (len(names) - 1), [0] * len(offered), [1] * len(offered))
        tree.append(chosen)
        room -= rough.coarse.cells(chosen)
        part = {name: part[chosen[0]] if number == part[chosen[1]] else number for name, number in part.items()}
        progress(float(1 - door.left / whole))
    for number, pair in enumerate(tree):
        left = door.left
        inner.measure(pair, left / (len(tree) - number))
        progress(float(1 - door.left / whole))
    return estimate_that_stops(rough.coarse, inner.noisy, zeros=zeros, most=_EVALUATIONS), rough
