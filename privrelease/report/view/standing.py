"""Standing of a release: what became of it after its audit, as a report and the index show it.

``audit.json`` is closed before anything is decided, so it cannot say whether a release was published, waits, or was taken back. The record of
the run does; where a page is rendered without one, nothing is said.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from privrelease.documents import Document

if TYPE_CHECKING:
    from privrelease.release.runs import RunRecord
    from privrelease.report.view.page import Sentence, Status

__all__ = ["Standing", "StandingState", "standing_of", "standing_said", "standing_status"]

StandingState: TypeAlias = Literal["published", "superseded", "parked", "quarantined", "withdrawn", "rehearsed"]

_STATUSES: "dict[str, Status]" = {
    "published": "pass",
    "superseded": "info",
    "parked": "review",
    "quarantined": "fail",
    "withdrawn": "fail",
    "rehearsed": "info",
}


class Standing(Document):
    """A state, the day on which it began (empty: just now), and why, where a person gave a reason."""

    state: StandingState
    at: str = ""
    reason: str = Field(default="", exclude_if=lambda reason: not reason)


def standing_of(record: "RunRecord") -> Standing | None:
    """Return the standing of a run; None where it is under way, failed or was abandoned: then there is no decision to stand by."""
    last = record.history[-1]
    found: dict[str, StandingState] = {
        "published": "published",
        "publishing": "published",
        "superseded": "superseded",
        "quarantined": "quarantined",
        "withdrawn": "withdrawn",
    }
    if record.state.value == "parked" and record.decided is not None and record.decided.outcome != "fail":
        return Standing(state="parked", at=f"{last.at:%Y-%m-%d}")
    state = found.get(record.state.value)
    if state is None:
        return None
    return Standing(state=state, at=f"{last.at:%Y-%m-%d}", reason=last.reason if state == "withdrawn" else "")


def standing_said(standing: Standing, missing: tuple[str, ...]) -> "Sentence":
    """Say what became of a release. ``missing``: roles that have yet to approve it.

    >>> standing_said(Standing(state="parked", at="2026-11-29"), ("dpo",))
    ('standing.parked_for', {'roles': 'dpo'})
    """
    if standing.state == "parked":
        return ("standing.parked_for", {"roles": ", ".join(missing)}) if missing else ("standing.parked", {})
    if standing.state == "withdrawn" and standing.reason:
        return "standing.withdrawn_because", {"date": standing.at, "reason": standing.reason}
    return f"standing.{standing.state}", {"date": standing.at} if standing.at else {}


def standing_status(standing: Standing) -> "Status":
    """Return the mark of a state.

    >>> standing_status(Standing(state="quarantined"))
    'fail'
    """
    return _STATUSES[standing.state]
