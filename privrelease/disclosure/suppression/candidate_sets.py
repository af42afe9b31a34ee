"""Sets of columns that a solver tries: all of them, cheapest first, or a beam where there are too many."""

from __future__ import annotations

from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.suppression.arrays import kept_bits, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["ENUMERATED_COLUMNS", "all_sets", "beam_sets", "set_layers"]

ENUMERATED_COLUMNS = 12
_BEAM = 48
_SAMPLE = 4_000
_ALL_SMALL = 500  # sets of one or two columns are all kept where there are not more


def all_sets(costs: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return all 2^q sets of columns as (2^q, q) bool and their (2^q,) costs, by cost, then size, then columns.

    >>> sets, cost = all_sets((1, 2))
    >>> sets.astype(int).tolist(), cost.tolist()
    ([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 2, 3])
    """
    q = len(costs)
    chosen = [combination for size in range(q + 1) for combination in combinations(range(q), size)]
    chosen.sort(key=lambda columns: (sum(costs[column] for column in columns), len(columns)))
    sets = _as_rows(chosen, q)
    return sets, (sets @ np.array(costs, np.int64)).astype(np.int64)


def beam_sets(codes: NDArray[np.integer[Any]], costs: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return some hundred sets of columns for wide tables (m, q), as ``all_sets`` does: a beam grown one column at a time.

    From the empty set on, each of the best sets so far is extended by every column, and those that leave fewest classes per cost
    are kept. The chain ends with all columns but one.
    """
    q = len(costs)
    classes_left = _class_counter(codes[:: max(1, len(codes) // _SAMPLE)])
    beam: list[frozenset[int]] = [frozenset()]
    found: set[frozenset[int]] = {frozenset()}
    for level in range(1, q):
        grown = sorted({taken | {column} for taken in beam for column in range(q) if column not in taken}, key=sorted)
        if level > 2 or len(grown) > _ALL_SMALL:
            cost = [sum(costs[column] for column in candidate) for candidate in grown]
            order = np.argsort(classes_left(grown) * np.array(cost, np.float64), kind="stable")
            grown = [grown[place] for place in order[: max(4, min(_BEAM, 20_000 // (q * q)))]]
        beam = grown
        found.update(beam)
    ordered = sorted(found, key=lambda columns: (sum(costs[column] for column in columns), len(columns), sorted(columns)))
    sets = _as_rows(ordered, q)
    return sets, (sets @ np.array(costs, np.int64)).astype(np.int64)


def _as_rows(chosen: Sequence[Iterable[int]], q: int) -> NDArray[np.bool_]:
    sets = np.zeros((len(chosen), q), np.bool_)
    for row, columns in enumerate(chosen):
        sets[row, list(columns)] = True
    return sets


def _class_counter(codes: NDArray[np.integer[Any]]) -> Callable[[Sequence[frozenset[int]]], NDArray[np.int64]]:
    """Return a function that counts, for each of some sets of columns, the classes of ``codes`` (m, q) that are left without them."""
    from privrelease.disclosure.suppression.kernels import count_distinct

    keys, fields = pack(codes)
    table = np.empty(1 << max(4, (2 * len(codes)).bit_length()), np.uint64)

    def classes_left(chosen: Sequence[frozenset[int]]) -> NDArray[np.int64]:
        kept = kept_bits(fields, _as_rows(chosen, codes.shape[1]))
        counts = [count_distinct(keys, np.ascontiguousarray(kept[:, row : row + 1]), table) for row in range(len(chosen))]
        return np.array(counts, np.int64)

    return classes_left


def set_layers(codes: NDArray[np.integer[Any]], costs: tuple[int, ...]) -> Iterator[NDArray[np.bool_]]:
    """Yield the candidate sets in layers of equal cost, cheapest first, each layer (s, q) bool."""
    sets, cost = all_sets(costs) if len(costs) <= ENUMERATED_COLUMNS else beam_sets(codes, costs)
    for _, rows in groupby(range(len(sets)), key=lambda row: int(cost[row])):
        yield sets[list(rows)]


def candidate_sets(codes: NDArray[np.integer[Any]], costs: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the sets to try, by cost, and their costs; the last one is all columns."""
    sets, cost = all_sets(costs) if len(costs) <= ENUMERATED_COLUMNS else beam_sets(codes, costs)
    whole = sets.all(axis=1)
    everything = np.ones((1, len(costs)), np.bool_)
    total = np.array([sum(costs)], np.int64)
    return np.concatenate([sets[~whole], everything]), np.concatenate([cost[~whole], total])
