"""An envelope: a budget that is reserved as a whole, from which a method measures, looks at the noisy answer and asks again.

:func:`~privrelease.dp.draws.charge_then_draw` wants every draw before the first is drawn. A method that chooses as it goes knows neither its
draws nor their scales beforehand; it gets an :class:`Envelope`, asks for public queries and receives noisy values only.

Guarantee
    Adaptive composition of zCDP (Bun and Steinke 2016): where each draw is rho_i-zCDP but for a failure of probability delta_i, whatever the
    answers before it were, all of them are (sum rho_i)-zCDP but for a failure of probability (sum delta_i). A draw that would raise either
    sum above what was reserved is refused before it is drawn. Fully adaptive scales need no more than that the total is fixed beforehand
    (Whitehouse and others 2023, privacy filters), which the reservation does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil, isqrt, prod
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, Protocol

from privrelease.dp.accountants.events import Approximate, BoundedRange, GaussianNoise, Together
from privrelease.dp.accountants.zcdp import ZcdpAccountant
from privrelease.dp.conversion import delta_of_rho, rho_within
from privrelease.dp.mechanisms import DiscreteGaussian, ExponentialMechanism, Thresholding
from privrelease.dp.rules import check_delta, check_epsilon, refuse, refuse_any
from privrelease.dp.sensitivity import Sensitivity, of_group_counts, of_group_persons
from privrelease.errors import BudgetError, InternalError
from privrelease.units import Delta, Rho

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.accountants.events import Event
    from privrelease.dp.budget import Budget
    from privrelease.dp.queries import Setting
    from privrelease.dp.randomness import Randomness

__all__ = ["MOST_CELLS", "Counts", "Envelope", "EnvelopeDraw", "Marginal", "Reserved", "Score"]

#: Most cells of one query of an envelope.
MOST_CELLS: Final = 10_000_000
#: Bounds of a score's parts: 10^7 cells of at most 2^38 steps add up to less than 2^62.
_MOST_STEPS: Final = 1 << 38
_MOST_GRID: Final = 1 << 10
#: Sigma squared is rounded up to a multiple of 1 over this, so that it is short enough for samples in batches.
_FINE: Final = 1 << 12
#: Epsilon of a choice is rounded down to a multiple of 1 over this.
_DIGITS: Final = 10**9


@dataclass(frozen=True, slots=True)
class Marginal:
    """A query that a method may ask: counts of rows by cell. ``name``: its canonical key; ``shape``: cells of each of its columns.

    >>> Marginal("age x sex", (10, 3)).size
    30
    """

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of cells."""
        return prod(self.shape)


@dataclass(frozen=True, eq=False, slots=True)
class Score:
    """The score of a candidate: ``weight`` · (sum over cells of abs(grid · count - ``model``) - ``penalty``).

    ``model``: public integers by cell, the model's marginal in steps of 1/grid of a row; ``weight`` at least 1.
    """

    model: NDArray[np.integer]
    penalty: int = 0
    weight: int = 1


