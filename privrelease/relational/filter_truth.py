"""The truth of a filter for keys that a policy declares: as the engine would say of a row that has them."""

from __future__ import annotations

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

__all__ = ["cells_where", "holds"]

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


def _value(key: str, kind: ColumnType) -> Value:
    if kind is ColumnType.INTEGER:
        return int(key)
    return key == "true" if kind is ColumnType.BOOLEAN else key
