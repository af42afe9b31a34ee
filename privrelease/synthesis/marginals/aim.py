"""AIM: an adaptive and iterative mechanism for marginals (McKenna, Mullins, Sheldon, Miklau 2022).

Algorithm
    Every column is measured once. Then by rounds: the marginal that the model fits worst is chosen, measured, and the model estimated from all
    measurements. Candidates are the workload's marginals and all parts of them. rho is shared out over at most ``rounds`` rounds, nine tenths to
    measurements and a tenth to choices; where a measurement moved its marginal by no more than its noise would, each further round gets four times
    as much (half the sigma, twice the epsilon). The last round spends what is left.
Quality
    q_r(D) = w_r (|g M_r(D) - s_r|_1 - b_r), with g = 16 steps a row, s_r the model's marginal in whole steps, b_r = round(g sqrt(2/pi) sigma n_r) the
    expected norm of the noise on n_r cells, and w_r the sum over the workload of weight · (columns that r shares with it), brought to whole
    numbers up to 1,024. All but M_r(D) is public and fixed when r is chosen.
Sensitivity
    Let D and D' be neighbours, whose counts in the cells of r differ by d_i. By the triangle inequality
    |q_r(D) - q_r(D')| <= w_r sum_i abs(abs(g n_i - s_i) - abs(g (n_i + d_i) - s_i)) <= w_r g sum_i abs(d_i) <= w_r g m,
    m = max_rows under add or remove (2 m under replace). The rounding is inside: s_r and b_r are whole numbers before the data is looked at, and
    cancel. The number of rows is in none of them. So max_r w_r · g · m holds for all candidates together, and is what the envelope declares
    (:meth:`privrelease.dp.envelope.Envelope.select`); the bound is met where a person's rows move one cell away from its model.
Model size
    A marginal is a candidate of a round where the junction tree with it has at most ``cells`` · (share of rho that is spent) potentials. One that
    lies in a clique of the tree always is.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.synthesis.marginals.asking import noise_steps, steps_of
from privrelease.synthesis.marginals.domain import maximal
from privrelease.synthesis.marginals.estimate import estimate
from privrelease.synthesis.marginals.junction_tree import junction_tree
from privrelease.synthesis.marginals.stopping import estimate_that_stops
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.synthesis.marginals.asking import Door
    from privrelease.synthesis.marginals.domain import Clique, Domain
    from privrelease.synthesis.marginals.estimate import Estimate
    from privrelease.synthesis.marginals.model import Zero

__all__ = ["MEASURING", "Workload", "aim", "candidates", "default_rounds"]

#: Share of a round's rho that its measurement gets.
MEASURING: Final = Fraction(9, 10)
#: Largest weight of a score (:mod:`privrelease.dp.envelope`).
_HEAVIEST: Final = 1 << 10
#: Evaluations of a round's fit, which goes on from the one before, and of the last.
_EVALUATIONS, _LAST = 60, 2000
#: Potentials that they may compute: a few seconds of a round, a minute or two of the last fit.
_WORK, _LAST_WORK = 100_000_000, 2_000_000_000
#: Tolerance of the last fit, in nats: its loss is of the order of the number of measured cells.
_TOLERANCE: Final = 10.0

#: Marginals that the data is wanted for, with their weights (whole numbers of at least 1).
Workload = dict["Clique", int]


def default_rounds(columns: int) -> int:
    """Return the most rounds where none are given: 16 a column."""
    return 16 * columns


def candidates(domain: Domain, workload: Mapping[Clique, int]) -> dict[Clique, int]:
    """Return every part of the workload's marginals with its weight in a score, the smallest first and then in the order of the domain.

    >>> from privrelease.synthesis.marginals.domain import Domain
    >>> candidates(Domain(("a", "b", "c"), (2, 2, 2)), {("a", "b"): 1, ("b", "c"): 3})
    {('a',): 1, ('b',): 4, ('c',): 3, ('a', 'b'): 5, ('b', 'c'): 7}
    """
    column = dict.fromkeys(domain.names, 0)
    for clique, weight in workload.items():
        for name in clique:
            column[name] += weight
    parts = {part for clique in workload for ways in range(1, len(clique) + 1) for part in combinations(clique, ways)}
    place = {name: number for number, name in enumerate(domain.names)}
    ordered = sorted(parts, key=lambda one: (len(one), [place[name] for name in one]))
    weights = {part: sum(column[name] for name in part) for part in ordered}
    shared = gcd(*weights.values())
    heaviest = max(weights.values()) // shared
    if heaviest <= _HEAVIEST:
        return {part: weight // shared for part, weight in weights.items()}
    return {part: max(1, weight // shared * _HEAVIEST // heaviest) for part, weight in weights.items()}


def aim(
    door: Door,
    workload: Mapping[Clique, int],
    *,
    rounds: int,
    cells: int,
    zeros: Sequence[Zero] = (),
    progress: Callable[[float], object] = lambda _: None,
) -> Estimate:
    """Measure by rounds and return the last estimate. ``cells``: most potentials of the model; ``rounds``: more than there are columns.

    ``progress`` is given the share of rho that is spent.
    """
    domain, setting = door.domain, door.envelope.setting
    weights = candidates(domain, workload)
    whole = door.left
    measuring, choosing = whole * MEASURING / rounds, whole * (1 - MEASURING) / rounds
    for name in domain.names:
        door.measure((name,), measuring)
    fit = estimate(domain, door.noisy, zeros=zeros, most=_EVALUATIONS)
    size = _TreeSize(domain, tuple(zero.clique for zero in zeros))
    while True:
        left = door.left
        progress(float(1 - left / whole))
        last = left <= 2 * (measuring + choosing)
        if last:
            measuring, choosing = left * MEASURING, left * (1 - MEASURING)
        held = maximal(fit.model.potentials)
        allowed = cells * (1 - left / whole)
        offered = [clique for clique in weights if size.holds(held, clique) or size.with_one_more(held, clique) <= allowed]
        penalties = [noise_steps(measuring, domain.cells(clique), setting) for clique in offered]
        models = [fit.model.marginal(clique) for clique in offered]
        chosen = door.choose(offered, models, choosing, penalties, [weights[clique] for clique in offered])
        before = steps_of(fit.model.marginal(chosen))
        door.measure(chosen, door.left if last else measuring)
        if last:
            break
        fit = estimate(domain, door.noisy, zeros=zeros, start=fit, most=_EVALUATIONS, work=_WORK, tolerance=_TOLERANCE)
        if _settled(before, steps_of(fit.model.marginal(chosen)), noise_steps(measuring, domain.cells(chosen), setting)):
            measuring, choosing = 4 * measuring, 4 * choosing
    found = estimate_that_stops(domain, door.noisy, zeros=zeros, most=_LAST, work=_LAST_WORK, tolerance=_TOLERANCE)
    progress(1.0)
    return found


def _settled(before: NDArray[np.int64], after: NDArray[np.int64], noise: int) -> bool:
    """Return True if a measurement moved its marginal of the model by no more than its noise would: more of the same teaches little.

    All three are in steps, so that the last digits of floats do not decide.
    """
    return int(np.abs(after - before).sum()) <= noise


@dataclass(slots=True)
class _TreeSize:
    """Sizes of junction trees, each computed once."""

    domain: Domain
    always: tuple[Clique, ...]
    _known: dict[tuple[Clique, ...], int]

    def __init__(self, domain: Domain, always: tuple[Clique, ...]) -> None:
        self.domain, self.always, self._known = domain, always, {}

    def holds(self, held: tuple[Clique, ...], clique: Clique) -> bool:
        """Return True if the model has the clique's marginal already, or no more than a column of it."""
        return len(clique) == 1 or any(set(clique) <= set(one) for one in held)

    def with_one_more(self, held: tuple[Clique, ...], clique: Clique) -> int:
        """Return the number of potentials of the tree with the clique."""
        key = maximal((*held, *self.always, clique))
        if key not in self._known:
            self._known[key] = junction_tree(self.domain, key).cells
        return self._known[key]
