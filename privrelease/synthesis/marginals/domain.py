"""Domain algebra: tables over named axes, their sums and how they are spread over larger tables.

A clique is a tuple of column names in the order of the domain. A table of a clique is an array with one axis for each of its columns, in that
order, so that sums drop axes and products need a reshape alone, never a transposition.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["Clique", "Domain", "maximal"]

Clique = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """Names of columns and how many cells each has, in a fixed order.

    >>> import numpy as np
    >>> domain = Domain(("age", "sex", "region"), (10, 2, 4))
    >>> domain.clique(["region", "age"])
    ('age', 'region')
    >>> domain.project(np.ones((10, 4)), ("age", "region"), ("region",)).tolist()
    [10.0, 10.0, 10.0, 10.0]
    >>> domain.spread(np.ones(4), ("region",), ("age", "region")).shape
    (1, 4)
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes) or len(set(self.names)) != len(self.names) or min(self.sizes, default=1) < 1:
            msg = "a domain has columns of different names, each with at least one cell"
            raise ValueError(msg)

    def clique(self, names: Iterable[str]) -> Clique:
        """Return columns in the order of the domain; raises KeyError for one that it lacks."""
        wanted = set(names)
        if not wanted <= set(self.names):
            raise KeyError(*sorted(wanted - set(self.names)))
        return tuple(name for name in self.names if name in wanted)

    def shape(self, clique: Clique) -> tuple[int, ...]:
        """Return the number of cells of each column of a clique."""
        return tuple(self.sizes[self.names.index(name)] for name in clique)

    def cells(self, clique: Clique) -> int:
        """Return the number of cells of a clique's table; 1 of the empty clique."""
        return prod(self.shape(clique))

    def project(self, table: Table, own: Clique, onto: Clique) -> Table:
        """Return the sums of a table of ``own`` over all columns but ``onto``, a part of them."""
        dropped = tuple(place for place, name in enumerate(own) if name not in onto)
        summed: Table = table.sum(axis=dropped) if dropped else table
        return summed

    def spread(self, table: Table, own: Clique, over: Clique) -> Table:
        """Return a table of ``own`` shaped so that it is broadcast over tables of ``over``, which has its columns."""
        return table.reshape([self.sizes[self.names.index(name)] if name in own else 1 for name in over])


def maximal(cliques: Iterable[Clique]) -> tuple[Clique, ...]:
    """Return the cliques that are part of no other, each once, the largest first and then by name.

    >>> maximal([("a",), ("a", "b"), ("c",), ("a", "b")])
    (('a', 'b'), ('c',))
    """
    kept: list[Clique] = []
    for clique in sorted(set(cliques), key=lambda one: (-len(one), one)):
        if not any(set(clique) <= set(other) for other in kept):
            kept.append(clique)
    return tuple(kept)
