"""The protocol of every accountant, and the refusal of events it has no theorem for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from typing import Self

    from privrelease.dp.accountants.events import Event
    from privrelease.units import Delta, Epsilon

__all__ = ["Accountant", "UnsupportedEventError"]


class UnsupportedEventError(ValueError):
    """An accountant was given an event it cannot bound; ask ``supports`` first."""


class Accountant(ABC):
    """Total privacy loss of composed events. Frozen: composing returns a new accountant, so no tally can drift.

    Its statement is never below the truth, and every rounding is upward.
    """

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def supports(cls, event: Event) -> bool:
        """Return True if there is a bound for the event and everything inside it."""

    @abstractmethod
    def _composed(self, event: Event, times: int) -> Self: ...

    def compose(self, event: Event, times: int = 1) -> Self:
        """Return the accountant after ``times`` more of the event; raises UnsupportedEventError, ValueError for ``times`` below 0."""
        if times < 0:
            msg = "an event cannot be taken back"
            raise ValueError(msg)
        if not self.supports(event):
            msg = f"the {self.name} accountant has no bound for this event"
            raise UnsupportedEventError(msg)
        return self._composed(event, times)

    @abstractmethod
    def epsilon(self, delta: Delta) -> Epsilon | None:
        """Return an epsilon such that all composed events together are (epsilon, delta)-DP; None where there is none."""

    @abstractmethod
    def delta(self, epsilon: Epsilon) -> Delta:
        """Return a delta such that all composed events together are (epsilon, delta)-DP."""
