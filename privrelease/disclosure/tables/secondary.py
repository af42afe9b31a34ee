"""Secondary suppression: few further cells, so that no unsafe figure can be worked out from the totals.

For each weakness in turn, the cheapest way to move it: a change of the cells, at the price of the persons in those that are still printed, that
keeps every total and moves the weak sum as far as it must be uncertain. The cells that the change touches are suppressed: then both tables
fit what is printed (Kelly, Golden and Assad 1992; Fischetti and Salazar 2001 solve all at once). Cells that in the end nobody needs are
printed again. It is a heuristic for the number of cells, not for safety: the pattern is judged as the audit judges it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.disclosure.tables.attacker import Polytope
from privrelease.disclosure.tables.judgement import known_of, weaknesses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.tables.judgement import ProtectedTable, Weakness

__all__ = ["suppressed_cells"]

_MOST_TRIED = 60
_ALREADY = 1e-4
#: A change this near to the cheapest is cheap enough.
_NEAR = 0.1


def suppressed_cells(table: ProtectedTable) -> NDArray[np.bool_]:
    """Return the cells to suppress, (n,) bool: the unsafe ones and those that protect them.

    Where nothing can protect them the pattern still has weaknesses; the caller judges it.

    >>> from privrelease.disclosure.tables.layout import Layout
    >>> from privrelease.disclosure.tables.judgement import ProtectedTable
    >>> from privrelease.disclosure.tables.rules import CellRules
    >>> counts = np.array([17, 4, 3, 24])
    >>> suppressed_cells(ProtectedTable(Layout((3,), margins=True), CellRules(10), counts, counts)).tolist()
    [True, True, True, False]
    """
    primary = np.logical_or.reduce(list(table.primaries().values()))
    suppressed = primary.copy()
    for _ in range(table.layout.size):
        before = int(suppressed.sum())
        for weakness in list(weaknesses(table, suppressed)):
            if _still(table, suppressed, weakness):
                suppressed |= _protection(table, suppressed, weakness)
        if int(suppressed.sum()) == before:
            break
    return _without_needless(table, suppressed, primary)


def _still(table: ProtectedTable, suppressed: NDArray[np.bool_], weak: Weakness) -> bool:
    known = known_of(table, weak.figure, suppressed, table.primaries()["min_count"])
    polytope = Polytope(table.layout.relations, known, unimodular=table.layout.unimodular)
    values = table.values(weak.figure)
    low, high = polytope.interval(weak.cells, {cell: float(values[cell]) for cell in weak.held})
    true = float(values[list(weak.cells)].sum())
    slack = min(0.5, 1e-6 * polytope.scale)
    return high - low < weak.width - slack or high < true + weak.upper - slack


def _protection(table: ProtectedTable, suppressed: NDArray[np.bool_], weak: Weakness) -> NDArray[np.bool_]:
    """Return the cells that a cheapest change touches; every cell with somebody in it where there is no such change.

    First a change in fractions, which is quick and mostly whole; where it touches nothing new, one in whole numbers.
    """
    for whole in (False, True):
        found = _cheapest(table, suppressed, weak, whole=whole)
        if found is not None and (found & ~suppressed).any():
            return found
    return table.contributors > 0


def _cheapest(table: ProtectedTable, suppressed: NDArray[np.bool_], weak: Weakness, *, whole: bool) -> NDArray[np.bool_] | None:
    far = max(weak.width, weak.upper)
    ways = [[far]] if weak.upper else [[far], [-far]]
    ways += [[up, up - weak.width] for up in _splits(weak)]
    best: tuple[float, NDArray[np.bool_]] | None = None
    for number, way in enumerate(ways):
        if number >= 2 and best is not None:
            break
        found = [_change(table, suppressed, weak, amount, whole=whole) for amount in way if amount]
        if any(one is None for one in found):
            continue
        cost = sum(one[0] for one in found if one is not None)
        if best is None or cost < best[0]:
            best = cost, np.logical_or.reduce([one[1] for one in found if one is not None])
    return None if best is None else best[1]


def _splits(weak: Weakness) -> list[int]:
    """Some ways to reach the width partly above, partly below."""
    if weak.width < 2:
        return []
    steps = max(1, weak.width // 8)
    return [up for up in range(weak.width - 1, 0, -steps) if up >= weak.upper]


def _change(
    table: ProtectedTable, suppressed: NDArray[np.bool_], weak: Weakness, amount: int, *, whole: bool
) -> tuple[float, NDArray[np.bool_]] | None:
    """Return cost and cells of the cheapest change that moves the weak sum by ``amount``; None where there is none."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack, vstack

    every = suppressed | (table.contributors > 0)
    known = known_of(table, weak.figure, every, table.primaries()["min_count"])
    values = table.values(weak.figure).astype(np.float64)
    up, down = np.maximum(known.high - values, 0), np.maximum(values - known.low, 0)
    up[~every] = down[~every] = 0
    up[list(weak.held)] = down[list(weak.held)] = 0
    scale = 1.0 if known.integral else max(1.0, float(values.max(initial=1)))
    price = np.where(suppressed, _ALREADY, np.maximum(table.contributors, 1)).astype(np.float64)
    size = table.layout.size
    relations = table.layout.relations
    entries = [(row, cell, sign) for row, one in enumerate(relations) for cell, sign in _terms(one.total, one.parts)]
    rows, cells, signs = (np.array(column) for column in zip(*entries, strict=True)) if entries else (np.zeros(0, int),) * 3
    matrix: Any = csr_array((signs, (rows, cells)), shape=(len(relations), size))
    target = np.zeros((1, size))
    target[0, list(weak.cells)] = 1
    matrix = vstack([matrix, csr_array(target)])
    right = np.append(np.zeros(len(relations)), amount / scale)
    found = milp(
        np.concatenate([price, price]),
        constraints=[LinearConstraint(hstack([matrix, -matrix]), right, right)],
        bounds=Bounds(np.zeros(2 * size), np.concatenate([up, down]) / scale),
        integrality=int(known.integral and whole),
        options={"mip_rel_gap": _NEAR},
    )
    if found.status != 0:
        return None
    moved = np.abs(found.x[:size] - found.x[size:]) > 1e-9
    return float(price[moved & ~suppressed].sum()), moved | suppressed


def _terms(total: int, parts: tuple[int, ...]) -> list[tuple[int, float]]:
    return [(total, -1.0), *((part, 1.0) for part in parts)]


def _without_needless(table: ProtectedTable, suppressed: NDArray[np.bool_], primary: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Print again, the fullest first, what the others hold without; only where there are few, since each is judged."""
    further = np.flatnonzero(suppressed & ~primary)
    if suppressed.sum() > _MOST_TRIED or any(True for _ in weaknesses(table, suppressed)):
        return suppressed
    for cell in sorted(map(int, further), key=lambda cell: (-int(table.contributors[cell]), cell)):
        tried = suppressed.copy()
        tried[cell] = False
        if not any(True for _ in weaknesses(table, tried)):
            suppressed = tried
    return suppressed
