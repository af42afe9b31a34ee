"""Predicates on several columns that match one record of a file, all of them: by grouping, not by trying.

A predicate is made of one record: names equal, numbers at least or at most the record's, away from the median
(:mod:`privrelease.audit.attacks.singling_out`). Whoever meets the condition on a number is on the record's side of the median. So
records that agree on the names and on the sides are a group, and within it the question is of dominance: a record's predicate matches it alone where
no other record of the group is at least as far out in every number. Without numbers, where the group is one row; with one, where the
record is the farthest; with two, by one sweep; with more, each is compared with those before it in lexicographic order, which alone can dominate it.

Sources: Cohen and Nissim 2020 (predicate singling out); Kung, Luccio and Preparata 1975 (maxima of vectors).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.classes.grouping import group_rows
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.records import Attribute
    from privrelease.audit.attacks.sampling import Draws

__all__ = ["MOST_SETS", "Enumerated", "enumerable", "sampled_of_all"]

#: Sets of columns that are looked at; beyond, predicates are tried.
MOST_SETS = 1_000_000
#: Comparisons of one set of columns with three or more numbers; beyond, predicates are tried.
_MOST_COMPARED = 50_000_000


class TooManyError(Exception):
    """A set of columns asks for more comparisons than are made."""


@dataclass(frozen=True, slots=True)
class Enumerated:
    """``chosen``: at most as many as wanted, each the places of the columns and a record; ``exist``: how many predicates there are."""

    chosen: tuple[tuple[tuple[int, ...], int], ...]
    exist: int


def enumerable(columns: Sequence[Attribute], combine: int) -> bool:
    """Return whether there are few enough sets of columns, and values that are compared as they are."""
    return comb(len(columns), combine) <= MOST_SETS and all(column.cover is None for column in columns)


def sampled_of_all(
    columns: Sequence[Attribute],
    above: Sequence[NDArray[np.bool_] | None],
    combine: int,
    draws: Draws,
    most: int,
    counts: NDArray[np.int64] | None = None,
) -> Enumerated | None:
    """Return ``most`` of all predicates on ``combine`` columns that match one record, each as likely as the others, in the order drawn.

    ``above``: of each column of numbers which codes are met by "at least", (v + 1,) bool; None for names. ``counts``: rows of each record. None where
    one set of columns would take too many comparisons. Memory holds one set's records and what is drawn.
    """
    exist = 0
    drawn: list[tuple[tuple[int, ...], int]] = []
    words = np.zeros(0, np.uint64)
    try:
        for places, records in _unique(columns, above, combine, counts):
            more = draws.words(len(records), exist)
            exist += len(records)
            # Only what comes before the last one that is held can be drawn.
            near = np.flatnonzero(more < words.max()) if len(words) == most and most else np.arange(len(records))
            drawn += [(places, record) for record in records[near].tolist()]
            words = np.concatenate((words, more[near]))
            if len(words) > most:
                first = np.argsort(words, kind="stable")[:most]
                drawn, words = [drawn[place] for place in first.tolist()], words[first]
    except TooManyError:
        return None
    order = np.argsort(words, kind="stable")
    return Enumerated(tuple(drawn[place] for place in order.tolist()), exist)


def _unique(
    columns: Sequence[Attribute], above: Sequence[NDArray[np.bool_] | None], combine: int, counts: NDArray[np.int64] | None
) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Yield every set of columns with the records whose predicate on it matches one row, by ascending values."""
    for places in combinations(range(len(columns)), combine):
        codes = [columns[place].codes.astype(np.int64) for place in places]
        known = np.flatnonzero(np.logical_and.reduce([one > 0 for one in codes]))
        equal, farther = [], []
        for place, one in zip(places, codes, strict=True):
            side = above[place]
            if side is None:
                equal.append(one[known])
            else:
                out = side[one[known]]
                equal.append(out.astype(np.int64))
                # The farther out, the smaller.
                farther.append(np.where(out, len(side) - one[known], one[known]))
        found = _alone(equal, farther, None if counts is None else counts[known])
        yield places, known[found]


def _alone(
    equal: list[NDArray[np.int64]], farther: list[NDArray[np.int64]], counts: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the rows that are one record and that no other with the same ``equal`` is as far out as in all of ``farther``."""
    whole = _numbered([*equal, *farther])
    _, first, group = np.unique(whole, return_index=True, return_inverse=True)
    rows = np.bincount(group, counts, len(first))
    alone: NDArray[np.bool_] = rows == 1
    if farther:
        part = _numbered(equal)[first]
        out = [one[first] for one in farther]
        alone &= ~_dominated(part, out)
    single: NDArray[np.int64] = first[alone].astype(np.int64)
    return single


def _numbered(keys: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Number rows by ascending keys: equal rows alike, in lexicographic order."""
    packed, span = np.zeros(len(keys[0]), np.int64), 1
    for key in keys:
        width = int(key.max(initial=0)) + 1
        if span * width >= 1 << 62:
            return group_rows(np.stack(keys, axis=1).astype(np.int32)).group.astype(np.int64)
        packed = packed * width + key
        span *= width
    return packed


def _dominated(part: NDArray[np.int64], out: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Return which of some different points, in lexicographic order by part and then ``out``, have one before them in their part that is as
    small in every coordinate. Raises TooManyError.
    """
    begins: NDArray[np.bool_] = np.diff(part, prepend=-1) != 0
    if len(out) == 1:
        return ~begins
    if len(out) == 2:
        # Parts are numbered downwards, so that the least so far never comes from an earlier one.
        second = out[1] - (np.cumsum(begins) - 1) * (int(out[1].max(initial=0)) + 1)
        before = np.minimum.accumulate(second)
        inner: NDArray[np.bool_] = ~begins
        inner[1:] &= second[1:] >= before[:-1]
        return inner
    place = np.arange(len(part)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    largest = int(place.max(initial=0))
    if largest * len(part) > _MOST_COMPARED:
        raise TooManyError
    dominated: NDArray[np.bool_] = np.zeros(len(part), np.bool_)
    for back in range(1, largest + 1):
        later = np.flatnonzero(place >= back)
        dominated[later] |= np.logical_and.reduce([one[later - back] <= one[later] for one in out])
    return dominated
