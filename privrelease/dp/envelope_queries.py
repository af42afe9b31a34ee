"""Questions to an envelope beyond plain counts: counts by groups of cells, and the scores by which a candidate is chosen."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope import Counts, Marginal

__all__ = ["MOST_GRID", "Dependence", "Grouped", "Score"]

#: Bounds of a score's parts: 10^7 cells of at most 2^38 steps add up to less than 2^62.
_MOST_STEPS: Final = 1 << 38
MOST_GRID: Final = 1 << 10
#: More records would not fit the integers of a score of dependence.
_MOST_RECORDS: Final = 1 << 30


@dataclass(frozen=True, eq=False, slots=True)
class Grouped:
    """Counts of rows by groups of the cells of a marginal, such as a data grid. ``groups``: the group of each cell, 0..``size``-1, public.

    Every row is in one cell and every cell in one group, so that one person changes these counts as they change those of cells
    (:func:`~privrelease.dp.sensitivity.of_group_counts`).
    """

    of: Marginal
    groups: NDArray[np.int64]
    size: int

    def __post_init__(self) -> None:
        if self.groups.shape != (self.of.size,) or int(self.groups.min()) < 0 or int(self.groups.max()) >= self.size:
            msg = "every cell of a marginal is in one group"
            raise ValueError(msg)

    @property
    def name(self) -> str:
        """The name in the record of a draw: the marginal, and the number of groups of its cells."""
        return f"{self.of.name} in {self.size} groups"

    def exact(self, counts: Counts) -> NDArray[np.int64]:
        """Return the exact counts, for the envelope alone."""
        import numpy as np

        # every number of rows is exact in a double
        return np.bincount(self.groups, self.of.exact(counts), self.size).astype(np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Score:
    """The score of a candidate: ``weight`` · (sum over cells of abs(grid · count - ``model``) - ``penalty``).

    ``model``: public integers by cell, the model's marginal in steps of 1/grid of a row; ``weight`` at least 1.
    """

    model: NDArray[np.integer]
    penalty: int = 0
    weight: int = 1

    @property
    def reach(self) -> int:
        """The most steps of the grid that one row moves the score, by the triangle inequality."""
        return self.weight

    def check(self, query: Marginal, grid: int) -> None:
        """Raise TypeError where a part is not an integer, ValueError where it is out of bounds."""
        whole = (self.penalty, self.weight, grid)
        if self.model.dtype.kind not in "iu" or any(isinstance(one, bool) or not isinstance(one, int) for one in whole):
            msg = "scores are integers: round the model's marginals to a grid that is fixed beforehand"
            raise TypeError(msg)
        if self.model.size != query.size:
            msg = "a model has one number for each cell"
            raise ValueError(msg)
        bounded = int(self.model.min()) >= -_MOST_STEPS and int(self.model.max()) <= _MOST_STEPS
        if not bounded or not 1 <= grid <= MOST_GRID or not 1 <= self.weight <= MOST_GRID:
            msg = "a score is out of bounds"
            raise ValueError(msg)

    def steps(self, query: Marginal, exact: NDArray[np.int64], grid: int) -> int:
        """Return the score of exact counts, for the envelope alone."""
        import numpy as np

        del query
        distance = int(np.abs(exact * grid - self.model.astype(np.int64)).sum())
        return self.weight * (distance - self.penalty)


@dataclass(frozen=True, slots=True)
class Dependence:
    """The score n R of a marginal: how far n(x, p) is from n(x) n(p) / n, half the sum of the distances over cells.

    ``axis``: the axis of x in the marginal; p are the cells of all others. R is PrivBayes's score (Zhang and others 2017, section 4.3) for
    columns of any number of values. Published, R itself is used with a sensitivity of 3/n + 2/n^2, which takes n as public; n R does not.

    Sensitivity
        One row more, in the cell (a, b), changes n R by less than 2. Write p_x = n(x)/n and q_p = n(p)/n, and [.] for 1 where it holds. The
        difference n(x, p) - n(x) n(p)/n changes by n/(n + 1) ([x = a] - p_x) ([p = b] - q_p), and summed over cells the absolute values are
        n/(n + 1) · (Σ_x |[x = a] - p_x|) · (Σ_p |[p = b] - q_p|) <= 4 n/(n + 1). So n R changes by at most 2 n/(n + 1) < 2; from an empty
        table by 0. Rows that are added and taken away one after another change it by less than 2 each, which is twice the L1 distance of
        the counts, under either kind of neighbours.
        In steps of 1/g of a row, rounded down: g n R changes by less than the integer 2 g L1, so its floor changes by at most 2 g L1.
        Rounding costs nothing, because the floor is taken of an exact fraction: n R = Σ |n n(x, p) - n(x) n(p)| / (2 n).
    """

    axis: int

    @property
    def reach(self) -> int:
        """The most steps of the grid that one row moves the score."""
        return 2

    def check(self, query: Marginal, grid: int) -> None:
        """Raise ValueError where there is no such axis."""
        del grid
        if not 0 <= self.axis < len(query.shape):
            msg = "a score of dependence names an axis of its marginal"
            raise ValueError(msg)

    def steps(self, query: Marginal, exact: NDArray[np.int64], grid: int) -> int:
        """Return the score of exact counts in steps of 1/``grid``, for the envelope alone.

        >>> import numpy as np
        >>> from privrelease.dp.envelope import Marginal
        >>> Dependence(0).steps(Marginal("a x b", (2, 2)), np.array([2, 0, 0, 2]), 1)  # 1/2 · 4 · abs(±1)
        2
        """
        import numpy as np

        before, size = prod(query.counted[: self.axis]), query.counted[self.axis]
        table = np.moveaxis(exact.reshape(before, size, -1), 1, 0).reshape(size, -1)
        records = int(table.sum())
        if records == 0:
            return 0
        if records >= _MOST_RECORDS:
            msg = "too many records for a score of dependence"
            raise OverflowError(msg)
        distance = int(np.abs(records * table - np.multiply.outer(table.sum(axis=1), table.sum(axis=0))).sum())
        return grid * distance // (2 * records)
