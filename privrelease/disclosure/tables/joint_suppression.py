"""Joint suppression: the cheapest pattern of suppressed cells that meets every condition at once, by a mixed integer program.

The program has a binary variable for each cell. Its conditions are cuts (Fischetti and Salazar 2001, Management Science 47, section 3.2):
however the attacker's linear program ends for an unsafe figure, its dual solution bounds how far the figure can move by a sum over
the suppressed cells, and that sum must reach what the figure needs. Cuts are first made at fractional patterns, then where the judge
(:func:`~privrelease.disclosure.tables.attack_assessment.weaknesses`) objects to the whole pattern that the program returns.

Rows and columns are in the order of the cells, and every limit is a number of cells, cuts, rounds or branches, never a time: the same
table gives the same pattern. The judge decides: a pattern to which it objects is never returned.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from privrelease.disclosure.tables.attack_assessment import between, weaknesses
from privrelease.disclosure.tables.contributor_attack import allowed_moves
from privrelease.disclosure.tables.figures import known_of, needs
from privrelease.disclosure.tables.rules import shared_keys
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.attack_assessment import Weakness
    from privrelease.disclosure.tables.figures import ProtectedTable

__all__ = ["Joint", "is_small_enough", "joint_suppression"]

#: Figures of all cells times conditions, beyond which nothing is sought.
_MOST_WORK: Final = 20_000
#: Rounds of cuts at fractional patterns, those after each objection of the judge, and rounds of these.
_MOST_FRACTIONAL: Final = 30
_MOST_AGAIN: Final = 1
_MOST_WHOLE: Final = 12
_MOST_CUTS: Final = 400
#: Branches after which a search for a pattern takes what it has.
_MOST_BRANCHES: Final = 200
#: Fractional patterns are moved this far inwards, so that cuts say something of cells that are not suppressed at all.
_INWARD: Final = 1e-3
_SHORT: Final = 1e-4
_WHOLE: Final = 1e-6
#: How far another cell moves with one that moves by one, at most: 1 in a network, taken to be 3 elsewhere.
_REACH: Final = 3.0
#: A figure without a bound is taken to move this many times the largest figure.
_FAR: Final = 10.0


@dataclass(frozen=True, eq=False, slots=True)
class Joint:
    """The result of a search. ``suppressed`` (n,): the best pattern that the judge passes, None where there is none; ``tried`` (n,): the
    last one, None where the program has no solution; ``least``: what every safe pattern costs at least, None where no bound is proven.
    """

    suppressed: NDArray[np.bool_] | None
    tried: NDArray[np.bool_] | None
    least: int | None


@dataclass(frozen=True, slots=True)
class _Condition:
    """The sum of a figure over ``cells`` must be ``width`` wide for whoever knows a part of the ``held`` cells, and reach ``upper`` above its
    value.
    """

    figure: int
    cells: tuple[int, ...]
    width: int
    upper: int = 0
    held: tuple[int, ...] = ()


#: A sum of variables, (n,), and its least value.
_Cut = tuple["NDArray[np.float64]", float]


def is_small_enough(table: ProtectedTable, forced: NDArray[np.bool_]) -> bool:
    """Return True if the joint program is for this table: not too many figures and conditions, and no ring of tables."""
    figures = table.layout.size * (1 + len(table.sums))
    if table.layout.together is not None or not table.layout.relations or figures > _MOST_WORK:
        return False
    return figures * sum(1 for _ in _conditions(table, forced)) <= _MOST_WORK


def joint_suppression(
    table: ProtectedTable, forced: NDArray[np.bool_], may: NDArray[np.bool_], price: NDArray[np.int64], most: int
) -> Joint:
    """Return the cheapest pattern that holds the ``forced`` cells (n,) and otherwise only cells that ``may`` (n,) be suppressed, at the ``price``
    (n,) of each suppressed cell. Nothing that costs more than ``most`` is sought.

    >>> from privrelease.disclosure.tables.figures import ProtectedTable
    >>> from privrelease.disclosure.tables.layout import Layout
    >>> from privrelease.disclosure.tables.rules import CellRules
    >>> counts = np.array([17, 4, 9, 30])
    >>> table = ProtectedTable(Layout((3,), margins=True), CellRules(5), counts, counts)
    >>> found = joint_suppression(table, counts == 4, counts > 0, counts, 60)
    >>> found.suppressed.tolist(), found.least
    ([False, True, True, False], 13)
    """
    program = _Program(table, forced, may, price, most)
    cuts = _Cuts(table, forced, may)
    program.cuts += _small_groups(table, forced, may | forced)
    return _whole(program, cuts)


def _conditions(table: ProtectedTable, forced: NDArray[np.bool_]) -> Iterator[_Condition]:
    """Yield the conditions of outsiders: unsafe figures, and groups that would share one key. Those of contributors follow from the judge."""
    unsafe = np.logical_or.reduce(list(table.primaries().values())) & (forced | table.silent) & ~table.known_empty
    for figure in table.figures:
        for cell in np.flatnonzero(unsafe).tolist():
            yield _Condition(figure, (cell,), *needs(table, figure, cell))
    if table.rules.class_disclosure:
        for empty in shared_keys(table.layout.relations, table.contributors, table.known_empty):
            yield _Condition(-1, empty, 1, 1)


def _small_groups(table: ProtectedTable, forced: NDArray[np.bool_], may: NDArray[np.bool_]) -> Iterator[_Cut]:
    """Yield for every total with an unsafe part that the suppressed parts have the minimum count together, unless the total is suppressed too."""
    least = table.rules.min_count
    unsafe = table.primaries()["min_count"] & forced
    for relation in table.layout.relations:
        parts = list(relation.parts)
        if not unsafe[parts].any() or table.silent[list(relation.cells)].any():
            continue
        cut = np.zeros(table.layout.size)
        cut[parts] = np.minimum(table.contributors[parts], least)
        cut[relation.total] = least
        yield np.where(may, cut, 0.0), float(least)


class _Program:
    """The program over patterns with the cuts found so far."""

    def __init__(
        self,
        table: ProtectedTable,
        forced: NDArray[np.bool_],
        may: NDArray[np.bool_],
        price: NDArray[np.int64],
        most: int,
    ) -> None:
        self.table, self.price = table, np.where(forced | may, price, 0)
        self.low, self.high = forced.astype(np.float64), (forced | may).astype(np.float64)
        self.cuts: list[_Cut] = [(-self.price.astype(np.float64), -float(most))]

    def solve(self, *, whole: bool) -> Any:  # noqa: ANN401 -- scipy's result
        """Solve the program as it is, in fractions or in ``whole`` cells."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        sides, least = zip(*self.cuts, strict=True)
        return milp(
            self.price.astype(np.float64),
            constraints=LinearConstraint(csr_array(np.stack(sides)), np.array(least), np.inf),
            bounds=Bounds(self.low, self.high),
            integrality=int(whole),
            options={"mip_rel_gap": 0, "node_limit": _MOST_BRANCHES} if whole else {},
        )


