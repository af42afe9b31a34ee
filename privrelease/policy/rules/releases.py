"""Rules of releases: what is released is protected, named once, and written where nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.rules.rule_context import duplicates, leaving
from privrelease.policy.text.messages import shown
from privrelease.relational.schema import Role
from privrelease.relational.treatments import CellRelation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.releases import MicrodataRelease
    from privrelease.policy.language.threats import Threat
    from privrelease.policy.rules.rule_context import Leaving, RuleContext

__all__ = ["release_rules"]


def release_rules(reading: RuleContext, releases: Sequence[tuple[int, MicrodataRelease]]) -> Iterator[Finding]:
    """Yield what is wrong with releases of rows about persons."""
    for number, release in releases:
        dataset = reading.policy.datasets.get(release.from_)
        yield from _steps(reading, number, release)
        if dataset is not None:
            yield from _columns(reading, number, release, dataset)
            yield from _protection(reading, number, release, dataset, leaving(release, dataset))


def _steps(reading: RuleContext, number: int, release: MicrodataRelease) -> Iterator[Finding]:
    path = ("releases", number, "transform")
    handled: dict[str, str] = {}
    suppressing = False
    for index, step in enumerate(release.transform):
        if step.last:
            if suppressing:
                yield reading.error(
                    "P411", "cells are suppressed twice", *path, index, hint="keep one `suppress` step, the last"
                )
            suppressing = True
            continue
        key, names = step.named, step.listed()
        if suppressing:
            message = f"{key} comes after the suppression of cells, which must close the gap at the end"
            yield reading.error("P411", message, *path, index, key, key=True, hint="move it before `suppress`")
        for place, name in enumerate(names):
            if name in handled:
                words = f"appears twice under {key}" if handled[name] == key else f"is to {handled[name]} and to {key}"
                at = (place,) if isinstance(getattr(step, key), tuple) else ()
                yield reading.error("P408", f"{shown(name)} {words}", *path, index, key, *at, hint="remove one")
            handled.setdefault(name, key)


def _columns(reading: RuleContext, number: int, release: MicrodataRelease, dataset: Dataset) -> Iterator[Finding]:
    path = ("releases", number)
    steps = release.transform
    dropped = {name for step in steps for name in step.removed()}
    tokens = {
        (index, place, name)
        for index, step in enumerate(steps)
        for place, name in enumerate(step.listed())
        if name in dataset.columns
        and (treatment := step.treatment(name, dataset.columns[name])) is not None
        and treatment.relation is CellRelation.KEYED_TOKEN
    }
    pseudonyms = {name for _, _, name in tokens}
    for index, name in duplicates(release.columns or ()):
        yield reading.error("P408", f"{shown(name)} appears twice in columns", *path, "columns", index, hint="remove one")
    for index, name in enumerate(release.columns or ()):
        if name in dropped:
            yield reading.error(
                "P408", f"{shown(name)} is selected and dropped", *path, "columns", index, hint="keep one of the two"
            )
        elif name in dataset.columns and dataset.columns[name].role is Role.DIRECT and name not in pseudonyms:
            message = f"{shown(name)} is a direct identifier and cannot leave as it is"
            yield reading.error("P407", message, *path, "columns", index, hint="remove it, or add a `pseudonymise` step for it")
    if release.columns is not None:
        for index, place, name in sorted(tokens):
            if name not in release.columns:
                message = f"{shown(name)} is pseudonymised but does not leave"
                at = (*path, "transform", index, steps[index].named, place)
                yield reading.warning("P609", message, *at, hint="add it to `columns`, or remove the step")


def _protection(
    reading: RuleContext, number: int, release: MicrodataRelease, dataset: Dataset, out: Leaving
) -> Iterator[Finding]:
    path = ("releases", number)
    for index, name in duplicates(release.protect):
        yield reading.error("P408", f"{shown(name)} appears twice in protect", *path, "protect", index, hint="remove one")
    for index, name in enumerate(release.protect):
        threat = reading.policy.threats.get(name)
        if threat is not None and threat.dataset != release.from_ and threat.dataset in reading.policy.datasets:
            message = f"{name} is about dataset {threat.dataset}, the release is made of {release.from_}"
            yield reading.error("P413", message, *path, "protect", index, hint="name a threat of that dataset")
        elif threat is not None:
            yield from _known_columns(reading, (*path, "protect", index), name, threat, dataset, out)
    yield from _weights(reading, number, release)
    if not out.columns and not _has_broken_columns(reading, release.from_):
        yield reading.error("P415", f"no column is published in release {release.id}", *path, key=True, hint="select columns")
    yield from _nothing_checked(reading, number, release)
    threats = [reading.policy.threats[name] for name in release.protect if name in reading.policy.threats]
    if len(threats) == len(release.protect) and all(threat.dataset in reading.policy.datasets for threat in threats):
        known = {column for threat in threats if threat.dataset == release.from_ for column in threat.knows}
        if known <= set(dataset.columns):
            yield from _suppression(reading, number, release, dataset, out, known)
        yield from _unprotected(reading, number, release, dataset, out, known)
        yield from _households(reading, number, release, dataset, out, threats)
    yield from _persons(reading, number, release, dataset, out)


def _weights(reading: RuleContext, number: int, release: MicrodataRelease) -> Iterator[Finding]:
    """Refuse threats of one release that count a population by different weights: a class has one sum of weights."""
    first: str | None = None
    for index, name in enumerate(release.protect):
        threat = reading.policy.threats.get(name)
        weight = None if threat is None or threat.population is None else threat.population.weight
        first = first or weight
        if weight is not None and weight != first:
            message = f"{name} counts the population by {shown(weight)}, another threat of the release by {shown(first)}"
            hint = "protect against them in releases of their own"
            yield reading.error("P412", message, "releases", number, "protect", index, hint=hint)


def _known_columns(
    reading: RuleContext, path: tuple[str | int, ...], name: str, threat: Threat, dataset: Dataset, out: Leaving
) -> Iterator[Finding]:
    here = [column for column in dict.fromkeys(threat.knows) if column in dataset.columns]
    for column in here:
        if column in out.pseudonyms and dataset.columns[column].role is not Role.DIRECT:
            message = f"{name} knows {shown(column)}, which is released as a pseudonym"
            yield reading.error("P414", message, *path, hint=f"drop {shown(column)}, or let it leave as it is")
    if len(here) == len(set(threat.knows)) and not any(column in out.columns for column in here):
        message = f"none of the columns that {name} knows is released: there is nothing to protect"
        yield reading.error("P414", message, *path, hint="remove it from `protect`, or select its columns")


def _suppression(
    reading: RuleContext, number: int, release: MicrodataRelease, dataset: Dataset, out: Leaving, known: set[str]
) -> Iterator[Finding]:
    if out.suppress is None:
        return
    path = ("releases", number, "transform", out.suppress_step)
    for column in out.suppress.weights if release.protect else ():
        if column in dataset.columns and column not in known:
            message = f"{shown(column)} is known in no protected threat: none of its cells is suppressed"
            yield reading.error("P416", message, *path, "weights", column, key=True, hint="remove its weight")
    if not release.protect:
        message = "cells are suppressed for threats, and the release protects against none"
        yield reading.error("P416", message, *path, hint="name threats under `protect`")


def _has_broken_columns(reading: RuleContext, dataset: str) -> bool:
    return any(item[:2] == ("columns", dataset) for item in reading.broken)


def _nothing_checked(reading: RuleContext, number: int, release: MicrodataRelease) -> Iterator[Finding]:
    checked = {check.release for check in reading.policy.checks}
    known = not reading.left_out("checks") and not reading.left_out("releases")
    dangling = checked - {other.id for other in reading.policy.releases}
    if not release.protect and release.id not in checked and not dangling and known:
        message = f"release {release.id} protects against nothing and has no checks: nothing would be checked"
        yield reading.error("P417", message, "releases", number, hint="name threats under `protect`, or write checks for it")


def _unprotected(
    reading: RuleContext, number: int, release: MicrodataRelease, dataset: Dataset, out: Leaving, known: set[str]
) -> Iterator[Finding]:
    for column in out.columns if reading.resolved else ():
        if dataset.columns[column].role is Role.QUASI and column not in known:
            message = f"{shown(column)} is a quasi-identifier and is published in release {release.id}, but no protected threat knows it"
            selected = release.columns.index(column) if release.columns is not None else None
            place = ("releases", number) if selected is None else ("releases", number, "columns", selected)
            yield reading.warning("P601", message, *place, hint="add it to a threat's `knows`, drop it, or correct its role")


def _households(
    reading: RuleContext, number: int, release: MicrodataRelease, dataset: Dataset, out: Leaving, threats: Sequence[Threat]
) -> Iterator[Finding]:
    """Warn of a household that is released where no protected threat limits what finds it."""
    if any(threat.highest_risk is not None for threat in threats) or not reading.resolved:
        return
    for column in out.columns:
        if dataset.columns[column].links == "household":
            message = f"{shown(column)} links the persons of a household, and no protected threat of release {release.id} sets `highest_risk`: nothing limits it"
            hint = f"protect against a threat with `highest_risk`, or drop {shown(column)}"
            yield reading.warning("P556", message, "releases", number, hint=hint)


def _persons(reading: RuleContext, number: int, release: MicrodataRelease, dataset: Dataset, out: Leaving) -> Iterator[Finding]:
    path = ("releases", number)
    unit = dataset.person
    if unit is None and dataset.undeclared:
        message = f"dataset {release.from_} has no unit: every row counts as a person of its own"
        hint = "write `unit: {column: …}` if persons may repeat"
        if out.pseudonyms:
            hint += f": a run stops where a pseudonym of {shown(next(iter(out.pseudonyms)))} would occur in several rows"
        yield reading.info("P610", message, "datasets", release.from_, key=True, hint=hint)
    elif unit is None:
        pass  # the policy says so itself
    elif unit.column not in out.columns and out.pseudonyms and unit.max_rows != 1:
        name = shown(next(iter(out.pseudonyms)))
        message = (
            f"{name} is released as a pseudonym and a person may have several rows: where it repeats in them the rows of a person "
            "stay linkable, and classes are then sets of rows of persons"
        )
        hint = f"drop {name}, or write `max_rows: 1` if each person has one row"
        yield reading.warning("P602", message, *path, hint=hint)
    elif unit.column in out.columns and unit.max_rows != 1:
        message = (
            f"{shown(unit.column)} is released and a person may have several rows: the rows of a person stay linkable, "
            "so classes are sets of rows of persons"
        )
        hint = f"drop {shown(unit.column)}, or write `max_rows: 1` if each person has one row"
        yield reading.warning("P602", message, *path, hint=hint)
    if release.order == "source":
        message = "rows in the order of the source can be linked to persons by their position"
        yield reading.warning("P604", message, *path, "order", hint="write `order: values`")
