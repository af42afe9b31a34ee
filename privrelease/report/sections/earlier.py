"""Parts of sections 7, 10 and 11: earlier releases of the same persons, and what they tell together with this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.report.view.edition import Edition
from privrelease.report.view.page import shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.previous_releases import ComparedRelease
    from privrelease.report.view.page import Context, Sentence, Shown, Status
    from privrelease.texts.catalogue import Catalogue

__all__ = ["EarlierBody", "EarlierCheck", "EarlierRow", "earlier_body"]

_CHECKS = "AUDIT-EARLIER-"


@dataclass(frozen=True, slots=True)
class EarlierCheck:
    """A check next to earlier releases, and what came of it."""

    title: str
    status: Status
    result: str
    said: str


@dataclass(frozen=True, slots=True)
class EarlierRow:
    """An earlier release: how it was looked at, and the figures (label, figure) of both together; ``without``: what is said where there are none."""

    release: str
    how: tuple[str, ...]
    figures: tuple[tuple[str, Shown], ...]
    without: str


@dataclass(frozen=True, slots=True)
class EarlierBody:
    """The verdict in a sentence; checks and releases are for those inside."""

    said: Sentence
    checks: tuple[EarlierCheck, ...] = ()
    rows: tuple[EarlierRow, ...] = ()
    older: Sentence | None = None


def earlier_body(context: Context) -> EarlierBody | None:
    """Show what earlier releases tell, or that none was known; None where what was found cannot be read."""
    texts = context.catalogue
    facts = context.audit.earlier
    if facts is None:
        return EarlierBody((f"earlier.none.{'outside' if context.edition is Edition.RECIPIENT else 'inside'}", {}))
    older: Sentence | None = ("earlier.older", {"n": numbers.count(facts.left)}) if facts.left else None
    if context.edition is Edition.RECIPIENT:
        return None if facts.verdict is None else EarlierBody((f"earlier.outside.{facts.verdict}", {}), older=older)
    return EarlierBody(
        said=("earlier.inside", {}),
        checks=tuple(
            EarlierCheck(one.told_title, one.outcome.value, texts.text(f"status.{one.outcome.value}"), one.told)
            for one in context.audit.checks
            if one.id.startswith(_CHECKS)
        ),
        rows=tuple(_row(one, texts) for one in facts.releases),
        older=older,
    )


def _row(one: ComparedRelease, texts: Catalogue) -> EarlierRow:
    how = [texts.text(f"earlier.looked.{one.looked}")]
    if one.linked_by is not None:
        how.append(texts.text(f"earlier.by.{one.linked_by}"))
    if one.note:
        how.append(texts.said(one.told))
    figures = [] if one.linked is None else [(texts.text("earlier.linked"), shown(one.linked, texts))]
    for name, figure in sorted(one.figures.items()):
        what, _, threat = name.partition(".")
        label = texts.text(f"earlier.{what}", name=threat) if threat else texts.text(f"earlier.{what}")
        figures.append((label, shown(figure, texts)))
    compared = one.looked in {"combined", "same_file"}
    without = texts.text("earlier.nothing_found" if compared else "earlier.not_compared")
    return EarlierRow(texts.said(one.told_release), tuple(how), tuple(figures), without)
