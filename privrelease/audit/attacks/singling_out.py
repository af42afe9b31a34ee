"""Singling out: predicates that the release suggests, tried on the persons in the data.

A predicate is a conjunction of conditions on columns that matches exactly one released record. It succeeds where it matches exactly one person
in the data; the control tries the same predicates on persons who are not in the release. Univariate: a value that occurs once, missing where a
single cell is, and the lowest and highest numbers. Of labels: a person meets one where the person's value is under it, is at least its lower
end or below its upper end. Multivariate: a released record and some columns, names equal, numbers at least or at most the
record's (away from the median, where fewer are); missing cells give no condition there. Guessing: predicates of the same shape made of values
drawn from the file's columns.

The success of a predicate depends on how many persons it is tried on, so a larger control is cut to the size of the data, and
the successes on a smaller one are scaled by the model of Cohen and Nissim: a predicate of weight w isolates among n
with n w (1 - w)^(n - 1), weights being uniform up to some w fitted to the control.

Sources: Cohen and Nissim 2020 (predicate singling out); Giomi et al. 2023 (Anonymeter), whose predicates these are.
"""

from __future__ import annotations

from collections import Counter
from math import floor
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.audit.attacks.enumeration import enumerable, sampled_of_all
from privrelease.audit.attacks.rates import Rate
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.records import Attribute
    from privrelease.audit.attacks.sampling import Draws

__all__ = [
    "Condition",
    "Predicate",
    "isolated",
    "isolating",
    "matching",
    "multivariate",
    "multivariate_of",
    "random_predicates",
    "scaled_control",
    "strongest",
    "univariate",
]

#: Predicates tried to find one that matches a single record, per predicate wanted.
_TRIES = 10
Operator = Literal["=", "<=", ">="]
_OPERATORS: tuple[Operator, ...] = ("=", "<=", ">=")


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """``column`` (its place) ``operator`` ``code``; codes ascend with the values; 0 is missing, and meets ``=`` 0 alone."""

    column: int
    operator: Operator
    code: int


Predicate = tuple[Condition, ...]


def matching(predicate: Predicate, columns: Sequence[Attribute]) -> NDArray[np.bool_]:
    """Return which rows meet every condition: (n,) bool."""
    met: NDArray[np.bool_] | None = None
    for condition in predicate:
        codes, cover = columns[condition.column].codes, columns[condition.column].cover
        if cover is not None:
            one = cover.meets(condition.operator, condition.code)[codes]
        elif condition.operator == "=":
            one = codes == condition.code
        elif condition.operator == ">=":
            one = codes >= condition.code
        else:
            one = (codes <= condition.code) & (codes > 0)
        met = one if met is None else met & one
    assert met is not None
    return met


def _isolates(
    predicate: Predicate, columns: Sequence[Attribute], counts: NDArray[np.int64] | None, persons: NDArray[np.int64] | None
) -> bool:
    met = matching(predicate, columns)
    if counts is not None:
        met &= counts > 0
    count = int(np.count_nonzero(met)) if counts is None else int(counts[met].sum())
    if count <= 1 or persons is None:
        return count == 1
    lowest, highest = persons
    return bool(lowest[met].min() == highest[met].max())


def isolated(
    predicates: Sequence[Predicate],
    columns: Sequence[Attribute],
    counts: NDArray[np.int64] | None = None,
    persons: NDArray[np.int64] | None = None,
) -> Rate:
    """Return how many predicates match exactly one row, or rows of exactly one person.

    ``counts``: (n,) rows of each record given, None: one. ``persons``: (2, n) the lowest and the highest number of the persons of its rows.

    >>> from privrelease.audit.attacks.records import Attribute
    >>> ages = [Attribute("age", np.array([1, 2, 2], np.uint8))]
    >>> isolated([(Condition(0, "=", 1),), (Condition(0, ">=", 2),)], ages)
    Rate(successes=1, attempts=2, known=None)
    >>> isolated([(Condition(0, ">=", 2),)], ages, None, np.array([[4, 5, 5]] * 2))  # two rows of one person
    Rate(successes=1, attempts=1, known=None)
    """
    return Rate(sum(isolating(predicates, columns, counts, persons)), len(predicates))


def isolating(
    predicates: Sequence[Predicate],
    columns: Sequence[Attribute],
    counts: NDArray[np.int64] | None = None,
    persons: NDArray[np.int64] | None = None,
) -> tuple[bool, ...]:
    """Return of each predicate whether it matches exactly one row, or rows of exactly one person; see :func:`isolated`."""
    return tuple(_isolates(one, columns, counts, persons) for one in predicates)


