"""Cells that follow from totals by subtraction, without any search.

Exchanges between cells of all columns: other tables with the same totals, found without a search.

Take two keys of every column. The cells of these keys form a cube; adding one to those that differ from a corner in an even number of columns
and taking one from the others leaves every total unchanged, over whichever columns. Where there is enough to take, that is another table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Relation

__all__ = ["exchanges", "worked_out"]


def worked_out(
    relations: Sequence[Relation], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds (n,) after every figure that a total and its parts leave no choice was worked out; bounds that contradict stay.

    That is one that is alone unknown, and those whose least (or largest) values are needed to add up: parts of nothing are nothing.

    >>> import numpy as np
    >>> from privrelease.disclosure.tables.layout import Relation
    >>> low, high = worked_out([Relation(2, (0, 1)), Relation(3, (1, 4))], np.zeros(5), np.array([9.0, 9, 0, 9, 0]))
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0])
    """
    low, high = low.copy(), high.copy()
    unknown = (low < high).tolist()
    open_ = [relation for relation in relations if any(unknown[cell] for cell in relation.cells)]
    while True:
        left, worked = [], False
        for relation in open_:
            free = [cell for cell in relation.cells if unknown[cell]]
            forced = _forced(relation, free, low, high)
            for cell, value in forced:
                low[cell] = high[cell] = value
                unknown[cell] = False
            worked = worked or bool(forced)
            if len(free) > 1 and not forced:
                left.append(relation)
        if not worked:
            return low, high
        open_ = left


def _forced(
    relation: Relation, free: Sequence[int], low: NDArray[np.float64], high: NDArray[np.float64]
) -> list[tuple[int, float]]:
    """The only values of the ``free`` cells of a total and its parts, where there is no choice."""
    parts, total = list(relation.parts), relation.total
    if len(free) == 1:
        (cell,) = free
        others = sum(float(low[part]) for part in parts if part != cell)
        value = others if cell == total else float(low[total]) - others
        return [(cell, value)] if low[cell] <= value <= high[cell] else []
    if not free:
        return []
    if low[parts].sum() == high[total]:
        return [(cell, float(high[cell] if cell == total else low[cell])) for cell in free]
    if high[parts].sum() == low[total]:
        return [(cell, float(low[cell] if cell == total else high[cell])) for cell in free]
    return []


def exchanges(counts: NDArray[np.int64], possible: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return by how much each cell can be more, and less, by one exchange. ``counts``: with a side for each column; ``possible``: cells
    that may have more.

    >>> more, less = exchanges(np.array([[1, 2], [3, 4]]), np.ones((2, 2), bool))
    >>> more.tolist(), less.tolist()
    ([[2, 1], [1, 2]], [[1, 2], [2, 1]])
    """
    more, less = np.zeros_like(counts), np.zeros_like(counts)

    def doubled(side: int, up: NDArray[np.int64], down: NDArray[np.int64]) -> None:
        """Take two keys of one more column: ``up`` and ``down`` are by how much the cells of the cube so far can change, from each cell as its corner."""
        if side == counts.ndim:
            np.maximum(more, up, out=more)
            np.maximum(less, down, out=less)
            return
        size = counts.shape[side]
        for step in range(1, size):
            other = (np.arange(size) + step) % size
            doubled(side + 1, np.minimum(up, down.take(other, side)), np.minimum(down, up.take(other, side)))

    doubled(0, np.where(possible, np.iinfo(np.int64).max, 0), counts)
    return more, less
