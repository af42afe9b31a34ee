"""The cost of the draws of one release together: the rule that adds them up, and the parts in which no person can be twice.

Rules, each with those before it: ``pure`` and ``approximate`` add what is charged, exactly; ``zcdp`` also adds rhos and
converts the sum, those of all draws or of those with a delta next to the epsilons of the others; ``pld`` also composes the
distributions of the losses, which needs a plan that is fixed beforehand, as that of a release is. Every one of them bounds the
truth, and all is known before a row is read, so that the least total counts.

Parts (:class:`Apart`) are queries under filters of which no row can satisfy two (:func:`~privrelease.relational.disjoint.disjoint`), answered
in one run: bounding keeps at most ``max_rows`` rows of a person for all of them at once, so that a person who comes or goes changes at
most ``max_rows`` parts, and a person who is replaced twice as many.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from privrelease.dp.accountants import ApproximateAccountant, PldAccountant, PureAccountant, ZcdpAccountant
from privrelease.dp.accountants.events import Parallel, Together
from privrelease.dp.bounds import float_up
from privrelease.dp.budget import Budget
from privrelease.dp.draws import check_joint
from privrelease.dp.sensitivity import Neighbours
from privrelease.relational.disjoint import disjoint
from privrelease.units import Delta, Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from privrelease.dp.accountants.events import Event
    from privrelease.dp.draws import Draw
    from privrelease.dp.queries import Setting
    from privrelease.relational.filters import Filter

__all__ = [
    "RULES",
    "Accounting",
    "Apart",
    "Composed",
    "Part",
    "apart_of",
    "check_apart",
    "composed",
    "covers",
    "event_of",
    "rho_of",
]

Accounting: TypeAlias = Literal["pure", "approximate", "zcdp", "pld"]

#: Every rule, each including those before it.
RULES: Final[tuple[Accounting, ...]] = ("pure", "approximate", "zcdp", "pld")

#: Digits of an epsilon that was converted, rounded up.
_DIGITS: Final = 4

#: A total of this share of the budget's epsilon states the whole: noise was calibrated to it, as near as grids of scales and losses allow.
_NEAR: Final = Fraction(995, 1000)

#: A budget is used up to this share: floats of another machine must not find the total above it.
_SHARE: Final = 1 - Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Part:
    """Queries of one filter."""

    queries: tuple[str, ...]
    where: Filter


@dataclass(frozen=True, slots=True)
class Apart:
    """Parts of which no row is in two. One person changes at most ``most`` of them."""

    parts: tuple[Part, ...]
    max_rows: int
    neighbours: Neighbours

    @property
    def most(self) -> int:
        """Return how many parts one person can change: one a row; under replace the rows of two persons."""
        return self.max_rows if self.neighbours is Neighbours.ADD_REMOVE else 2 * self.max_rows

    def of(self, queries: Collection[str]) -> Apart | None:
        """Return the same for some of the queries; None where nothing is saved."""
        left = [replace(part, queries=tuple(one for one in part.queries if one in queries)) for part in self.parts]
        kept = tuple(part for part in left if part.queries)
        return replace(self, parts=kept) if len(kept) > self.most else None


@dataclass(frozen=True, slots=True)
class Composed:
    """The cost of draws together, by the rule that makes it least. ``exact``: before it was rounded up to some digits."""

    accountant: Accounting
    cost: Budget
    exact: Budget

    def within(self, budget: Budget) -> bool:
        """Return True if the cost fits a budget, with some room where it comes out of floats."""
        if self.accountant in {"pure", "approximate"}:
            return self.cost.fits(budget)
        return self.exact.fits(Budget(Epsilon(budget.epsilon.value * _SHARE), budget.delta))


def apart_of(queries: Sequence[tuple[str, Filter | None]], setting: Setting) -> tuple[Apart, ...]:
    """Return the families of parts among named queries and their filters, greedily in their order.

    >>> from privrelease.dp.queries import Setting
    >>> from privrelease.dp.sensitivity import Contribution
    >>> from privrelease.relational.filters import Comparison
    >>> women, men = Comparison("sex", "=", "F"), Comparison("sex", "=", "M")
    >>> (one,) = apart_of([("a", women), ("b", men), ("c", None), ("d", women)], Setting(Contribution(1)))
    >>> [part.queries for part in one.parts], one.most
    ([('a', 'd'), ('b',)], 1)
    """
    by_filter: dict[Filter, list[str]] = {}
    for name, where in queries:
        if where is not None:
            by_filter.setdefault(where, []).append(name)
    families: list[list[Filter]] = []
    for where in by_filter:
        home = next((family for family in families if all(disjoint(where, other) for other in family)), None)
        if home is None:
            families.append([where])
        else:
            home.append(where)
    found = (
        Apart(
            tuple(Part(tuple(by_filter[where]), where) for where in family),
            setting.contribution.max_rows,
            setting.neighbours,
        )
        for family in families
    )
    return tuple(one for one in found if len(one.parts) > one.most)


def check_apart(apart: Iterable[Apart], queries: Collection[str]) -> None:
    """Raise ValueError unless every family is of disjoint filters, of known queries, and none of them is in two parts."""
    seen: set[str] = set()
    for one in apart:
        if one.max_rows < 1:
            msg = "a person has at least one row"
            raise ValueError(msg)
        for place, part in enumerate(one.parts):
            if not set(part.queries) <= set(queries) or seen & set(part.queries) or len(set(part.queries)) < len(part.queries):
                msg = "parts are of queries that were drawn, each in one part"
                raise ValueError(msg)
            seen |= set(part.queries)
            if not all(disjoint(part.where, other.where) for other in one.parts[:place]):
                msg = "parts whose filters are not proven to be disjoint are composed one after the other"
                raise ValueError(msg)


def event_of(draws: Sequence[Draw], apart: Iterable[Apart] = ()) -> Event:
    """Return everything that was drawn as one event."""
    by_query: dict[str, list[Event]] = {}
    for draw in draws:
        by_query.setdefault(draw.query, []).append(draw.event)
    families: list[Event] = []
    for one in apart:
        parts = [Together(tuple(event for query in part.queries for event in by_query.pop(query, []))) for part in one.parts]
        families.append(Parallel(tuple(parts), one.most))
    return Together((*(event for events in by_query.values() for event in events), *families))


@lru_cache(maxsize=512)
def composed(draws: tuple[Draw, ...], rule: Accounting, budget: Budget, apart: tuple[Apart, ...] = ()) -> Composed:
    """Return the least total that the rule and those before it give at most ``budget``'s delta.

    A converted epsilon is rounded up; one near the budget's is stated as that. Raises InputError (D301) where the rule is
    ``pld`` and dp-accounting is missing; ValueError where the parts are not valid.
    """
    check_joint(draws)
    check_apart(apart, {draw.query for draw in draws})
    simple = ApproximateAccountant().compose(event_of(draws, apart))
    added = Budget(simple.spent_epsilon, simple.spent_delta)
    best = Composed("pure" if rule == "pure" else "approximate", added, added)
    if rule in {"pure", "approximate"} or budget.delta.value == 0:
        return best
    for kind in RULES[2 : RULES.index(rule) + 1]:
        for total in _totals(kind, draws, apart):
            epsilon = total.epsilon(budget.delta)
            if epsilon is None:
                continue
            rounded = _rounded(total, epsilon, budget)
            if rounded.value < best.cost.epsilon.value or not best.cost.delta.value <= budget.delta.value:
                best = Composed(kind, Budget(rounded, budget.delta), Budget(epsilon, budget.delta))
    return best


class _Total(Protocol):
    """A converted total."""

    def epsilon(self, delta: Delta) -> Epsilon | None: ...

    def delta(self, epsilon: Epsilon) -> Delta: ...


@dataclass(frozen=True, slots=True)
class _Beside:
    """Draws without a delta, whose epsilons add up, next to all others by zCDP: two releases, composed by their sum."""

    added: Fraction
    others: ZcdpAccountant

    def epsilon(self, delta: Delta) -> Epsilon | None:
        converted = self.others.epsilon(delta)
        return None if converted is None else Epsilon(self.added + converted.value)

    def delta(self, epsilon: Epsilon) -> Delta:
        return Delta(1) if epsilon.value < self.added else self.others.delta(Epsilon(epsilon.value - self.added))


def _rounded(total: _Total, epsilon: Epsilon, budget: Budget) -> Epsilon:
    """Return a short epsilon that covers the total at the budget's delta: the budget's own where the total comes near it."""
    if epsilon.value == 0:
        return epsilon
    rounded = Epsilon(float_up(float(epsilon.value), digits=_DIGITS))
    if budget.epsilon.value * _NEAR <= epsilon.value <= budget.epsilon.value * _SHARE:
        rounded = budget.epsilon
    while total.delta(rounded).value > budget.delta.value:
        rounded = Epsilon(float_up(float(rounded.value) * (1 + 10.0**-_DIGITS), digits=_DIGITS))
    return rounded


def _totals(kind: Accounting, draws: Sequence[Draw], apart: tuple[Apart, ...]) -> Iterator[_Total]:
    """Yield the totals of one rule: each of them bounds the truth. PLD has none for some draws, and for unequal parts one without parts."""
    if kind == "zcdp":
        yield ZcdpAccountant().compose(event_of(draws, apart))
        pure = [draw for draw in draws if draw.delta.value == 0]
        if pure and len(pure) < len(draws):
            others = [draw for draw in draws if draw.delta.value != 0]
            added = PureAccountant().compose(event_of(pure, apart)).spent.value
            yield _Beside(added, ZcdpAccountant().compose(event_of(others, apart)))
        return
    for event in (event_of(draws, apart), event_of(draws)):
        if PldAccountant.supports(event):
            yield PldAccountant().compose(event)
            return


def covers(cost: Budget, draws: tuple[Draw, ...], accountant: str, apart: tuple[Apart, ...] = ()) -> bool:
    """Return True if a stated cost is at least what the draws cost together by the stated rule: how a ledger and an audit check
    a claim.

    Raises ValueError for an unknown rule or for parts that are not valid, InputError (D301) where PLD cannot be computed.
    """
    if accountant not in RULES:
        msg = "a total needs a known accountant"
        raise ValueError(msg)
    check_joint(draws)
    check_apart(apart, {draw.query for draw in draws})
    if accountant in {"pure", "approximate"}:
        simple = ApproximateAccountant().compose(event_of(draws, apart))
        return Budget(simple.spent_epsilon, simple.spent_delta).fits(cost)
    totals = _totals("zcdp" if accountant == "zcdp" else "pld", draws, apart)
    return any(total.delta(cost.epsilon).value <= cost.delta.value for total in totals)


def rho_of(draws: tuple[Draw, ...], apart: tuple[Apart, ...] = ()) -> tuple[Fraction, Fraction]:
    """Return the exact rho of the draws together, and the probability of a failure outside it."""
    total = ZcdpAccountant().compose(event_of(draws, apart))
    return total.rho.value, total.failure.value