@dataclass(frozen=True, slots=True)
class EnvelopeDraw:
    """The record of one draw from an envelope: what is noised or chosen, by which law, at which scale; no figure of the data.

    ``cells``: discrete Gaussian noise (``scale`` sigma squared) on counts of rows. ``choice``: the exponential mechanism over ``size``
    candidates. ``keys``: Gaussian noise on counts of persons by private keys, published at or above ``threshold``; one person holds at most
    ``groups`` of them. ``grid``: what one integer step is worth, in rows.
    """

    query: str
    figure: Literal["cells", "choice", "keys"]
    mechanism: Literal["discrete_gaussian", "exponential"]
    sensitivity: Sensitivity
    scale: Fraction
    grid: Fraction = Fraction(1)
    size: int | None = None
    threshold: int | None = None
    groups: int = 1

    def __post_init__(self) -> None:
        if self.figure not in {"cells", "choice", "keys"}:
            msg = "a draw from an envelope is of cells, a choice or keys"
            raise ValueError(msg)
        if self.mechanism != ("exponential" if self.figure == "choice" else "discrete_gaussian"):
            msg = "an envelope measures with Gaussian noise and chooses by the exponential mechanism"
            raise ValueError(msg)
        if self.scale <= 0 or self.sensitivity.is_public:
            msg = "a draw from an envelope has noise and protects somebody"
            raise ValueError(msg)
        if (self.threshold is not None) != (self.figure == "keys") or (self.size is None) != (self.figure == "keys"):
            msg = "keys have a threshold, and all else has a size"
            raise ValueError(msg)
        if self.threshold is not None and 2 * self.groups < self.sensitivity.coordinates:
            msg = "a selection counts every key that one person holds"
            raise ValueError(msg)

    @property
    def selection(self) -> Thresholding | None:
        """The selection of private keys, where there is one."""
        return None if self.threshold is None else Thresholding(DiscreteGaussian(self.scale), self.threshold, self.groups)

    @property
    def event(self) -> Event:
        """What an accountant composes: nothing but mechanism, sensitivity and scale decides it."""
        if self.mechanism == "exponential":
            return BoundedRange(ExponentialMechanism(self.scale).epsilon(self.sensitivity.l1))
        selection, noise = self.selection, GaussianNoise(self.scale, self.sensitivity)
        return noise if selection is None else Together((noise, Approximate(Fraction(0), selection.delta())))

    def record(self) -> dict[str, str | int | None]:
        """Return the draw as flat plain data, exact numbers as fractions in text; what a ledger stores."""
        sensitivity = {f"sensitivity.{f.name}": getattr(self.sensitivity, f.name) for f in fields(Sensitivity)}
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "sensitivity"}
        return sensitivity | own | {"scale": str(self.scale), "grid": str(self.grid)}

    @classmethod
    def from_record(cls, record: Mapping[str, str | int | None]) -> EnvelopeDraw:
        """Return the draw of a record; raises ValueError where the record is not one."""
        try:
            rest = dict(record)
            sensitivity = Sensitivity(**{f.name: int(rest.pop(f"sensitivity.{f.name}") or 0) for f in fields(Sensitivity)})
            scale, grid = Fraction(str(rest.pop("scale"))), Fraction(str(rest.pop("grid")))
            return cls(sensitivity=sensitivity, scale=scale, grid=grid, **rest)  # type: ignore[arg-type] # its own checks refuse
        except (KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            msg = "not the record of a draw from an envelope"
            raise ValueError(msg) from error


@dataclass(frozen=True, slots=True)
class Reserved:
    """What an envelope holds: rho, and the probability of a failure outside it, which pays for discovered keys.

    >>> from privrelease.dp.budget import Budget
    >>> from privrelease.units import Epsilon
    >>> held = Reserved.of(Budget(Epsilon(1), Delta("1e-6")), failure=Delta("1e-7"))
    >>> held.within(Budget(Epsilon(1), Delta("1e-6")))
    True
    """

    rho: Rho
    failure: Delta

    @classmethod
    def of(cls, budget: Budget, failure: Delta | None = None) -> Reserved:
        """Return the largest envelope of a budget; ``failure`` is taken off its delta before conversion.

        Raises PolicyError: DP101, DP102 for its epsilon, DP103, DP104, DP108 for a delta that is missing, out of range or all failure.
        """
        failure = Delta(0) if failure is None else failure
        refuse_any(check_epsilon(budget.epsilon, subject="budget.epsilon"))
        refuse_any(check_delta(budget.delta, needed_by="gaussian", subject="budget.delta"))
        left = budget.delta.value - failure.value
        if left <= 0:
            refuse("DP104", "the failures of discovered keys use up the whole delta", hint="lower them, or raise delta")
        return cls(Rho(rho_within(budget.epsilon.value, left)), failure)

    def within(self, cost: Budget) -> bool:
        """Return True if a budget covers all that can be drawn from the envelope."""
        return delta_of_rho(self.rho.value, cost.epsilon.value) + self.failure.value <= cost.delta.value

    def covers(self, draws: Iterable[EnvelopeDraw]) -> bool:
        """Return True if draws cost together, composed from their records alone, at most what is reserved."""
        spent = ZcdpAccountant().compose(Together(tuple(draw.event for draw in draws)))
        return self._holds(spent)

    def _holds(self, spent: ZcdpAccountant) -> bool:
        # a total failure is cut at 1, and no reservation's reaches it
        return spent.rho.value <= self.rho.value and spent.failure.value <= self.failure.value < 1

    def record(self) -> dict[str, str]:
        """Return the reservation as exact texts."""
        return {"rho": str(self.rho), "failure": str(self.failure)}

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> Reserved:
        """Return the reservation of a record; raises ValueError or KeyError where it is not one."""
        return cls(Rho(record["rho"]), Delta(record["failure"]))


class Counts(Protocol):
    """The exact counts, which only the envelope asks for."""

    def rows(self, query: Marginal) -> NDArray[np.int64]:
        """Return the number of rows by cell."""
        ...

    def persons(self, query: str) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int64]]:
        """Return the keys in the data and the persons of each."""
        ...


