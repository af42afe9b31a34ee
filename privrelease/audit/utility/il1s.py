"""IL1s: absolute changes of numbers in standard deviations of the source (Yancey, Winkler, Creecy 2002; sdcMicro)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["ChangedPairs", "il1s", "mean_il1s"]


@dataclass(frozen=True, eq=False, slots=True)
class ChangedPairs:
    """Cells known on both sides that hold another number: ``before`` and ``after`` (p,) float64, ``counts`` (p,) int64 rows of each pair."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    counts: NDArray[np.int64]


def il1s(pairs: ChangedPairs, deviation: float) -> float:
    """Return Σ |x - x'| / (√2 · sd x) of one column; cells that are missing on a side add nothing, as in sdcMicro.

    ``deviation``: sample standard deviation of the source's column, above 0.

    >>> pairs = ChangedPairs(np.array([1.0, 5.0]), np.array([3.0, 4.0]), np.array([1, 2]))
    >>> round(il1s(pairs, 2.0), 6)
    1.414214
    """
    return float(np.sum(np.abs(pairs.before - pairs.after) * pairs.counts)) / (sqrt(2) * deviation)


def mean_il1s(columns: Iterable[tuple[float, int]]) -> float | None:
    """Return Σ IL1s / Σ cells over columns, given as (sum, cells known on both sides): the form of the paper, 1/(p n) Σ. None: no cell.

    >>> mean_il1s([(3.0, 4), (1.0, 4)])
    0.5
    """
    pairs = list(columns)
    cells = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / cells if cells else None
