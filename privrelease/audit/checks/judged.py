"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.audit.document.model import Outcome, Visibility

if TYPE_CHECKING:
    from privrelease.audit.document.model import Figure

__all__ = ["Judged", "absent", "failed", "passed", "unevaluated", "warned"]


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome of one check with the sentence that goes with it; failures are internal, for their sentence counts.

    ``absent``: it could not be looked at because what it compares with was never handed over.
    """

    outcome: Outcome
    message: str
    observed: Figure | None = None
    limit: Figure | None = None
    visibility: Visibility = Visibility.INTERNAL
    absent: bool = False


def passed(message: str, observed: Figure | None = None, limit: Figure | None = None) -> Judged:
    """It holds. The sentence is for recipients too: it must not count the source."""
    return Judged(Outcome.PASS, message, observed, limit, Visibility.RECIPIENT)


def failed(message: str, observed: Figure | None = None, limit: Figure | None = None) -> Judged:
    """It does not hold."""
    return Judged(Outcome.FAIL, message, observed, limit)


def warned(message: str, observed: Figure | None = None) -> Judged:
    """It holds, with something to know."""
    return Judged(Outcome.WARN, message, observed)


def unevaluated(message: str) -> Judged:
    """It could not be looked at: no pass."""
    return Judged(Outcome.NOT_EVALUATED, message)


def absent(message: str) -> Judged:
    """There is nothing to compare with: no pass; no failure either where the file came from elsewhere, and a person has to assess it."""
    return Judged(Outcome.NOT_EVALUATED, message, absent=True)
