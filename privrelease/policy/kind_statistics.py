"""Releases of statistics with differential privacy, as a kind: rules, columns, and how two of them are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.policy.language.statistics import StatisticsRelease
from privrelease.policy.release_kind import FileOrder, ReleaseKind, values_of
from privrelease.policy.rules.statistics import statistics_rules
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.policy.language.datasets import Dataset

__all__ = ["BIN", "STATISTICS", "STATISTICS_COLUMNS", "group_columns", "statistics_columns"]

_Path = tuple[str | int, ...]

#: The long table of every release of statistics.
STATISTICS_COLUMNS: Final[Mapping[str, ColumnType]] = {
    "query": ColumnType.STRING,
    "group": ColumnType.STRING,
    "value": ColumnType.NUMBER,
    "low": ColumnType.NUMBER,
    "high": ColumnType.NUMBER,
    "mechanism": ColumnType.STRING,
    "scale": ColumnType.NUMBER,
    "epsilon": ColumnType.NUMBER,
    "delta": ColumnType.NUMBER,
}

#: The key of a histogram's bins.
BIN: Final = "bin"


def group_columns(release: StatisticsRelease) -> tuple[str, ...]:
    """Return the keys that stand in columns of their own, each once: those of the queries in their order, bins last; none where one text holds all."""
    if release.groups == "json":
        return ()
    names = dict.fromkeys(name for query in release.queries for name in query.by)
    bins = (BIN,) if any(query.figure == "histogram" for query in release.queries) else ()
    return (*names, *bins)


def statistics_columns(release: StatisticsRelease) -> dict[str, ColumnType]:
    """Return the columns of a release's files with their types: keys in columns of their own stand where ``group`` would."""
    if release.groups == "json":
        return dict(STATISTICS_COLUMNS)
    keys = dict.fromkeys(group_columns(release), ColumnType.STRING)
    others = {name: kind for name, kind in STATISTICS_COLUMNS.items() if name not in {"query", "group"}}
    return {"query": ColumnType.STRING, **keys, **others}


def _compared(release: StatisticsRelease, values: dict[str, object]) -> dict[str, object]:
    """Queries by their ids."""
    return values | {"queries": {query.id: values_of(query) for query in release.queries}}


def _place(release: StatisticsRelease, below: tuple[str, ...]) -> _Path:
    """Names of a query lead to its number; the short form of keys has no ``listed``."""
    if below[0] != "queries" or len(below) < 2:
        return below
    number = next((index for index, query in enumerate(release.queries) if query.id == below[1]), None)
    if number is None:
        return ("queries",)
    inside = tuple(part for at, part in enumerate(below[2:]) if (at, part) != (1, "listed"))
    return ("queries", number, *inside)


def _orders(release: StatisticsRelease, _dataset: Dataset | None) -> tuple[FileOrder, ...]:
    ids = tuple(query.id for query in release.queries)
    return (FileOrder("queries", ("releases", None, "queries"), ids),)


STATISTICS = ReleaseKind(
    name="statistics",
    model=StatisticsRelease,
    rules=(statistics_rules,),
    columns=lambda release, _dataset: statistics_columns(release),
    source_checks="inform",
    budget=lambda release: release.budget,
    compared=_compared,
    place=_place,
    orders=_orders,
)
