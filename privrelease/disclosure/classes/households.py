"""Households: released rows that a column links, though they are rows of several persons.

Whoever knows the members of a household looks for a household of such members. So the class of a household is its composition, the multiset
of its members' known values, and what hides it is the number of households with the same one. Members are distinct persons. A missing value equals
only another missing value, whatever the threat's reading: under the wildcard reading no household would have fewer others like it.

Rows without a number belong to no household. Whoever does not find a household among the numbered ones looks for its members there, so that these persons are
a file of their own: what hides one of them is the number of them with the same values.

Source of the household risk: Hundepool et al., Statistical Disclosure Control (2012), section 3.3.10; sdcMicro's ``hhId``.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["LEAST_VALUES", "LINKED_PERSONS", "Compositions", "compositions", "joint_codes", "linked_values", "multisets"]

#: Numbers of persons, both included, that make a value look like the number of a group of persons who belong together.
LINKED_PERSONS = (2, 20)
#: Fewer values of that kind are taken for a classification, as a ward or a region is in a small file.
LEAST_VALUES = 5
#: Of a column that is something else in most policies: as many values, and persons of a value on average at most.
LEAST_PLAIN, MOST_OF_ONE = 20, 6


@dataclass(frozen=True, eq=False, slots=True)
class Compositions:
    """Households by composition. ``sizes``: numbers of households with the same one. ``largest``: members of the largest household. ``unnumbered``: persons
    without a number by how many of them have the same values; none where no row has a number, for then the column reveals nothing.

    ``member_risk``: sdcMicro's risk of the household at most risk, 1 - prod(1 - 1/f) over its members, f the persons with a member's
    values (0 where there is no household).
    """

    sizes: ClassSizes
    largest: int
    member_risk: float
    unnumbered: ClassSizes = field(default_factory=lambda: ClassSizes.from_counts([]))


def compositions(
    households: NDArray[np.integer],
    persons: NDArray[np.integer] | None,
    tuples: NDArray[np.int64],
    *,
    knows_rows: bool = False,
) -> Compositions:
    """Count households by the multiset of their members' known values.

    ``households``: (n,) code of each row's household, 0 where it has none: such a row belongs to no household. ``persons``: (n,) code of each
    row's person; None where every row is a person. ``tuples``: (n,) code of each row's known values, see :func:`joint_codes`.
    A member with several rows is the set of their distinct values, or the multiset with ``knows_rows``.

    Two couples of the same ages, and one person alone:

    >>> found = compositions(np.array([1, 1, 2, 2, 3]), None, np.array([30, 40, 40, 30, 30]))
    >>> found.sizes.sizes.tolist(), found.largest
    ([1, 2], 2)
    >>> compositions(np.array([1, 0, 0]), None, np.array([30, 40, 40])).unnumbered.sizes.tolist()
    [2]
    """
    owners = np.arange(len(tuples)) if persons is None else np.unique(persons, return_inverse=True)[1].reshape(-1)
    risk = _member_risks(tuples, owners)
    linked = np.asarray(households) > 0
    if not linked.any():
        return Compositions(ClassSizes.from_counts([]), 0, 0.0)
    unnumbered = _persons_alike(owners[~linked], tuples[~linked], knows_rows=knows_rows)
    tuples, owners, risk = tuples[linked], owners[linked], risk[linked]
    houses = np.unique(np.asarray(households)[linked], return_inverse=True)[1].reshape(-1).astype(np.int64)
    people = int(owners.max()) + 1
    pairs, member = np.unique(houses * people + owners, return_inverse=True)
    member = member.reshape(-1)
    of_member = tuples if len(pairs) == len(tuples) else None
    if of_member is None:  # some member has several rows in the household
        signs = multisets(member, tuples, len(pairs), distinct=not knows_rows)
        risks = np.zeros(len(pairs))
        np.maximum.at(risks, member, risk)
    else:
        signs, risks = np.empty_like(tuples), np.empty_like(risk)
        signs[member], risks[member] = tuples, risk
    house = pairs // people
    n_houses = int(house[-1]) + 1
    composed = multisets(house, signs, n_houses, distinct=False)
    counts = np.bincount(composed)
    with np.errstate(divide="ignore"):
        safe = np.bincount(house, np.log1p(-risks), n_houses)
    sizes = ClassSizes.from_counts(counts[counts > 0])
    return Compositions(sizes, int(np.bincount(house).max()), float(-np.expm1(safe.min())), unnumbered)


def _persons_alike(owners: NDArray[np.integer], tuples: NDArray[np.int64], *, knows_rows: bool) -> ClassSizes:
    """Return the numbers of persons with the same set (multiset) of values."""
    if not len(owners):
        return ClassSizes.from_counts([])
    people, person = np.unique(owners, return_inverse=True)
    signs = multisets(person.reshape(-1), tuples, len(people), distinct=not knows_rows)
    return ClassSizes.from_counts(np.bincount(signs))


def joint_codes(columns: Iterable[NDArray[np.integer]], n_rows: int) -> NDArray[np.int64]:
    """Return one code for the values that a row has in all ``columns``, equal where all are: (n_rows,). Column by column, so that
    memory does not grow with their number.

    >>> joint_codes([np.array([1, 0, 1]), np.array([2, 2, 2])], 3).tolist()
    [1, 0, 1]
    """
    codes = np.zeros(n_rows, np.int64)
    for column in columns:
        width = int(column.max(initial=0)) + 1
        codes = np.unique(codes * width + column.astype(np.int64), return_inverse=True)[1].reshape(-1).astype(np.int64)
    return codes


def _member_risks(tuples: NDArray[np.int64], owners: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return 1/f of each row, f the distinct persons with its values: (n,)."""
    if not len(tuples):
        return np.zeros(0)
    people = int(owners.max()) + 1
    sizes = np.bincount(np.unique(tuples * people + owners) // people)
    return 1.0 / sizes[tuples]


def multisets(owners: NDArray[np.integer], items: NDArray[np.int64], n_owners: int, *, distinct: bool) -> NDArray[np.int64]:
    """Return a code for each of ``n_owners``, equal where the multisets (sets with ``distinct``) of their items are: (n_owners,).

    Exact: the sorted items of owners with equally many of them are compared byte by byte. Every owner has an item.

    >>> multisets(np.array([0, 0, 1, 1, 2]), np.array([7, 5, 5, 7, 5]), 3, distinct=False).tolist()
    [1, 1, 0]
    """
    order = np.lexsort((items, owners))
    owners, items = owners[order], items[order]
    if distinct and len(items):
        new = np.ones(len(items), np.bool_)
        new[1:] = (owners[1:] != owners[:-1]) | (items[1:] != items[:-1])
        owners, items = owners[new], items[new]
    lengths = np.bincount(owners, minlength=n_owners)
    starts = np.cumsum(lengths) - lengths
    codes = np.empty(n_owners, np.int64)
    used = 0
    for length in np.unique(lengths):  # at most about the square root of twice the items
        those = np.flatnonzero(lengths == length)
        rows = np.ascontiguousarray(items[starts[those][:, None] + np.arange(length)])
        alike = np.unique(rows.view(np.dtype((np.void, rows.dtype.itemsize * int(length)))).reshape(-1), return_inverse=True)[1]
        codes[those] = used + alike.reshape(-1)
        used += int(alike.max()) + 1
    return codes


def linked_values(
    persons: NDArray[np.int64], values: NDArray[np.int64], *, numbers: bool = False, plainly: bool = False
) -> int:
    """Return how many values of a column belong to a group of 2 to 20 persons where at least half of its values do, else 0.

    ``persons``: distinct numbers of persons; ``values``: of so many persons each. ``numbers``: at least half of the persons belong to such values too. Else
    an amount that most persons share, and the others have in many rare values, is taken for a code. Fewer than five such values are taken
    for those of a classification. ``plainly``: of a column that is something else in most policies, no value may belong to more than 20 persons, twenty
    values at least must be of that kind, and a value must belong to six persons on average at most: a diagnosis or a class has a common value.

    >>> linked_values(np.array([1, 2, 4]), np.array([6, 4, 1])), linked_values(np.array([1, 2, 4]), np.array([5, 4, 1]))
    (0, 5)
    >>> linked_values(np.array([2, 300]), np.array([9, 1]), numbers=True), linked_values(np.array([4]), np.array([4]))
    (0, 0)
    >>> (
    ...     linked_values(np.array([2, 3]), np.array([9, 11]), plainly=True),
    ...     linked_values(np.array([2, 30]), np.array([30, 1]), plainly=True),
    ... )
    (20, 0)
    """
    low, high = LINKED_PERSONS
    linked = (persons >= low) & (persons <= high)
    found = int(values[linked].sum())
    if found < LEAST_VALUES or 2 * found < int(values.sum()):
        return 0
    if plainly and (
        found < LEAST_PLAIN or int(persons.max()) > high or int(persons @ values) > MOST_OF_ONE * int(values.sum())
    ):
        return 0
    return 0 if numbers and 2 * int(persons[linked] @ values[linked]) < int(persons @ values) else found
