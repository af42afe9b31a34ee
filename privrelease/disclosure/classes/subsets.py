"""The smallest class for every combination of at most m quasi-identifiers: what an attacker learns who knows only some of them.

A combination's classes are unions of those of a larger one, so adding a column never makes a class larger. Combinations are named by their
columns in the table's order and listed by size and then by name, whatever order the policy writes. Source: case l03; the idea of special
uniques, Elliot et al., A computational algorithm for handling the special uniques problem (2002).
"""

from __future__ import annotations

from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.grouping import column_indices
from privrelease.disclosure.classes.persons import person_class_sizes
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["SubsetReport", "SubsetSizes", "smallest_classes"]

_DENSE = 1 << 20


@dataclass(frozen=True, slots=True)
class SubsetSizes:
    """One combination: its columns (sorted by name), smallest class (None: no record), and what lies in classes below k."""

    columns: tuple[str, ...]
    smallest: int | None
    classes_below: int
    records_below: int


@dataclass(frozen=True, slots=True)
class SubsetReport:
    """Every combination looked at, and how many of all 2^q - 1 were not."""

    k: int
    up_to: int
    combinations: tuple[SubsetSizes, ...]
    not_looked_at: int

    def by_size(self) -> tuple[tuple[int, int, int | None, int], ...]:
        """Per number of columns: (columns, combinations, smallest class of all, combinations with a class below k)."""
        rows = []
        for size in range(1, self.up_to + 1):
            chosen = [found for found in self.combinations if len(found.columns) == size]
            smallest = [found.smallest for found in chosen if found.smallest is not None]
            below = sum(found.classes_below > 0 for found in chosen)
            rows.append((size, len(chosen), min(smallest, default=None), below))
        return tuple(rows)

    @property
    def failing(self) -> tuple[SubsetSizes, ...]:
        """Combinations with a class below k."""
        return tuple(found for found in self.combinations if found.classes_below)


def smallest_classes(
    table: ClassTable,
    up_to: int,
    k: int,
    columns: Sequence[int | str] | None = None,
    *,
    persons: bool = False,
    residual: Literal["lost", "class"] = "lost",
) -> SubsetReport:
    """Measure the classes of every combination of 1 to ``up_to`` of ``columns`` (all for None), missing equal to missing.

    ``persons``: count distinct persons. ``residual``: records with all columns of a combination missing are ``lost`` or a ``class``.
    Errors: ValueError for ``up_to`` or ``k`` below 1.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("a", "b"), np.array([[1, 1], [1, 2], [2, 2]], np.int32), np.array([2, 1, 3]))
    >>> report = smallest_classes(table, 2, k=2)
    >>> [(found.columns, found.smallest) for found in report.combinations]
    [(('a',), 3), (('b',), 2), (('a', 'b'), 1)]
    >>> report.by_size(), report.not_looked_at
    (((1, 2, 2, 0), (2, 1, 1, 1)), 0)
    """
    if up_to < 1 or k < 1:
        msg = "up_to and k are at least 1"
        raise ValueError(msg)
    indices = sorted(column_indices(table, columns), key=lambda j: table.columns[j])
    deepest = min(up_to, len(indices))
    found = []
    for size in range(1, deepest + 1):
        for chosen in combinations(indices, size):
            if persons and table.pairs_class is not None:
                sizes = person_class_sizes(table, chosen, residual=residual)
            else:
                sizes = _record_sizes(table, chosen, residual)
            names = tuple(table.columns[j] for j in chosen)
            found.append(SubsetSizes(names, sizes.smallest, sizes.classes_below(k), sizes.records_below(k)))
    every = 2 ** len(indices) - 1
    looked_at = sum(comb(len(indices), size) for size in range(1, deepest + 1))
    return SubsetReport(k, deepest, tuple(found), every - looked_at)


def _record_sizes(table: ClassTable, chosen: tuple[int, ...], residual: Literal["lost", "class"]) -> ClassSizes:
    """Class sizes in records; by a table of all tuples where that is small, else by sorting."""
    spans = [int(table.codes[:, j].max(initial=0)) + 1 for j in chosen]
    if prod(spans) > max(_DENSE, 4 * table.n_classes):
        return ClassSizes.from_table(table, chosen, residual=residual)
    key: NDArray[np.int64] = np.zeros(table.n_classes, np.int64)
    for j, span in zip(chosen, spans, strict=True):
        key = key * span + table.codes[:, j]
    totals = np.bincount(key, weights=table.counts, minlength=1).astype(np.int64)
    lost = 0
    if residual == "lost":
        lost, totals[0] = int(totals[0]), 0
    return ClassSizes.from_counts(totals, residual=lost)
