"""Direct identifiers under another name, where no row map leads a released row to its source: what is compared, and what chance gives.

A column that is released as it is, with values that its own source column has as often, says no more than that column: it is
compared with the identifier row by row in the source. Any other column is compared in three steps, each in every form of an
identifier:

1. *Values.* Half of the distinct values of the poorer side are in the other. Texts of four letters or of letters and digits, and numbers of more than seven
   digits, do not meet so by chance: the column holds identifiers. Small numbers and short texts may meet by chance and are asked further.
2. *How often.* A row's own identifier appears in the file no more often than in the source. Where more than half of the cells
   that meet are beyond that, at most half of them can be their own row's.
3. *Whose.* Values that one source row has lead to it. The row of its own identifier agrees with it in every cell that was kept; rows that meet
   by chance agree as often as rows that were shuffled (``_SHUFFLES`` times).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from privrelease.engine.protocol.identifiers import FORMS, LinkedRows
from privrelease.relational.schema import ColumnType, Role
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.identifiers import IdentifierMatches, OwnMatches

__all__ = ["Hidden", "Whose", "beyond_chance", "find_hidden", "no_half", "other_forms"]

_COMPARED = {ColumnType.STRING, ColumnType.CATEGORY, ColumnType.INTEGER, ColumnType.NUMBER}
_NUMBERS = {ColumnType.INTEGER, ColumnType.NUMBER}
_SHUFFLES = 16
_SEED = 1
_MOST_LINKS = 2_000_000


#: Rows that a shared value leads to one source row: how many, how many agree with it, and how many do when shuffled (mean).
Whose = LinkedRows


@dataclass(frozen=True, eq=False, slots=True)
class Hidden:
    """Facts about a direct identifier and a released column in one form. ``texts``: neither is a number by its type.

    ``values``: None where only rows of the source were compared. ``own``: the column's own source column next to the identifier
    (None: the file's values are not those of a source column). ``whose``: None where nothing could be asked.
    """

    direct: str
    released: str
    form: str
    texts: bool
    rows: int
    values: IdentifierMatches | None
    own: OwnMatches | None = None
    whose: Whose | None = None


def beyond_chance(found: int, expected: float, level: float = 1e-6) -> bool:
    """Return True if ``found`` agreements have a chance below ``level`` where at most ``expected`` are expected.

    Chernoff's bound on the upper tail of a Poisson law: P(X >= k) <= exp(-m) (e m / k)^k for k > m; it holds for sums of indicators that are
    independent or negatively associated, as in drawing without replacement.

    >>> beyond_chance(9, 1), beyond_chance(10, 1), beyond_chance(60, 40)
    (False, True, False)
    """
    if found <= expected:
        return False
    if expected <= 0:
        return True
    return found - expected + found * math.log(expected / found) < math.log(level)


def no_half(whose: Whose, level: float = 1e-3) -> bool:
    """Return True if so few rows agree that half of them cannot be their own identifier's row.

    Were half their own, these agree surely and the others by chance. Hoeffding's bound on the lower tail: P(X <= E - d) <= exp(-2 d² / n).

    >>> no_half(Whose(100, 50, 50.0)), no_half(Whose(100, 100, 50.0)), no_half(Whose(6, 3, 3.0))
    (True, False, False)
    """
    if not whose.rows:
        return False
    less = (whose.rows + whose.by_chance) / 2 - whose.agree
    return 2 * whose.agree < whose.rows or (less > 0 and 2 * less * less / whose.rows > -math.log(level))


def find_hidden(evidence: Evidence, engine: MeasuringEngine) -> tuple[Hidden, ...]:
    """Compare every direct identifier with every column of the file."""
    source, main = evidence.source, evidence.main
    if source is None or main is None:
        return ()
    direct = [column.name for column in evidence.plan.source.columns if column.role is Role.DIRECT]
    pairs = [(one, name) for one in direct for name, kind in main.columns if kind in _COMPARED]
    kinds = dict(main.columns)
    as_source = _as_source(evidence)
    kept = [pair for pair in pairs if pair[1] in as_source]
    asked = [pair for pair in pairs if pair[1] not in as_source]
    found: dict[tuple[str, str, str], Hidden] = {}
    values = {_name(one): one for one in engine.identifier_matches(source, main, pairs, FORMS[:1])}
    values |= {_name(one): one for one in engine.identifier_matches(source, main, asked, FORMS[1:])}
    owns = {_name(own): own for own in engine.own_identifiers(source, kept, FORMS)}
    for key in sorted(values.keys() | owns.keys(), key=lambda key: (FORMS.index(key[2]), pairs.index(key[:2]))):
        one_direct, name, form = key
        texts = not _NUMBERS & {kinds[name], evidence.plan.source.column(one_direct).type}
        one, own = values.get(key), owns.get(key)
        whose = None if one is None or name in as_source else _whose(evidence, engine, name, one, as_source)
        found[key] = Hidden(one_direct, name, form, texts, main.n_rows, one, own, whose)
    return tuple(found.values())


def _name(found: IdentifierMatches | OwnMatches) -> tuple[str, str, str]:
    return found.direct, found.released, found.form


def other_forms(evidence: Evidence, engine: MeasuringEngine) -> tuple[Hidden, ...]:
    """Compare direct identifiers with the columns that are released as they are, in every form but the plain one, row by row in
    the source.

    For a file whose rows a row map leads back: a cell of it that its source row has not fails on its own, so that the source's cells are asked.
    """
    source, main = evidence.source, evidence.main
    if source is None or main is None:
        return ()
    kinds = dict(main.columns)
    direct = [column.name for column in evidence.plan.source.columns if column.role is Role.DIRECT]
    kept = [
        column.name for column in evidence.usable if column.treatment.relation.own_values and kinds[column.name] in _COMPARED
    ]
    pairs = [(one, name) for one in direct for name in kept if one != name]
    found = []
    for own in engine.own_identifiers(source, pairs, FORMS[1:]):
        texts = not _NUMBERS & {kinds[own.released], evidence.plan.source.column(own.direct).type}
        found.append(Hidden(own.direct, own.released, own.form, texts, main.n_rows, None, own))
    return tuple(found)


def _as_source(evidence: Evidence) -> frozenset[str]:
    """Columns of the file whose values the source's column of that name has as often."""
    explained = evidence.explained
    if explained is None:
        return frozenset()
    beyond = {name for name, _ in explained.recoded} | {one.columns[0] for one in explained.over if len(one.columns) == 1}
    return frozenset(explained.compared) - beyond


def _whose(
    evidence: Evidence, engine: MeasuringEngine, released: str, found: IdentifierMatches, as_source: frozenset[str]
) -> Whose | None:
    columns = sorted(as_source - {released})
    source, main = evidence.source, evidence.main
    if not found.links or found.links > _MOST_LINKS or not columns or source is None or main is None:
        return None
    return engine.linked_rows(source, main, found, columns, shuffles=_SHUFFLES, seed=_SEED)
