"""Exchanges between cells of all columns: other tables with the same totals, found without a search.

Take two keys of every column. The cells of these keys form a cube; adding one to those that differ from a corner in an even number of columns
and taking one from the others leaves every total unchanged, over whichever columns. Where there is enough to take, that is another table.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["exchanges"]


def exchanges(counts: NDArray[np.int64], possible: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return by how much each cell can be more, and less, by one exchange. ``counts``: with a side for each column; ``possible``: cells
    that may have more.

    >>> more, less = exchanges(np.array([[1, 2], [3, 4]]), np.ones((2, 2), bool))
    >>> more.tolist(), less.tolist()
    ([[2, 1], [1, 2]], [[1, 2], [2, 1]])
    """
    much = np.iinfo(np.int64).max
    room = np.where(possible, much, 0)
    sides = range(counts.ndim)
    corners = list(product((0, 1), repeat=counts.ndim))
    more, less = np.zeros_like(counts), np.zeros_like(counts)
    for steps in product(*(range(1, size) for size in counts.shape)):
        up, down = np.full_like(counts, much), np.full_like(counts, much)
        for corner in corners:
            shift = [-step * taken for step, taken in zip(steps, corner, strict=True)]
            stock, space = np.roll(counts, shift, sides), np.roll(room, shift, sides)
            even = sum(corner) % 2 == 0
            up = np.minimum(up, space if even else stock)
            down = np.minimum(down, stock if even else space)
        more, less = np.maximum(more, up), np.maximum(less, down)
    return more, less
