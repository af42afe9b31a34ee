"""The distance by which a check compares distributions of a column, and the order of its values.

Numbers, days and times are ordered by themselves. Texts have no order but the one that the policy declares: the position of the value in the
column's ``domain``. The alphabet is no order of severities. Rules refuse `ordered` on a text without a domain (P540), and the audit measures
nothing by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import CellRelation
from privrelease.texts.sentences import say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.model import CheckPlan
    from privrelease.texts.sentences import Said

__all__ = ["ComparedBy", "compared_by", "domain_counts", "positions"]

#: Types whose values have an order of their own.
_ORDERED = frozenset({ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.DATETIME})


@dataclass(frozen=True, slots=True)
class ComparedBy:
    """A distance. ``order``: the declared values in their order; None where values are unordered or ordered by themselves."""

    distance: Literal["equal", "ordered"]
    order: tuple[str, ...] | None = None
    measurable: bool = True
    """False: ordered distance on a text without a declared domain."""

    @property
    def words(self) -> Said:
        """The distance as a report names it.

        >>> ComparedBy("ordered", ("low", "high")).words, ComparedBy("equal").words
        ('ordered as in the domain', 'equal')
        """
        return say("distance_ordered_domain") if self.order is not None else say(f"distance_{self.distance}")


def compared_by(evidence: Evidence, check: CheckPlan, column: str) -> ComparedBy:
    """Return the distance of a check: the one that it names, else `ordered` for values with an order of their own.

    Labels that represent numbers are texts, whose order is that of their letters: only `equal` is measured of them.
    """
    declared = evidence.plan.source.column(column)
    own = declared.type in _ORDERED
    named = dict(check.options).get("distance")
    released = next((one for one in evidence.plan.columns if one.name == column), None)
    if released is not None and released.treatment.relation is CellRelation.MAPPED and released.type not in _ORDERED:
        return ComparedBy("ordered", measurable=False) if named == "ordered" else ComparedBy("equal")
    if named == "equal" or (named is None and not own):
        return ComparedBy("equal")
    if own or declared.type is ColumnType.BOOLEAN:
        return ComparedBy("ordered")
    values = None if declared.domain is None else declared.domain.values
    return ComparedBy("ordered", values, values is not None)


def domain_counts(
    engine: MeasuringEngine, of: Staged | ReleasedFile, column: str, order: tuple[str, ...]
) -> NDArray[np.int64] | None:
    """Count the rows of each declared value, in the declared order: (v,) int64; None where a row holds another value."""
    counts, known = engine.text_counts(of, column, order)
    found = np.asarray(counts, np.int64)
    return found if int(found.sum()) == known else None


def positions(
    engine: MeasuringEngine, of: Staged | ReleasedFile, table: ClassTable, column: str, order: tuple[str, ...]
) -> NDArray[np.int64] | None:
    """Return the position in the declared order, from 1, of each code of a column of ``table``; code 0, missing, stays 0.

    ``table``: the class table of ``of`` alone, whose codes ascend with the values that occur (binary comparison). None where a row holds a
    value that is not declared.
    """
    counts = domain_counts(engine, of, column, order)
    if counts is None:
        return None
    ascending = sorted(np.flatnonzero(counts).tolist(), key=lambda place: order[place].encode())
    found = np.array([0, *(place + 1 for place in ascending)], np.int64)
    codes = table.codes[:, table.columns.index(column)]
    rows = np.bincount(codes, weights=table.counts, minlength=len(found)).astype(np.int64)
    # each code must hold the rows of its value: a table of another coding would be put in a wrong order without a sign of it
    return found if np.array_equal(rows[1:], counts[ascending]) else None
