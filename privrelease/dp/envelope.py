"""An envelope: a budget that is reserved as a whole, from which a method measures, looks at the noisy answer and asks again.

:func:`~privrelease.dp.draws.charge_then_draw` wants every draw before the first is drawn. A method that chooses as it goes knows neither its
draws nor their scales beforehand; it gets an :class:`Envelope`, asks for public queries and receives noisy values only.

Guarantee
    Adaptive composition of zCDP (Bun and Steinke 2016): where each draw is rho_i-zCDP but for a failure of probability delta_i, whatever the
    answers before it were, all of them are (sum rho_i)-zCDP but for a failure of probability (sum delta_i). A draw that would raise either
    sum above what was reserved is refused before it is drawn. Fully adaptive scales need no more than that the total is fixed beforehand
    (Whitehouse and others 2023, privacy filters), which the reservation does. An envelope without a delta is reserved in epsilon: its noise
    is Laplace's, and the epsilons of draws and choices add up, adaptively too (Rogers and others 2016, theorem 3.6).

Serving again
    An envelope over the transcript of an earlier run charges nothing and draws nothing. Every question takes the same way as before, up to
    the place where noise would be drawn; there the next stored answer is returned, if it answers that very question. So a method runs the
    same code whether it is served or not, and it receives all answers in the order in which they were made. It may ask only what follows
    from its settings and from the answers before: a question that differs from the stored one is refused (L138), never drawn.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, isqrt, prod
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from privrelease.dp.envelope_queries import MOST_GRID, Score
from privrelease.dp.envelope_records import Answered, EnvelopeDraw, Reserved
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace, ExponentialMechanism, Thresholding
from privrelease.dp.rules import refuse
from privrelease.dp.sensitivity import Sensitivity, of_group_counts, of_group_persons
from privrelease.errors import BudgetError, InternalError
from privrelease.units import Epsilon, Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.envelope_queries import Dependence, Grouped
    from privrelease.dp.queries import Setting
    from privrelease.dp.randomness import Randomness
    from privrelease.units import Delta

_Answer = TypeVar("_Answer", "NDArray[np.int64]", int, dict[tuple[str, ...], int])

__all__ = ["MOST_CELLS", "Counts", "Envelope", "Marginal", "Score", "marginal_name"]

#: Most cells of one query of an envelope.
MOST_CELLS: Final = 60_000_000
#: Sigma squared is rounded up to a multiple of 1 over this, so that it is short enough for samples in batches.
_FINE: Final = 1 << 12
#: Epsilon of a choice is rounded down to a multiple of 1 over this.
_DIGITS: Final = 10**9


def marginal_name(columns: Iterable[str]) -> str:
    """Return the canonical name of counts of rows by columns: sorted, each quoted where it could be read as several or as another name.

    >>> marginal_name(["sex", "age"]), marginal_name(["age group"])
    ('age x sex', '"age group"')
    """
    return " x ".join(json.dumps(one) if " " in one or one.startswith('"') else one for one in sorted(columns))


@dataclass(frozen=True, slots=True)
class Marginal:
    """A query that a method may ask: counts of rows by cell. ``name``: its canonical key; ``shape``: cells of each of its columns.

    ``merged``: public; by column the cell in which each of its cells is counted, ``()`` where each has its own. Sums of counts over cells
    that no row is in twice change with one person's rows by no more than the counts do, in L1 and in the largest L2.

    >>> Marginal("age x sex", (10, 3)).size
    30
    >>> Marginal("age x sex", (4, 3), ((0, 1, 2, 2), ())).size
    9
    """

    name: str
    shape: tuple[int, ...]
    merged: tuple[tuple[int, ...], ...] = ()

    @property
    def size(self) -> int:
        """The number of cells that are counted."""
        return prod(self.counted)

    @property
    def counted(self) -> tuple[int, ...]:
        """The cells of each column as they are counted."""
        if not self.merged:
            return self.shape
        return tuple(max(labels) + 1 if labels else size for labels, size in zip(self.merged, self.shape, strict=True))

    def exact(self, counts: Counts) -> NDArray[np.int64]:
        """Return the exact counts, for the envelope alone."""
        found = counts.rows(self)
        if found.size != prod(self.shape):
            code, message = "R211", "the counts of a query are not those of its cells"
            raise InternalError(code, message)
        return _merged(found, self) if self.merged else found


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

    ``charge`` reserves durably or raises; it is called once, when the envelope is made. What is not used stays spent. ``stored``: the answers
    of an earlier run, which are served again; nothing is charged, counted or drawn then. Answers are read-only. One question at a time: of
    threads that ask together each waits for the one before, and their order is that of the transcript.
    """

    def __init__(
        self,
        reserved: Reserved,
        setting: Setting,
        counts: Counts,
        charge: Callable[[Reserved], object],
        randomness: Randomness,
        *,
        stored: Sequence[Answered] | None = None,
    ) -> None:
        self.reserved = reserved
        self.setting = setting
        self._counts = counts
        self._randomness = randomness
        self._spent = reserved.empty()
        self._whole: Reserved | None = None
        self._draws: list[EnvelopeDraw] = []
        self._answers: list[Answered] = []
        self._stored = stored
        self._closed = False
        self._lock = Lock()
        if stored is None:
            charge(reserved)

    @property
    def private(self) -> bool:
        """False where the randomness was a test's; such figures cannot be published."""
        return self._randomness.private

    @property
    def left(self) -> Reserved:
        """Return what may still be drawn; public, since it follows from what was asked."""
        return self.reserved.less(self._spent)

    def part(self, share: Fraction) -> Rho | Epsilon:
        """Return a share of what was left when a share was first asked for: discoveries, which come before, are taken off."""
        if not 0 < share <= 1:
            msg = "a share lies above 0 and is at most 1"
            raise ValueError(msg)
        if self._whole is None:
            self._whole = self.left
        loss = self._whole.loss
        return type(loss)(loss.value * share)

    def close(self) -> tuple[EnvelopeDraw, ...]:
        """Return the records of all draws, for the ledger; nothing is drawn any more."""
        with self._lock:
            self._closed = True
            return tuple(self._draws)

    @property
    def answers(self) -> tuple[Answered, ...] | None:
        """Every answer in the order in which it was made; None where one was paid for and could not be given.

        Raises BudgetError (L138) where stored answers were served, and not all of them.
        """
        with self._lock:
            if self._stored is not None and len(self._answers) < len(self._stored):
                raise self._differs(self._stored[len(self._answers)].draw, "is not asked for any more")
            return tuple(self._answers) if len(self._answers) == len(self._draws) else None

    # ------------------------------------------------------------------------------------------------------------------- answers

    def measure(self, query: Marginal | Grouped, loss: Rho | Epsilon) -> NDArray[np.int64]:
        """Return noisy counts of rows by cell, at a cost of at most ``loss``: discrete Gaussian noise for a rho, Laplace's for an epsilon.

        One person changes the counts by the L2 (L1) distance of :func:`~privrelease.dp.sensitivity.of_group_counts`; sigma squared is
        L2^2/(2 rho), the scale L1/epsilon, both rounded up.
        """
        _check_cells(query)
        sensitivity = of_group_counts(self.setting.contribution, self.setting.neighbours)
        noise = _noise(sensitivity, loss)

        def noisy() -> NDArray[np.int64]:
            found: NDArray[np.int64] = self._exact(query) + noise.sample(query.size, self._randomness)
            found.setflags(write=False)  # what was seen is what is stored
            return found

        return self._answer(EnvelopeDraw(query.name, "cells", noise.name, sensitivity, noise.scale, size=query.size), noisy)

    def select(
        self, candidates: Sequence[Marginal], scores: Sequence[Score | Dependence], loss: Rho | Epsilon, *, grid: int = 1
    ) -> int:
        """Return the position of a candidate chosen by its score, at a cost of at most ``loss``; a rho pays for an epsilon of sqrt(8 rho).

        Sensitivity: a score is w (sum of abs(g n_i - model_i) - penalty); model, penalty, w and g are public integers. By the triangle
        inequality counts that differ by d_i change it by at most w g (sum of abs(d_i)), w g times the L1 distance of
        :func:`~privrelease.dp.sensitivity.of_group_counts`, in either direction; over all candidates by the largest weight times that.
        That of :class:`~privrelease.dp.envelope_queries.Dependence` is proven there.

        Raises PolicyError DP125 without a candidate, TypeError where a part of a score is not an integer, ValueError where it is out
        of bounds; all before anything is drawn.
        """
        if not candidates:
            refuse("DP125", "there is no candidate to choose from", hint="offer at least one query")
        _check_scores(candidates, scores, grid)
        counted = of_group_counts(self.setting.contribution, self.setting.neighbours)
        sensitivity = Sensitivity.of_one_number(max(score.reach for score in scores) * grid * counted.l1)
        loss = _positive(loss)
        epsilon = loss.value if isinstance(loss, Epsilon) else Fraction(isqrt(int(8 * loss.value * _DIGITS**2)), _DIGITS)
        if epsilon == 0:
            refuse("DP124", "rho is too small for a choice", hint="give it a rho of at least 1e-15")
        mechanism = ExponentialMechanism.calibrated(sensitivity=sensitivity.l1, epsilon=epsilon)
        names = "|".join(query.name for query in candidates)
        drawn = EnvelopeDraw(
            names, "choice", "exponential", sensitivity, mechanism.scale, Fraction(1, grid), size=len(candidates)
        )

        def chosen() -> int:
            exact = [score.steps(query, self._exact(query), grid) for query, score in zip(candidates, scores, strict=True)]
            return int(mechanism.choose(exact, self._randomness))

        return self._answer(drawn, chosen)

    def discover(self, query: str, rho: Rho, failure: Delta) -> dict[tuple[str, ...], int]:
        """Return the keys in the data that enough persons hold, each with its noisy number of persons.

        A key that only one person holds is published with probability at most ``failure`` in all
        (:mod:`privrelease.dp.mechanisms.thresholding`); one person changes at most ``groups`` counts by 1.
        """
        contribution = self.setting.contribution
        sensitivity = of_group_persons(contribution, self.setting.neighbours)
        _positive(rho)
        scale = _sigma_squared(sensitivity, rho)
        if not 0 < failure.value < 1:
            refuse("DP103", "publishing private group keys needs a delta above 0", hint="give discovery a part of delta")
        selection = Thresholding.calibrated(DiscreteGaussian(scale), delta=failure.value, groups=contribution.groups)
        drawn = EnvelopeDraw(
            query,
            "keys",
            "discrete_gaussian",
            sensitivity,
            scale,
            threshold=selection.threshold,
            groups=contribution.groups,
        )

        def found() -> dict[tuple[str, ...], int]:
            keys, persons = self._counts.persons(query)
            shown = selection.select(persons.tolist(), self._randomness)
            return {key: count for key, count in zip(keys, shown, strict=True) if count is not None}

        return dict(self._answer(drawn, found))

    # -------------------------------------------------------------------------------------------------------------------- spending

    def _answer(self, draw: EnvelopeDraw, drawing: Callable[[], _Answer]) -> _Answer:
        """Spend a draw, then make it or take the stored answer in its place.

        A draw that fails closes the envelope: it was paid for, and what follows could not be told from what was stored.
        """
        with self._lock:
            self._spend(draw)
            try:
                answer: _Answer = drawing() if self._stored is None else self._again(self._stored, draw)
            except BaseException:
                self._closed = True
                raise
            self._answers.append(Answered(draw, answer))
            return answer

    def _spend(self, draw: EnvelopeDraw) -> None:
        """Record a draw. Raises BudgetError (L135) where it does not fit, before it is drawn."""
        if self._closed:
            code, message = "R210", "an envelope was used after it was closed"
            raise InternalError(code, message)
        after = self._spent.compose(draw.event)
        if not self.reserved.holds(after):
            left = self.left
            held = f"{'epsilon' if isinstance(left.loss, Epsilon) else 'rho'} {float(left.loss.value):.6g}"
            raise BudgetError(
                code="L135",
                message=f"a draw of {draw.query[:80]} does not fit what is left of its envelope: {held}, delta {float(left.failure.value):.6g}",
                hint="ask for less noise on fewer queries; what was reserved stays spent, and nothing was drawn",
            )
        self._spent = after
        self._draws.append(draw)

    def _again(self, stored: Sequence[Answered], draw: EnvelopeDraw) -> Any:  # noqa: ANN401 - of the question's kind, since its record is the same
        place = len(self._answers)
        if place >= len(stored):
            raise self._differs(draw, "has no stored answer")
        if stored[place].draw != draw:
            raise self._differs(draw, "is not the one that was answered")
        return stored[place].answer

    def _differs(self, draw: EnvelopeDraw, how: str) -> BudgetError:
        return BudgetError(
            code="L138",
            message=f"stored answers of an envelope are not those of today's questions: question {len(self._answers) + 1}, "
            f"{draw.query[:80]}, {how}",
            hint="another version of the method, or of a library, asks otherwise: `fresh: true` draws and pays again; nothing was spent",
        )

    def _exact(self, query: Marginal | Grouped) -> NDArray[np.int64]:
        return query.exact(self._counts)