class Envelope:
    """A reserved budget, and the only way from exact counts to noisy ones for a method that looks before it asks.

    ``charge`` reserves durably or raises; it is called once, when the envelope is made. What is not used stays spent.
    """

    def __init__(
        self,
        reserved: Reserved,
        setting: Setting,
        counts: Counts,
        charge: Callable[[Reserved], object],
        randomness: Randomness,
    ) -> None:
        self.reserved = reserved
        self.setting = setting
        self._counts = counts
        self._randomness = randomness
        self._spent = ZcdpAccountant()
        self._draws: list[EnvelopeDraw] = []
        self._closed = False
        self._lock = Lock()
        charge(reserved)

    @property
    def private(self) -> bool:
        """False where the randomness was a test's; such figures cannot be published."""
        return self._randomness.private

    @property
    def left(self) -> Reserved:
        """What may still be drawn; public, since it follows from what was asked."""
        return Reserved(
            Rho(self.reserved.rho.value - self._spent.rho.value),
            Delta(self.reserved.failure.value - self._spent.failure.value),
        )

    def close(self) -> tuple[EnvelopeDraw, ...]:
        """Return the records of all draws, for the ledger; nothing is drawn any more."""
        with self._lock:
            self._closed = True
            return tuple(self._draws)

    # ------------------------------------------------------------------------------------------------------------------- answers

    def measure(self, query: Marginal, rho: Rho) -> NDArray[np.int64]:
        """Return noisy counts of rows by cell, at a cost of at most ``rho``.

        One person changes the counts by the L2 distance of :func:`~privrelease.dp.sensitivity.of_group_counts`; sigma squared is
        L2^2/(2 rho), rounded up.
        """
        _check_cells(query)
        sensitivity = of_group_counts(self.setting.contribution, self.setting.neighbours)
        scale = _sigma_squared(sensitivity, _positive(rho))
        self._spend(EnvelopeDraw(query.name, "cells", "discrete_gaussian", sensitivity, scale, size=query.size))
        exact = self._exact(query)
        noisy: NDArray[np.int64] = exact + DiscreteGaussian(scale).sample(query.size, self._randomness)
        return noisy

    def select(self, candidates: Sequence[Marginal], scores: Sequence[Score], rho: Rho, *, grid: int = 1) -> int:
        """Return the position of a candidate chosen by its score, at a cost of at most ``rho``.

        Sensitivity: a score is w (sum of abs(g n_i - model_i) - penalty); model, penalty, w and g are public integers. By the triangle
        inequality counts that differ by d_i change it by at most w g (sum of abs(d_i)), w g times the L1 distance of
        :func:`~privrelease.dp.sensitivity.of_group_counts`, in either direction; over all candidates by the largest weight times that.

        Raises PolicyError DP125 without a candidate, TypeError where a part of a score is not an integer, ValueError where it is out
        of bounds; all before anything is drawn.
        """
        if not candidates:
            refuse("DP125", "there is no candidate to choose from", hint="offer at least one query")
        _check_scores(candidates, scores, grid)
        counted = of_group_counts(self.setting.contribution, self.setting.neighbours)
        sensitivity = Sensitivity.of_one_number(max(score.weight for score in scores) * grid * counted.l1)
        epsilon = Fraction(isqrt(int(8 * _positive(rho).value * _DIGITS**2)), _DIGITS)
        if epsilon == 0:
            refuse("DP124", "rho is too small for a choice", hint="give it a rho of at least 1e-15")
        mechanism = ExponentialMechanism.calibrated(sensitivity=sensitivity.l1, epsilon=epsilon)
        names = "|".join(query.name for query in candidates)
        drawn = EnvelopeDraw(
            names, "choice", "exponential", sensitivity, mechanism.scale, Fraction(1, grid), size=len(candidates)
        )
        self._spend(drawn)
        exact = [_score(self._exact(query), score, grid) for query, score in zip(candidates, scores, strict=True)]
        return mechanism.choose(exact, self._randomness)

    def discover(self, query: str, rho: Rho, failure: Delta) -> dict[tuple[str, ...], int]:
        """Return the keys in the data that enough persons hold, each with its noisy number of persons.

        A key that only one person holds is published with probability at most ``failure`` in all
        (:mod:`privrelease.dp.mechanisms.thresholding`); one person changes at most ``groups`` counts by 1.
        """
        contribution = self.setting.contribution
        sensitivity = of_group_persons(contribution, self.setting.neighbours)
        scale = _sigma_squared(sensitivity, _positive(rho))
        if not 0 < failure.value < 1:
            refuse("DP103", "publishing private group keys needs a delta above 0", hint="give discovery a part of delta")
        selection = Thresholding.calibrated(DiscreteGaussian(scale), delta=failure.value, groups=contribution.groups)
        self._spend(
            EnvelopeDraw(
                query,
                "keys",
                "discrete_gaussian",
                sensitivity,
                scale,
                threshold=selection.threshold,
                groups=contribution.groups,
            )
        )
        keys, persons = self._counts.persons(query)
        shown = selection.select(persons.tolist(), self._randomness)
        return {key: count for key, count in zip(keys, shown, strict=True) if count is not None}

    # -------------------------------------------------------------------------------------------------------------------- spending

    def _spend(self, draw: EnvelopeDraw) -> None:
        """Record a draw. Raises BudgetError (L135) where it does not fit, before it is drawn."""
        with self._lock:
            if self._closed:
                code, message = "R210", "an envelope was used after it was closed"
                raise InternalError(code, message)
            after = self._spent.compose(draw.event)
            if not self.reserved._holds(after):  # noqa: SLF001 - the same module
                left = self.left
                raise BudgetError(
                    code="L135",
                    message=f"a draw of {draw.query[:80]} does not fit what is left of its envelope: rho {float(left.rho.value):.6g}, "
                    f"delta {float(left.failure.value):.6g}",
                    hint="ask for less noise on fewer queries; what was reserved stays spent, and nothing was drawn",
                )
            self._spent = after
            self._draws.append(draw)

    def _exact(self, query: Marginal) -> NDArray[np.int64]:
        exact = self._counts.rows(query)
        if exact.size != query.size:
            code, message = "R211", "the counts of a query are not those of its cells"
            raise InternalError(code, message)
        return exact


