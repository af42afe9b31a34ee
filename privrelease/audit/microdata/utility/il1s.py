"""IL1s: absolute changes of numbers in standard deviations of the source (Yancey, Winkler, Creecy 2002; sdcMicro)."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.audit.microdata.utility.shift import Numbers

__all__ = ["il1s", "mean_il1s"]


def il1s(distances: Numbers, deviation: float) -> float:
    """Return Σ |x - x'| / (√2 · sd x) of one column; cells that are missing on a side add nothing, as in sdcMicro.

    ``distances``: |x - x'| of cells that hold another number. ``deviation``: sample standard deviation of the source's column, above 0.

    >>> from privrelease.audit.microdata.utility.shift import Numbers
    >>> round(il1s(Numbers(np.array([1.0, 2.0]), np.array([2, 1])), 2.0), 6)
    1.414214
    """
    return float(np.sum(distances.values * distances.counts)) / (sqrt(2) * deviation)


def mean_il1s(columns: Iterable[tuple[float, int]]) -> float | None:
    """Return Σ IL1s / Σ cells over columns, given as (sum, cells known on both sides): the form of the paper, 1/(p n) Σ. None: no cell.

    >>> mean_il1s([(3.0, 4), (1.0, 4)])
    0.5
    """
    pairs = list(columns)
    cells = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / cells if cells else None
