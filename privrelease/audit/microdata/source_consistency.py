"""Consistency of a file without a row map with the source: conditions that hold wherever cells were only lost.

Where a release comes from the source by dropping rows and suppressing cells, each of its rows has a source row of its own that has all the
values it keeps. By Hall's theorem no values are then kept in more rows than the source has with them, over any set of columns. That is asked of
every column alone, of the columns that are never suppressed, and of every set of columns that some row keeps (the commonest first).

Where these sets are nested (each within the next, as with none suppressed or one column), the rows that could represent a released row contain
those of another, or have none in common; for such families the conditions are sufficient too: every row has a source row of its own. Else they
are necessary only. Neither proves that no cell was changed: a row that was made to look like another one of the source, which is itself
missing or suppressed, is explained. Labels are counted as values are: a label represents the values of the source under it, and labels of one level
have none in common, so that no label, and no combination of kept labels, is in more rows than the source has under it. Source: P. Hall, On representatives of subsets, 1935.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from privrelease.audit.microdata.recoding import VERIFIERS, in_released_values
from privrelease.relational.treatments import CellRelation
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.recoding import Verifiers
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.source_comparison import BesideEngine, ExcessRows, SourceComparison

__all__ = ["MOST_PATTERNS", "ExcessCombination", "SourceConsistency", "explain", "nested"]

#: Sets of kept columns that are tried; each is one group over the distinct rows.
MOST_PATTERNS = 128


@dataclass(frozen=True, slots=True)
class ExcessCombination:
    """Released rows, and persons, beyond those that the source has with the same values of ``columns`` (none: of all rows)."""

    columns: tuple[str, ...]
    rows: int
    persons: int = 0


@dataclass(frozen=True, slots=True)
class SourceConsistency:
    """Result of the comparison. ``compared``: columns; ``recoded``: (column, rows with a value that the source's column lacks).

    ``over``: sets of columns of which no part is over, but for single ones; ``rows``: at least so many rows have no source row of their own.
    ``patterns``, ``tried``: sets of kept columns in the file, and those of them that were tried; ``nested``: each lies within the next.
    """

    compared: tuple[str, ...]
    left_out: tuple[str, ...]
    recoded: tuple[tuple[str, int], ...]
    over: tuple[ExcessCombination, ...]
    rows: int
    patterns: int
    tried: int
    nested: bool

    @property
    def sufficient(self) -> bool:
        """Return True if conditions that hold give every released row a source row of its own."""
        return self.nested and self.tried == self.patterns


def nested(sets: Sequence[Sequence[str]]) -> bool:
    """Return True if each of the sets lies within the next larger one.

    >>> nested([("a", "b"), ("a",), ()]), nested([("a",), ("b",)])
    (True, False)
    """
    ordered = sorted((frozenset(one) for one in sets), key=len)
    return all(one <= other for one, other in pairwise(ordered))


def explain(evidence: Evidence, engine: MeasuringEngine, verifiers: Verifiers = VERIFIERS) -> SourceConsistency | None:
    """Ask the conditions of the file that is measured; None where no column of it can be compared with the source.

    Of columns that are written coarser, the source's values are first replaced by the released ones that represent them.
    """
    plan, source, main = evidence.plan, evidence.source, evidence.main
    if source is None or main is None:
        return None
    source, labelled = in_released_values(evidence.usable, source, main, engine, verifiers)
    columns = tuple(
        column.name for column in evidence.usable if column.treatment.relation.own_values or column.name in labelled
    )
    if not columns:
        return None
    tokens = {column.name for column in evidence.usable if column.treatment.relation is CellRelation.KEYED_TOKEN}
    persons = (plan.unit.column, plan.unit.column) if plan.unit is not None and plan.unit.column in tokens else None
    loose = plan.lossy
    question = _Question(engine, engine.beside_source(source, main, columns, persons), columns, loose)
    return question.answer(tuple(column.name for column in plan.columns if column.name not in columns))


@dataclass(slots=True)
class _Question:
    """``loose``: columns whose cells may be missing because they were suppressed; in any other, missing is a value like others."""

    engine: BesideEngine
    beside: SourceComparison
    columns: tuple[str, ...]
    loose: frozenset[str]

    def answer(self, left_out: tuple[str, ...]) -> SourceConsistency:
        alone = {name: self.beyond((name,)) for name in self.columns}
        recoded = tuple((name, found.absent) for name, found in alone.items() if found.absent)
        # a column that was recoded says nothing more: the others are compared without it
        known = tuple(name for name, found in alone.items() if not found.absent)
        over = [ExcessCombination((name,), one.rows, one.persons) for name in known if (one := alone[name]).rows or one.persons]
        patterns = self.engine.patterns(self.beside, [name for name in known if name in self.loose])
        tried = patterns[:MOST_PATTERNS]
        fixed = tuple(name for name in known if name not in self.loose)
        worst = self._excess(fixed)
        for pattern in tried:
            names = tuple(name for name in known if name in fixed or name in pattern.kept)
            others = tuple(name for name in known if name in self.loose and name not in pattern.kept)
            worst = max(worst, self._excess(names, others), key=lambda one: (one.rows, one.persons))
        most = max((one.rows for one in over), default=0)
        if worst.rows > most or (worst.persons and not any(one.persons for one in over)):
            smallest = self._smallest(worst)
            over += [] if smallest in over else [smallest]
        rows = max(worst.rows, *(one.rows for one in alone.values()))
        sets = [pattern.kept for pattern in patterns]
        return SourceConsistency(self.columns, left_out, recoded, tuple(over), rows, len(patterns), len(tried), nested(sets))

    def beyond(self, names: Sequence[str], others: Sequence[str] = ()) -> ExcessRows:
        fixed = [name for name in names if name not in self.loose]
        return self.engine.beyond_source(self.beside, fixed, [name for name in names if name in self.loose], others)

    def _excess(self, names: tuple[str, ...], others: Sequence[str] = ()) -> ExcessCombination:
        found = self.beyond(names, others)
        return ExcessCombination(names, found.rows, found.persons)

    def _smallest(self, found: ExcessCombination) -> ExcessCombination:
        """Leave out columns as long as the others are still over: what is left names the place."""
        for name in found.columns:
            fewer = self._excess(tuple(one for one in found.columns if one != name))
            if fewer.rows if found.rows else fewer.persons:
                found = fewer
        return found
