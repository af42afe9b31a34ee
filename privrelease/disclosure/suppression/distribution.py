"""From an assignment of classes back to the parts they were made of.

A search sees the classes of one requirement's columns; several parts of the whole table fall into one such class. Laid end to end
in the same order, the records of the parts and the records of the assignment are two cuts of the same line: the pieces between
all cut points belong to one part and to one column set each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["cut_alike"]


def cut_alike(
    records: NDArray[np.int64], assigned: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cut two lists of counts with equal sums into common pieces: index in each list, and the size, of every piece.

    >>> [column.tolist() for column in cut_alike(np.array([3, 2]), np.array([1, 4]))]
    [[0, 0, 1], [0, 1, 1], [1, 2, 2]]
    """
    ends = np.cumsum(records)
    assigned_ends = np.cumsum(assigned)
    cuts = np.sort(np.concatenate([ends, assigned_ends]), kind="stable")
    cuts = cuts[np.diff(cuts, prepend=0) > 0]
    sizes = np.diff(cuts, prepend=0)
    middle = cuts - sizes
    return np.searchsorted(ends, middle, side="right"), np.searchsorted(assigned_ends, middle, side="right"), sizes
