"""Counts that agree across the margins of a table, by weighted least squares: post-processing, which costs nothing.

Noisy tables over sets of keys, each with one noise variance, are replaced by the margins of one table that comes closest to all of them, squares
weighted by the inverse variances. Because every table is complete, the problem splits into its interactions (analysis of variance): for a
set T of keys every table with keys S containing T estimates the interaction of T in the totals over T, with noise variance times the number of
cells of S outside T; estimates are averaged by inverse variance, and every table is put together again from its interactions. This is the exact
least-squares solution, in time linear in the cells for each of the subsets. (Hay and others 2010, for hierarchies; Barak and others 2007.)

What becomes of the noise
    The solution is linear and unbiased: a cell of a table T less the count without noise is a weighted sum of the noises of all tables. In
    the estimate of the interaction of S the cell d of a table t has, by definition of an interaction, the weight prod over k in S of
    ([d and the cell agree on k] - 1/values of k); estimates are averaged with the weights above and spread evenly over the cells of T outside S. The
    weight of d so depends on nothing but t and the set of keys of both tables on which d and the cell agree: there are few different weights
    (:attr:`Agreed.weights`), and their squares times the variances add up to the variance of the cell. An interval follows from the law of
    that very sum (:mod:`privrelease.dp.noise_sums`).
"""

from __future__ import annotations

import math
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Final

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Agreed", "NoisyTable", "agree"]

#: A weight that is 0 but for rounding.
_NOTHING: Final = 1e-13


@dataclass(frozen=True, slots=True)
class NoisyTable:
    """Counts by ``keys`` (the last varies fastest), ``sizes`` their numbers of values, ``variance`` that of each cell's noise."""

    keys: tuple[str, ...]
    sizes: tuple[int, ...]
    values: tuple[int, ...]
    variance: float

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.sizes) or len(set(self.keys)) != len(self.keys) or len(self.values) != prod(self.sizes):
            msg = "a table has one size for each of its keys, and a value for each cell"
            raise ValueError(msg)
        if self.variance <= 0:
            msg = "a noisy table has a positive variance"
            raise ValueError(msg)


@dataclass(frozen=True, eq=False, slots=True)
class Agreed:
    """The values of a table after agreement, in its own order, and the standard deviation of each.

    ``weights``: of the noises whose sum each of them is off by: (number of the table, weight, how many of its cells have it).
    """

    values: NDArray[np.float64]
    deviation: float
    weights: tuple[tuple[int, float, int], ...] = ()


def agree(tables: Sequence[NoisyTable]) -> tuple[Agreed, ...]:
    """Return every table such that totals agree; one table alone stays as it is.

    >>> total, parts = agree([NoisyTable((), (), (13,), 1.0), NoisyTable(("sex",), (2,), (4, 6), 1.0)])
    >>> total.values.tolist(), parts.values.tolist(), round(parts.deviation, 3)
    ([12.0], [5.0, 7.0], 0.816)
    """
    import numpy as np

    names = sorted({key for table in tables for key in table.keys})
    sizes: dict[str, int] = {}
    for table in tables:
        for key, size in zip(table.keys, table.sizes, strict=True):
            if sizes.setdefault(key, size) != size:
                msg = "a key has the same values in every table"
                raise ValueError(msg)
    arrays = [_array(table, names) for table in tables]
    parts: dict[tuple[str, ...], tuple[NDArray[np.float64], float]] = {}
    for subset in {subset for table in tables for subset in _subsets(table.keys)}:
        weight, total = 0.0, np.zeros([sizes[name] if name in subset else 1 for name in names])
        for table, array in zip(tables, arrays, strict=True):
            if set(subset) <= set(table.keys):
                outside = tuple(i for i, name in enumerate(names) if name in table.keys and name not in subset)
                own = 1 / (table.variance * prod(sizes[names[i]] for i in outside))
                total += own * _interaction(array.sum(axis=outside, keepdims=True), names, subset)
                weight += own
        parts[subset] = (total / weight, 1 / weight)
    return tuple(_together(table, names, sizes, parts, _weights(table, tables, sizes, parts)) for table in tables)


def _subsets(keys: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    ordered = sorted(keys)
    return (subset for size in range(len(ordered) + 1) for subset in combinations(ordered, size))


def _array(table: NoisyTable, names: list[str]) -> NDArray[np.float64]:
    """The table with one axis for every name, of length 1 where it has no such key."""
    import numpy as np

    order = sorted(range(len(table.keys)), key=lambda i: table.keys[i])
    array = np.array(table.values, dtype=np.float64).reshape(table.sizes).transpose(order)
    return array.reshape([table.sizes[table.keys.index(name)] if name in table.keys else 1 for name in names])


def _interaction(array: NDArray[np.float64], names: list[str], subset: tuple[str, ...]) -> NDArray[np.float64]:
    for axis, name in enumerate(names):
        if name in subset:
            array = array - array.mean(axis=axis, keepdims=True)
    return array


def _together(
    table: NoisyTable,
    names: list[str],
    sizes: dict[str, int],
    parts: dict[tuple[str, ...], tuple[NDArray[np.float64], float]],
    weights: tuple[tuple[int, float, int], ...],
) -> Agreed:
    import numpy as np

    array = np.zeros([sizes[name] if name in table.keys else 1 for name in names])
    variance = 0.0
    for subset in _subsets(table.keys):
        part, own = parts[subset]
        cells = prod(sizes[name] for name in table.keys if name not in subset)
        array = array + part / cells
        variance += own / cells**2 * prod(1 - 1 / sizes[name] for name in subset)
    ordered = sorted(table.keys)
    values = array.reshape([sizes[name] for name in ordered]).transpose([ordered.index(name) for name in table.keys])
    return Agreed(np.ascontiguousarray(values).reshape(-1), math.sqrt(variance), weights)


def _weights(
    table: NoisyTable,
    tables: Sequence[NoisyTable],
    sizes: dict[str, int],
    parts: dict[tuple[str, ...], tuple[NDArray[np.float64], float]],
) -> tuple[tuple[int, float, int], ...]:
    """By table and by the set of common keys on which its cells agree with a cell of ``table``: their weight, and how many they are."""
    found: list[tuple[int, float, int]] = []
    for number, other in enumerate(tables):
        common = tuple(name for name in table.keys if name in other.keys)
        alone = prod(sizes[name] for name in other.keys if name not in common)
        for agreeing in _subsets(common):
            weight = 0.0
            for subset in _subsets(common):
                own = 1 / (other.variance * prod(sizes[name] for name in other.keys if name not in subset))
                spread = prod(sizes[name] for name in table.keys if name not in subset)
                weight += own * parts[subset][1] / spread * prod((name in agreeing) - 1 / sizes[name] for name in subset)
            count = alone * prod(sizes[name] - 1 for name in common if name not in agreeing)
            if count and abs(weight) > _NOTHING:
                found.append((number, weight, count))
    return tuple(found)
