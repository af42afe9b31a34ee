"""Greedy: the sets of columns of one cost, the one that releases most waiting records first."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.suppression.plain.keys import costs_under, fold, nodes_by_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.arrays import Classes, Counts, Keys, Nodes, Places, Sets, Waiting

__all__ = ["count_distinct", "release_layer"]


def count_distinct(key: Keys, kept: Keys, table: Keys) -> int:
    """Return how many distinct keys (words, m) there are when only the bits ``kept`` (words, 1) stay; the work space is not used."""
    del table
    shown = np.unique(fold(key, kept[:, 0]))
    return len(shown) - int(len(shown) > 0 and shown[0] == 0)


def _reached(waiting: Waiting, count: int, chosen: int, need: int, sets: Sets) -> tuple[Keys, NDArray[np.bool_]]:
    """Return the masked keys of the ``count`` waiting records, and which are in groups of at least ``need`` without the columns of ``chosen``."""
    masked = fold(waiting.key[:, :count], sets.kept[:, chosen])
    known, group = np.unique(masked, return_inverse=True)
    totals = np.zeros(len(known), np.int64)
    np.add.at(totals, group, waiting.records[:count])
    return masked, (masked != 0) & (totals[group] >= need)


def _release(
    waiting: Waiting,
    chosen: int,
    reached: tuple[Keys, NDArray[np.bool_]],
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
) -> int:
    """Release what was found under set ``chosen``; return how many still wait (moved to the front)."""
    masked, released = reached
    rows = np.flatnonzero(released)
    known, first, group = np.unique(masked[rows], return_index=True, return_inverse=True)
    there = nodes_by_key(nodes)
    number = np.array([there.get(key, -1) for key in known.tolist()], np.int64)
    opened = np.flatnonzero(number < 0)
    opened = opened[np.argsort(first[opened], kind="stable")]  # nodes are numbered in the order of the rows that open them
    used = int(nodes.used[1])
    number[opened] = np.arange(used, used + len(opened))
    nodes.key[number[opened]] = known[opened]
    nodes.size[number[opened]] = 0
    nodes.used[1] = used + len(opened)
    np.add.at(nodes.size, number[group], waiting.records[rows])
    part = waiting.part[rows]
    places.node[part] = number[group]
    places.set[part] = chosen
    places.cost[part] = costs_under(part, chosen, classes, sets, places)
    stay = np.flatnonzero(~released)
    for values in (waiting.part, *waiting.key, waiting.records):
        values[: len(stay)] = values[stay]
    return len(stay)


def release_layer(
    waiting: Waiting, count: int, chosen: Counts, need: int, classes: Classes, sets: Sets, places: Places, nodes: Nodes
) -> int:
    """Release the ``count`` waiting records that reach ``need`` under a set of ``chosen``; return how many still wait (moved to the front).

    The set that releases most records goes first, of equal ones the first. Waiting records only leave, so what a set released when it was
    last tried is the most that it can.
    """
    heap = [(-(1 << 62), row) for row in chosen.tolist()]
    while heap and count:
        _, row = heapq.heappop(heap)
        found = _reached(waiting, count, row, need, sets)
        records = int(waiting.records[:count][found[1]].sum())
        if records and heap and -records > heap[0][0]:
            heapq.heappush(heap, (-records, row))
        elif records:
            count = _release(waiting, row, found, classes, sets, places, nodes)
    return count
