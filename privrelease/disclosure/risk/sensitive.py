"""Counts of sensitive values within equivalence classes: what l-diversity and t-closeness measure.

Missing sensitive values (DESIGN semantics 14; case k05): ``known`` looks at known values only, and a class that has none has nothing that could be
diverse: it fails. ``value`` takes missing for one more value. Thresholds use ``known``; a report names both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MissingSensitive", "SensitiveCounts"]

MissingSensitive = Literal["known", "value"]


@dataclass(frozen=True, eq=False, slots=True)
class SensitiveCounts:
    """Distinct (class, value) pairs, sorted by class then value, and the records of each; make one with :meth:`of`.

    ``group``: (m,) int64 class, 0..n_classes-1. ``value``: (m,) int64 code of the sensitive value, ascending with the value, 0 = missing.
    ``count``: (m,) int64, at least 1. A class may have no pair at all.
    """

    group: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(
        cls, group: NDArray[np.int64], value: NDArray[np.int64], count: NDArray[np.int64], n_classes: int | None = None
    ) -> SensitiveCounts:
        """From three (m,) arrays in any order; equal pairs are added up, empty ones left out.

        Errors: ValueError for lengths that differ, negative numbers, a class outside ``n_classes``.

        >>> counts = SensitiveCounts.of(np.array([1, 0, 1]), np.array([2, 1, 2]), np.array([3, 1, 4]))
        >>> (counts.group.tolist(), counts.value.tolist(), counts.count.tolist())
        ([0, 1], [1, 2], [1, 7])
        """
        arrays = [np.asarray(array, np.int64) for array in (group, value, count)]
        if len({array.shape for array in arrays}) != 1 or any(array.size and array.min() < 0 for array in arrays):
            msg = "classes, values and counts are three arrays of one length, none negative"
            raise ValueError(msg)
        if bool(np.all(arrays[2] > 0)):  # as it is of a class table: no copy
            groups, values, counts = arrays
        else:
            groups, values, counts = (array[arrays[2] > 0] for array in arrays)
        total = int(groups.max(initial=-1)) + 1
        if n_classes is not None and total > n_classes:
            msg = "a class lies outside the number of classes"
            raise ValueError(msg)
        span = int(values.max(initial=0)) + 1
        keys = groups * span
        keys += values
        if bool(np.all(keys[1:] > keys[:-1])):  # distinct and in order already
            return cls(groups, values, counts, total if n_classes is None else n_classes)
        keys, where = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(keys), np.int64)
        np.add.at(sums, where, counts)
        return cls(keys // span, keys % span, sums, total if n_classes is None else n_classes)

    def seen(self, missing: MissingSensitive) -> SensitiveCounts:
        """The pairs that a reading of missing values looks at."""
        if missing == "value":
            return self
        kept = self.value > 0
        if bool(kept.all()):
            return self
        return SensitiveCounts(self.group[kept], self.value[kept], self.count[kept], self.n_classes)

    @property
    def totals(self) -> NDArray[np.int64]:
        """Records of each class: (n_classes,) int64."""
        sums = np.zeros(self.n_classes, np.int64)
        np.add.at(sums, self.group, self.count)
        return sums
