"""Part of section 7: how varied sensitive values are within the classes of the release. Recipients are not shown it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.report.view.page import Shown, exact, shown

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult
    from privrelease.audit.document.sensitive import SensitiveRow
    from privrelease.report.view.page import Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["SensitiveBody", "SensitiveLine", "sensitive_body"]


@dataclass(frozen=True, slots=True)
class SensitiveLine:
    """A sensitive column under one threat."""

    column: str
    threat: str
    distinct: Shown
    entropy: Shown
    t: Shown
    distance: str
    shared: Shown


@dataclass(frozen=True, slots=True)
class SensitiveBody:
    """All of them."""

    rows: tuple[SensitiveLine, ...]
    left_out: Sentence | None


def sensitive_body(audit: AuditResult, catalogue: Catalogue) -> SensitiveBody | None:
    """Show l and t; None where they were not measured, or may not be shown, or cannot be read."""
    facts = audit.sensitive
    if facts is None:
        return None
    rest: Sentence | None = ("sensitive.left_out", {"n": numbers.count(facts.left_out)}) if facts.left_out else None
    return SensitiveBody(tuple(_line(row, catalogue) for row in facts.rows), rest)


def _line(row: SensitiveRow, catalogue: Catalogue) -> SensitiveLine:
    t = exact(row.t)
    return SensitiveLine(
        column=row.column,
        threat=row.threat,
        distinct=shown(row.distinct_l, catalogue),
        entropy=shown(row.entropy_l, catalogue),
        t=shown(row.t, catalogue) if t is None else Shown(numbers.number(Fraction(round(t, 4))), str(t)),
        distance=catalogue.text(f"sensitive.distance.{row.distance}"),
        shared=shown(row.shared, catalogue),
    )