def _merged(exact: NDArray[np.int64], query: Marginal) -> NDArray[np.int64]:
    """Return the sums over cells that are counted as one."""
    import numpy as np

    sums = exact.reshape(query.shape)
    for axis, (labels, size) in enumerate(zip(query.merged, query.counted, strict=True)):
        if labels:
            into = np.zeros((*sums.shape[:axis], size, *sums.shape[axis + 1 :]), np.int64)
            np.add.at(np.moveaxis(into, axis, 0), np.array(labels), np.moveaxis(sums, axis, 0))
            sums = into
    return sums.reshape(-1)


def _check_cells(query: Marginal | Grouped) -> None:
    if not 1 <= query.size <= MOST_CELLS:
        message = f"a query has {query.size} cells, and at most {MOST_CELLS} can be measured"
        refuse("DP123", message, hint="ask for fewer columns, or coarser ones", subject=query.name)


def _check_scores(candidates: Sequence[Marginal], scores: Sequence[Score | Dependence], grid: int) -> None:
    if len(scores) != len(candidates):
        msg = "every candidate has one score"
        raise ValueError(msg)
    if type(grid) is not int or not 1 <= grid <= MOST_GRID:
        msg = "the grid of scores is a whole number that is fixed beforehand"
        raise (ValueError if type(grid) is int else TypeError)(msg)
    for query, score in zip(candidates, scores, strict=True):
        _check_cells(query)
        score.check(query, grid)


def _positive(loss: Rho | Epsilon) -> Rho | Epsilon:
    if loss.value <= 0:
        refuse("DP124", "a draw from an envelope needs a rho or epsilon above 0", hint="give it a part of the envelope")
    return loss


def _noise(sensitivity: Sensitivity, loss: Rho | Epsilon) -> DiscreteGaussian | DiscreteLaplace:
    loss = _positive(loss)
    if isinstance(loss, Rho):
        return DiscreteGaussian(_sigma_squared(sensitivity, loss))
    return DiscreteLaplace(Fraction(ceil(Fraction(sensitivity.l1) / loss.value * _FINE), _FINE))


def _sigma_squared(sensitivity: Sensitivity, rho: Rho) -> Fraction:
    return Fraction(ceil(Fraction(sensitivity.l2_squared) / (2 * rho.value) * _FINE), _FINE)
