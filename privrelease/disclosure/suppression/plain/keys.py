"""Packed keys, masked and looked up, without a hash table of machine words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.arrays import Classes, Counts, Keys, Nodes, Places, Sets

__all__ = ["cell_cost", "cell_costs", "costs_of", "costs_under", "fold", "nodes_by_key"]

_MULTIPLIER = 0x9E3779B97F4A7C15  # as in the compiled loops: keys of several words must fold to the same values


def fold(key: Keys, bits: Keys) -> Keys:
    """Return what ``bits`` (words,) leave of the keys (words, m); further words are folded in, each by an odd multiplier of its own.

    >>> fold(np.array([[5, 6]], np.uint64), np.array([4], np.uint64)).tolist()
    [4, 4]
    """
    masked: Keys = key[0] & bits[0]
    multiplier = _MULTIPLIER
    for word in range(1, len(key)):
        masked ^= (key[word] & bits[word]) * np.uint64(multiplier)
        multiplier = multiplier * _MULTIPLIER & 0xFFFFFFFFFFFFFFFF
    return masked


def nodes_by_key(nodes: Nodes) -> dict[int, int]:
    """Return the number of the node of every key."""
    return {key: node for node, key in enumerate(nodes.key[1 : nodes.used[1]].tolist(), 1)}


def cell_cost(bits: int, column_cost: list[int]) -> int:
    """Return the summed cost of the columns in ``bits``.

    >>> cell_cost(0b101, [1, 2, 4])
    5
    """
    return sum(cost for column, cost in enumerate(column_cost) if bits >> column & 1)


def cell_costs(bits: Counts, cost: Counts) -> Counts:
    """Return the summed cost of the columns in each of ``bits`` (m,); ``cost`` (1 or m, q): of a cell, for all or for each.

    >>> cell_costs(np.array([0b101, 0]), np.array([[1, 2, 4]])).tolist()
    [5, 0]
    """
    total = np.zeros(len(bits), np.int64)
    for column in range(cost.shape[1]):
        total += (bits >> column & 1) * cost[:, column]
    return total


def costs_of(items: Counts, cost: Counts) -> Counts:
    """Return the rows of ``cost`` (1 or m, q) that belong to ``items``."""
    return cost if len(cost) == 1 else cost[items]


def costs_under(parts: Counts, chosen: int, classes: Classes, sets: Sets, places: Places) -> Counts:
    """Return what one record of each of ``parts`` costs under set ``chosen``."""
    item = places.item[parts]
    return cell_costs(sets.bits[chosen] & classes.present[item], costs_of(item, sets.cell_cost))
