"""A lower bound on the cells that suppression must take so that every class reaches k records, missing equal to missing.

**The problem.** Every record keeps its tuple with some known cells made missing; records with equal tuples then share a group. A group
needs at least k records, unless all its columns are missing (the records are lost, as are dropped ones, with all their known cells).
A tuple with the columns P missing is open to the records that agree with it in every other column and whose own missing columns m lie
in P; such a record pays |P| - |m| cells.

**The bound.** Give each record r a price u(r) so that no admissible group costs less than the sum of its members' prices, and
u(r) <= known cells of r. A solution is a partition of the records into admissible groups and lost records, so it costs at least the sum of all
prices, whatever they are. (These prices are the dual of the linear program over all admissible groups. Its optimum is the largest such
sum; the prices here are feasible, which is all that the proof needs.)

**Feasible prices.** Records of a class of at least k pay 0: they are donors. For the tuples with P missing let r be the records of failing classes
(fewer than k records) open to one, and e = u - (|P| - |m|) what a failing record's price exceeds its own cells by.

- *r >= k*: no member needs a donor. Every u <= |P| - |m| there is sufficient.
- *fewer than k records in all*: there is no such group, and no condition.
- *otherwise* a group with F of the failing records has at least k - |F| donors, each of which pays at least d cells, the fewest of any donor
  open to the tuple. The condition is sum over F of e <= (k - |F|) d for every F. Replacing each e by e' = max(e, -d) the worst F is all of
  them, so sum over all r of e' <= (k - r) d is sufficient.

Only tuples with at most ``depth`` columns missing are looked at. A record of a wider group pays at least depth + 1 - |m| cells, so a
price of at most that is feasible for all of them.

Prices rise together, by the same amount for every record whose conditions all have slack: a condition with slack s and n rising records
admits s / n. Prices are integers of 2^-20 cells, rounded down; every sum is exact, and the bound is the sum rounded up, as cells are whole.
Tuples are compared by a 64-bit linear key. Two that share a key by chance are taken for one tuple, which only makes prices lower: more
records are open to it, and each exceeds its own cells by a smaller share of fewer donors.

**Several threats.** A solution for all of them is one for each, so the largest of their bounds holds. Average risk, records at risk,
combinations of columns, diversity and thresholds on persons (a group of k persons has k records) only add conditions.

Source: weak duality of set partitioning; the primal-dual rise of prices as in Jain and Vazirani, Approximation algorithms for metric facility
location and k-median problems (2001), with the lower-bounded groups of Meyerson and Williams, On the complexity of optimal k-anonymity (2004).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.disclosure.classes.grouping import column_indices, group_rows
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["MOST_CLASSES", "fewest_cells"]

#: No bound is computed for more classes.
MOST_CLASSES: Final = 1_000_000

#: Prices count 2^-20 cells.
_UNIT: Final = 1 << 20
_ROUNDS: Final = 12
#: Classes visited over all sets of columns: at least the first, eight for each record, at most the last.
_VISITS: Final = (1 << 20, 8, 1 << 26)
#: An odd multiplier of 64 bits (the golden ratio's), whose powers are the weights of a column's codes in a key.
_MULTIPLIER: Final = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False, slots=True)
class _Classes:
    """Classes of one threat. ``known``: (J,) known cells; ``lacking``: (J, q) missing cells, None where there is none; ``failing``: (J,)."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    known: NDArray[np.int64]
    lacking: NDArray[np.bool_] | None
    failing: NDArray[np.bool_]

    @property
    def q(self) -> int:
        return self.codes.shape[1]


@dataclass(frozen=True, eq=False, slots=True)
class _Condition:
    """Conditions of one set of missing columns: ``members`` failing classes by group, ``starts`` of each group, their ``cells`` (in units),
    the fewest ``donor`` units of a donor of the group, and ``spare``: (k - r) donors' units.
    """

    members: NDArray[np.intp]
    starts: NDArray[np.intp]
    cells: NDArray[np.int64]
    donor: NDArray[np.int64]
    spare: NDArray[np.int64]


