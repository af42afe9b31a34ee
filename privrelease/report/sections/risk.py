"""Section 7: risk before and after, per threat."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Literal

from privrelease.report.charts.bars import GroupedBars, grouped_bars
from privrelease.report.sections.earlier import EarlierBody, earlier_body
from privrelease.report.sections.sensitive import (
    AttackersRow,
    KeyRow,
    SensitiveBody,
    attackers,
    key_rows,
    sensitive_body,
)
from privrelease.report.view import numbers
from privrelease.report.view.page import Absent, Shown, coarser_columns, exact, shown, shown_beside
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.model import ClassBucket, Figure, RiskFacts, SubsetFacts, ThreatResult, ThresholdVerdict
    from privrelease.report.view.page import Context, Sentence
    from privrelease.texts.catalogue import Catalogue

__all__ = ["BucketRow", "MeasureRow", "OverviewRow", "RiskBody", "ThreatBody", "build", "class_chart", "counted_words"]

Holds = Literal["pass", "fail", "info"]

_ROWS: tuple[tuple[str, str], ...] = (
    ("highest_risk", "highest"),
    ("average_risk", "average"),
    ("records_at_risk", "at_risk"),
    ("k", "k"),
    ("uniques", "uniques"),
    ("classes", "classes"),
    ("records", "records"),
    ("records_below_k", "records_below_k"),
    ("classes_below_k", "classes_below_k"),
    ("residual", "residual"),
)
_PARTS = {"uniques": "records", "records_below_k": "records", "classes_below_k": "classes", "at_risk": "records"}


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure: before, after, after under the other reading, its limit and what that means, and whether it holds."""

    label: str
    before: Shown
    after: Shown
    other: Shown
    limit: Shown | None
    means: str | None
    holds: Holds | None


@dataclass(frozen=True, slots=True)
class BucketRow:
    """Classes of one size, before and after."""

    label: str
    before: Shown
    after: Shown


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A threat in one line."""

    name: str
    columns: tuple[str, ...]
    highest: tuple[Shown, Shown]
    average: tuple[Shown, Shown]
    at_risk: tuple[Shown, Shown]
    k: tuple[Shown, Shown]
    holds: Holds


@dataclass(frozen=True, slots=True)
class ThreatBody:
    """A threat in full. ``union``: it is the attacker who knows all threats' columns."""

    name: str
    union: bool
    holds: Holds
    sentences: tuple[Sentence, ...]
    undefined: bool
    caption: Sentence
    other_reading: str
    measured_before: bool
    measured_other: bool
    limited: bool
    rows: tuple[MeasureRow, ...]
    chart: GroupedBars | None
    buckets: tuple[BucketRow, ...]
    subsets: tuple[tuple[int, int, int, int], ...]
    subsets_said: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class RiskBody:
    """Every threat in one line, then each in full, then how varied sensitive values are within classes, and earlier releases."""

    overview: tuple[OverviewRow, ...]
    threats: tuple[ThreatBody, ...]
    attackers: tuple[AttackersRow, ...]
    keys: tuple[KeyRow, ...]
    keys_caption: str
    sensitive: SensitiveBody | None
    earlier: EarlierBody | None


def build(context: Context) -> RiskBody | Absent:
    """Show every threat, and the attacker who knows them all."""
    audit, catalogue = context.audit, context.catalogue
    if not audit.threats:
        return Absent(catalogue.of_kind("risk.no_threats", audit.kind))
    everyone = [(threat, False) for threat in audit.threats]
    if audit.union is not None:
        everyone.append((audit.union, True))
    return RiskBody(
        tuple(_overview(threat, union, catalogue) for threat, union in everyone),
        tuple(
            _threat(threat, union, place, catalogue, coarser_columns(audit)) for place, (threat, union) in enumerate(everyone)
        ),
        attackers(audit, catalogue),
        key_rows(audit, catalogue),
        "risk.keys_caption_persons" if any(_of_persons(threat.after) for threat in audit.threats) else "risk.keys_caption",
        sensitive_body(audit, catalogue),
        earlier_body(context),
    )


def _holds(threat: ThreatResult) -> Holds:
    if not threat.limits:
        return "info"
    return "pass" if threat.holds else "fail"


def _overview(threat: ThreatResult, union: bool, catalogue: Catalogue) -> OverviewRow:
    def pair(name: str) -> tuple[Shown, Shown]:
        before = getattr(threat.before, name) if threat.before is not None else None
        return _plain(before, catalogue), _plain(getattr(threat.after, name), catalogue)

    name = catalogue.text("risk.union_name") if union else threat.name
    return OverviewRow(name, threat.columns, pair("highest"), pair("average"), pair("at_risk"), pair("k"), _holds(threat))


def _plain(figure: Figure | None, catalogue: Catalogue) -> Shown:
    """Write a risk as per cent alone, where there is little room."""
    value = exact(figure)
    if figure is None or value is None or figure.unit != "risk":
        return shown(figure, catalogue)
    return Shown(numbers.percent(value), str(value))


