"""Search for plain records: layered greedy whose groups are completed by donors, and a schedule for average and exposed risk.

Greedy works through bands of sets of columns, cheapest first, and releases every group that reaches the class size. What still
waits after a band is often one or two records short of a class, while released classes have more records than they need: such
records (each its own person, so a class may be split) join as donors where that saves more than it costs. A waiting record's
cost is taken to be half a cell above the band: a guess of what the next band will ask, found best on Adult.

Where the average or the share of exposed records is limited too, one class size for all would be wasteful. Several schedules are
tried (one size for all bands; the safe size for the cheap bands and the smallest for what then still waits); after each, classes are
closed, the least dear per relief first, their records joining others, until the limits hold exactly. The cheapest outcome stays.

Cells whose value is rarer than the class size can be shown in no solution (every class that shows it is at most as large as the
value is frequent): they go first, which shortens the keys and merges classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.arrays import Places
    from privrelease.disclosure.suppression.record_state import RecordState, Step
    from privrelease.disclosure.suppression.target import Target

    Schedule = list[Step]

__all__ = ["MOST_COLUMNS", "Assignment", "hide_rare_values", "search_records"]

MOST_COLUMNS = 62

_RELIEF_ROUNDS = 12
_HOPELESS = 1.1  # a schedule this many times dearer than the best is not worth refining


@dataclass(frozen=True, slots=True)
class Assignment:
    """``item`` (p,): index of the class; ``records`` (p,); ``suppressed`` (p, q) bool."""

    item: NDArray[np.int64]
    records: NDArray[np.int64]
    suppressed: NDArray[np.bool_]


def hide_rare_values(codes: NDArray[np.integer[Any]], records: NDArray[np.int64], need: int) -> NDArray[np.unsignedinteger]:
    """Return ``codes`` (m, q) with every value that fewer than ``need`` records have set to 0, the rest renumbered densely, as narrow as they fit.

    >>> hide_rare_values(np.array([[1, 7], [1, 9]], np.int32), np.array([2, 1]), 2).tolist()
    [[1, 1], [1, 0]]
    """
    dense = np.zeros(codes.shape, np.min_scalar_type(int(codes.max(initial=0))))
    weights = records.astype(np.float64)
    for column in range(codes.shape[1]):
        values: NDArray[np.integer[Any]] = codes[:, column]
        first = 0
        if int(values.max(initial=0)) > 4 * len(values) + 1024:
            # Codes of a wider table: numbered again, so that counting takes room for the values that are there.
            known, values = np.unique(values, return_inverse=True)
            first = int(known[0])
        totals = np.bincount(values, weights=weights, minlength=1)
        common = totals >= need
        common[0] &= first > 0
        if not common[0] and common[1:].all():
            dense[:, column] = values
            continue
        renumbered = (np.cumsum(common) * common).astype(dense.dtype)
        dense[:, column] = renumbered[values]
    return dense


def search_records(
    codes: NDArray[np.integer[Any]],
    records: NDArray[np.int64],
    *,
    target: Target,
    costs: tuple[int, ...],
    cell_cost: NDArray[np.int64],
) -> Assignment:
    """Assign every record of the classes ``codes`` (m, q) to a set of columns so that ``target`` is met.

    ``records`` (m,) counts of the classes, which are distinct rows of at most 62 columns; ``costs`` q integers, the cost of one cell of
    each column, on average; ``cell_cost`` (1 or m, q): of every class, or of each.
    What reaches no class loses all its columns.
    """
    from privrelease.disclosure.suppression.record_state import RecordState

    state = RecordState(codes, records, costs, cell_cost)
    del codes, records, cell_cost  # as long as the classes, which may be millions
    state.run(_uniform(state, target.need))
    parts = state.parts if _met(state, target) else _meet_limits(state, target)
    return Assignment(parts.item, parts.records, state.columns[parts.set])


def _uniform(state: RecordState, need: int) -> Schedule:
    from privrelease.disclosure.suppression.record_state import Step

    return [Step(band, need) for band in range(len(state.bands))]


def _restarted(state: RecordState, safe: int, need: int, turn: int) -> Schedule:
    """Return a schedule that asks ``safe`` of the bands before ``turn``, then ``need`` of all bands of what still waits."""
    from privrelease.disclosure.suppression.record_state import Step

    bands = range(len(state.bands))
    return [Step(band, safe, safe) for band in bands if band < turn] + [Step(band, need, safe) for band in bands]


def _met(state: RecordState, target: Target) -> bool:
    figures = state.figures(target.safe)
    return target.met(figures.classes, figures.records, figures.exposed)


def _smallest(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest value in (low, high] for which ``holds``, taking it to be monotone and to hold at ``high``."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def _meet_limits(state: RecordState, target: Target) -> Places:
    """Try schedules, relieve each, and return the cheapest outcome that meets ``target``.

    The schedule where every class is large enough for all limits always meets them.
    """
    best: tuple[int, Places] | None = None
    relieved: dict[tuple[Step, ...], int] = {}
    for schedule, donors in _schedules(state, target):
        hopeless = best is not None and relieved.get(tuple(schedule), 0) > _HOPELESS * best[0]
        if hopeless:
            continue
        state.run(schedule, donors=donors)
        if not _relieve(state, target):
            continue
        relieved[tuple(schedule)] = state.cost()
        if best is None or state.cost() < _HOPELESS * best[0]:
            _spend(state, target)
        if _met(state, target) and (best is None or state.cost() < best[0]):
            best = state.cost(), state.parts
    if best is None:
        state.run(_uniform(state, target.highest_need))
        return state.parts
    return best[1]


def _schedules(state: RecordState, target: Target) -> Iterator[tuple[Schedule, bool]]:
    """Yield schedules and whether donors complete their groups; found by greedy alone, which is quick."""

    def greedy_meets(schedule: Schedule) -> bool:
        state.run(schedule, donors=False)
        return _met(state, target)

    if target.average is not None:
        size = _smallest(target.need, target.highest_need, lambda need: greedy_meets(_uniform(state, need)))
        for need in sorted({target.need, (target.need + size) // 2, size - 1, size}):
            yield _uniform(state, need), False
        yield _uniform(state, size), True
    if target.share is not None:
        bands = len(state.bands)
        turn = _smallest(0, bands, lambda turn: greedy_meets(_restarted(state, target.safe, target.need, turn)))
        for near in (turn - 1, turn, turn + 1):
            yield _restarted(state, target.safe, target.need, near), True


def _spend(state: RecordState, target: Target) -> None:
    """Use what room the limits leave."""
    figures = state.figures(target.safe)
    slack = target.slack(figures.classes, figures.records, figures.exposed)
    if min(slack) > 0:
        state.spend(slack, target.need, target.safe if target.share is not None else 1)


def _relieve(state: RecordState, target: Target) -> bool:
    """Close classes, cheapest first, until ``target`` is met; return whether it is."""
    for _ in range(_RELIEF_ROUNDS):
        figures = state.figures(target.safe)
        excess = target.excess(figures.classes, figures.records, figures.exposed)
        if max(excess) <= 0:
            return True
        if not state.close(excess, target.need, target.safe):
            return False
    return False
