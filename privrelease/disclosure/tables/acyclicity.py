"""Tables that are linked in a ring (region by sex, sex by age, age by region), and how many cells of all columns they need together."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Final

from privrelease.disclosure.tables.filter_logic import scopes
from privrelease.relational.filters import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.disclosure.tables.published_table import PrintedTable

__all__ = ["MOST_TOGETHER", "cells_together", "clusters", "is_tree"]

#: The most cells of all columns of linked tables together.
MOST_TOGETHER: Final = 400


def is_tree(columns: Sequence[set[str]]) -> bool:
    """Return True if sets of columns are linked without a ring: again and again a column of one set only, or a set within
    another, is removed (Graham).
    """
    left = [set(one) for one in columns]
    while True:
        before = [set(one) for one in left]
        for one in left:
            for name in tuple(one):
                if sum(name in other for other in left) == 1:
                    one.discard(name)
        left = [
            one
            for i, one in enumerate(left)
            if not any(one <= other and (one != other or i < j) for j, other in enumerate(left) if i != j)
        ]
        if left == before:
            return all(not one for one in left)


def cells_together(tables: Sequence[PrintedTable]) -> int | None:
    """Return how many cells of all columns the tables need, as far as is known before any row is read; None: they are linked in no ring.

    Filters are taken to leave rows out, where they read what no table groups by, and lists of keys to leave none out: with rows of other keys there can be
    more cells.

    >>> from privrelease.disclosure.tables.published_table import PrintedTable
    >>> keys = {"a": ("x", "y"), "b": ("x", "y"), "c": ("x", "y", "z")}
    >>> sides = [("a", "b"), ("b", "c"), ("c", "a")]
    >>> ring = [PrintedTable(one, tuple(keys[name] for name in one)) for one in sides]
    >>> cells_together(ring), cells_together(ring[:2])
    (36, None)
    """
    keys: dict[str, set[str]] = {}
    for table in tables:
        for name, listed in zip(table.by, table.keys, strict=True):
            keys.setdefault(name, set()).update(listed)
    members = [frozenset() if table.where is None else frozenset({repr(table.membership)}) for table in tables]
    read = [frozenset() if table.where is None else columns_of(table.where) & keys.keys() for table in tables]
    columns = [{*table.by, *mine, *side} for table, mine, side in zip(tables, read, members, strict=True)]
    linked = list(scopes([table.where for table in tables], columns, tuple(keys)))
    for (first, one), (second, other) in combinations(zip(tables, members, strict=True), 2):
        if one != other:
            columns.append({*first.by} & {*second.by} | one | other)
    for by, filters in linked:
        columns.append({*by, *(repr(table.membership) for table in tables if table.where in filters)})
    if is_tree(columns):
        return None
    decided = [table.where is None or columns_of(table.where) <= keys.keys() for table in tables]
    open_ = frozenset().union(*(side for side, known in zip(members, decided, strict=True) if not known))
    return prod(len(listed) + 1 for listed in keys.values()) * (1 << len(open_))


def clusters(edges: Sequence[frozenset[int]], sizes: Mapping[int, int]) -> tuple[list[frozenset[int]], list[tuple[int, int]]]:
    """Return sets of columns that have every one of ``edges`` within one of them and are linked without a ring, and the pairs of sets that link them:
    whole numbers that agree in what linked sets share are those of one population. ``sizes``: keys of each column, to keep the sets small.

    >>> clusters([frozenset({0, 1}), frozenset({1, 2})], {0: 2, 1: 2, 2: 2})
    ([frozenset({0, 1}), frozenset({1, 2})], [(0, 1)])
    >>> clusters([frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})], {0: 2, 1: 2, 2: 2})
    ([frozenset({0, 1, 2})], [])
    """
    near = {name: frozenset().union(*(edge for edge in edges if name in edge)) for edge in edges for name in edge}
    found: list[frozenset[int]] = []
    while near:
        first = min(near, key=lambda name: (prod(sizes[one] for one in near[name]), name))
        whole = near.pop(first)
        found.append(whole)
        for name in whole - {first}:
            near[name] = (near[name] | whole) - {first}
    kept = [
        one
        for i, one in enumerate(found)
        if not any(one <= other for other in (*found[:i], *(big for big in found[i + 1 :] if one < big)))
    ]
    links: list[tuple[int, int]] = []
    within = [0]
    while len(within) < len(kept):
        pairs = [(i, j) for i in within for j in range(len(kept)) if j not in within]
        best = max(pairs, key=lambda pair: len(kept[pair[0]] & kept[pair[1]]))
        links.append(best)
        within.append(best[1])
    return kept, links
