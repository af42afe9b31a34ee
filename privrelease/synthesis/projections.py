"""Projections of noisy counts: to whole numbers of a total, and to given totals of groups. Both are post-processing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["simplex_by_group", "whole_simplex"]


def whole_simplex(noisy: NDArray[np.int64], total: int, possible: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the projection of integers to the simplex of a total, each rounded to the nearest integer (halves up), in exact arithmetic.

    The projection is max(x - t, 0) with t = (sum of the k largest - total)/k (Held, Wolfe, Crowder 1974). What is asked of an envelope next may
    depend on it, so that it must not depend on the machine. ``possible``: cells that may be above 0.

    >>> whole_simplex(np.array([5, 3, -2]), 6, np.ones(3, bool)).tolist()
    [4, 2, 0]
    """
    found = np.zeros(noisy.size, dtype=np.int64)
    if total <= 0 or not possible.any():
        return found
    descending = np.sort(noisy[possible])[::-1]
    excess = np.cumsum(descending) - total
    many = np.arange(1, descending.size + 1)
    k = int(many[np.flatnonzero(descending * many > excess)[-1]])
    above = noisy[possible] * k - int(excess[k - 1])
    found[possible] = np.where(above > 0, (2 * above + k) // (2 * k), 0)
    return found


def simplex_by_group(
    noisy: NDArray[np.float64], groups: NDArray[np.int64], totals: NDArray[np.float64], possible: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return, for each group, the numbers nearest to ``noisy`` that are at least 0 and add up to the group's total.

    ``groups``: of each number, 0..len(totals)-1; ``possible``: which may be above 0. A group without any such number is 0, whatever its total.

    >>> noisy, groups = np.array([5.0, 3.0, -2.0, 1.0, 1.0]), np.array([0, 0, 0, 1, 1])
    >>> simplex_by_group(noisy, groups, np.array([6.0, 4.0]), np.ones(5, bool)).tolist()
    [4.0, 2.0, 0.0, 2.0, 2.0]
    """
    found = np.zeros(noisy.size)
    kept = np.flatnonzero(possible & (totals[groups] > 0))
    if not kept.size:
        return found
    order = kept[np.lexsort((-noisy[kept], groups[kept]))]
    of, descending = groups[order], noisy[order]
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    sizes = np.diff(starts, append=of.size)
    rank = np.arange(of.size) - np.repeat(starts, sizes) + 1
    upto = np.cumsum(descending)
    upto -= np.repeat(upto[starts] - descending[starts], sizes)
    threshold = (upto - totals[of]) / rank
    # the largest number is always above its threshold, but for rounding
    last = np.maximum(np.maximum.reduceat(np.where(descending > threshold, rank, 0), starts), 1)
    found[order] = np.maximum(descending - np.repeat(threshold[starts + last - 1], sizes), 0)
    return found
