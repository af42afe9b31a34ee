"""Layered greedy: release all records that reach the threshold with nothing suppressed, then with the cheapest sets, and so on.

Within a layer of equal cost the set of columns that releases most records goes first; gains only shrink as records leave, so a
stale gain is an upper bound and sets are re-evaluated lazily. This general form works on anything that can be counted (persons,
populations, persons with several linked rows); the compiled form for plain records is in ``record_search``.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from privrelease.disclosure.suppression.candidate_sets import set_layers
from privrelease.disclosure.suppression.partition import factorise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.class_counting import ClassCounter

__all__ = ["Items", "PartItems", "layered_greedy"]


class Items(Protocol):
    """The items that greedy releases: m items with ``records`` (m,) each; ``codes`` (r, q) of the rows they consist of."""

    @property
    def codes(self) -> NDArray[np.integer[Any]]:
        """Codes (r, q) of all rows."""
        ...

    @property
    def records(self) -> NDArray[np.int64]:
        """Records of each item, (m,)."""
        ...

    def with_missing(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of ``items`` that miss a cell as they are: other items, suppressed, may come to agree with them."""
        ...

    def reached(
        self,
        waiting: NDArray[np.int64],
        columns: NDArray[np.bool_],
        anchors: NDArray[np.int64],
        masks: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Return which rows of ``waiting`` reach their class size when all of ``waiting`` lose ``columns``.

        ``anchors`` are released items that count too, under their ``masks`` (m, q).
        """
        ...


@dataclass(frozen=True, slots=True)
class PartItems:
    """Parts as items: each is released or not as a whole, and ``crowd`` counts the class they form."""

    crowd: ClassCounter
    members: NDArray[np.int64]
    codes: NDArray[np.integer[Any]]
    records: NDArray[np.int64]
    need: int

    def with_missing(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items with a missing cell."""
        missing: NDArray[np.bool_] = (self.codes[items] == 0).any(axis=1)
        return items[missing]

    def reached(
        self,
        waiting: NDArray[np.int64],
        columns: NDArray[np.bool_],
        anchors: NDArray[np.int64],
        masks: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Count the classes that the waiting and the anchors form together."""
        together = np.concatenate([waiting, anchors])
        shown = self.codes[together]
        shown[: len(waiting), columns] = 0
        if len(anchors):
            fixed = shown[len(waiting) :]
            fixed[masks[anchors]] = 0
        sizes = self.crowd.in_population(self.members[together], factorise(shown), shown)[: len(waiting)]
        return np.flatnonzero((sizes >= self.need) & (shown[: len(waiting)] > 0).any(axis=1))


def layered_greedy(items: Items, costs: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the columns that each item loses, (m, q) bool, so that every class is large enough; who reaches none loses all.

    ``costs``: q integers, the cost of one cell of each column.
    """
    masks = np.zeros((len(items.records), len(costs)), np.bool_)
    waiting = np.arange(len(items.records))
    anchors = np.zeros(0, np.int64)
    for layer in set_layers(items.codes, costs):
        heap = [(-int(items.records.sum()) - 1, order) for order in range(len(layer))]
        heapq.heapify(heap)
        while heap and len(waiting):
            _, order = heapq.heappop(heap)
            done = items.reached(waiting, layer[order], anchors, masks)
            gain = int(items.records[waiting[done]].sum())
            if not gain:
                continue
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, order))
                continue
            released = waiting[done]
            masks[released] = layer[order]
            waiting = np.delete(waiting, done)
            anchors = np.concatenate([anchors, items.with_missing(released)])
        if not len(waiting):
            break
    masks[waiting] = True
    return masks