def _check_cells(query: Marginal) -> None:
    if not 1 <= query.size <= MOST_CELLS:
        message = f"a query has {query.size} cells, and at most {MOST_CELLS} can be measured"
        refuse("DP123", message, hint="ask for fewer columns, or coarser ones", subject=query.name)


def _check_scores(candidates: Sequence[Marginal], scores: Sequence[Score], grid: int) -> None:
    if len(scores) != len(candidates):
        msg = "every candidate has one score"
        raise ValueError(msg)
    for query, score in zip(candidates, scores, strict=True):
        _check_cells(query)
        whole = (score.penalty, score.weight, grid)
        if score.model.dtype.kind not in "iu" or any(isinstance(one, bool) or not isinstance(one, int) for one in whole):
            msg = "scores are integers: round the model's marginals to a grid that is fixed beforehand"
            raise TypeError(msg)
        if score.model.size != query.size:
            msg = "a model has one number for each cell"
            raise ValueError(msg)
        bounded = int(score.model.min()) >= -_MOST_STEPS and int(score.model.max()) <= _MOST_STEPS
        if not bounded or not 1 <= grid <= _MOST_GRID or not 1 <= score.weight <= _MOST_GRID:
            msg = "a score is out of bounds"
            raise ValueError(msg)


def _positive(rho: Rho) -> Rho:
    if rho.value <= 0:
        refuse("DP124", "a draw from an envelope needs a rho above 0", hint="give it a part of the envelope")
    return rho


def _sigma_squared(sensitivity: Sensitivity, rho: Rho) -> Fraction:
    return Fraction(ceil(Fraction(sensitivity.l2_squared) / (2 * rho.value) * _FINE), _FINE)


def _score(exact: NDArray[np.int64], score: Score, grid: int) -> int:
    import numpy as np

    distance = int(np.abs(exact * grid - score.model.astype(np.int64)).sum())
    return score.weight * (distance - score.penalty)
