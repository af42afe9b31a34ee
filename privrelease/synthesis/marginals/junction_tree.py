"""Junction trees: the cliques of a triangulated graph, joined so that what two of them share is in every clique between them.

Triangulation: columns are eliminated one by one, the one first whose clique has the fewest cells then (greedy; the least tree is NP-hard to
find), ties by the order of the domain. Edges: a spanning tree of largest separators (Jensen and Jensen 1994), which has the running
intersection property. Source: Koller and Friedman 2009, chapters 9 and 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.synthesis.marginals.domain import maximal
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from privrelease.synthesis.marginals.domain import Clique, Domain

__all__ = ["CELL_BYTES", "JOINT_CELLS", "JunctionTree", "joint_or_tree", "junction_tree", "triangulated"]

#: Bytes of one potential.
CELL_BYTES: Final = 8
#: Most cells of an explicit joint.
JOINT_CELLS: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Cliques with their parents; the first is the root, and a parent comes before its children.

    ``separators``: what each shares with its parent, ``()`` for the root and where a part of the graph is on its own.
    """

    domain: Domain
    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    @property
    def cells(self) -> int:
        """The number of potentials."""
        return sum(map(self.domain.cells, self.cliques))

    def host(self, clique: Clique) -> int | None:
        """Return the position of the smallest clique that holds all of ``clique``; None where there is none."""
        holding = [place for place, one in enumerate(self.cliques) if set(clique) <= set(one)]
        return min(holding, key=lambda place: (self.domain.cells(self.cliques[place]), place), default=None)


def triangulated(domain: Domain, cliques: Iterable[Clique]) -> tuple[Clique, ...]:
    """Return the maximal cliques of a chordal graph in which each of ``cliques`` is complete; every column is in one.

    >>> from privrelease.synthesis.marginals.domain import Domain
    >>> triangulated(Domain(("a", "b", "c", "d"), (2, 2, 2, 2)), [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    (('a', 'b', 'd'), ('b', 'c', 'd'))
    """
    size = dict(zip(domain.names, domain.sizes, strict=True))
    near: dict[str, set[str]] = {name: set() for name in domain.names}
    for clique in cliques:
        for name in clique:
            near[name].update(clique)
            near[name].discard(name)
    cells = {name: size[name] * _product(size[other] for other in near[name]) for name in domain.names}
    made = []
    while near:
        name = min(near, key=cells.__getitem__)  # the first of the domain where several are least
        around = near.pop(name)
        made.append(domain.clique({name, *around}))
        for other in around:
            near[other] |= around
            near[other] -= {other, name}
        for other in around:
            cells[other] = size[other] * _product(size[one] for one in near[other])
    return maximal(made)


def junction_tree(domain: Domain, cliques: Iterable[Clique]) -> JunctionTree:
    """Return the junction tree of a graph in which each of ``cliques`` is complete."""
    return _joined(domain, triangulated(domain, cliques))


def joint_or_tree(domain: Domain, cliques: Iterable[Clique]) -> JunctionTree:
    """Return the tree of ``cliques``, or one clique of all columns where that joint is no more than twice as large.

    An explicit joint needs one sum a marginal and no messages; above :data:`JOINT_CELLS` cells there is none.
    """
    tree = junction_tree(domain, cliques)
    joint = domain.cells(domain.names)
    if joint <= JOINT_CELLS and joint <= 2 * tree.cells:
        return JunctionTree(domain, (domain.names,), (-1,), ((),))
    return tree


def _joined(domain: Domain, cliques: Sequence[Clique]) -> JunctionTree:
    """Join by Prim's algorithm, the largest separator first."""
    order, parents = [0], [-1]
    separators: list[Clique] = [()]
    left = list(range(1, len(cliques)))
    # by clique that is not yet joined: its largest separator with one that is, and which
    best = {place: (len(set(cliques[place]) & set(cliques[0])), 0) for place in left}
    while left:
        place = max(left, key=lambda one: (best[one][0], -one))
        left.remove(place)
        parent = best.pop(place)[1]
        parents.append(parent)
        separators.append(domain.clique(set(cliques[place]) & set(cliques[order[parent]])))
        order.append(place)
        for other in left:
            shared = len(set(cliques[place]) & set(cliques[other]))
            if shared > best[other][0]:
                best[other] = (shared, len(order) - 1)
    return JunctionTree(domain, tuple(cliques[place] for place in order), tuple(parents), tuple(separators))


def _product(sizes: Iterable[int]) -> int:
    found = 1
    for size in sizes:
        found *= size
    return found
