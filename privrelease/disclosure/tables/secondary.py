"""Secondary suppression: few further cells, so that no unsafe figure can be worked out from the totals.

For each weakness in turn, the cheapest way to move it: a change of the cells, at the price of the persons in those that are
still printed, that keeps every total and moves the weak sum as far as it must be uncertain. The cells that the change touches
are suppressed: then both tables fit what is printed (Kelly, Golden and Assad 1992; Fischetti and Salazar 2001 solve all at
once). Cells that in the end are not needed by anyone are printed again. It is a heuristic for the number of cells, not for
safety: the pattern is judged as the audit judges it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from privrelease.disclosure.tables.attack_assessment import Attack, weaknesses
from privrelease.disclosure.tables.contributor_attack import allowed_moves
from privrelease.disclosure.tables.figures import known_of
from privrelease.disclosure.tables.joint_suppression import is_small_enough, joint_suppression
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.attack_assessment import Weakness
    from privrelease.disclosure.tables.figures import ProtectedTable

__all__ = ["Preference", "Suppression", "suppressed_cells", "suppression"]

#: What is lost least: the persons in the suppressed cells, or the number of these.
Preference: TypeAlias = Literal["persons", "cells"]
#: Takes note of a step, and of the share of it that is done where that is known.
Progress: TypeAlias = "Callable[[str, float | None], None]"

_MOST_TRIED: Final = 60
_MOST_TRIED_IN_A_RING: Final = 20
_ALREADY: Final = 1e-4
_WHOLE: Final = 1e-6
#: Branches after which a search for a change in whole numbers takes what it has.
_MOST_BRANCHES: Final = 200
#: A change this near to the cheapest is cheap enough.
_NEAR: Final = 0.1


@dataclass(frozen=True, eq=False, slots=True)
class Suppression:
    """A pattern of suppressed cells, (n,) bool. ``lost``: its cost, the persons or the number of its cells; ``least``: what every safe pattern
    costs at least, None where no bound is known.
    """

    suppressed: NDArray[np.bool_]
    lost: int
    least: int | None = None

    @property
    def above(self) -> Fraction | None:
        """By which share the cost may be above the least, at most; 0 where it is the least.

        >>> Suppression(np.ones(2, np.bool_), 27, 25).above
        Fraction(2, 25)
        """
        return None if self.least is None else Fraction(self.lost, self.least) - 1 if self.least else Fraction(0)


def suppressed_cells(
    table: ProtectedTable,
    kept: NDArray[np.bool_] | None = None,
    hidden: NDArray[np.bool_] | None = None,
    prefer: Preference = "persons",
) -> NDArray[np.bool_]:
    """Return the cells to suppress, (n,) bool: the unsafe ones and those that protect them. ``kept``: cells that are printed already;
    ``hidden``: cells that must stay suppressed; ``prefer``: whether the fewest persons or cells are sought.

    Where nothing can protect them the pattern still has weaknesses; the caller judges it.

    >>> from privrelease.disclosure.tables.layout import Layout
    >>> from privrelease.disclosure.tables.attack_assessment import ProtectedTable
    >>> from privrelease.disclosure.tables.rules import CellRules
    >>> counts = np.array([17, 4, 3, 24])
    >>> suppressed_cells(ProtectedTable(Layout((3,), margins=True), CellRules(10), counts, counts)).tolist()
    [True, True, True, False]
    """
    return suppression(table, kept, hidden, prefer).suppressed


def suppression(
    table: ProtectedTable,
    kept: NDArray[np.bool_] | None = None,
    hidden: NDArray[np.bool_] | None = None,
    prefer: Preference = "persons",
    progress: Progress = lambda _step, _share: None,
) -> Suppression:
    """Return the pattern of :func:`suppressed_cells`, with what it costs and what the least cost is known to be. ``progress`` gets its steps:
    ``suppress``, ``needless`` and ``joint``.

    The joint program replaces the pattern of the heuristic only by one that the judge passes and that costs less.
    """
    nothing = np.zeros(table.layout.size, np.bool_)
    price = np.maximum(table.contributors, 1) if prefer == "persons" else np.ones(table.layout.size, np.int64)
    search = _Search(table, nothing if kept is None else kept, price)
    primary = np.logical_or.reduce(list(table.primaries().values())) & search.open
    if hidden is not None:
        primary = primary | (hidden & search.open)
    found = _without_needless(table, search.grown(primary, progress), primary, price, progress)
    lost = int(price[found].sum())
    if not (found & ~primary).any():
        return Suppression(found, lost, lost)
    if not is_small_enough(table, primary) or any(True for _ in weaknesses(table, found)):
        return Suppression(found, lost)
    progress("joint", None)
    may = search.open & ((table.contributors > 0) | table.rules.class_disclosure)
    joint = joint_suppression(table, primary, may, price, lost)
    best = joint.suppressed
    if best is None and joint.tried is not None:  # the program ended too soon: the last pattern with what it lacks
        tried = _Search(table, ~search.open, price).grown(joint.tried, progress)
        best = _without_needless(table, tried, primary, price, progress)
        best = None if any(True for _ in weaknesses(table, best)) else best
    if best is not None and int(price[best].sum()) < lost:
        found, lost = best, int(price[best].sum())
    return Suppression(found, lost, joint.least)


class _Search:
    """Cheapest changes of one table; the changes found so far show what is uncertain already."""

    def __init__(self, table: ProtectedTable, kept: NDArray[np.bool_], price: NDArray[np.int64]) -> None:
        from scipy.sparse import csr_array

        self.table, self.price = table, price
        #: Cells that may be suppressed.
        self.open = ~table.silent & ~kept & ~table.known_empty
        relations = table.layout.relations
        signs = [sign for one in relations for sign in (-1.0, *(1.0 for _ in one.parts))]
        rows = [row for row, one in enumerate(relations) for _ in one.cells]
        cells = [cell for one in relations for cell in one.cells]
        self._matrix: Any = csr_array((signs, (rows, cells)), shape=(len(relations), table.layout.size))
        #: By figure, changes found so far.
        self.changes: dict[int, list[NDArray[np.float64]]] = {}
        self._insists = False

    def grown(self, suppressed: NDArray[np.bool_], progress: Progress) -> NDArray[np.bool_]:
        """Return a pattern with what must be suppressed with it, until the judge passes it or nothing helps."""
        for turn in range(self.table.layout.size):
            progress(f"judging pattern {turn + 1}", None)
            weak = list(weaknesses(self.table, suppressed, Attack(self.table, suppressed, self.changes)))
            found = self.against(weak, suppressed)
            if not (found & ~suppressed).any():
                break
            suppressed = suppressed | found
        return suppressed

    def against(self, weak: list[Weakness], suppressed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the pattern and what must be suppressed with it, so that no weakness is left."""
        grown = suppressed.copy()
        self.changes = {figure: [one for one in found if _is_whole(one)] for figure, found in self.changes.items()}
        for one in weak:
            if not self._is_uncertain(one):
                grown |= self._protection(grown, one)
        if weak and not (grown & ~suppressed).any():  # other figures tell more than changes of one figure show
            grown |= self._around(suppressed, weak)
        self._insists = True
        return grown

    def _is_uncertain(self, weak: Weakness) -> bool:
        """Return True if changes found for others move this one too. Whoever holds a cell sees through changes of it."""
        held, cells = list(weak.held), list(weak.cells)
        up, down = allowed_moves(self.table, weak.figure, held)
        moves = [
            float(change[cells].sum())
            for change in self.changes.get(weak.figure, [])
            if (change[held] <= up).all() and (change[held] >= -down).all()
        ]
        most, least = max(moves, default=0.0), min(moves, default=0.0)
        return max(most, 0) - min(least, 0) >= weak.width and most >= weak.upper

    def _protection(self, suppressed: NDArray[np.bool_], weak: Weakness) -> NDArray[np.bool_]:
        """Return the cells that a cheapest change touches; every cell with somebody in it where there is no such change.

        A change in fractions is quick and mostly whole. Where it is not and touches nothing new, and the judge had not been content with
        such changes, one in whole numbers.
        """
        for whole in (False, True):
            found = self._cheapest(suppressed, weak, whole=whole)
            if found is None:
                break
            touched: NDArray[np.bool_] = np.logical_or.reduce([change != 0 for change in found]) & self.open
            if (touched & ~suppressed).any() or whole or not self._insists or all(map(_is_whole, found)):
                self.changes.setdefault(weak.figure, []).extend(found)
                return touched
        return self.open & (self.table.contributors > 0)

    def _around(self, suppressed: NDArray[np.bool_], weak: list[Weakness]) -> NDArray[np.bool_]:
        """Return the cells that are with a weak one in a total; every cell with someone in it where those are suppressed
        already.
        """
        cells = {cell for one in weak for cell in one.cells}
        near = np.zeros(self.table.layout.size, np.bool_)
        for relation in self.table.layout.relations:
            if not cells.isdisjoint(relation.cells):
                near[list(relation.cells)] = True
        near &= self.open & (self.table.contributors > 0)
        return near if (near & ~suppressed).any() else self.open & (self.table.contributors > 0)

    def _cheapest(self, suppressed: NDArray[np.bool_], weak: Weakness, *, whole: bool) -> list[NDArray[np.float64]] | None:
        far = max(weak.width, weak.upper)
        ways = [[far]] if weak.upper else [[far], [-far]]
        ways += [[up, up - weak.width] for up in _splits(weak)]
        best: tuple[float, list[NDArray[np.float64]]] | None = None
        for number, way in enumerate(ways):
            if number >= 2 and best is not None:
                break
            found = [self._change(suppressed, weak, amount, whole=whole) for amount in way if amount]
            changes = [one[1] for one in found if one is not None]
            if len(changes) < len(found):
                continue
            cost = sum(one[0] for one in found if one is not None)
            if best is None or cost < best[0]:
                best = cost, changes
        return None if best is None else best[1]

    def _change(
        self, suppressed: NDArray[np.bool_], weak: Weakness, amount: int, *, whole: bool
    ) -> tuple[float, NDArray[np.float64]] | None:
        """Return cost and difference of the cheapest change that moves the weak sum by ``amount``; None where there is none."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, hstack, vstack

        table, size = self.table, self.table.layout.size
        every = suppressed | (self.open & ((table.contributors > 0) | (weak.kind == "class")))
        known = known_of(table, weak.figure, every)
        values = table.values(weak.figure).astype(np.float64)
        up, down = np.maximum(known.high - values, 0), np.maximum(values - known.low, 0)
        held = list(weak.held)
        most_up, most_down = allowed_moves(table, weak.figure, held)
        up[held], down[held] = np.minimum(up[held], most_up), np.minimum(down[held], most_down)
        scale = 1.0 if known.integral else max(1.0, float(np.abs(values).max(initial=1)))
        price = np.where(suppressed | table.silent, _ALREADY, self.price).astype(np.float64)
        target = np.zeros((1, size))
        target[0, list(weak.cells)] = 1
        matrix: Any = vstack([self._matrix, csr_array(target)])
        right = np.append(np.zeros(self._matrix.shape[0]), amount / scale)
        found = milp(
            np.concatenate([price, price]),
            constraints=[LinearConstraint(hstack([matrix, -matrix]), right, right)],
            bounds=Bounds(np.zeros(2 * size), np.concatenate([up, down]) / scale),
            integrality=int(bool(known.integral) and whole),
            options={"mip_rel_gap": _NEAR, "node_limit": _MOST_BRANCHES},
        )
        if found.x is None:
            return None
        moved = found.x[:size] - found.x[size:]
        moved[np.abs(moved) <= 1e-9] = 0
        return float(price[(moved != 0) & ~suppressed].sum()), moved * scale


def _is_whole(change: NDArray[np.float64]) -> bool:
    return bool((np.abs(change - np.round(change)) < _WHOLE).all())


def _splits(weak: Weakness) -> list[int]:
    """Some ways to reach the width partly above, partly below."""
    if weak.width < 2:
        return []
    steps = max(1, weak.width // 8)
    return [up for up in range(weak.width - 1, 0, -steps) if up >= weak.upper]


def _without_needless(
    table: ProtectedTable,
    suppressed: NDArray[np.bool_],
    primary: NDArray[np.bool_],
    price: NDArray[np.int64],
    progress: Progress,
) -> NDArray[np.bool_]:
    """Print again, the dearest first, then the fullest, what the others hold without; only where there are few, since each is judged."""
    further = np.flatnonzero(suppressed & ~primary)
    most = _MOST_TRIED if table.layout.together is None else _MOST_TRIED_IN_A_RING
    if suppressed.sum() > most or any(True for _ in weaknesses(table, suppressed)):
        return suppressed
    in_order = sorted(map(int, further), key=lambda cell: (-int(price[cell]), -int(table.contributors[cell]), cell))
    for turn, cell in enumerate(in_order):
        progress("needless", turn / len(in_order))
        tried = suppressed.copy()
        tried[cell] = False
        if not any(True for _ in weaknesses(table, tried)):
            suppressed = tried
    return suppressed
