"""Labels of several levels in one column, so that classes and matches can be counted over them.

Two labels of a hierarchy have a value in common where one is over the other. Under the wildcard reading they are then compatible, and a missing cell
is the label over all. A column of such labels is spread to one column for each depth: the label's ancestor there, or missing where the label is not so
deep. Two labels are compatible exactly where their spread columns are, in each of which cells are equal or one is missing; so what counts
matches of missing cells (:mod:`privrelease.disclosure.classes.wildcard`) counts those of labels too.

Source: the wildcard reading of sdcMicro and ARX, with a missing cell as the root of every hierarchy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.classes.equivalence_classes import ClassTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["ladder_of_sets", "spread", "spread_names"]


def ladder_of_sets(ends: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the ancestors of labels that are intervals, from the outermost: (depth, v + 1), 0 where a label is not so deep.

    ``ends``: (2, v + 1), place 0 for missing. Of two intervals one holds the other, or they have nothing in common; equal ones are one.

    >>> ladder_of_sets(np.array([[np.nan, 20, 20, 25, 30], [np.nan, 30, 25, 30, 40]])).tolist()
    [[0, 1, 1, 1, 4], [0, 0, 2, 3, 0]]
    """
    size = ends.shape[1]
    order = [place for place in np.lexsort((-ends[1], ends[0])).tolist() if place and not np.isnan(ends[0, place])]
    above: list[list[int]] = [[] for _ in range(size)]
    open_: list[int] = []
    for place in order:
        low, high = ends[0, place], ends[1, place]
        # a single number has equal ends and lies in an interval that begins with it
        while open_ and not (low < ends[1, open_[-1]] or (low, high) == (ends[0, open_[-1]], ends[1, open_[-1]])):
            open_.pop()
        same = bool(open_) and (low, high) == (ends[0, open_[-1]], ends[1, open_[-1]])
        above[place] = list(open_) if same else [*open_, place]
        if not same:
            open_.append(place)
    for place in range(1, size):
        above[place] = above[place] or [place]
    found = np.zeros((max(map(len, above), default=0) or 1, size), np.int64)
    for place, ancestors in enumerate(above):
        found[: len(ancestors), place] = ancestors
    return found


def spread_names(name: str, depth: int) -> tuple[str, ...]:
    """Return the names of the columns that a column is spread to."""
    return tuple(f"{name}\0{level}" for level in range(depth))


def spread(table: ClassTable, ladders: Mapping[str, NDArray[np.int64]]) -> tuple[ClassTable, dict[str, Sequence[str]]]:
    """Return a table with some columns spread, and the columns of it that each column of ``table`` is.

    ``ladders``: for a column (depth, v + 1), at each depth the ancestor of each code, see the module. Classes may repeat, which no count minds.

    >>> codes = np.array([[1], [2], [4]], np.int32)
    >>> ladder = np.array([[0, 1, 1, 1, 4], [0, 0, 2, 3, 0]])
    >>> made, names = spread(ClassTable(("age",), codes, np.array([5, 1, 2])), {"age": ladder})
    >>> made.codes.tolist(), len(names["age"])
    ([[1, 0], [1, 2], [4, 0]], 2)
    """
    columns: list[str] = []
    parts: list[NDArray[np.int64]] = []
    names: dict[str, Sequence[str]] = {}
    for place, name in enumerate(table.columns):
        codes = table.codes[:, place]
        ladder = ladders.get(name)
        names[name] = (name,) if ladder is None else spread_names(name, len(ladder))
        columns += names[name]
        parts += [codes.astype(np.int64)] if ladder is None else [row[codes] for row in ladder]
    stacked = np.stack(parts, axis=1).astype(np.int32) if parts else table.codes
    spread_table = ClassTable(
        tuple(columns),
        np.ascontiguousarray(stacked),
        table.counts,
        table.weights,
        table.pairs_class,
        table.pairs_person,
        table.alike,
        table.pair_weights,
    )
    return spread_table, names
