"""Filters of queries: parsed, and refused where they name what a column cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.statistics_faults import fail
from privrelease.policy.values import did_you_mean, shown
from privrelease.relational.filters import Among, Both, Comparison, Either, FilterFault, Negated, parse_filter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from privrelease.policy.datasets import Dataset
    from privrelease.policy.statistics import QuerySpec
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
    _outside(found, dataset, path)
    return found


def _outside(found: Filter, dataset: Dataset, path: tuple[str, ...]) -> None:
    """Refuse a text that the column cannot hold: it would count nobody."""
    match found:
        case Both(left, right) | Either(left, right):
            _outside(left, dataset, path)
            _outside(right, dataset, path)
        case Negated(inner):
            _outside(inner, dataset, path)
        case Comparison(column, "=" | "<>", value):
            _known(column, (value,), dataset, path)
        case Among(column, values):
            _known(column, values, dataset, path)
        case _:
            pass


def _known(column: str, values: Iterable[object], dataset: Dataset, path: tuple[str, ...]) -> None:
    domain = dataset.columns[column].domain
    if domain is None or domain.values is None:
        return
    for value in values:
        if isinstance(value, str) and value not in domain.values:
            hint = did_you_mean(value, domain.values[:1000]) or "add it to the domain"
            fail("P702", f"{shown(value)} is not in the domain of {shown(column)}", *path, hint=hint)
