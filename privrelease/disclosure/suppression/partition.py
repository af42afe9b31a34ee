"""The solver's working state: parts of classes, each with the cells it loses.

A part is a number of records of one class that are treated alike. Solvers start from one part per class that loses nothing, and
only ever take cells away: that order makes every repair loop end, at the latest with everything suppressed.

From an assignment of classes back to the parts they were made of.

A search sees the classes of one requirement's columns; several parts of the whole table fall into one such class. Laid end to end
in the same order, the records of the parts and the records of the assignment are two cuts of the same line: the pieces between
all cut points belong to one part and to one column set each.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.classes.persons import pair_times
from privrelease.disclosure.suppression.arrays import packed_bytes
from privrelease.disclosure.suppression.class_tallies import ClassTally
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["Parts", "cut_alike", "factorise", "first_members", "stable_order"]

#: Parts are replaced one class at a time where fewer than this share of them changes.
_FEW = 4
#: Columns whose bits leave one of sixteen over.
_NARROW = 16


def factorise(codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Number the distinct rows of ``codes`` (m, q): an (m,) array of ids 0..groups-1, exact for any number of columns.

    Columns are packed into 62-bit integers; whenever the next column would not fit, the packed prefix is renumbered first.

    >>> factorise(np.array([[3, 1], [0, 2], [3, 1]], np.int32)).tolist()
    [1, 0, 1]
    """
    rows, q = codes.shape
    packed = np.zeros(rows, np.int64)
    span = 1
    for column in range(q):
        values = codes[:, column]
        width = int(values.max(initial=0)) + 1
        if span * width >= 1 << 62:
            packed = np.unique(packed, return_inverse=True)[1].astype(np.int64)
            span = int(packed.max(initial=0)) + 1
        packed *= width
        packed += values
        span *= width
    if span <= 4 * rows + 1024:
        used = np.zeros(span, np.bool_)
        used[packed] = True
        return (np.cumsum(used) - 1)[packed]
    return np.unique(packed, return_inverse=True)[1].astype(np.int64)


