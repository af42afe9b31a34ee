"""Domains of DP queries: bounds, grids, bins, categories. They come from the policy, never from the data.

A numeric column is worked on as an integer: the number of grid steps, x / grid rounded to the nearest, clamped to [low, high]. Sums of
such integers are exact, and no order of summation, width or float changes them.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from privrelease.dp.rules import refuse
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bins", "CategoryDomain", "NumericDomain", "exact_number"]

#: Most grid steps from 0 to a bound. Sums of 2^46 rows then stay below 2^86, and sums of squares below 2^127: a HUGEINT holds both.
STEPS: Final = 1 << 40
#: Most cells of a query: bins of a histogram, combinations of keys, and both together.
CELLS: Final = 1_000_000


def exact_number(value: str | int | Decimal | Fraction | None, what: str, *, subject: str = "") -> Fraction:
    """Return a bound, grid or edge as an exact number; refuses a missing one (DP111), NaN, infinities and floats (DP114)."""
    if value is None:
        refuse(
            "DP111",
            f"{what} is missing",
            hint="write domain: [lower, upper]; bounds are never read from the data",
            subject=subject,
        )
    if isinstance(value, bool | float):
        refuse("DP114", f"{what} must be written exactly, not as a float", hint="write it as a decimal text", subject=subject)
    try:
        number = Decimal(value) if isinstance(value, str) else value
        return Fraction(number)
    except (InvalidOperation, ValueError, OverflowError):
        refuse("DP114", f"{what} is not a finite number", hint="write a plain decimal number", subject=subject)


@dataclass(frozen=True, slots=True, init=False)
class NumericDomain:
    """A closed range on a grid. ``low``, ``high`` and ``grid`` are exact; both bounds are multiples of the grid.

    >>> glucose = NumericDomain("50", "400", grid="0.1")
    >>> glucose.steps, glucose.centre, glucose.value(glucose.centre)
    ((500, 4000), 2250, Fraction(225, 1))
    """

    low: Fraction
    high: Fraction
    grid: Fraction

    def __init__(
        self,
        low: str | int | Decimal | Fraction | None,
        high: str | int | Decimal | Fraction | None,
        *,
        grid: str | int | Decimal | Fraction = 1,
        column: str = "",
    ) -> None:
        of = f" of {column}" if column else ""
        if low is None and high is None:
            refuse("DP111", f"lower and upper bound{of} are missing", hint="write domain: [lower, upper]", subject=column)
        lower = exact_number(low, f"the lower bound{of}", subject=column)
        upper = exact_number(high, f"the upper bound{of}", subject=column)
        step = exact_number(grid, f"the grid{of}", subject=column)
        if lower == upper:
            refuse("DP112", f"the bounds{of} are equal", hint="a column with one value needs no query", subject=column)
        if lower > upper:
            refuse("DP113", f"the bounds{of} are swapped", hint="write the lower bound first", subject=column)
        if step <= 0:
            refuse("DP115", f"the grid{of} must be above 0", hint="write e.g. grid: 0.1", subject=column)
        if (lower / step).denominator != 1 or (upper / step).denominator != 1:
            refuse(
                "DP115",
                f"the bounds{of} are no multiples of the grid",
                hint="choose bounds on the grid, or a finer grid",
                subject=column,
            )
        if max(abs(lower), abs(upper)) / step > STEPS:
            refuse(
                "DP116", f"the bounds{of} are more than 2^40 grid steps from 0", hint="choose a coarser grid", subject=column
            )
        object.__setattr__(self, "low", lower)
        object.__setattr__(self, "high", upper)
        object.__setattr__(self, "grid", step)

    @property
    def steps(self) -> tuple[int, int]:
        """The bounds in grid steps."""
        return int(self.low / self.grid), int(self.high / self.grid)

    @property
    def centre(self) -> int:
        """The grid step in the middle, rounded down: means are summed around it."""
        low, high = self.steps
        return (low + high) // 2

    @property
    def reach(self) -> int:
        """Most grid steps between the centre and a bound."""
        return self.steps[1] - self.centre

    def value(self, steps: int | Fraction) -> Fraction:
        """Return the number that so many grid steps represent."""
        return steps * self.grid


@dataclass(frozen=True, slots=True, init=False)
class CategoryDomain:
    """A closed list of keys in the order they are published. ``other``: the key of the rest, None where it is not counted. ``missing``: that
    of rows without a key, in the same way.

    >>> CategoryDomain(["F", "M"]).size
    2
    """

    values: tuple[str, ...]
    other: str | None
    missing: str | None

    def __init__(
        self, values: Sequence[str], *, other: str | None = None, missing: str | None = None, column: str = ""
    ) -> None:
        of = f" of {column}" if column else ""
        keys = (*values, *(key for key in (other, missing) if key is not None))
        if not values or len(set(keys)) != len(keys):
            refuse("DP118", f"the domain{of} is empty or names a value twice", hint="list every key once", subject=column)
        object.__setattr__(self, "values", tuple(values))
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "missing", missing)

    @property
    def size(self) -> int:
        """The number of published keys."""
        return len(self.labels)

    @property
    def labels(self) -> tuple[str, ...]:
        """The keys as published: after the values the rest, and last rows without a key.

        >>> CategoryDomain(["F", "M"], other="other", missing="missing").labels
        ('F', 'M', 'other', 'missing')
        """
        return (*self.values, *(key for key in (self.other, self.missing) if key is not None))


@dataclass(frozen=True, slots=True, init=False)
class Bins:
    """Bins [e0, e1), [e1, e2), ...; ``closed``: the last one holds its upper edge. Values outside go to the first or the last bin.

    ``outside``: they go to bins of their own, one below and one above.

    >>> Bins.of_width(NumericDomain(18, 85), 10).labels
    ('[10, 20)', '[20, 30)', '[30, 40)', '[40, 50)', '[50, 60)', '[60, 70)', '[70, 80)', '[80, 90)')
    >>> Bins([0, 5, 10]).labels
    ('[0, 5)', '[5, 10]')
    >>> Bins([0, 5, 10], outside=True).labels
    ('< 0', '[0, 5)', '[5, 10]', '> 10')
    """

    edges: tuple[Fraction, ...]
    closed: bool
    outside: bool

    def __init__(
        self,
        edges: Sequence[str | int | Decimal | Fraction],
        *,
        closed: bool = True,
        outside: bool = False,
        column: str = "",
    ) -> None:
        of = f" of {column}" if column else ""
        exact = tuple(exact_number(edge, f"an edge of the bins{of}", subject=column) for edge in edges)
        if len(exact) < 2 or any(left >= right for left, right in pairwise(exact)):
            refuse(
                "DP117",
                f"the edges of the bins{of} must be at least two and ascend",
                hint="write edges: [0, 10, 20]",
                subject=column,
            )
        if len(exact) - 1 > CELLS:
            refuse("DP123", f"too many bins{of}", hint="choose wider bins", subject=column)
        object.__setattr__(self, "edges", exact)
        object.__setattr__(self, "closed", closed)
        object.__setattr__(self, "outside", outside)

    @classmethod
    def of_width(
        cls, domain: NumericDomain, width: str | int | Decimal | Fraction, *, outside: bool = False, column: str = ""
    ) -> Bins:
        """Return bins between multiples of the width that cover the domain: width 10 gives [20, 30) whatever the lower bound."""
        of = f" of {column}" if column else ""
        step = exact_number(width, f"the width of the bins{of}", subject=column)
        if step <= 0:
            refuse("DP117", f"the width of the bins{of} must be above 0", hint="write bins: {width: 10}", subject=column)
        first, last = math.floor(domain.low / step), math.ceil(domain.high / step)
        if last - first > CELLS:
            refuse("DP123", f"too many bins{of}", hint="choose wider bins", subject=column)
        edges = [step * i for i in range(first, last + 1)]
        return cls(edges, closed=step * last == domain.high, outside=outside, column=column)

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges) - 1 + 2 * self.outside

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as published."""
        texts = [_plain(edge) for edge in self.edges]
        last = len(texts) - 2
        inside = tuple(f"[{texts[i]}, {texts[i + 1]}{']' if self.closed and i == last else ')'}" for i in range(last + 1))
        return (f"< {texts[0]}", *inside, f"{'>' if self.closed else '>='} {texts[-1]}") if self.outside else inside


def _plain(number: Fraction) -> str:
    """Return a number as a plain decimal where it has one, else as a fraction."""
    from privrelease.units import Epsilon

    text = str(Epsilon(abs(number)))
    return f"-{text}" if number < 0 else text
