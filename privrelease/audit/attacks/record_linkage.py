"""Record linkage: an attacker who knows some columns of a person looks for the released record nearest to them.

A guess is right where the record taken is the person's own, which only the row map shows. Of several nearest records one is
taken by lot. No one outside the release has a record to be found in it, so the control rate is 0 by definition, and guessing
finds one of n records.

Source: Domingo-Ferrer and Torra 2001, distance-based record linkage.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.attacks.nearest import nearest
from privrelease.audit.attacks.rates import Rate
from privrelease.audit.attacks.records import Tuples

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.records import Attribute

__all__ = ["guess_rate", "links"]


def links(
    targets: Sequence[Attribute],
    persons: NDArray[np.int64],
    released: Sequence[Attribute],
    owners: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    ranks: NDArray[np.int64],
) -> Rate:
    """Return how many of the targets are led to a record of their own.

    ``persons``: (m,) of the targets; ``owners``: the persons of some of the ``released``, by their places; ``ranks``: (n,) a permutation, the
    lot among equally near records.

    >>> from privrelease.audit.attacks.records import Attribute
    >>> age = np.array([np.nan, 20, 30, 60])
    >>> rows = [Attribute("age", np.array([1, 1, 3], np.uint8), age)]
    >>> links(rows, np.array([7, 8, 9]), rows, np.array([7, 8, 9]).__getitem__, np.array([0, 1, 2]))  # 7 and 8 look alike
    Rate(successes=2, attempts=3, known=None)
    """
    records = Tuples.among(released)
    found = nearest(targets, records).best(records.least(ranks), ranks)
    led = found >= 0
    return Rate(int(np.count_nonzero(owners(found[led]) == persons[led])), len(persons))


def guess_rate(rows: int) -> Rate:
    """Return the rate of taking any one of ``rows`` records."""
    return Rate(known=Fraction(1, rows)) if rows else Rate()
