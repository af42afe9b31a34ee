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

import numpy as np

from privrelease.disclosure.classes.grouping import packed_words, row_order
from privrelease.disclosure.compiled import loop

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


@loop()
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


@loop()
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


@loop()
def _summed(values: NDArray[Any], chosen: NDArray[np.int64], where: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Sum the chosen values over the nodes that they became."""
    sums = np.zeros(n, values.dtype)
    for i in range(len(chosen)):
        sums[where[i]] += values[chosen[i]]
    return sums


@loop()
def _where(labels: NDArray[np.int32], missing: bool) -> NDArray[np.int64]:
    """Positions without a value, or with one, ascending."""
    n = 0
    for i in range(len(labels)):
        n += (labels[i] == 0) == missing
    chosen = np.empty(n, np.int64)
    n = 0
    for i in range(len(labels)):
        if (labels[i] == 0) == missing:
            chosen[n] = i
            n += 1
    return chosen


@loop()
def _counting_sort(labels: NDArray[np.int32], chosen: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
    """Sort the chosen positions stably by label, for labels up to ``largest``."""
    start = np.zeros(largest + 2, np.int64)
    for i in range(len(chosen)):
        start[labels[chosen[i]] + 1] += 1
    for v in range(1, largest + 2):
        start[v] += start[v - 1]
    ordered = np.empty(len(chosen), np.int64)
    for i in range(len(chosen)):
        v = labels[chosen[i]]
        ordered[start[v]] = chosen[i]
        start[v] += 1
    return ordered


@loop()
def _merge_sort(labels: NDArray[np.int32], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort the chosen positions stably by label; for few of many labels; numpy's own sort takes a second to compile."""
    n = len(chosen)
    source, target = chosen.copy(), np.empty(n, np.int64)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, k = low, middle
            for t in range(low, high):
                if i < middle and (k >= high or labels[source[i]] <= labels[source[k]]):
                    target[t] = source[i]
                    i += 1
                else:
                    target[t] = source[k]
                    k += 1
        source, target = target, source
        width *= 2
    return source


@loop()
def _by_label(labels: NDArray[np.int32], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort the chosen positions stably by label."""
    largest = 0
    for i in range(len(chosen)):
        largest = max(largest, labels[chosen[i]])
    if largest > 4 * len(chosen) + 64:
        return _merge_sort(labels, chosen)
    return _counting_sort(labels, chosen, largest)


@loop()
def _labels(nodes: NDArray[np.int32], base: int, label: NDArray[np.int32]) -> NDArray[np.int32]:
    """Codes of the nodes' last column."""
    found = np.empty(len(nodes), np.int32)
    for i in range(len(nodes)):
        found[i] = label[base + nodes[i]]
    return found


@loop()
def _add_at(total: NDArray[Any], chosen: NDArray[np.int64], sums: NDArray[Any], where: NDArray[np.int64]) -> None:
    """Give each chosen node the sum of the node that it became."""
    for i in range(len(chosen)):
        total[chosen[i]] += sums[where[i]]


@loop()
def _run_end(labels: NDArray[np.int32], order: NDArray[np.int64], begin: int) -> int:
    """End of the run of equal labels that begins at ``begin``."""
    end = begin + 1
    while end < len(order) and labels[order[end]] == labels[order[begin]]:
        end += 1
    return end


@loop()
def _join(  # noqa: C901 -- one body compiles in half the time of three
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
    a_labels, b_labels = _labels(a, base, label), _labels(b, base, label)
    a_missing, a_known = _where(a_labels, True), _where(a_labels, False)
    b_missing, b_known = _where(b_labels, True), _where(b_labels, False)

    # Three pairs of parts: the column dropped from A where B lacks it; from B where only A lacks it; value by value.
    # One body for the three, since each inlined copy doubles the time to compile.
    a_sorted, b_sorted = _by_label(a_labels, a_known), _by_label(b_labels, b_known)
    everything = np.arange(len(a))
    part, i, k = 0, 0, 0
    while part < 3:
        a_part, b_part = everything, b_missing
        if part == 1:
            a_part, b_part = a_missing, b_known
        if part == 2:
            if i == len(a_sorted) or k == len(b_sorted):
                break
            i_end, k_end = _run_end(a_labels, a_sorted, i), _run_end(b_labels, b_sorted, k)
            value_a, value_b = a_labels[a_sorted[i]], b_labels[b_sorted[k]]
            a_part, b_part = a_sorted[i:i_end], b_sorted[k:k_end]
            if value_a <= value_b:
                i = i_end
            if value_b <= value_a:
                k = k_end
            if value_a != value_b:
                continue
        else:
            part += 1
        if len(a_part) and len(b_part):
            left, to_left = _shorter(a, a_part, base, parent)
            right, to_right = _shorter(b, b_part, base, parent)
            summed = _summed(values, b_part, to_right, len(right))
            _add_at(total, a_part, _join(depth - 1, left, right, summed, offset, parent, label), to_left)
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