def _threat(threat: ThreatResult, union: bool, place: int, catalogue: Catalogue, coarser: Sequence[str]) -> ThreatBody:
    attacker = catalogue.text(f"risk.attacker.{threat.attacker}")
    known: Sentence = ("risk.describe_none", {"attacker": attacker})
    if threat.columns:
        known = ("risk.describe", {"attacker": attacker, "columns": ", ".join(threat.columns)})
    sentences: list[Sentence] = [known, (f"risk.reading.{threat.missing}", {}), (f"risk.counted.{_counted(threat.after)}", {})]
    if set(coarser) & set(threat.columns):
        sentences.insert(2, (f"risk.labels.{threat.missing}", {}))
    records, residual = exact(threat.after.records), exact(threat.after.residual)
    persons = exact(threat.after.persons)
    if records is not None and residual is not None and (persons is not None or threat.after.persons is None):
        counts = {"records": numbers.number(records), "residual": numbers.number(residual)}
        counts |= {} if persons is None else {"persons": numbers.number(persons)}
        sentences.append((f"risk.reconciled.{counted_words(threat.after)}", counts))
    if union and not threat.limits:
        sentences.append(("risk.union_note", {}))
    buckets = _paired(threat.before.buckets if threat.before else (), threat.after.buckets)
    return ThreatBody(
        name=catalogue.text("risk.union_name") if union else threat.name,
        union=union,
        holds=_holds(threat),
        sentences=tuple(sentences),
        undefined=exact(threat.after.records) == 0,
        caption=("risk.union_caption", {}) if union else ("risk.measures_caption", {"name": threat.name}),
        other_reading="risk.after_category" if threat.missing == "wildcard" else "risk.after_wildcard",
        measured_before=_any_number(threat.before),
        measured_other=_any_number(threat.after_other_reading),
        limited=bool(threat.verdicts),
        rows=tuple(_rows(threat, catalogue)),
        chart=_chart(threat, union, place, buckets, catalogue),
        buckets=tuple(
            BucketRow(_size(low, high), _bucket(before, catalogue), _bucket(after, catalogue))
            for low, high, before, after in buckets
        ),
        subsets=threat.subsets.by_size if threat.subsets else (),
        subsets_said=_subsets_said(threat.subsets),
    )


def _of_persons(facts: RiskFacts) -> bool:
    """Return True if what is called records are persons who have several rows."""
    return facts.persons is not None or facts.counted.startswith("person_")


def _counted(facts: RiskFacts) -> str:
    return facts.counted if facts.persons is None else "persons_by_class"


def counted_words(facts: RiskFacts) -> str:
    """Return the code of what a sum over classes is of: records, persons, or persons once in each of their classes."""
    found = _counted(facts)
    return found if found in {"records", "persons_by_class"} else "persons"


def _any_number(facts: RiskFacts | None) -> bool:
    return facts is not None and any(exact(getattr(facts, field)) is not None for _, field in _ROWS)


def _rows(threat: ThreatResult, catalogue: Catalogue) -> list[MeasureRow]:
    verdicts = {verdict.measure: verdict for verdict in threat.verdicts}
    rows = []
    for label, field in _ROWS:
        verdict = verdicts.pop(label, None)
        if getattr(threat.after, field) is None and verdict is None:
            continue
        rows.append(_row(threat, catalogue.text(f"risk.{label}"), field, verdict, catalogue))
    for name in sorted({name for facts in _all_facts(threat) for name in facts.further}):
        label = catalogue.text(f"further.{name}") if catalogue.has(f"further.{name}") else name.replace("_", " ")
        rows.append(_further_row(threat, name, label, verdicts.pop(name, None), catalogue))
    for name, verdict in verdicts.items():
        label = catalogue.text(f"risk.{name}") if catalogue.has(f"risk.{name}") else name.replace("_", " ")
        none = Shown("–", gap=True)  # noqa: RUF001 -- nothing to show
        after, limit = shown_beside(verdict.figure, verdict.threshold, catalogue)
        rows.append(MeasureRow(label, none, after, none, limit, verdict.told or None, "pass" if verdict.holds else "fail"))
    return rows


def _all_facts(threat: ThreatResult) -> list[RiskFacts]:
    return [facts for facts in (threat.before, threat.after, threat.after_other_reading) if facts is not None]


def _row(threat: ThreatResult, label: str, field: str, verdict: ThresholdVerdict | None, catalogue: Catalogue) -> MeasureRow:
    def of(facts: RiskFacts | None) -> Shown:
        return shown(None, catalogue) if facts is None else _written(facts, field, catalogue)

    return _measure(label, (of(threat.before), of(threat.after), of(threat.after_other_reading)), verdict, catalogue)


def _further_row(
    threat: ThreatResult, name: str, label: str, verdict: ThresholdVerdict | None, catalogue: Catalogue
) -> MeasureRow:
    def of(facts: RiskFacts | None) -> Shown:
        return shown(None if facts is None else facts.further.get(name), catalogue)

    return _measure(label, (of(threat.before), of(threat.after), of(threat.after_other_reading)), verdict, catalogue)


