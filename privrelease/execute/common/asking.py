"""The description of a method that looks before it asks, under which its answers are kept and served again.

What a method asks depends on what it was answered, so that one of its later questions cannot be a key: it is not known before. The key
is that of the whole run: all that decides the first question, and with the answers each one after it. That is the method with its
version and settings (:class:`Method`), the aggregates that it may ask in canonical form, what is reserved, snapshot, population, unit
with its bounds, neighbours, how the columns are read; then the content of the data. Anything else asked, at any place of the run, is
another description and so another key: a new reservation, of which nothing is served. Titles, paths, checks, other releases, the order
of columns and of declared keys are no part of it.

Under the key the ledger keeps the transcript, in the transaction that writes the commit. A run that finds one reserves nothing, draws
nothing and counts nothing: its method asks again, and receives every stored answer in the order in which it was made. What it asks must
follow from its description and the answers alone: neither from randomness of its own, nor from the number of rows, nor from anything
else that the data says. If its code nevertheless asks otherwise than the transcript says (a version that was not raised, floats of
another machine in a decision), the run is refused (L138): served in part and drawn in part, it would spend outside its reservation.
Randomness that comes after the last question (drawing rows from the model) is free and is drawn again each time.

A run that dies between reservation and commit stored nothing. Its reservation is never taken up again, since no one can tell what it
had seen: the next run reserves by itself. Two runs at one moment may both find nothing; each is charged, and the later commit is kept.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

from privrelease.dp.envelope import marginal_name
from privrelease.errors import InternalError
from privrelease.execute.common.questions import contributing, digest, read_as
from privrelease.ledger.entries import written
from privrelease.relational.aggregates import BinKey
from privrelease.relational.filter_forms import filter_form
from privrelease.relational.filters import columns_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from privrelease.dp.envelope_records import Reserved
    from privrelease.dp.queries import Setting
    from privrelease.relational.aggregates import Aggregate, ColumnKey
    from privrelease.relational.schema import TableSource

__all__ = ["Asking", "Method", "canonical"]

#: Of the description: raised where the same description would be answered otherwise.
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Method:
    """A method that asks, described so that equal descriptions ask equal questions of equal answers.

    ``name``: of the method; ``version``: raised whenever its code asks otherwise than before. ``settings``: all else that decides what it
    asks (shares of the budget, degrees, candidates and their weights, structural zeros, which persons are held out), as JSON of texts, whole
    numbers, booleans and None: exact numbers as texts, lists in an order that only matters where it decides.

    >>> Method("mst", 1, {"shares": ["1/3", "1/3", "1/3"]}).record()
    ['mst', 1, {'shares': ['1/3', '1/3', '1/3']}]
    >>> Method("mst", 1, {"share": 0.1})
    Traceback (most recent call last):
    TypeError: settings of a method are exact: write numbers as texts
    """

    name: str
    version: int
    settings: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _exact(self.settings):
            msg = "settings of a method are exact: write numbers as texts"
            raise TypeError(msg)

    def record(self) -> list[Any]:
        """Return the description as plain data."""
        return [self.name, self.version, dict(self.settings)]


@dataclass(frozen=True, eq=False, slots=True)
class Asking:
    """All that decides what a method asks and what it is answered, but for the content of the data and the snapshot that the claim names.

    ``asked``: the aggregates by canonical name (:func:`canonical`). ``unit``: the column of the person, None where every row is one.
    """

    method: Method
    reserved: Reserved
    setting: Setting
    source: TableSource
    unit: str | None
    asked: Mapping[str, Aggregate]

    def __post_init__(self) -> None:
        if dict(self.asked) != canonical(self.asked.values()):
            code, message = "R213", "the aggregates of an envelope are not in their canonical form"
            raise InternalError(code, message)

    def question(self, population: str, snapshot: str | None) -> str:
        """Return the digest of the question that the whole run is."""
        looked = {self.unit}.union(*map(_columns, self.asked.values()))
        return digest(
            written(
                {
                    "envelope": _VERSION,
                    "method": self.method.record(),
                    "reserved": self.reserved.record(),
                    "snapshot": snapshot,
                    "population": population,
                    "unit": contributing(self.unit, self.setting.contribution)
                    | {"exactly_one": self.setting.contribution.exactly_one},
                    "neighbours": self.setting.neighbours.value,
                    "read": read_as(self.source, looked),
                    "asked": {name: _record(one) for name, one in self.asked.items()},
                }
            )
        )


def canonical(asked: Iterable[Aggregate]) -> dict[str, Aggregate]:
    """Return aggregates by name, neither of which depends on the order in which columns, keys or aggregates are written.

    Columns and declared keys are sorted. An aggregate of rows is named by its columns, one of persons as ``persons by`` them. Raises
    InternalError (R214) where two have one name.
    """
    found: dict[str, Aggregate] = {}
    for one in asked:
        keys = tuple(sorted((_sorted(key) for key in one.keys), key=lambda key: key.column))
        name = ("persons by " if one.private else "") + marginal_name(key.column for key in keys)
        if name in found:
            code, message = "R214", "two aggregates of an envelope have the same columns"
            raise InternalError(code, message)
        found[name] = replace(one, keys=keys, complete=tuple(sorted(one.complete)))
    return dict(sorted(found.items()))


def _sorted(key: ColumnKey | BinKey) -> ColumnKey | BinKey:
    return key if isinstance(key, BinKey) or key.values is None else replace(key, values=tuple(sorted(key.values)))


def _columns(asked: Aggregate) -> set[str]:
    by = {key.column for key in asked.keys}
    return by | set(asked.complete) | (set() if asked.where is None else set(columns_of(asked.where)))


def _record(asked: Aggregate) -> dict[str, Any]:
    return {
        "measures": [one.kind for one in asked.measures],
        "keys": [_key(key) for key in asked.keys],
        "where": None if asked.where is None else filter_form(asked.where),
        "complete": list(asked.complete),
        "max_groups": asked.max_groups,
    }


def _key(key: ColumnKey | BinKey) -> list[Any]:
    if isinstance(key, BinKey):
        edges = [str(edge) for edge in key.edges]
        return [key.column, "bins", edges, str(key.grid), key.closed, key.outside, key.missing]
    values = "discovered" if key.discovered else None if key.values is None else list(key.values)
    return [key.column, "keys", values, key.other, key.missing, *(["strays missing"] if key.strays else [])]


def _exact(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _exact(one) for name, one in value.items())
    if isinstance(value, list | tuple):
        return all(map(_exact, value))
    return value is None or isinstance(value, str | int)
