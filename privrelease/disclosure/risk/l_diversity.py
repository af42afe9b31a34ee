"""l-diversity: how many sensitive values a class leaves open.

distinct: the number of values. entropy: exp(-Σ p ln p), a real number, never truncated: l equal values give l. recursive (c, l): the largest l with
f_1 < c (f_l + … + f_m), f_1 >= f_2 >= … the counts; 0 where not even l = 1 holds. A class without a value in view has l = 0 and fails.
Source: Machanavajjhala et al., l-Diversity: privacy beyond k-anonymity (2007); figures of sdcMicro's ``ldiversity``.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from privrelease.disclosure.risk.sensitive import MissingSensitive, SensitiveCounts

__all__ = ["DiversityKind", "distinct_l", "entropy_l", "is_diverse", "recursive_l"]

DiversityKind = Literal["distinct", "entropy", "recursive"]

#: A relative difference of logarithms below this is decided by integers.
_DOUBT = 1e-9
#: Classes of more records than this, in doubt, fail: the integers would be too long.
_MOST_RECORDS = 50_000


def distinct_l(counts: SensitiveCounts, missing: MissingSensitive = "known") -> NDArray[np.int64]:
    """Number of distinct sensitive values of each class: (n_classes,) int64.

    >>> from privrelease.disclosure.risk.sensitive import SensitiveCounts
    >>> counts = SensitiveCounts.of(np.array([0, 1, 2, 2]), np.array([1, 0, 0, 1]), np.array([3, 2, 1, 1]))
    >>> distinct_l(counts).tolist(), distinct_l(counts, "value").tolist()
    ([1, 0, 1], [1, 1, 2])
    """
    return np.bincount(counts.seen(missing).group, minlength=counts.n_classes).astype(np.int64)


def entropy_l(counts: SensitiveCounts, missing: MissingSensitive = "known") -> NDArray[np.float64]:
    """Exponential of the entropy of each class's sensitive values: (n_classes,) float64; 0 where no value is in view.

    >>> from privrelease.disclosure.risk.sensitive import SensitiveCounts
    >>> entropy_l(SensitiveCounts.of(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([2, 2, 2]))).round(12).tolist()
    [3.0]
    """
    seen = counts.seen(missing)
    totals = seen.totals
    share = seen.count / totals[seen.group]
    entropy = np.bincount(seen.group, weights=-share * np.log(share), minlength=counts.n_classes)
    return np.asarray(np.where(totals > 0, np.exp(entropy), 0.0), np.float64)


def recursive_l(counts: SensitiveCounts, c: Fraction, missing: MissingSensitive = "known") -> NDArray[np.int64]:
    """The largest l for which each class is recursively (c, l)-diverse, compared exactly: (n_classes,) int64.

    Errors: ValueError for c <= 0.

    >>> from privrelease.disclosure.risk.sensitive import SensitiveCounts
    >>> from fractions import Fraction
    >>> counts = SensitiveCounts.of(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([3, 2, 1]))
    >>> recursive_l(counts, Fraction(2)).tolist()  # 3 < 2 (2 + 1), but not 3 < 2 * 1
    [2]
    """
    if c <= 0:
        msg = "c must be positive"
        raise ValueError(msg)
    seen = counts.seen(missing)
    order = np.lexsort((-seen.count, seen.group))
    group, count = seen.group[order], seen.count[order]
    starts = np.searchsorted(group, np.arange(counts.n_classes))
    before = np.concatenate([[0], np.cumsum(count)])
    ends = np.searchsorted(group, np.arange(counts.n_classes), side="right")
    largest = count[starts[group]]
    rest = before[ends[group]] - before[np.arange(len(count))]
    # f_1 < c * rest over integers: rest > floor(f_1 / c), by Python integers so that no product wraps
    distinct, which = np.unique(largest, return_inverse=True)
    needed = np.array([int(f) * c.denominator // c.numerator for f in distinct], np.int64)
    holds = rest > needed[which]
    return np.bincount(group[holds], minlength=counts.n_classes).astype(np.int64)


def is_diverse(
    counts: SensitiveCounts,
    least: Fraction,
    kind: DiversityKind,
    *,
    c: Fraction | None = None,
    missing: MissingSensitive = "known",
) -> NDArray[np.bool_]:
    """Return for each class whether it has l >= ``least``, decided exactly: (n_classes,) bool. Recursive diversity needs ``c``.

    An entropy near ``least`` is compared as n^n / Π f^f >= least^n over integers; classes of more than 50,000 records that are that near fail.

    >>> from fractions import Fraction
    >>> from privrelease.disclosure.risk.sensitive import SensitiveCounts
    >>> counts = SensitiveCounts.of(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([1, 1, 1]))
    >>> is_diverse(counts, Fraction(3), "entropy").tolist(), is_diverse(counts, Fraction("3.000000000001"), "entropy").tolist()
    ([True], [False])
    """
    if kind == "distinct":
        return np.asarray(distinct_l(counts, missing) >= -(-least.numerator // least.denominator), np.bool_)
    if kind == "recursive":
        if c is None:
            msg = "recursive l-diversity needs c"
            raise ValueError(msg)
        return np.asarray(recursive_l(counts, c, missing) >= -(-least.numerator // least.denominator), np.bool_)
    found = entropy_l(counts, missing)
    diverse = found >= float(least)
    if least > 0:
        with np.errstate(divide="ignore"):
            doubtful = np.flatnonzero(np.abs(np.log(found) - log(least)) < _DOUBT)
        seen = counts.seen(missing)
        for which in doubtful.tolist():
            low, high = np.searchsorted(seen.group, [which, which + 1])
            diverse[which] = _entropy_at_least(seen.count[low:high].tolist(), least)
    return np.asarray(diverse, np.bool_)


def _entropy_at_least(count: list[int], least: Fraction) -> bool:
    """Return True if n^n / Π f^f >= least^n, over integers."""
    if len(set(count)) == 1:
        return len(count) >= least
    n = sum(count)
    if n > _MOST_RECORDS:
        return False
    product = 1
    for f in count:
        product *= f**f
    return bool(n**n * least.denominator**n >= product * least.numerator**n)
