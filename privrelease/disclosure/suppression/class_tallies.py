"""Records of each class of a requirement, kept up to date while a few parts after another are replaced.

After the first searches for several requirements only few classes fail, and only their parts change: what they add to the classes is taken
off and added again, and all other counts stay. A part's class is its packed key with the cells it loses set to 0; the key 0 shows nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.suppression.arrays import pack, packed_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["ClassTally"]


class ClassTally:
    """The class sizes of one requirement over parts that may be replaced.

    ``slot`` (p,): the class of each part; ``totals`` (c,): the records of each class, dropped ones left out; class 0 shows nothing.

    >>> from privrelease.disclosure.classes.equivalence_classes import ClassTable
    >>> table = ClassTable(("a", "b"), np.array([[1, 1], [1, 2]], np.int32), np.array([2, 3]))
    >>> tally = ClassTally(table, (0, 1))
    >>> hidden, none = np.array([[False, True]]), np.zeros(1, np.bool_)
    >>> tally.recount(np.array([0, 1]), np.array([2, 3]), np.zeros((2, 2), np.bool_), np.zeros(2, np.bool_))
    >>> tally.sizes().tolist()
    [2, 3]
    >>> tally.exchange(np.array([False, True]), np.array([0]), np.array([2]), hidden, none, np.array([0, 1]))
    >>> tally.sizes().tolist()
    [3, 2]
    """

    def __init__(self, table: ClassTable, columns: tuple[int, ...]) -> None:
        keys, fields = pack(table.codes[:, list(columns)])
        self.fits = len(keys) == 1
        self._key = keys[0]
        self._kept = _kept_of_bytes(columns, fields[0], table.codes.shape[1])
        self._stale = True
        self._known: NDArray[np.uint64] = np.zeros(1, np.uint64)
        self.totals: NDArray[np.int64] = np.zeros(1, np.int64)
        self.slot: NDArray[np.int64] = np.zeros(0, np.int64)
        self._counted: NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def stale(self) -> bool:
        """Return True if parts changed in a way that was not followed."""
        return self._stale

    def forget(self) -> None:
        """Say that parts changed in a way that is not followed; the next question counts all of them."""
        self._stale = True

    def drop(self, where: NDArray[np.bool_]) -> None:
        """Leave the parts of ``where`` (p,) out."""
        if self._stale:
            return
        gone = np.flatnonzero(where)
        np.subtract.at(self.totals, self.slot[gone], self._counted[gone])
        self._counted[gone] = 0

    def sizes(self) -> NDArray[np.int64]:
        """Return the records of the class of each part, (p,)."""
        return self.totals[self.slot]

    def recount(
        self,
        class_index: NDArray[np.integer[Any]],
        records: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
        dropped: NDArray[np.bool_],
    ) -> None:
        """Count all parts."""
        keys = self._keys(class_index, suppressed)
        known, inverse = np.unique(np.concatenate([np.zeros(1, np.uint64), keys]), return_inverse=True)
        self._known, self.slot = known, inverse[1:].astype(np.int64)
        self._counted = np.where(dropped, 0, records)
        self.totals = np.zeros(len(known), np.int64)
        np.add.at(self.totals, self.slot, self._counted)
        self._stale = False

    def exchange(
        self,
        stay: NDArray[np.bool_],
        class_index: NDArray[np.integer[Any]],
        records: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
        dropped: NDArray[np.bool_],
        order: NDArray[np.int64],
    ) -> None:
        """Put new parts in the place of those that do not ``stay``; ``order``: places of the parts that stay, then of the new ones, as they are
        ordered afterwards.
        """
        if self._stale:
            return
        np.subtract.at(self.totals, self.slot[~stay], self._counted[~stay])
        keys = self._keys(class_index, suppressed)
        at = np.minimum(np.searchsorted(self._known, keys), len(self._known) - 1)
        new = np.unique(keys[self._known[at] != keys])
        if len(new):
            merged = np.concatenate([self._known, new])
            line = np.argsort(merged, kind="stable")
            place = np.empty(len(line), np.int64)
            place[line] = np.arange(len(line))
            self._known = merged[line]
            self.totals = np.concatenate([self.totals, np.zeros(len(new), np.int64)])[line]
            self.slot = place[self.slot]
        slot = np.searchsorted(self._known, keys)
        counted = np.where(dropped, 0, records)
        np.add.at(self.totals, slot, counted)
        self.slot = np.concatenate([self.slot[stay], slot])[order]
        self._counted = np.concatenate([self._counted[stay], counted])[order]

    def _keys(self, class_index: NDArray[np.integer[Any]], suppressed: NDArray[np.bool_]) -> NDArray[np.uint64]:
        keys: NDArray[np.uint64] = self._key[class_index]
        for kept, lost in zip(self._kept, packed_bytes(suppressed).T, strict=True):
            keys &= kept[lost]
        return keys


def _kept_of_bytes(columns: tuple[int, ...], fields: NDArray[np.uint64], q: int) -> list[NDArray[np.uint64]]:
    """Return, for each byte of what a part loses of q columns, the key bits that are kept, (256,), by the byte's value.

    >>> [kept[[0, 64, 128]].tolist() for kept in _kept_of_bytes((1,), np.array([3], np.uint64), 2)] == [
    ...     [2**64 - 1, 2**64 - 4, 2**64 - 1]
    ... ]
    True
    """
    values = np.arange(256)
    found = [np.full(256, ~np.uint64(0)) for _ in range(-(-q // 8))]
    for column, field in zip(columns, fields, strict=True):
        found[column // 8][(values >> (7 - column % 8) & 1) > 0] &= ~field
    return found
