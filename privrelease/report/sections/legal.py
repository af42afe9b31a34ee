"""Record of processing, lawfulness and review: what the policy states, and what it does not.

A field that the policy leaves out is shown as not stated: a gap is evidence too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.view.edition import Edition
from privrelease.report.view.legal_words import article_6, entry_words
from privrelease.report.view.page import Fact
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["Facts", "build_context", "build_lawfulness", "build_record", "build_review", "facts"]

_RECORD = (
    "controller",
    "joint_controllers",
    "representative",
    "dpo",
    "processors",
    "purposes",
    "data_subjects",
    "data_categories",
    "recipients",
    "transfers",
    "retention",
    "security_measures",
)


#: Parts of one entry that are lines of their own.
_APART = frozenset(
    {"source", "release", "access", "rectification", "erasure", "restriction", "portability", "objection", "ref", "exemption"}
)
#: Letters of Art. 6(1) that rest on a law of the Union or a member state (Art. 6(3)), and none that is known.
_BY_LAW = frozenset({"", "c", "e"})

#: The order in which the parts of one entry are read; ``audit.json`` has its keys in no order of its own.
_PARTS = (
    "name",
    "contact",
    "id",
    "text",
    "dpv",
    "art6",
    "art9",
    "national_law",
    "country",
    "recipient",
    "access",
    "safeguard",
    "source",
    "release",
    "ref",
    "exemption",
    "task",
    "rectification",
    "erasure",
    "restriction",
    "portability",
    "objection",
    "author",
    "date",
    "followed",
    "by",
    "owner",
    "authority",
    "outcome",
    "size",
)


#: Fields of the context into which the data is released.
_OF_CONTEXT = ("release_model", "population", "controls", "motives", "harms")


@dataclass(frozen=True, slots=True)
class Facts:
    """A table of labels and what is stated for each. ``note``: a sentence (key and values) above it, or None."""

    caption: str
    facts: tuple[Fact, ...]
    note: Sentence | None = None


def build_record(context: Context) -> Facts:
    """Art. 30(1): the record of processing."""
    legal, catalogue = context.audit.legal, context.catalogue
    rows = facts(legal.stated, [(name, f"record.{name}") for name in _RECORD], catalogue)
    if context.edition is Edition.RECIPIENT:
        kept = Fact(catalogue.text("record.security_measures"), (catalogue.text("record.with_controller"),))
        rows = (*rows[:-1], kept)
    note = None
    if legal.profile and legal.missing:
        note = ("record.profile", {"profile": legal.profile, "missing": ", ".join(legal.missing)})
    return Facts(catalogue.text("record.caption"), rows, note)


def build_lawfulness(context: Context) -> Facts:
    """Art. 6, 9, 13 to 21 and 89: on what ground, and what the persons may ask for. What does not apply under the stated basis is left out."""
    stated = context.audit.legal.stated
    letter = article_6(stated.get("basis.art6"))
    special = not context.audit.data.columns or any(one.category == "special" for one in context.audit.data.columns)
    keys = [
        ("basis.art6", "lawfulness.art6"),
        *((("basis.art9", "lawfulness.art9"),) if special or "basis.art9" in stated else ()),
        *((("basis.national_law", "lawfulness.national_law"),) if letter in _BY_LAW or "basis.national_law" in stated else ()),
        ("notice", "lawfulness.notice"),
        ("rights", "lawfulness.rights"),
        ("safeguards", "lawfulness.safeguards"),
    ]
    return Facts(context.catalogue.text("record.caption"), facts(stated, keys, context.catalogue))


def build_context(context: Context) -> Facts:
    """Show the fields of the policy's context, section 5, and which of them it does not state."""
    keys = [(name, f"context.{name}") for name in _OF_CONTEXT]
    return Facts(context.catalogue.text("record.caption"), facts(context.audit.context, keys, context.catalogue))


def build_review(context: Context) -> Facts:
    """When the release is to be looked at again."""
    keys = [("review.next", "review.next"), ("review.triggers", "review.triggers")]
    stated = {**context.audit.context, **context.audit.legal.stated}
    return Facts(context.catalogue.text("review.caption"), facts(stated, keys, context.catalogue))


def facts(
    stated: Mapping[str, str | tuple[str, ...]], keys: Sequence[tuple[str, str]], catalogue: Catalogue
) -> tuple[Fact, ...]:
    """Pick fields by their dotted names, as (name, key of the label).

    A part (``controller.name``) is shown after its name, the parts of one entry of a list (``purposes.1.text``) in one line. An empty
    tuple is stated to be none; a name that is not there is not stated.
    """
    rows: list[Fact] = []
    for name, label in keys:
        own = [full for full in stated if full == name or full.startswith(f"{name}.")]
        found = {full: stated[full] for full in sorted(own, key=_as_read)}
        if not found:
            rows.append(Fact(catalogue.text(label), (catalogue.text("word.not_stated"),), gap=True))
            continue
        lines = _lines(name, found, catalogue)
        small = tuple(term for _, term in lines)
        rows.append(Fact(catalogue.text(label), tuple(text for text, _ in lines), small=small if any(small) else ()))
    return tuple(rows)


def _lines(name: str, found: Mapping[str, str | tuple[str, ...]], catalogue: Catalogue) -> list[tuple[str, str]]:
    """Return (words, small print) of each entry below ``name``: one line for an entry of a list, for a text, and for each part of several."""
    entries: dict[str, dict[str, tuple[str, ...]]] = {}
    for full, value in found.items():
        entry, part = _place(full.removeprefix(name).removeprefix("."))
        texts = (value,) if isinstance(value, str) else value or (catalogue.text("word.none"),)
        if not part and len(texts) > 1:
            entries |= {f"{entry}-{number}": {"": (text,)} for number, text in enumerate(texts)}
        else:
            apart = not entry and part in _APART
            entries.setdefault(part if apart else entry, {})[part or name.rpartition(".")[2]] = texts
    return [entry_words(parts, catalogue) for parts in entries.values()]


def _as_read(full: str) -> tuple[tuple[int, int, str], ...]:
    """Sort names as a person reads them: entries by number, parts in their usual order.

    >>> sorted(["a.10.text", "a.2.dpv", "a.2.id", "a.2.text"], key=_as_read)
    ['a.2.id', 'a.2.text', 'a.2.dpv', 'a.10.text']
    """
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, _PARTS.index(part) if part in _PARTS else len(_PARTS), part)
        for part in full.split(".")
    )


def _place(path: str) -> tuple[str, str]:
    """Split the rest of a name into the entry of a list (empty: none) and the part.

    >>> _place("2.art6_basis"), _place("contact"), _place("")
    (('2', 'art6_basis'), ('', 'contact'), ('', ''))
    """
    first, _, rest = path.partition(".")
    return (first, rest) if first.isdigit() else ("", path)
