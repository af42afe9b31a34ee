"""Ways of counting a released class: records, distinct persons, or the population's records that agree with it.

A crowd answers two questions about a group of parts: its size f in the file and its size F in the population. Both are integers;
where F comes from sampling weights, it counts in units of ``1/scale`` and each weight is rounded down, against us.
"""

from __future__ import annotations

from math import floor, log2
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from privrelease.disclosure.classes.persons import times_of
from privrelease.disclosure.suppression.partition import factorise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.disclosure.suppression.partition import Parts
    from privrelease.disclosure.suppression.problem import Requirement

__all__ = ["ClassCounter", "PersonCrowd", "PopulationCrowd", "RecordCrowd", "WeightCrowd", "crowd_of"]


PersonSizes: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"


class ClassCounter(Protocol):
    """Sizes of groups of parts. ``members`` (m,) are indices of parts, ``group`` (m,) their group ids, ``codes`` (m, q) theirs."""

    scale: int
    is_file: bool

    def in_file(self, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return f of each member's group, (m,)."""
        ...

    def in_population(
        self, members: NDArray[np.int64], group: NDArray[np.int64], codes: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """Return F of each member's group in units of ``1/scale``, (m,)."""
        ...

    def by_person(self, members: NDArray[np.int64], sizes: NDArray[np.int64]) -> PersonSizes | None:
        """Return persons by the smallest of the ``sizes`` (m,) of the members in which they are: how many, and that size; None where every record is a
        person.
        """
        ...


class RecordCrowd:
    """Every record is its own person: f is the number of records, F = f."""

    scale = 1
    is_file = True

    def __init__(self, parts: Parts) -> None:
        self._records = parts.records

    def in_file(self, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count records."""
        totals = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
        np.add.at(totals, group, self._records[members])
        return totals[group]

    def in_population(
        self, members: NDArray[np.int64], group: NDArray[np.int64], codes: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """F = f."""
        del codes
        return self.in_file(members, group)

    def by_person(self, members: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        """Every record is a person."""
        del members, sizes


class PersonCrowd:
    """Classes count distinct persons, over all the classes of the source that were merged into one."""

    scale = 1
    is_file = True

    def __init__(self, parts: Parts) -> None:
        table = parts.table
        if table.pairs_class is None or table.pairs_person is None:
            msg = "a person crowd needs the pairs of classes and persons"
            raise ValueError(msg)
        bounds = np.searchsorted(table.pairs_class, np.arange(table.n_classes + 1))
        self._start = bounds[:-1][parts.class_index]
        self._length = np.diff(bounds)[parts.class_index]
        self._person = table.pairs_person.astype(np.int64)
        self._span = int(self._person.max(initial=0)) + 1
        self._times = times_of(table, np.arange(self._span))

    def in_file(self, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count distinct persons."""
        length, person = self._persons(members)
        seen = np.unique(np.repeat(group, length) * self._span + person)
        times = self._times[seen % self._span]
        return np.bincount(seen // self._span, times, minlength=int(group.max(initial=-1)) + 1).astype(np.int64)[group]

    def in_population(
        self, members: NDArray[np.int64], group: NDArray[np.int64], codes: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """F = f."""
        del codes
        return self.in_file(members, group)

    def by_person(self, members: NDArray[np.int64], sizes: NDArray[np.int64]) -> PersonSizes | None:
        """A person is as much at risk as in the smallest class that it is in."""
        length, person = self._persons(members)
        theirs = np.repeat(sizes, length)
        order = np.argsort(person, kind="stable")
        starts = np.flatnonzero(np.diff(person[order], prepend=-1))
        if not len(starts):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return self._times[person[order][starts]], np.minimum.reduceat(theirs[order], starts)

    def least(
        self, members: NDArray[np.int64], group: NDArray[np.int64], of_pair: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the group of every distinct (group, person), the smallest value of ``of_pair`` among the person's pairs there, and how many persons it
        is of.
        """
        length, pairs = self._pairs(members)
        keys = np.repeat(group, length) * self._span + self._person[pairs]
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        if not len(starts):
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
        first = keys[order][starts]
        return first // self._span, np.minimum.reduceat(of_pair[pairs][order], starts), self._times[first % self._span]

    def _persons(self, members: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of persons of each member, (m,), and all of them one after the other."""
        length, pairs = self._pairs(members)
        return length, self._person[pairs]

    def _pairs(self, members: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        length = self._length[members]
        ends = np.cumsum(length)
        offset = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - length, length)
        return length, np.repeat(self._start[members], length) + offset


class WeightCrowd:
    """F is the class's sum of sampling weights, kept as integers in units of ``1/scale``, each class rounded down.

    Where the table has persons, a person counts once in a class, by the smallest weight of their rows in it.
    """

    is_file = False

    def __init__(self, parts: Parts, inner: ClassCounter) -> None:
        weights = parts.table.weights
        if weights is None:
            msg = "the class table holds no weights"
            raise ValueError(msg)
        if not np.isfinite(weights).all() or (weights < 0).any():
            msg = "weights are finite and not negative"
            raise ValueError(msg)
        total = max(1.0, float(weights.sum()), float(parts.table.n_records))
        self.scale = 1 << max(0, 60 - floor(log2(total)) - 1)
        self._units = self._in_units(weights)[parts.class_index]
        self._inner = inner
        self._persons = None
        if parts.table.pairs_class is not None:
            if parts.table.pair_weights is None:
                msg = "the class table holds no weights of persons"
                raise ValueError(msg)
            self._persons = PersonCrowd(parts)
            self._of_pair = self._in_units(parts.table.pair_weights)

    def _in_units(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.floor(weights * float(self.scale)).astype(np.int64)

    def in_file(self, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count as the file does."""
        return self._inner.in_file(members, group)

    def in_population(
        self, members: NDArray[np.int64], group: NDArray[np.int64], codes: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """Sum the weights; at least f, since the sample is part of the population."""
        del codes
        totals = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
        if self._persons is None:
            np.add.at(totals, group, self._units[members])
        else:
            of_person, least, times = self._persons.least(members, group, self._of_pair)
            np.add.at(totals, of_person, least * times)
        return np.maximum(totals[group], self.in_file(members, group) * self.scale)

    def by_person(self, members: NDArray[np.int64], sizes: NDArray[np.int64]) -> PersonSizes | None:
        """Find persons as the file does."""
        return self._inner.by_person(members, sizes)


class PopulationCrowd:
    """F is the number of the population's records that agree on the columns that the released class still shows; of its persons, each of
    them once, where its table has persons.
    """

    scale = 1
    is_file = False

    def __init__(self, population: ClassTable, inner: ClassCounter) -> None:
        self._population = population
        self._inner = inner

    def in_file(self, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count as the file does."""
        return self._inner.in_file(members, group)

    def in_population(
        self, members: NDArray[np.int64], group: NDArray[np.int64], codes: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """Count the population once per pattern of shown columns; at least f, since the sample is part of the population."""
        sizes = np.zeros(len(codes), np.int64)
        pattern = factorise((codes > 0).astype(np.int32))
        for which in range(int(pattern.max(initial=-1)) + 1):
            rows = np.flatnonzero(pattern == which)
            shown = np.flatnonzero(codes[rows[0]] > 0)
            both = factorise(np.concatenate([codes[rows][:, shown], self._population.codes[:, shown]]))
            totals = self._totals(both[len(rows) :], int(both.max()) + 1)
            sizes[rows] = totals[both[: len(rows)]]
        return np.maximum(sizes, self.in_file(members, group))

    def _totals(self, group: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        """Members of each of ``size`` groups of the population's classes; ``group``: that of each class."""
        persons, classes = self._population.pairs_person, self._population.pairs_class
        if persons is None or classes is None:
            totals = np.zeros(size, np.int64)
            np.add.at(totals, group, self._population.counts)
            return totals
        span = int(persons.max(initial=0)) + 1
        seen = np.unique(group[classes] * span + persons)
        return np.bincount(seen // span, times_of(self._population, seen % span), minlength=size).astype(np.int64)

    def by_person(self, members: NDArray[np.int64], sizes: NDArray[np.int64]) -> PersonSizes | None:
        """Find persons as the file does."""
        return self._inner.by_person(members, sizes)


def crowd_of(parts: Parts, requirement: Requirement) -> ClassCounter:
    """Return the crowd that counts classes for ``requirement`` on ``parts``."""
    inner: ClassCounter = RecordCrowd(parts) if parts.table.pairs_class is None else PersonCrowd(parts)
    if requirement.attacker == "prosecutor":
        return inner
    if requirement.use_weights:
        return WeightCrowd(parts, inner)
    if requirement.population is not None:
        return PopulationCrowd(requirement.population, inner)
    return inner
