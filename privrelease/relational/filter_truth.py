"""The truth of a filter for keys that a policy declares: as the engine would say of a row that has them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from itertools import product
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.relational.filters import Filter, Value

__all__ = ["cells_where", "holds", "truths_of_keys"]

_TESTS: Final[dict[str, Callable[[Any, Any], bool]]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def holds(of: Filter, row: Mapping[str, Value]) -> bool:
    """Tell whether a filter holds for a row in which nothing is missing.

    >>> holds(Both(Comparison("age", "<", 40), Among("sex", ("F",))), {"age": 39, "sex": "F"})
    True
    """
    match of:
        case Both(left, right):
            return holds(left, row) and holds(right, row)
        case Either(left, right):
            return holds(left, row) or holds(right, row)
        case Negated(inner):
            return not holds(inner, row)
        case Missing():
            return False
        case Among(column, values):
            return row[column] in values
        case Comparison(column, operator, value):
            return _TESTS[operator](row[column], value)


def cells_where(
    of: Filter, by: Sequence[str], types: Sequence[ColumnType], sides: Sequence[Sequence[str | None]]
) -> NDArray[np.bool_]:
    """Return for every cell of a box, the last side varying fastest, whether the filter holds for its keys; never for a total (None)."""
    typed = [[None if key is None else _value(key, kind) for key in side] for side, kind in zip(sides, types, strict=True)]
    rows = (dict(zip(by, place, strict=True)) for place in product(*typed))
    return np.array([None not in row.values() and holds(of, row) for row in rows], np.bool_)  # type: ignore[arg-type]  # no key is None there


def truths_of_keys(of: Filter, keys: Mapping[str, tuple[str | None, Sequence[str]]]) -> frozenset[bool | None]:
    """Return what a filter can be of rows with these keys, as texts, each with all keys that are listed of its column; None: another key, or none. Of a
    column that is not given nothing is known. As in SQL a comparison with a missing value is None.

    >>> grown_up, sexes = Comparison("age", ">=", 18), Among("sex", ("F", "M"))
    >>> truths_of_keys(Both(grown_up, sexes), {"age": ("17", ())}), truths_of_keys(grown_up, {"age": ("39", ())})
    (frozenset({False}), frozenset({True}))
    >>> True in truths_of_keys(sexes, {"sex": (None, ("F", "M"))}), True in truths_of_keys(sexes, {"sex": (None, ("F",))})
    (False, True)
    """
    match of:
        case Both(left, right) | Either(left, right):
            decided = type(of) is Either
            pairs = product(truths_of_keys(left, keys), truths_of_keys(right, keys))
            return frozenset(decided if decided in pair else None if None in pair else not decided for pair in pairs)
        case Negated(inner):
            return frozenset(None if truth is None else not truth for truth in truths_of_keys(inner, keys))
        case Missing(column):
            return frozenset({False} if keys.get(column, (None,))[0] else {True, False})
        case Among(column, literals):
            test = "="
        case Comparison(column, test, literal):
            literals = (literal,)
    key, listed = keys.get(column, (None, ()))
    if key:
        own = [_like(key, one) for one in literals]
        return frozenset({any(_TESTS[test](mine, one) for mine, one in zip(own, literals, strict=True) if mine is not None)})
    if test in {"=", "<>"} and all(any(_like(one, each) == each for one in listed) for each in literals):
        return frozenset({test == "<>", None})
    return frozenset({True, False, None})


def _like(key: str, literal: Value) -> Value | None:
    """Return a key as a value of the literal's type; None where it is none."""
    if type(literal) is bool:
        return {"true": True, "false": False}.get(key)
    read: dict[type, Callable[[str], Value]] = {
        int: Decimal,
        Decimal: Decimal,
        str: str,
        date: date.fromisoformat,
        datetime: datetime.fromisoformat,
    }
    try:
        return read[type(literal)](key)
    except (ValueError, InvalidOperation):
        return None


def _value(key: str, kind: ColumnType) -> Value:
    if kind is ColumnType.INTEGER:
        return int(key)
    return key == "true" if kind is ColumnType.BOOLEAN else key
