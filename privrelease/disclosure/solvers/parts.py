"""The solver's working state: parts of classes, each with the cells it loses.

A part is a number of records of one class that are treated alike. Solvers start from one part per class that loses nothing, and
only ever take cells away: that order makes every repair loop end, at the latest with everything suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.classes import ClassTable

__all__ = ["Parts", "factorise"]


def factorise(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the distinct rows of ``codes`` (m, q): an (m,) array of ids 0..groups-1, exact for any number of columns.

    Columns are packed into 62-bit integers; whenever the next column would not fit, the packed prefix is renumbered first.

    >>> factorise(np.array([[3, 1], [0, 2], [3, 1]], np.int32)).tolist()
    [1, 0, 1]
    """
    rows, q = codes.shape
    packed = np.zeros(rows, np.int64)
    span = 1
    for column in range(q):
        values = codes[:, column]
        width = int(values.max(initial=0)) + 1
        if span * width >= 1 << 62:
            packed = np.unique(packed, return_inverse=True)[1].astype(np.int64)
            span = int(packed.max(initial=0)) + 1
        packed *= width
        packed += values
        span *= width
    return np.unique(packed, return_inverse=True)[1].astype(np.int64)


@dataclass(slots=True)
class Parts:
    """``class_index`` (p,), ``records`` (p,), ``suppressed`` (p, q) never set where the class is missing, ``dropped`` (p,)."""

    table: ClassTable
    class_index: NDArray[np.int64]
    records: NDArray[np.int64]
    suppressed: NDArray[np.bool_]
    dropped: NDArray[np.bool_]

    @classmethod
    def untouched(cls, table: ClassTable) -> Parts:
        """One part per class that loses nothing."""
        j, q = table.codes.shape
        return cls(table, np.arange(j), table.counts.astype(np.int64), np.zeros((j, q), np.bool_), np.zeros(j, np.bool_))

    def __len__(self) -> int:
        return len(self.records)

    def codes(self, columns: tuple[int, ...]) -> NDArray[np.int32]:
        """Return the released codes (p, len(columns)), suppressed cells as 0 = missing."""
        chosen = list(columns)
        released = self.table.codes[self.class_index][:, chosen]
        released[self.suppressed[:, chosen]] = 0
        return released

    def suppress(self, where: NDArray[np.bool_]) -> None:
        """Take the cells of ``where`` (p, q) away too; cells that are missing in the source are not marked."""
        self.suppressed |= where & (self.table.codes[self.class_index] > 0)
