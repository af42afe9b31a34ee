"""Unions of suppressed cells, of any number, whose sum follows from what is printed and that no rule would let be published as a cell.

What follows from the totals are the combinations of their equations. They are brought into reduced form over the suppressed cells that are no
totals; equations that share no cell are looked at apart, for a union that breaks a rule has such a part: if each of two groups without a cell in
common has enough contributors and is not dominated, so is their union, whoever is in both (contributions are not negative where dominance is judged). Where equations
overlap, a mixed integer program seeks the union that breaks the rule most: which cells (their indicator is a combination of equations), and
which persons are its largest contributors (with what they have in all of its cells).

A union of too few has no cell that has enough, so for the minimum count the others are eliminated first, which mostly leaves equations that
share no cell. Where some still overlap, the program counts persons, not cells: whoever is in several of its cells counts once.
That search has no limit, so that where it finds nothing there is nothing.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.disclosure.tables.contributor_attack import parts_within
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.figures import ProtectedTable
    from privrelease.disclosure.tables.layout import Relation

__all__ = ["MOST_CELLS", "unsafe_unions", "unsafe_unions_of_contributors"]

#: Cells in one set of overlapping equations beyond which only pairs and threes of cells are looked at.
MOST_CELLS: Final = 120
#: Contributions of persons in several cells that are followed; beyond, only those among the largest of a cell.
_MOST_ENTRIES: Final = 200
_MOST_BRANCHES: Final = 200
_NEAR: Final = 1e-9
_BROKEN: Final = 1e-7
#: The status of a program that has no solution.
_NONE: Final = 2

#: A sum of variables, by number, and what it is at most.
_AtMost = tuple[dict[int, float], float]


def unsafe_unions(
    table: ProtectedTable, figure: int, cells: Sequence[int], known: NDArray[np.bool_]
) -> Iterator[tuple[int, ...] | None]:
    """Yield unions of ``cells`` whose figure follows from the relations, the figures ``known`` (n,) being known, that may break a rule; and None for
    a set of equations that is too large to be looked at.
    """
    for part in _parts(table.layout.relations, cells, known):
        yield from _unsafe(table, figure, part)


def unsafe_unions_of_contributors(
    table: ProtectedTable, figure: int, cells: Sequence[int], known: NDArray[np.bool_], alone: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...] | None, tuple[int, ...]]]:
    """Yield as :func:`unsafe_unions` what follows for somebody who knows some cells in addition, with those of them that count. ``alone``: for each
    contributor, the cells that they fill alone. What follows without these is left out.
    """
    for part in _parts(table.layout.relations, cells, known):
        mine = (tuple(cell for cell in one if cell in part.cells) for one in alone)
        for held in dict.fromkeys(one for one in mine if one):
            for more in _left(part, held):
                yield from ((found, held) for found in dict.fromkeys(_unsafe(table, figure, more)))


def _unsafe(table: ProtectedTable, figure: int, part: _Part) -> Iterator[tuple[int, ...] | None]:
    """Unions of the cells of a part that may break a rule; None where it is too large."""
    if len(part.rows) == 1:
        if part.is_union(part.rows[0]):
            yield tuple(part.cells)
        return
    if len(part.cells) > MOST_CELLS:
        yield None
    yield from _fewest(table, figure, part)
    if len(part.cells) <= MOST_CELLS:
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
    yield from _apart(cells, rows)


def _apart(cells: Sequence[int], rows: NDArray[np.float64]) -> Iterator[_Part]:
    """Equations in reduced form over ``cells``, those that overlap together."""
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


def _left(part: _Part, held: Sequence[int]) -> Iterator[_Part]:
    """The equations of a part over the cells that are left where ``held`` ones are known, those that overlap together; those that needed none of these
    are left out.
    """
    theirs = np.isin(part.cells, held)
    rows = part.rows.copy()
    ones = (np.abs(rows) > _NEAR).sum(axis=0) == 1
    for row in np.flatnonzero(np.abs(rows[:, theirs]).max(axis=1) > _NEAR).tolist():
        if (ones & ~theirs & (np.abs(rows[row] - 1) < _NEAR)).any():
            continue  # another cell is in this equation alone
        best = int((np.abs(rows[row]) * ~theirs).argmax())
        if theirs[best] or abs(rows[row, best]) < _NEAR:
            rows[row] = 0
            continue
        rows[row] /= rows[row, best]
        _cleared(rows, row, best)
        ones[best] = True
    rows = rows[np.abs(rows[:, ~theirs]).max(axis=1, initial=0) > _NEAR]
    needed = np.abs(rows[:, theirs]).max(axis=1) > _NEAR
    cells = [cell for cell, mine in zip(part.cells, theirs.tolist(), strict=True) if not mine]
    for more in _apart(cells, rows[:, ~theirs]):
        place = np.isin(cells, more.cells)
        if (needed & (np.abs(rows[:, ~theirs][:, place]) > _NEAR).any(axis=1)).any():
            yield more


def _within(part: _Part, allowed: NDArray[np.bool_]) -> Iterator[_Part]:
    """Return what the equations of a part give of the ``allowed`` cells alone, those that overlap together."""
    others, mine = np.flatnonzero(~allowed), np.flatnonzero(allowed)
    reduced = _reduced(part.rows, [*others.tolist(), *mine.tolist()])
    rows = reduced[(np.abs(reduced[:, others]) < _NEAR).all(axis=1)][:, mine]
    yield from _apart([part.cells[i] for i in mine.tolist()], rows)


def _cleared(rows: NDArray[np.float64], row: int, column: int) -> None:
    """Take ``row``, which is 1 in ``column``, from every other one as often as that has the column: few have it at all."""
    theirs = np.flatnonzero(rows[:, column])
    theirs = theirs[theirs != row]
    if theirs.size:
        rows[theirs] -= rows[theirs, column, None] * rows[row]


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
        _cleared(found, pivot, column)
        pivot += 1
    return found[:pivot]


# ---------------------------------------------------------------------------------------------------------------- the worst union


def _worst(table: ProtectedTable, figure: int, part: _Part) -> Iterator[tuple[int, ...]]:
    """The union that breaks each rule of sums most, where one does."""
    rules = table.rules
    if figure < 0 or table.sums[figure].whole or table.sums[figure].weights or table.sums[figure].signed:
        return
    values = table.sums[figure].magnitude.values[part.cells]
    if not rules.zero_sums_shown and (values == 0).any():
        for nothing in _within(part, values == 0):
            yield from _any(nothing, np.zeros(len(nothing.cells)), _telling(table, figure, nothing), _disjoint(table, nothing))
    if not rules.largest:
        return
    shares = _shares(table, figure, part.cells)
    if rules.dominance is not None:
        yield from _largest(table, part, values, shares, [(rules.dominance[0], Fraction(1))], rules.dominance[1])
    if rules.p_percent is not None:
        yield from _largest(table, part, values, shares, [(1, 1 + rules.p_percent), (1, Fraction(1))], Fraction(1))


def _telling(table: ProtectedTable, figure: int, part: _Part) -> NDArray[np.bool_]:
    """The cells of which a union must have one to say something of somebody; a sum of no one may be printed where zeros may."""
    return (table.persons(figure)[part.cells] > 0) | (not table.rules.zeros_shown)


def _disjoint(table: ProtectedTable, part: _Part) -> list[_AtMost]:
    """That no two cells of a union are made of the same: their sum would count somebody twice."""
    over: dict[int, list[int]] = {}
    for place, parts in enumerate(parts_within(table.layout.relations, part.cells).values()):
        for one in parts:
            if table.contributors[one]:
                over.setdefault(one, []).append(place)
    return [(dict.fromkeys(places, 1.0), 1.0) for places in {tuple(one) for one in over.values() if len(one) > 1}]


def _fewest(table: ProtectedTable, figure: int, part: _Part) -> Iterator[tuple[int, ...] | None]:
    """The union of fewest contributors, each counted once, where they are fewer than the minimum; no cell of it has as many."""
    persons = table.persons(figure)
    for few in _within(part, persons[part.cells] < table.rules.min_count):
        if len(few.cells) > MOST_CELLS:
            if len(few.cells) == len(part.cells):  # else None was said of the part
                yield None
            continue
        cost, limits = _distinct(table, figure, few)
        total = {place: float(many) for place, many in enumerate(cost.tolist()) if many}
        enough = (total, table.rules.min_count - 1.0)
        yield from _any(
            few, cost, _telling(table, figure, few), [*limits, *([enough] if total else []), *_disjoint(table, few)]
        )


def _distinct(table: ProtectedTable, figure: int, part: _Part) -> tuple[NDArray[np.float64], list[_AtMost]]:
    """Return how many persons are in each cell and no other, then how many are in the same several cells, with what makes these be there once a cell is.

    As :meth:`ProtectedTable.together` counts them: nothing is told of those that may be in several cells where it is not known who is.
    """
    persons = table.persons(figure)[part.cells].astype(np.float64)
    width = len(part.cells)
    if table.most == 1:
        return persons, []
    if table.holders is None:
        return np.zeros(width), []
    entries = table.holders.entries
    one = None if figure < 0 else table.sums[figure]
    where: dict[int, list[int]] = {}
    for place, cell in enumerate(part.cells):
        mine = table.holders.of([cell])
        if one is not None and one.contributors is not None:
            mine = mine[entries.known[one.number, mine] > 0]
        for person in entries.persons[mine].tolist():
            where.setdefault(person, []).append(place)
    alike = Counter(tuple(places) for places in where.values() if len(places) > 1)
    limits: list[_AtMost] = []
    for number, (places, many) in enumerate(alike.items()):
        persons[list(places)] -= many
        limits += [({place: 1.0, width + number: -1.0}, 0.0) for place in places]
    return np.r_[persons, np.array(list(alike.values()), np.float64)], limits


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
    table: ProtectedTable,
    part: _Part,
    values: NDArray[np.int64],
    shares: Sequence[_Share],
    roles: Sequence[tuple[int, Fraction]],
    of: Fraction,
) -> Iterator[tuple[int, ...]]:
    """The union in which the contributions of some persons exceed the share ``of`` its sum most. ``roles``: how many persons count how often."""
    scale = float(max(1, values.max(initial=1)))
    width = len(part.cells)
    cost = [float(of) * float(value) / scale for value in values]
    rows = _disjoint(table, part)
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
    found = _seek(part, np.array(cost), rows, branches=_MOST_BRANCHES)
    if found is not None and found[1] < -_BROKEN:
        yield found[0]


def _persons(shares: Sequence[_Share], start: int) -> Iterator[int]:
    """The variables of the persons of a role."""
    for share in shares:
        yield start
        start += 1 + len(share.places)


def _any(
    part: _Part, cost: NDArray[np.float64], telling: NDArray[np.bool_], more: Sequence[_AtMost]
) -> Iterator[tuple[int, ...]]:
    """The union of least cost that has one of the ``telling`` cells (n,)."""
    if not telling.any():
        return
    if len(part.rows) == 1:
        if part.is_union(part.rows[0]):
            yield tuple(part.cells)
        return
    one = (dict.fromkeys(np.flatnonzero(telling).tolist(), -1.0), -1.0)
    found = _seek(part, cost, [one, *more])
    if found is not None:
        yield found[0]


def _seek(
    part: _Part, cost: NDArray[np.float64], more: Sequence[_AtMost], branches: int | None = None
) -> tuple[tuple[int, ...], float] | None:
    """The union of least cost, and this; None where there is none. ``cost``: of each cell, then of further variables. ``branches``: after which
    the search takes the best that it has.
    """
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
    found = milp(
        np.r_[cost, np.zeros(free)],
        constraints=constraints,
        bounds=Bounds(np.r_[np.zeros(size), np.full(free, -np.inf)], np.r_[np.ones(size), np.full(free, np.inf)]),
        integrality=np.r_[np.ones(size), np.zeros(free)],
        options={} if branches is None else {"node_limit": branches},
    )
    if found.x is None:
        if branches is None and found.status != _NONE:
            message = f"the search for unions of cells ended without an answer: {found.message}"
            raise RuntimeError(message)
        return None
    return tuple(cell for cell, taken in zip(part.cells, found.x[:width] > 0.5, strict=True) if taken), float(found.fun)
