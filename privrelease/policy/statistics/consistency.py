"""Counts of a release that can be made to agree, and the check that they count the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from privrelease.dp.domains import CategoryDomain
from privrelease.dp.queries import Count, Histogram, PublicKeys
from privrelease.policy.statistics.query_errors import fail
from privrelease.relational.filters import Among, Both, Either, Missing, Negated

if TYPE_CHECKING:
    from privrelease.dp.queries import Query, Setting
    from privrelease.policy.language.statistics import QuerySpec
    from privrelease.relational.filters import Filter

__all__ = ["Found", "agreeing"]

#: A query, as the policy has it and as it is asked, and its filter.
Found: TypeAlias = "tuple[QuerySpec, Query, Filter | None]"


def agreeing(found: list[Found | None], setting: Setting) -> tuple[list[Found | None], dict[str, str]]:
    """Let the counts of a release that can agree count the same rows: those whose keys are declared in all of them.

    Agree: counts of rows and histograms under the same filter, by every key of a domain. Returns the queries, and by id what each agrees with.
    """
    if setting.contribution.max_groups is not None and setting.contribution.max_groups < setting.contribution.max_rows:
        message = "counts by different groups keep different rows of a person: they cannot agree"
        fail("P708", message, "post", hint="remove `consistent`, or `max_groups` of the unit")
    groups: dict[str, list[int]] = {}
    for number, one in enumerate(found):
        if one is not None and _countable(one[0], one[1]):
            groups.setdefault(f"rows where {one[0].filter}" if one[0].filter else "rows", []).append(number)
    several = {name: numbers for name, numbers in groups.items() if len(numbers) > 1}
    if not several and None not in found:
        fail(
            "P708", "there are no counts that could agree", "post", hint="remove `consistent`, or count the total and its parts"
        )
    result = list(found)
    names: dict[str, str] = {}
    for name, numbers in several.items():
        members = [one for number in numbers if (one := found[number]) is not None]
        condition = _declared_in_all([query for _, query, _ in members])
        for number, (spec, query, where) in zip(numbers, members, strict=True):
            both = condition if where is None else where if condition is None else Both(where, condition)
            result[number] = (spec, replace(query, where=query.where or "keys are declared") if condition else query, both)
            names[spec.id] = name
    return result, names


def _countable(spec: QuerySpec, query: Query) -> bool:
    listed = spec.keys is not None and (spec.keys.private or bool(spec.keys.listed))
    return not listed and (isinstance(query, Histogram) or (isinstance(query, Count) and query.column is None))


def _declared_in_all(queries: list[Query]) -> Filter | None:
    """The rows that are in every table: those whose keys each table has a cell for, be it that of the rest or of missing keys."""
    grouped: dict[str, list[CategoryDomain]] = {}
    tests: dict[tuple[str, str], Filter | None] = {}
    for query in queries:
        if isinstance(query.by, PublicKeys):
            for column, domain in zip(query.by.columns, query.by.domains, strict=True):
                assert isinstance(domain, CategoryDomain)
                grouped.setdefault(column, []).append(domain)
                tests["keys", column] = _with_a_cell(column, grouped[column])
        if isinstance(query, Histogram):
            tests["bins", query.column] = Negated(Missing(query.column))
    condition: Filter | None = None
    for test in [one for one in tests.values() if one is not None]:
        condition = test if condition is None else Both(condition, test)
    return condition


def _with_a_cell(column: str, domains: list[CategoryDomain]) -> Filter | None:
    """The rows that have a cell under every one of a column's domains; None where all have."""
    undeclared = all(domain.other is not None for domain in domains)
    missing = all(domain.missing is not None for domain in domains)
    if undeclared:
        return None if missing else Negated(Missing(column))
    declared = Among(column, domains[0].values)
    return Either(declared, Missing(column)) if missing else declared
