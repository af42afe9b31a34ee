"""The codes of bad input to a DP release, and the checks of budgets; findings are returned, constructors raise them as PolicyError.

=====  ====================================================================================================================
DP101  epsilon is 0 or negative
DP102  epsilon is out of the range in which a release makes sense and a sampler's numbers stay in bounds (1e-6 to 100)
DP103  delta is 0 where Gaussian noise or a thresholded selection needs one
DP104  delta is out of range (1e-30 to 1), or given where nothing needs it
DP105  the budgets of the queries exceed the budget of the release
DP106  a share is not a positive number
DP107  delta is so large that it lets single records through (warning above 1e-3)
DP108  delta is so large that nothing is promised (0.01 or more)
DP111  a bound (lower or upper) is missing
DP112  the bounds are equal
DP113  the bounds are swapped
DP114  a bound or bin edge is not a finite number
DP115  a bound, or what represents missing values, is not a multiple of the grid, or the grid is not a positive number
DP116  the bounds span so many grid steps that sums could overflow
DP117  bins: an edge twice, out of order or too few
DP118  a category domain is empty or names a value twice
DP119  a quantile is not strictly between 0 and 1
DP121  the unit has no ``max_rows``
DP122  mechanism and query do not fit
DP123  too many cells or candidates
DP124  rho of a draw from an envelope is 0, or too small to draw with
DP125  a choice without a candidate
=====  ====================================================================================================================
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from privrelease.errors import PolicyError
from privrelease.findings import Finding, Severity

if TYPE_CHECKING:
    from privrelease.units import Delta, Epsilon

__all__ = ["CODES", "GREATEST_EPSILON", "LEAST_EPSILON", "check_delta", "check_epsilon", "check_unit", "refuse", "refuse_any"]

#: Every code of this room, in the order of the table above; append-only.
CODES: Final = (
    *(f"DP10{n}" for n in range(1, 9)),
    *(f"DP11{n}" for n in range(1, 10)),
    "DP121",
    "DP122",
    "DP123",
    "DP124",
    "DP125",
)

LEAST_EPSILON: Final = Fraction(1, 10**6)
GREATEST_EPSILON: Final = Fraction(100)
_LEAST_DELTA: Final = Fraction(1, 10**30)
_LARGE_DELTA: Final = Fraction(1, 1000)
#: A mechanism that publishes each person's record as it is with probability delta keeps (0, delta): at 0.01 that is a hundred of 10,000
#: persons. NIST SP 800-226 wants delta far below 1 / number of persons, and no release of a hundred persons or fewer could do with more.
_ABSURD_DELTA: Final = Fraction(1, 100)


def refuse(code: str, message: str, *, hint: str | None = None, subject: str = "") -> NoReturn:
    """Raise a PolicyError with this one finding."""
    raise PolicyError([Finding(code, message, hint=hint, subject=subject)])


def refuse_any(findings: tuple[Finding, ...]) -> None:
    """Raise the findings that are errors, if any."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise PolicyError(errors)


def check_epsilon(epsilon: Epsilon, *, subject: str = "") -> tuple[Finding, ...]:
    """Return what is wrong with an epsilon that is to be spent.

    >>> from privrelease.units import Epsilon
    >>> print(check_epsilon(Epsilon("1e-300"))[0].code)
    DP102
    """
    if epsilon.value <= 0:
        return (
            Finding("DP101", "epsilon must be above 0", hint="write the budget to spend, e.g. epsilon: 0.5", subject=subject),
        )
    if epsilon.value < LEAST_EPSILON:
        message = "epsilon is below 0.000001: the noise would drown any figure"
        return (Finding("DP102", message, hint="write an epsilon between 0.000001 and 100", subject=subject),)
    if epsilon.value > GREATEST_EPSILON:
        message = f"epsilon is above {GREATEST_EPSILON}: it would promise nothing"
        return (Finding("DP102", message, hint="write an epsilon between 0.000001 and 100", subject=subject),)
    return ()


def check_delta(
    delta: Delta, *, needed_by: Literal["gaussian", "threshold"] | None = None, subject: str = ""
) -> tuple[Finding, ...]:
    """Return what is wrong with a delta; ``needed_by`` says what cannot do without one."""
    if delta.value == 0:
        if needed_by is None:
            return ()
        what = "Gaussian noise" if needed_by == "gaussian" else "publishing private group keys"
        hint = (
            "write a delta, e.g. delta: 1e-6, or use mechanism: laplace"
            if needed_by == "gaussian"
            else "write a delta, e.g. delta: 1e-6, or declare the keys"
        )
        return (Finding("DP103", f"{what} needs a delta above 0", hint=hint, subject=subject),)
    if delta.value < _LEAST_DELTA or delta.value >= 1:
        return (Finding("DP104", "delta must be 0 or between 1e-30 and 1", hint="write a delta such as 1e-6", subject=subject),)
    if delta.value >= _ABSURD_DELTA:
        message = "delta is 0.01 or more: with that probability a person's whole record may be published as it is"
        return (Finding("DP108", message, hint="choose a delta well below 1 / number of persons, e.g. 1e-6", subject=subject),)
    if delta.value > _LARGE_DELTA:
        message = "delta is above 0.001: with that probability single records may leave as they are"
        return (
            Finding("DP107", message, Severity.WARN, hint="choose a delta well below 1 / number of persons", subject=subject),
        )
    return ()


def check_unit(max_rows: int | None, *, subject: str = "") -> tuple[Finding, ...]:
    """Return what is wrong with the unit of a DP release: without ``max_rows`` no sensitivity is finite, whatever the data holds."""
    if max_rows is None:
        message = "the unit has no max_rows: one person could move any figure without limit"
        return (Finding("DP121", message, hint="write unit: {column: …, max_rows: 1}", subject=subject),)
    if max_rows < 1:
        return (Finding("DP121", "max_rows must be at least 1", hint="write unit: {column: …, max_rows: 1}", subject=subject),)
    return ()
