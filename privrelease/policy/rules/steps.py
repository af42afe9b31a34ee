"""Rules of transform steps that change values: each step's own, and what holds for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.text.messages import shown
from privrelease.relational.schema import Role
from privrelease.relational.treatments import CellRelation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.releases import MicrodataRelease, Step
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["step_rules"]


def step_rules(reading: RuleContext, releases: Sequence[tuple[int, MicrodataRelease]]) -> Iterator[Finding]:
    """Yield what is wrong with steps: by their own rules, and where a column whose values they change is read as it is."""
    for number, release in releases:
        dataset = reading.policy.datasets.get(release.from_)
        for index, step in enumerate(release.transform if dataset is not None else ()):
            assert dataset is not None
            path = ("releases", number, "transform", index)
            yield from step.faults(reading, path, dataset.columns)
            for name in step.listed():
                if name in dataset.columns and step.takes is not None and dataset.columns[name].type not in step.takes:
                    message = f"{step.named} cannot change {shown(name)}, which is of type {dataset.columns[name].type.value}"
                    hint = f"name a column of type {' or '.join(sorted(step.takes))}"
                    yield reading.error("P563", message, *path, step.named, hint=hint)
                treatment = step.treatment(name, dataset.columns[name]) if name in dataset.columns else None
                if treatment is not None and treatment.relation is CellRelation.MAPPED:
                    yield from _changed(reading, path, release, dataset, step, name)


def _changed(
    reading: RuleContext, path: tuple[str | int, ...], release: MicrodataRelease, dataset: Dataset, step: Step, name: str
) -> Iterator[Finding]:
    at = (*path, step.named)
    for what in _as_it_is(reading, release, dataset, name):
        message = f"{shown(name)} is {what}, which is read as it is in the source"
        yield reading.error("P560", message, *at, hint=f"leave {shown(name)} out of the step")
    if release.columns is not None and name not in release.columns:
        message = f"{step.named} changes {shown(name)}, which is not released"
        yield reading.warning("P562", message, *at, hint="add it to `columns`, or remove the step")
    if step.contains:
        return
    for threat in release.protect:
        known = reading.policy.threats.get(threat)
        if known is not None and known.missing == "wildcard" and name in known.knows:
            message = f"{shown(threat)} reads missing values as anything, and {step.named} changes {shown(name)}, which it knows: released records are not compared with true values of which they hold labels"
            yield reading.error("P580", message, *at, hint="write `missing: category` for the threat, or remove the step")
    spec = reading.policy.attacks
    if spec is not None and (spec.releases is None or release.id in spec.releases):
        message = f"attacks cannot be tried on release {release.id}: {step.named} changes {shown(name)}, and they compare values with the source's"
        yield reading.error(
            "P561", message, *at, hint="name the releases that are attacked under `attacks`, or remove the step"
        )


def _as_it_is(reading: RuleContext, release: MicrodataRelease, dataset: Dataset, name: str) -> Iterator[str]:
    """Say as what else the column is read."""
    if dataset.columns[name].role is Role.DIRECT:
        yield "a direct identifier"
    if dataset.columns[name].links == "household":
        yield "the number of a household"
    if dataset.person is not None and dataset.person.column == name:
        yield "the unit"
    for threat in (reading.policy.threats[one] for one in release.protect if one in reading.policy.threats):
        population = threat.population
        if population is not None and population.weight == name:
            yield "a sampling weight"
        elif population is not None and population.table is not None and name in threat.knows:
            yield f"looked up in the population table {population.table}"
