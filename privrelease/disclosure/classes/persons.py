"""Class sizes in persons, where a person may have several records (DESIGN semantics 2).

Where the rows of a person cannot be linked in the output, a class counts its distinct persons: five visits of one patient hide
no one. Where they stay linkable (a pseudonym is released and repeats), the attacker sees a person's rows together, and what
hides a person is the number of persons with the same *set* of distinct tuples, or the same *multiset* for an attacker who knows
how many rows the person has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.disclosure.classes.class_sizes import ClassSizes, MatchSizes
from privrelease.disclosure.classes.grouping import column_indices, group_rows, is_residual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["least_sizes", "linkable_class_sizes", "members", "pair_times", "person_class_sizes", "times_of"]

Residual = Literal["lost", "class"]


def members(table: ClassTable, group: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct (person, group) pairs when classes fall into groups: persons (m,), groups (m,), sorted by person; and each pair's index.

    ``group``: (J,) group of each class. The third array maps the table's pairs to the result's.

    Errors: ValueError where the table has no persons.
    """
    if table.pairs_class is None or table.pairs_person is None:
        msg = "the table does not say which persons its classes hold"
        raise ValueError(msg)
    n_groups = int(group.max(initial=-1)) + 1
    keys = table.pairs_person.astype(np.int64) * max(n_groups, 1) + group[table.pairs_class]
    distinct, where = np.unique(keys, return_inverse=True)
    persons, groups = np.divmod(distinct, max(n_groups, 1))
    return persons, groups, where.astype(np.int64)


