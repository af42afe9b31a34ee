"""The contents of a printed table: the cells of a box, and the figures in them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from privrelease.disclosure.tables.layout import Layout
from privrelease.relational.tables import Membership
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.relational.filters import Filter, Value

__all__ = ["PrintedSum", "PrintedTable", "TwoValues"]

#: The two values of a column, as filters compare them.
TwoValues: TypeAlias = "tuple[Value, Value]"


@dataclass(frozen=True, slots=True)
class PrintedSum:
    """A figure that adds up a column, in steps: least and largest value of one row. ``weights``: a count of weighted rows. ``mean``: its mean is
    printed, and so, to who knows the count, the sum. ``values``: of a column that has two, lower and higher; None where its domain has more;
    ``step``: of its grid.
    """

    column: str
    low: int = 0
    high: int | None = None
    weights: bool = False
    mean: bool = False
    values: TwoValues | None = None
    step: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False, slots=True)
class PrintedTable:
    """The contents of a printed table: figures of the cells of a box. ``impossible``: inner cells (in the box with totals) that
    are empty by nature.
    """

    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    margins: bool = True
    where: Filter | None = None
    counted: bool = True
    round_up: int = 1
    sums: tuple[PrintedSum, ...] = ()
    impossible: NDArray[np.bool_] | None = None

    @property
    def membership(self) -> Membership:
        """Its rows."""
        return Membership(self.where, tuple(sorted(zip(self.by, self.keys, strict=True))))

    @property
    def layout(self) -> Layout:
        """Its own cells."""
        return Layout(tuple(map(len, self.keys)), self.margins)
