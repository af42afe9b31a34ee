"""Missing matches anything, counted in persons: how many distinct persons have a record that a record may be taken for.

A person with records y and z matches x once, also where both match. By inclusion and exclusion over the person's distinct tuples, this is the
signed sum of the matches of their *meets*: the meet of tuples matches x exactly where each of them does. In a column, missing meets v to v, v meets
v to v, and v meets another value to a mark that only a missing cell matches.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.classes.class_sizes import MatchSizes
from privrelease.disclosure.classes.grouping import column_indices, group_rows, is_residual
from privrelease.disclosure.classes.persons import least_sizes, members, times_of
from privrelease.disclosure.classes.wildcard import match_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["MOST_TUPLES", "person_match_counts", "person_match_sizes"]

#: Of a person with more distinct tuples than this, the others are not matched: counts are then smaller, risks larger than they are.
MOST_TUPLES = 6


def _meet(
    left: NDArray[np.integer[Any]], right: NDArray[np.integer[Any]], conflict: NDArray[np.integer[Any]]
) -> NDArray[np.integer[Any]]:
    both = np.where((left == right) | (right == 0), left, conflict)
    return np.where(left == 0, right, both).astype(np.int32)


def person_match_sizes(
    table: ClassTable, columns: Sequence[int | str] | None = None, *, residual: Literal["lost", "class"] = "lost"
) -> MatchSizes:
    """For each (class, person) pair on ``columns``, the number of distinct persons that match it; as a histogram over the pairs.

    In records where the table has no persons. ``residual``: records with every column missing are ``lost`` or count like any other.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(
    ...     ("a", "b"),
    ...     np.array([[1, 0], [1, 1], [2, 2]], np.int32),
    ...     np.array([1, 2, 1]),
    ...     pairs_class=np.array([0, 1, 1, 2], np.uint32),
    ...     pairs_person=np.array([0, 0, 1, 2], np.uint32),
    ... )
    >>> sizes = person_match_sizes(table)
    >>> (sizes.sizes.tolist(), sizes.records.tolist())
    ([1, 2], [1, 3])
    """
    if table.pairs_class is None:
        return match_sizes(table, columns, residual=residual)
    grouping = group_rows(table.codes[:, list(column_indices(table, columns))])
    matches = person_match_counts(table, columns, residual=residual)[grouping.first]
    persons, tuples, _ = members(table, grouping.group)
    times = times_of(table, persons)
    held = np.bincount(tuples, times, grouping.n_groups).astype(np.int64)
    shown = matches > 0
    kept = shown[tuples]
    found = MatchSizes.of(matches[shown], held[shown], residual=int(held[~shown].sum()))
    return replace(found, least=least_sizes(persons[kept], matches[tuples[kept]], times[kept]))


def person_match_counts(
    table: ClassTable, columns: Sequence[int | str] | None = None, *, residual: Literal["lost", "class"] = "lost"
) -> NDArray[np.int64]:
    """For every class of ``table``, the number of distinct persons that match it on ``columns``: (J,) int64, 0 where ``lost``.

    Errors: ValueError where the table has no persons.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> pairs = {"pairs_class": np.array([0, 1, 1], np.uint32), "pairs_person": np.array([0, 0, 1], np.uint32)}
    >>> person_match_counts(
    ...     ClassTable(("a",), np.array([[0], [1]], np.int32), np.array([1, 2]), **pairs), residual="class"
    ... ).tolist()
    [2, 2]
    """
    from privrelease.disclosure.classes.tries import build_trie, compatible_sums

    codes = table.codes[:, list(column_indices(table, columns))]
    grouping = group_rows(codes)
    distinct = codes[grouping.first]
    persons, tuples, _ = members(table, grouping.group)
    times = times_of(table, persons)
    held = np.bincount(tuples, times, grouping.n_groups).astype(np.int64)
    lost = is_residual(distinct) if residual == "lost" else np.zeros(len(distinct), np.bool_)
    kept = ~lost[tuples]
    meets, signs = _meets(distinct, persons[kept], tuples[kept], times[kept])
    shown = np.flatnonzero(~lost)
    trie = build_trie(np.concatenate([distinct[shown], meets]))
    rows = np.arange(len(shown) + len(meets))
    matches = compatible_sums(trie, rows[: len(shown)], rows[len(shown) :], signs).astype(np.int64)
    of_tuple = np.zeros(len(distinct), np.int64)
    of_tuple[shown] = np.maximum(matches, held[shown])  # those who hold the tuple itself match it, looked at or not
    return of_tuple[grouping.group]


def _meets(
    distinct: NDArray[np.integer[Any]], persons: NDArray[np.int64], tuples: NDArray[np.int64], times: NDArray[np.int64]
) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64]]:
    """Distinct meets of every non-empty set of a person's tuples, and the sum of their signs over persons."""
    conflict = distinct.max(axis=0, initial=0) + 1
    starts = np.flatnonzero(np.diff(persons, prepend=-1))
    lengths = np.minimum(np.diff(starts, append=len(persons)), MOST_TUPLES)
    codes: list[NDArray[np.integer[Any]]] = [distinct[:0]]
    signs: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for length in np.unique(lengths).tolist():
        begin = starts[lengths == length]
        for size in range(1, length + 1):
            for chosen in combinations(range(length), size):
                met = distinct[tuples[begin + chosen[0]]]
                for which in chosen[1:]:
                    met = _meet(met, distinct[tuples[begin + which]], conflict)
                grouping = group_rows(met)
                codes.append(met[grouping.first])
                signs.append(grouping.sums(times[begin] * (-1 if size % 2 == 0 else 1)))
    stacked = np.concatenate(codes)
    grouping = group_rows(stacked)
    totals = grouping.sums(np.concatenate(signs))
    return stacked[grouping.first][totals != 0], totals[totals != 0]
