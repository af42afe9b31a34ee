"""Linkability: whether the release discloses which record of one list and which of another are the same person's.

The attacker holds two lists without a common key: one with some columns of the persons, one with others. Each half of a person is led to its
nearest released record; where both halves meet at one record, they are linked. The control is made of persons who are not in the release.

Source: Giomi et al. 2023 (Anonymeter), with one neighbour; of several nearest records each half takes the one of the lowest lot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.attacks.nearest import nearest
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.attacks.records import Tuples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.records import Attribute

__all__ = ["Halves", "linked"]


class Halves:
    """A released file under the two sets of columns; ``ranks``: (n,) a permutation, the lot among equally near records."""

    def __init__(self, first: Sequence[Attribute], second: Sequence[Attribute], ranks: NDArray[np.int64]) -> None:
        self._sides = tuple(Tuples.among(side) for side in (first, second))
        self._ranks = ranks

    def linked(self, first: Sequence[Attribute], second: Sequence[Attribute]) -> Rate:
        """Return how many targets have both halves, (m,) each, led to one record."""
        ends = [
            nearest(targets, side).best(side.least(self._ranks), self._ranks)
            for targets, side in zip((first, second), self._sides, strict=True)
        ]
        return Rate(int(np.count_nonzero((ends[0] == ends[1]) & (ends[0] >= 0))), len(ends[0]))


def linked(
    first: Sequence[Attribute], second: Sequence[Attribute], released: Sequence[Attribute], ranks: NDArray[np.int64]
) -> Rate:
    """Return how many targets are linked by a released file that holds the columns of both halves, in their order.

    >>> from privrelease.audit.attacks.records import Attribute
    >>> codes = [np.array([1, 2, 2], np.uint8), np.array([1, 1, 2], np.uint8)]
    >>> rows = [Attribute(name, column) for name, column in zip("ab", codes)]
    >>> linked(rows[:1], rows[1:], rows, np.array([0, 1, 2]))  # the second one's halves lead to rows 1 and 0
    Rate(successes=1, attempts=3, known=None)
    """
    return Halves(released[: len(first)], released[len(first) :], ranks).linked(first, second)
