"""Classes that are closed so that an average or a share of exposed records comes to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.suppression.plain.keys import cell_costs, costs_of, fold, nodes_by_key

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.arrays import Classes, Counts, Indices, Nodes, Places, Sets

__all__ = ["close_classes", "find_alternatives"]


def find_alternatives(
    chosen: Counts,
    least: int,
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
    other_set: Indices,
    other_node: Indices,
    other_cost: Counts,
) -> None:
    """Find for every part of ``chosen`` the cheapest other class of at least ``least`` records that it could join.

    Row i of ``other_set``, ``other_node``, ``other_cost`` is for ``chosen[i]``; showing nothing (node 0) is always possible.
    """
    last = len(sets.cost) - 1
    item = places.item[chosen]
    present = classes.present[item]
    own = nodes.key[places.node[chosen]]
    key = classes.key[:, item]
    there = nodes_by_key(nodes)
    known = np.array(sorted(there), np.uint64)
    number = np.array([there[one] for one in known.tolist()], np.int64)
    other_set[:], other_node[:] = last, 0
    cell = costs_of(item, sets.cell_cost)
    other_cost[:] = cell_costs(sets.bits[last] & present, cell)
    # Sets are ordered by cost: of two that cost a part the same, the first is kept, as in the compiled loop.
    for which in range(last if len(known) else 0):
        masked = fold(key, sets.kept[:, which])
        cost = cell_costs(sets.bits[which] & present, cell)
        place = np.minimum(np.searchsorted(known, masked), len(known) - 1)
        node = number[place]
        better = (known[place] == masked) & (masked != own) & (masked != 0) & (nodes.size[node] >= least) & (cost < other_cost)
        other_set[better], other_node[better], other_cost[better] = which, node[better], cost[better]


def _can_close(node: int, parts: Counts, other: Indices, least: int, places: Places, nodes: Nodes) -> bool:
    """Return whether ``parts`` are still those of ``node`` and the classes they would join are still open."""
    return bool(((places.node[parts] == node) & ((other <= 0) | (nodes.size[other] >= least))).all())


def close_classes(
    closing: Counts,
    starts: Counts,
    chosen: Counts,
    least: int,
    safe: int,
    other_set: Indices,
    other_node: Indices,
    other_cost: Counts,
    places: Places,
    nodes: Nodes,
    excess: Counts,
) -> None:
    """Close nodes in order, their parts joining the alternatives found, until nothing is in ``excess``.

    ``excess`` holds how many classes and how many exposed records (in classes below ``safe``) are too many; it is counted down.
    Node ``closing[i]`` has the parts ``chosen[starts[i]:starts[i + 1]]``. A class that received records is not closed any more, and
    one whose parts would join a closed class is left for another round.
    """
    received: set[int] = set()
    for which, node in enumerate(closing.tolist()):
        if excess[0] <= 0 and excess[1] <= 0:
            return
        rows = slice(int(starts[which]), int(starts[which + 1]))
        parts = chosen[rows]
        if node in received or not _can_close(node, parts, other_node[rows], least, places, nodes):
            continue
        places.set[parts], places.node[parts], places.cost[parts] = other_set[rows], other_node[rows], other_cost[rows]
        for part, other in zip(parts.tolist(), other_node[rows].tolist(), strict=True):
            if other > 0:
                before, moved = int(nodes.size[other]), int(places.records[part])
                nodes.size[other] = before + moved
                received.add(other)
                if before < safe:
                    excess[1] += moved if before + moved < safe else -before
        excess[0] -= 1
        if nodes.size[node] < safe:
            excess[1] -= nodes.size[node]
        nodes.size[node] = 0
