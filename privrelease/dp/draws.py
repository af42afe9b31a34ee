"""A noisy number before it is drawn: what is noised, by which law, at what cost; and the one door through which it is drawn.

A :class:`Draw` cannot be built with a claim smaller than its cost: construction recomputes the cost from mechanism, sensitivity and scale.
It holds only what the plan knows, no figure of the data, so a ledger can store it (:meth:`Draw.record`) before anything is drawn.
"""

from __future__ import annotations

from dataclasses import field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from privrelease.dp.accountants.events import Approximate, Charged, GaussianNoise, LaplaceNoise, Pure, Together
from privrelease.dp.conversion import delta_of_rho
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace, PermuteAndFlip, Thresholding, add_noise
from privrelease.dp.sensitivity import Sensitivity
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from privrelease.dp.accountants.events import Event
    from privrelease.dp.randomness import Randomness

__all__ = ["Draw", "Drawn", "Law", "Target", "charge_then_draw", "check_joint"]

Law = Literal["discrete_laplace", "discrete_gaussian", "permute_and_flip", "public"]
Figure = Literal["rows", "persons", "sum", "squares", "quantile", "lower", "upper", "mode"]


@dataclass(frozen=True, slots=True)
class Target:
    """The exact integer statistic that a draw is about, by group or bin where the draw has several numbers.

    ``rows``, ``persons``: counts (of non-missing ``column`` where one is given). ``sum``: of x - centre over rows, x the column in grid
    steps clamped to [low, high]. ``squares``: of (x - centre)^2 - offset. ``quantile``: scores of the candidates low..high for the
    numerator/denominator quantile. ``lower``, ``upper``: scores of the same candidates for the ends of its interval, ``offset`` their margin
    (:mod:`privrelease.dp.quantiles`). ``mode``: counts by category of ``column``, used as scores.
    """

    figure: Figure
    column: str | None = None
    low: int = 0
    high: int = 0
    centre: int = 0
    offset: int = 0
    quantile: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """One invocation of a mechanism: ``size`` numbers of one law (None: one for each private key).

    ``scale``: b, sigma squared, or the scale of a choice. ``grid``: what one integer step is worth. ``threshold``: this draw selects the
    private keys of its query, those at or above it; one person holds at most ``groups`` of them. ``monotone``: scores that only grow when
    a person is added. ``epsilon``, ``delta``: what is charged, never less than the cost. ``joint``: so many Gaussian draws of this query are
    calibrated together by zCDP, and their charges cover their cost together (:func:`check_joint`), not each its own.
    """

    query: str
    target: Target
    mechanism: Law
    sensitivity: Sensitivity
    scale: Fraction
    epsilon: Epsilon
    delta: Delta = field(default_factory=lambda: Delta(0))
    grid: Fraction = Fraction(1)
    size: int | None = 1
    threshold: int | None = None
    groups: int = 1
    monotone: bool = False
    joint: int = 0

    def __post_init__(self) -> None:
        if self.mechanism not in get_args(Law):
            msg = "a draw needs a known mechanism"
            raise ValueError(msg)
        if self.sensitivity.is_public != (self.mechanism == "public"):
            msg = "a statistic is public if and only if no person changes it"
            raise ValueError(msg)
        if self.threshold is not None and (self.size is not None or self.target.figure != "persons" or self.noise is None):
            msg = "a threshold is for a noisy count of persons by private keys"
            raise ValueError(msg)
        if self.threshold is not None and 2 * self.groups < self.sensitivity.coordinates:
            msg = (
                "a selection counts every key that one person holds"  # as many as counts that move; half of them under replace
            )
            raise ValueError(msg)
        if self.monotone and self.target.figure != "mode":
            msg = "only counts are scores that one person moves in one direction"
            raise ValueError(msg)
        if self.joint and (self.joint < 2 or self.mechanism != "discrete_gaussian"):
            msg = "several Gaussian draws, and only they, are charged together"
            raise ValueError(msg)
        if self._least_epsilon() > self.epsilon.value or self._least_delta() > self.delta.value:
            msg = "a draw cannot claim less than it costs"
            raise ValueError(msg)

    # ------------------------------------------------------------------------------------------------------------------ cost

    @property
    def key(self) -> tuple[str, str]:
        """Query and figure: unique within a release."""
        return self.query, self.target.figure

    @property
    def noise(self) -> DiscreteLaplace | DiscreteGaussian | None:
        """The noise that is added; None for a choice and for a public figure."""
        if self.mechanism == "discrete_laplace":
            return DiscreteLaplace(self.scale)
        return DiscreteGaussian(self.scale) if self.mechanism == "discrete_gaussian" else None

    @property
    def selection(self) -> Thresholding | None:
        """The selection of private keys, where there is one."""
        noise = self.noise
        if noise is None or self.threshold is None:
            return None
        return Thresholding(noise, self.threshold, self.groups)

    def _least_epsilon(self) -> Fraction:
        if self.mechanism == "discrete_laplace":
            return Fraction(self.sensitivity.l1) / self.scale
        if self.mechanism == "permute_and_flip":
            return (1 if self.monotone else 2) * Fraction(self.sensitivity.l1) / self.scale
        return Fraction(0)

    def _least_delta(self) -> Fraction:
        delta = Fraction(0)
        if self.mechanism == "discrete_gaussian" and not self.joint:
            noise = DiscreteGaussian(self.scale)
            if self.sensitivity.coordinates == 1:
                delta = Fraction(noise.delta(self.sensitivity.largest, self.epsilon.value))
            else:
                delta = delta_of_rho(noise.rho(self.sensitivity.l2_squared), self.epsilon.value)
        selection = self.selection
        return delta + selection.delta() if selection is not None else delta

    @property
    def event(self) -> Event:
        """Return what an accountant composes: the mechanism, and the (epsilon, delta) that is charged for it."""
        parts: tuple[Event, ...] = ()
        if self.mechanism == "discrete_laplace":
            parts = (LaplaceNoise(self.scale, self.sensitivity),)
        elif self.mechanism == "discrete_gaussian":
            parts = (GaussianNoise(self.scale, self.sensitivity),)
        elif self.mechanism == "permute_and_flip":
            parts = (Pure(self._least_epsilon()),)
        selection = self.selection
        if selection is not None:
            parts = (*parts, Approximate(Fraction(0), selection.delta()))
        return Charged(Together(parts), self.epsilon.value, self.delta.value)

    # ---------------------------------------------------------------------------------------------------------------- record

    def record(self) -> dict[str, str | int | bool | None]:
        """Return the draw as flat plain data, exact numbers as fractions in text; what a ledger stores."""
        flat: dict[str, str | int | bool | None] = {}
        for name, value in _flat(self):
            flat[name] = value if value is None or isinstance(value, bool | int | str) else _text(value)
        return flat

    @classmethod
    def from_record(cls, record: Mapping[str, str | int | bool | None]) -> Draw:
        """Return the draw of a record; raises ValueError where the record is not one, or claims less than it costs."""
        try:
            rest = dict(record)
            target = Target(**{f.name: rest.pop(f"target.{f.name}") for f in fields(Target)})  # type: ignore[arg-type] # checked by _restored
            sensitivity = Sensitivity(**{f.name: rest.pop(f"sensitivity.{f.name}") for f in fields(Sensitivity)})  # type: ignore[arg-type] # its own checks refuse
            return _restored(target, sensitivity, rest)
        except (KeyError, TypeError, AttributeError) as error:
            msg = "not the record of a draw"
            raise ValueError(msg) from error


