"""The attacker's view: between which bounds each suppressed figure lies, given everything that is printed and the published rules.

The attacker knows every printed figure, that totals are sums of their parts, that empty cells are printed as zeros, what the
rules are, and is granted which suppressed cells are unsafe by the minimum count (in [1, min_count - 1]) and which are not (at
least min_count). More than a file discloses: what holds against this attacker holds against every weaker one. Counts are
integers. Bounds are found by (mixed integer) linear programs with HiGHS; they are exact for integers, and for sums within 1e-6
of the largest figure.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from privrelease.disclosure.tables.recoverable_cells import worked_out
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Relation

__all__ = ["AtMost", "Knowledge", "Polytope", "count_bounds"]

_FEASIBLE: Final = 0
#: Branches after which a search for whole numbers stops and what it has found counts: the attacker is then taken to know more.
_MOST_BRANCHES: Final = 500
_WHOLE: Final = 1e-6
#: Tables that are remembered as they are; and how large a figure without a bound is taken to be, in units, where several are sought at once.
_MOST_POINTS: Final = 500
_FAR: Final = 1e4
#: The least and the largest value of a cell.
Bounds: TypeAlias = "tuple[float, float]"


@dataclass(frozen=True, eq=False, slots=True)
class Knowledge:
    """Knowledge of one figure by cell: ``low`` and ``high`` (n,) float64, equal where it is printed; inf where there is no
    bound.

    ``integral``: whether it is a whole number, for all cells or by cell.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    integral: bool | NDArray[np.bool_]

    def __post_init__(self) -> None:
        if (self.low > self.high).any():
            message = "bounds that contradict each other"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class AtMost:
    """Figure ``cell``, times ``sign``, is at most ``factor`` times figure ``of``."""

    cell: int
    factor: float
    of: int
    sign: float = 1.0


