"""Covers: which values of a source each released value of a column may represent, and how far any other value is from it.

A cover is between two codings of one column: the *values* that a source, a control or an attacker's list holds, and the *labels* that the release
holds. Code 0 is missing on both sides. Labels of one level have nothing in common, so that a value is under one label at most. A file with labels
of several levels has values under several of them: the planned level first, the others after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Cover", "Leaves"]


@dataclass(frozen=True, eq=False, slots=True)
class Leaves:
    """Size of labels in values of the column's domain. ``of``: (v + 1,) int64, place 0 the whole domain. ``what``: the values that are counted."""

    of: NDArray[np.int64]
    what: Literal["listed", "grid", "days", "seen"]
    ends: NDArray[np.float64] | None = None
    """On a domain that is a grid, the first and the last number of each label in it, (2, v + 1)."""
    step: float = 1.0

    @property
    def domain(self) -> int:
        """Values of the domain."""
        return int(self.of[0])

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the domain that each label covers, (v + 1,), place 0 being 1."""
        return self.of / max(1, self.domain)


@dataclass(frozen=True, eq=False, slots=True)
class Cover:
    """See the module. v labels, t values.

    ``under``: (d, t + 1) int64, the labels that each value is under, 0 for none; d is 1 where labels are of one level. ``ends``: (2, v + 1) float64
    where values are ordered, a label holds numbers from its first end to below its second (infinite where it is open; one number where both are
    the same), and labels ascend; ``numbers``: (t + 1,) float64, those of the values; None for names. ``steps``: for names, the groups at each level of the hierarchy, the finest first, that each value, (levels, t + 1), and each label, (levels, v + 1), is in;
    0 for a level that is finer than the label; ``own``: (v + 1,) the level of each label, 0 for a value, -1 for what is no label.
    ``lacking``: (t + 1,) bool, values for which the hierarchy has no label at all.
    """

    under: NDArray[np.int64]
    leaves: Leaves
    levels: tuple[int, ...] = (1,)
    """The level of each row of ``under``."""
    lacking: NDArray[np.bool_] | None = None
    height: int | None = None
    """Levels of the hierarchy; None: there is none."""
    ends: NDArray[np.float64] | None = None
    numbers: NDArray[np.float64] | None = None
    steps: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    own: NDArray[np.int64] | None = None

    @property
    def finest(self) -> NDArray[np.int64]:
        """The finest label that each value is under, (t + 1,), 0 for none."""
        found = np.zeros(self.under.shape[1], np.int64)
        for _, row in sorted(zip(self.levels, self.under, strict=True), key=lambda one: one[0]):
            found = np.where(found > 0, found, row)
        return found

    @property
    def single(self) -> bool:
        """Return True if no value is under two labels."""
        return len(self.under) == 1

    def carried(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the label that each value is under: 0 for a missing value, -1 for one that is under none; of several the first.

        >>> cover = Cover(np.array([[0, 1, 1, 0]]), Leaves(np.array([3, 2]), "seen"))
        >>> cover.carried(np.array([0, 1, 2, 3])).tolist()
        [0, 1, 1, -1]
        """
        first = np.zeros(self.under.shape[1], np.int64)
        for row in self.under[::-1]:
            first = np.where(row > 0, row, first)
        first[1:][first[1:] == 0] = -1
        found: NDArray[np.int64] = first[codes]
        return found

    def holds(self, labels: NDArray[np.integer], codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell of pairs of a label and a value whether the value is under the label; a missing value is under none."""
        found: NDArray[np.bool_] = ((self.under[:, codes] == labels) & (np.asarray(labels) > 0)).any(axis=0)
        return found

    def meets(self, operator: str, label: int) -> NDArray[np.bool_]:
        """Tell of every value, (t + 1,), whether it is under a label (``=``), or not beyond its upper (``<=``) or lower (``>=``) end.

        A missing value meets ``=`` 0 alone.
        """
        if label == 0:
            found: NDArray[np.bool_] = np.arange(self.under.shape[1]) == 0
            return found
        if operator == "=" or self.ends is None or self.numbers is None:
            return np.asarray((self.under == label).any(axis=0))
        low, high = self.ends[:, label]
        with np.errstate(invalid="ignore"):  # a missing value is nan, which meets nothing
            met: NDArray[np.bool_] = self.numbers >= low if operator == ">=" else (self.numbers < high) | (self.numbers <= low)
        return met

    def within(self, low: int, high: int) -> NDArray[np.float64]:
        """Return the share of the values under each label, (v + 1,), that are between two of them, both included: as if spread evenly in the label.

        >>> leaves = Leaves(np.array([30, 10]), "grid", np.array([[np.nan, 20], [np.nan, 29]]))
        >>> Cover(np.array([[0, 1, 1]]), leaves, numbers=np.array([np.nan, 22, 25])).within(1, 2).tolist()
        [0.0, 0.4]
        """
        sizes = np.maximum(self.leaves.of, 1)
        if self.leaves.ends is not None and self.numbers is not None:
            first, last = self.leaves.ends
            inside = np.minimum(last, self.numbers[high]) - np.maximum(first, self.numbers[low])
            held = np.floor(inside / self.leaves.step + 0.5) + 1
            shares = np.where(inside >= 0, held, 0.0) / sizes
        else:
            shares = np.bincount(self.under[0][low : high + 1], minlength=len(sizes)) / sizes
        shares[0] = 0.0
        found: NDArray[np.float64] = shares
        return found

    def span(self) -> tuple[float, float]:
        """Return the least and the greatest finite end of the labels; (0, 0) where there is none."""
        finite = np.zeros(0) if self.ends is None else self.ends[np.isfinite(self.ends)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)

    @property
    def middles(self) -> NDArray[np.float64] | None:
        """Return the number in the middle of each label, the end that it has where it is open: (v + 1,); None for names."""
        if self.ends is None:
            return None
        low, high = self.ends
        with np.errstate(invalid="ignore"):
            found: NDArray[np.float64] = np.where(np.isinf(low), high, np.where(np.isinf(high), low, (low + high) / 2))
        return found

    def apart(self, codes: NDArray[np.integer], bounds: tuple[float, float]) -> NDArray[np.float64]:
        """Return the distance, in [0, 1], of each value from each label: (m, v + 1).

        Of numbers, that to the nearest end over the range ``bounds``; of names, the height of the lowest common ancestor over that of the tree.
        """
        far = np.zeros((len(codes), len(self.leaves.of)))
        if self.ends is not None and self.numbers is not None:
            wide = bounds[1] - bounds[0]
            if wide > 0:
                ours = self.numbers[codes][:, None]
                gap = np.maximum(np.maximum(self.ends[0] - ours, ours - self.ends[1]), 0.0)
                far[:] = np.clip(np.nan_to_num(gap / wide, nan=1.0), 0.0, 1.0)
        elif self.steps is not None:
            far[:] = 1.0
            ours, theirs = self.steps
            for level in range(len(ours) - 1, -1, -1):
                group = ours[level][codes]
                far[(group[:, None] == theirs[level]) & (group[:, None] > 0)] = (level + 1) / len(ours)
        return far
