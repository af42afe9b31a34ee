"""Distance to the closest record: how near released records lie to records of the data. Information, never evidence of privacy.

Each column adds 0 where both are equal and, where they differ, 1 for names and the difference over the range of the *data's* column for
numbers (a constant column: 1); the distance is the mean over columns. Missing is a value like any other. A label adds 0 where it holds the
value of the data, else 1.

A copy with one value changed is as far from its original as a stranger may be, and a faithful model of a dense population lies near everybody:
neither small nor large distances settle anything. The same figure of held-out persons appears next to it where there are any.

Source: Zhao et al. 2021 and SDMetrics for the figure; Ganev and De Cristofaro 2023 for why it is no evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.attacks.nearest import nearest
from privrelease.audit.attacks.records import Attribute, Tuples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["closest", "distance"]


def distance(
    rows: Sequence[Attribute], real: Sequence[Attribute], ranks: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return the distance of each of ``rows`` (m,) to the closest of ``real``; nan where that has no record. ``ranks``: see :func:`closest`.

    >>> numbers = np.array([np.nan, 0, 2, 6, 7, 8, 9, 11, 20])
    >>> real = [Attribute("a", np.array([1, 8, 3, 5, 2]), numbers), Attribute("c", np.array([4] * 5), numbers)]
    >>> made = [Attribute("a", np.array([7, 7, 3]), numbers), Attribute("c", np.array([4, 6, 4]), numbers)]
    >>> distance(made, real).tolist()
    [0.075, 0.575, 0.0]
    """
    return closest(rows, real, ranks)[0]


def closest(
    rows: Sequence[Attribute], real: Sequence[Attribute], ranks: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distance of each of ``rows`` to the closest of ``real`` and the first of ``real`` at it (-1: none), in the order of ``ranks``,
    (n,) different numbers; None: in their own.
    """
    found, n_real = np.full(len(rows[0].codes), -1, np.int64), len(real[0].codes)
    if not n_real:
        return np.full(len(found), np.nan), found
    records = Tuples.among(real)
    ranks = np.arange(n_real, dtype=np.int64) if ranks is None else ranks
    found = nearest(rows, records, plain=True).best(records.least(ranks), ranks)
    apart = np.zeros(len(found))
    for one, other in zip(rows, real, strict=True):
        apart += _apart(one, other, found)
    return apart / len(rows), found


def _apart(one: Attribute, other: Attribute, found: NDArray[np.int64]) -> NDArray[np.float64]:
    """Distance of one column from each row to the real row found for it."""
    theirs = other.codes[found]
    differ: NDArray[np.float64] = (one.codes != theirs).astype(np.float64)
    there = other.codes[other.codes > 0]
    if other.values is None or not len(there):
        return differ
    span = other.values[int(there.max())] - other.values[int(there.min())]
    if not span:
        return differ
    gap = np.abs(other.values[one.codes] - other.values[theirs]) / span
    return np.asarray(np.where((one.codes > 0) & (theirs > 0), gap, differ))
