"""Findings of several tables of two states of the data together: differences of cells that no table prints, or that one of them suppresses.

A municipality's count is suppressed in both years, and so is that of its neighbour. The county's count grew by nine, all other municipalities in it
by eight: one person joined the two. So what the tables of each state print is followed to what adds up, and a sum of cells that is known in both
states is a difference of its own. Cells are those of :mod:`privrelease.disclosure.tables.linked`, which keep their names from one state to the next
where a municipality moves: it then has a cell in either county, one of them empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from privrelease.disclosure.tables.linked import TooManyCellsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.absent_cells import LinkedCell, NumberedCells
    from privrelease.disclosure.tables.linked import Linked

__all__ = ["MOST_UNKNOWN", "Combination", "known_differences", "known_from_elsewhere"]

#: Cells whose sum, each times its factor, is known.
Combination: TypeAlias = "Mapping[LinkedCell, int]"

#: Cells that hang together by relations, and are open in some state, up to which they are solved for.
MOST_UNKNOWN = 800

#: Pairs of solved sums up to which they are added and subtracted.
_MOST_PAIRS = 4000

_NEAR = 1e-6

_Sums: TypeAlias = "dict[tuple[LinkedCell, frozenset[str]], frozenset[LinkedCell]]"


def known_differences(
    states: tuple[Linked, Linked], printed: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> Iterator[tuple[Combination, float]]:
    """Yield sums of cells that are known in both states, and what they differ by; cells that are printed in both are left out. ``printed``: a figure of the
    cells by their number, in either state; NaN where it is not printed.

    Candidates are cells, what sums leave in one of the states or in both, and what follows from several of them. Raises TooManyCellsError.
    """
    rows = _relations(states)
    known = [_known(one, rows, figures) for one, figures in zip(states, printed, strict=True)]
    before, after = (_Open(rows, figures) for figures in known)
    differ = {cell: known[1][cell] - known[0][cell] for cell in known[0] if cell in known[1]}
    numbered = [_numbered(one) for one in states]
    seen: set[frozenset[tuple[LinkedCell, int]]] = set()
    for source in (before, after, _Open(rows, differ)):
        for combination in source.candidates():
            key = frozenset(combination.items())
            if key in seen:
                continue
            seen.add(key)
            values = [one.value(combination) for one in (before, after)]
            if values[0] is None or values[1] is None:
                continue
            if len(combination) == 1:
                numbers = [one.find(next(iter(combination))) for one in numbered]
                if not any(
                    number is None or np.isnan(figures[number]) for number, figures in zip(numbers, printed, strict=True)
                ):
                    continue
            yield combination, values[1] - values[0]


def known_from_elsewhere(
    states: tuple[Linked, Linked],
    printed: tuple[NDArray[np.float64], NDArray[np.float64]],
    state: Literal[0, 1],
    unchanged: Callable[[Combination], bool],
) -> Iterator[Combination]:
    """Yield sums of cells that become known in one state by what the other gives of cells in which nobody changed. Raises TooManyCellsError."""
    rows = _relations(states)
    known = [_known(one, rows, figures) for one, figures in zip(states, printed, strict=True)]
    there, own = _Open(rows, known[1 - state]), _Open(rows, known[state])
    cells = dict(known[state])
    sums: list[tuple[Combination, float]] = []
    for combination in there.candidates():
        value = there.value(combination)
        if value is not None and own.value(combination) is None and unchanged(combination):
            if len(combination) == 1:
                cells[next(iter(combination))] = value
            else:
                sums.append((combination, value))
    if len(cells) == len(known[state]) and not sums:
        return
    with_both = _Open(rows, _closed(rows, cells), sums)
    for combination in with_both.candidates():
        if own.value(combination) is None and with_both.value(combination) is not None:
            yield combination


def _relations(states: tuple[Linked, Linked]) -> list[Combination]:
    """The relations of both states, as what adds up to nothing: a cell that there is in one of them alone is empty in the other."""
    first, second = (_sums(one) for one in states)
    common = {key: first[key] | second[key] for key in first if key in second}
    return [dict.fromkeys(sorted(parts, key=sorted), 1) | {total: -1} for (total, _), parts in common.items()]


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


def _known(one: Linked, rows: Sequence[Combination], printed: NDArray[np.float64]) -> dict[LinkedCell, float]:
    """The figures of the cells that are known in one state: printed, empty, or what is left of a sum of such cells."""
    numbered, empty = _numbered(one), one.table.known_empty
    found: dict[LinkedCell, float] = {}
    for cell in dict.fromkeys(cell for row in rows for cell in row):
        number = numbered.find(cell)
        if number is not None and not np.isnan(printed[number]):
            found[cell] = float(printed[number])
        elif numbered.is_empty(cell) or (number is not None and empty[number]):
            found[cell] = 0.0
    return _closed(rows, found)


def _closed(rows: Sequence[Combination], known: Mapping[LinkedCell, float]) -> dict[LinkedCell, float]:
    """Add the cells that are the last of a sum."""
    found, grown = dict(known), True
    while grown:
        grown = False
        for row in rows:
            left = [cell for cell in row if cell not in found]
            if len(left) == 1:
                rest = sum(factor * found[cell] for cell, factor in row.items() if cell in found)
                found[left[0]] = -row[left[0]] * rest
                grown = True
    return found


class _Open:
    """Cells that are known, ``known``, and the relations of the others, which fall into parts without a cell in common."""

    def __init__(
        self,
        rows: Sequence[Combination],
        known: Mapping[LinkedCell, float],
        sums: Sequence[tuple[Combination, float]] = (),
    ) -> None:
        self.known = known
        self.rests: list[Combination] = []
        open_: list[tuple[Combination, float]] = []
        for row, value in (*((row, 0.0) for row in rows), *sums):
            left = {cell: factor for cell, factor in row.items() if cell not in known}
            if left:
                open_.append((left, value - sum(factor * known[cell] for cell, factor in row.items() if cell in known)))
                if all(factor > 0 for factor in left.values()):
                    self.rests.append(left)
        self.parts = [_Part(rows) for rows in _apart(open_)]
        self.part_of = {cell: part for part in self.parts for cell in part.place}

    def value(self, combination: Combination) -> float | None:
        """Return what a sum of cells is; None where that is not known."""
        left = {cell: factor for cell, factor in combination.items() if cell not in self.known}
        found = sum(factor * self.known[cell] for cell, factor in combination.items() if cell in self.known)
        by_part: dict[int, dict[LinkedCell, int]] = {}
        for cell, factor in left.items():
            if cell not in self.part_of:
                return None
            by_part.setdefault(id(self.part_of[cell]), {})[cell] = factor
        for some in by_part.values():
            value = self.part_of[next(iter(some))].value(some)
            if value is None:
                return None
            found += value
        return float(found)

    def candidates(self) -> Iterator[Combination]:
        """Yield the cells that are known, what sums leave, and what follows from several of them."""
        yield from ({cell: 1} for cell in self.known)
        yield from self.rests
        for part in self.parts:
            yield from part.combined()


class _Part:
    """Relations that hang together, with what the cells of each add up to."""

    def __init__(self, rows: Sequence[tuple[Combination, float]]) -> None:
        self.cells = list(dict.fromkeys(cell for row, _ in rows for cell in row))
        if len(self.cells) > MOST_UNKNOWN:
            message = f"{len(self.cells)} open cells hang together, more than {MOST_UNKNOWN}"
            raise TooManyCellsError(message)
        self.place = {cell: i for i, cell in enumerate(self.cells)}
        matrix = np.zeros((len(rows), len(self.cells) + 1))
        for i, (row, sum_) in enumerate(rows):
            matrix[i, -1] = sum_
            for cell, factor in row.items():
                matrix[i, self.place[cell]] = factor
        self.reduced = _reduced(matrix)
        self.pivots = [int(np.flatnonzero(np.abs(line[:-1]) > _NEAR)[0]) for line in self.reduced]

    def value(self, combination: Combination) -> float | None:
        """Return what a sum of open cells is; None where it does not follow."""
        line = np.zeros(len(self.cells) + 1)
        for cell, factor in combination.items():
            line[self.place[cell]] = factor
        line -= line[self.pivots] @ self.reduced
        return None if np.abs(line[:-1]).max() > _NEAR else float(-line[-1])

    def combined(self) -> Iterator[Combination]:
        """Yield the sums of cells in reduced form, and of any two of it that have a cell in common."""
        lines = self.reduced[:, :-1]
        touched = np.abs(lines) > _NEAR
        pairs = np.argwhere(np.triu(touched.astype(float) @ touched.T > 0, 1))[:_MOST_PAIRS]
        for some in (lines, lines[pairs[:, 0]] - lines[pairs[:, 1]], lines[pairs[:, 0]] + lines[pairs[:, 1]]):
            factors = np.rint(some).astype(np.int64)
            whole = (np.abs(some - factors) < _NEAR).all(axis=1)
            one_sign = (factors >= 0).all(axis=1) | (factors <= 0).all(axis=1)
            for line in factors[whole & one_sign & factors.any(axis=1)]:
                yield {self.cells[i]: abs(int(line[i])) for i in np.flatnonzero(line)}


def _apart(rows: Sequence[tuple[Combination, float]]) -> list[list[tuple[Combination, float]]]:
    """Divide relations into those that hang together by cells."""
    of_cell: dict[LinkedCell, int] = {}
    parent = list(range(len(rows)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, (row, _) in enumerate(rows):
        for cell in row:
            parent[root(i)] = root(of_cell.setdefault(cell, i))
    found: dict[int, list[tuple[Combination, float]]] = {}
    for i, one in enumerate(rows):
        found.setdefault(root(i), []).append(one)
    return list(found.values())


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
