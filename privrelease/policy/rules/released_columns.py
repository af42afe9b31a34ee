"""The columns of the file that a release publishes, with their types: what a check on it can look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.policy.language.releases import MicrodataRelease
from privrelease.policy.language.tables import TableRelease
from privrelease.policy.rules.rule_context import leaving
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.kinds import Release
    from privrelease.policy.language.tables import TableMeasure

__all__ = ["STATISTICS_COLUMNS", "figure_name", "released_columns"]

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


def released_columns(release: Release, dataset: Dataset) -> dict[str, ColumnType]:
    """Return the columns of a release's file in their order: a person's, those of a table's cells, or those of statistics."""
    if isinstance(release, MicrodataRelease):
        out = leaving(release, dataset)
        return {name: ColumnType.STRING if name in out.pseudonyms else dataset.columns[name].type for name in out.columns}
    if isinstance(release, TableRelease):
        figures = {figure_name(one): _figure_type(one, dataset) for one in release.measures}
        keys = dict.fromkeys((*release.by, "total_over"), ColumnType.STRING)
        return {**keys, **figures, "status": ColumnType.STRING}
    return dict(STATISTICS_COLUMNS)


def figure_name(measure: TableMeasure) -> str:
    """Return the column of a table's figure: its kind and what it adds up.

    >>> from privrelease.policy.language.tables import TableMeasure
    >>> figure_name(TableMeasure(sum="pay")), figure_name(TableMeasure(count=True))
    ('sum_pay', 'count')
    """
    if measure.column is None:
        return "count"
    kind = "sum" if measure.sum is not None else "mean" if measure.mean is not None else "weighted_count"
    return f"{kind}_{measure.column}"


def _figure_type(measure: TableMeasure, dataset: Dataset) -> ColumnType:
    """Whole where no printed figure can be anything else; a mean never is."""
    spec = None if measure.column is None else dataset.columns.get(measure.column)
    whole = spec is None or spec.grid is None or spec.grid == 1
    return ColumnType.INTEGER if whole and measure.mean is None else ColumnType.NUMBER
