"""The checks of a release: what the policy asks of it, values typed, limits exact."""

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

__all__ = ["check_plans"]

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
