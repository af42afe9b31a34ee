"""Non-uniform entropy: the bits that a reader lacks about what cells held, with rare values worth more than frequent ones.

A cell of value v that is released as a set of values costs -log2 P(v | the set). Two readings of P are in use, and they are
different numbers:

- ``whole_file``: frequencies of the whole column (De Waal, Willenborg 1999; Gionis, Tassa 2009). A suppressed cell represents any value
  of the column, so it costs -log2(f(v) / n).
- ``suppressed``: frequencies among the suppressed cells of the column only, as ARX 3.9 does: -log2(s(v) / s). Who sees that a cell was
  suppressed knows that it is one of these.

Both are divided by the loss of suppressing every known cell, Σ -log2(f(v) / n), and subtracted from 1: 1 keeps all, 0 keeps nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from privrelease.audit.microdata.utility.value_counts import ValueCounts

__all__ = ["EntropyLoss", "bits", "entropy_loss", "kept"]


@dataclass(frozen=True, slots=True)
class EntropyLoss:
    """Bits of one column: lost under both readings, and ``most``, lost if every known cell were suppressed."""

    whole_file: float
    suppressed: float
    most: float


def bits(records: NDArray[np.int64], value: NDArray[np.int64], covered: NDArray[np.int64]) -> float:
    """Return -Σ records · log2(value / covered).

    ``records``: cells of a value that are released as a set of values; ``value``: the value's count, ``covered``: the counts of
    all values of that set. The three broadcast; places without records count nothing. Unit: bits.

    >>> bits(np.array([4, 4]), np.array([4, 4]), np.array([8, 8]))
    8.0
    """
    there = records > 0
    value, covered = np.broadcast_to(value, records.shape), np.broadcast_to(covered, records.shape)
    return 0.0 - float(np.sum(records[there] * np.log2(value[there] / covered[there])))


def entropy_loss(counts: ValueCounts) -> EntropyLoss | None:
    """Return what suppression cost a column; None where a value is more frequent than it was: that is no suppression.

    >>> from privrelease.audit.microdata.utility.value_counts import ValueCounts
    >>> entropy_loss(ValueCounts("a", np.array([0, 6, 2]), np.array([2, 6, 0])))
    EntropyLoss(whole_file=4.0, suppressed=0.0, most=6.490224995673063)
    """
    if not counts.only_lost:
        return None
    known, lost = counts.before[1:], counts.lost
    return EntropyLoss(
        whole_file=bits(lost, known, known.sum()),
        suppressed=bits(lost, lost, lost.sum()),
        most=bits(known, known, known.sum()),
    )


def kept(losses: Iterable[tuple[float, float]]) -> float | None:
    """Return 1 - Σ lost / Σ most over columns, given as (lost, most); None where no column had anything to lose.

    >>> kept([(4.0, 8.0), (0.0, 8.0)])
    0.75
    """
    pairs = list(losses)
    most = sum(pair[1] for pair in pairs)
    return 1 - sum(pair[0] for pair in pairs) / most if most > 0 else None
