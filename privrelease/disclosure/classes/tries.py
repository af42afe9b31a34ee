"""A prefix tree over rows of codes, as flat arrays, and the join of two sets of its nodes under "missing matches anything".

Node ids at depth d number the distinct prefixes of d columns in ascending order of the rows, so that a set of distinct prefixes is an
ascending array of ids, and dropping the last column is one pass over it that merges neighbours with the same parent.

The join counts, for every row x of A, the rows y of B with x_j = y_j, x_j missing or y_j missing in every column j. At depth d it splits on
the last column: (1) B missing there: A whole, column dropped; (2) A missing there and B not: B's column dropped; (3) neither missing: value
by value. Dropping a column merges rows, so the three-way split stays far below 3^q; few rows on one side are compared directly. The compiled
join and the plain one (:mod:`privrelease.disclosure.classes.plain_join`) add in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from privrelease.disclosure.classes.grouping import packed_words, row_order
from privrelease.loops import extension
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Trie", "build_trie", "compatible_sums"]


@dataclass(frozen=True, eq=False, slots=True)
class Trie:
    """``offset``: (q + 1,) int64, where the nodes of a depth begin in ``parent`` and ``label``, both int32. ``leaf``: (J,) int64 node of each row.

    ``label`` is the code of the node's last column, ``parent`` the node one column shorter. Depth 0 is the root alone.
    """

    offset: NDArray[np.int64]
    parent: NDArray[np.int32]
    label: NDArray[np.int32]
    leaf: NDArray[np.int64]

    @property
    def depth(self) -> int:
        """q, the number of columns."""
        return len(self.offset) - 1


def _column_order(codes: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Columns that lack no value last (they are split first and need no three-way split), then those with most values."""
    has_missing = np.any(codes == 0, axis=0)
    return np.lexsort((codes.max(axis=0, initial=0), ~has_missing))


def build_trie(codes: NDArray[np.integer[Any]]) -> Trie:
    """Build the trie of the rows of ``codes`` (J, q), 0 = missing; rows may repeat. The columns are reordered to suit the join."""
    n_rows, n_columns = codes.shape
    arranged = np.ascontiguousarray(codes[:, _column_order(codes)])
    order = row_order(packed_words(arranged)) if n_columns else np.arange(n_rows)
    rows = arranged[order]
    first_difference = np.full(n_rows, n_columns, np.int64)
    if n_rows:
        first_difference[0] = -1
        for j in range(n_columns - 1, -1, -1):
            first_difference[1:][rows[1:, j] != rows[:-1, j]] = j
    offset = np.zeros(n_columns + 1, np.int64)
    parents, labels = [np.zeros(1, np.int32)], [np.zeros(1, np.int32)]
    node = np.zeros(n_rows, np.int64)
    for depth in range(1, n_columns + 1):
        starts = first_difference < depth
        first = np.flatnonzero(starts)
        offset[depth] = offset[depth - 1] + len(parents[-1])
        parents.append(node[first].astype(np.int32))
        labels.append(rows[first, depth - 1].astype(np.int32, copy=False))
        node = np.cumsum(starts) - 1
    leaf = np.empty(n_rows, np.int64)
    leaf[order] = node
    return Trie(offset, np.concatenate(parents), np.concatenate(labels), leaf)


def compatible_sums(
    trie: Trie, a_rows: NDArray[np.intp], b_rows: NDArray[np.intp], values: NDArray[np.int64] | NDArray[np.float64]
) -> NDArray[np.int64] | NDArray[np.float64]:
    """For each row of ``a_rows``, the sum of ``values`` (one per row of ``b_rows``) over compatible rows: dtype of ``values``.

    >>> trie = build_trie(np.array([[1, 1], [1, 0], [2, 1]], np.int32))
    >>> rows = np.arange(3)
    >>> compatible_sums(trie, rows, rows, np.array([1, 10, 100])).tolist()
    [11, 11, 100]
    """
    a_nodes, a_where = np.unique(trie.leaf[a_rows], return_inverse=True)
    b_nodes, b_where = np.unique(trie.leaf[b_rows], return_inverse=True)
    summed = np.zeros(len(b_nodes), values.dtype)
    np.add.at(summed, b_where, values)
    total = np.zeros(len(a_nodes), values.dtype)
    join_tries = _join_of()
    join_tries(
        trie.depth, a_nodes.astype(np.int32), b_nodes.astype(np.int32), summed, trie.offset, trie.parent, trie.label, total
    )
    return cast("NDArray[np.int64] | NDArray[np.float64]", total[a_where])


def _join_of() -> Callable[..., None]:
    """Return the compiled join, or the plain one."""
    compiled = extension()
    if compiled is not None:
        found: Callable[..., None] = compiled.join_tries
        return found
    from privrelease.disclosure.classes.plain_join import join_tries

    return join_tries
