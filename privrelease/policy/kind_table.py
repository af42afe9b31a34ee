"""Releases of protected tables, as a kind: rules, and the columns of their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.language.tables import TableMeasure, TableRelease
from privrelease.policy.release_kind import ReleaseKind
from privrelease.policy.rules.recipients import recipient_rules
from privrelease.policy.rules.table_cycles import ring_rules
from privrelease.policy.rules.tables import table_rules
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from privrelease.policy.language.datasets import Dataset

__all__ = ["TABLE", "figure_name"]


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


def _columns(release: TableRelease, dataset: Dataset) -> dict[str, ColumnType]:
    figures = {figure_name(one): _figure_type(one, dataset) for one in release.measures}
    keys = dict.fromkeys((*release.by, "total_over"), ColumnType.STRING)
    return {**keys, **figures, "status": ColumnType.STRING}


def _figure_type(measure: TableMeasure, dataset: Dataset) -> ColumnType:
    """Whole where no printed figure can be anything else; a mean never is."""
    spec = None if measure.column is None else dataset.columns.get(measure.column)
    whole = spec is None or spec.grid is None or spec.grid == 1
    return ColumnType.INTEGER if whole and measure.mean is None else ColumnType.NUMBER


TABLE = ReleaseKind(
    name="table",
    model=TableRelease,
    rules=(table_rules, ring_rules, recipient_rules),
    columns=_columns,
    source_checks="never",
)
