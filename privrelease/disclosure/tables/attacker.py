"""The attacker's view: between which bounds each suppressed figure lies, given everything that is printed and the published rules.

The attacker knows every printed figure, that totals are sums of their parts, that empty cells are printed as zeros, what the rules
are, and is granted which suppressed cells are unsafe by the minimum count (in [1, min_count - 1]) and which are not (at least min_count). More
than a file tells: what holds against this attacker holds against every weaker one. Counts are integers. Bounds are found by (mixed integer)
linear programs with HiGHS; they are exact for integers, and for sums within 1e-6 of the largest figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Relation

__all__ = ["Knowledge", "Polytope", "count_bounds", "require_solver"]

_FEASIBLE = 0


def require_solver() -> None:
    """Say what is missing before anything is read. Raises InputError (D630) where the solver of linear programs is not installed."""
    from importlib.util import find_spec

    if find_spec("scipy") is None:
        raise InputError(
            code="D630",
            message="tables are protected and audited with scipy, which is not installed",
            hint='pip install "privrelease[tables]"',
        )


@dataclass(frozen=True, eq=False, slots=True)
class Knowledge:
    """What is known of one figure by cell: ``low`` and ``high`` (n,) float64, equal where it is printed; inf where there is no bound."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    integral: bool

    def __post_init__(self) -> None:
        if (self.low > self.high).any():
            message = "bounds that contradict each other"
            raise ValueError(message)


def count_bounds(
    values: NDArray[np.int64],
    suppressed: NDArray[np.bool_],
    few: NDArray[np.bool_],
    min_count: int,
    *,
    round_up: int = 1,
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
    """

    def __init__(self, relations: Sequence[Relation], known: Knowledge, *, unimodular: bool = False) -> None:
        from scipy.sparse import csr_array

        self._known = known
        self._search = known.integral and not unimodular
        self._free = np.flatnonzero(known.low < known.high)
        place = np.full(len(known.low), -1)
        place[self._free] = np.arange(len(self._free))
        finite = np.concatenate([known.low[np.isfinite(known.low)], known.high[np.isfinite(known.high)]])
        self._scale = 1.0 if known.integral else max(1.0, float(np.abs(finite).max(initial=1.0)))
        rows: list[int] = []
        columns: list[int] = []
        signs: list[float] = []
        right: list[float] = []
        for relation in relations:
            terms = [(relation.total, -1.0), *((part, 1.0) for part in relation.parts)]
            unknown = [(place[cell], sign) for cell, sign in terms if place[cell] >= 0]
            if not unknown:
                continue
            constant = -sum(sign * known.low[cell] for cell, sign in terms if place[cell] < 0)
            rows += [len(right)] * len(unknown)
            columns += [int(cell) for cell, _ in unknown]
            signs += [sign for _, sign in unknown]
            right.append(constant / self._scale)
        self._matrix: Any = csr_array((signs, (rows, columns)), shape=(len(right), len(self._free)))
        self._right = np.array(right)
        self._place = place

    @property
    def scale(self) -> float:
        """The largest known figure; tolerances of sums are relative to it."""
        return self._scale

    def interval(self, cells: Sequence[int], held: Mapping[int, float] | None = None) -> tuple[float, float]:
        """Return the least and the largest value that the sum of ``cells`` can have, ``held`` cells being known to the attacker."""
        constant = sum(float(self._known.low[cell]) for cell in cells if self._place[cell] < 0)
        unknown = [int(self._place[cell]) for cell in cells if self._place[cell] >= 0]
        if not unknown:
            return constant, constant
        direction = np.zeros(len(self._free))
        direction[unknown] = 1.0
        low, high = self._known.low[self._free] / self._scale, self._known.high[self._free] / self._scale
        for cell, value in (held or {}).items():
            if self._place[cell] >= 0:
                low[self._place[cell]] = high[self._place[cell]] = value / self._scale
        return constant + self._least(direction, low, high), constant - self._least(-direction, low, high)

    def _least(self, direction: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
        from scipy.optimize import Bounds, LinearConstraint, milp

        constraints = [LinearConstraint(self._matrix, self._right, self._right)] if len(self._right) else []
        found = milp(
            direction,
            constraints=constraints,
            bounds=Bounds(low, high),
            integrality=int(self._search),
            options={"mip_rel_gap": 0},
        )
        if found.status == _FEASIBLE:
            value = float(found.fun) * self._scale
            return float(round(value)) if self._known.integral else value
        if not np.isfinite(high).all() and _unbounded(direction, self._matrix, low, high):
            return -np.inf
        message = "no table fits what is printed"
        raise ValueError(message)


def _unbounded(direction: NDArray[np.float64], matrix: Any, low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:  # noqa: ANN401 -- scipy's sparse matrix
    """Whether some direction without end makes the objective ever smaller."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    up, down = np.where(np.isinf(high), 1.0, 0.0), np.where(np.isinf(low), -1.0, 0.0)
    still = np.zeros(matrix.shape[0])
    constraints = [LinearConstraint(matrix, still, still)] if matrix.shape[0] else []
    found = milp(direction, constraints=constraints, bounds=Bounds(down, up))
    return bool(found.status == _FEASIBLE and found.fun < -1e-9)
