"""Faults of a query, reported at their place inside the release.

Filters of queries: parsed, and refused where they name what a column cannot hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from privrelease.policy.rules.filter_values import declared_values, unknown_text
from privrelease.relational.filters import FilterFault, parse_filter
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.policy.language.datasets import Dataset
    from privrelease.policy.language.statistics import QuerySpec
    from privrelease.relational.filters import Filter

__all__ = ["Fault", "FaultError", "fail", "filter_of"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, at a path inside the release (``whole``: inside the policy)."""

    code: str
    message: str
    path: tuple[str | int, ...]
    hint: str | None = None
    whole: bool = False
    key: bool = False
    warn: bool = False


class FaultError(Exception):
    """Stops the resolution of one query; the others go on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def fail(code: str, message: str, *path: str | int, hint: str | None = None, key: bool = False) -> NoReturn:
    """Raise a fault at a path inside the query."""
    raise FaultError(Fault(code, message, path, hint, key=key))


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
