"""The join of two sets of nodes of a trie in numpy: the plain form of the compiled loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Nodes: TypeAlias = NDArray[np.int32]
    Chosen: TypeAlias = NDArray[np.intp]

__all__ = ["join_tries"]

#: With at most this many nodes on one side, pairs are compared directly.
_FEW = 8


@dataclass(frozen=True, eq=False, slots=True)
class _Tree:
    """The parent and the label of every node, and where those of a depth begin."""

    offset: NDArray[np.int64]
    parent: Nodes
    label: Nodes

    def labels(self, nodes: Nodes, depth: int) -> Nodes:
        """Return the codes of the nodes' last column."""
        found: Nodes = self.label[self.offset[depth] + nodes]
        return found

    def parents(self, nodes: Nodes, depth: int) -> Nodes:
        """Return the nodes one column shorter."""
        found: Nodes = self.parent[self.offset[depth] + nodes]
        return found

    def matches(self, node: np.int32, others: Nodes, depth: int) -> NDArray[np.bool_]:
        """Return which of ``others`` agree with ``node`` in every column, or lack a value there, or it does."""
        agree = np.ones(len(others), np.bool_)
        one = np.array([node])
        for d in range(depth, 0, -1):
            mine, theirs = self.labels(one, d), self.labels(others, d)
            agree &= (theirs == mine) | (theirs == 0) | (mine == 0)
            one, others = self.parents(one, d), self.parents(others, d)
        return agree

    def shorter(self, nodes: Nodes, chosen: Chosen, depth: int) -> tuple[Nodes, NDArray[np.intp]]:
        """Drop the last column of the ``chosen`` nodes: ascending distinct parents, and which of them each chosen node became."""
        up = self.parents(nodes[chosen], depth)
        begins = np.diff(up, prepend=-1) != 0
        return up[begins], np.cumsum(begins) - 1


def join_tries(
    depth: int,
    a: Nodes,
    b: Nodes,
    values: NDArray[Any],
    offset: NDArray[np.int64],
    parent: Nodes,
    label: Nodes,
    total: NDArray[Any],
) -> None:
    """Add to ``total`` (len(a),) for each node of ``a`` the ``values`` of the nodes ``b`` that match it; both ascending ids at ``depth``."""
    _join(_Tree(offset, parent, label), depth, a, b, values, total)


def _join(tree: _Tree, depth: int, a: Nodes, b: Nodes, values: NDArray[Any], total: NDArray[Any]) -> None:
    if len(a) == 0 or len(b) == 0:
        return
    if depth == 0 or min(len(a), len(b)) <= _FEW:
        _add_pairs(tree, depth, a, b, values, total)
        return
    for a_part, b_part in _pairs_of_parts(tree.labels(a, depth), tree.labels(b, depth)):
        left, to_left = tree.shorter(a, a_part, depth)
        right, to_right = tree.shorter(b, b_part, depth)
        summed = np.zeros(len(right), values.dtype)
        np.add.at(summed, to_right, values[b_part])
        matched = np.zeros(len(left), values.dtype)
        _join(tree, depth - 1, left, right, summed, matched)
        total[a_part] += matched[to_left]


def _add_pairs(tree: _Tree, depth: int, a: Nodes, b: Nodes, values: NDArray[Any], total: NDArray[Any]) -> None:
    """Compare every node of ``a`` with every node of ``b``; each sum is taken in the order of ``b``, since floats are distinguished by it."""
    if len(a) <= len(b):
        for i, node in enumerate(a):
            found = np.flatnonzero(tree.matches(node, b, depth))
            np.add.at(total, np.full(len(found), i), values[found])
    else:
        for k, node in enumerate(b):
            total[tree.matches(node, a, depth)] += values[k]


def _pairs_of_parts(a_labels: Nodes, b_labels: Nodes) -> Iterator[tuple[Chosen, Chosen]]:
    """Yield the three pairs of parts: the column dropped from A where B lacks it; from B where only A lacks it; value by value."""
    a_known, b_known = np.flatnonzero(a_labels), np.flatnonzero(b_labels)
    a_missing, b_missing = np.flatnonzero(a_labels == 0), np.flatnonzero(b_labels == 0)
    if len(b_missing):
        yield np.arange(len(a_labels)), b_missing
    if len(a_missing) and len(b_known):
        yield a_missing, b_known
    a_sorted = a_known[np.argsort(a_labels[a_known], kind="stable")]
    b_sorted = b_known[np.argsort(b_labels[b_known], kind="stable")]
    of_a, of_b = a_labels[a_sorted], b_labels[b_sorted]
    for value in np.intersect1d(of_a, of_b):
        yield (
            a_sorted[np.searchsorted(of_a, value) : np.searchsorted(of_a, value, side="right")],
            b_sorted[np.searchsorted(of_b, value) : np.searchsorted(of_b, value, side="right")],
        )
