"""Columns that bring rows of one person together in a released file (DESIGN semantics 2), or in two: the unit's, a repeating pseudonym.

Measured on the parked file, and on the source it came from, by queries of the auditor's own; what the run says of itself is not asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.engine.protocol.base import PersonsFrom
from privrelease.relational.schema import ColumnType, Role
from privrelease.relational.treatments import CellRelation
from privrelease.texts.sentences import every, listed, say
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.audit.comparison.previous_release import EarlierRelease
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile, SizeHistogram, Staged
    from privrelease.plan.model import MicrodataPlan, ReleasedColumn
    from privrelease.relational.schema import Column
    from privrelease.texts.sentences import Said

__all__ = [
    "Repeats",
    "naming_columns",
    "repeated_identifiers",
    "repeats_of",
    "tokens_of_one_key",
    "uncompared",
]


@dataclass(frozen=True, slots=True)
class Repeats:
    """A released column that names somebody, by a pseudonym or as it is.

    ``repeated``: values that appear in several released rows. ``within``: whether one appears in several rows of one person, in
    the file or in its source; None where rows could not be led to persons.
    """

    column: str
    direct: bool
    repeated: int
    within: bool | None = None

    @property
    def ties(self) -> bool:
        """Return True if rows of one person are brought together; assumed of every repetition where persons are not known."""
        return self.repeated > 0 if self.within is None else self.within


def naming_columns(plan: MicrodataPlan) -> tuple[ReleasedColumn, ...]:
    """Return the columns of the plan whose values name somebody: pseudonyms, and direct identifiers however they leave."""
    return tuple(
        column for column in plan.columns if column.treatment.relation is CellRelation.KEYED_TOKEN or column.role is Role.DIRECT
    )


def repeats_of(
    plan: MicrodataPlan,
    columns: Sequence[ReleasedColumn],
    main: ReleasedFile,
    source: Staged | None,
    row_map: Path | None,
    engine: MeasuringEngine,
) -> tuple[Repeats, ...]:
    """Measure each of ``columns`` in ``main``. ``row_map``: one that is sound, or None."""
    unit = None if plan.unit is None else plan.unit.column
    found = []
    for column in columns:
        names = (column.name,)
        rows = engine.size_histogram(main, names, residual=True)
        within: bool | None = None
        if unit is not None and unit != column.name and source is not None:
            within = _fewer(
                engine.size_histogram(source, names, unit=unit, residual=True),
                engine.size_histogram(source, names, residual=True),
            )
            if row_map is not None and not within:
                persons = PersonsFrom(source, row_map, unit)
                within = _fewer(engine.size_histogram(main, names, persons_from=persons, residual=True), rows)
        repeated = int(rows.classes[rows.sizes > 1].sum())
        found.append(Repeats(column.name, column.role is Role.DIRECT, repeated, within))
    return tuple(found)


def repeated_identifiers(columns: Sequence[Column], source: Staged, engine: MeasuringEngine) -> tuple[tuple[str, int], ...]:
    """Return the direct identifiers of which values occur in several rows of the source, and how many do; a missing value is no repeat."""
    found = []
    for column in columns:
        if column.role is Role.DIRECT:
            rows = engine.size_histogram(source, (column.name,), residual=True)
            found.append((column.name, int(rows.classes[rows.sizes > 1].sum())))
    return tuple((name, repeated) for name, repeated in found if repeated)


def _fewer(pairs: SizeHistogram, rows: SizeHistogram) -> bool:
    """Return True if there are fewer (value, person) pairs than rows with a value: some person has a value twice."""
    return int(pairs.sizes @ pairs.classes) < int(rows.sizes @ rows.classes)


def tokens_of_one_key(
    evidence: Evidence, main: ReleasedFile, one: EarlierRelease, first: ReleasedFile, engine: MeasuringEngine
) -> tuple[str, ...]:
    """Return the columns that are pseudonyms in both releases and have a value in common: that is then of one key.

    Of a file without a manifest nothing says which columns are pseudonyms: any may be.
    """
    theirs = one.pseudonyms if one.manifest is not None else {name for name, _ in first.columns}
    tokens = [
        column.name
        for column in evidence.usable
        if column.treatment.relation is CellRelation.KEYED_TOKEN and column.name in theirs
    ]
    found = engine.shared_values(first, main, [(name, name) for name in tokens])
    return tuple(name for name, values in zip(tokens, found, strict=True) if values.both)


def uncompared(
    evidence: Evidence,
    main: ReleasedFile,
    one: EarlierRelease,
    first: ReleasedFile,
    engine: MeasuringEngine,
    *,
    one_source: bool,
) -> Said | None:
    """Say by which columns rows of both releases may be brought together that no comparison looks at; None where by none. ``one_source``: row maps
    lead to the rows of one source, whatever the types.
    """
    notes = [("tokens_elsewhere", _tokens_elsewhere(evidence, main, one, first, engine))]
    if not one_source:
        notes.append(("typed_otherwise", _typed_otherwise(evidence, main, one, first, engine)))
    return every(say(key, columns=listed(columns)) for key, columns in notes if columns)


def _tokens_elsewhere(
    evidence: Evidence, main: ReleasedFile, one: EarlierRelease, first: ReleasedFile, engine: MeasuringEngine
) -> list[str]:
    """Return the pseudonyms that an earlier release shows in a column of another name: under one key, one value has one pseudonym in every column.

    Two columns that are pseudonyms in both releases are compared by their own names, and tell of one another in each release alone as much.
    """
    types = dict(first.columns)
    tokens = {column.name: column for column in evidence.usable if column.treatment.relation is CellRelation.KEYED_TOKEN}
    theirs = one.pseudonyms if one.manifest is not None else types
    pairs = [
        (name, ours)
        for ours, column in tokens.items()
        for name in sorted(theirs)
        if name != ours and types.get(name) is column.type and not (name in tokens and ours in one.pseudonyms)
    ]
    found = engine.shared_values(first, main, pairs)
    return [f"{ours} = {theirs}" for (theirs, ours), values in zip(pairs, found, strict=True) if values.both]


def _typed_otherwise(
    evidence: Evidence, main: ReleasedFile, one: EarlierRelease, first: ReleasedFile, engine: MeasuringEngine
) -> list[str]:
    """Return the columns that both releases show and an earlier one types otherwise, if they have a value in common as texts, or both are numbers."""
    numbers = {ColumnType.INTEGER, ColumnType.NUMBER}
    types = dict(first.columns)
    columns = [
        column
        for column in evidence.usable
        if column.treatment.relation.own_values and column.name in types and column.name not in one.pseudonyms
    ]
    columns = [column for column in columns if types[column.name] is not column.type]
    found = engine.shared_values(first, main, [(column.name, column.name) for column in columns])
    return [
        column.name
        for column, values in zip(columns, found, strict=True)
        if values.both or {types[column.name], column.type} <= numbers
    ]