def count_bounds(
    values: NDArray[np.int64],
    suppressed: NDArray[np.bool_],
    few: NDArray[np.bool_],
    min_count: int,
    *,
    round_up: int | NDArray[np.int64] = 1,
    most: float = 1,
    least: int = 1,
) -> Knowledge:
    """Return what is known of counts of rows. ``few``: suppressed for the minimum count. ``round_up``: printed counts are rounded up to its
    multiples. ``most``: rows of one person. ``least``: 0 where empty cells are suppressed too.

    >>> known = count_bounds(np.array([2, 7, 9]), np.array([True, True, False]), np.array([True, False, False]), 5)
    >>> known.low.tolist(), known.high.tolist()
    ([1.0, 5.0, 9.0], [4.0, inf, 9.0])
    """
    printed = -(-values // round_up) * round_up
    low = np.minimum(np.where(printed > 0, np.maximum(printed - round_up + 1, min_count), 0), printed).astype(np.float64)
    high = printed.astype(np.float64)
    low[suppressed] = np.where(few, least, min_count)[suppressed]
    high[suppressed] = np.where(few, (min_count - 1) * most, np.inf)[suppressed]
    return Knowledge(low, high, integral=True)


class Polytope:
    """All tables that fit what is known. Cells whose bounds are equal are constants; the others are unknowns.

    ``unimodular``: bounds of whole figures are whole without asking for it (see :attr:`Layout.unimodular`), which is quicker.
    ``at_most``: what figures say of one another. ``truth`` (n,): a table that fits; every table that a search comes upon is remembered next to
    it (:attr:`lowest`, :attr:`highest`), since two tables that fit show that no one can tell them apart.
    """

    def __init__(
        self,
        relations: Sequence[Relation],
        known: Knowledge,
        *,
        unimodular: bool = False,
        at_most: Sequence[AtMost] = (),
        truth: NDArray[np.float64] | None = None,
    ) -> None:
        known = Knowledge(*worked_out(relations, known.low, known.high), known.integral)
        self._known, self._truth = known, truth
        size = len(known.low)
        whole = np.broadcast_to(np.asarray(known.integral), (size,))
        self._free = np.flatnonzero(known.low < known.high)
        self._place = np.full(size, -1)
        self._place[self._free] = np.arange(len(self._free))
        finite = np.concatenate([known.low[~whole], known.high[~whole]])
        self._largest = max(1.0, float(np.abs(finite[np.isfinite(finite)]).max(initial=1.0)))
        self._unit = np.where(whole, 1.0, self._largest)
        self._whole = whole[self._free]
        self._search = bool(self._whole.any()) and not unimodular
        self._constraints(relations, at_most)
        #: Tables that fit, on the unknowns and in their units; a search leaves what it came upon here.
        self._points: list[NDArray[np.float64]] = [] if truth is None else [(truth / self._unit)[self._free]]
        self.lowest = (known.low if truth is None else truth).copy()
        self.highest = (known.low if truth is None else truth).copy()
        if truth is None:
            self.lowest[self._free], self.highest[self._free] = np.inf, -np.inf

    def _constraints(self, relations: Sequence[Relation], at_most: Sequence[AtMost]) -> None:
        from scipy.sparse import csr_array

        rows: list[int] = []
        columns: list[int] = []
        factors: list[float] = []
        low: list[float] = []
        high: list[float] = []
        place, fixed, unit = self._place.tolist(), self._known.low.tolist(), self._unit.tolist()
        for relation in relations:
            scale = unit[relation.total]
            constant, any_free = 0.0, False
            for cell, sign in ((relation.total, -1.0), *((part, 1.0) for part in relation.parts)):
                if place[cell] < 0:
                    constant -= sign * fixed[cell]
                else:
                    rows.append(len(low))
                    columns.append(place[cell])
                    factors.append(sign)
                    any_free = True
            if any_free or abs(constant) > _WHOLE * scale:  # no table fits the latter
                low.append(constant / scale)
                high.append(constant / scale)
        for one in at_most:
            if place[one.cell] < 0 and place[one.of] < 0:
                continue
            scale, constant = unit[one.cell], 0.0
            for cell, factor in ((one.cell, one.sign), (one.of, -one.factor)):
                if place[cell] < 0:
                    constant -= factor * fixed[cell] / scale
                else:
                    rows.append(len(low))
                    columns.append(place[cell])
                    factors.append(factor * unit[cell] / scale)
            low.append(-np.inf)
            high.append(constant)
        self._matrix: Any = csr_array((factors, (rows, columns)), shape=(len(low), len(self._free)))
        self._from, self._to = np.array(low), np.array(high)

    def remember(self, table: NDArray[np.float64]) -> None:
        """Remember a table (n,) if it fits."""
        fits = ((table >= self._known.low - _WHOLE) & (table <= self._known.high + _WHOLE)).all()
        point = (table / self._unit)[self._free]
        sides = self._matrix @ point
        if fits and ((sides >= self._from - _WHOLE) & (sides <= self._to + _WHOLE)).all():
            self._remember(point)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Tell which figures are neither printed nor worked out by subtraction: (n,) bool."""
        found: NDArray[np.bool_] = self._place >= 0
        return found

    @property
    def scale(self) -> float:
        """The largest known figure that is no count; tolerances of sums are relative to it."""
        return self._largest

    def interval(self, cells: Sequence[int], held: Mapping[int, Bounds] | None = None) -> tuple[float, float]:
        """Return the least and the largest value that the sum of ``cells`` can have, the attacker knowing the bounds of ``held`` cells.

        Raises ValueError where no table fits.
        """
        return self._end(cells, 1.0, held), self._end(cells, -1.0, held)

    def enough(self, cell: int, width: float, upto: float = -np.inf) -> tuple[float, float]:
        """Return bounds of a cell that are ``width`` apart and reach ``upto``, from tables that fit; the true bounds where there are none."""

        def found() -> bool:
            return bool(self.highest[cell] - self.lowest[cell] >= width and self.highest[cell] >= upto)

        if not found() and self._place[cell] >= 0:
            self.explore(np.array([cell]), np.array([width]))
            if not found():
                return self.interval((cell,))
        return float(self.lowest[cell]), float(self.highest[cell])

    def seen(self, cells: Sequence[int], held: Mapping[int, Bounds]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the largest value of each of ``cells`` among the tables found so far that fit ``held``: two (len(cells),)."""
        points = np.stack(self._points)
        fits = np.ones(len(points), np.bool_)
        for cell, (least, most) in held.items():
            if self._place[cell] >= 0:
                values = points[:, self._place[cell]] * self._unit[cell]
                fits &= (values >= least - _WHOLE * self._unit[cell]) & (values <= most + _WHOLE * self._unit[cell])
        low, high = self._known.low[list(cells)].copy(), self._known.high[list(cells)].copy()
        for i, cell in enumerate(cells):
            if self._place[cell] >= 0:
                values = points[fits, self._place[cell]] * self._unit[cell]
                low[i], high[i] = values.min(initial=np.inf), values.max(initial=-np.inf)
        return low, high

    def towards(self, cells: Sequence[int], signs: Sequence[float], held: Mapping[int, Bounds], within: range) -> None:
        """Come upon a table in which each of ``cells`` is large, or small where its sign is negative, that fits ``held`` and is the true one
        outside ``within``. Whatever is found fits; what is not may still.
        """
        assert self._truth is not None
        low, high = self._box(held)
        true = (self._truth / self._unit)[self._free]
        outside = (self._free < within.start) | (self._free >= within.stop)
        low[outside] = high[outside] = true[outside]
        direction = np.zeros(len(self._free))
        for cell, sign in zip(cells, signs, strict=True):
            if self._place[cell] >= 0:
                direction[self._place[cell]] = -sign
        nearest = np.maximum(low, np.minimum(high, -_FAR))
        self._least(direction, nearest, np.minimum(high, np.maximum(nearest, _FAR)), roughly=True)

    def explore(self, cells: NDArray[np.int64], widths: NDArray[np.float64]) -> None:
        """Come upon tables that differ in many ``cells`` at once, as long as a search brings some cell ``widths`` apart."""
        dice = np.random.default_rng(0)
        box = self._box(None)
        ends = np.concatenate([end[np.isfinite(end)] for end in (*box, self._from, self._to)])
        far = 10 * float(np.abs(ends).max(initial=1.0)) + 10
        box = np.maximum(box[0], -far), np.minimum(box[1], far)
        cells, widths = cells[self._place[cells] >= 0], widths[self._place[cells] >= 0]
        wanting = self.highest[cells] - self.lowest[cells] < widths
        cells, widths = cells[wanting], widths[wanting]
        idle = 0
        while len(cells) and idle < min(4, len(cells)):
            weights = dice.choice((-1.0, 1.0), len(cells)) if idle else np.ones(len(cells))
            for sign in (1.0, -1.0):
                direction = np.zeros(len(self._free))
                direction[self._place[cells]] = sign * weights
                self._least(direction, *box, roughly=True)
            left = self.highest[cells] - self.lowest[cells] < widths
            idle = idle + 1 if left.all() else 0
            cells, widths = cells[left], widths[left]

    def _box(self, held: Mapping[int, Bounds] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        unit = self._unit[self._free]
        low, high = self._known.low[self._free] / unit, self._known.high[self._free] / unit
        for cell, (least, most) in (held or {}).items():
            place = self._place[cell]
            if place >= 0:
                low[place] = max(low[place], least / self._unit[cell])
                high[place] = min(high[place], most / self._unit[cell])
        return low, high

    def _end(self, cells: Sequence[int], sign: float, held: Mapping[int, Bounds] | None) -> float:
        """The least sum of the cells, the largest where ``sign`` is -1."""
        constant = sum(float(self._known.low[cell]) for cell in cells if self._place[cell] < 0)
        unknown = [cell for cell in cells if self._place[cell] >= 0]
        if not unknown:
            return constant
        unit = float(self._unit[unknown[0]])
        direction = np.zeros(len(self._free))
        direction[self._place[unknown]] = sign
        least = self._least(direction, *self._box(held), seen=self._seen_end(unknown, sign, held))
        if least is None:
            if self._truth is None:
                message = "no table fits what is printed"
                raise ValueError(message)
            return constant + float(self._truth[unknown].sum())
        value = sign * least * unit
        if np.isinf(value) and len(unknown) == 1:
            (self.lowest if sign > 0 else self.highest)[unknown[0]] = value
        is_whole = np.isfinite(value) and all(self._whole[self._place[cell]] for cell in unknown)
        return constant + (float(round(value)) if is_whole else value)

    def _seen_end(self, unknown: Sequence[int], sign: float, held: Mapping[int, Bounds] | None) -> float:
        """The least sum of the cells, times ``sign`` and in units, among the tables found so far that fit ``held``."""
        if len(unknown) == 1 and not held:
            end = self.lowest if sign > 0 else self.highest
            return sign * float(end[unknown[0]] / self._unit[unknown[0]])
        if not self._points:
            return np.inf
        points = np.stack(self._points)
        low, high = self._box(held)
        points = points[((points >= low - _WHOLE) & (points <= high + _WHOLE)).all(axis=1)]
        return float((sign * points[:, self._place[unknown]].sum(axis=1)).min(initial=np.inf))

    def _least(
        self,
        direction: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        roughly: bool = False,
        seen: float = np.inf,
    ) -> float | None:
        """The least of a direction over the tables that fit, in units; None where none is found. ``roughly``: none will do
        where one in whole numbers would have to be searched for. ``seen``: what a table that fits has.
        """
        found = self._solve(direction, low, high, whole=False)
        if self._search and found.status == _FEASIBLE:
            counts = found.x[self._whole]
            if (np.abs(counts - np.round(counts)) > _WHOLE).any():
                least = ceil(found.fun - _WHOLE) if self._whole[direction != 0].all() else found.fun
                if seen <= least + _WHOLE:  # none has less, not even in fractions
                    return seen
                if roughly:
                    return None
                found = self._solve(direction, low, high, whole=True)
        if found.x is not None:
            self._remember(found.x)
            return float(found.fun)
        if not (np.isfinite(low).all() and np.isfinite(high).all()) and self._unbounded(direction, low, high):
            return -np.inf
        return None

    def _solve(
        self,
        direction: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        whole: bool,
    ) -> Any:  # noqa: ANN401 -- scipy's result
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        constraints = [LinearConstraint(self._matrix, self._from, self._to)] if len(self._from) else []
        options = {"mip_rel_gap": 0, "node_limit": _MOST_BRANCHES} if whole else {}
        integrality = self._whole.astype(np.int64) if whole else None
        return milp(direction, constraints=constraints, bounds=Box(low, high), integrality=integrality, options=options)

    def _remember(self, point: NDArray[np.float64]) -> None:
        if not self._whole.all() and len(self._points) < _MOST_POINTS:
            self._points.append(point)
        table = point * self._unit[self._free]
        table[self._whole] = np.round(table[self._whole])
        self.lowest[self._free] = np.minimum(self.lowest[self._free], table)
        self.highest[self._free] = np.maximum(self.highest[self._free], table)

    def _unbounded(self, direction: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
        """Return True if some direction without end makes the objective ever smaller."""
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        up, down = np.where(np.isinf(high), 1.0, 0.0), np.where(np.isinf(low), -1.0, 0.0)
        start = np.where(np.isfinite(self._from), 0.0, -np.inf)
        constraints = [LinearConstraint(self._matrix, start, np.zeros(len(start)))] if len(start) else []
        found = milp(direction, constraints=constraints, bounds=Box(down, up))
        return bool(found.status == _FEASIBLE and found.fun < -_WHOLE)
