"""Earlier releases that an audit looked at: field ``earlier`` of ``audit.json``. All but the verdict is internal.

Changes since the previous release: field ``since`` of ``audit.json``.
"""

from typing import Literal, TypeAlias

from pydantic import Field

from privrelease.audit.document.sentences import Coded, said_of
from privrelease.audit.figure_model import Figure
from privrelease.documents import Document, optional_field

__all__ = ["ComparedRelease", "Difference", "EarlierFacts", "LinkedBy", "Looked", "SinceFacts", "Verdict", "for_recipients"]


#: The way in which an earlier release was looked at.
Looked: TypeAlias = Literal["combined", "same_file", "not_held", "other_kind", "unreadable", "nothing_shared", "unknown"]

#: The way in which records of both can be brought together.
LinkedBy: TypeAlias = Literal["source", "place", "pseudonym", "columns"]

Verdict: TypeAlias = Literal["pass", "warn", "fail", "unlinked", "not_evaluated", "unknown", "same"]


class ComparedRelease(Document):
    """One earlier release compared with this one."""

    release: str
    run: str | None
    looked: Looked
    """``same_file``: it holds the same. ``not_held``: the policy says that recipients do not hold it. ``other_kind``: releases of different
    kinds are not compared. ``unknown``: it was published by the log of publications, and nothing of it is available.
    """
    linked_by: LinkedBy | None = None
    """The way in which records of both can be brought together: by their place in the file, a shared pseudonym, or the columns that both show. ``source``: by
    their source rows, in audits of older versions.
    """
    linked: Figure | None = None
    figures: dict[str, Figure] = Field(default_factory=dict)
    """By threat (or figure): records exposed, cells given back, and the like."""
    note: str = ""
    note_coded: Coded | None = optional_field()
    """The note as code and values."""
    release_coded: Coded | None = optional_field()
    """The name as code and values, where it holds words: that of a run's release."""

    @property
    def told_release(self) -> str:
        """Return the name, with its code and values where it has them."""
        return said_of(self.release, self.release_coded)

    @property
    def told(self) -> str:
        """Return the note, with its code and values where it has them."""
        return said_of(self.note, self.note_coded)


class EarlierFacts(Document):
    """Every earlier release that was found. ``left``: older ones that were not looked at."""

    releases: tuple[ComparedRelease, ...]
    left: int = 0
    verdict: Verdict | None = None
    """Of all checks against earlier releases together. ``unlinked``: nothing in the files links their records. Recipients learn this and ``left``."""
    remaining: tuple[str, ...] = ()
    """The matters that a person has yet to assess about them, as in the decision: these sentences name other releases."""


def for_recipients(facts: EarlierFacts) -> EarlierFacts:
    """Return the verdict, and how many releases were not looked at: other releases and their figures are no matter of recipients."""
    return EarlierFacts(releases=(), left=facts.left, verdict=facts.verdict)


class Difference(Document):
    """One change. ``what``: a word of the report's catalogue (``since.<what>``); ``about``: the threat, check or file."""

    what: str
    about: str = ""
    before: str | None = None
    after: str | None = None
    before_figure: Figure | None = None
    after_figure: Figure | None = None
    effect: Literal["better", "worse", "changed"]


class SinceFacts(Document):
    """The previous release's run, when it was audited, and what changed."""

    run: str | None
    audited_at: str
    changes: tuple[Difference, ...]
