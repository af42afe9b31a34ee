"""The MODL criterion written again in floats, and every grid of a small two-column array: what the search is compared with."""

from __future__ import annotations

from itertools import product
from math import lgamma, log

import numpy as np


def partitions(size):
    """Every way to divide 0..size-1 into groups, as the group of each value in order of first value."""
    found = [[0]]
    for _ in range(size - 1):
        found = [[*one, part] for one in found for part in range(max(one) + 2)]
    return found


def intervals(size):
    return [np.cumsum([0, *cuts]).tolist() for cuts in product((0, 1), repeat=size - 1)]


def divisions(size, ordered):
    return intervals(size) if ordered else partitions(size)


def stirling(v, k):
    """Ways to divide v values into k groups, as an exact integer."""
    if v == k:
        return 1
    return 0 if k == 0 or k > v else k * stirling(v - 1, k) + stirling(v - 1, k - 1)


def log_choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def axis_cost(values, parts, ordered):
    """What a division of an axis costs apart from the number of cells; ``values``: records of each value."""
    n, many = sum(values), max(parts) + 1
    held = [sum(v for v, part in zip(values, parts, strict=True) if part == one) for one in range(many)]
    total = sum(lgamma(one + 1) for one in held)
    if ordered:
        return total + log(n)
    members = [parts.count(one) for one in range(many)]
    total += log(len(values)) + log(sum(stirling(len(values), k) for k in range(1, many + 1)))
    total += sum(log_choose(one + m - 1, m - 1) for one, m in zip(held, members, strict=True))
    return total - sum(lgamma(v + 1) for v in values)


def cost(array, divided, ordered):
    """The cost of one grid of an array of any number of axes, cell by cell."""
    n, cells = int(array.sum()), {}
    for place, count in np.ndenumerate(array):
        cell = tuple(parts[at] for parts, at in zip(divided, place, strict=True))
        cells[cell] = cells.get(cell, 0) + int(count)
    many = int(np.prod([max(parts) + 1 for parts in divided]))
    total = log_choose(n + many - 1, many - 1) + lgamma(n + 1) - sum(lgamma(one + 1) for one in cells.values())
    for at, (parts, by_order) in enumerate(zip(divided, ordered, strict=True)):
        values = array.sum(axis=tuple(one for one in range(array.ndim) if one != at)).tolist()
        total += axis_cost(values, list(parts), by_order)
    return total


def least_cost(array, ordered):
    """The least cost of all grids of a two-column array; block sums of all subsets of columns are taken once."""
    rows, columns = (divisions(size, by_order) for size, by_order in zip(array.shape, ordered, strict=True))
    width, n = array.shape[1], int(array.sum())
    subsets = (np.arange(1 << width)[:, None] >> np.arange(width)) & 1
    masks = np.zeros((len(columns), 1 << width))
    for at, parts in enumerate(columns):
        for part in range(max(parts) + 1):
            masks[at, sum(1 << column for column in range(width) if parts[column] == part)] = 1
    factorials = np.array([lgamma(one + 1) for one in range(n + 1)])
    blocks = np.zeros((len(rows), 1 << width))
    for at, parts in enumerate(rows):
        for part in range(max(parts) + 1):
            blocks[at] += factorials[subsets @ array[np.array(parts) == part].sum(axis=0)]
    sizes = [np.array([max(one) + 1 for one in side]) for side in (rows, columns)]
    cells = np.multiply.outer(*sizes)
    prior = np.array([[log_choose(n + g - 1, g - 1) for g in line] for line in cells.tolist()])
    ends = [
        np.array([axis_cost(array.sum(axis=1 - at).tolist(), list(one), ordered[at]) for one in side])
        for at, side in enumerate((rows, columns))
    ]
    return float((np.add.outer(*ends) + prior + lgamma(n + 1) - blocks @ masks.T).min())