def strongest(predicates: Sequence[Predicate], succeeded: Sequence[bool]) -> tuple[int, ...]:
    """Return the places of the columns whose predicates succeeded most often, the first by place of several; none where none did.

    >>> age, sex = Condition(0, "=", 1), Condition(1, "=", 1)
    >>> strongest([(age, sex), (sex,), (age,), (age,)], [False, True, True, True])
    (0,)
    """
    times = Counter(tuple(condition.column for condition in one) for one, hit in zip(predicates, succeeded, strict=True) if hit)
    return min(times, key=lambda places: (-times[places], places), default=())


def univariate(
    columns: Sequence[Attribute], draws: Draws, most: int, counts: NDArray[np.int64] | None = None
) -> tuple[Predicate, ...]:
    """Return at most ``most`` predicates on one column that match one record of the file, as drawn. ``counts``: see :func:`isolated`.

    >>> from privrelease.audit.attacks.records import Attribute
    >>> from privrelease.audit.attacks.sampling import Draws
    >>> sorted(univariate([Attribute("age", np.array([1, 2, 2]), np.array([np.nan, 30, 40]))], Draws(1), 9))
    [(Condition(column=0, operator='<=', code=1),), (Condition(column=0, operator='=', code=1),)]
    """
    found: list[Predicate] = []
    for place, column in enumerate(columns):
        times = np.bincount(column.codes.astype(np.int64), counts)
        once = np.flatnonzero(times == 1)
        if column.values is not None:
            there = np.flatnonzero(times[1:]) + 1
            ends: tuple[tuple[Operator, int], ...] = (("<=", 0), (">=", -1))
            found += [
                (Condition(place, operator, int(there[end])),)
                for operator, end in ends
                if len(there) and times[there[end]] == 1
            ]
        found += [(Condition(place, "=", code),) for code in once.tolist()]
    return tuple(found[place] for place in draws.sample(len(found), most).tolist())


def multivariate(
    columns: Sequence[Attribute], combine: int, draws: Draws, most: int, counts: NDArray[np.int64] | None = None
) -> tuple[Predicate, ...]:
    """Return the predicates of :func:`multivariate_of` alone."""
    return multivariate_of(columns, combine, draws, most, counts)[0]


def multivariate_of(
    columns: Sequence[Attribute], combine: int, draws: Draws, most: int, counts: NDArray[np.int64] | None = None
) -> tuple[tuple[Predicate, ...], int | None]:
    """Return ``most`` of the predicates on ``combine`` columns that match one record of the file, or all where there are fewer;
    and how many there are, None where that was not counted.

    All are enumerated, and some are drawn. Where that would be too much (more than 10^6 sets of columns, columns of labels, or too many numbers in
    one set) records and columns are drawn instead, ten for each predicate wanted at most. A record with fewer known cells than ``combine`` gives none.
    ``counts``: see :func:`isolated`.
    """
    n_records = len(columns[0].codes) if columns else 0
    ends = np.arange(1, n_records + 1) if counts is None else np.cumsum(counts)
    n_rows = int(ends[-1]) if n_records else 0
    if not n_rows or len(columns) < combine:
        return (), 0
    medians = [_median(column, counts) for column in columns]
    if enumerable(columns, combine):
        above = [None if one.values is None else one.values > median for one, median in zip(columns, medians, strict=True)]
        every = sampled_of_all(columns, above, combine, draws, most, counts)
        if every is not None:
            chosen = [
                tuple(_condition(place, columns[place], record, medians[place]) for place in places)
                for places, record in every.chosen
            ]
            return tuple(chosen), every.exist
    found: dict[Predicate, None] = {}
    for row, places in _drawn(n_rows, len(columns), combine, draws, _TRIES * most):
        if len(found) == most:
            break
        record = int(np.searchsorted(ends, row, side="right"))
        predicate = tuple(_condition(place, columns[place], record, medians[place]) for place in places)
        known = all(condition.code for condition in predicate)
        if known and predicate not in found and _isolates(predicate, columns, counts, None):
            found[predicate] = None
    return tuple(found), None


