"""The class-size histogram: how many equivalence classes have each size. Every exact figure of prosecutor risk follows from it.

Definitions (DESIGN semantics 1-4; case k04): n records in J classes; a class violates k where its size is strictly below k; records
below k are summed over such classes. *Residual* records, whose every quasi-identifier is missing, are lost and in no class, unless
the missing values were there from the start (``residual="class"``, case k01).
Source: Prasser et al., Flexible data anonymization using ARX (2020): risk built on a class-size histogram.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.disclosure.classes.grouping import column_indices, group_rows, is_residual
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["DEFAULT_EDGES", "Bucket", "ClassSizes", "MatchSizes", "SizeHistogram", "bucket_edges", "class_counts"]

#: Lower ends of the chart's buckets: 1, 2, 3-4, 5-9, 10-49, 50 and more.
DEFAULT_EDGES = (1, 2, 3, 5, 10, 50)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Classes of ``low`` to ``high`` records (None: no upper end): how many, with how many records, which share of all records."""

    low: int
    high: int | None
    classes: int
    records: int
    share: Fraction


def _ascending(sizes: NDArray[np.int64], amounts: NDArray[np.int64], what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if sizes.shape != amounts.shape or sizes.ndim != 1:
        msg = f"sizes and {what} must be two arrays of one length"
        raise ValueError(msg)
    if len(sizes) and (sizes.min() < 1 or amounts.min() < 0):
        msg = f"sizes must be at least 1, {what} at least 0"
        raise ValueError(msg)
    distinct, where = np.unique(sizes, return_inverse=True)
    totals = np.zeros(len(distinct), np.int64)
    np.add.at(totals, where, amounts)
    return distinct[totals > 0], totals[totals > 0]


@dataclass(frozen=True, eq=False, slots=True)
class SizeHistogram:
    """Records by the number of records that each cannot be told from, itself included.

    ``sizes``: (s,) int64, distinct and ascending. ``records``: (s,) int64. ``residual``: records left out of all other figures.
    ``least``: where persons are counted and some person is in several classes, each person once, by the smallest of them: as much at risk as there.
    """

    sizes: NDArray[np.int64]
    records: NDArray[np.int64]
    residual: int = 0
    least: SizeHistogram | None = None

    @property
    def n_records(self) -> int:
        """n, the number of records in the statistics."""
        return int(self.records.sum())

    @property
    def smallest(self) -> int | None:
        """k, the smallest size; None where there is no record: k is then undefined, not passed."""
        return int(self.sizes[0]) if len(self.sizes) else None

    @property
    def largest(self) -> int | None:
        """The largest size; None where there is no record."""
        return int(self.sizes[-1]) if len(self.sizes) else None

    @property
    def uniques(self) -> int:
        """Records alone in their class."""
        return self.records_below(2)

    def records_below(self, k: int) -> int:
        """Records in classes strictly smaller than ``k``."""
        return int(self.records[: np.searchsorted(self.sizes, k, side="left")].sum())

    def records_at_risk(self, above: Fraction) -> int:
        """Records whose risk 1/f is strictly above ``above``, compared exactly: f < 1/above."""
        if above <= 0:
            return self.n_records
        reciprocal = 1 / above
        return self.records_below(-(-reciprocal.numerator // reciprocal.denominator))


@dataclass(frozen=True, eq=False, slots=True)
class MatchSizes(SizeHistogram):
    """Like class sizes where records do not fall into classes: ``sizes`` is the number of records each record matches.

    Arises where missing matches anything: matching is then not transitive.
    """

    @classmethod
    def of(cls, matches: NDArray[np.int64], records: NDArray[np.int64], *, residual: int = 0) -> MatchSizes:
        """From matches per class and records per class, two (J,) arrays in any order.

        >>> MatchSizes.of(np.array([5, 3, 5]), np.array([1, 2, 4])).records.tolist()
        [2, 5]
        """
        return cls(*_ascending(np.asarray(matches, np.int64), np.asarray(records, np.int64), "records"), residual)


@dataclass(frozen=True, eq=False, slots=True)
class ClassSizes(SizeHistogram):
    """Number of equivalence classes of each size; make one with :meth:`from_arrays`, :meth:`from_counts` or :meth:`from_table`.

    ``sizes``: (s,) int64, distinct and ascending. ``records``: (s,) int64, sizes times classes. ``residual``: records whose every
    quasi-identifier is missing, left out of all other figures. Where classes count persons, read person for record: a person in
    two classes counts in both.

    >>> sizes = ClassSizes.from_arrays([1, 2, 3, 4], [2, 3, 1, 1])
    >>> (sizes.n_records, sizes.n_classes, sizes.smallest, sizes.uniques)
    (15, 7, 1, 2)
    >>> [(sizes.records_below(k), sizes.classes_below(k)) for k in (2, 3, 4, 5)]
    [(2, 2), (8, 5), (11, 6), (15, 7)]
    """

    @classmethod
    def from_arrays(
        cls, sizes: NDArray[np.int64] | Sequence[int], classes: NDArray[np.int64] | Sequence[int], *, residual: int = 0
    ) -> ClassSizes:
        """From (size, number of classes) pairs in any order, for instance of a histogram query in an engine.

        Errors: ValueError for lengths that differ, a size below 1, a negative number of classes.
        """
        distinct, amounts = _ascending(np.asarray(sizes, np.int64), np.asarray(classes, np.int64), "classes")
        return cls(distinct, distinct * amounts, residual)

    @classmethod
    def from_counts(cls, counts: NDArray[np.int64] | Sequence[int], *, residual: int = 0) -> ClassSizes:
        """From the size of every class, (J,); empty classes are ignored.

        >>> ClassSizes.from_counts([2, 3, 2]).classes.tolist()
        [2, 1]
        """
        values = np.asarray(counts, np.int64)
        if len(values) and values.min() < 0:
            msg = "a class has no negative size"
            raise ValueError(msg)
        distinct, amounts = np.unique(values[values > 0], return_counts=True)
        return cls(distinct, distinct * amounts.astype(np.int64), residual)

    @classmethod
    def from_table(
        cls,
        table: ClassTable,
        columns: Sequence[int | str] | None = None,
        *,
        residual: Literal["lost", "class"] = "lost",
    ) -> ClassSizes:
        """Class sizes in records on ``columns`` of a class table (all for None), a missing value equal to another only.

        ``residual``: records with every such column missing are ``lost`` (out of the statistics) or a ``class`` like any other.

        >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
        >>> table = ClassTable(("sex", "region"), np.array([[0, 0], [1, 1], [1, 2]], np.int32), np.array([2, 3, 1]))
        >>> sizes = ClassSizes.from_table(table, ["sex"])
        >>> (sizes.sizes.tolist(), sizes.residual)
        ([4], 2)
        """
        codes = table.codes[:, list(column_indices(table, columns))]
        grouping = group_rows(codes)
        counts = grouping.sums(table.counts)
        lost = is_residual(codes[grouping.first]) if residual == "lost" else np.zeros(grouping.n_groups, np.bool_)
        return cls.from_counts(counts[~lost], residual=int(counts[lost].sum()))

    @property
    def classes(self) -> NDArray[np.int64]:
        """(s,) int64, the number of classes of each size."""
        return self.records // self.sizes

    @property
    def n_classes(self) -> int:
        """J, the number of classes."""
        return int(self.classes.sum())

    def classes_below(self, k: int) -> int:
        """Classes strictly smaller than ``k``."""
        return int(self.classes[: np.searchsorted(self.sizes, k, side="left")].sum())

    def buckets(self, edges: Sequence[int] = DEFAULT_EDGES) -> tuple[Bucket, ...]:
        """Classes and records by size for a chart. ``edges``: ascending lower ends, the first 1; the last bucket has no upper end.

        >>> [(b.low, b.high, b.classes, b.records) for b in ClassSizes.from_arrays([1, 7], [2, 3]).buckets((1, 2, 5))]
        [(1, 1, 2, 2), (2, 4, 0, 0), (5, None, 3, 21)]
        """
        if not edges or edges[0] != 1 or any(a >= b for a, b in pairwise(edges)):
            msg = "bucket edges ascend from 1"
            raise ValueError(msg)
        cuts = [int(np.searchsorted(self.sizes, edge, side="left")) for edge in edges] + [len(self.sizes)]
        total = self.n_records
        classes = self.classes
        buckets = []
        for i, low in enumerate(edges):
            chosen = slice(cuts[i], cuts[i + 1])
            records = int(self.records[chosen].sum())
            high = edges[i + 1] - 1 if i + 1 < len(edges) else None
            share = Fraction(records, total) if total else Fraction(0)
            buckets.append(Bucket(low, high, int(classes[chosen].sum()), records, share))
        return tuple(buckets)


def bucket_edges(k: int | None = None) -> tuple[int, ...]:
    """Bucket edges for a chart that shows where ``k`` lies: the default edges with ``k`` among them.

    >>> bucket_edges(5), bucket_edges(12)
    ((1, 2, 3, 5, 10, 50), (1, 2, 3, 5, 10, 12, 50))
    """
    return DEFAULT_EDGES if k is None else tuple(sorted({*DEFAULT_EDGES, max(k, 1)}))


def class_counts(table: ClassTable, columns: Sequence[int | str] | None = None) -> NDArray[np.int64]:
    """For every class of ``table``, the number of records of its class on ``columns`` alone: (J,) int64.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("sex", "region"), np.array([[1, 1], [1, 2], [2, 0]], np.int32), np.array([3, 1, 2]))
    >>> class_counts(table, ["sex"]).tolist()
    [4, 4, 2]
    """
    grouping = group_rows(table.codes[:, list(column_indices(table, columns))])
    return grouping.sums(table.counts)[grouping.group]
