"""Populations that can be one: a table with rows, a size of at least the persons in the data, weights with a sum.

A journalist's risk is one over the class size in the population. Where the population stated cannot hold the data, no figure of it means
anything, so the run stops before anything is protected. A table that merely lacks some persons is left to the audit, which counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.errors import InputError
from privrelease.execute.common.persons import person_sizes
from privrelease.plan.model import UnitPlan

if TYPE_CHECKING:
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.base import Engine, Staged
    from privrelease.plan.model import MicrodataPlan

__all__ = ["MOST_PERSONS", "check_weights", "stage_populations"]

#: Persons that the weights of a sample may add up to; beyond, whole numbers of persons are no longer exact in their sums.
MOST_PERSONS = 10**15


def stage_populations(plan: MicrodataPlan, engine: Engine, sample: int) -> dict[str, Staged]:
    """Stage the population table of every threat that has one, by the threat's name; ``sample``: persons (or records) in the data.

    Raises InputError (D631) where a table has no row, or a stated size is less than ``sample``; D601 where a row of it has no person.
    """
    staged = {}
    for threat in plan.threats:
        population = threat.population
        if population is None:
            continue
        if population.size is not None and population.size < sample:
            raise InputError(
                code="D631",
                message=f"the population of {threat.name} is said to be {population.size}, and the data holds {sample} already",
                hint="write the number of persons of whom the data is a sample under `size`",
                location=threat.location,
            )
        if population.table is not None:
            staged[threat.name] = engine.stage(population.table)
            if population.table.unit is not None:
                person_sizes(UnitPlan(population.table.unit), population.table, engine, staged[threat.name])
            if sample and not staged[threat.name].n_rows:
                raise InputError(
                    code="D631",
                    message=f"the population of {threat.name} has no row: {population.table.label}",
                    hint="name the table of which the data is a sample under `table`",
                    location=threat.location,
                )
    return staged


def check_weights(plan: MicrodataPlan, classes: ClassTable) -> None:
    """Refuse sampling weights whose sum is not a number of persons. Raises InputError (D632) above ``MOST_PERSONS``."""
    weights = classes.weights
    if weights is None:
        return
    with np.errstate(over="ignore"):
        total = float(np.sum(weights))
    if not total <= MOST_PERSONS:
        raise InputError(
            code="D632",
            message=f"the sampling weights add up to more than {MOST_PERSONS:.0e} persons",
            hint="a sampling weight is the number of persons a row represents: correct the column",
            location=plan.source.location,
        )
