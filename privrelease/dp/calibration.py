"""The draws that each query takes, calibrated: nothing is noised, or read exactly, that is not listed here.

A mean is a noisy sum over a noisy count: two draws. A quantile with its interval takes three choices, a variance three draws; Gaussian ones
share the query's budget by zCDP (``joint``). Private group keys take a thresholded count of persons. Under ``replace`` some counts are
public (a draw of law ``public``, which costs nothing and is listed all the same). No function here takes a number of rows: no scale can
depend on one.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from privrelease.dp import sensitivity as moves
from privrelease.dp.conversion import rho_within
from privrelease.dp.domains import CELLS
from privrelease.dp.draws import Draw, Target, check_joint
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace, PermuteAndFlip, Thresholding
from privrelease.dp.quantiles import margin
from privrelease.dp.queries import (
    Count,
    CountPersons,
    Histogram,
    Mean,
    Mode,
    PrivateKeys,
    PublicKeys,
    Quantile,
    Sum,
    Variance,
    needs_delta,
)
from privrelease.dp.rules import check_delta, check_epsilon, refuse, refuse_any
from privrelease.dp.sensitivity import Contribution, Neighbours, Sensitivity
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.dp.budget import Budget
    from privrelease.dp.draws import Figure
    from privrelease.dp.queries import Keys, Noise, Query, Setting

__all__ = ["draws"]


def draws(query: Query, setting: Setting, budget: Budget, noise: Noise = "laplace") -> tuple[Draw, ...]:
    """Return every draw of the query, together within ``budget`` exactly; raises PolicyError on what cannot be.

    >>> from privrelease.dp.budget import Budget
    >>> from privrelease.dp.domains import NumericDomain
    >>> from privrelease.dp.queries import Setting
    >>> glucose = NumericDomain("50", "400", grid="0.1")
    >>> mean = Mean("mean_glucose", "glucose", glucose)
    >>> for draw in draws(mean, Setting(Contribution(1)), Budget(Epsilon(1))):
    ...     print(draw.target.figure, draw.mechanism, draw.sensitivity.l1, draw.scale, draw.epsilon)
    sum discrete_laplace 1750 3500 0.5
    rows discrete_laplace 1 2 0.5
    """
    refuse_any(check_epsilon(budget.epsilon, subject=query.id))
    if needs_delta(query, noise):
        needed: Literal["gaussian", "threshold"] = "threshold" if isinstance(query.by, PrivateKeys) else "gaussian"
        refuse_any(check_delta(budget.delta, needed_by=needed, subject=query.id))
    figures = _figures(query, setting)
    paid = sum(not figure.move.is_public for figure in figures)
    if not paid:
        return tuple(_draw(query, figure, _Part(Epsilon(0), Delta(0), noise), 1) for figure in figures)
    epsilon = Epsilon(budget.epsilon.value / paid)
    # of delta, each Gaussian takes a part and the selection of private keys one more
    parts = sum(figure.is_gaussian(noise) + figure.selects for figure in figures)
    delta = Delta(budget.delta.value / parts) if parts else Delta(0)
    rho = _joint_rho(figures, epsilon, delta, noise)
    part = _Part(epsilon, delta, noise, rho, sum(figure.is_gaussian(noise) for figure in figures) if rho else 0)
    result = tuple(_draw(query, figure, part, setting.contribution.groups) for figure in figures)
    check_joint(result)
    return result


@dataclass(frozen=True, slots=True)
class _Part:
    """The cost that one figure of a query may have: its part of epsilon and delta, or (``rho``) of the zCDP of ``joint``
    Gaussian figures.
    """

    epsilon: Epsilon
    delta: Delta
    noise: Noise
    rho: Fraction | None = None
    joint: int = 0


@dataclass(frozen=True, slots=True)
class _Figure:
    """An integer statistic of a query: what it is, how far a person moves it, what a step is worth.

    ``selects``: it decides which private keys are published. ``monotone``: scores that only grow when a person is added.
    """

    target: Target
    move: Sensitivity
    grid: Fraction = Fraction(1)
    selects: bool = False
    monotone: bool = False

    @property
    def is_choice(self) -> bool:
        return self.target.figure in {"quantile", "lower", "upper", "mode"}

    def is_gaussian(self, noise: Noise) -> bool:
        return noise == "gaussian" and not self.is_choice and not self.move.is_public


def _figures(query: Query, setting: Setting) -> tuple[_Figure, ...]:
    """Return the figures of a query; the selection of private keys first, and a count that it gives already is not taken twice."""
    column = query.column
    complete = (
        query.complete
        if isinstance(query, Sum | Mean | Variance | Quantile)
        else column is None or isinstance(query, Histogram)
    )
    filtered = query.where is not None or not complete
    contribution, neighbours = setting.contribution, setting.neighbours
    if filtered:
        contribution = contribution.filtered()
    if isinstance(query, Histogram | Mode):
        own = _cells(query, contribution, neighbours)
    elif isinstance(query, Count):
        own = (_rows(query.by, column, contribution, neighbours),)
    elif isinstance(query, CountPersons):
        own = (_persons(query.by, column, contribution, neighbours, filtered=filtered),)
    else:
        own = _on_numbers(query, contribution, neighbours)
    if not isinstance(query.by, PrivateKeys):
        return own
    selection = _persons(query.by, column, contribution, neighbours, filtered=filtered)
    given = {"persons", "rows"} if contribution.max_rows == 1 else {"persons"}
    return (_Figure(selection.target, selection.move, selects=True), *(f for f in own if f.target.figure not in given))


def _rows(keys: Keys | None, column: str | None, contribution: Contribution, neighbours: Neighbours) -> _Figure:
    of = moves.of_rows if keys is None else moves.of_group_counts
    return _Figure(Target("rows", column), of(contribution, neighbours))


def _persons(
    keys: Keys | None, column: str | None, contribution: Contribution, neighbours: Neighbours, *, filtered: bool
) -> _Figure:
    if keys is None:
        return _Figure(Target("persons", column), moves.of_persons(neighbours, filtered=filtered))
    return _Figure(Target("persons", column), moves.of_group_persons(contribution, neighbours))


def _cells(query: Histogram | Mode, contribution: Contribution, neighbours: Neighbours) -> tuple[_Figure, ...]:
    """Return counts by bin or category: the rows of a person may be in as many cells as there are rows, whatever bounds groups."""
    cells = Contribution(contribution.max_rows)
    if isinstance(query, Histogram):
        return (_Figure(Target("rows", query.column), moves.of_group_counts(cells, neighbours)),)
    grows = neighbours is Neighbours.ADD_REMOVE
    if query.by is None:  # each score moves by at most m; one choice is made
        return (_Figure(Target("mode", query.column), Sensitivity.of_one_number(cells.max_rows), monotone=grows),)
    return (_Figure(Target("mode", query.column), moves.of_group_counts(contribution, neighbours), monotone=grows),)


def _on_numbers(
    query: Sum | Mean | Variance | Quantile, contribution: Contribution, neighbours: Neighbours
) -> tuple[_Figure, ...]:
    low, high = query.domain.steps
    grid, column = query.domain.grid, query.column
    if isinstance(query, Quantile):
        of_scores = moves.of_quantile_scores if query.by is None else moves.of_group_quantile_scores
        move = of_scores(query.at.numerator, query.at.denominator, contribution, neighbours)
        names: tuple[Figure, ...] = ("quantile", "lower", "upper") if query.interval else ("quantile",)
        return tuple(_Figure(Target(name, column, low, high, quantile=query.at), move, grid) for name in names)
    of = moves.of_sum if query.by is None else moves.of_group_sums
    if isinstance(query, Sum):
        return (_Figure(Target("sum", column, low, high), of(low, high, contribution, neighbours), grid),)
    centre = query.domain.centre
    below, above = low - centre, high - centre
    centred = _Figure(Target("sum", column, low, high, centre), of(below, above, contribution, neighbours), grid)
    rows = _rows(query.by, column, contribution, neighbours)
    if isinstance(query, Mean):
        return (centred, rows)
    most = max(below * below, above * above)
    offset = (
        most // 2
    )  # halves how far one row moves the sum of d^2 - offset, clamped to [-offset, most - offset]; the count gives it back
    squares = _Figure(
        Target("squares", column, low, high, centre, offset),
        of(-offset, most - offset, contribution, neighbours),
        grid * grid,
    )
    return (centred, squares, rows)


def _joint_rho(figures: tuple[_Figure, ...], epsilon: Epsilon, delta: Delta, noise: Noise) -> Fraction | None:
    """Return each figure's rho where the query's Gaussians, composed by zCDP, need less noise than one by one; else None."""
    moved = [figure.move for figure in figures if figure.is_gaussian(noise)]
    if len(moved) < 2:
        return None
    rho = rho_within(epsilon.value * len(moved), delta.value * len(moved)) / len(moved)
    less = all(
        DiscreteGaussian.for_rho(sensitivity_squared=move.l2_squared, rho=rho).scale < _gaussian(move, epsilon, delta).scale
        for move in moved
    )
    return rho if less else None


def _draw(query: Query, figure: _Figure, part: _Part, groups: int) -> Draw:
    """Return the draw of a figure, calibrated to its part of the budget."""
    move = figure.move
    size = None if isinstance(query.by, PrivateKeys) else _size(query)
    if move.is_public:
        return Draw(query.id, figure.target, "public", move, Fraction(1), Epsilon(0), Delta(0), figure.grid, size)
    epsilon, delta = part.epsilon, part.delta
    if figure.is_choice:
        monotone = figure.monotone
        choice = PermuteAndFlip.calibrated(sensitivity=move.l1, epsilon=epsilon.value, monotone=monotone)
        law, target = choice.name, figure.target
        if target.figure in {"lower", "upper"}:
            target = replace(target, offset=margin(choice.scale, target.high - target.low + 1))
        return Draw(query.id, target, law, move, choice.scale, epsilon, Delta(0), figure.grid, size, monotone=monotone)
    noise: DiscreteLaplace | DiscreteGaussian
    if part.noise == "laplace":
        noise, charged = DiscreteLaplace.calibrated(sensitivity=move.l1, epsilon=epsilon.value), Delta(0)
    else:
        noise, charged = _gaussian(move, epsilon, delta, part.rho), delta
    threshold = None
    if figure.selects:
        threshold = Thresholding.calibrated(noise, delta=delta.value, groups=groups).threshold
        charged = Delta(charged.value + delta.value)
    return Draw(
        query.id,
        figure.target,
        noise.name,
        move,
        noise.scale,
        epsilon,
        charged,
        figure.grid,
        size,
        threshold,
        groups if figure.selects else 1,
        joint=part.joint,
    )


def _gaussian(move: Sensitivity, epsilon: Epsilon, delta: Delta, rho: Fraction | None = None) -> DiscreteGaussian:
    """Return the Gaussian noise of that rho; without one, that of (epsilon, delta): by its exact delta where a person moves one
    number, else by zCDP.
    """
    if rho is None and move.coordinates == 1:
        return DiscreteGaussian.for_one_number(sensitivity=move.largest, epsilon=epsilon.value, delta=delta.value)
    return DiscreteGaussian.for_rho(sensitivity_squared=move.l2_squared, rho=rho or rho_within(epsilon.value, delta.value))


def _size(query: Query) -> int:
    """Return how many numbers are published: one a group, or one a group and bin."""
    cells = query.by.size if isinstance(query.by, PublicKeys) else 1
    cells *= query.bins.size if isinstance(query, Histogram) else 1
    if cells > CELLS:
        refuse("DP123", f"too many cells in query {query.id}", hint="use fewer groups or wider bins", subject=query.id)
    return cells
