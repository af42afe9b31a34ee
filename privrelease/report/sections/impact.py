"""Section 4, the impact assessment, in the order of Art. 35(7) GDPR: description, interests, necessity, risks, measures, advice.

Levels of likelihood and severity are those of CNIL's PIA, and so is the map of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.sections.legal import facts
from privrelease.report.view.edition import Edition
from privrelease.report.view.legal_words import LEVELS, article_6
from privrelease.report.view.page import Absent
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.report.view.page import Context, Fact
    from privrelease.texts.catalogue import Catalogue

__all__ = ["ImpactBody", "MapRow", "RiskRow", "build"]


@dataclass(frozen=True, slots=True)
class RiskRow:
    """A risk: its number, its words, (before, after) of likelihood and severity, empty where not stated, and the measures that meet it."""

    number: int
    text: str
    likelihood: tuple[str, str]
    severity: tuple[str, str]
    measures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MapRow:
    """A line of the map: a level of severity, and for each level of likelihood the risks there after the measures, and before."""

    severity: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ImpactBody:
    """Facts before and after the table of risks. ``assessed``: some risk has a level; ``map``: from the highest severity down."""

    caption: str
    first: tuple[Fact, ...]
    risks: tuple[RiskRow, ...]
    assessed: bool
    met: bool
    levels: tuple[str, ...]
    map: tuple[MapRow, ...]
    last: tuple[Fact, ...]


def build(context: Context) -> ImpactBody | Absent:
    """Art. 35(7): the impact assessment; it stays with the controller."""
    texts, stated = context.catalogue, context.audit.legal.stated
    if context.edition is Edition.RECIPIENT:
        return Absent(texts.text("dpia.recipient"))
    interests = article_6(stated.get("basis.art6")) in {"", "f"} or bool(stated.get("dpia.legitimate_interest"))
    first = ("description", *(("legitimate_interest",) if interests else ()), "necessity")
    risks = _risks(stated, texts)
    if not risks:
        first = (*first, "risks")
    last = ("measures", "action_plan", "dpo_advice", "views", "prior_consultation")
    levels = [(row.number, *_levels(stated, row.number)) for row in risks]
    assessed = any(any(pair) for _, *pairs in levels for pair in pairs)
    return ImpactBody(
        caption=texts.text("record.caption"),
        first=facts(stated, [(f"dpia.{name}", f"dpia.{name}") for name in first], texts),
        risks=risks,
        assessed=assessed,
        met=any(row.measures for row in risks),
        levels=tuple(texts.text(f"legal.level.{level}") for level in LEVELS),
        map=_map(levels, texts) if assessed else (),
        last=facts(stated, [(f"dpia.{name}", f"dpia.{name}") for name in last], texts),
    )


def _one(value: str | tuple[str, ...] | None) -> str:
    return value if isinstance(value, str) else ", ".join(value or ())


def _levels(stated: Mapping[str, str | tuple[str, ...]], number: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the codes (before, after) of the likelihood and of the severity of a risk."""

    def pair(what: str) -> tuple[str, str]:
        return tuple(_one(stated.get(f"dpia.risks.{number}.{what}.{side}")) for side in ("before", "after"))  # type: ignore[return-value]  # two

    return pair("likelihood"), pair("severity")


def _risks(stated: Mapping[str, str | tuple[str, ...]], texts: Catalogue) -> tuple[RiskRow, ...]:
    """Return risks by their place: those in words alone too."""
    alone = stated.get("dpia.risks")
    if alone is not None:
        named = (alone,) if isinstance(alone, str) else alone
        return tuple(RiskRow(number, text, ("", ""), ("", ""), ()) for number, text in enumerate(named, 1))
    places = {int(name.split(".")[2]) for name in stated if name.startswith("dpia.risks.")}
    measures = _measures(stated)

    def row(number: int) -> RiskRow:
        base = f"dpia.risks.{number}"
        text = _one(stated.get(f"{base}.text") or stated.get(base))
        met = stated.get(f"{base}.measures") or ()
        likelihood, severity = ((_level(before, texts), _level(after, texts)) for before, after in _levels(stated, number))
        by = (met,) if isinstance(met, str) else met
        return RiskRow(number, text, likelihood, severity, tuple(measures.get(name, name) for name in by))

    return tuple(row(number) for number in sorted(places))


def _level(code: str, texts: Catalogue) -> str:
    return texts.text(f"legal.level.{code}") if code in LEVELS else code


def _measures(stated: Mapping[str, str | tuple[str, ...]]) -> dict[str, str]:
    """Return the measures by their ids."""
    found = {
        name.split(".")[2]: _one(value)
        for name, value in stated.items()
        if name.startswith("dpia.measures.") and name.endswith(".id")
    }
    return {name: _one(stated.get(f"dpia.measures.{place}.text")) for place, name in found.items()}


def _map(levels: list[tuple[int, tuple[str, str], tuple[str, str]]], texts: Catalogue) -> tuple[MapRow, ...]:
    """Put the numbers of risks into a cell each, by severity from the highest down and likelihood from the least."""

    def at(side: int, severity: str, likelihood: str) -> str:
        there = [number for number, likely, severe in levels if severe[side] == severity and likely[side] == likelihood]
        return ", ".join(map(str, there))

    return tuple(
        MapRow(
            texts.text(f"legal.level.{severity}"),
            tuple((at(1, severity, likelihood), at(0, severity, likelihood)) for likelihood in LEVELS),
        )
        for severity in reversed(LEVELS)
    )