def times_of(table: ClassTable, persons: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many persons each of ``persons`` (m,), numbers of the table's, represents."""
    return np.ones(len(persons), np.int64) if table.alike is None else table.alike[persons]


def pair_times(table: ClassTable) -> NDArray[np.int64]:
    """Return how many persons each of the table's (class, person) pairs represents: (m,).

    Errors: ValueError where the table has no persons.
    """
    if table.pairs_person is None:
        msg = "the table does not say which persons its classes hold"
        raise ValueError(msg)
    return times_of(table, table.pairs_person.astype(np.int64))


def least_sizes(persons: NDArray[np.int64], sizes: NDArray[np.int64], times: NDArray[np.int64]) -> MatchSizes | None:
    """Persons by the smallest size of their pairs; None where every person has one pair. ``persons``: (m,) ascending; ``sizes``: (m,) of pairs;
    ``times``: (m,) persons that each represents.

    >>> found = least_sizes(np.array([0, 0, 1]), np.array([2, 1, 2]), np.array([1, 1, 1]))
    >>> (found.sizes.tolist(), found.records.tolist())
    ([1, 2], [1, 1])
    """
    starts = np.flatnonzero(np.diff(persons, prepend=-1))
    if len(starts) == len(persons):
        return None
    least = np.minimum.reduceat(sizes, starts)
    return MatchSizes.of(least, times[starts])


def person_class_sizes(
    table: ClassTable, columns: Sequence[int | str] | None = None, *, residual: Residual = "lost"
) -> ClassSizes:
    """Class sizes in distinct persons on ``columns``; in records where the table has no persons.

    A person in several classes counts in each. ``residual``: the class with every column missing is ``lost`` or a ``class``.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(
    ...     ("sex", "region"),
    ...     np.array([[1, 1], [1, 2]], np.int32),
    ...     np.array([5, 2]),
    ...     pairs_class=np.array([0, 1, 1], np.uint32),
    ...     pairs_person=np.array([0, 0, 1], np.uint32),
    ... )
    >>> person_class_sizes(table).sizes.tolist(), person_class_sizes(table, ["sex"]).sizes.tolist()
    ([1, 2], [2])
    """
    if table.pairs_class is None:
        return ClassSizes.from_table(table, columns, residual=residual)
    codes = table.codes[:, list(column_indices(table, columns))]
    grouping = group_rows(codes)
    persons, groups, _ = members(table, grouping.group)
    times = times_of(table, persons)
    counts = np.bincount(groups, times, grouping.n_groups).astype(np.int64)
    lost = is_residual(codes[grouping.first]) if residual == "lost" else np.zeros(grouping.n_groups, np.bool_)
    kept = ~lost[groups]
    found = ClassSizes.from_counts(counts[~lost], residual=int(counts[lost].sum()))
    return replace(found, least=least_sizes(persons[kept], counts[groups[kept]], times[kept]))


def linkable_class_sizes(
    table: ClassTable,
    columns: Sequence[int | str] | None = None,
    *,
    reading: Literal["set", "multiset"] = "set",
    pair_rows: NDArray[np.int64] | None = None,
    residual: Residual = "lost",
) -> ClassSizes:
    """Numbers of persons with the same set (or multiset) of tuples on ``columns``, for rows that stay linkable.

    ``pair_rows``: (m,) rows of each of the table's (class, person) pairs; needed for the multiset unless each pair has one row.
    ``residual``: persons of whom nothing but missing cells is released are ``lost`` or a ``class``. Where the table has no
    persons, every record is a person.

    Errors: ValueError where the multiset is asked for and the rows of a pair are not known.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(
    ...     ("visit",),
    ...     np.array([[1], [2]], np.int32),
    ...     np.array([4, 2]),
    ...     pairs_class=np.array([0, 0, 1, 1], np.uint32),
    ...     pairs_person=np.array([0, 1, 0, 1], np.uint32),
    ... )
    >>> linkable_class_sizes(table).sizes.tolist()
    [2]
    >>> linkable_class_sizes(table, reading="multiset", pair_rows=np.array([3, 1, 1, 1])).sizes.tolist()
    [1]
    """
    if table.pairs_class is None:
        return ClassSizes.from_table(table, columns, residual=residual)
    codes = table.codes[:, list(column_indices(table, columns))]
    grouping = group_rows(codes)
    persons, tuples, where = members(table, grouping.group)
    lost = is_residual(codes[grouping.first]) if residual == "lost" else np.zeros(grouping.n_groups, np.bool_)
    if reading == "multiset":
        tuples, lost = _with_multiplicity(tuples, lost, _rows(table, pair_rows, where, len(persons)))
    starts = np.flatnonzero(np.diff(persons, prepend=-1))
    lengths = np.diff(starts, append=len(persons))
    times = times_of(table, persons[starts])
    sizes: list[NDArray[np.int64]] = []
    residual_persons = 0
    for length in np.unique(lengths):
        begin, alike = starts[lengths == length], times[lengths == length]
        sets = np.ascontiguousarray(tuples[begin[:, None] + np.arange(length)], np.int32)
        equal = group_rows(sets)
        counts = np.bincount(equal.group, alike, equal.n_groups).astype(np.int64)
        empty = np.all(lost[sets[equal.first]], axis=1)
        residual_persons += int(counts[empty].sum())
        sizes.append(counts[~empty])
    return ClassSizes.from_counts(np.concatenate(sizes) if sizes else [], residual=residual_persons)


def _pairs_persons(table: ClassTable) -> NDArray[np.int64]:
    assert table.pairs_person is not None
    return table.pairs_person.astype(np.int64)


def _rows(table: ClassTable, pair_rows: NDArray[np.int64] | None, where: NDArray[np.int64], n_pairs: int) -> NDArray[np.int64]:
    """Rows of each (person, group) pair."""
    if pair_rows is None and table.n_records != int(times_of(table, _pairs_persons(table)).sum()):
        msg = "the multiset of a person's rows needs the number of rows of each (class, person) pair"
        raise ValueError(msg)
    rows = np.zeros(n_pairs, np.int64)
    np.add.at(rows, where, np.ones(len(where), np.int64) if pair_rows is None else pair_rows)
    return rows


def _with_multiplicity(
    tuples: NDArray[np.int64], lost: NDArray[np.bool_], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Make one item of a tuple and its number of rows; which items are of residual tuples. Items of a person stay ascending."""
    most = int(rows.max(initial=0)) + 1
    items, where = np.unique(tuples * most + rows, return_inverse=True)
    return where.astype(np.int64), lost[items // most]
