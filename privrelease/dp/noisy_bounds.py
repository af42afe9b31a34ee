"""Bounds of a number that are bought from the data: two noisy histograms, the second over the span that the first found.

The first histogram has public bins that grow by powers of two away from 0, so that no bound has to be known (Wilson and others 2020,
"Differentially private SQL with bounded user contribution", section 5.1.1, approximate bounds); the second has even bins over the span of the
first. In the first histogram the outermost bins count whose noisy count reaches a threshold that the noise of all empty bins together exceeds with
probability at most 1/1000. Many rows may lie thinly in the second, so that noisy counts are added up from each end: the bound is where their sum is
three standard deviations of its noise above 0, which noise alone widens in a few runs of a hundred, by rows that are not there. Each histogram is one measurement of an envelope, at half the price: disjoint counts of rows, with the sensitivity and
the noise of any other marginal. The threshold, the choice and the second set of bins follow from public values and noisy answers alone
(post-processing), so that the price is that of the two measurements, whatever the data holds.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log, sqrt
from typing import TYPE_CHECKING, Final

from privrelease.dp.count_noise import share_of, variance
from privrelease.dp.envelope import Marginal, marginal_name
from privrelease.dp.sensitivity import of_group_counts
from privrelease.units import Epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Envelope
    from privrelease.dp.queries import Setting
    from privrelease.units import Rho

__all__ = ["bounds_queries", "doubling_edges", "even_edges", "least_count", "noisy_bounds"]

#: Even bins of the second histogram, at most.
FINE: Final = 64
#: The probability that an empty bin is taken for one with rows, of all bins of a histogram together.
_FAILURE: Final = 1e-3
#: Standard deviations of the noise of a sum of counts that rows must exceed.
_DEVIATIONS: Final = 3


def bounds_queries(column: str) -> tuple[str, str]:
    """Return the names of the two histograms of a column; no marginal has such a name.

    >>> bounds_queries("age")
    ('bounds 1 of age', 'bounds 2 of age')
    """
    name = marginal_name([column])
    return f"bounds 1 of {name}", f"bounds 2 of {name}"


def doubling_edges(low: int, high: int) -> tuple[int, ...]:
    """Return edges of bins that hold every whole number from ``low`` to ``high``: 0, and powers of two on both sides.

    >>> doubling_edges(-3, 9)
    (-3, -1, 0, 1, 2, 4, 8, 10)
    """
    powers = [1 << power for power in range(max(abs(low), abs(high)).bit_length())]
    inner = [edge for edge in (*(1 - power for power in powers[1:]), 0, *powers) if low < edge <= high]
    return (low, *sorted(set(inner)), high + 1)


def even_edges(low: int, high: int, most: int = FINE) -> tuple[int, ...]:
    """Return edges of at most so many bins of one width, the last perhaps shorter, from ``low`` to ``high``.

    >>> even_edges(10, 20, 4)
    (10, 13, 16, 19, 21)
    """
    width = -(-(high - low + 1) // most)
    return (*range(low, high + 1, width), high + 1)


def least_count(setting: Setting, loss: Rho | Epsilon, bins: int) -> int:
    """Return the noisy count from which a bin is taken to hold rows.

    Of Gaussian noise P(X >= t) <= exp(-t^2 / (2 sigma^2)) (Canonne, Kamath, Steinke 2020), of Laplace's P(X >= t) <= exp(-t / b): t where that is
    1/1000 over the number of bins.

    >>> from privrelease.dp.sensitivity import Contribution
    >>> from privrelease.dp.queries import Setting
    >>> least_count(Setting(Contribution(1)), Epsilon(1), 20)  # ln 20000 = 9.9
    10
    """
    counted = of_group_counts(setting.contribution, setting.neighbours)
    odds = log(bins / _FAILURE)
    if isinstance(loss, Epsilon):
        return ceil(float(counted.l1 / loss.value) * odds)
    return ceil(sqrt(float(counted.l2_squared / (2 * loss.value)) * 2 * odds))


def noisy_bounds(
    envelope: Envelope,
    column: str,
    loss: Rho | Epsilon,
    outer: tuple[int, int],
    ask: Callable[[str, Sequence[int]], None],
) -> tuple[int, int]:
    """Return the lowest and the highest step of a column, at a cost of at most ``loss``.

    ``outer``: steps that are public, beyond which values count as the nearest. ``ask``: declares the edges of the bins of a query before it is asked.
    Where no count of the first histogram reaches the threshold, the bin with the largest is taken, the first of several: there are bounds in any case.
    """
    half = share_of(loss, Fraction(1, 2))
    coarse, fine = bounds_queries(column)

    def counted(query: str, edges: Sequence[int]) -> NDArray[np.int64]:
        ask(query, edges)
        return envelope.measure(Marginal(query, (len(edges) - 1,)), half)

    edges = doubling_edges(*outer)
    first, last = _held(counted(coarse, edges), least_count(envelope.setting, half, len(edges) - 1))
    edges = even_edges(edges[first], edges[last + 1] - 1)
    first, last = _span(counted(fine, edges), variance(envelope.setting, half))
    return edges[first], edges[last + 1] - 1


def _held(counts: NDArray[np.int64], least: int) -> tuple[int, int]:
    """The first and the last bin that is taken to hold rows."""
    held = (counts >= least).nonzero()[0]
    if not len(held):
        return int(counts.argmax()), int(counts.argmax())
    return int(held[0]), int(held[-1])


def _span(counts: NDArray[np.int64], each: float) -> tuple[int, int]:
    """The bins from which on, from either end, rows are counted beyond noise; all where that is nowhere. ``each``: the variance of a count."""
    import numpy as np

    needed = _DEVIATIONS * np.sqrt(each * np.arange(1, len(counts) + 1))
    left, right = ((np.cumsum(side) >= needed).nonzero()[0] for side in (counts, counts[::-1]))
    if not len(left) or not len(right):
        return 0, len(counts) - 1
    first, last = int(left[0]), len(counts) - 1 - int(right[0])
    return (first, last) if first <= last else (0, len(counts) - 1)
