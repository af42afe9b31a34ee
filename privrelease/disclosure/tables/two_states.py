"""What several tables of two states of the data give together: differences of cells that no table prints, or that one of them suppresses.

A municipality's count is suppressed in both years, and so is that of its neighbour. The county's count grew by nine, all other municipalities in it
by eight: one person joined the two. So what the tables of each state print is followed to what adds up, and a sum of cells that is known in both
states is a difference of its own. Cells are those of :mod:`privrelease.disclosure.tables.linked`, which keep their names from one state to the next
where a municipality moves: it then has a cell in either county, one of them empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.absent_cells import LinkedCell, NumberedCells
    from privrelease.disclosure.tables.linked import Linked

__all__ = ["MOST_UNKNOWN", "Combination", "known_differences"]

#: Cells whose sum, each times its factor, is known.
Combination: TypeAlias = "Mapping[LinkedCell, int]"

#: Cells that are open in some state up to which sums of several relations are looked for.
MOST_UNKNOWN = 600

_NEAR = 1e-6

_Sums: TypeAlias = "dict[tuple[LinkedCell, frozenset[str]], frozenset[LinkedCell]]"


def known_differences(
    states: tuple[Linked, Linked], printed: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> Iterator[tuple[Combination, float]]:
    """Yield sums of cells of which the difference between two states follows, and the difference: of cells that are known in both, those printed in both
    left out, and of what is left of a sum that is known. ``printed``: a figure of the cells by their number, in either state; NaN where it is not printed.
    """
    first, second = (_sums(one) for one in states)
    common = {key: first[key] | second[key] for key in first if key in second}
    known = [_known(one, common, figures) for one, figures in zip(states, printed, strict=True)]
    numbered = [_numbered(one) for one in states]
    cells = dict.fromkeys(cell for (total, _), parts in common.items() for cell in (total, *sorted(parts, key=sorted)))
    gaps = {cell: known[1][cell] - known[0][cell] for cell in cells if cell in known[0] and cell in known[1]}
    for cell, gap in gaps.items():
        numbers = [one.find(cell) for one in numbered]
        if any(number is None or np.isnan(figures[number]) for number, figures in zip(numbers, printed, strict=True)):
            yield {cell: 1}, gap
    rows = []
    for (total, _), parts in common.items():
        row = dict.fromkeys(sorted(parts, key=sorted), 1) | {total: -1}
        left = {cell: factor for cell, factor in row.items() if cell not in gaps}
        gap = -sum(factor * gaps[cell] for cell, factor in row.items() if cell in gaps)
        if left and total not in left:
            yield left, gap
        if left:
            rows.append((left, gap))
    yield from _combined(rows)


def _numbered(one: Linked) -> NumberedCells:
    assert one.numbered is not None  # of several tables
    return one.numbered


def _sums(one: Linked) -> _Sums:
    """The relations of a state, each by its total and what its parts say besides."""
    names = {number: cell for cell, number in _numbered(one).numbers.items()}
    found: _Sums = {}
    for relation in one.table.layout.relations:
        total, parts = names[relation.total], frozenset(names[part] for part in relation.parts)
        for sides in {frozenset(name for name, _ in part - total) for part in parts}:
            if sides:
                found[total, sides] = frozenset(part for part in parts if {name for name, _ in part - total} == sides)
    return found


def _known(one: Linked, common: _Sums, printed: NDArray[np.float64]) -> dict[LinkedCell, float]:
    """The figures of the cells of both states that are known in one: printed, empty, or what is left of a sum of such cells."""
    found: dict[LinkedCell, float] = {}
    numbered, empty = _numbered(one), one.table.known_empty
    for (total, _), parts in common.items():
        for cell in (total, *parts):
            number = numbered.find(cell)
            if number is not None and not np.isnan(printed[number]):
                found[cell] = float(printed[number])
            elif numbered.is_empty(cell) or (number is not None and empty[number]):
                found[cell] = 0.0
    grown = True
    while grown:
        grown = False
        for (total, _), parts in common.items():
            row = dict.fromkeys(parts, 1) | {total: -1}
            left = [cell for cell in row if cell not in found]
            if len(left) == 1:
                rest = sum(factor * found[cell] for cell, factor in row.items() if cell in found)
                found[left[0]] = -row[left[0]] * rest
                grown = True
    return found


def _combined(rows: Sequence[tuple[Combination, float]]) -> Iterator[tuple[Combination, float]]:
    """Yield the sums of cells that follow from several relations: of their reduced form, and of any two of it that have a cell in common."""
    cells = list(dict.fromkeys(cell for row, _ in rows for cell in row))
    if not rows or len(cells) > MOST_UNKNOWN or len(rows) > 4 * MOST_UNKNOWN:
        return
    place = {cell: i for i, cell in enumerate(cells)}
    matrix = np.zeros((len(rows), len(cells) + 1))
    for i, (row, gap) in enumerate(rows):
        matrix[i, -1] = gap
        for cell, factor in row.items():
            matrix[i, place[cell]] = factor
    reduced = _reduced(matrix)
    touched = np.abs(reduced[:, :-1])
    pairs = np.argwhere(np.triu(touched @ touched.T > 0, 1))
    found = [*reduced, *(reduced[a] - reduced[b] for a, b in pairs), *(reduced[a] + reduced[b] for a, b in pairs)]
    for line in found:
        factors = np.rint(line[:-1]).astype(np.int64)
        sign = np.sign(factors.sum())
        if sign and (sign * factors >= 0).all() and np.abs(line[:-1] - factors).max() < _NEAR:
            yield {cells[i]: int(sign * factors[i]) for i in np.flatnonzero(factors)}, float(sign * line[-1])


def _reduced(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The reduced row echelon form, without empty rows. The last column is what the others add up to."""
    matrix, row = matrix.copy(), 0
    for column in range(matrix.shape[1] - 1):
        if row == len(matrix):
            break
        best = row + int(np.abs(matrix[row:, column]).argmax())
        if abs(matrix[best, column]) < _NEAR:
            continue
        matrix[[row, best]] = matrix[[best, row]]
        matrix[row] /= matrix[row, column]
        others = np.arange(len(matrix)) != row
        matrix[others] -= np.outer(matrix[others, column], matrix[row])
        row += 1
    return matrix[:row]
