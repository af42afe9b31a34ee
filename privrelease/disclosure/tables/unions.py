"""Unions of suppressed cells, of any number, whose sum follows from what is printed and that no rule would let be published as a cell.

What follows from the totals are the combinations of their equations. They are brought into reduced form over the suppressed cells that are no
totals; equations that share no cell are looked at apart, for a union that breaks a rule has such a part: if each of two groups without a cell in
common has enough contributors and is not dominated, so is their union, whoever is in both (contributions are not negative where dominance is judged). Where equations
overlap, a mixed integer program seeks the union that breaks the rule most: which cells (their indicator is a combination of equations), and
which persons are its largest contributors (with what they have in all of its cells).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.figures import ProtectedTable
    from privrelease.disclosure.tables.layout import Relation

__all__ = ["MOST_CELLS", "unsafe_unions"]

#: Cells in one set of overlapping equations beyond which only pairs and threes of cells are looked at.
MOST_CELLS: Final = 120
#: Contributions of persons in several cells that are followed; beyond, only those among the largest of a cell.
_MOST_ENTRIES: Final = 200
_MOST_BRANCHES: Final = 200
_NEAR: Final = 1e-9
_BROKEN: Final = 1e-7


def unsafe_unions(
    table: ProtectedTable, figure: int, cells: Sequence[int], known: NDArray[np.bool_]
) -> Iterator[tuple[int, ...] | None]:
    """Yield unions of ``cells`` whose figure follows from the relations, the figures ``known`` (n,) being known, that may break a rule; and None for
    a set of equations that is too large to be looked at.
    """
    for part in _parts(table.layout.relations, cells, known):
        if len(part.rows) == 1:
            if part.is_union(part.rows[0]):
                yield tuple(part.cells)
        elif len(part.cells) > MOST_CELLS:
            yield None
        else:
            yield from _worst(table, figure, part)


@dataclass(frozen=True, eq=False, slots=True)
class _Part:
    """Equations over ``cells``, (r, len(cells)), in reduced form: what they give of them is known."""

    cells: list[int]
    rows: NDArray[np.float64]

    def is_union(self, row: NDArray[np.float64]) -> bool:
        """Return True if an equation gives the sum of its cells, each once."""
        return bool((np.abs(np.abs(row) - 1) < _NEAR).all() and (row > 0).all())


def _parts(relations: Sequence[Relation], cells: Sequence[int], known: NDArray[np.bool_]) -> Iterator[_Part]:
    """The equations over ``cells`` alone, those that overlap together."""
    lines = [one for one in relations if not known[list(one.cells)].all()]
    place = {cell: i for i, cell in enumerate(cells)}
    others = sorted({cell for line in lines for cell in line.cells if not known[cell] and cell not in place})
    place |= {cell: len(cells) + i for i, cell in enumerate(others)}
    matrix = np.zeros((len(lines), len(place)))
    for row, line in enumerate(lines):
        for cell, sign in ((line.total, -1.0), *((part, 1.0) for part in line.parts)):
            if not known[cell]:
                matrix[row, place[cell]] += sign
    reduced = _reduced(matrix, [*range(len(cells), len(place)), *range(len(cells))])
    rows = reduced[(np.abs(reduced[:, len(cells) :]) < _NEAR).all(axis=1)][:, : len(cells)]
    left = list(range(len(rows)))
    while left:
        mine = [left.pop(0)]
        support = np.abs(rows[mine[0]]) > _NEAR
        grown = True
        while grown:
            near = [row for row in left if (support & (np.abs(rows[row]) > _NEAR)).any()]
            grown = bool(near)
            mine += near
            left = [row for row in left if row not in near]
            for row in near:
                support = support | (np.abs(rows[row]) > _NEAR)
        places = np.flatnonzero(support)
        yield _Part([cells[i] for i in places.tolist()], rows[mine][:, places])


def _reduced(matrix: NDArray[np.float64], order: Sequence[int]) -> NDArray[np.float64]:
    """Return the reduced echelon form, pivots sought in the ``order`` of columns, without rows of nothing."""
    found = matrix.copy()
    pivot = 0
    for column in order:
        if pivot == len(found):
            break
        best = pivot + int(np.abs(found[pivot:, column]).argmax())
        if abs(found[best, column]) < _NEAR:
            continue
        found[[pivot, best]] = found[[best, pivot]]
        found[pivot] /= found[pivot, column]
        others = found[:, column].copy()
        others[pivot] = 0
        found -= np.outer(others, found[pivot])
        pivot += 1
    return found[:pivot]


# ---------------------------------------------------------------------------------------------------------------- the worst union


def _worst(table: ProtectedTable, figure: int, part: _Part) -> Iterator[tuple[int, ...]]:
    """The union that breaks each rule most, where one does."""
    rules = table.rules
    persons = table.persons(figure)[part.cells]
    yield from _fewest(table, part, persons)
    if figure < 0 or table.sums[figure].whole or table.sums[figure].weights or table.sums[figure].signed:
        return
    values = table.sums[figure].magnitude.values[part.cells]
    if not rules.zero_sums_shown and (values == 0).any():
        yield from _seek(part, np.zeros(len(part.cells)), values == 0, at_least_one=True)
    shares = _shares(table, figure, part.cells) if rules.largest else []
    if rules.dominance is not None:
        yield from _largest(part, values, shares, [(rules.dominance[0], Fraction(1))], rules.dominance[1])
    if rules.p_percent is not None:
        yield from _largest(part, values, shares, [(1, 1 + rules.p_percent), (1, Fraction(1))], Fraction(1))


def _fewest(table: ProtectedTable, part: _Part, persons: NDArray[np.int64]) -> Iterator[tuple[int, ...]]:
    """The union of fewest contributors; of it, no cell has as many as the minimum."""
    small = (persons > 0) & (persons < table.rules.min_count)
    if not small.any():
        return
    yield from _seek(part, persons.astype(np.float64), small, at_least_one=True)


@dataclass(frozen=True, slots=True)
class _Share:
    """The share of a person: the places of the cells, and the contribution to each."""

    places: tuple[int, ...]
    values: tuple[int, ...]


def _shares(table: ProtectedTable, figure: int, cells: Sequence[int]) -> list[_Share]:
    """The persons that may be among the largest of a union: those with several rows, and of the others the largest of each cell."""
    one = table.sums[figure]
    single: list[_Share] = []
    several: dict[int, dict[int, int]] = {}
    top: set[int] = set()
    for place, cell in enumerate(cells):
        listed = [int(value) for value in one.magnitude.largest[cell]]
        if table.holders is not None and table.most != 1:
            mine = table.holders.of([cell])
            values = table.holders.entries.sums[one.number, mine].tolist()
            who = table.holders.entries.persons[mine].tolist()
            for value, person in sorted(zip(values, who, strict=True), reverse=True):
                several.setdefault(person, {})[place] = value
                if value in listed:
                    listed.remove(value)
                    top.add(person)
        single += [_Share((place,), (value,)) for value in listed if value > 0]
    if sum(map(len, several.values())) > _MOST_ENTRIES:
        several = {person: parts for person, parts in several.items() if person in top}
    return [*single, *(_Share(tuple(parts), tuple(parts.values())) for parts in several.values())]


def _largest(
    part: _Part, values: NDArray[np.int64], shares: Sequence[_Share], roles: Sequence[tuple[int, Fraction]], of: Fraction
) -> Iterator[tuple[int, ...]]:
    """The union in which the contributions of some persons exceed the share ``of`` its sum most. ``roles``: how many persons count how often."""
    scale = float(max(1, values.max(initial=1)))
    width = len(part.cells)
    cost = [float(of) * float(value) / scale for value in values]
    rows: list[tuple[dict[int, float], float]] = []  # sums of variables that are at most a number
    for many, factor in roles:
        chosen: dict[int, float] = {}
        for share in shares:
            person = width + len(cost) - width
            cost.append(0.0)
            chosen[person] = 1.0
            for place, value in zip(share.places, share.values, strict=True):
                both = len(cost)
                cost.append(-float(factor) * value / scale)
                rows += [({both: 1.0, person: -1.0}, 0.0), ({both: 1.0, place: -1.0}, 0.0)]
        rows.append((chosen, float(many)))
    if len(roles) > 1:  # no person in two roles
        each = len(cost) - width
        starts = [width, width + each // len(roles)]
        for first, second in zip(_persons(shares, starts[0]), _persons(shares, starts[1]), strict=True):
            rows.append(({first: 1.0, second: 1.0}, 1.0))
    yield from _seek(part, np.array(cost), np.ones(width, np.bool_), more=rows)


def _persons(shares: Sequence[_Share], start: int) -> Iterator[int]:
    """The variables of the persons of a role."""
    for share in shares:
        yield start
        start += 1 + len(share.places)


def _seek(
    part: _Part,
    cost: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    *,
    more: Sequence[tuple[dict[int, float], float]] = (),
    at_least_one: bool = False,
) -> Iterator[tuple[int, ...]]:
    """The union of least cost, below 0 unless ``at_least_one`` cell is asked for. ``cost``: of each cell, then of further variables."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, hstack

    width, size, free = len(part.cells), len(cost), len(part.rows)
    gap = size - width
    equal = hstack([-np.eye(width), coo_array((width, gap)), part.rows.T]).tocsr()
    constraints = [LinearConstraint(equal, 0, 0)]
    if more:
        entries = [(row, column, sign) for row, (line, _) in enumerate(more) for column, sign in line.items()]
        at, columns, signs = zip(*entries, strict=True)
        limits = coo_array((signs, (at, columns)), shape=(len(more), size + free)).tocsr()
        constraints.append(LinearConstraint(limits, -np.inf, [most for _, most in more]))
    if at_least_one:
        constraints.append(LinearConstraint(np.r_[np.ones(width), np.zeros(gap + free)][None, :], 1, np.inf))
    low = np.r_[np.zeros(size), np.full(free, -np.inf)]
    high = np.r_[allowed.astype(np.float64), np.ones(gap), np.full(free, np.inf)]
    found = milp(
        np.r_[cost, np.zeros(free)],
        constraints=constraints,
        bounds=Bounds(low, high),
        integrality=np.r_[np.ones(size), np.zeros(free)],
        options={"node_limit": _MOST_BRANCHES},
    )
    if found.x is not None and (at_least_one or found.fun < -_BROKEN):
        yield tuple(cell for cell, taken in zip(part.cells, found.x[:width] > 0.5, strict=True) if taken)
