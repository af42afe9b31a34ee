"""Layered greedy: release all records that reach the threshold with nothing suppressed, then with the cheapest sets, and so on.

Within a layer of equal cost the set of columns that releases most records goes first; gains only shrink as records leave, so a
stale gain is an upper bound and sets are re-evaluated lazily. This general form works on any crowd (persons, populations); the
compiled form for plain records is in ``record_search``.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.solvers.candidate_sets import set_layers
from privrelease.disclosure.solvers.parts import factorise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.solvers.crowd import Crowd

__all__ = ["layered_greedy"]


def layered_greedy(
    crowd: Crowd,
    members: NDArray[np.int64],
    codes: NDArray[np.int32],
    records: NDArray[np.int64],
    *,
    need: int,
    costs: tuple[int, ...],
) -> NDArray[np.bool_]:
    """Return the cells to suppress, (m, q) bool, so that every class of ``members`` counts at least ``need`` or shows nothing.

    ``codes`` (m, q) are the members' codes now (0 = missing), ``records`` (m,) their records, ``costs`` q integers.
    """
    masks = np.zeros(codes.shape, np.bool_)
    waiting = np.arange(len(members))
    # Released members with missing cells keep their place in later counts: others may join their class.
    anchors = np.zeros(0, np.int64)
    has_missing = bool((codes == 0).any())

    def reached(columns: NDArray[np.bool_]) -> NDArray[np.int64]:
        together = np.concatenate([waiting, anchors])
        shown = codes[together]
        shown[: len(waiting), columns] = 0
        if len(anchors):
            fixed = shown[len(waiting) :]
            fixed[masks[anchors]] = 0
        sizes = crowd.in_population(members[together], factorise(shown), shown)[: len(waiting)]
        return np.flatnonzero((sizes >= need) & (shown[: len(waiting)] > 0).any(axis=1))

    for layer in set_layers(codes, costs):
        heap = [(-int(records.sum()) - 1, order) for order in range(len(layer))]
        heapq.heapify(heap)
        while heap and len(waiting):
            _, order = heapq.heappop(heap)
            done = reached(layer[order])
            gain = int(records[waiting[done]].sum())
            if not gain:
                continue
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, order))
                continue
            released = waiting[done]
            masks[released] = layer[order]
            waiting = np.delete(waiting, done)
            if has_missing:
                anchors = np.concatenate([anchors, released[(codes[released] == 0).any(axis=1)]])
        if not len(waiting):
            break
    masks[waiting] = True
    return masks