def _flat(draw: Draw) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for f in fields(Draw):
        value = getattr(draw, f.name)
        if f.name in {"target", "sensitivity"}:
            pairs.extend((f"{f.name}.{inner.name}", getattr(value, inner.name)) for inner in fields(value))
        else:
            pairs.append((f.name, value))
    return pairs


def _text(value: object) -> str:
    return str(value.value if isinstance(value, Epsilon | Delta) else value)


def _restored(target: Target, sensitivity: Sensitivity, rest: dict[str, str | int | bool | None]) -> Draw:
    def exact(name: str) -> Fraction:
        return Fraction(str(rest.pop(name)))

    if target.quantile is not None:
        target = Target(
            target.figure, target.column, target.low, target.high, target.centre, target.offset, Fraction(target.quantile)
        )
    return Draw(
        target=target,
        sensitivity=sensitivity,
        scale=exact("scale"),
        grid=exact("grid"),
        epsilon=Epsilon(exact("epsilon")),
        delta=Delta(exact("delta")),
        **rest,  # type: ignore[arg-type] # the dataclass refuses unknown names, its checks refuse wrong values
    )


def check_joint(draws: Sequence[Draw]) -> None:
    """Raise ValueError unless draws that are charged together are all there and their charges cover what they cost together.

    Their rhos add to rho; the charges, as sums (epsilon, delta) less the deltas of selections, must cover rho by
    :mod:`privrelease.dp.conversion`.
    """
    for query in {draw.query for draw in draws if draw.joint}:
        together = [draw for draw in draws if draw.query == query and draw.joint]
        if {draw.joint for draw in together} != {len(together)}:
            msg = "draws that are charged together are drawn together"
            raise ValueError(msg)
        rho = sum((DiscreteGaussian(draw.scale).rho(draw.sensitivity.l2_squared) for draw in together), Fraction(0))
        epsilon = sum((draw.epsilon.value for draw in together), Fraction(0))
        delta = sum((draw.delta.value for draw in together), Fraction(0))
        selected = sum((draw.selection.delta() for draw in together if draw.selection is not None), Fraction(0))
        if delta_of_rho(rho, epsilon) + selected > delta:
            msg = "draws cannot claim less together than they cost together"
            raise ValueError(msg)


