"""Verdicts on released values of columns that are written coarser, by what is declared of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privrelease.audit.microdata.generalised import dates, intervals, names
from privrelease.relational.hierarchies import Coded, Dates, Generalised, Intervals, Prefixes, RoundedTo, Tree
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_level", "stands", "under"]


@dataclass(frozen=True, slots=True)
class _Judge:
    """``stands``: of pairs, at some level or as they are. ``at_level``: of released values, at the planned one. ``under``: see :func:`under`."""

    stands: Callable[[Any, Any, Any], Any]
    at_level: Callable[[Any, Any], Any]
    under: Callable[[Any, Any, Any], Any]


#: By the class of what is declared, of generalised columns by that of the form.
_JUDGES: dict[type[Any], _Judge] = {
    Intervals: _Judge(intervals.interval_stands, intervals.interval_at_level, intervals.interval_under),
    Dates: _Judge(dates.period_stands, dates.period_at_level, dates.period_under),
    Prefixes: _Judge(names.prefix_stands, names.prefix_at_level, names.prefix_under),
    Tree: _Judge(names.tree_stands, names.tree_at_level, names.tree_under),
    Coded: _Judge(intervals.coded_stands, intervals.coded_at_level, intervals.coded_under),
    RoundedTo: _Judge(intervals.rounded_stands, intervals.rounded_at_level, intervals.rounded_under),
}


def _judge(declared: object) -> _Judge:
    return _JUDGES[type(declared.form) if isinstance(declared, Generalised) else type(declared)]


def stands(declared: object, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Tell of pairs whether the released value represents the source's: at some level of the hierarchy, or as the value itself."""
    import pyarrow as pa

    return pa.array(_judge(declared).stands(declared, source, released), pa.bool_())


def at_level(declared: object, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Tell of released values whether they are of the planned level."""
    import pyarrow as pa

    return pa.array(_judge(declared).at_level(declared, released), pa.bool_())


def under(declared: object, source: Any, released: Any) -> Any:  # noqa: ANN401  Arrow has no types
    """Return the one of the distinct ``released`` values that represents each value of the source; null where none does."""
    return _judge(declared).under(declared, source, released)
