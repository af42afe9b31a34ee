"""Rules of the ledger: a cap that means something, releases that could fit it, one unit a population, and answers that can be served again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.language.ledger import CapSpec
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["ledger_rules"]


def ledger_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with the cap, releases that could never be charged, and those that are charged again by every run."""
    yield from _labels(reading)
    yield from _units(reading)
    ledger = reading.policy.ledger
    if ledger is None:
        if reading.left_out("ledger"):
            return
        for number, release in enumerate(reading.policy.releases):
            if reading.kind(release).budget is not None:
                yield reading.warning(
                    "P709",
                    f"release {release.id} spends privacy budget, and the policy names no ledger: it can be planned, not run",
                    *("releases", number, "budget"),
                    hint="write `ledger: {cap: {epsilon: …, delta: …}, url: sqlite:///ledger.db}`, then `privrelease ledger init`",
                    key=True,
                )
        return
    caps: list[tuple[tuple[str, ...], CapSpec]] = [(("cap",), ledger.cap)]
    caps += [(("datasets", name), cap) for name, cap in ledger.datasets.items()]
    for place, cap in caps:
        if cap.delta is not None and not 0 <= cap.delta < 1:
            yield reading.error("P104", "delta must be in [0, 1)", "ledger", *place, "delta", hint="write e.g. 1e-5")
            continue
        yield from _never(reading, cap, place)


def _labels(reading: RuleContext) -> Iterator[Finding]:
    """Yield releases of statistics whose data has no snapshot label, under which answers could be served again."""
    for number, release in enumerate(reading.policy.releases):
        if reading.kind(release).budget is None:
            continue
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is not None and dataset.snapshot is None and ("datasets", release.from_) not in reading.broken:
            yield reading.warning(
                "P711",
                f"dataset {release.from_} names no snapshot: every run of release {release.id} draws again and is charged again",
                *("releases", number, "from"),
                hint=f"write e.g. `snapshot: 2026-Q3` under datasets.{release.from_}: the same question about it is then served again, free",
            )


def _units(reading: RuleContext) -> Iterator[Finding]:
    """Yield datasets of one population whose statistics protect different units: the ledger would refuse the second to be charged."""
    first: dict[str | None, tuple[str, str]] = {}
    for number, release in enumerate(reading.policy.releases):
        if reading.kind(release).budget is None:
            continue
        dataset = reading.policy.datasets.get(release.from_)
        if dataset is None or ("datasets", release.from_) in reading.broken:
            continue
        unit = "rows" if dataset.person is None else f"persons by {dataset.person.column}"
        other, known = first.setdefault(dataset.population, (release.from_, unit))
        if unit != known:
            whose = "both name no population" if dataset.population is None else f"both are of population {dataset.population}"
            yield reading.error(
                "P712",
                f"statistics of dataset {release.from_} protect {unit}, those of dataset {other} {known}, and {whose}: their budgets do not add up",
                *("releases", number, "from"),
                hint="declare the same `unit` for every dataset of a population, or name another `population` for one of them",
            )


def _never(reading: RuleContext, cap: CapSpec, place: tuple[str, ...]) -> Iterator[Finding]:
    """Yield releases that a cap could never cover, whatever was spent before."""
    for number, release in enumerate(reading.policy.releases):
        spent = reading.kind(release).budget
        if spent is None or (len(place) > 1 and release.from_ != place[1]):
            continue
        budget = spent(release)
        for name in ("epsilon", "delta"):
            asked, most = getattr(budget, name) or 0, getattr(cap, name) or 0
            if asked > most and (name == "epsilon" or asked < 1):  # a delta of 1 or above is reported as what it is
                where = ".".join(("ledger", *place, name))
                yield reading.error(
                    "P430",
                    f"the {name} of release {release.id}, {asked}, is above the ledger's cap, {most}: it could never be charged",
                    *("releases", number, "budget", name),
                    hint=f"lower it, or raise `{where}`",
                )
