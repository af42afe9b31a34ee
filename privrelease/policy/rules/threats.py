"""Rules of threats: an attacker who knows something, thresholds that mean something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.number_values import exact_decimal
from privrelease.policy.rules.rule_context import duplicates
from privrelease.policy.text.messages import shown
from privrelease.relational.schema import ColumnType, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from privrelease.findings import Finding
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.threats import Threat
    from privrelease.policy.rules.rule_context import RuleContext

__all__ = ["threat_rules"]


def threat_rules(reading: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with threats."""
    protected = {name for release in reading.policy.releases for name in reading.kind(release).protected(release)}
    for name, threat in reading.policy.threats.items():
        path = ("threats", name)
        dataset = reading.policy.datasets.get(threat.dataset)
        yield from _columns(reading, path, threat, dataset)
        yield from _thresholds(reading, path, threat, "record" if dataset is None or dataset.person is None else "person")
        yield from _attacker(reading, path, threat, dataset)
        if threat.missing == "wildcard" and name in protected:
            message = f"{name} reads a missing value as anything: this reading is not transitive, classes of it overlap"
            hint = "protect under `missing: category`; the audit reports both readings"
            yield reading.warning("P603", message, *path, "missing", hint=hint)
        if name not in protected and reading.resolved:
            message = f"no release protects against {name}"
            yield reading.warning("P607", message, *path, key=True, hint="name it under `protect`, or remove it")


def _columns(reading: RuleContext, path: tuple[str, str], threat: Threat, dataset: Dataset | None) -> Iterator[Finding]:
    for number, column in duplicates(threat.knows):
        yield reading.error("P408", f"{shown(column)} appears twice in knows", *path, "knows", number, hint="remove one")
    for number, column in enumerate(threat.knows):
        spec = dataset.columns.get(column) if dataset is not None else None
        if dataset is None or spec is None:
            continue
        if spec.role is Role.DIRECT:
            message = f"{path[1]} knows {shown(column)}, a direct identifier: it is never released as it is, so no threshold can hold on it"
            yield reading.error("P406", message, *path, "knows", number, hint="remove it from `knows`")
        elif dataset.person is not None and dataset.person.column == column:
            message = f"{path[1]} knows {shown(column)}, which names the person: every class would hold one person"
            yield reading.error("P406", message, *path, "knows", number, hint="remove it from `knows`")


def _thresholds(reading: RuleContext, path: tuple[str, str], threat: Threat, counted: str) -> Iterator[Finding]:
    highest, average, at_risk = threat.highest_risk, threat.average_risk, threat.records_at_risk
    subsets = threat.also.subsets if threat.also is not None else None
    if highest == 1:
        yield reading.warning(
            "P605", f"highest_risk 1 allows every {counted} to be unique", *path, "highest_risk", hint="0.2 means k = 5"
        )
    if average == 1:
        yield reading.warning("P605", "average_risk 1 allows everything", *path, "average_risk")
    if highest is not None and average is not None and average >= highest > 0:
        message = (
            f"average_risk {exact_decimal(average)} is never reached: "
            f"no {counted} may have more than highest_risk {exact_decimal(highest)}"
        )
        yield reading.warning("P605", message, *path, "average_risk", hint="write a smaller average_risk, or remove it")
    if at_risk is not None and highest is not None and at_risk.above >= highest:
        message = f"no {counted} may be above {at_risk.above}: highest_risk is {exact_decimal(highest)}"
        yield reading.warning("P605", message, *path, "records_at_risk", "above", hint="write a level below highest_risk")
    if at_risk is not None and at_risk.share == 1:
        message = f"a share of 1 allows every {counted} above the level"
        yield reading.warning("P605", message, *path, "records_at_risk", "share")
    if subsets is not None and subsets.up_to > len(set(threat.knows)):
        message = f"up_to {subsets.up_to} is more than the {len(set(threat.knows))} columns that {path[1]} knows"
        yield reading.error("P410", message, *path, "also", "subsets", "up_to", hint=f"write {len(set(threat.knows))}")


def _attacker(reading: RuleContext, path: tuple[str, str], threat: Threat, dataset: Dataset | None) -> Iterator[Finding]:
    population = threat.population
    if threat.attacker == "journalist" and population is None:
        yield reading.error(
            "P412",
            f"{path[1]} is a journalist, whose risk depends on the population: population is missing",
            *path,
            "attacker",
            hint="write `population: {table: …}`, `{weight: …}` or `{size: …, estimator: …}`, or `attacker: prosecutor`",
        )
    if threat.attacker == "prosecutor" and population is not None:
        message = f"{path[1]} is a prosecutor, who knows that the person is in the data: population changes nothing"
        yield reading.warning("P605", message, *path, "population", key=True, hint="remove it, or write `attacker: journalist`")
    if threat.attacker == "marketer":
        for key in ("highest_risk", "records_at_risk"):
            if getattr(threat, key) is not None:
                message = f"{path[1]} is a marketer, whose risk is an average: {key} means nothing"
                yield reading.error("P412", message, *path, key, key=True, hint="write `average_risk`")
    if threat.knows_rows and dataset is not None and dataset.person is None:
        message = f"{path[1]} knows rows of a person, but dataset {threat.dataset} has no unit"
        yield reading.error("P412", message, *path, "knows_rows", hint="write `unit: {column: …}` in the dataset")
    if population is not None and dataset is not None:
        yield from _population(reading, path, threat, dataset)


def _population(reading: RuleContext, path: tuple[str, str], threat: Threat, dataset: Dataset) -> Iterator[Finding]:
    population = threat.population
    assert population is not None
    if population.weight is not None and population.weight in dataset.columns:
        kind = dataset.columns[population.weight].type
        if kind not in {ColumnType.INTEGER, ColumnType.NUMBER}:
            message = f"{shown(population.weight)} is of type {kind.value}: a sampling weight is a number"
            yield reading.error("P412", message, *path, "population", "weight", hint="write `type: number` for it")
        if population.weight in threat.knows:
            yield reading.error(
                "P412", f"{shown(population.weight)} is a weight and known at once", *path, "population", "weight"
            )
    if population.table is None or population.table not in reading.policy.datasets:
        return
    table = reading.policy.datasets[population.table]
    if population.table == threat.dataset:
        yield reading.error(
            "P412", "the population is the dataset itself", *path, "population", "table", hint="name another dataset"
        )
        return
    for column in dict.fromkeys(threat.knows):
        if column not in dataset.columns or ("columns", population.table, column) in reading.broken:
            continue
        if column not in table.columns:
            message = f"dataset {population.table} has no column {shown(column)}, which {path[1]} knows"
            yield reading.error("P412", message, *path, "population", "table", hint="declare it there under the same name")
        elif table.columns[column].type is not dataset.columns[column].type:
            message = f"{shown(column)} is of type {table.columns[column].type.value} in {population.table} and of type {dataset.columns[column].type.value} in {threat.dataset}"
            yield reading.error("P412", message, *path, "population", "table", hint="give both the same type")
