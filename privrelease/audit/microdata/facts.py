"""Facts of a microdata release that no check judges: its rows and columns, the loss, its identity."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.audit.checks.facts import column_facts, drops_rows, identity_of, input_digest, rows_outside
from privrelease.audit.document.model import (
    ColumnFacts,
    ColumnLoss,
    DataFacts,
    Figure,
    Identity,
    OutputFacts,
    UtilityFacts,
    Visibility,
)
from privrelease.audit.document.visibility import count, minimum_of
from privrelease.audit.microdata.integrity.cells import cells_lost
from privrelease.relational.treatments import REMOVED, CellRelation, declaration_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.audit.document.model import CellBoundFacts
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.plan.model import MicrodataPlan, Plan
    from privrelease.relational.schema import Column

__all__ = ["data_facts", "identity", "utility_facts"]


def _rows(rows: int | None) -> Figure:
    return Figure.of(rows, "count", Visibility.RECIPIENT, None if rows is not None else "the file cannot be read")


def _column_of_rows(plan: MicrodataPlan, column: Column, verifiers: Verifiers) -> ColumnFacts:
    released = next((other for other in plan.columns if other.name == column.name), None)
    words = REMOVED.words if released is None else plan.treatment_of(released).words
    facts = column_facts(column, words, released)
    if released is None or released.treatment.relation is not CellRelation.MAPPED:
        return facts
    said = next((one.words for one in verifiers if one.declares is type(declaration_of(released.treatment))), None)
    if said is None:
        return facts
    return facts.model_copy(update={"treatment": f"{facts.treatment}: {said(column.name, declaration_of(released.treatment))}"})


def data_facts(evidence: Evidence, verifiers: Verifiers = ()) -> DataFacts:
    """Describe columns, roles, types, subjects. Counts of the source are internal, but for rows left out where they are not few."""
    plan, source, persons = evidence.plan, evidence.source, evidence.persons
    return DataFacts(
        dataset=plan.source.dataset,
        snapshot=plan.snapshot,
        population=plan.population_id,
        unit=None if plan.unit is None else plan.unit.column,
        source_rows=None if source is None else count(source.file_rows),
        rows_outside=None
        if source is None or not any(map(drops_rows, source.columns))
        else rows_outside(source.dropped_outside, source.n_rows, plan.unit, minimum_of(plan.threats)),
        source_persons=None if persons is None else count(persons.persons),
        released_rows=_rows(None if evidence.main is None else evidence.main.n_rows),
        columns=tuple(_column_of_rows(plan, column, verifiers) for column in plan.source.columns),
        order=plan.order,
        recipients=plan.recipients,
    )


def utility_facts(evidence: Evidence, bound: CellBoundFacts | None = None) -> UtilityFacts | None:
    """Count lost cells and rows: of the source, so internal. None where released rows cannot be led back to it.

    ``bound``: on the fewest cells that would do.
    """
    lost = cells_lost(evidence)
    if lost is None or evidence.source is None or evidence.left is None:
        return None
    rows = evidence.source.n_rows
    total = rows * len(lost)
    gone = sum(nulled + dropped for nulled, dropped in lost.values())
    step = evidence.plan.suppress
    limit = None if step is None or step.limit is None else Figure.of(step.limit, "share", Visibility.RECIPIENT)
    return UtilityFacts(
        cells_lost=count(gone),
        cells_total=count(total),
        cells_share=_share(gone, total),
        limit=limit,
        rows_dropped=count(evidence.left.rows + evidence.source.dropped_outside),
        columns=tuple(
            ColumnLoss(
                column=column, suppressed=count(nulled), in_dropped_rows=count(dropped), share=_share(nulled + dropped, rows)
            )
            for column, (nulled, dropped) in lost.items()
        ),
        bound=bound,
    )


def _share(amount: int, total: int) -> Figure:
    return Figure.of(Fraction(amount, total) if total else Fraction(0), "share")


def identity(evidence: Evidence, policy: Plan, audited_at: str, versions: Mapping[str, str]) -> Identity:
    """Say what was audited, under which policy, by which versions; digests are those found, not those claimed."""
    outputs = tuple(
        OutputFacts(
            label=file.sink.label,
            kind=file.sink.kind.value,
            sha256=file.sha256,
            bytes=file.size,
            rows=_rows(None if file.released is None else file.released.n_rows),
        )
        for file in evidence.files
        if file.sha256 is not None
    )
    found = identity_of(policy, evidence.plan.id, evidence.target.run, outputs, audited_at, versions)
    return found.model_copy(update={"input_digest": input_digest(evidence.target.internal)})
