"""A lower bound on the cells that suppression must take so that every class reaches k records, missing equal to missing.

**The problem.** Every record keeps its tuple with some known cells made missing; records with equal tuples then share a group. A group
needs at least k records, unless all its columns are missing (its records are lost, as are dropped ones, with all their known cells).
A tuple with the columns P missing is open to the records that agree with it in every other column and whose own missing columns m lie
in P; such a record pays |P| - |m| cells.

**The bound.** Give each record r a price u(r) so that no admissible group costs less than the sum of its members' prices, and
u(r) <= known cells of r. A solution is a partition of the records into admissible groups and lost records, so it costs at least the sum of all
prices, whatever they are. (Prices are the dual of the linear program over all admissible groups. Its optimum is the largest such
sum; the prices here are feasible, which is all that the proof needs.)

**The condition of one tuple.** Let e = u - (|P| - |m|) be what a price exceeds the record's own cells by. The condition is that no k or more
records open to the tuple have a positive sum of e. It is enough to ask it of the k with the largest e: if their sum is not positive, the smallest of
them is not, and no further record adds anything. With fewer than k records there is no group and no condition.

**First prices.** Records of a class of at least k pay 0: they are donors. Let r records of failing classes (fewer than k records) be open to a tuple.
If r >= k, prices u <= |P| - |m| meet its condition. If r < k, a group with F of them has at least k - |F| >= k - r donors, each of which pays at
least d cells, the fewest of any donor open to the tuple: u <= |P| - |m| + (k - r) d / r is sufficient. The first price is the smallest of these.

**Rise.** Then prices of failing classes rise together while their conditions have slack. If the k largest e sum up to -s and n of the records open
to the tuple rise, each may rise by s / min(k, n): the sum of any k grows by no more than s. This is where a record that no one needs to join
gains most: those that must help it would else have paid less.

Only tuples with at most ``depth`` columns missing are looked at. A record of a wider group pays at least depth + 1 - |m| cells, so a
price of at most that meets all their conditions.

Prices are integers of 2^-20 cells, rounded down; every sum is exact, and the bound is the sum rounded up, as cells are whole.
Tuples are compared by a 64-bit linear key. Two that share a key by chance are taken for one tuple: the condition of the union implies that of
each.

**Several threats.** A solution for all of them is one for each, so the largest of their bounds holds. Average risk, records at risk,
combinations of columns, diversity and thresholds on persons (a group of k persons has k records) only add conditions.

Source: weak duality of set partitioning; prices that rise together as in Jain and Vazirani, Approximation algorithms for metric facility
location and k-median problems (2001); groups of at least k as in Meyerson and Williams, On the complexity of optimal k-anonymity (2004).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from privrelease.disclosure.classes.grouping import column_indices, group_rows
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["MOST_CLASSES", "fewest_cells"]

#: No bound is computed for more classes.
MOST_CLASSES: Final = 1_000_000

#: Prices count 2^-20 cells.
_UNIT: Final = 1 << 20
#: Prices rise at most so often, and no longer once a rise adds less than this part of them.
_RISES: Final = 4
_WORTH: Final = 1000
#: Classes visited over all sets of columns: at least the first, three for each record, at most the last.
_VISITS: Final = (1 << 20, 3, 1 << 24)
#: An odd multiplier of 64 bits (the golden ratio's), whose powers are the weights of a column's codes in a key.
_MULTIPLIER: Final = 0x9E3779B97F4A7C15
#: Excesses of prices are below 2^_BITS units, so that one word orders records by tuple, and by excess within it.
_BITS: Final = 32


@dataclass(frozen=True, eq=False, slots=True)
class _Classes:
    """Classes of one threat. ``known``: (J,) known cells; ``lacking``: (J, q) missing cells, None where there is none; ``failing``: (J,)."""

    codes: NDArray[np.integer[Any]]
    counts: NDArray[np.int64]
    known: NDArray[np.int64]
    lacking: NDArray[np.bool_] | None
    failing: NDArray[np.bool_]

    @property
    def q(self) -> int:
        return int(self.codes.shape[1])


@dataclass(frozen=True, eq=False, slots=True)
class _Tuples:
    """The tuples with one set of ``size`` columns missing that at least k records are open to. ``group``: (J,) int32, the number of the
    tuple that each class is open to; 0 for none.
    """

    size: int
    group: NDArray[np.int32]


def fewest_cells(table: ClassTable, columns: Sequence[int | str], k: int, *, share: int = 1) -> int | None:
    """Return a number of cells of ``columns`` that no suppression can stay below, if every group is to have ``k`` records.

    ``share``: of how many bounds of one release this is; each takes its part of the work. None for more than ``MOST_CLASSES`` classes.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("sex", "zone"), np.array([[1, 1], [1, 2], [2, 1]], np.int32), np.array([1, 1, 3]))
    >>> fewest_cells(table, ("sex", "zone"), 2)
    2
    """
    k = min(k, table.n_records + 1)  # no group can be larger
    classes = _projected(table, column_indices(table, columns), k)
    if classes is None:
        return None
    if not classes.failing.any():
        return 0
    depth = _depth(classes, max(share, 1))
    prices, tuples = _first_prices(classes, k, depth)
    prices = _risen(classes, k, prices, _highest(classes, depth), tuples)
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


def _highest(classes: _Classes, depth: int) -> NDArray[np.int64]:
    """Return the highest price of each class, in units, that wider tuples and the loss of a record allow; 0 for donors."""
    least = np.maximum(depth + 1 - (classes.q - classes.known), 0)
    return np.where(classes.failing, least, 0) * _UNIT


def _first_prices(classes: _Classes, k: int, depth: int) -> tuple[NDArray[np.int64], list[_Tuples]]:
    """Return the first prices, in units, and the tuples with conditions."""
    prices, tuples = _highest(classes, depth), []
    keys, weighted = _keys(classes)
    for size in range(1, depth + 1):
        for chosen in combinations(range(classes.q), size):
            of_tuple = keys.copy()
            for column in chosen:
                of_tuple -= weighted[column]
            found = _open(classes, k, chosen, of_tuple, prices)
            if found is not None:
                tuples.append(found)
    return prices, tuples


def _keys(classes: _Classes) -> tuple[NDArray[np.uint64], list[NDArray[np.uint64]]]:
    """Return the key of each tuple, (J,), and what each column adds to it, q times (J,); modulo 2^64."""
    weighted = [
        classes.codes[:, place].astype(np.uint64) * np.uint64(pow(_MULTIPLIER, 2 * place + 1, 1 << 64))
        for place in range(classes.q)
    ]
    keys = np.zeros(len(classes.counts), np.uint64)
    for one in weighted:
        keys += one
    return keys, weighted


def _open(
    classes: _Classes, k: int, chosen: tuple[int, ...], keys: NDArray[np.uint64], prices: NDArray[np.int64]
) -> _Tuples | None:
    """Number the tuples with ``chosen`` columns missing that k records are open to, and lower first prices to what these allow."""
    order = np.argsort(keys) if classes.lacking is None else _in_order(classes, chosen, keys)
    if not len(order):
        return None
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts, failing = classes.counts[order], classes.failing[order]
    fails = np.add.reduceat(np.where(failing, counts, 0), starts)
    admissible = (np.add.reduceat(counts, starts) >= k) & (fails > 0)
    if not admissible.any():
        return None
    lengths = np.diff(starts, append=len(order))
    gone = 0 if classes.lacking is None else classes.q - classes.known[order]
    cells = np.broadcast_to((len(chosen) - gone) * np.int64(_UNIT), len(order))
    donor = np.minimum.reduceat(np.where(failing, classes.q * _UNIT, cells), starts)
    spare = np.where(admissible, _part(np.maximum(k - fails, 0) * donor, fails), classes.q * _UNIT)
    prices[order] = np.minimum(prices[order], cells + np.repeat(spare, lengths))
    group = np.zeros(len(keys), np.int32)
    group[order] = np.repeat(np.where(admissible, np.cumsum(admissible), 0), lengths)
    return _Tuples(len(chosen), group)


def _in_order(classes: _Classes, chosen: tuple[int, ...], keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the classes whose missing cells all lie in ``chosen`` columns, in the order of their keys."""
    assert classes.lacking is not None
    inside = classes.lacking[:, chosen].sum(axis=1)
    members = np.flatnonzero(inside == classes.q - classes.known)
    return members[np.argsort(keys[members])]