def fewest_cells(table: ClassTable, columns: Sequence[int | str], k: int, *, share: int = 1) -> int | None:
    """Return a number of cells of ``columns`` that no suppression can stay below, if every group is to have ``k`` records.

    ``share``: of how many bounds of one release this is; each takes its part of the work. None for more than ``MOST_CLASSES`` classes.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("sex", "zone"), np.array([[1, 1], [1, 2], [2, 1]], np.int32), np.array([1, 1, 3]))
    >>> fewest_cells(table, ("sex", "zone"), 2)
    2
    """
    classes = _projected(table, column_indices(table, columns), k)
    if classes is None:
        return None
    if not classes.failing.any():
        return 0
    limit, conditions = _conditions(classes, k, max(share, 1))
    prices = _risen(classes, limit, conditions)
    return -(-int((prices * classes.counts).sum()) // _UNIT)


def _projected(table: ClassTable, columns: tuple[int, ...], k: int) -> _Classes | None:
    """Collapse onto ``columns``; records without any known cell lose nothing, and belong to no group."""
    if table.n_classes > MOST_CLASSES:
        return None
    codes, counts = table.codes[:, list(columns)], table.counts
    if len(columns) < len(table.columns):
        grouping = group_rows(np.ascontiguousarray(codes))
        codes, counts = codes[grouping.first], grouping.sums(counts)
    lacking = codes == 0
    known = (~lacking).sum(axis=1, dtype=np.int64)
    shown = known > 0
    codes, counts, known, lacking = codes[shown], counts[shown], known[shown], lacking[shown]
    return _Classes(codes, counts, known, lacking if lacking.any() else None, counts < k)


def _depth(classes: _Classes, share: int) -> int:
    """Return the most missing columns of a tuple that is looked at."""
    least, each, most = _VISITS
    allowed = min(max(least, each * int(classes.counts.sum())), most) // share
    depth = 0
    while depth < classes.q - 1:
        allowed -= comb(classes.q, depth + 1) * len(classes.counts)
        if allowed < 0:
            break
        depth += 1
    return depth


def _conditions(classes: _Classes, k: int, share: int) -> tuple[NDArray[np.int64], list[_Condition]]:
    """Return the highest price of each class (in units) by its own, and the conditions on the prices of several."""
    depth = _depth(classes, share)
    gone = classes.q - classes.known
    limit = np.where(classes.failing, np.maximum(depth + 1 - gone, 0), 0) * _UNIT
    keys, weighted = _keys(classes)
    conditions = []
    for size in range(1, depth + 1):
        if not np.any(limit > (size - gone) * _UNIT):  # no price could exceed the cells of a group with so many columns missing
            break
        for chosen in combinations(range(classes.q), size):
            found = _condition(classes, k, chosen, keys - weighted[:, chosen].sum(axis=1, dtype=np.uint64), limit)
            if found is not None:
                conditions.append(found)
    return limit, [one for one in conditions if np.any(limit[one.members] > one.cells)]


def _keys(classes: _Classes) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the key of each tuple, (J,), and what each column adds to it, (J, q); modulo 2^64."""
    multipliers = np.array([pow(_MULTIPLIER, 2 * place + 1, 1 << 64) for place in range(classes.q)], np.uint64)
    weighted = classes.codes.astype(np.uint64) * multipliers
    return weighted.sum(axis=1, dtype=np.uint64), weighted


def _condition(
    classes: _Classes, k: int, chosen: tuple[int, ...], keys: NDArray[np.uint64], limit: NDArray[np.int64]
) -> _Condition | None:
    """Lower ``limit`` to the cells of groups that need no donor; return the conditions of those that do, None where there are none."""
    size = len(chosen)
    order = np.argsort(keys) if classes.lacking is None else _open_to(classes, chosen, keys)
    if not len(order):
        return None
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts, failing = classes.counts[order], classes.failing[order]
    records = np.add.reduceat(counts, starts)
    fails = np.add.reduceat(np.where(failing, counts, 0), starts)
    lengths = np.diff(starts, append=len(order))
    cells = (size - (classes.q - classes.known[order])) * _UNIT

    alone = failing & np.repeat(fails >= k, lengths)
    members = order[alone]
    limit[members] = np.minimum(limit[members], cells[alone])

    helped = (records >= k) & (fails > 0) & (fails < k)
    if not helped.any():
        return None
    taken = failing & np.repeat(helped, lengths)
    members, cells_taken = order[taken], cells[taken]
    inside = np.cumsum(taken)[starts + lengths - 1][helped]
    begins = np.concatenate(([0], inside[:-1]))
    donor = np.minimum.reduceat(np.where(failing, classes.q * _UNIT, cells), starts)[helped]
    spare = (k - fails[helped]) * donor
    binding = np.maximum.reduceat(limit[members] - cells_taken, begins) > 0
    if not binding.any():
        return None
    kept = np.repeat(binding, np.diff(begins, append=len(members)))
    widths = np.diff(begins, append=len(members))[binding]
    return _Condition(members[kept], np.cumsum(widths) - widths, cells_taken[kept], donor[binding], spare[binding])


def _open_to(classes: _Classes, chosen: tuple[int, ...], keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the classes whose missing cells all lie in ``chosen`` columns, in the order of their keys."""
    assert classes.lacking is not None
    inside = classes.lacking[:, chosen].sum(axis=1)
    members = np.flatnonzero(inside == classes.q - classes.known)
    return members[np.argsort(keys[members])]


def _risen(classes: _Classes, limit: NDArray[np.int64], conditions: Sequence[_Condition]) -> NDArray[np.int64]:
    """Return feasible prices: all rise together while they may."""
    prices = np.zeros(len(limit), np.int64)
    rising = limit > 0
    for _ in range(_ROUNDS):
        room = limit - prices
        for one, slack in zip(conditions, _slack(classes, prices, conditions), strict=True):
            widths = np.diff(one.starts, append=len(one.members))
            sharing = np.add.reduceat(np.where(rising[one.members], classes.counts[one.members], 0), one.starts)
            np.minimum.at(room, one.members, np.repeat(_part(slack, sharing), widths))
        room = np.where(rising, np.maximum(room, 0), 0)
        prices += room
        rising &= (room > 0) & (prices < limit)
        if not rising.any():
            break
    return prices


def _slack(
    classes: _Classes, prices: NDArray[np.int64], conditions: Sequence[_Condition]
) -> Iterator[NDArray[np.int64]]:
    """Yield by how much the prices of each group may still rise, summed over its records."""
    for one in conditions:
        widths = np.diff(one.starts, append=len(one.members))
        excess = np.maximum(prices[one.members] - one.cells, -np.repeat(one.donor, widths))
        yield one.spare - np.add.reduceat(excess * classes.counts[one.members], one.starts)


def _part(slack: NDArray[np.int64], records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what each of the rising ``records`` of a group may take of its slack, rounded down."""
    return slack // np.maximum(records, 1)
