"""The released records that are nearest to what an attacker knows, and how far two records are apart.

Compatibility follows the treatment. Every treatment of released rows that exists today keeps a cell or suppresses it, so a released value that
differs from the known one contradicts it, for numbers as for names and however near it is. Distance is therefore, in this order: the number of
contradictions, then the missing cells and the differences of contradicting numbers, each difference as a share of the range (Gower 1971, as in
Anonymeter). It is kept in whole units of 2^-20 of a column, so that ties are ties on every machine. The range is that of all tables compared.
A contradicting number costs one unit and at most one part in (columns + 1) more: it only orders records of equally many contradictions, which
matters for persons who have no record (suppressed rows, persons of the control).

Labels. Where the release holds labels, a known value is compared with them by containment: a label that it is under costs nothing, any other
contradicts it, and numbers and names of a hierarchy are then ordered by how far they are from it (:class:`.cover.Cover`). To compare
texts would be an attack that fails on every such file, and looks like safety.

Missing cells. Missing equals missing. A missing cell of the *released* record may hold anything, because suppression takes values away and
changes none: it costs one part in (columns + 1), all of them together less than one contradiction. A released value where the target has none
is a contradiction.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from privrelease.loops import extension
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from privrelease.audit.attacks.cover import Cover
    from privrelease.audit.attacks.records import Attribute, Tuples

__all__ = ["UNIT", "Nearest", "nearest", "nearest_in_loops", "nearest_of_all"]

#: Units of one whole column.
UNIT = 1 << 20
_MOST_COLUMNS = 1000
#: A number outside a range is at most so far from it: sums stay whole numbers of 64 bits.
_FARTHEST = UNIT << 30
#: Cells of a block of distances, targets by distinct records.
_BLOCK = 4_000_000

#: The least cost of each target, and pairs of a target and a record.
Pairs: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]"


@dataclass(frozen=True, eq=False, slots=True)
class Nearest:
    """Records that are nearest to some targets: ``distance`` (m,) in units of each; pairs ``target`` (p,), ``record`` (p,) of a
    target and a distinct record that is nearest to it, targets ascending; every target has at least one where the file has a
    record.
    """

    distance: NDArray[np.int64]
    target: NDArray[np.int64]
    record: NDArray[np.int64]

    def best(self, row_of_record: NDArray[np.int64], ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of the lowest rank among the nearest of each target: (m,), -1 where the file has no record.

        ``row_of_record``: (u,) the lowest-ranked row of each distinct record; ``ranks``: (n,) of rows.
        """
        rows = row_of_record[self.record]
        found = np.full(len(self.distance), -1, np.int64)
        worst_first = np.argsort(-ranks[rows], kind="stable")
        found[self.target[worst_first]] = rows[worst_first]
        return found


