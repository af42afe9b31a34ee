"""Filters of queries: parsed, and refused where they name what a column cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.rules.filter_values import declared_values, unknown_text
from privrelease.policy.statistics.query_errors import fail
from privrelease.relational.filters import FilterFault, parse_filter

if TYPE_CHECKING:
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.statistics import QuerySpec
    from privrelease.relational.filters import Filter

__all__ = ["filter_of"]


def filter_of(spec: QuerySpec, dataset: Dataset) -> Filter | None:
    """Return the filter of a query, None where it has none. Raises FaultError."""
    text = spec.filter
    if text is None:
        return None
    counted = spec.counted
    path = (spec.figure, "where") if counted is not None and counted.where is not None else ("where",)
    try:
        found = parse_filter(text, {name: column.type for name, column in dataset.columns.items()})
    except FilterFault as fault:
        fail("P702", fault.message, *path, hint=fault.hint)
    unknown = unknown_text(found, declared_values(dataset))
    if unknown is not None:
        fail("P702", unknown[0], *path, hint=unknown[1])
    return found
