"""Class sizes of source and release for one set of columns, under either reading of missing values, by records or by persons.

category: missing equals missing. wildcard: missing matches anything; records then fall into no classes, each has a number of matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from privrelease.audit.risk import Measured
from privrelease.disclosure.class_sizes import ClassSizes
from privrelease.disclosure.wildcard import compatible_sizes, match_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.risk import Reading
    from privrelease.disclosure.class_sizes import MatchSizes
    from privrelease.disclosure.classes import ClassTable
    from privrelease.engine.audit_protocol import PersonClasses

__all__ = ["Table", "compatible", "measured"]

Residual = Literal["lost", "class"]


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """One side: its class table over all threats' columns, its classes by persons where some person has several rows.

    ``residual``: what a record with every column missing is: ``lost``, because a step or a declared mark suppressed it, or a ``class``,
    because its cells were missing from the start. ``linkable``: rows of one person stay linkable.
    """

    records: ClassTable
    persons: PersonClasses | None
    residual: Residual
    linkable: bool = False


def measured(table: Table, columns: Sequence[str], reading: Reading) -> Measured:
    """Measure the sizes of ``table`` on ``columns``."""
    category = ClassSizes.from_table(table.records, columns, residual=table.residual)
    if reading == "category":
        return Measured("category", "records", category, category.n_classes, category.residual)
    matches = match_sizes(table.records, columns, residual=table.residual)
    return Measured("wildcard", "records", matches, category.n_classes, matches.residual)


def compatible(before: ClassTable, after: ClassTable, columns: Sequence[str], residual: Residual) -> MatchSizes:
    """For each source record, the released records compatible with its true values (DESIGN semantics 1)."""
    return compatible_sizes(before, after, list(columns), residual=residual)
