"""Persons whose rows stay linkable: an attacker sees a person's rows together, so the class of a person is its set of tuples.

What must be large is the number of persons with the same set of distinct released tuples (the same multiset, for an attacker who
knows how many rows a person has): DESIGN semantics 2. One set of columns is taken from all rows of a person. A person is residual
for a requirement where none of its rows shows anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.suppression.evaluation import RiskState, smallest_count
from privrelease.disclosure.suppression.partition import factorise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.partition import Parts
    from privrelease.disclosure.suppression.problem import Requirement

__all__ = ["Links", "PersonItems", "person_groups", "take_linked_standing"]


@dataclass(frozen=True, slots=True)
class Links:
    """Links between persons and the parts in which they have rows: ``part`` (m,), ``person`` (m,) sorted ascending,
    0..persons-1; ``rows`` (m,) of each pair; ``times`` (persons,) how many persons each represents, who all have as many rows in the same parts.

    ``multiset``: whether the number of equal rows tells persons apart.
    """

    part: NDArray[np.int64]
    person: NDArray[np.int64]
    rows: NDArray[np.int64]
    multiset: bool
    times: NDArray[np.int64]

    @property
    def persons(self) -> int:
        """Number of persons."""
        return int(self.person[-1]) + 1 if len(self.person) else 0


def person_groups(
    codes: NDArray[np.integer[Any]], person: NDArray[np.int64], rows: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Number persons by their set of rows: ``codes`` (m, q) with their ``person`` (m,), ascending 0..n-1, all present. Returns (n,) ids.

    With ``rows`` (m,) the number of equal rows counts too. Exact: sets are compared row by row, not by a hash.

    >>> codes = np.array([[1], [2], [2], [1], [1], [1]], np.int32)
    >>> person = np.array([0, 0, 1, 1, 2, 2])
    >>> person_groups(codes, person, None).tolist(), person_groups(codes, person, np.array([1, 1, 1, 2, 1, 1])).tolist()
    ([1, 1, 0], [1, 2, 0])
    """
    row = factorise(codes)
    span = int(row.max(initial=0)) + 1
    token, where = np.unique(person * span + row, return_inverse=True)
    owner, kind = token // span, token % span
    if rows is not None:
        amount = np.zeros(len(token), np.int64)
        np.add.at(amount, where, rows)
        kind = factorise(np.column_stack([kind, amount]))
        token = np.unique(owner * (int(kind.max(initial=0)) + 1) + kind)
        owner, kind = token // (int(kind.max(initial=0)) + 1), token % (int(kind.max(initial=0)) + 1)
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    length = np.diff(start, append=len(owner))
    groups = np.zeros(len(start), np.int64)
    offset = 0
    for size in np.unique(length):
        alike = np.flatnonzero(length == size)
        ids = factorise(kind[start[alike][:, None] + np.arange(size)])
        groups[alike] = ids + offset
        offset += int(ids.max(initial=-1)) + 1
    return groups


@dataclass(frozen=True, slots=True)
class PersonItems:
    """Persons as items of greedy: item i represents ``times[i]`` persons, the rows of each are ``codes[start[i]:start[i + 1]]``."""

    codes: NDArray[np.integer[Any]]
    start: NDArray[np.int64]
    rows: NDArray[np.int64] | None
    records: NDArray[np.int64]
    times: NDArray[np.int64]
    need: int

    def with_missing(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the persons with a missing cell in any row."""
        row, item = self._rows_of(items)
        missing: NDArray[np.bool_] = (self.codes[row] == 0).any(axis=1)
        return items[np.unique(item[missing])]

    def _rows_of(self, items: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of ``items``, and for each the position of its item."""
        length = self.start[items + 1] - self.start[items]
        item = np.repeat(np.arange(len(items)), length)
        first = np.cumsum(length) - length
        return self.start[items][item] + np.arange(len(item)) - first[item], item

    def reached(
        self,
        waiting: NDArray[np.int64],
        columns: NDArray[np.bool_],
        anchors: NDArray[np.int64],
        masks: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Count persons with the same set of rows."""
        together = np.concatenate([waiting, anchors])
        row, item = self._rows_of(together)
        shown = self.codes[row]
        taken = masks[together]
        taken[: len(waiting)] = columns
        shown[taken[item]] = 0
        group = person_groups(shown, item, None if self.rows is None else self.rows[row])
        large = np.bincount(group, self.times[together])[group] >= self.need
        shows = np.zeros(len(together), np.bool_)
        shows[item[(shown > 0).any(axis=1)]] = True
        return np.flatnonzero((large & shows)[: len(waiting)])


def take_linked_standing(parts: Parts, links: Links, requirement: Requirement, residual_rule: str) -> RiskState:
    """Measure ``requirement`` on ``parts`` in persons, exactly; ``below`` and ``residual`` mark the parts of such persons.

    Population sizes are not used: a person's F is at least its f, so the prosecutor's figures are an upper bound.
    """
    codes = parts.codes(requirement.columns)
    thresholds = requirement.thresholds
    there = ~parts.dropped[links.part]
    part, rows = links.part[there], links.rows[there]
    named, person = np.unique(links.person[there], return_inverse=True)
    shows = np.zeros(len(named), np.bool_)
    shows[person[(codes[part] > 0).any(axis=1)]] = True
    residual, below, stray = (np.zeros(len(parts), np.bool_) for _ in range(3))
    empty = ~parts.dropped & ~(codes > 0).any(axis=1)
    residual[part[~shows[person]]] = True
    times = links.times[named]
    if residual_rule == "drop" and 0 < int(times[~shows].sum()) < thresholds.k:
        stray = residual & empty
    if not shows.any():
        return RiskState(residual, below, stray, average_holds=True, at_risk_holds=True)
    counted = np.flatnonzero(shows[person])
    counted_persons, who = np.unique(person[counted], return_inverse=True)
    times = times[counted_persons]
    group = person_groups(codes[part[counted]], who, rows[counted] if links.multiset else None)
    size = np.bincount(group, times).astype(np.int64)
    f = size[group]
    if thresholds.highest is not None:
        below[part[counted][f[who] < thresholds.k]] = True
    n = int(times.sum())
    average_holds = thresholds.average is None or len(size) <= thresholds.average * n
    at_risk_holds = True
    if thresholds.at_risk is not None:
        exposed = int(times[f < smallest_count(thresholds.at_risk.above, 1)].sum())
        at_risk_holds = exposed <= thresholds.at_risk.share * n
    return RiskState(residual, below, stray, average_holds=average_holds, at_risk_holds=at_risk_holds)
