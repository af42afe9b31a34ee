"""The solver's working state: parts of classes, each with the cells it loses.

A part is a number of records of one class that are treated alike. Solvers start from one part per class that loses nothing, and
only ever take cells away: that order makes every repair loop end, at the latest with everything suppressed.

From an assignment of classes back to the parts they were made of.

A search sees the classes of one requirement's columns; several parts of the whole table fall into one such class. Laid end to end
in the same order, the records of the parts and the records of the assignment are two cuts of the same line: the pieces between
all cut points belong to one part and to one column set each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.classes.persons import pair_times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["Parts", "cut_alike", "factorise", "first_members"]


def factorise(codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
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
    if span <= 4 * rows + 1024:
        used = np.zeros(span, np.bool_)
        used[packed] = True
        return (np.cumsum(used) - 1)[packed]
    return np.unique(packed, return_inverse=True)[1].astype(np.int64)


def first_members(group: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the first index of each group, (groups,), for ids 0..groups-1.

    >>> first_members(np.array([1, 0, 1])).tolist()
    [1, 0]
    """
    first = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return first


def _packed_bits(masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Pack (p, q) bits into (p, ceil(q / 16)) integers below 65,536."""
    bytes_ = np.packbits(masks, axis=1).astype(np.int64)
    if bytes_.shape[1] % 2:
        bytes_ = np.pad(bytes_, ((0, 0), (0, 1)))
    return np.asarray(bytes_[:, ::2] * 256 + bytes_[:, 1::2], np.int64)


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
        return cls(
            table, np.arange(j), table.counts.astype(np.int64, copy=False), np.zeros((j, q), np.bool_), np.zeros(j, np.bool_)
        )

    @classmethod
    def by_pair(cls, table: ClassTable, pair_rows: NDArray[np.int64]) -> Parts:
        """One part per (class, person) pair that loses nothing."""
        if table.pairs_class is None or table.pairs_person is None:
            msg = "parts by person need the pairs of classes and persons"
            raise ValueError(msg)
        m, q = len(pair_rows), table.codes.shape[1]
        where = table.pairs_class.astype(np.int64)
        records = pair_rows.astype(np.int64) * pair_times(table)
        return cls(table, where, records, np.zeros((m, q), np.bool_), np.zeros(m, np.bool_))

    def __len__(self) -> int:
        return len(self.records)

    def codes(self, columns: tuple[int, ...]) -> NDArray[np.int32]:
        """Return the released codes (p, len(columns)), suppressed cells as 0 = missing."""
        chosen = list(columns)
        whole = self.table.codes[self.class_index]
        released = whole if chosen == [*range(whole.shape[1])] else whole[:, chosen]
        released[self.suppressed[:, chosen]] = 0
        return released

    def replace(
        self,
        members: NDArray[np.integer[Any]],
        origin: NDArray[np.integer[Any]],
        records: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
    ) -> None:
        """Put pieces in the place of ``members``: piece i has ``records[i]`` of part ``origin[i]`` and loses ``suppressed[i]`` too.

        The pieces of a member make up its records. Pieces of a class that are treated alike are joined.
        """
        others = np.ones(len(self), np.bool_)
        others[members] = False
        masks = self.suppressed[origin] | (suppressed & (self.table.codes[self.class_index[origin]] > 0))
        self.set(
            np.concatenate([self.class_index[others], self.class_index[origin]]),
            np.concatenate([self.records[others], records]),
            np.concatenate([self.suppressed[others], masks]),
            np.concatenate([self.dropped[others], self.dropped[origin]]),
        )

    def set(
        self,
        class_index: NDArray[np.int64],
        records: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
        dropped: NDArray[np.bool_],
    ) -> None:
        """Take these parts instead, sorted by class; parts of a class that are treated alike are joined."""
        alike = factorise(np.column_stack([class_index, _packed_bits(suppressed), dropped]))
        first = first_members(alike)
        order = np.argsort(class_index[first], kind="stable")
        totals = np.zeros(len(first), np.int64)
        np.add.at(totals, alike, records)
        self.class_index = class_index[first][order]
        self.records = totals[order]
        self.suppressed = suppressed[first][order]
        self.dropped = dropped[first][order]

    def suppress(self, where: NDArray[np.bool_]) -> None:
        """Take the cells of ``where`` (p, q) away too; cells that are missing in the source are not marked."""
        self.suppressed |= where & (self.table.codes[self.class_index] > 0)


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
