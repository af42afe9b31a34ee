"""Greedy's counts: how many waiting records a set of columns would release, and their release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.suppression.plain.keys import costs_under, fold, nodes_by_key

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.arrays import Classes, Keys, Nodes, Places, Sets, Waiting

__all__ = ["count_distinct", "count_reached", "release_reached"]


def count_distinct(key: Keys, kept: Keys, table: Keys) -> int:
    """Return how many distinct keys (words, m) there are when only the bits ``kept`` (words, 1) stay; the work space is not used."""
    del table
    shown = np.unique(fold(key, kept[:, 0]))
    return len(shown) - int(len(shown) > 0 and shown[0] == 0)


def count_reached(waiting: Waiting, count: int, chosen: int, need: int, sets: Sets) -> int:
    """Return how many of the ``count`` waiting records are in groups of at least ``need`` when they lose the columns of set ``chosen``.

    Leaves each one's group in ``waiting.slot`` (-1: nothing shown) and the group sizes in ``waiting.totals``.
    """
    masked = fold(waiting.key[:, :count], sets.kept[:, chosen])
    waiting.masked[:count] = masked
    records = waiting.records[:count]
    known, group = np.unique(masked, return_inverse=True)
    totals = np.zeros(len(known), np.int64)
    np.add.at(totals, group, records)
    waiting.totals[: len(known)] = totals
    waiting.slot[:count] = np.where(masked == 0, -1, group)
    return int(records[(masked != 0) & (totals[group] >= need)].sum())


def release_reached(
    waiting: Waiting, count: int, chosen: int, need: int, classes: Classes, sets: Sets, places: Places, nodes: Nodes
) -> int:
    """Release what ``count_reached`` just found under set ``chosen``; return how many still wait (moved to the front)."""
    slot = waiting.slot[:count]
    released = (slot >= 0) & (waiting.totals[slot] >= need)
    rows = np.flatnonzero(released)
    known, first, group = np.unique(waiting.masked[rows], return_index=True, return_inverse=True)
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
