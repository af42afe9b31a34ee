"""F, the size of each sample class in the population: from a table of the population, or from sampling weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import column_indices, group_rows, is_residual
from privrelease.disclosure.classes.person_matches import person_match_counts
from privrelease.disclosure.classes.persons import members, times_of
from privrelease.disclosure.classes.wildcard import compatible_counts, match_counts, match_sums
from privrelease.disclosure.risk.journalist import PopulationSizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["population_counts", "sizes_from_population", "sizes_from_weights", "weight_sums"]

Missing = Literal["category", "wildcard"]


def population_counts(sample: ClassTable, population: ClassTable, columns: Sequence[str] | None = None) -> NDArray[np.int64]:
    """For every class of ``sample``, the members of ``population`` that have every value which the class shows: (J,) int64.

    The attacker links on what the release shows: a suppressed cell does not narrow the search. A value missing in the population equals no
    value shown, so F is rather too small. Both tables in one coding; codes of values that the sample lacks continue after the sample's.
    Where ``population`` has persons, members are its persons: one with several matching rows, in one class or in several, counts once.

    >>> sample = ClassTable(("a", "b"), np.array([[1, 0], [1, 2]], np.int32), np.array([1, 1]))
    >>> population = ClassTable(("a", "b"), np.array([[1, 2], [1, 3], [4, 2]], np.int32), np.array([5, 7, 9]))
    >>> population_counts(sample, population).tolist()
    [12, 5]
    """
    names = sample.columns if columns is None else tuple(columns)
    if not set(names) <= set(population.columns):
        msg = "the population lacks a column that the attacker knows"
        raise ValueError(msg)
    theirs = population.codes[:, list(column_indices(population, names))]
    unknown = (
        np.maximum(theirs.max(axis=0, initial=0), sample.codes[:, list(column_indices(sample, names))].max(axis=0, initial=0))
        + 1
    )
    told_apart = np.where(theirs == 0, unknown, theirs).astype(np.int32)
    if population.pairs_class is None:
        return compatible_counts(sample, ClassTable(names, told_apart, population.counts), names, residual="class")
    return _person_counts(
        sample.codes[:, list(column_indices(sample, names))], replace(population, columns=names, codes=told_apart)
    )


def _person_counts(shown: NDArray[np.integer[Any]], population: ClassTable) -> NDArray[np.int64]:
    """For every row of ``shown`` (J, q), 0 where no value is shown, the distinct persons with a row that agrees: once for each set of columns."""
    counts = np.zeros(len(shown), np.int64)
    patterns = group_rows((shown > 0).astype(np.int32))
    for number, first in enumerate(patterns.first):
        rows = np.flatnonzero(patterns.group == number)
        columns = shown[first] > 0
        together = group_rows(np.concatenate([shown[rows][:, columns], population.codes[:, columns]]))
        persons, groups, _ = members(population, together.group[len(rows) :])
        times = times_of(population, persons)
        counts[rows] = np.bincount(groups, times, together.n_groups).astype(np.int64)[together.group[: len(rows)]]
    return counts


def _sample_sizes(
    table: ClassTable, columns: Sequence[int | str] | None, missing: Missing, residual: Literal["lost", "class"]
) -> tuple[
    NDArray[np.intp],
    NDArray[np.int64],
    NDArray[np.int64] | None,
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None,
]:
    """One class of ``table`` for each class on ``columns``; f of each, 0 where lost; its records where they are not f; persons, their classes, and how
    many persons each represents.
    """
    codes = table.codes[:, list(column_indices(table, columns))]
    grouping = group_rows(codes)
    records = grouping.sums(table.counts)
    persons = None
    if table.pairs_class is not None:
        numbers, classes, _ = members(table, grouping.group)
        persons = (numbers, classes, times_of(table, numbers))
    if missing == "wildcard":
        found = match_counts if persons is None else person_match_counts
        return grouping.first, found(table, columns, residual=residual)[grouping.first], records, persons
    lost = is_residual(codes[grouping.first]) if residual == "lost" else np.zeros(len(records), np.bool_)
    return grouping.first, np.where(lost, 0, records), None, persons


def sizes_from_population(
    sample: ClassTable,
    population: ClassTable,
    columns: Sequence[str] | None = None,
    *,
    missing: Missing = "category",
    residual: Literal["lost", "class"] = "lost",
) -> PopulationSizes:
    """Population sizes for journalist and marketer risk, from a table of the population.

    >>> sample = ClassTable(("a", "b"), np.array([[1, 1], [1, 2]], np.int32), np.array([1, 2]))
    >>> population = ClassTable(("a", "b"), np.array([[1, 1], [1, 2]], np.int32), np.array([5, 7]))
    >>> sizes = sizes_from_population(sample, population, ["a"])
    >>> (sizes.sizes.tolist(), sizes.records.tolist())
    ([12], [3])
    """
    first, ours, records, persons = _sample_sizes(sample, columns, missing, residual)
    theirs = population_counts(sample, population, columns)[first]
    return PopulationSizes.of(ours, theirs, records=records, persons=persons)


def weight_sums(
    table: ClassTable,
    columns: Sequence[int | str] | None = None,
    *,
    missing: Missing = "category",
    alpha: float = 1,
) -> NDArray[np.float64]:
    """For every class of ``table``, F estimated as the sum of sampling weights over its class (over matches for ``wildcard``): (J,).

    Where a person is in several classes, ``wildcard`` adds no match: their weight would count several times, and F is rather too small.
    Errors: ValueError where the table has no weights: without them F is unknown, and is not replaced by f.

    >>> table = ClassTable(("a", "b"), np.array([[1, 1], [1, 2]], np.int32), np.array([2, 1]), weights=np.array([30.0, 12.5]))
    >>> weight_sums(table, ["a"]).tolist()
    [42.5, 42.5]
    """
    if table.weights is None:
        msg = "the table has no sampling weights"
        raise ValueError(msg)
    codes = table.codes[:, list(column_indices(table, columns))]
    grouping = group_rows(codes)
    sums = np.bincount(grouping.group, weights=table.weights, minlength=grouping.n_groups)
    if missing == "wildcard" and not _several_classes(table, grouping.group):
        sums = np.asarray(match_sums(codes[grouping.first], sums, alpha=alpha), np.float64)
    return np.asarray(sums[grouping.group], np.float64)


def _several_classes(table: ClassTable, group: NDArray[np.intp]) -> bool:
    if table.pairs_class is None:
        return False
    persons, _, _ = members(table, group)
    return bool(np.any(np.diff(persons) == 0))


def sizes_from_weights(
    table: ClassTable,
    columns: Sequence[int | str] | None = None,
    *,
    missing: Missing = "category",
    residual: Literal["lost", "class"] = "lost",
) -> PopulationSizes:
    """Population sizes for journalist and marketer risk, estimated as sums of sampling weights (case k09).

    >>> table = ClassTable(("a",), np.array([[1], [2]], np.int32), np.array([2, 1]), weights=np.array([300.0, 90.0]))
    >>> sizes_from_weights(table).sizes.tolist()
    [90.0, 300.0]
    """
    first, ours, records, persons = _sample_sizes(table, columns, missing, residual)
    theirs = weight_sums(table, columns, missing=missing)[first]
    return PopulationSizes.of(ours, theirs, records=records, persons=persons)
