"""Primary rules: which cells say too much by themselves.

Minimum count: at least ``min_count`` contributors, whatever the weights (case k08); judged before any rounding (case t04).
Dominance (n, k): the n largest contributors make up more than the share k of the sum. p-percent: the second largest contributor
could estimate the largest within p of its value, X - x1 - x2 < p x1. (Hundepool et al., Statistical Disclosure Control, 2012,
ch. 4.) Sums under these two are of values that are not negative. A sum of 0 discloses that each of its contributors has 0: where large
contributors are to be protected, or zeros are, it is unsafe however many they are (as in ACRO, ``zeros_are_disclosive``).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Relation

__all__ = ["CellRules", "Magnitude", "group_is_safe", "primary_cells", "shared_keys", "upper_protection"]


@dataclass(frozen=True, slots=True)
class CellRules:
    """The rules that a published cell must keep. ``zeros``: an empty cell is ``shown``, or protected like a small one
    (``suppressed``).

    ``class_disclosure``: empty cells are suppressed where a group would share one key. ``classes_judged``: such groups are looked for, and
    nothing is suppressed on their account. ``interval``: share of its value by which a suppressed figure must stay uncertain. ``min_count`` is at least 3: a suppressed count is
    known to be positive and below it, which with 2 would be its value.
    """

    min_count: int
    dominance: tuple[int, Fraction] | None = None
    p_percent: Fraction | None = None
    interval: Fraction = Fraction(0)
    zeros_shown: bool = True
    class_disclosure: bool = False
    classes_judged: bool = False

    def __post_init__(self) -> None:
        if self.min_count < 3:
            message = "min_count is at least 3"
            raise ValueError(message)

    @property
    def looks_for_classes(self) -> bool:
        """Return True if groups that share one key are weaknesses."""
        return self.class_disclosure or self.classes_judged

    @property
    def largest(self) -> int:
        """Return how many of the largest contributions the rules look at."""
        return max(0 if self.dominance is None else self.dominance[0], 0 if self.p_percent is None else 2)

    @property
    def zero_sums_shown(self) -> bool:
        """Return True if a sum of 0 of persons who are there is safe."""
        return self.zeros_shown and self.dominance is None and self.p_percent is None


@dataclass(frozen=True, eq=False, slots=True)
class Magnitude:
    """A sum by cell, in whole steps: values (n,) and largest contributions (n, k), descending, 0 where there are fewer."""

    values: NDArray[np.int64]
    largest: NDArray[np.int64]


def primary_cells(
    rules: CellRules,
    contributors: NDArray[np.int64],
    magnitudes: Sequence[Magnitude],
    holders: Sequence[NDArray[np.int64] | None] = (),
) -> dict[str, NDArray[np.bool_]]:
    """Return for each rule the cells that it makes unsafe, (n,) bool; ``zeros`` where that is a rule for these sums.

    ``holders``: who has a value of each sum, None where all have.

    >>> rules = CellRules(3, p_percent=Fraction(1, 10))
    >>> sums = Magnitude(np.array([100, 100]), np.array([[90, 5], [40, 30]]))
    >>> {rule: cells.tolist() for rule, cells in primary_cells(rules, np.array([9, 2]), [sums]).items()}
    {'min_count': [False, True], 'dominance': [False, False], 'p_percent': [True, False], 'zeros': [False, False]}
    """
    few = (contributors < rules.min_count) & ((contributors > 0) | (not rules.zeros_shown))
    none = np.zeros(len(contributors), np.bool_)
    dominated, estimated, zero = none.copy(), none.copy(), none.copy()
    for number, one in enumerate(magnitudes):
        there = holders[number] if number < len(holders) else None
        zero |= (one.values == 0) & ((contributors if there is None else there) > 0)
        for cell in np.flatnonzero(contributors > 0):
            value, largest = int(one.values[cell]), [int(x) for x in one.largest[cell]]
            dominated[cell] |= _dominated(rules, value, largest)
            estimated[cell] |= _estimated(rules, value, largest)
    found = {"min_count": few, "dominance": dominated, "p_percent": estimated}
    return found if rules.zero_sums_shown or not magnitudes else found | {"zeros": zero}


def group_is_safe(rules: CellRules, contributors: int, sums: Iterable[tuple[int, Sequence[int]]]) -> bool:
    """Tell whether a group whose figures are known could be published as a cell: no rule broken."""
    if contributors == 0:
        return rules.zeros_shown
    if contributors < rules.min_count:
        return False
    return not any(
        _dominated(rules, value, largest) or _estimated(rules, value, largest) or (value == 0 and not rules.zero_sums_shown)
        for value, largest in sums
    )


def _dominated(rules: CellRules, value: int, largest: Sequence[int]) -> bool:
    return rules.dominance is not None and sum(largest[: rules.dominance[0]]) > rules.dominance[1] * value


def _estimated(rules: CellRules, value: int, largest: Sequence[int]) -> bool:
    if rules.p_percent is None:
        return False
    first, second = (*largest[:2], 0, 0)[:2]
    return value - first - second < rules.p_percent * first


def upper_protection(rules: CellRules, value: int, largest: Sequence[int]) -> int:
    """Return by how many steps an attacker's upper bound of an unsafe sum must exceed it, so that the rules' estimates fail.

    p-percent: p x1 - (X - x1 - x2). Dominance: (x1 + … + xn) / k - X.

    >>> upper_protection(CellRules(3, p_percent=Fraction(1, 10)), 100, [90, 5])
    4
    """
    needed = Fraction(0)
    if rules.p_percent is not None:
        first, second = (*largest[:2], 0, 0)[:2]
        needed = max(needed, rules.p_percent * first - (value - first - second))
    if rules.dominance is not None and rules.dominance[1] > 0:
        needed = max(needed, Fraction(sum(largest[: rules.dominance[0]])) / rules.dominance[1] - value)
    return ceil(needed)


def shared_keys(
    relations: Iterable[Relation], contributors: NDArray[np.int64], impossible: NDArray[np.bool_] | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield for every group whose members all share one key the cells of the other keys, which are empty.

    To know that somebody is in the group is then to know the key. ``impossible`` cells are empty whatever the data: they say nothing.

    >>> from privrelease.disclosure.tables.layout import Layout
    >>> list(shared_keys(Layout((2, 2), margins=True).relations, np.array([5, 0, 5, 4, 4, 8, 9, 4, 13])))
    [(1,), (1,)]
    """
    for relation in relations:
        parts = [part for part in relation.parts if impossible is None or not impossible[part]]
        empty = tuple(part for part in parts if not contributors[part])
        if empty and len(parts) - len(empty) == 1 and contributors[relation.total] > 0:
            yield empty
