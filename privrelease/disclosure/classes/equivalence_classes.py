"""Equivalence classes: the distinct tuples of coded quasi-identifiers with their counts.

A class table is what solvers and measures see of the data: J rows of codes instead of n records, so cost in Python grows
with the number of classes. Codes mean nothing outside the table they belong to: per column, 0 is missing and 1..v are the
column's distinct values in ascending order of the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ClassTable", "narrowed"]


@dataclass(frozen=True, eq=False, slots=True)
class ClassTable:
    """Distinct tuples of codes, in ascending lexicographic order, with the number of records of each.

    ``columns``: q names. ``codes``: (J, q) whole numbers, C-contiguous, 0 = missing: int32, or a narrower type that holds the largest code and
    one more (:func:`narrowed`), so that whoever calculates with codes does so in a wider type. ``counts``: (J,) int64 records.
    ``weights``: (J,) float64 sums of sampling weights, or None. Persons: ``pairs_class`` (m,) uint32 and ``pairs_person`` (m,)
    uint32 list the distinct (class, person) pairs, sorted by class then person; None where every record is its own person.
    ``alike``: (p,) int64, how many persons each number of ``pairs_person`` represents, who all have as many rows of the same classes; None: one.
    ``pair_weights``: (m,) float64, of each pair the smallest sampling weight of the person's rows in the class, or None.

    >>> table = ClassTable(("sex", "region"), np.array([[1, 1], [1, 2], [2, 0]], np.int32), np.array([3, 1, 2]))
    >>> (table.n_classes, table.n_records)
    (3, 6)
    """

    columns: tuple[str, ...]
    codes: NDArray[np.integer[Any]]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    pairs_class: NDArray[np.uint32] | None = None
    pairs_person: NDArray[np.uint32] | None = None
    alike: NDArray[np.int64] | None = None
    pair_weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape != (len(self.counts), len(self.columns)):
            msg = "codes must have one row per class and one column per quasi-identifier"
            raise ValueError(msg)
        if (self.pairs_class is None) != (self.pairs_person is None):
            msg = "pairs_class and pairs_person come together"
            raise ValueError(msg)

    @property
    def n_classes(self) -> int:
        """J, the number of classes."""
        return len(self.counts)

    @property
    def n_records(self) -> int:
        """n, the number of records."""
        return int(np.sum(self.counts))


def narrowed(codes: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return codes in the narrowest unsigned type that holds the largest of them and one more, which represents a value that no record has.

    >>> [narrowed(np.array([0, largest])).dtype.name for largest in (254, 255, 70_000)]
    ['uint8', 'uint16', 'uint32']
    """
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0)) + 1))
