"""Collapse a class table onto some of its columns: which classes become one when the other columns are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["Grouping", "column_indices", "group_rows", "is_residual", "packed_words", "row_order"]

_WORD_BITS = 63


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """Rows with equal codes share a group. ``group``: (J,) intp, 0..n_groups-1, in ascending lexicographic order of the codes.

    ``first``: (n_groups,) intp, one row of each group.
    """

    group: NDArray[np.intp]
    first: NDArray[np.intp]

    @property
    def n_groups(self) -> int:
        """Number of distinct rows."""
        return len(self.first)

    def sums(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Exact integer sums of ``values`` (J,) per group: (n_groups,) int64."""
        totals = np.zeros(self.n_groups, np.int64)
        np.add.at(totals, self.group, values)
        return totals


def column_indices(table: ClassTable, columns: Sequence[int | str] | None = None) -> tuple[int, ...]:
    """Indices of ``columns`` (names or indices) in the table, duplicates removed; all columns for None.

    Errors: KeyError for a name that the table lacks, IndexError for an index outside it.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("sex", "region"), np.array([[1, 1], [1, 2]], np.int32), np.array([3, 1]))
    >>> column_indices(table, ["region", 0])
    (1, 0)
    """
    if columns is None:
        return tuple(range(len(table.columns)))
    indices: list[int] = []
    for column in columns:
        if isinstance(column, str):
            if column not in table.columns:
                raise KeyError(column)
            index = table.columns.index(column)
        else:
            index = column
            if not 0 <= index < len(table.columns):
                msg = f"the table has {len(table.columns)} columns, none with index {index}"
                raise IndexError(msg)
        if index not in indices:
            indices.append(index)
    return tuple(indices)


def packed_words(codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Pack rows of codes (J, q) into (w, J) int64 words that compare like the rows, most significant word first.

    Each column takes as many bits as its largest code needs, so nine ordinary columns make one word; any number of columns works.

    >>> packed_words(np.array([[1, 2], [1, 3]], np.int32)).tolist()
    [[6, 7]]
    """
    n_rows, n_columns = codes.shape
    bits = [max(int(codes[:, j].max(initial=0)).bit_length(), 1) for j in range(n_columns)]
    words: list[NDArray[np.int64]] = []
    word = np.zeros(n_rows, np.int64)
    used = 0
    for j in range(n_columns):
        if used + bits[j] > _WORD_BITS:
            words.append(word)
            word, used = np.zeros(n_rows, np.int64), 0
        word <<= bits[j]
        word |= codes[:, j]
        used += bits[j]
    words.append(word)
    return word[None] if len(words) == 1 else np.array(words)


def row_order(words: NDArray[np.int64]) -> NDArray[np.intp]:
    """Stable order that sorts packed rows ascending; the identity, at no cost, where they are sorted already."""
    if len(words) == 1:
        word = words[0]
        if bool(np.all(word[1:] >= word[:-1])):
            return np.arange(len(word))
        bits = len(word).bit_length()
        if int(word.max()).bit_length() + bits > _WORD_BITS:
            return np.argsort(word, kind="stable")
        numbered = (word << bits) | np.arange(len(word))  # sorting numbers takes a tenth of the time of a stable order of them
        numbered.sort()
        order: NDArray[np.intp] = (numbered & ((1 << bits) - 1)).astype(np.intp, copy=False)
        return order
    return np.lexsort(words[::-1])


def group_rows(codes: NDArray[np.integer[Any]]) -> Grouping:
    """Group equal rows of ``codes`` (J, q).

    >>> grouping = group_rows(np.array([[2, 0], [1, 1], [2, 0]], np.int32))
    >>> grouping.group.tolist(), grouping.sums(np.array([5, 6, 7])).tolist()
    ([1, 0, 1], [6, 12])
    """
    words = packed_words(codes)
    starts = np.ones(len(codes), np.bool_)
    if len(words) == 1 and bool(np.all(words[0, 1:] >= words[0, :-1])):  # sorted already: nothing is put in order
        np.not_equal(words[0, 1:], words[0, :-1], out=starts[1:])
        del words
        group = np.cumsum(starts, dtype=np.intp)
        group -= 1
        return Grouping(group, np.flatnonzero(starts))
    order = row_order(words)
    in_order = words[:, order]
    if len(codes):
        starts[1:] = np.any(in_order[:, 1:] != in_order[:, :-1], axis=0)
    group = np.empty(len(codes), np.intp)
    group[order] = np.cumsum(starts) - 1
    return Grouping(group, order[starts])


def is_residual(codes: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Rows (J, q) whose every code is missing: (J,) bool. With no column at all, none is.

    >>> is_residual(np.array([[0, 0], [0, 1]], np.int32)).tolist()
    [True, False]
    """
    if codes.shape[1] == 0:
        return np.zeros(len(codes), np.bool_)
    return np.asarray(np.all(codes == 0, axis=1), np.bool_)
