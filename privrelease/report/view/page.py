"""The frozen view: what a page shows, in the order in which it shows it, every figure already written out.

Compute, then view, then render: nothing is computed here that ``audit.json`` does not hold, and templates decide nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias

from privrelease.relational.treatments import Family, family_of
from privrelease.report.view import numbers
from privrelease.report.view.edition import for_edition, is_withheld
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from privrelease.audit.document.model import AuditResult, Figure
    from privrelease.report.view.edition import Edition
    from privrelease.report.view.standing import Standing
    from privrelease.texts.catalogue import Catalogue

__all__ = [
    "Absent",
    "Context",
    "Fact",
    "Page",
    "Section",
    "SectionSpec",
    "Sentence",
    "Shown",
    "build_page",
    "coarser_columns",
    "exact",
    "released_words",
    "shown",
    "shown_beside",
]

#: A key of the catalogue and the values to put into its text.
Sentence: TypeAlias = "tuple[str, Mapping[str, str]]"
Status = Literal["pass", "fail", "warn", "review", "not_evaluated", "not_asked", "info"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure as it is read. ``exact``: the exact number where ``text`` rounds it. ``gap``: there is no number; ``text`` says why."""

    text: str
    exact: str | None = None
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and what is stated for it; ``gap`` where nothing is. ``small``: small print for each value, where there is any."""

    label: str
    values: tuple[str, ...]
    gap: bool = False
    code: bool = False
    small: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """Inputs of a section: the audit as its edition admits it, the language, and what became of the release (None: not known, or not for recipients)."""

    audit: AuditResult
    edition: Edition
    catalogue: Catalogue
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """A section that has nothing to show, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class SectionSpec:
    """A slot of the report: its place in REPORT.md's order, its name, and what builds it.

    ``build`` returns the body that the template ``sections/<name>.html.j2`` shows, an :class:`Absent` with the reason to show
    instead, or None where the section does not apply and is left out. ``kind``: of the releases whose reports have it; None: of all.
    """

    number: int
    name: str
    build: Callable[[Context], object | None]
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page: heading, basis, and either a body with its template or the reason why there is none. ``fold``: what is inside, in a
    line; empty where the section is always open.
    """

    name: str
    heading: str
    basis: str
    fold: str
    body: object | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report."""

    language: str
    title: str
    edition: str
    created: str
    meta: tuple[Sentence, ...]
    sections: tuple[Section, ...]


def build_page(
    audit: AuditResult,
    edition: Edition,
    catalogue: Catalogue,
    sections: tuple[SectionSpec, ...],
    standing: Standing | None = None,
) -> Page:
    """Build the view of one edition; sections that do not apply are left out."""
    kept = for_edition(audit, edition)
    context = Context(kept, edition, catalogue, standing if edition.value == "internal" else None)
    built: list[Section] = []
    for spec in sections:
        body = spec.build(context) if spec.kind in {None, audit.kind} else None
        if body is None:
            continue
        reason = body.reason if isinstance(body, Absent) else None
        heading, basis = catalogue.text(f"{spec.name}.heading"), catalogue.text(f"{spec.name}.basis")
        own = f"fold.{spec.name}"
        fold = "" if spec.number == 0 else catalogue.text(own if catalogue.has(own) else "fold.any")
        built.append(Section(spec.name, heading, basis, fold, None if reason else body, reason))
    identity = kept.identity
    meta: list[Sentence] = [
        ("page.policy", {"id": identity.policy_id, "version": identity.policy_version}),
        ("page.release", {"release": identity.release}),
        ("page.audited", {"date": identity.audited_at}),
    ]
    if identity.commit:
        meta.insert(1, ("page.commit", {"commit": identity.commit[:12]}))
    return Page(
        language=catalogue.language,
        title=identity.policy_title or catalogue.plain("page.untitled", release=identity.release),
        edition=edition.value,
        created=identity.audited_at,
        meta=tuple(meta),
        sections=tuple(built),
    )


def exact(figure: Figure | None) -> Fraction | None:
    """Return the exact number of a figure, None where it has none."""
    if figure is None or figure.value is None:
        return None
    if figure.exact is not None:
        return Fraction(figure.exact)
    return Fraction(figure.value) if isfinite(figure.value) else None


def released_words(audit: AuditResult, catalogue: Catalogue) -> str:
    """Return what the number of released rows counts: figures of statistics, cells of a table, or records."""
    return catalogue.of_kind("decision.released", audit.kind)


def shown(figure: Figure | None, catalogue: Catalogue) -> Shown:
    """Write a figure out: shares and risks as per cent, counts with separators; where there is no number, why not."""
    if figure is None:
        return Shown(catalogue.text("word.not_measured"), gap=True)
    value = exact(figure)
    if value is None:
        if is_withheld(figure):
            return Shown(catalogue.text("word.withheld"), gap=True)
        return Shown(catalogue.said(figure.told) if figure.told else catalogue.text("word.undefined"), gap=True)
    is_share = figure.unit in {"share", "risk"}
    text = numbers.number(value)
    if is_share:
        text = numbers.risk(value) if figure.unit == "risk" else numbers.percent(value)
    return Shown(text, str(value) if is_share and value.denominator > 1 else None)


def shown_beside(figure: Figure, threshold: Figure, catalogue: Catalogue) -> tuple[Shown, Shown]:
    """Write a figure and its threshold out, never rounded onto each other where they differ; the threshold as it is."""
    value, limit = exact(figure), exact(threshold)
    if value is None or limit is None or figure.unit not in {"share", "risk"}:
        as_it_is = None if limit is None or threshold.unit not in {"share", "risk"} else numbers.limit(limit)
        alone = shown(threshold, catalogue)
        return shown(figure, catalogue), alone if as_it_is is None or alone.text.startswith(as_it_is) else Shown(
            as_it_is, str(limit)
        )
    text, limit_text = numbers.beside(value, limit)
    return Shown(text, str(value) if value.denominator > 1 else None), Shown(limit_text, str(limit))


def coarser_columns(audit: AuditResult) -> tuple[str, ...]:
    """Return the released columns whose values were written coarser."""
    return tuple(
        column.name for column in audit.data.columns if column.leaves and family_of(column.treated) is Family.GENERALISATION
    )