def _part(slack: NDArray[np.int64], records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what each of the ``records`` of a tuple may take of its slack, rounded down."""
    return slack // np.maximum(records, 1)


def _risen(
    classes: _Classes, k: int, prices: NDArray[np.int64], highest: NDArray[np.int64], tuples: Sequence[_Tuples]
) -> NDArray[np.int64]:
    """Let feasible prices rise together while the conditions of ``tuples`` have slack; they stay feasible."""
    for _ in range(_RISES):
        room = highest - prices
        for one in tuples:
            _leave_room(classes, k, prices, room, one)
        gained, total = int((room * classes.counts).sum()), int((prices * classes.counts).sum())
        prices = prices + room
        if gained * _WORTH < total:
            break
    return prices


def _leave_room(classes: _Classes, k: int, prices: NDArray[np.int64], room: NDArray[np.int64], tuples: _Tuples) -> None:
    """Lower ``room``, by which prices may rise, to what the slack of each of the ``tuples`` allows."""
    looked_at = np.zeros(int(tuples.group.max()) + 1, np.bool_)
    looked_at[tuples.group[room > 0]] = True
    looked_at[0] = False
    members = np.flatnonzero(looked_at[tuples.group])
    if not len(members):
        return
    gone = classes.q - classes.known[members]
    excess = prices[members] - (tuples.size - gone) * _UNIT
    group = tuples.group[members].astype(np.int64)
    order = np.argsort((group << _BITS) - excess)
    members, excess, group = members[order], excess[order], group[order]
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    lengths = np.diff(starts, append=len(members))
    counts = classes.counts[members]
    before = np.cumsum(counts) - counts
    taken = np.clip(k - (before - np.repeat(before[starts], lengths)), 0, counts)
    largest = np.add.reduceat(excess * taken, starts)
    rising = np.add.reduceat(np.where(room[members] > 0, counts, 0), starts)
    room[members] = np.minimum(room[members], np.repeat(_part(-largest, np.minimum(rising, k)), lengths))
