"""Aggregates that an engine computes for statistics: exact integers by declared cells, with the contribution of a person bounded.

An aggregate is about rows that pass its filter and miss none of its ``complete`` columns. A number is worked on in whole steps of its
grid, clamped to [low, high], so that a sum is an exact integer whatever the order, the width or the type of the column. What comes back is
exact, and no one may see it before noise is added.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privrelease.relational.filters import Filter

__all__ = ["Aggregate", "Aggregated", "BinKey", "Bounding", "CodedRows", "ColumnKey", "Measure"]


@dataclass(frozen=True, slots=True)
class Bounding:
    """At most ``max_rows`` rows of each person (``unit`` None: every row is one), chosen at random by a secret ``salt`` of 64 bits.

    Rows without a person are left out.
    """

    unit: str | None
    max_rows: int
    salt: int = field(repr=False)


@dataclass(frozen=True, slots=True)
class ColumnKey:
    """A group column: its declared keys as texts (rows with other keys are left out), or None: the keys in the data.

    ``other``: the key of a cell after those of the declared ones, into which rows with other keys go. ``missing``: rows without a key have
    a cell of their own, the last, whether the data holds such rows or not; else they are left out. ``strays``: other keys count as missing
    ones. ``discovered``: the declared keys are not known yet, since they are bought from the data first.

    >>> ColumnKey("sex", ("F", "M"), missing=True).size
    3
    """

    column: str
    values: tuple[str, ...] | None
    other: str | None = None
    missing: bool = False
    strays: bool = False
    discovered: bool = False

    def __post_init__(self) -> None:
        if self.values is None and self.missing and not self.discovered:
            msg = "a cell for missing keys needs declared keys"
            raise ValueError(msg)
        if self.strays and (self.other is not None or not self.missing):
            msg = "other keys count as missing ones where these have a cell, and others have none"
            raise ValueError(msg)

    @property
    def size(self) -> int:
        """The number of its cells; 0 where its keys are those in the data."""
        return 0 if self.values is None else len(self.values) + (self.other is not None) + self.missing


@dataclass(frozen=True, slots=True)
class BinKey:
    """Bins of a number by edges: bin i holds edge i <= x < edge i + 1; lower values go to the first, higher to the last.

    ``outside``: lower values go to a bin before the first, higher ones to one after the last; ``closed``: the last edge is not among them.
    ``missing``: rows without a finite value have a bin of their own, the last, whether the data holds such rows or not; else they are
    left out.
    """

    column: str
    edges: tuple[Fraction, ...]
    grid: Fraction = Fraction(1)
    closed: bool = True
    outside: bool = False
    missing: bool = False

    @property
    def size(self) -> int:
        """The number of its bins."""
        return len(self.edges) - 1 + 2 * self.outside + self.missing


@dataclass(frozen=True, slots=True)
class Measure:
    """An integer by cell. ``rows``, ``persons``: how many. ``sum``: of x - centre, x in steps clamped to [low, high]. ``squares``: of
    (x - centre)^2 - offset. ``steps``: how many rows at each step from low to high. ``fill``: the step of a missing x; where there is
    none, rows without x must be left out (``complete``).
    """

    kind: Literal["rows", "persons", "sum", "squares", "steps"]
    column: str | None = None
    low: int = 0
    high: int = 0
    centre: int = 0
    offset: int = 0
    grid: Fraction = Fraction(1)
    fill: int | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Measures by cell: every combination of declared keys (the last varies fastest), or one cell where there is no key.

    ``max_groups``: most combinations of ``keys`` that the rows of a person may be in; chosen at random.
    """

    measures: tuple[Measure, ...]
    keys: tuple[ColumnKey | BinKey, ...] = ()
    where: Filter | None = None
    complete: tuple[str, ...] = ()
    max_groups: int | None = None

    @property
    def private(self) -> bool:
        """Return True if its keys are those in the data."""
        return any(isinstance(key, ColumnKey) and key.values is None and not key.discovered for key in self.keys)


@dataclass(frozen=True, eq=False, slots=True)
class Aggregated:
    """``figures``: for each measure its integers by cell, as int64, or as Python integers (dtype object) where one is wider. ``keys``: of private keys the keys that occur, in ascending order.

    ``steps``: for a measure ``steps``, by cell the steps that occur, ascending, and their rows.
    """

    figures: tuple[NDArray[np.int64] | NDArray[np.object_], ...]
    keys: tuple[tuple[str, ...], ...] = ()
    steps: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class CodedRows:
    """Tuples of cells that rows lie in; one may appear several times, where different values share a cell. ``codes``: (m, keys) int32, the position of each row's cell among those of its key; ``rows``: (m,)
    int64, how many rows each tuple has. Rows with a key that has no cell are left out.
    """

    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
