"""Granularity: how many values a cell may represent, of those that its column has (Iyengar 2002, "loss metric")."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.audit.microdata.utility.value_counts import ValueCounts

__all__ = ["Coarseness", "coarseness", "domain_share", "granularity", "suppressed"]

#: Sum of the cells' losses and number of cells, of one column.
Coarseness = tuple[Fraction, int]


def coarseness(records: NDArray[np.int64], covered: NDArray[np.int64], values: int) -> Coarseness:
    """Return Σ records · (covered - 1) / (values - 1) and Σ records: 0 for a cell as it was, 1 for one that may be anything.

    ``covered``: how many of the column's ``values`` a cell may represent. A column of one value has nothing to lose.

    >>> import numpy as np
    >>> coarseness(np.array([6, 2]), np.array([1, 3]), 5)
    (Fraction(1, 1), 8)
    """
    cells = int(records.sum())
    if values <= 1:
        return Fraction(0), cells
    wide = sum(int(n) * (int(c) - 1) for n, c in zip(records.tolist(), covered.tolist(), strict=True))
    return Fraction(wide, values - 1), cells


def domain_share(records: NDArray[np.int64], covered: NDArray[np.int64], values: int) -> Coarseness:
    """Return Σ records · covered / values and Σ records: the loss of ARX, in which a cell as it was has lost 1 / ``values``.

    Iyengar's form, :func:`coarseness`, counts the other values; the two are different numbers. Source: Prasser et al. 2020 (ARX), "loss".

    >>> import numpy as np
    >>> domain_share(np.array([6, 2]), np.array([1, 5]), 5)
    (Fraction(16, 5), 8)
    """
    wide = sum(int(n) * int(c) for n, c in zip(records.tolist(), covered.tolist(), strict=True))
    return Fraction(wide, values), int(records.sum())


def suppressed(counts: ValueCounts) -> Coarseness | None:
    """Return the coarseness of a column whose cells are as they were or missing; None where a value is more frequent than it was.

    >>> import numpy as np
    >>> from privrelease.audit.microdata.utility.value_counts import ValueCounts
    >>> suppressed(ValueCounts("a", np.array([2, 6, 2]), np.array([4, 5, 1])))
    (Fraction(2, 1), 8)
    """
    if not counts.only_lost:
        return None
    lost = counts.known_before - counts.known_after
    alone = (counts.before[1:] > 0).sum() <= 1
    return Fraction(0 if alone else lost), counts.known_before


def granularity(columns: Iterable[Coarseness]) -> Fraction | None:
    """Return 1 - Σ losses / Σ cells over columns: 1 keeps every value, 0 none; None where there is no cell.

    >>> granularity([(Fraction(1), 8), (Fraction(0), 8)])
    Fraction(15, 16)
    """
    pairs = list(columns)
    cells = sum(pair[1] for pair in pairs)
    return 1 - sum((pair[0] for pair in pairs), Fraction(0)) / cells if cells else None
