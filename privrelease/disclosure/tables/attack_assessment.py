"""Assessment of a pattern of suppressed cells: every unsafe figure stays uncertain enough, and no unsafe group of suppressed
cells is known.

A group: where a total and some of its parts are known, so is the sum of the others; that sum is a cell that no one asked for,
and must be as safe as a printed one (case t01), also where it takes several totals to work it out, as far as pairs and threes
of cells go. Who alone fills a suppressed cell of a sum knows its value, so the groups without that cell are judged too, of one total
and of several, and unsafe cells as contributors of others see them. A class: where all of a group share one key and the other keys are known to be
empty, whoever is in the group has that key.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.disclosure.tables.attacker import AtMost, Knowledge, Polytope
from privrelease.disclosure.tables.contributor_attack import finest_cells, insiders, known_to_insider, parts_within
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure, known_of, needs
from privrelease.disclosure.tables.implied_sums import known_sums, projection, where_known
from privrelease.disclosure.tables.layout import Relation
from privrelease.disclosure.tables.recoverable_cells import exchanges
from privrelease.disclosure.tables.rules import group_is_safe, shared_keys
from privrelease.disclosure.tables.unions import MOST_CELLS, unsafe_unions, unsafe_unions_of_contributors
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Attack", "ProtectedTable", "SumFigure", "Weakness", "between", "known_of", "needs", "weaknesses"]

_TOLERANCE = 1e-6
#: Which way unsafe cells are moved to see that contributors of others do not know them: all up, all down, and at random a few times.
_SIGNS = (np.ones(1), -np.ones(1))
_TRIES = 2


@dataclass(frozen=True, slots=True)
class Weakness:
    """A sum that an attacker learns too well: the sum of a figure over ``cells`` lies in [low, high].

    ``kind``: ``cell`` (an unsafe cell), ``group`` (a sum of suppressed cells) or ``class`` (``cells`` are known to be empty). ``width`` and
    ``upper``: how wide the interval, and how far above the true value its end should be, at least. ``held``: cells of which the attacker knows a
    part, being a contributor: all of it, if the only one.
    """

    kind: Literal["cell", "group", "class"]
    figure: int
    cells: tuple[int, ...]
    low: float
    high: float
    width: int
    upper: int = 0
    held: tuple[int, ...] = ()


class Attack:
    """The figures printed under a pattern, (n,) bool, and what follows from it: all figures of all cells together.

    ``changes``: by figure, differences (n,) of tables that may fit from the true one.
    """

    def __init__(
        self,
        table: ProtectedTable,
        suppressed: NDArray[np.bool_],
        changes: Mapping[int, Sequence[NDArray[np.float64]]] | None = None,
    ) -> None:
        self.table, self.suppressed = table, suppressed & ~table.silent
        size = table.layout.size
        every = range(-1, len(table.sums))
        truth = np.concatenate([table.values(figure) for figure in every]).astype(np.float64)
        known = [known_of(table, figure, suppressed) for figure in every]
        bounds = Knowledge(
            np.concatenate([one.low for one in known]),
            np.concatenate([one.high for one in known]),
            np.repeat([bool(one.integral) for one in known], size),
        )
        relations = [
            Relation(relation.total + start, tuple(part + start for part in relation.parts))
            for start in range(0, size * len(known), size)
            for relation in table.layout.relations
        ]
        relations += [
            Relation(self.place(figure, cell), tuple(self.place(part, cell) for part in parts))
            for figure, parts in table.adding_up
            for cell in range(size)
        ]
        self.polytope = Polytope(
            relations,
            bounds,
            unimodular=table.layout.unimodular and not table.sums,
            at_most=tuple(between(table)),
            truth=truth,
        )
        self._implied: tuple[tuple[int, Sequence[int]], NDArray[np.float64] | None] | None = None
        for figure, found in (changes or {}).items():
            start = self.place(figure, 0)
            for change in found:
                other = truth.copy()
                other[start : start + size] += change
                self.polytope.remember(other)

        self._exchange()

    def _exchange(self) -> None:
        """Remember exchanges between the cells of all columns, which no total shows. With sums they would have to fit those too."""
        table, atoms = self.table, self.table.layout.together
        if atoms is None or table.sums:
            return
        there = atoms >= 0
        counts, possible = np.where(there, table.rows[atoms], 0), there & ~table.known_empty[atoms]
        more, less = exchanges(counts, possible)
        silent = there & table.silent[atoms]
        cells = atoms[silent]
        self.polytope.highest[cells] = np.maximum(self.polytope.highest[cells], (counts + more)[silent])
        self.polytope.lowest[cells] = np.minimum(self.polytope.lowest[cells], (counts - less)[silent])

    def implied(self, figure: int, cells: Sequence[int]) -> NDArray[np.float64] | None:
        """Return the projection of ``cells`` of a figure on what follows from all that is known of it; computed once for the last that was asked."""
        if self._implied is None or self._implied[0] != (figure, cells):
            unknown = self.polytope.unknown[self.place(figure, 0) :][: self.table.layout.size]
            self._implied = (figure, cells), projection(self.table.layout.relations, unknown, cells)
        return self._implied[1]

    def slack(self, figure: int) -> float:
        """Return how far apart two values must be to be two."""
        whole = figure < 0 or self.table.sums[figure].whole
        return 0.5 if whole else max(1e-9, _TOLERANCE * self.polytope.scale)

    def place(self, figure: int, cell: int) -> int:
        """The number of a figure of a cell in the polytope."""
        return cell + (figure + 1) * self.table.layout.size

    def interval(self, figure: int, cells: Sequence[int], held: Mapping[int, float] | None = None) -> tuple[float, float]:
        """Return the least and the largest sum of a figure over ``cells``; ``held`` cells are known."""
        places = [self.place(figure, cell) for cell in cells]
        return self.polytope.interval(
            places, {self.place(figure, cell): (value, value) for cell, value in (held or {}).items()}
        )

    def narrowest(self, figure: int) -> float | None:
        """Return the width of the narrowest interval of an unsafe figure that is not printed; None where there is none."""
        primary = self.table.primaries()
        unsafe = np.logical_or.reduce(list(primary.values())) & (self.suppressed | self.table.silent)
        places = [self.place(figure, int(cell)) for cell in np.flatnonzero(unsafe)]
        seen = self.polytope.highest - self.polytope.lowest
        best: float | None = None
        for place in sorted(places, key=lambda place: (seen[place], place)):
            if best is None or self.polytope.highest[place] - self.polytope.lowest[place] < best:
                low, high = self.polytope.interval((place,))
                best = high - low if best is None else min(best, high - low)
        return best


def between(table: ProtectedTable) -> Iterator[AtMost]:
    """Yield what the rows of a cell say of its sums, and the other way round."""
    size = table.layout.size
    for number, one in enumerate(table.sums):
        for cell in range(size):
            place = cell + (number + 1) * size
            if one.highest is not None:
                yield AtMost(place, float(one.highest), cell)
            if one.lowest > 0:
                yield AtMost(cell, 1 / one.lowest, place)
            if one.signed:
                yield AtMost(place, float(-one.lowest), cell, sign=-1.0)


def weaknesses(table: ProtectedTable, suppressed: NDArray[np.bool_], attack: Attack | None = None) -> Iterator[Weakness]:
    """Yield every weakness of a pattern, (n,) bool; nothing where it holds. ``attack``: one on this pattern, to be asked more afterwards."""
    hidden = (suppressed | table.silent) & ~table.known_empty
    if not hidden.any() and not table.rules.looks_for_classes:
        return
    attack = Attack(table, suppressed) if attack is None else attack
    unsafe = np.logical_or.reduce(list(table.primaries().values())) & hidden
    for figure in table.figures:
        needed = {int(cell): needs(table, figure, int(cell)) for cell in np.flatnonzero(unsafe)}
        slack = attack.slack(figure)
        cells = np.flatnonzero(hidden | ~table.is_printed(figure))
        widths = np.array([max(needed.get(int(cell), (0, 0))[0], 2 * slack) for cell in cells])
        attack.polytope.explore(cells + attack.place(figure, 0), widths)
        apart: set[int] = set()
        for cell in map(int, (*cells[unsafe[cells]], *cells[~unsafe[cells]])):
            place = attack.place(figure, cell)
            width, upper = needed.get(cell, (0, 0))
            value = float(table.values(figure)[cell])
            wide, upto = max(width - min(slack, 0.5), slack * 1.01), value + upper - min(slack, 0.5)
            low, high = attack.polytope.enough(place, wide, upto if cell in needed else -np.inf)
            if high - low > slack:
                apart.add(cell)
            if cell in needed and (high - low < width - min(slack, 0.5) or high < upto):
                del needed[cell]
                yield Weakness("cell", figure, (cell,), low, high, width, upper)
        groups = [weak for relation in table.layout.relations for weak in _groups(attack, figure, relation, apart)]
        groups = groups or list(_unions(attack, figure, apart)) or list(_unions_of_contributors(attack, figure, apart))
        yield from groups
        if needed:
            said = {(weak.cells, weak.held) for weak in groups}
            yield from (weak for weak in _insiders(attack, figure, needed) if (weak.cells, weak.held) not in said)
    if table.rules.looks_for_classes:
        yield from _classes(attack)


def _insiders(attack: Attack, figure: int, needed: Mapping[int, tuple[int, int]]) -> Iterator[Weakness]:
    """Yield what contributors of other cells learn of the unsafe ones. A protection that holds against everyone may not
    hold against them.
    """
    table = attack.table
    hidden = (attack.suppressed | table.silent) & ~table.known_empty
    for known, unsafe in insiders(table, figure, list(needed), hidden):
        inside = _Inside(attack, figure, needed, {attack.place(figure, cell): bounds for cell, bounds in known.items()})
        for other in inside.unseen(unsafe):
            low, high = attack.polytope.interval((attack.place(figure, other),), inside.held)
            if inside.is_short(other, low, high):
                yield Weakness("cell", figure, (other,), low, high, *needed[other], held=tuple(known))


@dataclass(frozen=True, eq=False, slots=True)
class _Inside:
    """The contributors who know the bounds ``held`` of a cell, and which cells are ``needed`` how uncertain."""

    attack: Attack
    figure: int
    needed: Mapping[int, tuple[int, int]]
    held: Mapping[int, tuple[float, float]]

    def is_short(self, cell: int, low: float, high: float) -> bool:
        """Return True if an interval is narrower than needed."""
        width, upper = self.needed[cell]
        slack = self.attack.slack(self.figure)
        value = float(self.attack.table.values(self.figure)[cell])
        return high - low < max(width - min(slack, 0.5), slack * 1.01) or high < value + upper - min(slack, 0.5)

    def unseen(self, cells: Sequence[int]) -> Iterator[int]:
        """Yield those of ``cells`` that no table that was come upon shows to be uncertain enough, after looking for some."""
        left = self._left(cells)
        for signs in (*_SIGNS, *np.random.default_rng(0).choice((-1.0, 1.0), (_TRIES, len(cells)))):
            if len(left) > 1:
                self._towards(left, np.resize(signs, len(left)).tolist())
                left = self._left(left)
        while left:
            self._towards(left[:1], [1.0])
            self._towards(left[:1], [-1.0])
            first, *left = left
            yield from self._left([first])
            left = self._left(left)

    def _left(self, cells: Sequence[int]) -> list[int]:
        if not cells:
            return []
        places = [self.attack.place(self.figure, cell) for cell in cells]
        low, high = self.attack.polytope.seen(places, self.held, self._within)
        return [
            cell for cell, one, other in zip(cells, low.tolist(), high.tolist(), strict=True) if self.is_short(cell, one, other)
        ]

    def _towards(self, cells: Sequence[int], signs: Sequence[float]) -> None:
        places = [self.attack.place(self.figure, cell) for cell in cells]
        self.attack.polytope.towards(places, signs, self.held, self._within)

    @property
    def _within(self) -> range:
        start = self.attack.place(self.figure, 0)
        return range(start, start + self.attack.table.layout.size)


def _groups(attack: Attack, figure: int, relation: Relation, apart: set[int]) -> Iterator[Weakness]:
    table, slack = attack.table, attack.slack(figure)
    parts = tuple(part for part in relation.parts if part in apart)
    if relation.total in apart or not parts:
        return
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]] = [(parts, ())]
    if figure >= 0 and (table.rules.largest or not (table.sums[figure].whole or table.sums[figure].weights)):
        alone = [part for part in parts if table.persons(figure)[part] == 1]
        known: dict[tuple[int, ...], None] = {(part,): None for part in alone}
        if table.holders is not None:  # who fills several cells knows them all
            known |= {tuple(mine): None for mine in table.holders.alone(alone).values()}
        cases += [(tuple(other for other in parts if other not in mine), mine) for mine in known if len(mine) < len(parts)]
    for cells, held in cases:
        if _is_safe(table, figure, cells):
            continue
        values = table.values(figure)
        low, high = attack.interval(figure, cells, {cell: float(values[cell]) for cell in held})
        if high - low <= slack:
            yield Weakness("group", figure, cells, low, high, 1, held=held)


def _unions(attack: Attack, figure: int, apart: set[int]) -> Iterator[Weakness]:
    """Groups of cells that no one is in twice, whose sum several totals give together."""
    cells, known = _finest_apart(attack, figure, apart)
    found = [
        weak
        for group in unsafe_unions(attack.table, figure, cells, known)
        for weak in (_crossing(attack, figure, apart) if group is None else _known_union(attack, figure, group))
    ]
    every, _ = _finest_apart(attack, figure, apart, somebody=False)
    if not found and len(cells) < len(every) <= MOST_CELLS:  # empty cells that no table prints add nobody, and are there
        groups = (group for group in unsafe_unions(attack.table, figure, every, known) if group is not None)
        found = [weak for group in groups for weak in _known_union(attack, figure, group)]
    yield from found


def _unions_of_contributors(attack: Attack, figure: int, apart: set[int]) -> Iterator[Weakness]:
    """As :func:`_unions`, for whoever fills some of the cells alone and so knows them, of two cells and more."""
    table = attack.table
    cells, known = _finest_apart(attack, figure, apart)
    fills = known_to_insider(table, figure)[1]
    alone = [cell for cell in cells if fills[cell]]
    theirs = [] if table.holders is None else [tuple(mine) for mine in table.holders.alone(alone).values()]
    theirs += [(cell,) for cell in alone if not any(cell in mine for mine in theirs)]
    beyond: dict[tuple[int, ...], None] = {}
    for group, mine in unsafe_unions_of_contributors(table, figure, cells, known, theirs):
        if group is None:
            beyond[mine] = None
        elif len(group) > 1:  # what they learn of single cells is looked at by itself
            yield from _known_union(attack, figure, group, mine)
    if beyond:
        yield from _crossing(attack, figure, apart, list(beyond))


def _finest_apart(
    attack: Attack, figure: int, apart: set[int], *, somebody: bool = True
) -> tuple[list[int], NDArray[np.bool_]]:
    """The suppressed cells that are no totals, and which figures are known, (n,). ``somebody``: of cells that no table prints those with somebody in them."""
    table = attack.table
    wanted = (table.contributors > 0) | ~table.silent if somebody else np.ones(table.layout.size, np.bool_)
    cells = [cell for cell in np.flatnonzero(finest_cells(table) & wanted).tolist() if cell in apart]
    place = attack.place(figure, 0)
    return cells, ~attack.polytope.unknown[place : place + table.layout.size]


def _known_union(attack: Attack, figure: int, group: tuple[int, ...], mine: Sequence[int] = ()) -> Iterator[Weakness]:
    """The union as a weakness, if it breaks a rule, nobody is in it twice, and its sum is known to who knows the cells ``mine``."""
    table = attack.table
    if _is_safe(table, figure, group):
        return
    within = parts_within(table.layout.relations, group).values()
    there = [{part for part in parts if table.contributors[part]} for parts in within]
    if any(not one.isdisjoint(other) for one, other in combinations(there, 2)):
        return
    values = table.values(figure)
    low, high = attack.interval(figure, group, {cell: float(values[cell]) for cell in mine})
    if high - low <= attack.slack(figure):
        yield Weakness("group", figure, group, low, high, 1, held=tuple(mine))


def _is_safe(table: ProtectedTable, figure: int, cells: Sequence[int]) -> bool:
    no_magnitude = figure < 0 or table.sums[figure].whole or table.sums[figure].signed
    sums = [] if no_magnitude else [table.added(figure, cells)]
    return group_is_safe(table.rules, table.together(figure, cells), sums)


def _crossing(attack: Attack, figure: int, apart: set[int], known_to: Sequence[Sequence[int]] = ((),)) -> Iterator[Weakness]:
    """Pairs and threes of such cells, where there are too many for more. ``known_to``: for each attacker, the cells that they know."""
    table, persons = attack.table, attack.table.persons(figure)
    magnitude = None if figure < 0 or table.sums[figure].whole else table.sums[figure].magnitude
    only_few = magnitude is None or table.rules.zero_sums_shown or table.sums[figure].signed
    somebody = (table.contributors > 0) | ~table.silent
    cells = [cell for cell in sorted(apart) if somebody[cell] and (persons[cell] < table.rules.min_count or not only_few)]
    within = attack.implied(figure, cells)
    if within is None:
        return
    for mine in known_to:
        left = [place for place, cell in enumerate(cells) if cell not in mine]
        known = where_known(within, [place for place, cell in enumerate(cells) if cell in mine])[np.ix_(left, left)]
        for group in known_sums(known, [cells[place] for place in left], persons, table.rules.min_count):
            yield from _known_union(attack, figure, group, mine)


def _classes(attack: Attack) -> Iterator[Weakness]:
    table = attack.table
    for empty in shared_keys(table.layout.relations, table.contributors, table.known_empty):
        high = attack.interval(-1, empty)[1]
        if high < 1:
            yield Weakness("class", -1, empty, 0, 0, 1, 1)
