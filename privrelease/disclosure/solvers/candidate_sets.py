"""Which sets of columns a solver tries: all of them, cheapest first, or a beam where there are too many."""

from __future__ import annotations

from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.solvers.parts import factorise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["ENUMERATED_COLUMNS", "all_sets", "beam_sets", "set_layers"]

ENUMERATED_COLUMNS = 12
_BEAM = 48


def all_sets(costs: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return all 2^q sets of columns as (2^q, q) bool and their (2^q,) costs, by cost, then size, then columns.

    >>> sets, cost = all_sets((1, 2))
    >>> sets.astype(int).tolist(), cost.tolist()
    ([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 2, 3])
    """
    q = len(costs)
    chosen = [combination for size in range(q + 1) for combination in combinations(range(q), size)]
    chosen.sort(key=lambda columns: (sum(costs[column] for column in columns), len(columns)))
    sets = np.zeros((len(chosen), q), np.bool_)
    for row, columns in enumerate(chosen):
        sets[row, list(columns)] = True
    return sets, (sets @ np.array(costs, np.int64)).astype(np.int64)


def beam_sets(codes: NDArray[np.int32], costs: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return some hundred sets of columns for wide tables (m, q), as ``all_sets`` does: a beam grown one column at a time.

    From the empty set on, each of the best sets so far is extended by every column, and those that leave fewest classes per cost
    are kept. The chain ends with all columns but one.
    """
    q = codes.shape[1]
    sample = codes[:: max(1, len(codes) // 4000)]
    beam: list[frozenset[int]] = [frozenset()]
    found: set[frozenset[int]] = {frozenset()}
    width = max(4, min(_BEAM, 20_000 // (q * q)))
    for _ in range(q - 1):
        grown = sorted({kept | {column} for kept in beam for column in range(q) if column not in kept}, key=sorted)
        scored = []
        for candidate in grown:
            shown = [column for column in range(q) if column not in candidate]
            classes = int(factorise(sample[:, shown]).max(initial=0)) + 1
            scored.append((classes * sum(costs[column] for column in candidate), sorted(candidate), candidate))
        scored.sort(key=lambda entry: entry[:2])
        beam = [entry[2] for entry in scored[:width]]
        found.update(beam)
    ordered = sorted(found, key=lambda columns: (sum(costs[column] for column in columns), len(columns), sorted(columns)))
    sets = np.zeros((len(ordered), q), np.bool_)
    for row, columns in enumerate(ordered):
        sets[row, list(columns)] = True
    return sets, (sets @ np.array(costs, np.int64)).astype(np.int64)


def set_layers(codes: NDArray[np.int32], costs: tuple[int, ...]) -> Iterator[NDArray[np.bool_]]:
    """Yield the candidate sets in layers of equal cost, cheapest first, each layer (s, q) bool."""
    sets, cost = all_sets(costs) if len(costs) <= ENUMERATED_COLUMNS else beam_sets(codes, costs)
    for _, rows in groupby(range(len(sets)), key=lambda row: int(cost[row])):
        yield sets[list(rows)]


def candidate_sets(codes: NDArray[np.int32], costs: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the sets to try, by cost, and their costs; the last one is all columns."""
    sets, cost = all_sets(costs) if len(costs) <= ENUMERATED_COLUMNS else beam_sets(codes, costs)
    whole = sets.all(axis=1)
    everything = np.ones((1, len(costs)), np.bool_)
    total = np.array([sum(costs)], np.int64)
    return np.concatenate([sets[~whole], everything]), np.concatenate([cost[~whole], total])
