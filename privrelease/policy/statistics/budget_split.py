"""The budget that each query of a release may spend, so that together they cost what the policy says: never above it, and as
near as can be.

A query with an ``epsilon`` of its own gets that. The others get a unit times their ``share``. By the sum of all the unit is what is left of
the budget; where the accountant of the release makes the total less than the sum, the unit grows until the total meets the budget: the same
promise with less noise. A unit is taken only after the total was computed for it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from privrelease.dp.accountants.pld import PldAccountant, check_available
from privrelease.dp.bounds import rounded_down
from privrelease.dp.budget import Budget, Request, split
from privrelease.dp.calibration import draws
from privrelease.dp.composition import Apart, apart_of, composed
from privrelease.dp.queries import PrivateKeys, Setting, needs_delta
from privrelease.dp.rules import GREATEST_EPSILON, LEAST_EPSILON, check_delta
from privrelease.errors import PolicyError
from privrelease.policy.statistics.query_errors import Fault
from privrelease.units import Epsilon
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from privrelease.dp.composition import Accounting, Composed
    from privrelease.dp.draws import Draw
    from privrelease.dp.queries import Noise, Query
    from privrelease.policy.language.statistics import QuerySpec, StatisticsRelease
    from privrelease.relational.filters import Filter

__all__ = ["Spending", "rule_of", "spending"]

#: A unit that would grow by less than this share stays what it is.
_WORTH: Final = Fraction(1001, 1000)
#: Halvings of the span in which the unit lies.
_STEPS: Final = 17
#: Digits of a unit, less one.
_DIGITS: Final = 6

#: A query as it is asked, what it asks of the budget, and the law of its noise.
_Asked: TypeAlias = "tuple[Query, Request, Noise]"


@dataclass(frozen=True, slots=True)
class Spending:
    """By query its part of the budget and its draws; by which rule they add up, and which of them no person can be in together."""

    rule: Accounting
    apart: tuple[Apart, ...]
    parts: tuple[tuple[Budget, tuple[Draw, ...]], ...]


def rule_of(release: StatisticsRelease, queries: list[tuple[QuerySpec, Query, Filter | None]]) -> Accounting:
    """Return the accountant of a release: the policy's; else zCDP where a query needs a delta anyway, and where none does the sum."""
    if release.budget.accounting is not None:
        return release.budget.accounting
    return "zcdp" if any(needs_delta(query, spec.mechanism) for spec, query, _ in queries) else "approximate"


def spending(
    release: StatisticsRelease, setting: Setting, whole: Budget, queries: list[tuple[QuerySpec, Query, Filter | None]]
) -> tuple[Spending | None, tuple[Fault, ...]]:
    """Return what each query may spend, or what is wrong. Raises InputError (D301) where PLD is asked for and dp-accounting is missing."""
    if faults := _accounting_faults(release, whole, queries):
        return None, faults
    rule = rule_of(release, queries)
    if rule == "pld":
        check_available()
    asked = tuple((query, _request(spec, query), spec.mechanism) for spec, query, _ in queries)
    apart = apart_of([(spec.id, where) for spec, _, where in queries if not spec.fresh], setting)
    try:
        parts = _parts(_Problem(asked, setting, whole, rule, apart))
    except PolicyError as error:
        return None, tuple(
            Fault(one.code, one.message, _budget_place(release, one.subject), one.hint) for one in error.findings
        )
    found: list[tuple[Budget, tuple[Draw, ...]]] = []
    faults = ()
    for number, ((query, _, noise), part) in enumerate(zip(asked, parts, strict=True)):
        try:
            found.append((part, draws(query, setting, part, noise)))
        except PolicyError as error:
            faults += tuple(Fault(one.code, one.message, ("queries", number), one.hint) for one in error.findings)
    if faults:
        return None, faults
    return Spending(rule, apart, tuple(found)), _unbounded(rule, tuple(found))


def _unbounded(rule: Accounting, parts: tuple[tuple[Budget, tuple[Draw, ...]], ...]) -> tuple[Fault, ...]:
    """Warn of a query that PLD has no bound for: the release then has none."""
    if rule != "pld":
        return ()
    drawn = (draw for _, several in parts for draw in several)
    name = next((draw.query for draw in drawn if not PldAccountant.supports(draw.event)), None)
    if name is None:
        return ()
    message = f"PLD has no bound for the Gaussian noise of query {name}: the total is stated by zCDP"
    hint = "use `mechanism: laplace` there, or write `accounting: zcdp`"
    return (Fault("P710", message, ("budget", "accounting"), hint, warn=True),)


def _request(spec: QuerySpec, query: Query) -> Request:
    return Request(
        spec.id,
        None if spec.epsilon is None else Epsilon(spec.epsilon),
        None if spec.share is None else Fraction(spec.share),
        needs_delta(query, spec.mechanism),
    )


