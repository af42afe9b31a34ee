"""A graphical model: log potentials of cliques, their total, and its marginals by message passing on a junction tree.

Definition
    p(x) is proportional to the product over cliques of exp(potential at x's cell); cells that a structural zero names have probability 0.
    Potentials are float64 in log space. Messages go up from the leaves as logarithms (log-sum-exp about the largest, so that nothing
    overflows); what goes down is a conditional table P(clique | separator) times the marginal of the separator, which needs no second
    exponential and divides by nothing that may be 0. An explicit joint is the tree of one clique.
Source
    Koller and Friedman 2009, section 10.2; McKenna, Sheldon, Miklau 2019 (Private-PGM).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.synthesis.marginals.domain import Clique, Domain, Table
    from privrelease.synthesis.marginals.junction_tree import JunctionTree

__all__ = ["Beliefs", "GraphicalModel", "Zero", "calibrated", "least"]


@dataclass(frozen=True, eq=False, slots=True)
class Zero:
    """A structural zero: cells of a clique that no record has. ``impossible``: True in those cells."""

    clique: Clique
    impossible: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Beliefs:
    """Tables of a calibrated tree, by clique: ``conditional`` P(clique | separator to its parent) and ``joint`` P(clique).

    Their sums agree on what cliques share. Where the separator's cell has probability 0 the conditional is 0.
    """

    tree: JunctionTree
    conditional: tuple[Table, ...]
    joint: tuple[Table, ...]
    log_partition: float

    def marginal(self, clique: Clique) -> Table:
        """Return the probabilities of a clique's cells, whether one clique of the tree holds it or not."""
        place = self.tree.host(clique)
        if place is not None:
            return self.tree.domain.project(self.joint[place], self.tree.cliques[place], clique)
        return self._eliminated(clique)

    def _eliminated(self, wanted: Clique) -> Table:
        """Sum the product of the conditional tables over all columns but ``wanted``, those first that leave the smallest table."""
        domain, tree = self.tree.domain, self.tree
        kept = self._spanning(wanted)
        top = min(kept)
        factors: list[tuple[Clique, Table]] = [
            (tree.cliques[place], self.joint[place] if place == top else self.conditional[place]) for place in kept
        ]
        left = set().union(*(clique for clique, _ in factors)) - set(wanted)
        while left:
            union = {name: domain.clique(set().union(*(c for c, _ in factors if name in c))) for name in sorted(left)}
            name = min(union, key=lambda one: (domain.cells(union[one]), one))
            touched = [one for one in factors if name in one[0]]
            rest = domain.clique(set(union[name]) - {name})
            factors = [one for one in factors if name not in one[0]]
            factors.append((rest, _contracted(domain, touched, rest)))
            left.remove(name)
        return _contracted(domain, factors, wanted)

    def _spanning(self, wanted: Clique) -> list[int]:
        """Return the cliques of a connected part of the tree that has every wanted column: leaves that add none are pruned."""
        tree = self.tree
        kept = set(range(len(tree.cliques)))
        pruned = True
        while pruned:
            pruned = False
            for place in sorted(kept):
                near = [one for one in kept if tree.parents[one] == place or tree.parents[place] == one]
                if len(kept) == 1 or len(near) != 1:
                    continue
                if set(tree.cliques[place]) & set(wanted) <= set(tree.cliques[near[0]]):
                    kept.remove(place)
                    pruned = True
        return sorted(kept)


@dataclass(frozen=True, eq=False, slots=True)
class GraphicalModel:
    """Potentials over cliques, on a tree whose cliques hold them; ``total``: the number of records that the model represents."""

    tree: JunctionTree
    total: float
    potentials: Mapping[Clique, Table]
    zeros: Sequence[Zero] = ()
    _beliefs: list[Beliefs] = field(default_factory=list, repr=False)

    @property
    def domain(self) -> Domain:
        """The columns."""
        return self.tree.domain

    @property
    def beliefs(self) -> Beliefs:
        """The calibrated tree; computed when it is first asked for."""
        if not self._beliefs:
            self._beliefs.append(calibrated(self.tree, self.potentials, self.zeros))
        return self._beliefs[0]

    def marginal(self, clique: Clique) -> Table:
        """Return the expected number of records by cell."""
        return self.total * self.beliefs.marginal(clique)


