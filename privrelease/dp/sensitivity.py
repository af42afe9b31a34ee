"""The distance that one person can move a statistic: proven formulas on integers, for both neighbour relations.

Statistics are integers: counts, or sums of values counted in steps of a declared grid. A person has at most ``max_rows`` rows, in at most
``max_groups`` groups, because rows beyond are left out before anything is computed (contribution bounding).

add_remove: neighbours differ by all rows of one person. replace: one person's rows are replaced by another's; after a filter or missing
values either may have none left.
Each formula is tested against every pair of neighbours of small tables (``tests/unit/dp/test_sensitivity.py``).
"""

from __future__ import annotations

from enum import StrEnum

from privrelease.value_classes import dataclass

__all__ = [
    "Contribution",
    "Neighbours",
    "Sensitivity",
    "of_group_counts",
    "of_group_persons",
    "of_group_quantile_scores",
    "of_group_sums",
    "of_persons",
    "of_quantile_scores",
    "of_rows",
    "of_sum",
]


class Neighbours(StrEnum):
    """The relation of data sets that must be hard to tell apart."""

    ADD_REMOVE = "add_remove"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Contribution:
    """The data that one person can hold, after bounding.

    ``exactly_one``: under replace, every person has exactly one row, nothing filters rows and no value is missing, so that the number of
    rows is public. It is refused together with ``max_rows`` above 1, and it changes nothing under add_remove.

    >>> Contribution(max_rows=3).groups
    3
    """

    max_rows: int
    max_groups: int | None = None
    exactly_one: bool = False

    def __post_init__(self) -> None:
        if self.max_rows < 1 or (self.max_groups is not None and self.max_groups < 1):
            msg = "a person has at least one row in at least one group"
            raise ValueError(msg)
        if self.exactly_one and self.max_rows != 1:
            msg = "exactly one row a person needs max_rows 1"
            raise ValueError(msg)

    @property
    def groups(self) -> int:
        """Most groups one person is in: never more than rows."""
        return self.max_rows if self.max_groups is None else min(self.max_groups, self.max_rows)

    def filtered(self) -> Contribution:
        """Return the contribution where a filter or missing values may take rows away: the number of rows is private again."""
        return Contribution(self.max_rows, self.max_groups)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The distance that one person moves a vector of integers.

    ``l1``: sum of the absolute changes; ``l2_squared``: sum of their squares; ``largest``: the largest of them; ``coordinates``: how many
    change. All are maxima over neighbours, each on its own. All 0: the statistic is public.

    >>> Sensitivity.of_one_number(5).l2_squared
    25
    """

    l1: int
    l2_squared: int
    largest: int
    coordinates: int

    def __post_init__(self) -> None:
        if not (0 <= self.largest <= self.l1 <= self.largest * self.coordinates):
            msg = "inconsistent L1 sensitivity"
            raise ValueError(msg)
        if not (
            self.largest**2 <= self.l2_squared <= self.largest * self.l1 and self.l1**2 <= self.l2_squared * self.coordinates
        ):
            msg = "inconsistent L2 sensitivity"
            raise ValueError(msg)

    @classmethod
    def of_one_number(cls, change: int) -> Sensitivity:
        """Return the sensitivity of one integer that moves by at most ``change``."""
        return cls(change, change**2, change, 1 if change else 0)

    @property
    def is_public(self) -> bool:
        """Return True if no person changes it."""
        return self.l1 == 0


def of_rows(contribution: Contribution, neighbours: Neighbours) -> Sensitivity:
    """Return that of the number of rows: m; under replace 0 where everybody has exactly one."""
    public = neighbours is Neighbours.REPLACE and contribution.exactly_one
    return Sensitivity.of_one_number(0 if public else contribution.max_rows)


def of_persons(neighbours: Neighbours, *, filtered: bool) -> Sensitivity:
    """Return that of the number of persons: 1; under replace 0 unless a filter or missing values can take a person's rows away.

    A person is in a data set by having rows, so that replacing one leaves the number of persons as it is.
    """
    public = neighbours is Neighbours.REPLACE and not filtered
    return Sensitivity.of_one_number(0 if public else 1)


def of_sum(low: int, high: int, contribution: Contribution, neighbours: Neighbours) -> Sensitivity:
    """Return that of a sum of integers clamped to [low, high].

    add_remove: m max(|low|, |high|). replace: the person's part lies in [m min(low, 0), m max(high, 0)], so m (H - L); with exactly one
    row high - low.
    """
    m = contribution.max_rows
    if neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity.of_one_number(m * max(abs(low), abs(high)))
    if contribution.exactly_one:
        return Sensitivity.of_one_number(high - low)
    return Sensitivity.of_one_number(m * (max(high, 0) - min(low, 0)))


def of_group_counts(contribution: Contribution, neighbours: Neighbours) -> Sensitivity:
    """Return that of row counts by group or bin: L1 m, L2 m (all rows may share one); under replace 2 m and m sqrt 2."""
    m, g = contribution.max_rows, contribution.groups
    if neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(m, m * m, m, g)
    return Sensitivity(2 * m, 2 * m * m, m, 2 * g)


def of_group_persons(contribution: Contribution, neighbours: Neighbours) -> Sensitivity:
    """Return that of counts of distinct persons by group: g changes of 1; under replace 2 g."""
    g = contribution.groups if neighbours is Neighbours.ADD_REMOVE else 2 * contribution.groups
    return Sensitivity(g, g, 1, g)


def of_group_sums(low: int, high: int, contribution: Contribution, neighbours: Neighbours) -> Sensitivity:
    """Return that of sums by group of integers clamped to [low, high], B = max(|low|, |high|).

    add_remove: L1 m B, and L2 m B since all rows may share a group. replace: rows leave one group and enter another, L1 2 m B, squared
    L2 2 (m B)^2; within one group the change reaches m (H - L), which may be up to 2 m B.
    """
    m, g = contribution.max_rows, contribution.groups
    reach = m * max(abs(low), abs(high))
    if neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(reach, reach * reach, reach, g if reach else 0)
    within = m * (max(high, 0) - min(low, 0))
    return Sensitivity(2 * reach, max(2 * reach * reach, within * within), max(reach, within), 2 * g if reach else 0)


def of_quantile_scores(numerator: int, denominator: int, contribution: Contribution, neighbours: Neighbours) -> Sensitivity:
    """Return that of the score of a candidate for the a/b quantile, or for an end of its interval (:mod:`privrelease.dp.quantiles`).

    A score is a distance to a stretch of ranks whose ends are sums over rows of integers in [-a, b - a], and moves no further than the one
    of them that moves furthest: add_remove m max(a, b - a); replace m b.
    """
    return of_sum(-numerator, denominator - numerator, contribution.filtered(), neighbours)


def of_group_quantile_scores(
    numerator: int, denominator: int, contribution: Contribution, neighbours: Neighbours
) -> Sensitivity:
    """Return the same for one quantile in each of several groups: ``l1`` adds the changes over groups, which share the person's rows."""
    return of_group_sums(-numerator, denominator - numerator, contribution, neighbours)
