"""The public domain of synthetic rows: columns of numbered cells, and combinations that a policy calls impossible.

A cell is a value, a bin of numbers or dates, or that the value is missing. The last cell of every column is the missing one, whether the data
has any such row or not. Everything here comes from the policy, or was bought from the data before.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Protocol

from privrelease.dp.envelope import Marginal, marginal_name
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CodedColumn", "CodedDomain", "Labels", "StructuralZero"]


class Labels(Protocol):
    """A text for each cell, by its number: a tuple, or what writes them when they are asked for."""

    def __len__(self) -> int:
        """Return the number of cells."""

    def __getitem__(self, cell: int, /) -> str:
        """Return the text of a cell."""


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column of cells 0..size-1, the last one missing. ``labels``: a text for each cell. ``ordered``: all others are ascending intervals.

    >>> CodedColumn("sex", ("F", "M", "missing")).size
    3
    """

    name: str
    labels: Labels
    ordered: bool = False

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.labels)


@dataclass(frozen=True, eq=False, slots=True)
class StructuralZero:
    """Combinations that no row can have: ``impossible`` is a mask over the cells of ``columns``, positions in the domain, ascending."""

    columns: tuple[int, ...]
    impossible: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class CodedDomain:
    """Columns in the order of their names, and structural zeros.

    >>> domain = CodedDomain(
    ...     (CodedColumn("age", ("[0, 50)", "[50, 100)", "missing"), True), CodedColumn("sex", ("F", "M", "missing")))
    ... )
    >>> domain.cells, domain.marginal([1, 0])
    (9, Marginal(name='age x sex', shape=(3, 3), merged=()))
    """

    columns: tuple[CodedColumn, ...]
    zeros: tuple[StructuralZero, ...] = ()

    def __post_init__(self) -> None:
        if list(self.names) != sorted(set(self.names)):
            msg = "the columns of a domain are in the order of their names, each once"
            raise ValueError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The cells of each column."""
        return tuple(column.size for column in self.columns)

    @property
    def cells(self) -> int:
        """The cells of the joint."""
        return prod(self.sizes)

    def place(self, name: str) -> int:
        """Return the position of a column. Raises ValueError where there is none of that name."""
        return self.names.index(name)

    def marginal(self, places: Sequence[int]) -> Marginal:
        """Return the counts by some columns as an envelope is asked for them: axes in the order of the domain."""
        ascending = sorted(set(places))
        return Marginal(
            marginal_name(self.columns[place].name for place in ascending),
            tuple(self.columns[place].size for place in ascending),
        )

    def possible(self, places: Sequence[int]) -> NDArray[np.bool_] | None:
        """Return which cells of a marginal are possible, axes in the order of the domain; None where no rule is about its columns alone."""
        import numpy as np

        ascending = sorted(set(places))
        rules = [zero for zero in self.zeros if set(zero.columns) <= set(ascending)]
        if not rules:
            return None
        found = np.ones(tuple(self.columns[place].size for place in ascending), np.bool_)
        for zero in rules:
            shape = tuple(self.columns[place].size if place in zero.columns else 1 for place in ascending)
            found &= ~zero.impossible.reshape(shape)
        return found

    def impossible(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which rows of codes (rows, columns) have a combination that is impossible."""
        import numpy as np

        found = np.zeros(len(codes), np.bool_)
        for zero in self.zeros:
            found |= zero.impossible[tuple(codes[:, place] for place in zero.columns)]
        return found
