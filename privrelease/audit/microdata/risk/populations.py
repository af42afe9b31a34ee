"""The populations that threats name: class tables of source and release in one coding with a population's, or with sums of weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.microdata.evidence import PopulationSide
from privrelease.disclosure.classes.persons import times_of
from privrelease.errors import InputError, PrivreleaseError

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import MeasuringEngine, PersonClasses
    from privrelease.engine.protocol.base import Staged
    from privrelease.plan.model import PopulationPlan

__all__ = ["with_populations"]

_MOST_PERSONS = 10**15


def with_populations(evidence: Evidence, engine: MeasuringEngine) -> Evidence:
    """Add the population of every threat that has a table or weights."""
    outside: dict[str, PopulationSide] = {}
    for threat in evidence.plan.threats:
        if threat.population is not None and threat.columns and evidence.measurable(threat.columns):
            found = _outside(evidence, engine, threat.columns, threat.population)
            if found is not None:
                outside[threat.name] = found
    return replace(evidence, outside=outside)


def _outside(
    evidence: Evidence, engine: MeasuringEngine, columns: tuple[str, ...], known: PopulationPlan
) -> PopulationSide | None:
    source, main = evidence.source, evidence.main
    row_map = evidence.target.row_map if evidence.sound_map else None
    if source is None or main is None:
        return None
    unit = None if evidence.one_each else evidence.plan.unit
    person = None if unit is None else unit.column
    if known.table is not None:
        outsiders = engine.stage(known.table)
        if source.n_rows and not outsiders.n_rows:
            message = f"the population has no row: {known.table.label}"
            raise InputError(code="D631", message=message, hint="name the table of which the data is a sample under `table`")
        before, after, population = engine.class_tables((source, main, outsiders), columns)
        if known.table.unit is not None:
            population = _in_persons(population, engine.person_classes(outsiders, None, None, columns, known.table.unit))
        ours, theirs = before, after
    elif known.weight is not None:
        population = None
        ours = _weighted(engine, source, columns, known.weight, person)
        if row_map is None:
            return PopulationSide(ours, None)
        theirs = engine.weighted_classes(source, main, row_map, columns, known.weight, person)
    else:
        return None
    if person is None:
        return PopulationSide(ours, theirs, population)
    persons = engine.person_classes(source, None, None, columns, person)
    released = None if row_map is None else engine.person_classes(source, main, row_map, columns, person)
    return PopulationSide(_in_persons(ours, persons), _in_persons(theirs, released), population)


def _weighted(engine: MeasuringEngine, source: Staged, columns: tuple[str, ...], weight: str, person: str | None) -> ClassTable:
    """Add up the source's weights, of each person of a class once. Raises InputError (D632) where their sum is not a number of persons."""
    hint = "a sampling weight is the number of persons a row represents: correct the column"
    message = f"the sampling weights in {weight} do not add up to a number of persons"
    refusal = InputError(code="D632", message=message, hint=hint)
    try:
        table = engine.weighted_classes(source, None, None, columns, weight, person)
    except PrivreleaseError as error:
        if error.code != "D199":
            raise
        raise refusal from None  # a weight that no exact sum can hold
    if table.weights is not None and not float(table.weights.sum()) <= _MOST_PERSONS:
        raise refusal
    return table


def _in_persons(table: ClassTable, persons: PersonClasses | None) -> ClassTable:
    """Count persons for records, and say which. Both tables list the same classes in the same order: codings ascend with the values."""
    if persons is None or persons.table.pairs_class is None:
        return table
    assert persons.table.pairs_person is not None
    times = times_of(persons.table, persons.table.pairs_person.astype(np.int64))
    counts = np.bincount(persons.table.pairs_class, times, table.n_classes).astype(np.int64)
    pairs = persons.table
    return replace(table, counts=counts, pairs_class=pairs.pairs_class, pairs_person=pairs.pairs_person, alike=pairs.alike)
