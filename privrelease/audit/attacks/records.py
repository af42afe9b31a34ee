"""Records as an attacker compares them: coded columns of a table, and its distinct records over them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.classes.grouping import group_rows
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.attacks.cover import Cover

__all__ = ["Attribute", "Tuples"]


@dataclass(frozen=True, eq=False, slots=True)
class Attribute:
    """A column of one table. ``codes``: (n,), 0 missing, 1..v ascending. ``values``: (v + 1,) float64, the number behind each code, or
    None for names. Attributes that are compared share one coding, or have a ``cover``: that of their values by the labels of the release.
    """

    name: str
    codes: NDArray[np.integer]
    values: NDArray[np.float64] | None = None
    cover: Cover | None = None

    def of(self, rows: NDArray[np.int64]) -> Attribute:
        """Return the attribute of some rows."""
        return replace(self, codes=self.codes[rows])

    @property
    def carried(self) -> NDArray[np.integer]:
        """Codes of the released values that the cells are under; see :meth:`.Cover.carried`."""
        return self.codes if self.cover is None else self.cover.carried(self.codes)


@dataclass(frozen=True, eq=False, slots=True)
class Tuples:
    """Distinct records over some columns: ``codes`` one (u,) array a column, ``of_row`` (n,) the distinct record of each row, ``counts`` (u,)."""

    attributes: tuple[Attribute, ...]
    of_row: NDArray[np.intp]
    counts: NDArray[np.int64]

    @classmethod
    def among(cls, attributes: Sequence[Attribute]) -> Tuples:
        """Collapse the rows of a table to its distinct records over ``attributes`` (at least one)."""
        codes = np.stack([one.codes.astype(np.int32) for one in attributes], axis=1)
        grouping = group_rows(codes)
        first = grouping.first.astype(np.int64)
        counts = np.bincount(grouping.group, minlength=grouping.n_groups).astype(np.int64)
        return cls(tuple(one.of(first) for one in attributes), grouping.group, counts)

    def __len__(self) -> int:
        return len(self.counts)

    def least(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of the lowest rank of each distinct record: (u,); ``ranks``: (n,) a permutation."""
        by_rank = np.argsort(ranks, kind="stable")
        best = np.empty(len(self), np.int64)
        best[self.of_row[by_rank[::-1]]] = by_rank[::-1]  # the last one written is the lowest
        return best
