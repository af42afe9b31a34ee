"""Labels under the wildcard reading: a label is compatible with every value under it, and with labels that have one in common.

Labels of one level have no value in common, so that among released records equal labels alone are compatible. Two things need more: released
records compared with true values, each of which is carried up to the label that it is under; and a file with labels of several levels, which is
found out (``AUDIT-LEVEL``) and measured all the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from privrelease.audit.microdata.recoding import beyond, distinct_labels, recoded_columns, verifier_of
from privrelease.disclosure.classes.nested_labels import ladder_of_sets, spread
from privrelease.engine.protocol.base import Recode
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import declaration_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import MeasuringEngine, PersonClasses
    from privrelease.plan.model import ReleasedColumn

__all__ = ["LabelledClasses", "with_labels"]

#: Types of values that are no texts, for an array of none of them.
_ARROW = {
    ColumnType.INTEGER: "int64",
    ColumnType.NUMBER: "float64",
    ColumnType.DATE: "date32",
    ColumnType.DATETIME: "timestamp[us]",
}


@dataclass(frozen=True, eq=False, slots=True)
class LabelledClasses:
    """Classes for the wildcard reading where the file holds labels, in columns of their own. ``names``: those that each column is.

    ``before``: of true values, each as the finest label that it is under; None where they were not asked for.
    """

    names: Mapping[str, Sequence[str]]
    before: ClassTable | None
    after: ClassTable
    persons: PersonClasses | None = None

    def columns(self, names: Sequence[str]) -> list[str]:
        """Return the columns that these columns are."""
        return [part for name in names for part in self.names[name]]


def with_labels(evidence: Evidence, engine: MeasuringEngine, verifiers: Verifiers) -> Evidence:
    """Add what the wildcard reading needs where a threat knows columns of labels."""
    main = evidence.main
    known = set(evidence.plan.quasi_identifiers)
    coarser = [column for column in evidence.usable if column.name in known and column.name in recoded_columns(evidence.usable)]
    coarser = [column for column in coarser if verifier_of(column, verifiers).covers is not None]
    wild = {name for threat in evidence.plan.threats if threat.missing == "wildcard" for name in threat.columns}
    astray = {one.column for one in evidence.levels or () if one.values}
    true_values = evidence.source is not None and any(column.name in wild for column in coarser)
    if main is None or evidence.after is None or not (true_values or any(column.name in astray for column in coarser)):
        return evidence
    columns = evidence.after.columns
    labels = {column.name: distinct_labels(engine, main, column.name) for column in coarser}
    before, after = None, engine.class_table(main, columns)
    if true_values and evidence.source is not None:
        recodes = [_carried(evidence, column, labels[column.name], verifiers) for column in coarser if len(labels[column.name])]
        before, after = engine.class_tables((engine.recode(evidence.source, recodes), main), columns)
    ladders = {
        column.name: _ladder(evidence, column, labels[column.name], verifiers)
        for column in coarser
        if column.name in astray and len(labels[column.name])
    }
    tables = [after] if before is None else [before, after]
    fitted = {name: _fitted(one, labels[name], max(_most(table, name) for table in tables)) for name, one in ladders.items()}
    spread_after, names = spread(after, fitted)
    spread_before = None if before is None else spread(before, {name: _under_no_finer(one) for name, one in fitted.items()})[0]
    persons = evidence.person_after
    if persons is not None and ladders:
        apart, _ = spread(persons.table, {name: one[:, : 1 + _most(persons.table, name)] for name, one in ladders.items()})
        persons = replace(persons, table=apart)
    return replace(evidence, labelled=LabelledClasses(names, spread_before, spread_after, persons))


def _cover(evidence: Evidence, column: ReleasedColumn, labels: Any, verifiers: Verifiers, values: Any) -> Any:  # noqa: ANN401
    covers = verifier_of(column, verifiers).covers
    assert covers is not None
    return covers(declaration_of(column.treatment), values, labels, evidence.plan.source.column(column.name).domain)


def _carried(evidence: Evidence, column: ReleasedColumn, labels: Any, verifiers: Verifiers) -> Recode:  # noqa: ANN401
    """Return how true values become the finest label that they are under, or a value that the file lacks."""
    declared = evidence.plan.source.column(column.name)
    stored = replace(declared, type=column.type, domain=None)
    return Recode(stored, partial(_finest, evidence, column, labels, verifiers))


def _finest(evidence: Evidence, column: ReleasedColumn, labels: Any, verifiers: Verifiers, values: Any) -> Any:  # noqa: ANN401
    import pyarrow as pa

    cover, order = _cover(evidence, column, labels, verifiers, values)
    found = cover.finest[1:]
    taken = labels.take(pa.array(order)).take(pa.array(np.maximum(found - 1, 0), mask=found == 0))
    return taken.fill_null(beyond(labels)) if taken.null_count else taken


def _ladder(evidence: Evidence, column: ReleasedColumn, labels: Any, verifiers: Verifiers) -> NDArray[np.int64]:  # noqa: ANN401
    """Return the ancestors of the labels and of a value beyond them, which comes last, in the ascending order of what is written."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ascending = labels.take(pc.sort_indices(labels))
    values = pa.array([], _ARROW.get(evidence.plan.source.column(column.name).type, "string"))
    cover, order = _cover(evidence, column, ascending, verifiers, values)
    if cover.ends is not None:
        placed = np.zeros_like(cover.ends)
        placed[:, 0] = np.nan
        placed[:, 1 + order] = cover.ends[:, 1:]
        return ladder_of_sets(placed)
    assert cover.steps is not None
    assert cover.own is not None
    # values, and what is no label, have no group of their own: two of them are two
    places = np.arange(len(cover.own))
    return np.concatenate((cover.steps[1][::-1], [np.where(cover.own <= 0, places, 0)]))


def _under_no_finer(ladder: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ladder of true values, each as the finest label that it is under: no label below that one holds it.

    >>> _under_no_finer(np.array([[0, 1, 1], [0, 0, 2]])).tolist()
    [[0, 1, 1], [0, 3, 2]]
    """
    deeper = (ladder == 0) & (np.arange(ladder.shape[1]) > 0)
    return np.where(deeper, ladder.max(initial=0) + 1, ladder)


def _fitted(ladder: NDArray[np.int64], labels: Any, most: int) -> NDArray[np.int64]:  # noqa: ANN401  Arrow has no types
    """Return a ladder in a coding of ``most`` values: where that is one more than there are labels, with the one beyond them, under no label."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if most < ladder.shape[1]:
        return ladder
    every = pa.concat_arrays([labels, pa.array([beyond(labels).as_py()], labels.type)])
    place = 1 + np.asarray(pc.sort_indices(every)).tolist().index(len(labels))
    alone = np.zeros(len(ladder), np.int64)
    alone[0] = ladder.max(initial=0) + 1
    return np.insert(ladder, place, alone, axis=1)


def _most(table: ClassTable, name: str) -> int:
    return int(table.codes[:, table.columns.index(name)].max(initial=0))
