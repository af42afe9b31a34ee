"""The control compared with the data by content: a control that repeats the data hides what the release gives away.

Equal rows occur by chance, in coarse columns nearly always, so a number of equal rows alone shows nothing. If control and data are persons of one
population who were put on either side without regard to their values, every split of the pooled rows into sides of these sizes is as likely. Under such
splits the statistic of homogeneity X² of the table (class of equal rows x side) has the mean and the variance of Haldane (1940), whatever the classes are. A
control that was copied from the data splits the classes too evenly: X² is far below its mean. The probability of a value as low follows from a gamma law with
these moments (Wilson and Hilferty 1931), with a correction for continuity of half the smallest step. Classes of at most four pooled rows are judged for
themselves too, where one copy weighs most and a shift of the large classes cannot hide it. A control that is the data with one column changed (jittered, set to
missing, recoded) is the same test over all columns but one, for each of them; their probabilities are multiplied by their number (Bonferroni). Below 1 in
1,000 the control is taken to overlap the data. A copy with several columns changed is not found where the columns that are left say little.

A control of another population, of several rows a person or with repeated rows has a larger X² and is never blamed. Sources: Haldane 1940 (mean and variance of
X² when both margins are fixed), Wilson and Hilferty 1931.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.disclosure.classes.grouping import group_rows
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["LEAST_CONTROL", "LIKELY", "ControlContent", "compared", "too_even"]

#: The fewest persons of a control whose rates a limit is judged by; where the data has fewer, as many as the data.
LEAST_CONTROL: Final = 100
#: Probability below which equal rows of control and data are no chance.
LIKELY: Final = 0.001
_SMALL: Final = 4


@dataclass(frozen=True, slots=True)
class ControlContent:
    """``rows`` of the control, ``equal`` of them equal to a row of the data in ``columns``, and the ``chance`` of sides so much alike. ``without``: the
    column that was left out for it; None where all were compared.
    """

    columns: tuple[str, ...]
    rows: int
    equal: int
    chance: float
    without: str | None = None

    @property
    def overlaps(self) -> bool:
        """Return True if the control is more like the data than chance makes it."""
        return self.equal > 0 and self.chance < LIKELY


def compared(data: ClassTable, control: ClassTable) -> ControlContent:
    """Compare class tables of data and control over the same columns, in one coding; and over all of them but one."""
    every = _compared(data, control, None)
    if every.overlaps or len(data.columns) < 2:
        return every
    each = [_compared(data, control, column) for column in range(len(data.columns))]
    found = min(each, key=lambda one: one.chance)
    found = replace(found, chance=min(1.0, found.chance * len(each)))
    return found if found.overlaps else every


def _compared(data: ClassTable, control: ClassTable, left_out: int | None) -> ControlContent:
    """Compare in all columns but one, or in all."""
    kept = [column for column in range(len(data.columns)) if column != left_out]
    without = None if left_out is None else data.columns[left_out]
    grouping = group_rows(np.concatenate((data.codes, control.codes))[:, kept])
    none = np.zeros(grouping.n_groups, np.int64)
    ours, theirs = none.copy(), none.copy()
    np.add.at(ours, grouping.group[: len(data.counts)], data.counts)
    np.add.at(theirs, grouping.group[len(data.counts) :], control.counts)
    small = ours + theirs <= _SMALL
    chance = min(too_even(ours, theirs), too_even(ours[small], theirs[small]))
    columns = tuple(data.columns[column] for column in kept)
    return ControlContent(columns, int(theirs.sum()), int(theirs[ours > 0].sum()), chance, without)


def too_even(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> float:
    """Return the probability that chance splits classes as evenly between two sides as ``ours`` and ``theirs``, (J,) counts, or more so.

    1 where nothing can be determined: fewer than two classes, or no split but one.

    >>> round(too_even(np.full(100, 1), np.full(100, 1)), 9), too_even(np.array([50]), np.array([50]))
    (0.0, 1.0)
    """
    pooled = (ours + theirs).astype(np.float64)
    n, m = float(ours.sum()), float(theirs.sum())
    total, classes = n + m, len(pooled)
    if min(n, m) < 1 or classes < 2 or total < 5:
        return 1.0
    found = float((((ours - pooled * n / total) ** 2) / pooled).sum()) * total * total / (n * m)
    mean, variance = _moments(pooled, n, m)
    if variance <= 0:
        return 1.0
    largest = np.sort(pooled)[-2:]
    step = total * total / (n * m) * float((1 / largest).sum())
    shape = mean * mean / variance
    value = (found + step / 2) / mean
    return NormalDist().cdf((value ** (1 / 3) - 1 + 1 / (9 * shape)) * 3 * sqrt(shape))


def _moments(pooled: NDArray[np.float64], n: float, m: float) -> tuple[float, float]:
    """Return mean and variance of X² of a table with rows ``pooled`` and two columns of sizes ``n`` and ``m``, over all tables with these margins."""
    total, classes = n + m, len(pooled)
    mean = total * (classes - 1) / (total - 1)
    v_rows, v_sides = (classes - 1) * (total - classes) / (total - 1), (total - 2) / (total - 1)
    w_rows = (float((total / pooled).sum()) - classes * classes) / (total - 2)
    w_sides = (total / n + total / m - 4) / (total - 2)
    variance = (
        2 * total / (total - 3) * (v_rows - w_rows) * (v_sides - w_sides) + total * total / (total - 1) * w_rows * w_sides
    )
    return mean, variance
