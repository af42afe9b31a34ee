"""The error of count queries asked of the release instead of the source: the median over random, repeatable queries.

A query counts records that meet a condition on each of one to three columns. A *point* query asks for single values: those of a record
of the source drawn at random, so it has an answer. A *range* query asks for an interval of at least one ordered column, its ends drawn
from the column's values, and for single values of the others. A label meets a condition in part: as its values would that were spread evenly over the
domain. A missing or suppressed cell meets no condition. The relative error is
|true - answer| / max(true, floor) with a floor of 0.1 % of the records (Xiao, Wang, Gehrke 2010, "Privelet": sanity bound).

Queries are drawn from SHA-256 of a text, in counter mode: the same text asks the same queries on every machine and version.
"""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from math import fsum
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

    #: How much of each released value, by its code, is between two values of the source, both included.
    Spread: TypeAlias = Callable[[int, int], NDArray[np.float64]]

__all__ = ["ASKED", "CountQuery", "Draws", "answers", "median_error", "point_queries", "range_queries"]
__all__ += ["spread_answers"]

#: Queries of each kind: the sample size that the report states.
ASKED = 100
_MOST_COLUMNS = 3
_FLOOR = 1000
_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class CountQuery:
    """Count records whose code of each column is in [low, high]: (place of the column, low, high) each, low >= 1."""

    conditions: tuple[tuple[int, int, int], ...]


