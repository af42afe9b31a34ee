"""A plan in words and as data: the steps of each release and the class size k that each threshold means. Nothing is printed here."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from math import ceil, comb
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from privrelease.plan.attacks import attack_words
from privrelease.plan.checks import check_words, exact_text
from privrelease.plan.microdata.step_words import end_words, label_words, multiple_words, pseudonym_words
from privrelease.plan.model import named
from privrelease.relational.hierarchies import Coded, Generalised, RoundedTo
from privrelease.relational.treatments import CellRelation, Pseudonym, declaration_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from privrelease.plan.model import MicrodataPlan, Plan, ThreatPlan
    from privrelease.plan.statistics.plan import StatisticsPlan
    from privrelease.plan.synthetic.plan import SyntheticPlan
    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.schema import TableSource
    from privrelease.relational.treatments import Treatment

__all__ = [
    "EXPLAINERS",
    "Explain",
    "Explained",
    "Explanation",
    "ReleaseExplanation",
    "StepWords",
    "ThreatExplanation",
    "ThresholdExplanation",
    "exact_text",
    "explain",
    "explain_microdata",
]


class Explained(Protocol):
    """A release in words, of whichever kind: a dataclass, since it is also printed as data."""

    @property
    def id(self) -> str:
        """The release."""
        ...

    def as_lines(self) -> tuple[str, ...]:
        """Return all of it as lines of text."""
        ...

    def in_short(self) -> tuple[str, ...]:
        """Return the notes on the release that a valid policy gets: the class sizes, rules or budget that its numbers mean."""
        ...


#: What explains a plan of one kind.
Explain: TypeAlias = "Callable[[Any], Explained]"


#: What says in words what becomes of a column: by the class of what a step declares, from the column's name and that.
StepWords: TypeAlias = "tuple[tuple[type[Any], Callable[[str, Any], str]], ...]"


#: The words of the steps of this package.
STEP_WORDS: StepWords = (
    (Pseudonym, pseudonym_words),
    (Generalised, label_words),
    (Coded, end_words),
    (RoundedTo, multiple_words),
)


@dataclass(frozen=True, slots=True)
class ThresholdExplanation:
    """A threshold: its key, exact value, the class size that it means (None where it means none alone), and the meaning in words."""

    threshold: str
    value: str
    k: int | None
    meaning: str


@dataclass(frozen=True, slots=True)
class ThreatExplanation:
    """A threat that a release protects against. ``absent``: known columns that are not released."""

    name: str
    attacker: str
    columns: tuple[str, ...]
    absent: tuple[str, ...]
    missing: str
    thresholds: tuple[ThresholdExplanation, ...]


@dataclass(frozen=True, slots=True)
class ReleaseExplanation:
    """A release: what is released, what is done to it in order, against which threats, where it is written.

    ``types``: of each released column, with its level where it is generalised; empty where no column is written coarser.
    """

    id: str
    source: str
    unit: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    withheld: tuple[str, ...]
    threats: tuple[ThreatExplanation, ...]
    steps: tuple[str, ...]
    checks: tuple[str, ...]
    attacks: tuple[str, ...]
    outputs: tuple[str, ...]

    def as_lines(self) -> tuple[str, ...]:
        """Return it as lines of text."""
        return tuple(_release_lines(self))

    def in_short(self) -> tuple[str, ...]:
        """Return the class size that each threshold means, a line each."""
        return tuple(
            f"release {self.id}, threat {threat.name}: {limit.threshold} {limit.value}: {_k(limit)}{limit.meaning}"
            for threat in self.threats
            for limit in threat.thresholds
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of what a policy will do."""

    policy: str
    version: str
    title: str
    sha256: str
    environment: str | None
    commit: str | None
    releases: tuple[Explained, ...]

    def as_data(self) -> dict[str, object]:
        """Return it as dictionaries, tuples, texts and numbers, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self.as_lines())

    def as_lines(self) -> tuple[str, ...]:
        """Return it as lines of text."""
        lines = [f"{self.policy} {self.version}: {self.title}", f"policy sha256 {self.sha256}"]
        if self.environment is not None:
            lines.append(f"environment {self.environment}")
        for release in self.releases:
            lines += ["", *release.as_lines()]
        return tuple(lines)


def explain(plan: Plan, *, explainers: tuple[tuple[str, Explain], ...] = ()) -> Explanation:
    """Return what ``plan`` will do, in words. ``explainers``: by kind of release (none: ``EXPLAINERS``)."""
    found = explainers or EXPLAINERS
    return Explanation(
        plan.policy_id,
        plan.policy_version,
        plan.title,
        plan.policy_sha256,
        plan.environment,
        plan.commit,
        tuple(named(release.kind, found)(release) for release in plan.releases),
    )


def _size_text(size: Fraction) -> str:
    """Return an average size as a decimal; one with more than two places is rounded up, with the fraction that it represents.

    >>> from fractions import Fraction
    >>> _size_text(Fraction(20)), _size_text(Fraction(25, 2)), _size_text(Fraction(50, 3))
    ('20', '12.5', '16.67 (50/3)')
    """
    if (size * 100).denominator == 1:
        return exact_text(size)
    return f"{exact_text(Fraction(ceil(size * 100), 100))} ({size.numerator}/{size.denominator})"


def _percent(share: Fraction) -> str:
    return f"{exact_text(share * 100)} %"


def explain_microdata(release: MicrodataPlan, words: StepWords = STEP_WORDS) -> ReleaseExplanation:
    """Return what a release of rows will do. ``words``: of what transform steps do to single columns."""
    leaves = {column.name for column in release.columns}
    return ReleaseExplanation(
        id=release.id,
        source=_source(release.source),
        unit=_unit(release),
        columns=tuple(column.name for column in release.columns),
        types=_types(release),
        withheld=tuple(column.name for column in release.source.columns if column.name not in leaves),
        threats=tuple(_threat(threat, "records" if release.unit is None else "persons") for threat in release.threats),
        steps=tuple(_steps(release, words)),
        checks=tuple(map(check_words, release.checks)),
        attacks=() if release.attacks is None else attack_words(release.attacks),
        outputs=tuple(sink.words for sink in release.sinks),
    )


def _types(release: MicrodataPlan) -> tuple[str, ...]:
    if all(column.treatment.relation is not CellRelation.MAPPED for column in release.columns):
        return ()
    return tuple(f"{column.name} ({', '.join((column.type.value, *_level(column.treatment)))})" for column in release.columns)


def _level(treatment: Treatment) -> tuple[str, ...]:
    match declaration_of(treatment):
        case Generalised(level=level, name=name):
            return (f"level {level}: {name}",)
        case _:
            return ()


def _source(source: TableSource) -> str:
    table = f", table {source.table}" if source.table is not None else ""
    return f"{source.dataset}: {source.label} ({source.kind.value}{table})"


def _unit(release: MicrodataPlan) -> str:
    if release.unit is None:
        return "every row is a person of its own"
    most = "any number of rows" if release.unit.max_rows is None else f"at most {release.unit.max_rows} row"
    plural = "s" if release.unit.max_rows is not None and release.unit.max_rows > 1 else ""
    return f"persons by {release.unit.column}, {most}{plural} each"


def _threat(threat: ThreatPlan, counted: str) -> ThreatExplanation:
    limits = threat.thresholds
    found: list[ThresholdExplanation] = []
    where = "population" if threat.attacker == "journalist" else "data"
    if limits.highest is not None:
        meaning = f"every class has at least {limits.k} in the {where}"
        found.append(ThresholdExplanation("highest_risk", exact_text(limits.highest), limits.k, meaning))
    if limits.average is not None:
        size = _size_text(1 / limits.average)
        meaning = (
            f"classes have on average at least {size} {counted}"
            if threat.attacker == "prosecutor"
            else f"the mean over all {counted}"
        )
        found.append(ThresholdExplanation("average_risk", exact_text(limits.average), None, meaning))
    if limits.at_risk is not None:
        above, share = limits.at_risk.above, limits.at_risk.share
        size_at_risk = ceil(1 / above) if above > 0 else None
        classes = "any class" if size_at_risk is None else f"classes of fewer than {size_at_risk}"
        meaning = f"at most {_percent(share)} of the {counted} are in {classes}"
        value = f"above {exact_text(above)}, share {exact_text(share)}"
        found.append(ThresholdExplanation("records_at_risk", value, size_at_risk, meaning))
    if threat.subsets is not None:
        most = min(threat.subsets.up_to, len(threat.columns))
        number = sum(comb(len(threat.columns), size) for size in range(1, most + 1))
        meaning = f"every class of each of {number} combinations of up to {most} columns has at least {threat.subsets.k}"
        found.append(
            ThresholdExplanation("subsets", f"up_to {threat.subsets.up_to}, k {threat.subsets.k}", threat.subsets.k, meaning)
        )
    return ThreatExplanation(threat.name, threat.attacker, threat.columns, threat.absent, threat.missing, tuple(found))


#: The step that a preference adds; fewest cells go without saying.
_PREFERRED = {
    "cells": (),
    "balanced": ("weigh how many cells are suppressed and how much their values tell",),
    "information": ("suppress the cells whose values tell least, also where they are more",),
}


def _column_words(release: MicrodataPlan, words: StepWords) -> Iterator[str]:
    """Yield what becomes of each column whose values change, in output order."""
    for column in release.columns:
        declared = declaration_of(column.treatment)
        yield from (said(column.name, declared) for kind, said in words if type(declared) is kind)


def _steps(release: MicrodataPlan, words: StepWords) -> list[str]:
    leaves = {column.name for column in release.columns}
    withheld = [column.name for column in release.source.columns if column.name not in leaves]
    steps = [f"read {release.source.label}"]
    if withheld:
        steps.append(f"leave out {', '.join(withheld)}")
    steps += _column_words(release, words)
    if release.suppress is not None and release.threats:
        limit = release.suppress.limit
        at_most = f", at most {_percent(limit)} of them" if limit is not None else ""
        steps.append(f"suppress cells of {', '.join(release.quasi_identifiers)} until every threat holds{at_most}")
        steps += _PREFERRED[release.suppress.prefer]
        kept = "keep" if release.suppress.residual == "keep" else "drop"
        steps.append(f"{kept} small groups of rows in which every known column is suppressed")
    elif release.threats:
        steps.append("change nothing: the release fails where a threat does not hold")
    by = "by the released values" if release.order == "values" else "as in the source"
    steps.append(f"order rows {by}")
    steps.append("audit the parked files, then publish")
    return steps


def _release_lines(release: ReleaseExplanation) -> list[str]:
    lines = [f"release {release.id}", f"  source  {release.source}", f"  unit    {release.unit}"]
    if release.types:
        lines.append(f"  columns {', '.join(release.types)}")
    for threat in release.threats:
        lines.append(f"  threat  {threat.name}: {threat.attacker} who knows {', '.join(threat.columns)}")
        if threat.absent:
            lines.append(f"          {', '.join(threat.absent)} known too, but not leaving")
        lines += [f"          {limit.threshold} {limit.value}: {_k(limit)}{limit.meaning}" for limit in threat.thresholds]
    lines += [f"  {number:>4}.   {step}" for number, step in enumerate(release.steps, 1)]
    lines += [f"  check   {check}" for check in release.checks]
    lines += [f"  attack  {attack}" for attack in release.attacks]
    lines += [f"  output  {output}" for output in release.outputs]
    return lines


def _k(limit: ThresholdExplanation) -> str:
    return f"k = {limit.k}: " if limit.k is not None else ""


def _statistics(release: StatisticsPlan) -> Explained:
    from privrelease.plan.statistics.explain import explain_statistics

    return explain_statistics(release)


def _table(release: TablePlan) -> Explained:
    from privrelease.plan.tables.explain import explain_table

    return explain_table(release)


def _synthetic(release: SyntheticPlan) -> Explained:
    from privrelease.plan.synthetic.explain import explain_synthetic

    return explain_synthetic(release)


#: How releases are explained, by kind; what explains one is loaded where a policy has a release of the kind.
EXPLAINERS: tuple[tuple[str, Explain], ...] = (
    ("microdata", explain_microdata),
    ("statistics", _statistics),
    ("table", _table),
    ("synthetic", _synthetic),
)
