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
from privrelease.disclosure.tables.witnesses import Witnesses
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Relation

__all__ = ["AtMost", "Knowledge", "Polytope"]

_FEASIBLE: Final = 0
#: Branches after which a search for whole numbers stops and what it has found counts: the attacker is then taken to know more.
_MOST_BRANCHES: Final = 500
_WHOLE: Final = 1e-6
_EXACT: Final = 1e-9
#: Tables that are remembered as they are.
_MOST_POINTS: Final = 500
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
        #: Tables that differ from the true one in some figures alone; and directions without end, on the unknowns.
        self._found: dict[range, Witnesses] = {}
        self._rays: list[NDArray[np.float64]] = []
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

    def seen(
        self, cells: Sequence[int], held: Mapping[int, Bounds], within: range
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the largest value of each of ``cells``, of the figure ``within``, among the tables found so far that fit ``held``, and
        those that follow from them: two (len(cells),).
        """
        assert self._truth is not None
        points = np.stack(self._points)
        fits = np.ones(len(points), np.bool_)
        for cell, (least, most) in held.items():
            if self._place[cell] >= 0:
                values = points[:, self._place[cell]] * self._unit[cell]
                fits &= (values >= least - _WHOLE * self._unit[cell]) & (values <= most + _WHOLE * self._unit[cell])
        low, high = self._known.low[list(cells)].copy(), self._known.high[list(cells)].copy()
        down, up = self._witnesses(within).seen(cells, self._moves(held))
        goes = self._endless(held)
        for i, cell in enumerate(cells):
            if self._place[cell] >= 0:
                values, true = points[fits, self._place[cell]] * self._unit[cell], float(self._truth[cell])
                low[i] = min(values.min(initial=np.inf), true + down[i] * self._unit[cell])
                high[i] = max(values.max(initial=-np.inf), true + up[i] * self._unit[cell])
                if len(goes):
                    low[i] = -np.inf if (goes[:, self._place[cell]] < -_WHOLE).any() else low[i]
                    high[i] = np.inf if (goes[:, self._place[cell]] > _WHOLE).any() else high[i]
        return low, high

    def towards(self, cells: Sequence[int], signs: Sequence[float], held: Mapping[int, Bounds], within: range) -> None:
        """Come upon a table in which each of ``cells`` is large, or small where its sign is negative, that fits ``held`` and is the true one
        outside ``within``. Whatever is found fits; what is not may still.
        """
        assert self._truth is not None
        move = self._witnesses(within).towards(cells, signs, self._moves(held))
        if move is not None:
            point = (self._truth / self._unit)[self._free]
            point[(self._free >= within.start) & (self._free < within.stop)] += move
            self._remember(point)

    def _moves(self, held: Mapping[int, Bounds]) -> dict[int, Bounds]:
        """Return the distances of the true values of ``held`` from their bounds, in units."""
        assert self._truth is not None
        return {
            cell: ((least - float(self._truth[cell])) / self._unit[cell], (most - float(self._truth[cell])) / self._unit[cell])
            for cell, (least, most) in held.items()
        }

    def _witnesses(self, within: range) -> Witnesses:
        if within not in self._found:
            assert self._truth is not None
            true = (self._truth / self._unit)[self._free]
            mine = (self._free >= within.start) & (self._free < within.stop)
            place = np.full(len(self._place), -1)
            place[self._free[mine]] = np.arange(int(mine.sum()))
            low, high = self._box(None)
            sides = self._matrix @ true
            self._found[within] = Witnesses(
                place, (low - true)[mine], (high - true)[mine], self._matrix[:, mine], self._from - sides, self._to - sides
            )
        return self._found[within]

    def _endless(self, held: Mapping[int, Bounds]) -> NDArray[np.float64]:
        """The directions without end that were found and keep the bounds of ``held``, (n, unknowns)."""
        if not self._rays:
            return np.zeros((0, len(self._free)))
        rays = np.stack(self._rays)
        kept = np.ones(len(rays), np.bool_)
        for cell, (least, most) in held.items():
            if self._place[cell] >= 0:
                mine = rays[:, self._place[cell]]
                kept &= (np.isinf(least) | (mine >= -_EXACT)) & (np.isinf(most) | (mine <= _EXACT))
        return rays[kept]

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
        goes = self._endless(held or {})
        endless = len(goes) > 0 and bool((goes @ direction < -_WHOLE).any())
        least = -np.inf if endless else self._least(direction, *self._box(held), seen=self._seen_end(unknown, sign, held))
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
        endless = bool(found.status == _FEASIBLE and found.fun < -_WHOLE)
        if endless and self._truth is not None and len(self._rays) < _MOST_POINTS:
            self._rays.append(found.x)
        return endless
