"""Events: what happened to a person's data, as small frozen values. What each is worth is the accountants' business.

``Together`` is sequential composition. ``Parallel`` holds parts of one snapshot such that contribution bounding puts each person into at
most ``parts`` of them (use :func:`parallel`, which doubles that number under replace).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.dp.sensitivity import Neighbours
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from privrelease.dp.sensitivity import Sensitivity

__all__ = [
    "Approximate",
    "BoundedRange",
    "Charged",
    "Event",
    "GaussianNoise",
    "LaplaceNoise",
    "Parallel",
    "Pure",
    "Together",
    "leaves",
    "parallel",
]


@dataclass(frozen=True, slots=True)
class Pure:
    """Any epsilon-DP mechanism."""

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Approximate:
    """Any (epsilon, delta)-DP mechanism; (0, delta) is a failure of probability delta."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """Any epsilon-bounded-range mechanism: between neighbours, the changes of the log-probabilities lie in an interval of width epsilon
    that holds 0. The exponential mechanism is one; such a mechanism is epsilon-DP too.
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Discrete Laplace noise of that scale on a vector of that sensitivity."""

    scale: Fraction
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Discrete Gaussian noise of that sigma squared on a vector of that sensitivity."""

    scale: Fraction
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class Together:
    """All of the events, on the same persons."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Parallel:
    """Events on parts of one snapshot; one person's data is in at most ``parts`` of them."""

    events: tuple[Event, ...]
    parts: int

    def __post_init__(self) -> None:
        if self.parts < 1:
            msg = "a person is in at least one part"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Charged:
    """An event and the (epsilon, delta) that was assigned to it; who made the event proves that it costs no more."""

    event: Event
    epsilon: Fraction
    delta: Fraction


Event = Pure | Approximate | BoundedRange | LaplaceNoise | GaussianNoise | Together | Parallel | Charged


def parallel(events: tuple[Event, ...], *, groups: int, neighbours: Neighbours) -> Parallel:
    """Return the events as parts of one snapshot where a person is in at most ``groups`` parts: under replace up to twice as many change."""
    return Parallel(events, groups if neighbours is Neighbours.ADD_REMOVE else 2 * groups)


def leaves(event: Event) -> Iterator[Event]:
    """Yield the mechanisms and failures inside an event, without what was charged for them."""
    if isinstance(event, Charged):
        yield from leaves(event.event)
    elif isinstance(event, Together | Parallel):
        for inner in event.events:
            yield from leaves(inner)
    else:
        yield event
