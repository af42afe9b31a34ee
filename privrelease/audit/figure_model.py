"""One number of an audit, who may see it, and the outcomes of checks: what every section is made of."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Literal

from privrelease.audit.document.sentences import Coded, coded, said_of
from privrelease.documents import Document, optional_field
from privrelease.texts.sentences import known

__all__ = ["Figure", "Outcome", "State", "Visibility"]


class Visibility(StrEnum):
    """Readers who may see a figure."""

    INTERNAL = "internal"
    RECIPIENT = "recipient"
    PUBLIC = "public"


class Outcome(StrEnum):
    """Result of an audit or of one check. ``review``: it does not hold, and a person decides. ``not_evaluated``: it could not be made, or
    there was nothing to evaluate, which is no pass. ``not_asked``: the policy does not ask for it.
    """

    PASS = "pass"  # noqa: S105 -- an outcome, not a password
    WARN = "warn"
    FAIL = "fail"
    REVIEW = "review"
    NOT_EVALUATED = "not_evaluated"
    NOT_ASKED = "not_asked"

    @property
    def state(self) -> State:
        """Return the state: it holds, does not, could not be made, or was not asked for. Only the first two count as made."""
        return _STATES.get(self, "does_not_hold")


State = Literal["holds", "does_not_hold", "not_assessed", "not_asked"]
_STATES: dict[Outcome, State] = {
    Outcome.PASS: "holds",
    Outcome.NOT_EVALUATED: "not_assessed",
    Outcome.NOT_ASKED: "not_asked",
}


class Figure(Document):
    """One number. ``value`` None: undefined (``note`` says why, e.g. no released records)."""

    value: float | int | None
    exact: str | None = None
    unit: Literal["count", "share", "risk", "number"] = "number"
    visibility: Visibility = Visibility.INTERNAL
    note: str | None = None
    note_coded: Coded | None = optional_field()
    """The note as code and values."""

    @property
    def told(self) -> str | None:
        """Return the note, with its code and values where it has them."""
        return None if self.note is None else said_of(self.note, self.note_coded)

    @classmethod
    def of(
        cls,
        value: Fraction | float | None,
        unit: Literal["count", "share", "risk", "number"] = "number",
        visibility: Visibility = Visibility.INTERNAL,
        note: str | None = None,
    ) -> Figure:
        """Make a figure; a Fraction keeps its exact text, a note the code that it has in the catalogue.

        >>> Figure.of(None, note="no released records").note_coded
        Coded(code='sentence.no_records', values={})
        """
        said = None if note is None else coded(known(note))
        if isinstance(value, Fraction):
            return cls(value=float(value), exact=str(value), unit=unit, visibility=visibility, note=note, note_coded=said)
        exact = str(value) if isinstance(value, int) else None
        return cls(value=value, exact=exact, unit=unit, visibility=visibility, note=note, note_coded=said)
