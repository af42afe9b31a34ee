"""Record of processing, lawfulness, impact assessment and review: what the policy states, and what it does not.

A field that the policy leaves out is shown as not stated: a gap is evidence too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.report.view.edition import Edition
from privrelease.report.view.page import Absent, Fact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["Facts", "build_dpia", "build_lawfulness", "build_record", "build_review", "facts"]

_RECORD = (
    "controller",
    "joint_controllers",
    "representative",
    "dpo",
    "purposes",
    "data_subjects",
    "data_categories",
    "recipients",
    "transfers",
    "retention",
    "security_measures",
)


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
    "followed",
    "size",
)


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
    """Art. 6, 9, 13, 14 and 89: on what ground."""
    keys = [
        ("basis.art6", "lawfulness.art6"),
        ("basis.art9", "lawfulness.art9"),
        ("basis.national_law", "lawfulness.national_law"),
        ("notice", "lawfulness.notice"),
        ("safeguards", "lawfulness.safeguards"),
    ]
    return Facts(context.catalogue.text("record.caption"), facts(context.audit.legal.stated, keys, context.catalogue))


def build_dpia(context: Context) -> Facts | Absent:
    """Art. 35(7): the impact assessment; it stays with the controller."""
    if context.edition is Edition.RECIPIENT:
        return Absent(context.catalogue.text("dpia.recipient"))
    names = ("description", "legitimate_interest", "necessity", "risks", "measures", "dpo_advice", "views")
    keys = [(f"dpia.{name}", f"dpia.{name}") for name in names]
    return Facts(context.catalogue.text("record.caption"), facts(context.audit.legal.stated, keys, context.catalogue))


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
        lines: dict[str, list[str]] = {}
        for full, value in found.items():
            entry, part = _place(full.removeprefix(name).removeprefix("."))
            texts = (value,) if isinstance(value, str) else value or (catalogue.text("word.none"),)
            if not part:
                lines.update({f"{entry}-{number}": [text] for number, text in enumerate(texts)})
                continue
            lines.setdefault(entry or part, []).append(f"{part}: {', '.join(texts)}")
        rows.append(Fact(catalogue.text(label), tuple("; ".join(line) for line in lines.values())))
    return tuple(rows)


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
    """Split the rest of a name into the entry of a list (empty: none) and the part in words.

    >>> _place("2.art6_basis"), _place("contact"), _place("")
    (('2', 'art6 basis'), ('', 'contact'), ('', ''))
    """
    first, _, rest = path.partition(".")
    entry, part = (first, rest) if first.isdigit() else ("", path)
    return entry, part.replace("_", " ").replace(".", ", ")
