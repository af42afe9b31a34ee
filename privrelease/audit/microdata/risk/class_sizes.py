"""Class sizes of source and release for one set of columns, under either reading of missing values, by records or by persons.

category: missing equals missing. wildcard: missing matches anything; records then fall into no classes, each has a number of matches.

Persons (DESIGN semantics 2): where some person has several rows, a class counts its distinct persons; where those rows stay linkable, what
hides a person is the number of persons with the same set of rows (the same multiset for an attacker who knows how many there are). Sets are
compared with missing equal to missing under either reading: that finds at most as many as missing that matches anything would.
"""

from __future__ import annotations

from dataclasses import field
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

from privrelease.audit.microdata.risk.figures import Measured
from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.person_matches import person_match_sizes
from privrelease.disclosure.classes.persons import linkable_class_sizes, person_class_sizes
from privrelease.disclosure.classes.subsets import SubsetReport, SubsetSizes, smallest_classes
from privrelease.disclosure.classes.wildcard import compatible_sizes, match_sizes
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.microdata.risk.figures import Reading
    from privrelease.audit.microdata.risk.labels import LabelledClasses
    from privrelease.disclosure.classes.class_sizes import MatchSizes
    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.engine.protocol.audit import PersonClasses

__all__ = ["Residual", "Sizes", "Table", "compatible", "measured", "person_sets", "subsets"]

Residual = Literal["lost", "class"]
#: Sizes by table (each is equal to itself only) and its reading, set of columns, reading of missing values, knowledge of rows.
Sizes: TypeAlias = "dict[tuple[object, ...], Measured]"


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """One side: its class table over all threats' columns, its classes by persons where some person has several rows.

    ``residual``: what a record with every column missing is: ``lost``, because a step or a declared mark suppressed it, or a ``class``,
    because its cells were missing from the start. ``linkable``: rows of one person stay linkable. ``one_each``: a unit is declared and
    every person has one row, so that records are persons. ``sizes``: what was measured already, of this table or another.
    """

    records: ClassTable
    persons: PersonClasses | None
    residual: Residual
    linkable: bool = False
    one_each: bool = False
    labelled: LabelledClasses | None = None
    """Of a file with labels: its classes for the wildcard reading."""
    sizes: Sizes = field(default_factory=dict)


def person_sets(table: Table, columns: Sequence[str], *, multiset: bool) -> ClassSizes | None:
    """Count persons with the same set (multiset) of rows; None where rows of a person are not linkable."""
    if table.persons is None or not table.linkable:
        return None
    pair_rows = table.persons.pair_rows if multiset else None
    kind: Literal["set", "multiset"] = "multiset" if multiset else "set"
    return linkable_class_sizes(table.persons.table, list(columns), reading=kind, pair_rows=pair_rows, residual=table.residual)


def measured(table: Table, columns: Sequence[str], reading: Reading, *, knows_rows: bool = False) -> Measured:
    """Measure the sizes of ``table`` on ``columns``, once for each set of them: the union of all threats is often one of them."""
    side = (table.records, table.persons, table.residual, table.linkable, table.one_each)
    asked = (*side, frozenset(columns), reading, knows_rows)
    if asked not in table.sizes:
        table.sizes[asked] = _measured(table, columns, reading, knows_rows=knows_rows)
    return table.sizes[asked]


def _measured(table: Table, columns: Sequence[str], reading: Reading, *, knows_rows: bool) -> Measured:
    chosen = list(columns)
    if table.persons is None:
        counted: Literal["records", "persons"] = "persons" if table.one_each else "records"
        if reading == "category":
            category = ClassSizes.from_table(table.records, chosen, residual=table.residual)
            return Measured("category", counted, category, category.n_classes, category.residual)
        classes = measured(table, columns, "category").classes
        if table.labelled is not None:
            matches = match_sizes(table.labelled.after, table.labelled.columns(chosen), residual=table.residual)
        else:
            matches = match_sizes(table.records, chosen, residual=table.residual)
        return Measured("wildcard", counted, matches, classes, matches.residual)
    sets = person_sets(table, columns, multiset=knows_rows)
    if sets is not None:
        return Measured(reading, "person_multisets" if knows_rows else "person_sets", sets, sets.n_classes, sets.residual)
    persons = person_class_sizes(table.persons.table, chosen, residual=table.residual)
    if reading == "category":
        return Measured("category", "persons", persons, persons.n_classes, persons.residual)
    if table.labelled is not None and table.labelled.persons is not None:
        found = person_match_sizes(table.labelled.persons.table, table.labelled.columns(chosen), residual=table.residual)
    else:
        found = person_match_sizes(table.persons.table, chosen, residual=table.residual)
    return Measured("wildcard", "persons", found, persons.n_classes, found.residual)


def compatible(before: ClassTable, table: Table, columns: Sequence[str]) -> MatchSizes:
    """For each source record, the released records compatible with its true values (DESIGN semantics 1), by containment where they hold labels."""
    labelled = table.labelled
    if labelled is not None and labelled.before is not None:
        return compatible_sizes(labelled.before, labelled.after, labelled.columns(columns), residual=table.residual)
    return compatible_sizes(before, table.records, list(columns), residual=table.residual)


def subsets(table: Table, columns: Sequence[str], up_to: int, k: int) -> SubsetReport:
    """Measure every combination of at most ``up_to`` columns, missing equal to missing, by what a class counts on this table."""
    if table.persons is None:
        return smallest_classes(table.records, up_to, k, list(columns), residual=table.residual)
    report = smallest_classes(table.persons.table, up_to, k, list(columns), persons=True, residual=table.residual)
    if not table.linkable:
        return report
    names = sorted(columns)
    found = []
    for size in range(1, report.up_to + 1):
        for chosen in combinations(names, size):
            sizes = linkable_class_sizes(table.persons.table, list(chosen), residual=table.residual)
            found.append(SubsetSizes(chosen, sizes.smallest, sizes.classes_below(k), sizes.records_below(k)))
    return SubsetReport(k, report.up_to, tuple(found), report.not_looked_at)