def first_members(group: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the first index of each group, (groups,), for ids 0..groups-1.

    >>> first_members(np.array([1, 0, 1])).tolist()
    [1, 0]
    """
    first = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return first


def _packed_bits(masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Pack (p, q) bits into (p, ceil(q / 16)) integers below 65,536, the first column the highest bit."""
    return packed_bytes(masks, 2).view(">u2").astype(np.int64)


def stable_order(numbers: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the order by rising number, of equal ones by place; one sort of both together is faster than a stable sort of places.

    >>> stable_order(np.array([1, 0, 1, 0])).tolist()
    [1, 3, 0, 2]
    """
    if int(numbers.max(initial=0)) >= 1 << 31 or len(numbers) >= 1 << 32:
        return np.argsort(numbers, kind="stable")
    both = numbers.astype(np.int64) << 32 | np.arange(len(numbers))
    both.sort()
    return both & 0xFFFFFFFF


@dataclass(slots=True)
class Parts:
    """``class_index`` (p,), ``records`` (p,), ``suppressed`` (p, q) never set where the class is missing, ``dropped`` (p,)."""

    table: ClassTable
    class_index: NDArray[np.integer[Any]]
    records: NDArray[np.int64]
    suppressed: NDArray[np.bool_]
    dropped: NDArray[np.bool_]
    #: Counts that are kept up to date, by number of the requirement.
    tallies: dict[int, ClassTally] = field(default_factory=dict)
    #: Parts of a class that are treated alike are one, in the order of what they lose.
    _joined: bool = False

    @classmethod
    def untouched(cls, table: ClassTable) -> Parts:
        """One part per class that loses nothing."""
        j, q = table.codes.shape
        return cls(
            table,
            np.arange(j, dtype=np.int32 if j < 1 << 31 else np.int64),
            table.counts.astype(np.int64, copy=False),
            np.zeros((j, q), np.bool_),
            np.zeros(j, np.bool_),
        )

    @classmethod
    def by_pair(cls, table: ClassTable, pair_rows: NDArray[np.int64]) -> Parts:
        """One part per (class, person) pair that loses nothing."""
        if table.pairs_class is None or table.pairs_person is None:
            msg = "parts by person need the pairs of classes and persons"
            raise ValueError(msg)
        m, q = len(pair_rows), table.codes.shape[1]
        where = table.pairs_class.astype(np.int64)
        records = pair_rows.astype(np.int64) * pair_times(table)
        return cls(table, where, records, np.zeros((m, q), np.bool_), np.zeros(m, np.bool_))

    def __len__(self) -> int:
        return len(self.records)

    def copy(self) -> Parts:
        """Return the same parts, which later changes of these do not reach."""
        return Parts(self.table, self.class_index, self.records, self.suppressed.copy(), self.dropped.copy())

    def codes(self, columns: tuple[int, ...], members: NDArray[np.integer[Any]] | None = None) -> NDArray[np.integer[Any]]:
        """Return the released codes (p, len(columns)) of all parts or of ``members``, suppressed cells as 0 = missing."""
        chosen = list(columns)
        suppressed = self.suppressed if members is None else self.suppressed.take(members, axis=0)
        whole: NDArray[np.integer[Any]] = self.table.codes.take(
            self.class_index if members is None else self.class_index[members], axis=0
        )
        every = chosen == [*range(whole.shape[1])]
        released: NDArray[np.integer[Any]] = whole if every else whole.take(chosen, axis=1)
        released *= ~(suppressed if every else suppressed.take(chosen, axis=1))
        return released

    def tally(self, number: int, columns: tuple[int, ...]) -> ClassTally:
        """Return the class sizes of a requirement, counted again where changes were not followed."""
        if number not in self.tallies:
            self.tallies[number] = ClassTally(self.table, columns)
        found = self.tallies[number]
        if found.fits and found.stale:
            found.recount(self.class_index, self.records, self.suppressed, self.dropped)
        return found

    def drop(self, where: NDArray[np.bool_]) -> None:
        """Drop the parts of ``where`` (p,)."""
        self.dropped |= where
        for tally in self.tallies.values():
            tally.drop(where)
        # A class may have dropped another part before that lost the same.
        gone = np.flatnonzero(self.dropped)
        alike = np.column_stack([self.class_index[gone], _packed_bits(self.suppressed[gone])])
        self._joined = self._joined and len(np.unique(alike, axis=0)) == len(gone)

    def restore(self, suppressed: NDArray[np.bool_], dropped: NDArray[np.bool_]) -> None:
        """Let the parts lose these cells, and drop these, instead."""
        self.suppressed, self.dropped = suppressed, dropped
        self._changed()

    def _changed(self) -> None:
        self._joined = False
        for tally in self.tallies.values():
            tally.forget()

    def replace(
        self,
        members: NDArray[np.integer[Any]],
        origin: NDArray[np.integer[Any]],
        records: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
    ) -> None:
        """Put pieces in the place of ``members``: piece i has ``records[i]`` of part ``origin[i]`` and loses ``suppressed[i]`` too.

        The pieces of a member make up its records. Pieces of a class that are treated alike are joined.
        """
        others = np.ones(len(self), np.bool_)
        others[members] = False
        if self._joined and len(members) * _FEW < len(self):
            self._replace_few(others, members, origin, records, suppressed)
            return
        masks = self._lost(origin, suppressed)
        left = np.flatnonzero(others)
        self.set(
            np.concatenate([self.class_index[left], self.class_index[origin]]),
            np.concatenate([self.records[left], records]),
            np.concatenate([self.suppressed.take(left, axis=0), masks]),
            np.concatenate([self.dropped[left], self.dropped[origin]]),
        )

    def _lost(self, origin: NDArray[np.integer[Any]], suppressed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return what pieces of the parts ``origin`` lose: what these lost before, and ``suppressed`` where it is not missing."""
        masks: NDArray[np.bool_] = self.table.codes.take(self.class_index[origin], axis=0) > 0
        masks &= suppressed
        masks |= self.suppressed.take(origin, axis=0)
        return masks

    def _replace_few(
        self,
        others: NDArray[np.bool_],
        members: NDArray[np.integer[Any]],
        origin: NDArray[np.integer[Any]],
        records: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
    ) -> None:
        """Replace parts, joining what is alike among the classes of ``members`` only; the result is that of :meth:`set`."""
        touched = np.zeros(self.table.n_classes, np.bool_)
        touched[self.class_index[members]] = True
        near = touched[self.class_index]
        siblings = np.flatnonzero(near & others)
        masks = self._lost(origin, suppressed)
        made = _joined(
            np.concatenate([self.class_index[siblings], self.class_index[origin]]),
            np.concatenate([self.records[siblings], records]),
            np.concatenate([self.suppressed[siblings], masks]),
            np.concatenate([self.dropped[siblings], self.dropped[origin]]),
        )
        stay = ~near
        left = np.flatnonzero(stay)
        index = np.concatenate([self.class_index[left], made[0]])
        order = np.argsort(index, kind="stable")
        for tally in self.tallies.values():
            tally.exchange(stay, *made, order)
        self.class_index = index[order]
        self.records = np.concatenate([self.records[left], made[1]])[order]
        self.suppressed = np.concatenate([self.suppressed.take(left, axis=0), made[2]]).take(order, axis=0)
        self.dropped = np.concatenate([self.dropped[left], made[3]])[order]

    def set(
        self,
        class_index: NDArray[np.integer[Any]],
        records: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
        dropped: NDArray[np.bool_],
    ) -> None:
        """Take these parts instead, sorted by class; parts of a class that are treated alike are joined."""
        self.class_index, self.records, self.suppressed, self.dropped = _joined(class_index, records, suppressed, dropped)
        self._changed()
        self._joined = True

    def suppress(self, where: NDArray[np.bool_]) -> None:
        """Take the cells of ``where`` (p, q) away too; cells that are missing in the source are not marked."""
        self.suppressed |= where & (self.table.codes[self.class_index] > 0)
        self._changed()


def _joined(
    class_index: NDArray[np.integer[Any]], records: NDArray[np.int64], suppressed: NDArray[np.bool_], dropped: NDArray[np.bool_]
) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Join parts of a class that are treated alike; sorted by class, then by what they lose."""
    q = suppressed.shape[1]
    if len(records) and q < _NARROW and int(class_index.max()) < 1 << 31:
        # One sort of what identifies a part.
        key = class_index.astype(np.int64) << 16 | _packed_bits(suppressed)[:, 0] | dropped
        line = np.argsort(key)
        key = key[line]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        kept = line[starts]
        return (
            class_index[kept],
            np.add.reduceat(records[line], starts),
            suppressed.take(kept, axis=0),
            dropped[kept],
        )
    alike = factorise(np.column_stack([class_index, _packed_bits(suppressed), dropped]))
    first = first_members(alike)
    order = np.argsort(class_index[first], kind="stable")
    totals = np.zeros(len(first), np.int64)
    np.add.at(totals, alike, records)
    return class_index[first][order], totals[order], suppressed[first][order], dropped[first][order]


def cut_alike(
    records: NDArray[np.int64], assigned: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cut two lists of counts with equal sums into common pieces: index in each list, and the size, of every piece.

    >>> [column.tolist() for column in cut_alike(np.array([3, 2]), np.array([1, 4]))]
    [[0, 0, 1], [0, 1, 1], [1, 2, 2]]
    """
    ends = np.cumsum(records)
    assigned_ends = np.cumsum(assigned)
    cuts = np.sort(np.concatenate([ends, assigned_ends]))
    cuts = cuts[np.diff(cuts, prepend=0) > 0]
    sizes = np.diff(cuts, prepend=0)
    middle = cuts - sizes
    return np.searchsorted(ends, middle, side="right"), np.searchsorted(assigned_ends, middle, side="right"), sizes
