"""Proof of whether two filters can hold of one row: a proof from the typed trees alone, on which parallel composition rests.

Kleene logic: NOT is pushed down to the comparisons by De Morgan, which keeps where a filter is true; each filter becomes a list of
branches, each branch a list of tests that all hold; two filters are disjoint if every pair of branches contradicts itself in some column.
A column contradicts itself where its tests leave no value: present and missing at once, an empty interval, no allowed value left.

What is not proven counts as overlapping, so that the answer can only be too careful. An engine compares numbers as doubles, where two
decimals may be one: a contradiction between numbers has to hold both for the decimals and for the doubles nearest to them.
"""

from __future__ import annotations

from dataclasses import field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.relational.filters import Filter, Value

__all__ = ["disjoint"]

#: Filters of more branches than this are not looked into: they count as overlapping.
_MOST: Final = 64

_OPPOSITE: Final = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

#: A test of one column: an operator of a comparison with its value, ``in`` or ``out`` with values, ``missing`` or ``there``.
_Test: TypeAlias = "tuple[str, str, tuple[Value, ...]]"


def disjoint(one: Filter, other: Filter) -> bool:
    """Return True where no row can satisfy both filters; False where one may, or where it is not proven.

    >>> disjoint(Comparison("age", "<", 40), Both(Comparison("age", ">=", 40), Comparison("sex", "=", "F")))
    True
    >>> disjoint(Comparison("age", "<", 40), Comparison("sex", "=", "F"))
    False
    """
    first, second = _branches(one, holds=True), _branches(other, holds=True)
    if first is None or second is None:
        return False
    return all(_contradict((*left, *right)) for left in first for right in second)


def _branches(of: Filter, *, holds: bool) -> tuple[tuple[_Test, ...], ...] | None:
    """Return the branches under which a filter is true (``holds`` False: is false); None where there are too many."""
    match of:
        case Negated(inner):
            return _branches(inner, holds=not holds)
        case Both(left, right) | Either(left, right):
            first, second = _branches(left, holds=holds), _branches(right, holds=holds)
            if first is None or second is None:
                return None
            together = isinstance(of, Both) is holds
            found = tuple((*a, *b) for a in first for b in second) if together else first + second
            return found if len(found) <= _MOST else None
        case Missing(column):
            return (((column, "missing" if holds else "there", ()),),)
        case Among(column, values):
            return (((column, "in" if holds else "out", values),),)
        case Comparison(column, operator, value):
            return (((column, operator if holds else _OPPOSITE[operator], (value,)),),)


def _contradict(tests: tuple[_Test, ...]) -> bool:
    """Return True if no row passes all of the tests."""
    by_column: dict[str, list[_Test]] = {}
    for test in tests:
        by_column.setdefault(test[0], []).append(test)
    return any(_nothing_left(together) for together in by_column.values())


@dataclass(frozen=True, slots=True)
class _Left:
    """The values that tests leave: between ``low`` and ``high`` (whether they are in), among ``allowed``, none of ``refused``."""

    low: tuple[Any, bool] | None = None
    high: tuple[Any, bool] | None = None
    allowed: frozenset[Any] | None = None
    refused: frozenset[Any] = field(default=frozenset())

    def above(self, value: Any, *, among: bool) -> _Left:  # noqa: ANN401 - values of one column compare
        if self.low is None or value > self.low[0] or (value == self.low[0] and not among):
            return replace(self, low=(value, among))
        return self

    def below(self, value: Any, *, among: bool) -> _Left:  # noqa: ANN401 - values of one column compare
        if self.high is None or value < self.high[0] or (value == self.high[0] and not among):
            return replace(self, high=(value, among))
        return self

    def only(self, values: frozenset[Any]) -> _Left:
        return replace(self, allowed=values if self.allowed is None else self.allowed & values)

    def without(self, values: frozenset[Any]) -> _Left:
        return replace(self, refused=self.refused | values)

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - values of one column compare
        over = self.low is None or value > self.low[0] or (value == self.low[0] and self.low[1])
        under = self.high is None or value < self.high[0] or (value == self.high[0] and self.high[1])
        return over and under and value not in self.refused

    @property
    def is_empty(self) -> bool:
        if self.allowed is not None:
            return not any(self.holds(value) for value in self.allowed)
        if self.low is None or self.high is None:
            return False
        if isinstance(self.low[0], int) and isinstance(self.high[0], int):
            first, last = self.low[0] + (not self.low[1]), self.high[0] - (not self.high[1])
            return first > last or (first == last and first in self.refused)
        return self.low[0] > self.high[0] or (self.low[0] == self.high[0] and not self.holds(self.low[0]))


def _nothing_left(tests: list[_Test]) -> bool:
    """Return True if tests of one column leave no value, missing or not."""
    missing = any(operator == "missing" for _, operator, _ in tests)
    if missing:  # every other test needs a value
        return any(operator != "missing" for _, operator, _ in tests)
    values = [value for _, _, several in tests for value in several]
    kinds = {type(value) for value in values}
    if len(kinds) > 1:
        return False
    if kinds == {Decimal}:
        return all(_left(tests, key).is_empty for key in (_exact, float))
    return _left(tests, _exact).is_empty


def _exact(value: Any) -> Any:  # noqa: ANN401 - any value of a filter
    return value


def _left(tests: list[_Test], key: Callable[[Any], Any]) -> _Left:
    left = _Left()
    for _, operator, several in tests:
        values = frozenset(map(key, several))
        if operator in {"in", "="}:
            left = left.only(values)
        elif operator in {"out", "<>"}:
            left = left.without(values)
        elif operator in {">", ">="}:
            left = left.above(key(several[0]), among=operator == ">=")
        elif operator in {"<", "<="}:
            left = left.below(key(several[0]), among=operator == "<=")
    return left
