"""A prefix tree over rows of codes, as flat arrays, and the join of two sets of its nodes under "missing matches anything".

Node ids at depth d number the distinct prefixes of d columns in ascending order of the rows, so that a set of distinct prefixes is an
ascending array of ids, and dropping the last column is one pass over it that merges neighbours with the same parent.

The join counts, for every row x of A, the rows y of B with x_j = y_j, x_j missing or y_j missing in every column j. At depth d it splits on
the last column: (1) B missing there: A whole, column dropped; (2) A missing there and B not: B's column dropped; (3) neither missing: value
by value. Dropping a column merges rows, so the three-way split stays far below 3^q; few rows on one side are compared directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from privrelease.disclosure.grouping import packed_words, row_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Trie", "build_trie", "compatible_sums"]

#: With at most this many rows on one side, pairs are compared directly.
_FEW = 8


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


def _column_order(codes: NDArray[np.int32]) -> NDArray[np.intp]:
    """Columns that lack no value last (they are split first and need no three-way split), then those with most values."""
    has_missing = np.any(codes == 0, axis=0)
    return np.lexsort((codes.max(axis=0, initial=0), ~has_missing))


def build_trie(codes: NDArray[np.int32]) -> Trie:
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
        labels.append(rows[first, depth - 1])
        node = np.cumsum(starts) - 1
    leaf = np.empty(n_rows, np.int64)
    leaf[order] = node
    return Trie(offset, np.concatenate(parents), np.concatenate(labels), leaf)


@numba.njit(cache=True)
def _pairs(
    depth: int,
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    values: NDArray[Any],
    total: NDArray[Any],
    offset: NDArray[np.int64],
    parent: NDArray[np.int32],
    label: NDArray[np.int32],
) -> None:
    """Compare every node of ``a`` with every node of ``b``, last column first; add ``values`` to ``total`` where they match."""
    for i in range(len(a)):
        for k in range(len(b)):
            x, y, d = a[i], b[k], depth
            while x != y:  # at depth 0 both are the root
                of_x, of_y = label[offset[d] + x], label[offset[d] + y]
                if of_x != of_y and min(of_x, of_y) > 0:
                    break
                x, y = parent[offset[d] + x], parent[offset[d] + y]
                d -= 1
            if x == y:
                total[i] += values[k]


@numba.njit(cache=True)
def _shorter(
    nodes: NDArray[np.int32], chosen: NDArray[np.int64], base: int, parent: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Drop the last column of the ``chosen`` nodes: ascending distinct parents, and which of them each chosen node became."""
    merged, where = np.empty(len(chosen), np.int32), np.empty(len(chosen), np.int64)
    n = 0
    for i in range(len(chosen)):
        up = parent[base + nodes[chosen[i]]]
        if n == 0 or merged[n - 1] != up:
            merged[n] = up
            n += 1
        where[i] = n - 1
    return merged[:n].copy(), where


@numba.njit(cache=True)
def _summed(values: NDArray[Any], chosen: NDArray[np.int64], where: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Sum the chosen values over the nodes that they became."""
    sums = np.zeros(n, values.dtype)
    for i in range(len(chosen)):
        sums[where[i]] += values[chosen[i]]
    return sums


@numba.njit(cache=True)
def _missing_and_known(labels: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions without a value, ascending; positions with one, stably sorted by it."""
    missing, known = np.flatnonzero(labels == 0), np.flatnonzero(labels)
    largest = labels.max()
    if largest > 4 * len(known) + 64:
        return missing, known[np.argsort(labels[known], kind="mergesort")]
    start = np.zeros(largest + 2, np.int64)
    for i in known:
        start[labels[i] + 1] += 1
    for v in range(1, largest + 2):
        start[v] += start[v - 1]
    ordered = np.empty(len(known), np.int64)
    for i in known:
        ordered[start[labels[i]]] = i
        start[labels[i]] += 1
    return missing, ordered


@numba.njit(cache=True)
def _run_end(labels: NDArray[np.int32], order: NDArray[np.int64], begin: int) -> int:
    """End of the run of equal labels that begins at ``begin``."""
    end = begin + 1
    while end < len(order) and labels[order[end]] == labels[order[begin]]:
        end += 1
    return end


@numba.njit(cache=True)
def _join(
    depth: int,
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    values: NDArray[Any],
    offset: NDArray[np.int64],
    parent: NDArray[np.int32],
    label: NDArray[np.int32],
) -> NDArray[Any]:
    """Sum ``values`` of the nodes ``b`` over those that match each node of ``a``; both ascending ids at ``depth``."""
    total = np.zeros(len(a), values.dtype)
    if len(a) == 0 or len(b) == 0:
        return total
    if depth == 0 or min(len(a), len(b)) <= _FEW:
        _pairs(depth, a, b, values, total, offset, parent, label)
        return total
    base = offset[depth]
    a_labels, b_labels = label[base + a], label[base + b]
    a_missing, a_known = _missing_and_known(a_labels)
    b_missing, b_known = _missing_and_known(b_labels)

    if len(b_missing):  # B without the column: it no longer tells nodes of A apart
        all_a = np.arange(len(a))
        left, to_left = _shorter(a, all_a, base, parent)
        right, to_right = _shorter(b, b_missing, base, parent)
        sums = _join(depth - 1, left, right, _summed(values, b_missing, to_right, len(right)), offset, parent, label)
        total += sums[to_left]

    if len(a_missing) and len(b_known):  # A without the column, B with it
        left, to_left = _shorter(a, a_missing, base, parent)
        by_node = np.sort(b_known)
        right, to_right = _shorter(b, by_node, base, parent)
        sums = _join(depth - 1, left, right, _summed(values, by_node, to_right, len(right)), offset, parent, label)
        total[a_missing] += sums[to_left]

    i, k = 0, 0
    while i < len(a_known) and k < len(b_known):  # both with the column: value by value
        i_end, k_end = _run_end(a_labels, a_known, i), _run_end(b_labels, b_known, k)
        value_a, value_b = a_labels[a_known[i]], b_labels[b_known[k]]
        if value_a == value_b:
            left, to_left = _shorter(a, a_known[i:i_end], base, parent)
            right, to_right = _shorter(b, b_known[k:k_end], base, parent)
            of_value = _summed(values, b_known[k:k_end], to_right, len(right))
            sums = _join(depth - 1, left, right, of_value, offset, parent, label)
            for s in range(i_end - i):
                total[a_known[i + s]] += sums[to_left[s]]
        if value_a <= value_b:
            i = i_end
        if value_b <= value_a:
            k = k_end
    return total


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
    sums = _join(trie.depth, a_nodes.astype(np.int32), b_nodes.astype(np.int32), summed, trie.offset, trie.parent, trie.label)
    matched: NDArray[np.int64] | NDArray[np.float64] = sums[a_where]
    return matched
