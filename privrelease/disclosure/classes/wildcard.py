"""Missing matches anything: how many records each record may be taken for.

Two records match where in every column they agree or at least one of them is missing. Matching is not transitive, so records do not fall
into classes: each has its own count f, and average risk is the mean of 1/f (DESIGN semantics 1; case k01).

Source: the reading of sdcMicro (``freqCalc``; Templ, Kowarik, Meindl 2015) and of ARX's risk analysis. ``alpha`` is sdcMicro's: a record counts
its own tuple fully, a record with missing cells counts compatible complete records fully, and compatible records that have missing cells
otherwise count ``alpha`` each; a record without any value counts all records fully; alpha = 1 is the plain definition above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privrelease.disclosure.classes.class_sizes import MatchSizes
from privrelease.disclosure.classes.grouping import column_indices, group_rows, is_residual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["compatible_counts", "compatible_sizes", "match_counts", "match_sizes", "match_sums"]


def match_sums(
    codes: NDArray[np.integer[Any]], values: NDArray[np.int64] | NDArray[np.float64], *, alpha: float = 1
) -> NDArray[np.int64] | NDArray[np.float64]:
    """For every row of ``codes`` (J, q), the sum of ``values`` (J,) over matching rows, itself included: (J,).

    int64 for integer values and ``alpha`` 1, else float64. Errors: ValueError for ``alpha`` outside [0, 1].

    >>> codes = np.array([[1, 1], [1, 2], [1, 0]], np.int32)
    >>> match_sums(codes, np.array([2, 3, 4])).tolist()
    [6, 7, 9]
    >>> match_sums(codes, np.array([2, 3, 4]), alpha=0.5).tolist()
    [4.0, 5.0, 9.0]
    """
    from privrelease.disclosure.classes.tries import build_trie, compatible_sums

    if not 0 <= alpha <= 1:
        msg = "alpha is in [0, 1]"
        raise ValueError(msg)
    trie = build_trie(codes)
    rows = np.arange(len(codes))
    everything = compatible_sums(trie, rows, rows, values)
    if alpha == 1:
        return everything
    incomplete = np.flatnonzero(np.any(codes == 0, axis=1))
    partial = compatible_sums(trie, rows, incomplete, values[incomplete])
    grouping = group_rows(codes)
    own = np.zeros(grouping.n_groups, values.dtype)
    np.add.at(own, grouping.group, values)
    others = partial.astype(np.float64)
    others[incomplete] -= own[grouping.group[incomplete]].astype(np.float64)
    others[is_residual(codes)] = 0
    return np.asarray(everything - (1 - alpha) * others, np.float64)


def _chosen_codes(table: ClassTable, columns: Sequence[int | str] | None) -> NDArray[np.integer[Any]]:
    return table.codes[:, list(column_indices(table, columns))]


def match_counts(
    table: ClassTable, columns: Sequence[int | str] | None = None, *, residual: Literal["lost", "class"] = "lost"
) -> NDArray[np.int64]:
    """For every class of ``table``, the number of records that match it on ``columns`` (all for None): (J,) int64.

    ``residual``: a class with every such column missing is ``lost`` (its count is 0, and no other counts it) or a ``class`` like any other.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("grp", "site"), np.array([[0, 1], [1, 1]], np.int32), np.array([1, 4]))
    >>> (
    ...     match_counts(table).tolist(),
    ...     match_counts(table, ["grp"]).tolist(),
    ...     match_counts(table, ["grp"], residual="class").tolist(),
    ... )
    ([5, 5], [0, 4], [5, 5])
    """
    codes = _chosen_codes(table, columns)
    grouping = group_rows(codes)
    distinct = codes[grouping.first]
    counts = grouping.sums(table.counts)
    kept = ~is_residual(distinct) if residual == "lost" else np.ones(len(distinct), np.bool_)
    matches = np.where(kept, counts, 0)
    if bool(np.any(distinct[kept] == 0)):
        matches[kept] = match_sums(distinct[kept], counts[kept])
    return matches[grouping.group]


def match_sizes(
    table: ClassTable, columns: Sequence[int | str] | None = None, *, residual: Literal["lost", "class"] = "lost"
) -> MatchSizes:
    """Histogram of :func:`match_counts` over records, for :func:`privrelease.disclosure.risk.prosecutor.prosecutor_risk`.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("a", "b"), np.array([[0, 0], [1, 0], [1, 1]], np.int32), np.array([2, 1, 4]))
    >>> sizes = match_sizes(table)
    >>> (sizes.sizes.tolist(), sizes.records.tolist(), sizes.residual)
    ([5], [5], 2)
    """
    matches = match_counts(table, columns, residual=residual)
    lost = matches == 0
    return MatchSizes.of(matches[~lost], table.counts[~lost], residual=int(table.counts[lost].sum()))


def compatible_counts(
    source: ClassTable,
    released: ClassTable,
    columns: Sequence[str] | None = None,
    *,
    residual: Literal["lost", "class"] = "lost",
) -> NDArray[np.int64]:
    """For every class of ``source`` (true values), the number of ``released`` records compatible with it: (J_source,) int64.

    Both tables in one coding: a code means the same value in both. A value missing in the source is unknown and matches anything.
    ``residual``: released records with every column missing are ``lost`` (match nothing) or a ``class``. A count of 0 means that the
    person was dropped and nothing looks like them.

    Errors: ValueError where the released table lacks a column.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> source = ClassTable(("a", "b"), np.array([[1, 1], [1, 2], [2, 1]], np.int32), np.array([2, 1, 1]))
    >>> released = ClassTable(("a", "b"), np.array([[0, 0], [1, 0], [1, 1]], np.int32), np.array([1, 1, 2]))
    >>> compatible_counts(source, released).tolist()
    [3, 1, 0]
    """
    from privrelease.disclosure.classes.tries import build_trie, compatible_sums

    names = source.columns if columns is None else tuple(columns)
    if not set(names) <= set(released.columns):
        msg = "the released table lacks a column of the comparison"
        raise ValueError(msg)
    ours = _chosen_codes(source, names)
    theirs = _chosen_codes(released, names)
    kept = ~is_residual(theirs) if residual == "lost" else np.ones(len(theirs), np.bool_)
    trie = build_trie(np.concatenate([ours, theirs[kept]]))
    n_ours = len(ours)
    rows = np.arange(n_ours + int(kept.sum()))
    counts = compatible_sums(trie, rows[:n_ours], rows[n_ours:], released.counts[kept])
    return counts.astype(np.int64)


def compatible_sizes(
    source: ClassTable,
    released: ClassTable,
    columns: Sequence[str] | None = None,
    *,
    residual: Literal["lost", "class"] = "lost",
) -> MatchSizes:
    """Histogram of :func:`compatible_counts` over source records; those that match nothing are counted as ``residual``.

    The average prosecutor risk of it is the mean of 1/f over the source records that are found at all.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> from privrelease.disclosure.risk.prosecutor import prosecutor_risk
    >>> source = ClassTable(("a",), np.array([[1], [2]], np.int32), np.array([2, 1]))
    >>> released = ClassTable(("a",), np.array([[0], [1]], np.int32), np.array([1, 2]))
    >>> sizes = compatible_sizes(source, released)
    >>> (prosecutor_risk(sizes).average, sizes.residual)
    (Fraction(1, 2), 1)
    """
    found = compatible_counts(source, released, columns, residual=residual)
    lost = found == 0
    return MatchSizes.of(found[~lost], source.counts[~lost], residual=int(source.counts[lost].sum()))
