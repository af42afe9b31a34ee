"""Counts by value of one column, before and after: what most measures need, and all that a column's distribution is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["ValueCounts", "column_counts", "joint_counts"]


@dataclass(frozen=True, eq=False, slots=True)
class ValueCounts:
    """Records by value, in one common coding: ``before`` and ``after`` (v + 1,) int64, place 0 counts missing cells.

    >>> counts = ValueCounts("sex", np.array([1, 6, 3]), np.array([4, 4, 2]))
    >>> counts.known_before, counts.known_after, counts.lost.tolist(), counts.only_lost
    (9, 6, [2, 1], True)
    """

    column: str
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    @property
    def known_before(self) -> int:
        """Cells of the source that hold a value."""
        return int(self.before[1:].sum())

    @property
    def known_after(self) -> int:
        """Cells of the release that hold a value."""
        return int(self.after[1:].sum())

    @property
    def lost(self) -> NDArray[np.int64]:
        """Cells lost by value: set to missing, or in rows not released. Negative where values were made up or changed."""
        difference: NDArray[np.int64] = self.before[1:] - self.after[1:]
        return difference

    @property
    def only_lost(self) -> bool:
        """Return True if no value is more frequent than it was: counts then do not speak against suppression alone."""
        return not (self.lost < 0).any()


def column_counts(before: ClassTable, after: ClassTable) -> tuple[ValueCounts, ...]:
    """Count every column of two class tables of one coding by value. Raises ValueError where their columns differ.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> before = ClassTable(("a",), np.array([[1], [2]], np.int32), np.array([3, 2]))
    >>> after = ClassTable(("a",), np.array([[0], [1]], np.int32), np.array([2, 3]))
    >>> [counts] = column_counts(before, after)
    >>> counts.before.tolist(), counts.after.tolist()
    ([0, 3, 2], [2, 3, 0])
    """
    if before.columns != after.columns:
        msg = "the tables have other columns"
        raise ValueError(msg)
    return tuple(_one(name, place, before, after) for place, name in enumerate(before.columns))


def _one(name: str, place: int, before: ClassTable, after: ClassTable) -> ValueCounts:
    sides = [(table.codes[:, place], table.counts) for table in (before, after)]
    size = 1 + max((int(codes.max()) for codes, _ in sides if len(codes)), default=0)
    first, second = (_summed(codes, counts, size) for codes, counts in sides)
    return ValueCounts(name, first, second)


def _summed(codes: NDArray[np.integer], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Add up counts by code; float weights are exact below 2**53 records."""
    return np.bincount(codes, weights=counts, minlength=size).astype(np.int64)


def joint_counts(before: ClassTable, after: ClassTable, columns: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count records by the tuple of ``columns``, missing included as a value: two arrays over the tuples that either table has.

    Raises KeyError where a table lacks a column.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> before = ClassTable(("a", "b"), np.array([[1, 1], [1, 2], [2, 1]], np.int32), np.array([3, 2, 1]))
    >>> after = ClassTable(("a", "b"), np.array([[0, 1], [1, 1], [1, 2]], np.int32), np.array([1, 3, 2]))
    >>> [counts.tolist() for counts in joint_counts(before, after, ["b"])]
    [[4, 2], [4, 2]]
    """
    from privrelease.disclosure.classes.grouping import column_indices, group_rows

    codes = [table.codes[:, list(column_indices(table, columns))] for table in (before, after)]
    grouping = group_rows(np.ascontiguousarray(np.concatenate(codes)))
    size = len(grouping.first)
    first = grouping.group[: len(codes[0])]
    return _summed(first, before.counts, size), _summed(grouping.group[len(codes[0]) :], after.counts, size)
