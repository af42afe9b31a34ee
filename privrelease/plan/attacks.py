"""Attacks as the audit tries them: every file resolved, every set of columns said, limits exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.policy.rules.attack_columns import attackable, attacked, holds_out
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from decimal import Decimal

    from privrelease.findings import Location
    from privrelease.policy.language.attacks import LimitsSpec
    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.language.synthetic import SyntheticRelease
    from privrelease.policy.loader import LoadedPolicy
    from privrelease.policy.validation.paths import SourcePlace
    from privrelease.relational.schema import TableSource

__all__ = [
    "AttackLimits",
    "AttacksPlan",
    "InferencePlan",
    "KnowingPlan",
    "LinkabilityPlan",
    "SinglingOutPlan",
    "attack_words",
    "attacks_plan",
]


@dataclass(frozen=True, slots=True)
class AttackLimits:
    """The largest risk and the largest advantage that pass; None: information."""

    max_risk: Fraction | None = None
    max_advantage: Fraction | None = None
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class SinglingOutPlan:
    """``columns``: what predicates are made of; ``combine``: of how many at once."""

    limits: AttackLimits
    columns: tuple[str, ...]
    combine: int


@dataclass(frozen=True, slots=True)
class LinkabilityPlan:
    """``first``: columns of the attacker's one list, from ``auxiliary`` where there is such a file; ``second``: of the other."""

    limits: AttackLimits
    first: tuple[str, ...]
    second: tuple[str, ...]
    auxiliary: TableSource | None = None


@dataclass(frozen=True, slots=True)
class InferencePlan:
    """``target`` is guessed from ``knows``; a number within ``tolerance`` of the guess is guessed."""

    limits: AttackLimits
    target: str
    knows: tuple[str, ...]
    tolerance: Fraction


@dataclass(frozen=True, slots=True)
class KnowingPlan:
    """An attacker who knows ``knows``."""

    limits: AttackLimits
    knows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttacksPlan:
    """Attacks on one release. ``control``: persons who are not in the data, with the released columns and the unit.

    ``decides``: whether limits decide publication; under differential privacy they only warn (DESIGN semantics 12). Where persons are held out
    of the release, they are the control, and there is no file of others.
    """

    sample: int
    confidence: Fraction
    columns: tuple[str, ...]
    control: TableSource | None = None
    closest_record: bool = True
    singling_out: SinglingOutPlan | None = None
    linkability: LinkabilityPlan | None = None
    inference: tuple[InferencePlan, ...] = ()
    record_linkage: KnowingPlan | None = None
    membership: KnowingPlan | None = None
    decides: bool = True

    @property
    def sources(self) -> tuple[TableSource, ...]:
        """The files that attacks read in addition to the data."""
        auxiliary = None if self.linkability is None else self.linkability.auxiliary
        return tuple(source for source in (self.control, auxiliary) if source is not None)


def attacks_plan(
    loaded: LoadedPolicy, release: MicrodataRelease | SyntheticRelease, source: TableSource, *, decides: bool = True
) -> AttacksPlan | None:
    """Return the attacks on a release of a policy without faults; None where there are none.

    ``decides`` False: the rows are protected by noise. No one's own record is looked for in them, since no row is a person's.
    """
    spec = loaded.policy.attacks
    if spec is None or all(one.id != release.id for _, one in attacked(loaded.policy)):
        return None
    dataset = loaded.policy.datasets[release.from_]
    there = attackable(release, dataset)
    unit = None if dataset.person is None else dataset.person.column

    def limits(name: str, part: LimitsSpec) -> AttackLimits:
        return AttackLimits(_exact(part.max_risk), _exact(part.max_advantage), loaded.location("attacks", name))

    def file(written: str | None, columns: tuple[str, ...], *key: str) -> TableSource | None:
        if written is None:
            return None
        return _like(source, loaded.roots.file(written), columns, unit, loaded.location("attacks", *key), key[-1])

    link, single, guess, find, member = (
        spec.linkability,
        spec.singling_out,
        spec.inference,
        spec.record_linkage,
        spec.membership,
    )
    halves = there.halves(spec)
    return AttacksPlan(
        sample=spec.sample,
        confidence=Fraction(spec.confidence),
        columns=there.columns,
        control=None if holds_out(release) else file(spec.control, there.columns, "control"),
        closest_record=spec.closest_record,
        singling_out=None if single is None else SinglingOutPlan(limits("singling_out", single), there.columns, single.combine),
        linkability=None
        if link is None
        else LinkabilityPlan(limits("linkability", link), *halves, file(link.auxiliary, halves[0], "linkability", "auxiliary")),
        inference=()
        if guess is None
        else tuple(
            InferencePlan(limits("inference", guess), target, there.known(guess.knows, target), Fraction(guess.tolerance))
            for target in guess.target
        ),
        record_linkage=None
        if find is None or not decides
        else KnowingPlan(limits("record_linkage", find), there.known(find.knows)),
        membership=None if member is None else KnowingPlan(limits("membership", member), member.knows or there.columns),
        decides=decides,
    )


def _exact(number: Decimal | None) -> Fraction | None:
    return None if number is None else Fraction(number)


def _like(
    source: TableSource, place: SourcePlace, columns: tuple[str, ...], unit: str | None, location: Location, key: str
) -> TableSource:
    """A file that is read like the data, of which some columns and the unit are needed. Anything else in it is passed over."""
    wanted = {*columns, unit}
    return replace(
        source,
        kind=place.kind,
        path=place.path,
        label=place.label,
        table=None,
        columns=tuple(column for column in source.columns if column.name in wanted),
        unread=(),
        unlisted_columns="drop",
        location=location,
        key=key,
    )


def attack_words(plan: AttacksPlan) -> tuple[str, ...]:
    """Say each attack and its limits in words."""
    said: list[tuple[str, AttackLimits]] = []
    if plan.singling_out is not None:
        said.append(
            (
                f"singling out by one column and by {plan.singling_out.combine} of {', '.join(plan.singling_out.columns)}",
                plan.singling_out.limits,
            )
        )
    if plan.linkability is not None:
        sides = f"{', '.join(plan.linkability.first)} with {', '.join(plan.linkability.second)}"
        said.append((f"linking two lists: {sides}", plan.linkability.limits))
    said += [(f"guessing {guess.target} from {', '.join(guess.knows)}", guess.limits) for guess in plan.inference]
    if plan.record_linkage is not None:
        said.append((f"finding a person's record by {', '.join(plan.record_linkage.knows)}", plan.record_linkage.limits))
    if plan.membership is not None:
        said.append((f"telling who was in the data by {', '.join(plan.membership.knows)}", plan.membership.limits))
    return tuple(f"{words}: {_limit_words(limits)}" for words, limits in said)


def _limit_words(limits: AttackLimits) -> str:
    found = [
        f"{name} at most {float(limit):g}"
        for name, limit in (("risk", limits.max_risk), ("advantage", limits.max_advantage))
        if limit is not None
    ]
    return ", ".join(found) or "no limit, for information"
