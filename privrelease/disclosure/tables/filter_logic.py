"""Logic of keys and filters: who lives in the north and is a woman is in a table of both, and in no table of others.

Filters of one column are seen in pairs, by which rows there are. A filter that reads several columns (`region = 'north' AND sex = 'F'`) makes a cell of
another table, or a union of cells, out of what its own table prints; so do filters of several tables that read a column in common.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from privrelease.relational.filter_truth import truths_of_keys
from privrelease.relational.filters import Both, Either, Missing, Negated, columns_of
from privrelease.relational.tables import Membership, TableQuery
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.published_table import PrintedTable
    from privrelease.relational.filters import Filter
    from privrelease.relational.tables import TableCells

__all__ = ["FilterLogic", "conditions_of", "filtered_out", "linked_filters", "scopes"]

#: Conditions of single columns that are looked at together: each doubles what can be true of a row.
MOST_CONDITIONS: Final = 12


def conditions_of(of: Filter) -> tuple[Filter, ...]:
    """Return the largest parts of a filter that read one column each.

    >>> from privrelease.relational.filters import Comparison
    >>> low, high, woman = Comparison("age", ">=", 18), Comparison("age", "<", 65), Comparison("sex", "=", "F")
    >>> conditions_of(Both(Both(low, high), woman)) == (Both(low, high), woman)
    True
    """
    if len(columns_of(of)) == 1:
        return (of,)
    match of:
        case Both(left, right) | Either(left, right):
            return tuple(dict.fromkeys((*conditions_of(left), *conditions_of(right))))
        case Negated(inner):
            return conditions_of(inner)
        case _:  # one column, above
            return (of,)


def linked_filters(filters: Sequence[Filter], apart: Collection[str] = ()) -> list[tuple[int, ...]]:
    """Return the numbers of filters that are linked by columns which they read, each group in order. ``apart``: columns that link none.

    >>> from privrelease.relational.filters import Comparison
    >>> b, c, d = (Comparison(name, "=", 1) for name in "bcd")
    >>> linked_filters([b, c, d, Either(b, c)]), linked_filters([b, c, Either(b, c)], "b")
    ([(0, 1, 3), (2,)], [(0,), (1, 2)])
    """
    groups: list[tuple[set[str], list[int]]] = []
    for number, one in enumerate(filters):
        read = columns_of(one) - {*apart}
        meeting = [group for group in groups if group[0] & read]
        columns = {*read}.union(*(group[0] for group in meeting))
        numbers = [*(each for group in meeting for each in group[1]), number]
        groups = [*(group for group in groups if group not in meeting), (columns, numbers)]
    return sorted(tuple(sorted(numbers)) for _, numbers in groups)


def scopes(
    filters: Sequence[Filter | None], columns: Sequence[Collection[str]], names: Collection[str]
) -> Iterator[tuple[tuple[str, ...], tuple[Filter, ...]]]:
    """Yield the filters, two or more, that are linked by columns that no table groups by where one of them reads several columns, with the group columns that
    have to be looked at with them: what a filter reads, and what several of their tables have. Keys alone decide about other filters.

    ``filters``: of each table; ``columns``: that it groups by, or that decide about its filter; ``names``: columns that any table groups by.
    """
    every = tuple(dict.fromkeys(one for one in filters if one is not None))
    for numbers in linked_filters(every, names):
        found = tuple(every[number] for number in numbers)
        read = frozenset[str]().union(*map(columns_of, found))
        if len(found) > 1 and any(len(columns_of(one)) > 1 for one in found):
            mine = [own for one, own in zip(filters, columns, strict=True) if one in found]
            yield tuple(name for name in names if name in read or sum(name in own for own in mine) > 1), found


def filtered_out(one: PrintedTable) -> NDArray[np.bool_] | None:
    """Return the cells of a table, (cells,), of which its filter lets no row in; None where its filter says nothing of its keys."""
    if one.where is None or not columns_of(one.where) & {*one.by}:
        return None
    sides = [(*keys, None) if one.margins else keys for keys in one.keys]
    found = [
        True
        not in truths_of_keys(one.where, {name: (key, ()) for name, key in zip(one.by, at, strict=True) if key is not None})
        for at in product(*sides)
    ]
    return np.array(found, np.bool_)


class FilterLogic:
    """Logic of keys of group columns and filters. ``keys``: of every group column; ``lists``: whether a table leaves rows out
    because their key of one of its columns is not listed, or missing.
    """

    def __init__(
        self,
        members: Sequence[Membership],
        keys: Mapping[str, Sequence[str]],
        fetch: Callable[[TableQuery], TableCells],
        lists: Callable[[Membership, str], bool],
    ) -> None:
        self._keys, self._fetch, self._lists = keys, fetch, lists
        filters = tuple(dict.fromkeys(one.where for one in members if one.where is not None))
        linked = [frozenset(filters[number] for number in numbers) for numbers in linked_filters(filters, keys)]
        every = tuple(dict.fromkeys(members))
        self._groups = [tuple(one for one in every if one.where in group) for group in linked]
        self._groups += [(one,) for one in every if one.where is None and one.keys]
        self._states: dict[tuple[Membership, ...], _States] = {}

    def narrowing(self, member: Membership) -> frozenset[str]:
        """Return the group columns whose keys decide whether a row is in a table, by its filter or by their list."""
        read = frozenset[str]() if member.where is None else columns_of(member.where) & self._keys.keys()
        return read | {name for name, _ in member.keys if self._lists(member, name)}

    def is_decided(self, member: Membership) -> bool:
        """Return True if keys of group columns alone decide whether a row is in a table."""
        read = frozenset[str]() if member.where is None else columns_of(member.where)
        return read <= self._keys.keys() and not any(self._lists(member, name) for name, _ in member.keys)

    def excluded(self, query: TableQuery) -> Iterator[frozenset[tuple[str, int]]]:
        """Yield what no row can be, of the sides of a query: keys of columns that decide, with being in or out of tables. That two sides exclude one
        another is seen by their rows, but for a key that one table lists and another does not.
        """
        for group in self._groups:
            members = [one for one in query.members if one in group]
            narrowing = frozenset[str]().union(*map(self.narrowing, members))
            by = tuple(name for name in query.by if name in narrowing)
            uneven = any({*keys} != {*self._keys[name]} for one in members for name, keys in one.keys if name in by)
            if members and (uneven or len(by) + len(members) > 2):
                yield from self._excluded(by, members, self._of(group))

    def _excluded(
        self, by: tuple[str, ...], members: Sequence[Membership], states: _States
    ) -> Iterator[frozenset[tuple[str, int]]]:
        wide = len(by)
        shape = (*(len(self._keys[name]) + 1 for name in by), len(states.rows), *([2] * len(members)))
        possible = np.ones(shape, np.bool_)
        for place, member in enumerate(members):
            own = tuple(name for name in by if name in self.narrowing(member))
            axes = {*map(by.index, own), wide, wide + 1 + place}
            can = self._can(member, own, states)
            possible &= can.reshape([size if axis in axes else 1 for axis, size in enumerate(shape)])
        names = (*by, *map(repr, members))
        for places in np.argwhere(~possible.any(axis=wide)).tolist():
            yield frozenset(zip(names, places, strict=True))

    def _can(self, member: Membership, by: tuple[str, ...], states: _States) -> NDArray[np.bool_]:
        """Return whether rows of these keys and in each state can be in a table, and whether they can be out of it."""
        listed = {name: keys for name, keys in member.keys if self._lists(member, name)}
        open_ = not listed.keys() <= {*by}
        sides = [(*self._keys[name], None) for name in by]
        found = np.zeros((*map(len, sides), len(states.rows), 2), np.bool_)
        for at in product(*(range(len(side)) for side in sides)):
            own = {name: side[place] for name, side, place in zip(by, sides, at, strict=True)}
            keys = {name: (key, self._keys[name]) for name, key in own.items()}
            left_out = any(name in listed and key not in listed[name] for name, key in own.items())
            for number, state in enumerate(states.rows):
                held = dict(zip(states.conditions, state, strict=True))
                truths = frozenset({True}) if member.where is None else _truths(member.where, keys, held)
                found[(*at, number)] = [True in truths and not left_out, truths != {True} or left_out or open_]
        return found

    def _of(self, group: tuple[Membership, ...]) -> _States:
        if group not in self._states:
            self._states[group] = self._asked([one.where for one in group if one.where is not None])
        return self._states[group]

    def _asked(self, filters: Sequence[Filter]) -> _States:
        """Ask which conditions of columns that no table groups by hold together of anybody."""
        parts = dict.fromkeys(part for one in filters for part in conditions_of(one))
        hidden = [part for part in parts if not columns_of(part) & self._keys.keys()]
        missing = (Missing(name) for name in sorted(frozenset[str]().union(*map(columns_of, hidden))))
        asked = tuple(dict.fromkeys((*hidden, *missing)))
        if not asked or len(asked) > MOST_CONDITIONS:
            return _States((), ((),))
        query = TableQuery((), (), margins=False, others=True, members=tuple(Membership(one, ()) for one in asked))
        found = np.argwhere(self._fetch(query).rows.reshape(query.shape) > 0).tolist()
        return _States(asked, tuple(tuple(place == 0 for place in row) for row in found) or ((False,) * len(asked),))


@dataclass(frozen=True, eq=False, slots=True)
class _States:
    """Conditions, and in each row whether they hold: all combinations of which somebody is."""

    conditions: tuple[Filter, ...]
    rows: tuple[tuple[bool, ...], ...]


def _truths(
    of: Filter, keys: Mapping[str, tuple[str | None, Sequence[str]]], state: Mapping[Filter, bool]
) -> frozenset[bool | None]:
    """Return what a filter can be of rows with these keys and of which these conditions hold, and no other of them."""
    if of in state:
        (column,) = columns_of(of)
        return frozenset({True if state[of] else None if state[Missing(column)] else False})
    match of:
        case Both(left, right) | Either(left, right) if len(columns_of(of)) > 1:
            decided = type(of) is Either
            pairs: Any = product(_truths(left, keys, state), _truths(right, keys, state))
            return frozenset(decided if decided in pair else None if None in pair else not decided for pair in pairs)
        case Negated(inner) if len(columns_of(of)) > 1:
            return frozenset(None if truth is None else not truth for truth in _truths(inner, keys, state))
        case _:
            return truths_of_keys(of, keys)
