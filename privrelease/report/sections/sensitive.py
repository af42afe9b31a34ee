"""Parts of section 7 for information: three attackers next to each other, the values of each quasi-identifier by itself, and how varied sensitive
values are within the classes of the release. Recipients are shown the first alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.report.view import numbers
from privrelease.report.view.page import Shown, exact, shown
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.document.model import AuditResult, Figure, ThreatResult
    from privrelease.audit.document.sensitive import SensitiveRow
    from privrelease.report.view.page import Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["AttackersRow", "KeyRow", "SensitiveBody", "SensitiveLine", "attackers", "key_rows", "sensitive_body"]


@dataclass(frozen=True, slots=True)
class AttackersRow:
    """One threat as ARX prints attackers: highest risk of the prosecutor and the journalist, the marketer's share, and expected right guesses."""

    threat: str
    prosecutor: Shown
    journalist: Shown
    marketer: Shown
    expected: Shown


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A quasi-identifier by itself: (before, after) of its values, of the records of the rarest, and of the records alone with theirs."""

    column: str
    values: tuple[Shown, Shown]
    rarest: tuple[Shown, Shown]
    alone: tuple[Shown, Shown]


def attackers(audit: AuditResult, catalogue: Catalogue) -> tuple[AttackersRow, ...]:
    """Show three attackers for each threat. A class is in the population at least as large as in the data, so that without a population the
    journalist and the marketer are bounded by the prosecutor.
    """
    return tuple(_attackers(threat, catalogue) for threat in audit.threats if exact(threat.after.k) is not None)


def _attackers(threat: ThreatResult, catalogue: Catalogue) -> AttackersRow:
    after = threat.after

    def of(own: str, name: str, bound: Fraction | None) -> Shown:
        figure = after.highest if threat.attacker == own and own != "marketer" else after.further.get(name)
        value = exact(after.average if threat.attacker == own == "marketer" else figure)
        if value is not None:
            return Shown(numbers.percent(value), str(value))
        if bound is None:
            return Shown(catalogue.text("word.not_measured"), gap=True)
        return Shown(catalogue.plain("risk.at_most", risk=numbers.percent_up(bound)), str(bound))

    k, classes = exact(after.k), exact(after.classes)
    records = exact(after.records if after.persons is None else after.persons)
    highest = None if not k else 1 / k
    average = classes / records if classes is not None and records and after.reading == "category" else None
    if after.persons is not None:  # of persons, each as in the smallest of their classes
        average = exact(after.average if threat.attacker == "prosecutor" else after.further.get("prosecutor_average"))
    prosecutor = of("prosecutor", "prosecutor_highest", None)
    if prosecutor.gap and highest is not None:
        prosecutor = Shown(numbers.percent(highest), str(highest))
    expected = None if average is None or records is None else average * records
    return AttackersRow(
        threat.name,
        prosecutor,
        of("journalist", "journalist_highest", highest),
        of("marketer", "marketer", average),
        Shown(catalogue.text("word.not_measured"), gap=True)
        if expected is None or records is None
        else Shown(catalogue.plain("risk.expected_of", n=numbers.number(expected), records=numbers.number(records))),
    )


def key_rows(audit: AuditResult, catalogue: Catalogue) -> tuple[KeyRow, ...]:
    """Show each quasi-identifier by itself; nothing where it may not be shown."""

    def pair(before: Figure | None, after: Figure) -> tuple[Shown, Shown]:
        return shown(before, catalogue), shown(after, catalogue)

    return tuple(
        KeyRow(
            one.column,
            pair(one.values_before, one.values),
            pair(one.rarest_before, one.rarest),
            pair(one.alone_before, one.alone),
        )
        for one in audit.quasi_identifiers or ()
    )


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
