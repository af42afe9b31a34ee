"""Records of an envelope: what was reserved, each draw from it, and the noisy answers in the order in which they were made.

A transcript is what a method saw. It is noisy, so that whatever is computed from it costs nothing more (post-processing); it holds no exact
figure. Its bytes are what a ledger stores, under the key that :mod:`privrelease.execute.common.envelopes` makes.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal

from privrelease.dp.accountants.events import Approximate, BoundedRange, GaussianNoise, LaplaceNoise, Together
from privrelease.dp.accountants.pure import PureAccountant
from privrelease.dp.accountants.zcdp import ZcdpAccountant
from privrelease.dp.conversion import delta_of_rho, rho_within
from privrelease.dp.mechanisms import DiscreteGaussian, ExponentialMechanism, Thresholding
from privrelease.dp.rules import check_delta, check_epsilon, refuse, refuse_any
from privrelease.dp.sensitivity import Sensitivity
from privrelease.units import Delta, Epsilon, Rho
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.accountants.events import Event
    from privrelease.dp.budget import Budget

__all__ = ["Answered", "EnvelopeDraw", "Reserved", "Transcript"]


_LAWS: Final = {"cells": ("discrete_gaussian", "discrete_laplace"), "keys": ("discrete_gaussian",), "choice": ("exponential",)}


@dataclass(frozen=True, slots=True)
class EnvelopeDraw:
    """The record of one draw from an envelope: what is noised or chosen, by which law, at which scale; no figure of the data.

    ``cells``: discrete Gaussian (``scale`` sigma squared) or Laplace noise (``scale`` b) on counts of rows. ``choice``: the exponential mechanism over ``size``
    candidates. ``keys``: Gaussian noise on counts of persons by private keys, published at or above ``threshold``; one person holds at most
    ``groups`` of them. ``grid``: what one integer step is worth, in rows.
    """

    query: str
    figure: Literal["cells", "choice", "keys"]
    mechanism: Literal["discrete_gaussian", "discrete_laplace", "exponential"]
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
        if self.mechanism not in _LAWS[self.figure]:
            msg = "an envelope measures with Gaussian or Laplace noise, finds keys with Gaussian noise and chooses by the exponential mechanism"
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
        """Return what an accountant composes: nothing but mechanism, sensitivity and scale decides it."""
        if self.mechanism == "exponential":
            return BoundedRange(ExponentialMechanism(self.scale).epsilon(self.sensitivity.l1))
        if self.mechanism == "discrete_laplace":
            return LaplaceNoise(self.scale, self.sensitivity)
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
    """Contents of an envelope: rho, and the probability of a failure outside it, which pays for discovered keys; or, where there is no
    delta, an ``epsilon`` that pure mechanisms add up to.

    >>> from privrelease.dp.budget import Budget
    >>> held = Reserved.of(Budget(Epsilon(1), Delta("1e-6")), failure=Delta("1e-7"))
    >>> held.within(Budget(Epsilon(1), Delta("1e-6")))
    True
    >>> Reserved.of(Budget(Epsilon(1))).loss
    Epsilon(value=Fraction(1, 1))
    """

    rho: Rho
    failure: Delta
    epsilon: Epsilon = field(default_factory=lambda: Epsilon(0))

    def __post_init__(self) -> None:
        if self.epsilon.value and (self.rho.value or self.failure.value):
            msg = "an envelope is reserved in rho, or in epsilon alone"
            raise ValueError(msg)

    @classmethod
    def of(cls, budget: Budget, failure: Delta | None = None) -> Reserved:
        """Return the largest envelope of a budget; ``failure`` is taken off its delta before conversion. Without a delta it is pure.

        Raises PolicyError: DP101, DP102 for its epsilon, DP103, DP104, DP108 for a delta that is missing, out of range or all failure.
        """
        failure = Delta(0) if failure is None else failure
        refuse_any(check_epsilon(budget.epsilon, subject="budget.epsilon"))
        if budget.delta.value == 0 and failure.value == 0:
            return cls(Rho(0), Delta(0), budget.epsilon)
        refuse_any(check_delta(budget.delta, needed_by="gaussian", subject="budget.delta"))
        left = budget.delta.value - failure.value
        if left <= 0:
            refuse("DP104", "the failures of discovered keys use up the whole delta", hint="lower them, or raise delta")
        return cls(Rho(rho_within(budget.epsilon.value, left)), failure)

    @property
    def accountant(self) -> Literal["pure", "zcdp"]:
        """The rule by which draws from it add up."""
        return "pure" if self.epsilon.value else "zcdp"

    @property
    def loss(self) -> Rho | Epsilon:
        """Return what it holds for draws, failures apart."""
        return self.epsilon if self.epsilon.value else self.rho

    @property
    def concentrated(self) -> tuple[Fraction, Fraction]:
        """Return what it holds in rho, and the probability of a failure outside: an epsilon-DP mechanism is (epsilon^2/2)-zCDP."""
        return (self.epsilon.value**2 / 2 if self.epsilon.value else self.rho.value), self.failure.value

    def empty(self) -> ZcdpAccountant | PureAccountant:
        """Return an accountant of its rule that has composed nothing."""
        return PureAccountant() if self.epsilon.value else ZcdpAccountant()

    def within(self, cost: Budget) -> bool:
        """Return True if a budget covers all that can be drawn from the envelope."""
        if self.epsilon.value:
            return self.epsilon.value <= cost.epsilon.value
        return delta_of_rho(self.rho.value, cost.epsilon.value) + self.failure.value <= cost.delta.value

    def covers(self, draws: Iterable[EnvelopeDraw]) -> bool:
        """Return True if draws cost together, composed from their records alone, at most what is reserved."""
        whole, accountant = Together(tuple(draw.event for draw in draws)), self.empty()
        return accountant.supports(whole) and self.holds(accountant.compose(whole))

    def holds(self, spent: ZcdpAccountant | PureAccountant) -> bool:
        """Return True if what an accountant composed is at most what is reserved."""
        if isinstance(spent, PureAccountant):
            return spent.spent.value <= self.epsilon.value
        # a total failure is cut at 1, and no reservation's reaches it
        return spent.rho.value <= self.rho.value and spent.failure.value <= self.failure.value < 1

    def less(self, spent: ZcdpAccountant | PureAccountant) -> Reserved:
        """Return what is left of it."""
        if isinstance(spent, PureAccountant):
            return Reserved(Rho(0), Delta(0), Epsilon(self.epsilon.value - spent.spent.value))
        return Reserved(Rho(self.rho.value - spent.rho.value), Delta(self.failure.value - spent.failure.value))

    def record(self) -> dict[str, str]:
        """Return the reservation as exact texts."""
        pure = {"epsilon": str(self.epsilon)} if self.epsilon.value else {}
        return {"rho": str(self.rho), "failure": str(self.failure)} | pure

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> Reserved:
        """Return the reservation of a record; raises ValueError or KeyError where it is not one."""
        return cls(Rho(record["rho"]), Delta(record["failure"]), Epsilon(record.get("epsilon", "0")))


_VERSION: Final = 1


@dataclass(frozen=True, eq=False, slots=True)
class Answered:
    """One draw and its noisy answer: read-only counts by cell, the position of a choice, or discovered keys with their persons."""

    draw: EnvelopeDraw
    answer: NDArray[np.int64] | int | dict[tuple[str, ...], int]


@dataclass(frozen=True, eq=False, slots=True)
class Transcript:
    """Every answer from one envelope, in the order in which it was made.

    ``content``: the keyed digest of the data; ``run``: which drew them; ``reservation``: the number of the ledger's entry that paid.
    """

    dataset: str
    content: str
    run: str | None
    reservation: int
    answers: tuple[Answered, ...]

    def to_bytes(self) -> bytes:
        """Return the transcript as it is stored: a line of JSON, then the cells of each measurement as compressed integers, each array as
        narrow as its numbers allow (10 million cells at sigma 5 take about 5 MB).
        """
        listed, blocks = [], []
        for one in self.answers:
            answer = one.answer
            stated: dict[str, Any] = {"draw": one.draw.record()}
            if isinstance(answer, int):
                stated["chosen"] = answer
            elif isinstance(answer, dict):
                stated["keys"] = [[list(key), count] for key, count in answer.items()]
            else:
                narrow = _narrow(answer)
                blocks.append(zlib.compress(narrow.tobytes(), 1))
                stated["cells"] = [narrow.dtype.str, len(blocks[-1])]
            listed.append(stated)
        head = {"version": _VERSION, "answers": listed} | {name: getattr(self, name) for name in _ABOUT}
        return b"\n".join((json.dumps(head, sort_keys=True, ensure_ascii=True).encode(), b"".join(blocks)))

    @classmethod
    def from_bytes(cls, stored: bytes) -> Transcript | None:
        """Return the transcript of its stored form; None where it is of another version. Raises ValueError where it is none."""
        try:
            line, _, blocks = stored.partition(b"\n")
            head = json.loads(line)
            if head["version"] != _VERSION:
                return None
            answers, at = [], 0
            for stated in head["answers"]:
                draw = EnvelopeDraw.from_record(stated["draw"])
                if "cells" in stated:
                    kind, length = stated["cells"]
                    answers.append(Answered(draw, _wide(zlib.decompress(blocks[at : at + length]), kind)))
                    at += length
                elif "keys" in stated:
                    answers.append(Answered(draw, {tuple(map(str, key)): int(count) for key, count in stated["keys"]}))
                else:
                    answers.append(Answered(draw, int(stated["chosen"])))
            return cls(answers=tuple(answers), **{name: head[name] for name in _ABOUT})
        except (KeyError, TypeError, zlib.error) as error:
            msg = "not a transcript of an envelope"
            raise ValueError(msg) from error


_ABOUT: Final = ("dataset", "content", "run", "reservation")


def _narrow(cells: NDArray[np.int64]) -> NDArray[np.signedinteger]:
    low, high = int(cells.min(initial=0)), int(cells.max(initial=0))
    for kind in ("<i1", "<i2", "<i4"):
        most = 1 << (8 * int(kind[-1]) - 1)
        if -most <= low and high < most:
            return cells.astype(kind)
    return cells.astype("<i8")


def _wide(block: bytes, kind: str) -> NDArray[np.int64]:
    import numpy as np

    cells = np.frombuffer(block, dtype=np.dtype(kind)).astype(np.int64)
    cells.setflags(write=False)
    return cells