# -------------------------------------------------------------------------------------------------------------------- the door


@dataclass(frozen=True, slots=True)
class Drawn:
    """The outcome of a draw, in integer steps: ``values`` (None: a key that is not published), or the chosen candidates'
    positions.

    ``private``: False where the randomness was a test's; such figures cannot be published.
    """

    draw: Draw
    values: tuple[int | None, ...]
    private: bool


def charge_then_draw(
    work: Sequence[tuple[Draw, Sequence[int] | Sequence[Sequence[int]]]],
    charge: Callable[[tuple[Draw, ...]], object],
    randomness: Randomness,
) -> tuple[Drawn, ...]:
    """Charge for every draw, then draw each of them once: the only way from an exact figure to a released one.

    ``work``: draws with their exact integers (for a choice: one list of scores per number drawn); private keys in one order for all draws
    of a query, the selecting one first: the others give None where it published nothing. ``charge`` records the draws durably or raises;
    it is called once, before the first byte of noise, and nothing is drawn where it raises. All checks that could fail come before.
    """
    draws = tuple(draw for draw, _ in work)
    if len({draw.key for draw in draws}) != len(draws):
        msg = "the same figure of a query is drawn twice"
        raise ValueError(msg)
    check_joint(draws)
    private_keys: dict[str, int] = {}
    for draw, exact in work:
        if draw.threshold is not None:
            private_keys[draw.query] = len(exact)
        if len(exact) != (private_keys.get(draw.query) if draw.size is None else draw.size):
            msg = "a draw has one exact figure per declared key, empty ones included, or per key that a selection went before"
            raise ValueError(msg)
    charge(draws)
    published: dict[str, tuple[bool, ...]] = {}
    result: list[Drawn] = []
    for draw, exact in work:
        values = _perform(draw, exact, randomness)
        if draw.threshold is not None:
            published[draw.query] = tuple(value is not None for value in values)
        elif draw.size is None:
            values = tuple(value if shown else None for value, shown in zip(values, published[draw.query], strict=True))
        result.append(Drawn(draw, values, randomness.private))
    return tuple(result)


def _perform(draw: Draw, exact: Sequence[int] | Sequence[Sequence[int]], randomness: Randomness) -> tuple[int | None, ...]:
    if draw.mechanism == "permute_and_flip":
        mechanism = PermuteAndFlip(draw.scale)
        return tuple(mechanism.choose(scores, randomness) for scores in exact)  # type: ignore[arg-type] # scores per number
    figures = tuple(int(value) for value in exact)  # type: ignore[arg-type] # plain integers for additive laws
    selection, noise = draw.selection, draw.noise
    if selection is not None:
        return selection.select(figures, randomness)
    return figures if noise is None else add_noise(noise, figures, randomness)