class Draws:
    """Whole numbers drawn from a text: the same text, the same numbers. For choosing queries, never for noise.

    >>> draws = Draws("made-up policy")
    >>> [draws.below(6) for _ in range(8)]
    [5, 0, 5, 2, 0, 0, 2, 2]
    """

    def __init__(self, text: str) -> None:
        self._seed = sha256(text.encode()).digest()
        self._drawn = 0

    def below(self, n: int) -> int:
        """Return a number in 0..n-1; uneven by less than n / 2**64."""
        block = sha256(self._seed + self._drawn.to_bytes(8, "big")).digest()
        self._drawn += 1
        return int.from_bytes(block[:8], "big") * n >> 64

    def some(self, items: Sequence[int], size: int) -> list[int]:
        """Return ``size`` different items in the order drawn."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(size)]


def point_queries(table: ClassTable, draws: Draws, asked: int = ASKED) -> tuple[CountQuery, ...]:
    """Draw point queries that the source answers with at least 1; fewer than ``asked`` where records lack the values to ask for."""
    if not table.columns or not table.n_records:
        return ()
    ends = np.cumsum(table.counts)
    places = range(len(table.columns))
    drawn: list[CountQuery] = []
    for _ in range(_ATTEMPTS * asked):
        if len(drawn) == asked:
            break
        chosen = draws.some(places, 1 + draws.below(min(_MOST_COLUMNS, len(places))))
        drawn += _point(table, ends, sorted(chosen), draws)
    return tuple(drawn)


def _point(table: ClassTable, ends: NDArray[np.int64], chosen: Sequence[int], draws: Draws) -> list[CountQuery]:
    """Ask for the values of a record drawn at random; nothing where it lacks all of them."""
    record = int(np.searchsorted(ends, draws.below(table.n_records), side="right"))
    codes = ((place, int(table.codes[record, place])) for place in chosen)
    conditions = tuple((place, code, code) for place, code in codes if code)
    return [CountQuery(conditions)] if conditions else []


def range_queries(table: ClassTable, ordered: Sequence[int], draws: Draws, asked: int = ASKED) -> tuple[CountQuery, ...]:
    """Draw range queries: intervals of the ``ordered`` columns (places) that are chosen, values of a record for the others."""
    if not ordered or not table.n_records:
        return ()
    ends = np.cumsum(table.counts)
    highest = {place: int(table.codes[:, place].max()) for place in ordered}
    known = [place for place in ordered if highest[place]]
    if not known:
        return ()
    drawn: list[CountQuery] = []
    for _ in range(asked):
        (first,) = draws.some(known, 1)
        others = [place for place in range(len(table.columns)) if place != first]
        chosen = sorted([first, *draws.some(others, draws.below(min(_MOST_COLUMNS, len(others) + 1)))])
        intervals = tuple(_interval(place, highest[place], draws) for place in chosen if place in known)
        values = [query.conditions for query in _point(table, ends, [place for place in chosen if place not in known], draws)]
        drawn.append(CountQuery((*intervals, *(values[0] if values else ()))))
    return tuple(drawn)


def _interval(place: int, highest: int, draws: Draws) -> tuple[int, int, int]:
    ends = sorted((1 + draws.below(highest), 1 + draws.below(highest)))
    return place, ends[0], ends[1]


def spread_answers(table: ClassTable, queries: Sequence[CountQuery], spread: Mapping[int, Spread]) -> list[Fraction]:
    """Return what a class table answers where columns, by their places, hold labels: each counts as its share that meets the condition.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> tens = ClassTable(("age",), np.array([[1], [2]], np.int32), np.array([40, 10]))
    >>> spread_answers(tens, [CountQuery(((0, 5, 14),))], {0: lambda low, high: np.array([0, 0.5, 0.5])})
    [Fraction(25, 1)]
    """
    found = []
    for query in queries:
        weights = table.counts.astype(np.float64)
        for place, low, high in query.conditions:
            codes = table.codes[:, place]
            if place in spread:
                weights = weights * spread[place](low, high)[codes]
            else:
                weights = weights * ((codes >= low) & (codes <= high))
        found.append(Fraction(fsum(weights[weights > 0].tolist())))
    return found


def answers(table: ClassTable, queries: Sequence[CountQuery]) -> list[int]:
    """Count the records that meet each query, on a class table.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("a", "b"), np.array([[1, 1], [1, 2], [2, 0]], np.int32), np.array([3, 2, 4]))
    >>> answers(table, [CountQuery(((0, 1, 1),)), CountQuery(((0, 1, 2), (1, 1, 2)))])
    [5, 5]
    """
    narrow: dict[int, NDArray[np.unsignedinteger]] = {}
    found = []
    for query in queries:
        for place, _, _ in query.conditions:
            if place not in narrow:
                column = table.codes[:, place]
                narrow[place] = column.astype(np.min_scalar_type(int(column.max(initial=0))))
        (place, low, high), *rest = query.conditions
        met = np.flatnonzero(_within(narrow[place], low, high))
        for place, low, high in rest:
            met = met[_within(narrow[place][met], low, high)]
        found.append(int(table.counts[met].sum()))
    return found


def _within(codes: NDArray[np.unsignedinteger], low: int, high: int) -> NDArray[np.bool_]:
    most = np.iinfo(codes.dtype).max
    if low > most:
        return np.zeros(len(codes), np.bool_)
    if low == high:
        same: NDArray[np.bool_] = codes == low
        return same
    return np.logical_and(codes >= low, codes <= min(high, most))


def median_error(
    before: ClassTable, after: ClassTable, queries: Sequence[CountQuery], spread: Mapping[int, Spread] | None = None
) -> Fraction | None:
    """Return the median relative error of ``queries`` over class tables of one coding; see the module for the error. None: no query.

    ``spread``: of columns of ``after`` that hold labels, see :func:`spread_answers`.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> before = ClassTable(("a",), np.array([[1], [2]], np.int32), np.array([8, 2]))
    >>> after = ClassTable(("a",), np.array([[0], [1]], np.int32), np.array([4, 6]))
    >>> median_error(before, after, [CountQuery(((0, 1, 1),)), CountQuery(((0, 2, 2),))])
    Fraction(5, 8)
    """
    floor = Fraction(before.n_records, _FLOOR)
    answered = spread_answers(after, queries, spread) if spread else [Fraction(one) for one in answers(after, queries)]
    errors = [
        abs(true - given) / max(Fraction(true), floor) for true, given in zip(answers(before, queries), answered, strict=True)
    ]
    return Fraction(median(errors)) if errors else None
