"""Suppressed cells of different rows and columns whose sum follows from the totals, though no total is over them.

Every total is an equation; what follows from them all are the combinations of these. The sum of some cells follows where the vector that has a
one for each of them is such a combination, that is where its projection on the space of all combinations is itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Relation

__all__ = ["known_sums", "projection", "where_known"]

_NEAR: Final = 1e-7


def projection(relations: Sequence[Relation], unknown: NDArray[np.bool_], cells: Sequence[int]) -> NDArray[np.float64] | None:
    """Return the projection of the indicators of ``cells`` on the space of what follows from the ``relations`` where the cells ``unknown`` (n,) are
    not known and all others are, (len(cells), len(cells)); None where nothing follows.
    """
    free = np.flatnonzero(unknown)
    place = np.full(len(unknown), -1)
    place[free] = np.arange(len(free))
    lines = [one for one in relations if unknown[list(one.cells)].any()]
    if len(cells) < 2 or not lines:
        return None
    matrix = np.zeros((len(lines), len(free)))
    for row, line in enumerate(lines):
        for cell, sign in ((line.total, -1.0), *((part, 1.0) for part in line.parts)):
            if unknown[cell]:
                matrix[row, place[cell]] = sign
    _, sizes, vectors = np.linalg.svd(matrix, full_matrices=False)
    mine = vectors[sizes > _NEAR * sizes[0]][:, place[list(cells)]]
    found: NDArray[np.float64] = mine.T @ mine
    return found


def where_known(within: NDArray[np.float64], held: Sequence[int]) -> NDArray[np.float64]:
    """Return a projection where the cells at the places ``held`` are known, too: they are 0 in it. Without the column v of a cell, orthonormal rows
    have the products 1 - v v', whose inverse is 1 + v v' / (1 - v'v) (Sherman and Morrison).

    >>> where_known(np.full((2, 2), 0.5), [0]).tolist()  # the sum of two cells is known, and then one of them
    [[0.0, 0.0], [0.0, 1.0]]
    """
    found = within.copy()
    for place in held:
        left = 1 - found[place, place]
        if left > _NEAR:
            found += np.outer(found[place], found[place]) / left
        found[place] = found[:, place] = 0
    return found


def known_sums(
    within: NDArray[np.float64], cells: Sequence[int], persons: NDArray[np.int64], few: int
) -> Iterator[tuple[int, ...]]:
    """Yield pairs of ``cells`` whose sum follows, by the projection ``within`` of their indicators; and threes with fewer than ``few`` ``persons``
    (n,) each; who is in several is left to the caller to count.

    Two by two, the corners that face each other, where both totals of one of them are not known either:

    >>> from privrelease.disclosure.tables.layout import Layout
    >>> unknown = np.array([1, 0, 1, 0, 1, 1, 1, 1, 0], bool)
    >>> persons = np.array([1, 0, 1, 0, 2, 2, 1, 2, 3])
    >>> (0, 4) in list(known_sums(projection(Layout((2, 2), margins=True).relations, unknown, [0, 4]), [0, 4], persons, 4))
    True
    """
    length = np.diag(within)
    pairs = length[:, None] + length[None, :] + 2 * within
    for one, other in np.argwhere(np.triu(pairs > 2 - _NEAR, 1)).tolist():
        yield cells[one], cells[other]
    many = persons[list(cells)]
    small = np.flatnonzero(many < few)
    for i, one in enumerate(small.tolist()):
        rest = small[i + 1 :]
        threes = pairs[np.ix_(rest, rest)] + length[one] + 2 * (within[one, rest][:, None] + within[one, rest][None, :])
        for other, third in np.argwhere(np.triu(threes > 3 - _NEAR, 1)).tolist():
            yield cells[one], cells[rest[other]], cells[rest[third]]