def nearest(targets: Sequence[Attribute], released: Tuples, *, plain: bool = False) -> Nearest:
    """Find the distinct released records nearest to each target; all of them where several are equally near.

    ``plain``: the plain distance of Gower, in which a number costs its difference alone, missing is a value like any other, and a number's range
    is that of ``released`` alone (a difference may exceed it).

    >>> from privrelease.audit.attacks.records import Attribute, Tuples
    >>> age = np.array([np.nan, 20, 30, 60])
    >>> file = Tuples.among([Attribute("age", np.array([1, 3], np.uint8), age), Attribute("sex", np.array([1, 2], np.uint8))])
    >>> found = nearest([Attribute("age", np.array([2], np.uint8), age), Attribute("sex", np.array([1], np.uint8))], file)
    >>> found.record.tolist(), found.distance.tolist()  # a contradiction, and 10 of a range of 40 as a part of a third
    ([0], [1135957])
    """
    if len(targets) > _MOST_COLUMNS:
        msg = f"at most {_MOST_COLUMNS} columns are compared"
        raise ValueError(msg)
    n_targets, n_records = len(targets[0].codes), len(released)
    distance = np.zeros(n_targets, np.int64)
    if not n_targets or not n_records:
        return Nearest(distance, np.zeros(0, np.int64), np.zeros(0, np.int64))
    same = _equal_record(targets, released)
    found = [np.flatnonzero(same >= 0)]
    record = [same[found[0]]]
    others = np.flatnonzero(same < 0)
    pairs = list(zip(targets, released.attributes, strict=True))
    ranges = [
        _range(other) if plain else _range(one, other) if one.cover is None else _range_of_labels(one, one.cover)
        for one, other in pairs
    ]
    codes = [one.codes.astype(np.int32) for one in released.attributes]
    loops = extension()
    search = nearest_of_all if loops is None else partial(nearest_in_loops, loops)
    step = max(1, _BLOCK // n_records)
    for start in range(0, len(others), step):
        block = others[start : start + step]
        costs = [
            _costs(one.of(block), other, bounds, len(targets), plain=plain)
            if one.cover is None
            else _costs_of_labels(one.of(block), one.cover, bounds, len(targets))
            for (one, other), bounds in zip(pairs, ranges, strict=True)
        ]
        distance[block], owner, tied = search(costs, codes)
        found.append(block[owner])
        record.append(tied)
    target, records = np.concatenate(found), np.concatenate(record)
    order = np.lexsort((records, target))
    return Nearest(distance, target[order], records[order])


def nearest_in_loops(loops: ModuleType, costs: Sequence[NDArray[np.int64]], codes: Sequence[NDArray[np.int32]]) -> Pairs:
    """As :func:`nearest_of_all`, in the compiled loops: a record is left as soon as it is farther than the nearest."""
    by_cost = sorted(range(len(costs)), key=lambda column: -costs[column].mean())  # dearest columns first
    cost = np.concatenate([costs[column] for column in by_cost], axis=1)
    starts = np.cumsum([0, *(costs[column].shape[1] for column in by_cost[:-1])], dtype=np.int32)
    places = (np.stack([codes[column] for column in by_cost], axis=1) + starts).ravel()
    least, ties = np.empty(len(cost), np.int64), np.empty(len(cost), np.int64)
    tied = np.frombuffer(loops.nearest_records(cost, places, len(codes), least, ties), np.int64)
    return least, np.repeat(np.arange(len(cost)), ties), tied


def nearest_of_all(costs: Sequence[NDArray[np.int64]], codes: Sequence[NDArray[np.int32]]) -> Pairs:
    """Return the least cost of each target, and the pairs of a target and a record at it, targets ascending; over every pair.

    ``costs``: of each column (targets, values), in units; ``codes``: of each column (records,), the value of each record.
    """
    total = np.zeros((len(costs[0]), len(codes[0])), np.int64)
    for cost, code in zip(costs, codes, strict=True):
        total += cost[:, code]
    least = total.min(axis=1)
    owner, tied = np.nonzero(total == least[:, None])
    return least, owner, tied


def _costs(
    target: Attribute, released: Attribute, bounds: tuple[float, float], n_columns: int, *, plain: bool
) -> NDArray[np.int64]:
    """Return the cost of each released code for each target: (targets, v + 1) in units."""
    wanted = target.codes.astype(np.int64)
    size = max(int(released.codes.max(initial=0)), int(wanted.max(initial=0))) + 1
    cost = np.full((len(wanted), size), UNIT, np.int64)
    soft = UNIT // (n_columns + 1)
    low, high = bounds
    values = released.values
    if values is not None and high > low:
        share = np.abs(values[None, :size] - values[wanted][:, None]) / (high - low)
        if plain:
            cost = np.clip(np.nan_to_num(np.rint(share * UNIT), nan=UNIT), 1, _FARTHEST).astype(np.int64)
        else:
            cost = UNIT + np.clip(np.nan_to_num(np.rint(share * soft), nan=soft), 0, soft).astype(np.int64)
    cost[:, 0] = UNIT if plain else soft
    cost[wanted == 0, :] = UNIT
    cost[np.arange(len(wanted)), wanted] = 0
    return cost


def _costs_of_labels(target: Attribute, cover: Cover, bounds: tuple[float, float], n_columns: int) -> NDArray[np.int64]:
    """As :func:`_costs`, of released labels."""
    soft = UNIT // (n_columns + 1)
    wanted = target.codes.astype(np.int64)
    cost = UNIT + np.rint(cover.apart(wanted, bounds) * soft).astype(np.int64)
    cost[:, 0] = soft
    cost[wanted == 0, :] = UNIT
    cost[wanted == 0, 0] = 0
    for row in cover.under:
        label = row[wanted]
        there = label > 0
        cost[there, label[there]] = 0
    return cost


def _range(*attributes: Attribute) -> tuple[float, float]:
    """The numbers that occur, from the lowest to the highest; (0, 0) where there are none."""
    values = attributes[-1].values
    codes = [one.codes[one.codes > 0] for one in attributes]
    if values is None or not any(map(len, codes)):
        return 0.0, 0.0
    lowest, highest = min(int(one.min()) for one in codes if len(one)), max(int(one.max()) for one in codes if len(one))
    return float(values[lowest]), float(values[highest])


def _range_of_labels(target: Attribute, cover: Cover) -> tuple[float, float]:
    """The numbers from the lowest to the highest, ends of labels included; (0, 0) where there are none."""
    if cover.numbers is None:
        return 0.0, 0.0
    ours = cover.numbers[target.codes[target.codes > 0]]
    low, high = cover.span()
    return min([low, *ours.tolist()], default=0.0), max([high, *ours.tolist()], default=0.0)


def _equal_record(targets: Sequence[Attribute], released: Tuples) -> NDArray[np.int64]:
    """Return the distinct record that equals each target, -1 where none does: the nearest of all, found without a search.

    With labels, the record of which every label holds the target's value; where labels are of several levels there may be others as near.
    """
    if any(one.cover is not None and not one.cover.single for one in targets):
        return np.full(len(targets[0].codes), -1, np.int64)
    targets = [replace(one, codes=one.carried) for one in targets]
    keys, wanted = _mixed(released.attributes), _mixed(targets)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    found = order[place]
    # two records may share a key: what is not equal is searched for
    same = np.all([one.codes == other.codes[found] for one, other in zip(targets, released.attributes, strict=True)], axis=0)
    return np.where(same, found, -1).astype(np.int64)


def _mixed(attributes: Sequence[Attribute]) -> NDArray[np.uint64]:
    keys = np.zeros(len(attributes[0].codes), np.uint64)
    with np.errstate(over="ignore"):
        for one in attributes:
            keys = (keys ^ one.codes.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
    return keys