def _accounting_faults(
    release: StatisticsRelease, whole: Budget, queries: list[tuple[QuerySpec, Query, Filter | None]]
) -> tuple[Fault, ...]:
    if whole.delta.value == 0 and any(isinstance(query.by, PrivateKeys) for _, query, _ in queries):
        needed = check_delta(whole.delta, needed_by="threshold")
        return tuple(Fault(one.code, one.message, ("budget", "delta"), one.hint) for one in needed)
    accounting = release.budget.accounting
    place = ("budget", "accounting")
    if accounting == "pure":
        asking = next((spec.id for spec, query, _ in queries if needs_delta(query, spec.mechanism)), None)
        if asking is not None:
            message = f"query {asking} needs a delta, and pure accounting has none"
            return (Fault("DP122", message, place, "write `accounting: zcdp`, or use mechanism: laplace and declared keys"),)
        if whole.delta.value > 0:
            message = "pure accounting spends no delta"
            return (Fault("DP104", message, ("budget", "delta"), "remove `delta`, or write `accounting: zcdp`"),)
    if accounting in {"zcdp", "pld"} and whole.delta.value == 0:
        message = f"{accounting} accounting states its total at a delta above 0"
        return (Fault("DP103", message, place, "write a delta, e.g. delta: 1e-6, or remove `accounting`", key=True),)
    return ()


def _budget_place(release: StatisticsRelease, subject: str) -> tuple[str | int, ...]:
    if subject.startswith("budget."):
        return tuple(subject.split("."))
    number = next((n for n, spec in enumerate(release.queries) if spec.id == subject), None)
    return ("budget",) if number is None else ("queries", number)


# ------------------------------------------------------------------------------------------------------------------ the unit


@dataclass(frozen=True, slots=True)
class _Problem:
    """The requests made of a budget."""

    asked: tuple[_Asked, ...]
    setting: Setting
    whole: Budget
    rule: Accounting
    apart: tuple[Apart, ...]

    @property
    def requests(self) -> list[Request]:
        return [request for _, request, _ in self.asked]

    def cost(self, unit: Fraction) -> Composed | None:
        """Return what all queries cost together with this unit; None where one of them cannot be."""
        try:
            parts = split(self.whole, self.requests, unit)
            drawn = tuple(
                draw
                for (query, _, noise), part in zip(self.asked, parts, strict=True)
                for draw in draws(query, self.setting, part, noise)
            )
        except PolicyError:
            return None
        return composed(drawn, self.rule, self.whole, self.apart)

    def fits(self, unit: Fraction) -> bool:
        """Return True if that is at most the budget."""
        found = self.cost(unit)
        return found is not None and found.within(self.whole)


@lru_cache(maxsize=64)
def _parts(problem: _Problem) -> tuple[Budget, ...]:
    """Return each query's part. Raises PolicyError where the queries ask for more than there is."""
    whole, requests = problem.whole, problem.requests
    sharing = next((number for number, request in enumerate(requests) if request.epsilon is None), None)
    gains = problem.rule in {"zcdp", "pld"} or bool(problem.apart)
    try:
        parts = split(whole, requests)
    except PolicyError as error:
        if not gains or not any(one.code == "DP105" and one.subject == "budget.epsilon" for one in error.findings):
            raise
        unit = _first(problem, whole.epsilon.value)
        if unit is None:
            raise
    else:
        if not gains or sharing is None:
            return parts
        unit = parts[sharing].epsilon.value / (requests[sharing].share or Fraction(1))
        if not problem.fits(unit * _WORTH):
            return parts
    return split(whole, requests, unit if sharing is None else _largest(problem, unit))


def _first(problem: _Problem, unit: Fraction) -> Fraction | None:
    """Return some unit that fits, ``unit`` or below; None where even the least does not."""
    if all(request.epsilon is not None for request in problem.requests):
        return unit if problem.fits(unit) else None
    while unit >= LEAST_EPSILON:
        if problem.fits(unit):
            return unit
        unit /= 2
    return None


def _largest(problem: _Problem, unit: Fraction) -> Fraction:
    """Return about the largest unit that fits, ``unit`` or above, short in decimals; computed with, never taken for granted."""
    low, high = unit, 2 * unit
    while high <= GREATEST_EPSILON and problem.fits(high):
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if problem.fits(middle):
            low = middle
        else:
            high = middle
    short = rounded_down(low, 10 ** max(0, _DIGITS - math.floor(math.log10(low))))
    best = _exact(problem, low) or short
    return best if best >= unit and problem.fits(best) else low


def _exact(problem: _Problem, unit: Fraction) -> Fraction | None:
    """Return the unit at which a sum meets the budget, on the line through two units; None where no sum states the total."""
    before = unit * (1 - Fraction(1, 1000))
    costs = [problem.cost(before), problem.cost(unit)]
    epsilons = [one.cost.epsilon.value for one in costs if one is not None and one.accountant in {"pure", "approximate"}]
    if len(epsilons) < len(costs) or epsilons[0] == epsilons[1]:
        return None
    return unit + (problem.whole.epsilon.value - epsilons[1]) * (unit - before) / (epsilons[1] - epsilons[0])
