"""Columns of tables that others determine: municipalities that lie in one county each, bands of five years within bands of ten, rows of a filter.

Whoever knows the map knows that a municipality of one county has no rows in another, and so that the municipalities of a county add up to it.
A dependency that the source shows is granted to the attacker, whether or not it is public: the cells without a row are then known to be empty.
Of sensitive columns none is granted: that a group has one diagnosis is no map, but what class disclosure is about.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.relational.filters import columns_of
from privrelease.relational.tables import TableQuery
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.published_table import PrintedTable
    from privrelease.disclosure.tables.rules import CellRules
    from privrelease.relational.tables import Membership, TableCells

__all__ = [
    "MOST_NESTED",
    "Dependency",
    "column_dependencies",
    "excluded_memberships",
    "granted_cells",
    "membership_dependencies",
]

#: The most cells of a table's columns together with those that they determine.
MOST_NESTED: Final = 20_000


@dataclass(frozen=True, eq=False, slots=True)
class Dependency:
    """Column ``column`` determines ``on``, a column or a membership by its text. ``absent``: places of both that no row has together, (m, 2)."""

    column: str
    on: str
    absent: NDArray[np.int64]


def column_dependencies(
    keys: Mapping[str, tuple[str, ...]], public: Collection[str] | None, fetch: Callable[[TableQuery], TableCells]
) -> Iterator[Dependency]:
    """Yield which of the columns determine which. ``public``: columns that may be determined, all where None."""
    for first, second in combinations(keys, 2):
        if public is not None and first not in public and second not in public:
            continue
        query = TableQuery((first, second), (keys[first], keys[second]), margins=False, others=True)
        rows = fetch(query).rows.reshape(query.shape)
        for column, on, counts in ((first, second, rows), (second, first, rows.T)):
            if (public is None or on in public) and _is_determined(counts):
                yield Dependency(column, on, _absent(counts))


def granted_cells(
    one: PrintedTable, rules: CellRules, public: Collection[str] | None, fetch: Callable[[TableQuery], TableCells]
) -> NDArray[np.bool_] | None:
    """Return the cells of a single table, (cells,), that are known to be empty since one of its columns determines another; None where
    empty cells are printed, or are what class disclosure protects.
    """
    if rules.zeros_shown or rules.class_disclosure or len(one.by) < 2:
        return None
    empty = np.zeros(one.layout.shape, np.bool_)
    for found in column_dependencies(dict(zip(one.by, one.keys, strict=True)), public, fetch):
        sides = [one.by.index(found.column), one.by.index(found.on)]
        np.moveaxis(empty, sides, [0, 1])[found.absent[:, 0], found.absent[:, 1]] = True
    return empty.reshape(-1)


def membership_dependencies(
    keys: Mapping[str, tuple[str, ...]],
    members: Sequence[Membership],
    public: Collection[str] | None,
    fetch: Callable[[TableQuery], TableCells],
) -> Iterator[Dependency]:
    """Yield which of the columns determine which rows a filter over ``public`` columns takes."""
    for member in members:
        if member.where is None or (public is not None and not columns_of(member.where) <= {*public}):
            continue
        for column in keys:
            query = TableQuery((column,), (keys[column],), margins=False, others=True, members=(member,))
            counts = fetch(query).rows.reshape(query.shape)
            if _is_determined(np.c_[counts, np.zeros(len(counts), np.int64)]):
                yield Dependency(column, repr(member), _absent(np.c_[counts, np.zeros(len(counts), np.int64)]))


def excluded_memberships(query: TableQuery, rows: NDArray[np.int64]) -> Iterator[frozenset[tuple[str, int]]]:
    """Yield what no row is, in or out of three memberships or more whose filters read a column in common: out of all of them where they name every
    year, which no pair of them says. ``rows``: of the cells of a query without totals.
    """
    wide = len(query.by)
    counts = rows.reshape(query.shape).sum(axis=tuple(range(wide)))
    read = [frozenset[str]() if member.where is None else columns_of(member.where) for member in query.members]
    for name in sorted(frozenset[str]().union(*read)):
        sides = [side for side, columns in enumerate(read) if name in columns]
        if len(sides) > 2:
            others = tuple(side for side in range(len(read)) if side not in sides)
            for places in np.argwhere(counts.sum(axis=others) == 0).tolist():
                yield frozenset((repr(query.members[side]), place) for side, place in zip(sides, places, strict=True))


def _is_determined(counts: NDArray[np.int64]) -> bool:
    """Return True if all rows of each listed key, (keys and others, keys and others) rows, have one key, and not all keys the
    same.

    >>> _is_determined(np.array([[3, 0, 0], [0, 4, 0], [9, 9, 9]])), _is_determined(np.array([[3, 1, 0], [0, 4, 0], [0, 0, 0]]))
    (True, False)
    """
    listed = counts[:-1] > 0
    return bool((listed.sum(axis=1) <= 1).all() and listed.any(axis=0).sum() > 1)


def _absent(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of listed keys that no row has together."""
    return np.argwhere((counts[:-1, :-1] == 0) & (counts[:-1].sum(axis=1) > 0)[:, None])
