"""Moves of a search: values from group to group, bounds between intervals, each made only where the cost falls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.synthesis.modl.state import Facing, State

__all__ = ["improve"]

#: Rounds over all axes, and passes over the values or bounds of one, at most.
_ROUNDS: Final = 20
_PASSES: Final = 20


def improve(state: State, parts: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return a partition from which no move of one value or one bound lowers the cost. No part is emptied: merging does that."""
    found, still = list(parts), 0
    for step in range(_ROUNDS * len(found)):
        at = step % len(found)
        still += 1
        if int(found[at].max()) > 0:
            seen = state.facing(at, found)
            better = _bounds(state, found[at], seen) if state.axes[at].ordered else _groups(state, at, found[at], seen)
            if not np.array_equal(better, found[at]):
                found[at], still = better, 0
        if still >= len(found):
            break
    return found


def _groups(state: State, at: int, parts: NDArray[np.int64], facing: Facing) -> NDArray[np.int64]:
    """Move values of an axis without order to other groups, values of many records first."""
    logs, prior = state.logs, state.prior
    parts, many = parts.copy(), int(parts.max()) + 1
    values = state.frequencies.values[at]
    table = facing.table(parts[facing.rows], many)
    starts = np.searchsorted(facing.rows, np.arange(values.size + 1))
    held = np.bincount(parts, values, many).astype(np.int64)
    members = np.bincount(parts, minlength=many)
    order = np.argsort(-values, kind="stable").tolist()
    for _ in range(_PASSES):
        moved = False
        for value in order:
            own, n = int(parts[value]), int(values[value])
            if members[own] < 2:
                continue
            here = slice(int(starts[value]), int(starts[value + 1]))
            columns, counts = facing.columns[here], facing.counts[here]
            # taken out of its group, what does it cost to put the value into each?
            without = table[:, columns]
            without[own] -= counts
            held[own] -= n
            members[own] -= 1
            price = logs[held + n] - logs[held] + prior.groups(held + n, members + 1) - prior.groups(held, members)
            price -= (logs[without + counts] - logs[without]).sum(axis=1)
            best = int(price.argmin())
            if price[best] < price[own]:
                table[own, columns] -= counts
                table[best, columns] += counts
                parts[value], own, moved = best, best, True
            held[own] += n
            members[own] += 1
        if not moved:
            break
    return parts


def _bounds(state: State, parts: NDArray[np.int64], facing: Facing) -> NDArray[np.int64]:
    """Move each bound between two neighbouring intervals to its best place, until none moves."""
    logs, size = state.logs, parts.size
    upto = np.zeros((size + 1, facing.many), dtype=np.int64)
    upto[facing.rows + 1, facing.columns] = facing.counts
    np.cumsum(upto, axis=0, out=upto)
    total = upto.sum(axis=1)
    cuts = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), size]
    for _ in range(_PASSES):
        moved = False
        for one in range(1, len(cuts) - 1):
            low, high = cuts[one - 1], cuts[one + 1]
            if high - low < 3:
                continue
            inside = np.flatnonzero(upto[high] > upto[low])
            between = upto[low + 1 : high][:, inside]
            price = logs[total[low + 1 : high] - total[low]] + logs[total[high] - total[low + 1 : high]]
            price -= (logs[between - upto[low, inside]] + logs[upto[high, inside] - between]).sum(axis=1)
            best = int(price.argmin())
            if price[best] < price[cuts[one] - low - 1]:
                cuts[one], moved = low + 1 + best, True
        if not moved:
            break
    found = np.zeros(size, dtype=np.int64)
    found[cuts[1:-1]] = 1
    return np.cumsum(found)