def _measure(
    label: str, written: tuple[Shown, Shown, Shown], verdict: ThresholdVerdict | None, catalogue: Catalogue
) -> MeasureRow:
    before, after, other = written
    if verdict is None:
        return MeasureRow(label, before, after, other, None, None, None)
    beside, limit = shown_beside(verdict.figure, verdict.threshold, catalogue)
    if not beside.gap and not after.gap and " (" not in after.text:
        after = beside
    return MeasureRow(label, before, after, other, limit, verdict.told or None, "pass" if verdict.holds else "fail")


def _written(facts: RiskFacts, field: str, catalogue: Catalogue) -> Shown:
    figure: Figure | None = getattr(facts, field)
    whole_of = getattr(facts, _PARTS[field]) if field in _PARTS else None
    part, whole = exact(figure), exact(facts.persons if field == "at_risk" and facts.persons is not None else whole_of)
    if part is None or whole is None:
        return shown(figure, catalogue)
    if field == "at_risk":
        part *= whole
        if part.denominator > 1:  # not a number of records
            return shown(figure, catalogue)
    return Shown(numbers.part_of(int(part), int(whole)))


def _paired(
    before: Sequence[ClassBucket], after: Sequence[ClassBucket]
) -> tuple[tuple[int, int | None, ClassBucket | None, ClassBucket | None], ...]:
    """Put the buckets of both sides side by side, by their bounds."""
    sides = [{(bucket.low, bucket.high): bucket for bucket in side} for side in (before, after)]
    bounds = sorted({*sides[0], *sides[1]}, key=lambda bound: bound[0])
    return tuple((low, high, sides[0].get((low, high)), sides[1].get((low, high))) for low, high in bounds)


def _size(low: int, high: int | None) -> str:
    if high is None:
        return f"{numbers.count(low)}+"
    return numbers.count(low) if low == high else f"{numbers.count(low)}–{numbers.count(high)}"  # noqa: RUF001 -- a range


def _bucket(bucket: ClassBucket | None, catalogue: Catalogue) -> Shown:
    return shown(None if bucket is None else bucket.share, catalogue)


def class_chart(threat: ThreatResult, catalogue: Catalogue, name: str) -> GroupedBars | None:
    """Draw the records of a threat by class size, before and after; None where no share may be shown."""
    buckets = _paired(threat.before.buckets if threat.before else (), threat.after.buckets)
    chart = _chart(threat, False, 0, buckets, catalogue)
    return None if chart is None else replace(chart, name=name)


def _chart(
    threat: ThreatResult,
    union: bool,
    place: int,
    buckets: Sequence[tuple[int, int | None, ClassBucket | None, ClassBucket | None]],
    catalogue: Catalogue,
) -> GroupedBars | None:
    shares = [
        (low, high, exact(before.share) if before else None, exact(after.share) if after else None)
        for low, high, before, after in buckets
    ]
    if not any(after is not None for *_, after in shares):
        return None
    title = catalogue.text("chart.classes_union") if union else catalogue.text("chart.classes", name=threat.name)
    k = _smallest_allowed(threat)
    return grouped_bars(
        f"classes-{place}",
        title,
        " ".join(_described(threat, k, catalogue)),
        shares,
        k=k,
        line_label=catalogue.plain("chart.policy", k=numbers.count(k)) if k else "",
        axis=catalogue.text("chart.axis"),
    )


def _smallest_allowed(threat: ThreatResult) -> int | None:
    """Give the class size that the limit on the highest risk means; None where there is no such limit."""
    limits = (exact(verdict.threshold) for verdict in threat.verdicts if verdict.measure == "highest_risk")
    limit = next(limits, None)
    return ceil(1 / limit) if limit else None


def _described(threat: ThreatResult, k: int | None, catalogue: Catalogue) -> list[str]:
    """Say in words what the chart shows."""
    sentences: list[str] = []
    for part, key in (("uniques", "chart.classes_desc"), ("records_below_k", "chart.below_desc")):
        before, after = _share_of(threat.before, part), _share_of(threat.after, part)
        needs_k = key == "chart.below_desc"
        if after is None or (needs_k and k is None):
            continue
        values = {"after": after, **({"k": numbers.count(k)} if needs_k and k else {})}
        if before is None:
            sentences.append(catalogue.text(f"{key}_after", **values))
        else:
            sentences.append(catalogue.text(key, before=before, **values))
    return sentences or [catalogue.text("chart.classes_caption")]


def _share_of(facts: RiskFacts | None, part: str) -> str | None:
    if facts is None:
        return None
    some, whole = exact(getattr(facts, part)), exact(facts.records)
    return numbers.percent(some / whole) if some is not None and whole else None


def _subsets_said(subsets: SubsetFacts | None) -> tuple[Sentence, ...]:
    if subsets is None:
        return ()
    values = {
        "up_to": numbers.count(subsets.up_to),
        "looked": numbers.count(subsets.looked_at),
        "not_looked": numbers.count(subsets.not_looked_at),
    }
    return (("risk.subsets_said", values), ("risk.subsets_caption", {"k": numbers.count(subsets.k)}))
