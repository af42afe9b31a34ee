"""The ground of attacks on microdata: the distinct records of every table in one coding, labels read back by containment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.attacks.control import compared
from privrelease.audit.attacks.sampling import Draws
from privrelease.audit.attacks.setup import AttackSetup, Auxiliary, Labels, Table
from privrelease.audit.microdata.recoding import VERIFIERS, recoded_columns, verifier_of
from privrelease.errors import InputError, InternalError
from privrelease.findings import pluralise
from privrelease.relational.treatments import declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.engine.protocol.attacks import DistinctRecords
    from privrelease.engine.protocol.audit import AuditEngine
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.attacks import AttacksPlan

__all__ = ["ground"]


def ground(evidence: Evidence, plan: AttacksPlan, engine: AuditEngine, verifiers: Verifiers = VERIFIERS) -> AttackSetup:
    """Read and code every table. ``evidence`` has source and file. Raises InputError where a file of the policy cannot be read."""
    source, main = evidence.source, evidence.main
    assert source is not None
    assert main is not None
    link = plan.linkability
    control = None if plan.control is None else engine.stage(plan.control)
    listed = None if link is None or link.auxiliary is None else engine.stage(link.auxiliary)
    names = [name for name in plan.columns if evidence.measurable([name])]
    unit = None if evidence.plan.unit is None else evidence.plan.unit.column
    several = None if evidence.one_each else unit
    of: list[Staged | ReleasedFile] = [source, main]
    columns, units = [names, names], [several, None]
    if control is not None:
        of, columns, units = [*of, control], [*columns, names], [*units, unit]
    if listed is not None and link is not None:
        of, columns, units = [*of, listed], [*columns, [name for name in names if name in link.first]], [*units, None]
    coarser = [name for name in recoded_columns(evidence.usable) if name in names]
    found = list(engine.distinct_records(of, columns, units, (1, coarser)))
    ours, theirs = _covers(evidence, coarser, found, verifiers)
    if control is not None and plan.control is not None:
        _all_covered(ours, found[2], plan.control.label)
    if listed is not None and link is not None and link.auxiliary is not None:
        _all_covered(ours, found[-1], link.auxiliary.label)
    made = AttackSetup(
        plan,
        Draws.of("attacks", *evidence.target.source_digests),
        Table.made(found[0], engine, ours, source, several),
        Table.made(found[1], engine, theirs),
        engine,
        None if control is None else Table.made(found[2], engine, ours, control, unit),
        unit=unit,
        content=None if control is None else compared(*engine.class_tables((source, control), plan.columns)),
        other_keys=evidence.target.other_keys,
        shared_persons=None if control is None or unit is None else engine.shared_persons(control, source, unit).persons,
    )
    made = replace(made, owners=_owners(evidence, made))
    if listed is None or unit is None:
        return made
    list_ = Auxiliary(
        Table.made(found[-1], engine, ours, listed),
        engine.shared_persons(listed, source, unit),
        None if control is None else engine.shared_persons(listed, control, unit),
    )
    return replace(made, auxiliary=list_)


def _covers(
    evidence: Evidence, coarser: Sequence[str], found: Sequence[DistinctRecords], verifiers: Verifiers
) -> tuple[dict[str, Labels], dict[str, Labels]]:
    """Return the covers of columns of which the release holds labels, for the other tables and for its own."""
    ours, theirs = {}, {}
    for name in coarser:
        released = next(column for column in evidence.usable if column.name == name)
        covers = verifier_of(released, verifiers).covers
        if covers is None:
            message = f"nothing says which values the labels of {name} represent"
            raise InternalError(code="R197", message=message)
        values, labels = (next(one.cells for one in found[side].columns if one.name == name) for side in (0, 1))
        domain = evidence.plan.source.column(name).domain
        cover, order = covers(declaration_of(released.treatment), values, labels, domain)
        places = np.zeros(len(order) + 1, np.int64)
        places[order + 1] = np.arange(1, len(order) + 1)
        ours[name], theirs[name] = Labels(cover), Labels(cover, places)
    return ours, theirs


def _all_covered(covers: Mapping[str, Labels], found: DistinctRecords, file: str) -> None:
    """Raise InputError D258 where a file of the policy holds a value that the hierarchy lacks: no label could be compared with it."""
    for column in found.columns:
        lacking = covers[column.name].cover.lacking if column.name in covers else None
        if lacking is None or not (there := lacking[column.codes]).any():
            continue
        rows, first = int(found.rows[there].sum()), int(found.first[there].min()) + 1
        message = f"{file}: column {column.name}: {pluralise(rows, 'row has', 'rows have')} a value that its hierarchy lacks (first in row {first})"
        raise InputError(code="D258", message=message, hint="add the values to the hierarchy, or correct the file")


def _owners(evidence: Evidence, setup: AttackSetup) -> Callable[[NDArray[np.int64]], NDArray[np.int64]] | None:
    """Return how the person of a released row is found in the data, through a sound row map."""
    row_map = evidence.target.row_map
    if row_map is None or not evidence.sound_map:
        return None
    engine = setup.engine

    def owners(places: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = engine.source_rows(row_map, engine.rows_at(setup.released.records, places))
        found = np.full(len(rows), -1, np.int64)
        there = rows >= 0
        found[there] = setup.person_of(rows[there])
        return found

    return owners