def random_predicates(columns: Sequence[Attribute], combine: int, draws: Draws, number: int) -> tuple[Predicate, ...]:
    """Return ``number`` predicates on ``combine`` columns with values and operators drawn from each column's own, whatever they match."""
    there = [(np.flatnonzero(np.bincount(column.codes.astype(np.int64))[1:]) + 1).tolist() for column in columns]
    usable = [place for place, codes in enumerate(there) if codes]
    if len(usable) < combine:
        return ()
    words = draws.named("values").words(number * combine * 2).tolist()
    made = []
    for one, (_, places) in enumerate(_drawn(1, len(usable), combine, draws, number)):
        conditions = []
        for part, place in enumerate(usable[place] for place in places):
            which, how = words[2 * (one * combine + part)], words[2 * (one * combine + part) + 1]
            operator: Operator = _OPERATORS[how % 3] if columns[place].values is not None else "="
            conditions.append(Condition(place, operator, there[place][which % len(there[place])]))
        made.append(tuple(conditions))
    return tuple(made)


def scaled_control(
    predicates: Sequence[Predicate],
    control: Sequence[Attribute],
    rate: Rate,
    size: int,
    counts: NDArray[np.int64] | None = None,
) -> Rate:
    """Return the control's rate as it would be among ``size`` persons, more than the control has; rounded down, against the release.

    The expected successes among any part of the control follow from each predicate's matches, exactly (hypergeometric); the model's width is
    fitted to them by least squares.
    """
    counts = np.ones(len(control[0].codes), np.int64) if counts is None else counts
    n_control = int(counts.sum())
    if not rate.successes or size <= n_control:
        return rate
    times = np.array([int(counts[matching(one, control)].sum()) for one in predicates], np.int64)
    sizes = np.unique(np.linspace(max(1, n_control // 10), n_control, 10).astype(np.int64))
    expected = np.array([_expected(times, n_control, int(part)) for part in sizes])
    width = _fitted(sizes, expected)
    factor = _model(size, width) / _model(n_control, width)
    return Rate(min(rate.attempts, floor(rate.successes * factor)), rate.attempts)


def _expected(times: NDArray[np.int64], n: int, part: int) -> float:
    """Expected number of predicates with exactly one match among ``part`` of ``n`` records drawn without replacement."""
    chances = np.zeros(int(times.max()) + 1)
    # of c matches exactly one is drawn: c · C(n - c, part - 1) / C(n, part), as a product of ratios
    for c in np.unique(times[times > 0]).tolist():
        if part - 1 <= n - c:
            rest = np.arange(c - 1)
            chances[c] = c * part / n * float(np.prod((n - part - rest) / (n - 1 - rest)))
    return float(chances[times].sum())


def _model(n: NDArray[np.int64] | int, width: float) -> NDArray[np.float64]:
    """Integral of n w (1 - w)^(n - 1) over w in [0, width]."""
    n = np.asarray(n, np.float64)
    return np.asarray((1 - (n * width + 1) * np.exp(n * np.log1p(-width))) / (n + 1))


def _fitted(sizes: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """The width on a logarithmic grid whose curve, at its best height, misses the expected successes least."""
    best, least = 0.5, np.inf
    for width in np.geomspace(1e-9, 0.999, 600).tolist():
        curve = _model(sizes, width)
        height = float(curve @ expected) / max(float(curve @ curve), 1e-300)
        missed = float(((expected - height * curve) ** 2).sum())
        if missed < least:
            best, least = width, missed
    return best


def _median(column: Attribute, counts: NDArray[np.int64] | None) -> float:
    times = np.bincount(column.codes.astype(np.int64), counts, 1)
    times[0] = 0
    ends = np.cumsum(times)
    rows = int(ends[-1])
    if column.values is None or not rows:
        return 0.0
    middle = np.searchsorted(ends, [(rows - 1) // 2, rows // 2], side="right")
    return float(column.values[middle].mean())


def _condition(place: int, column: Attribute, record: int, median: float) -> Condition:
    code = int(column.codes[record])
    if column.values is None or not code:
        return Condition(place, "=", code)
    return Condition(place, ">=" if column.values[code] > median else "<=", code)


def _drawn(n_rows: int, n_columns: int, combine: int, draws: Draws, number: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield ``number`` pairs of a row and ``combine`` different columns, in their order."""
    rows = draws.named("rows").below(number, n_rows)
    keys = draws.named("columns").words(number * n_columns).reshape(number, n_columns)
    places = np.sort(np.argsort(keys, axis=1, kind="stable")[:, :combine], axis=1)
    for row, chosen in zip(rows.tolist(), places.tolist(), strict=True):
        yield row, tuple(chosen)
