"""The checks of a release: what the policy asks of it, values typed, limits exact.

Checks of a release in words, and numbers in words as their policy wrote them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privrelease.plan.model import CheckPlan
from privrelease.policy.language.expectation_values import expectation_of
from privrelease.policy.rules.expectations import is_standard, types_seen

if TYPE_CHECKING:
    from decimal import Decimal

    from privrelease.policy.language.checks import Check
    from privrelease.policy.language.kinds import Release
    from privrelease.policy.loader import LoadedPolicy

__all__ = ["check_plans", "check_words", "exact_text"]


#: Keys of a check that only say what one of our own measures looks at.
_OPTIONS = ("threat", "column", "columns", "kind", "distance")


def check_plans(loaded: LoadedPolicy, release: Release) -> tuple[CheckPlan, ...]:
    """Return the checks of a release in the order of the policy."""
    every = enumerate(loaded.policy.checks)
    return tuple(_check(loaded, index, check, release) for index, check in every if check.release == release.id)


def _exact(number: Decimal | None) -> Fraction | None:
    return None if number is None else Fraction(number)


def _check(loaded: LoadedPolicy, index: int, check: Check, release: Release) -> CheckPlan:
    place = loaded.location("checks", index)
    if is_standard(check.expect):
        types = types_seen(check, release, loaded.policy.datasets[release.from_])
        expectation = expectation_of(check, types)
        return CheckPlan(
            check.id,
            check.expect,
            severity=check.severity,
            options=expectation.parameters,
            expectation=expectation,
            mostly=_exact(check.mostly),
            on=check.on,
            location=place,
        )
    named = [(key, getattr(check, key)) for key in _OPTIONS]
    options: list[tuple[str, object]] = [(key, value) for key, value in named if value is not None]
    if check.c is not None:
        options.append(("c", Fraction(check.c)))
    return CheckPlan(
        check.id, check.expect, _exact(check.max), _exact(check.min), check.severity, tuple(options), location=place
    )


def exact_text(value: Fraction) -> str:
    """Return a fraction as an exact decimal where it is one, else as numerator/denominator.

    >>> from fractions import Fraction
    >>> exact_text(Fraction("0.05")), exact_text(Fraction(1, 3))
    ('0.05', '1/3')
    """
    denominator, digits = value.denominator, 0
    while denominator % 10 == 0 or denominator % 2 == 0 or denominator % 5 == 0:
        denominator //= 10 if denominator % 10 == 0 else 2 if denominator % 2 == 0 else 5
        digits += 1
    if denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    if digits == 0:
        return str(value.numerator)
    whole, rest = divmod(abs(value.numerator) * 10**digits // value.denominator, 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{rest:0{digits}d}"


def check_words(check: CheckPlan) -> str:
    """Say in one line what a check asks.

    >>> from privrelease.plan.model import CheckPlan
    >>> check_words(CheckPlan("A", "missing_cells", Fraction(1, 20), options=(("column", "sex"),)))
    'A: missing_cells (column sex) at most 0.05'
    >>> check_words(
    ...     CheckPlan(
    ...         "B", "expect_column_values_to_be_in_set", options=(("column", "sex"), ("value_set", ("F", "M"))), on="source"
    ...     )
    ... )
    'B: expect_column_values_to_be_in_set (column sex) (value_set F, M), on the source'
    """
    named = (("at least", check.minimum), ("at most", check.maximum), ("by a share of at least", check.mostly))
    limits = [f"{words} {exact_text(limit)}" for words, limit in named if limit is not None]
    options = "".join(f" ({key} {_option(value)})" for key, value in check.options)
    where = ", on the source" if check.on == "source" else ""
    weight = "" if check.severity == "error" else ", only a warning"
    return f"{check.id}: {check.expect}{options}{' ' if limits else ''}{' and '.join(limits)}{where}{weight}"


def _option(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(_option(part) for part in value)
    return exact_text(value) if isinstance(value, Fraction) else str(value)
