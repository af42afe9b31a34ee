"""Changes between two audits, written out: used by the report, the console and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.view.page import shown, shown_beside
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.audit.document.previous_releases import Difference
    from privrelease.report.view.page import Status
    from privrelease.texts.catalogue import Catalogue

__all__ = ["ChangeRow", "change_rows"]

_STATUSES: dict[str, Status] = {"better": "pass", "worse": "warn", "changed": "info"}
_DIGEST = 64


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change: label, what it is about, both sides, and what it means."""

    label: str
    about: str
    before: str
    after: str
    status: Status
    effect: str


def change_rows(changes: Iterable[Difference], catalogue: Catalogue) -> tuple[ChangeRow, ...]:
    """Write changes out, in their order."""
    return tuple(_row(change, catalogue) for change in changes)


def _row(change: Difference, catalogue: Catalogue) -> ChangeRow:
    before, after = _sides(change, catalogue)
    return ChangeRow(
        _label(change.what, catalogue),
        change.about,
        before,
        after,
        _STATUSES[change.effect],
        catalogue.text(f"since.effect.{change.effect}"),
    )


def _sides(change: Difference, catalogue: Catalogue) -> tuple[str, str]:
    old, new = change.before_figure, change.after_figure
    if old is not None and new is not None:
        pair = shown_beside(old, new, catalogue)
        return pair[0].text, pair[1].text
    if old is not None or new is not None:
        none = catalogue.text("word.none")
        return none if old is None else shown(old, catalogue).text, none if new is None else shown(new, catalogue).text
    return _side(change.before, catalogue), _side(change.after, catalogue)


def _side(text: str | None, catalogue: Catalogue) -> str:
    if text is None:
        return catalogue.text("word.none")
    return f"{text[:12]}…" if len(text) == _DIGEST and text.isalnum() else text


def _label(what: str, catalogue: Catalogue) -> str:
    name = what.removesuffix("_limit").removesuffix("_verdict")
    key = f"since.{name}"
    label = next((catalogue.text(one) for one in (key, f"risk.{name}") if catalogue.has(one)), name)
    if what.endswith("_verdict"):
        return catalogue.plain("since.verdict", label=label)
    return label if name == what else f"{label}, {catalogue.text('word.limit').lower()}"