def calibrated(tree: JunctionTree, potentials: Mapping[Clique, Table], zeros: Sequence[Zero] = ()) -> Beliefs:
    """Pass messages up and down the tree. Raises ValueError where zeros leave no cell, or no clique of the tree holds a potential."""
    domain = tree.domain
    tables = _gathered(tree, potentials, zeros, -np.inf)
    conditional: list[Table] = [np.empty(0)] * len(tables)
    message = np.empty(0)
    for place in reversed(range(len(tables))):
        clique, separator = tree.cliques[place], tree.separators[place]
        conditional[place], message = _normalised(domain, tables[place], clique, separator)
        if place:
            parent = tree.parents[place]
            tables[parent] += domain.spread(message, separator, tree.cliques[parent])
    log_partition = float(message)  # of the root, whose separator is empty
    if not np.isfinite(log_partition):
        msg = "structural zeros leave no cell"
        raise ValueError(msg)
    joint: list[Table] = [conditional[0]]
    for place in range(1, len(tables)):
        clique, separator, parent = tree.cliques[place], tree.separators[place], tree.parents[place]
        above = domain.project(joint[parent], tree.cliques[parent], separator)
        joint.append(conditional[place] * domain.spread(np.asarray(above), separator, clique))
    return Beliefs(tree, tuple(conditional), tuple(joint), log_partition)


def least(tree: JunctionTree, tables: Mapping[Clique, Table], zeros: Sequence[Zero] = ()) -> float:
    """Return the least sum of one number a table over all possible cells, by messages of minima; the tree holds every clique of ``tables``."""
    domain = tree.domain
    sums = _gathered(tree, tables, zeros, np.inf)
    for place in reversed(range(1, len(sums))):
        clique, separator, parent = tree.cliques[place], tree.separators[place], tree.parents[place]
        lowest = np.asarray(sums[place].min(axis=_without(clique, separator)))
        sums[parent] += domain.spread(lowest, separator, tree.cliques[parent])
    return float(sums[0].min())


def _gathered(tree: JunctionTree, tables: Mapping[Clique, Table], zeros: Sequence[Zero], at_zeros: float) -> list[Table]:
    """Return the sum of the tables that each clique of the tree holds, with ``at_zeros`` in impossible cells."""
    domain = tree.domain
    gathered = [np.zeros(domain.shape(clique)) for clique in tree.cliques]
    for clique, table in tables.items():
        place = _place(tree, clique)
        gathered[place] += domain.spread(table, clique, tree.cliques[place])
    for zero in zeros:
        place = _place(tree, zero.clique)
        one = domain.spread(zero.impossible.astype(np.float64), zero.clique, tree.cliques[place]) > 0
        gathered[place][np.broadcast_to(one, gathered[place].shape)] = at_zeros
    return gathered


def _without(clique: Clique, kept: Clique) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(clique) if name not in kept)


def _normalised(domain: Domain, logs: Table, clique: Clique, separator: Clique) -> tuple[Table, Table]:
    """Return P(clique | separator) and the log of the sums by cell of the separator."""
    summed = _without(clique, separator)
    largest = logs.max(axis=summed, keepdims=True)
    largest[~np.isfinite(largest)] = 0.0
    weights: Table = np.exp(logs - largest)
    sums = weights.sum(axis=summed, keepdims=True)
    with np.errstate(divide="ignore"):
        message = (np.log(sums) + largest).reshape(domain.shape(separator))
    sums[sums == 0] = 1.0
    weights /= sums
    return weights, message


def _contracted(domain: Domain, factors: Sequence[tuple[Clique, Table]], onto: Clique) -> Table:
    """Return the product of tables, summed over all columns but ``onto``."""
    number = {name: place for place, name in enumerate(domain.names)}
    arguments: list[object] = []
    for clique, table in factors:
        arguments += [table, [number[name] for name in clique]]
    found: Table = np.einsum(*arguments, [number[name] for name in onto], optimize="greedy")  # type: ignore[call-overload] # interleaved form
    return found


def _place(tree: JunctionTree, clique: Clique) -> int:
    place = tree.host(clique)
    if place is None:
        msg = "every potential lies in a clique of the tree"
        raise ValueError(msg)
    return place