class _Cuts:
    """Cuts from an attacker's linear programs at a pattern, fractional ones too: all figures of all cells together.

    A figure may move from its true value as far as its bounds allow where its cell is suppressed, and where it is printed.
    """

    def __init__(self, table: ProtectedTable, forced: NDArray[np.bool_], may: NDArray[np.bool_]) -> None:
        from scipy.sparse import csc_array, hstack

        self.table, self.forced = table, forced
        self.may = may & ~forced
        size, every = table.layout.size, range(-1, len(table.sums))
        self.proven = table.layout.unimodular and not table.sums
        self.conditions = list(_conditions(table, forced))
        truth = [table.values(figure).astype(np.float64) for figure in every]
        #: How far each figure moves up and down where it is printed, and where it is suppressed: (figures * n,) each.
        self.printed, self.hidden = (
            tuple(
                np.maximum(np.concatenate(moves), 0)
                for moves in zip(
                    *((one.high - true, true - one.low) for one, true in zip(known, truth, strict=True)), strict=True
                )
            )
            for known in (
                [known_of(table, figure, pattern) for figure in every] for pattern in (np.zeros(size, np.bool_), forced | may)
            )
        )
        self._far = np.repeat([_FAR * (1 + float(np.abs(true).max(initial=0))) for true in truth], size)
        rows: list[dict[int, float]] = [
            {relation.total + start: -1.0} | {part + start: 1.0 for part in relation.parts}
            for start in range(0, size * len(truth), size)
            for relation in table.layout.relations
        ]
        for figure, parts in table.adding_up:
            rows += [
                {cell + (figure + 1) * size: -1.0} | {cell + (part + 1) * size: 1.0 for part in parts} for cell in range(size)
            ]
        self._equal = len(rows)
        values = np.concatenate(truth)
        slack = []
        for one in between(table):
            rows.append({one.cell: one.sign} | {one.of: -one.factor})
            slack.append(max(0.0, one.factor * values[one.of] - one.sign * values[one.cell]))
        self._slack = np.array(slack)
        entries = [(place, row, value) for row, line in enumerate(rows) for place, value in line.items()]
        at, columns, signs = zip(*entries, strict=True)
        width = len(values)
        unit = csc_array((np.ones(width), (range(width), range(width))))
        self._matrix: Any = hstack([csc_array((signs, (at, columns)), shape=(width, len(rows))), unit, -unit]).tocsc()
        self._relations: Any = self._matrix[:size, : len(table.layout.relations)].tocsr()

    def against(self, condition: _Condition, pattern: NDArray[np.float64]) -> Iterator[_Cut]:
        """Yield cuts of a condition that a pattern breaks."""
        up = self._end(condition, pattern, 1.0, max(condition.width, condition.upper))
        if condition.upper:
            cut = _clipped(*up, condition.upper)
            if cut[0] @ pattern < cut[1] - _SHORT:
                yield cut
        if condition.width > condition.upper and up[0] @ pattern + up[1] < condition.width:
            down = self._end(condition, pattern, -1.0, condition.width)
            cut = _clipped(up[0] + down[0], up[1] + down[1], condition.width)
            if cut[0] @ pattern < cut[1] - _SHORT:
                yield cut

    def _end(
        self, condition: _Condition, pattern: NDArray[np.float64], sign: float, need: int
    ) -> tuple[NDArray[np.float64], float]:
        """Return how far up (down) the sum of a condition can move at most: by each suppressed cell (n,), and without any.

        That is the dual of the attacker's program, of which the pattern changes the costs alone.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        table, size = self.table, self.table.layout.size
        start = (condition.figure + 1) * size
        most = self._far.copy()
        most[start : start + size] = need * (1.0 if self.proven else _REACH)
        ends = [np.minimum(end, most) for end in (*self.printed, *self.hidden)]
        if condition.held:
            held = list(condition.held)
            places = [start + cell for cell in held]
            allowed = allowed_moves(table, condition.figure, held)
            for number, end in enumerate(ends):
                end[places] = np.minimum(end[places], allowed[number % 2])
        (up, down), gains = ends[:2], [np.maximum(ends[2 + i] - ends[i], 0) for i in range(2)]
        inward = np.tile(np.minimum(pattern + _INWARD, 1.0), len(up) // size)
        goal = np.zeros(len(up))
        goal[[start + cell for cell in condition.cells]] = sign
        cost = np.concatenate([np.zeros(self._equal), self._slack, up + gains[0] * inward, down + gains[1] * inward]) / need
        found = milp(
            cost,
            constraints=LinearConstraint(self._matrix, goal, goal),
            bounds=Bounds(np.r_[np.full(self._equal, -np.inf), np.zeros(len(cost) - self._equal)], np.inf),
        )
        if found.x is None:  # nothing is said
            return np.full(size, float(need)), float(need)
        duals = np.maximum(found.x[self._equal :], 0)
        rows = len(self._slack)
        of_up, of_down = duals[rows : rows + len(up)], duals[rows + len(up) :]
        moved = (gains[0] * of_up + gains[1] * of_down).reshape(-1, size).sum(axis=0)
        return moved, float(self._slack @ duals[:rows] + up @ of_up + down @ of_down)

    def remember(self, weak: Iterable[Weakness]) -> None:
        """Ask from now on, too, what the judge objected to: sums that must not be known whatever else is suppressed."""
        for one in weak:
            new = _Condition(one.figure, one.cells, one.width, one.upper, one.held)
            if new not in self.conditions and self.forced[list(one.cells)].all():
                self.conditions.append(new)

    def objection(self, weak: Weakness, pattern: NDArray[np.bool_]) -> _Cut:
        """Return a cut that no safe pattern breaks and that ``pattern`` breaks, since the judge objects to it for ``weak``."""
        whole = pattern.astype(np.float64)
        group = weak.kind == "group"
        found = self._known_group(weak, pattern) if group else None
        leaving = np.zeros(len(pattern))
        if group:  # or a cell of the group is printed
            leaving[[cell for cell in (*weak.cells, *weak.held) if self.may[cell]]] = 1.0
        if found is None or found[0] @ whole >= found[1] - _SHORT:
            condition = _Condition(weak.figure, weak.cells, weak.width, weak.upper, weak.held)
            for side, least in self.against(condition, whole):
                return side - least * leaving, least - least * leaving.sum()
            return (self.may & ~pattern) - leaving, 1.0 - leaving.sum()
        return found

    def _known_group(self, weak: Weakness, pattern: NDArray[np.bool_]) -> _Cut | None:
        """Return the cut for a group of too few persons whose sum totals give: as many more with it, or a cell that hides the sum.

        The totals are those of least number that give the sum where the suppressed cells are unknown; None where none do.
        """
        from scipy.optimize import LinearConstraint, milp
        from scipy.sparse import hstack

        table, least = self.table, self.table.rules.min_count
        if weak.held or table.most != 1 or table.together(weak.figure, weak.cells) >= least:
            return None
        unknown = np.flatnonzero((pattern | table.silent) & ~table.known_empty)
        goal = np.isin(unknown, weak.cells).astype(np.float64)
        lines = self._relations[unknown]
        found = milp(np.ones(2 * lines.shape[1]), constraints=LinearConstraint(hstack([lines, -lines]).tocsc(), goal, goal))
        if found.x is None:
            return None
        taken = self._relations @ (found.x[: lines.shape[1]] - found.x[lines.shape[1] :])
        few = np.minimum(table.persons(weak.figure), least)
        side = np.where(np.abs(taken) < _WHOLE, 0, np.where(np.abs(taken - 1) < _WHOLE, few, least))
        side = np.where(self.may | self.forced, side, 0).astype(np.float64)
        own = [cell for cell in weak.cells if self.forced[cell] and few[cell]]
        if own:
            return side, float(least)
        side[list(weak.cells)] -= least  # or a cell of the group is printed
        return side, float(least * (1 - len(weak.cells)))


def _clipped(side: NDArray[np.float64], constant: float, need: float) -> _Cut:
    """Return the cut that a movement reaches ``need``, no cell counting for more than that: patterns are whole."""
    least = (need - constant) / need
    return np.minimum(side / need, max(least, 0.0)), least


def _fractional(program: _Program, cuts: _Cuts, rounds: int) -> None:
    """Add cuts until the best fractional pattern meets every condition, as far as there is room for them."""
    asked = list(cuts.conditions)
    for _ in range(rounds):
        found = program.solve(whole=False)
        if found.x is None:
            return
        new = [(condition, cut) for condition in asked for cut in cuts.against(condition, found.x)]
        if not new and len(asked) < len(cuts.conditions):  # those that were met before
            new = [(one, cut) for one in cuts.conditions if one not in asked for cut in cuts.against(one, found.x)]
        program.cuts += [cut for _, cut in new]
        asked = list(dict.fromkeys(condition for condition, _ in new))
        if not new or len(program.cuts) > _MOST_CUTS:
            return


def _whole(program: _Program, cuts: _Cuts) -> Joint:
    """Find whole patterns until the judge passes one."""
    least: int | None = None
    tried: NDArray[np.bool_] | None = None
    for number in range(_MOST_WHOLE):
        _fractional(program, cuts, _MOST_AGAIN if number else _MOST_FRACTIONAL)
        found = program.solve(whole=True)
        if cuts.proven and found.mip_dual_bound is not None and np.isfinite(found.mip_dual_bound):
            least = max(least or 0, ceil(found.mip_dual_bound - _WHOLE))
        if found.x is None:
            return Joint(None, tried, least)
        tried = (found.x > 0.5) & ~program.table.silent
        weak = list(weaknesses(program.table, tried))
        if not weak:
            return Joint(tried, tried, least)
        program.cuts += [cuts.objection(one, tried) for one in weak]
        cuts.remember(weak)
        if len(program.cuts) > _MOST_CUTS:
            break
    return Joint(None, tried, least)
