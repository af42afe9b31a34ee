"""Errors that stop a command: where, which rule, what is wrong, what to do.

A message never holds a cell of the data, and never a secret: an error is printed to logs that more people read than the
data. Findings (:mod:`privrelease.findings`) are returned; what is here is raised.

Exit codes are those of the command line: 1 must not be released, 2 bad usage or bad policy, 3 input or environment, 4 budget
refused, 70 a fault of ours. A release that waits for an approval (5) is an ending of a command and no error.
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.findings import Finding, Location

__all__ = [
    "BudgetError",
    "InputError",
    "InternalError",
    "PolicyError",
    "PrivreleaseError",
    "UnseenReleaseError",
    "UsageError",
]


class PrivreleaseError(Exception):
    """Base of every error that a user may see.

    ``code`` is the rule (append-only, e.g. ``D201``), ``message`` what is wrong, ``hint`` what to write or do instead,
    ``location`` the file, line and column where known.

    >>> print(InputError("D101", "the file does not exist", hint="check the path in `source`"))
    D101 the file does not exist
    hint: check the path in `source`
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, code: str, message: str, *, hint: str | None = None, location: Location | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.location = location

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy by what it holds: what was given to make it is not all known."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]  # which typeshed leaves out

    def __str__(self) -> str:
        from privrelease.findings import one_line  # which few commands load otherwise

        where = f"{self.location}: " if self.location is not None else ""
        hint = f"\nhint: {one_line(self.hint)}" if self.hint else ""
        return f"{where}{self.code} {one_line(self.message)}{hint}"


class UsageError(PrivreleaseError):
    """The command was called wrongly (exit 2)."""

    exit_code: ClassVar[int] = 2


class PolicyError(PrivreleaseError):
    """A policy that cannot be used (exit 2); holds every finding of the file, not only the first."""

    exit_code: ClassVar[int] = 2

    def __init__(self, findings: Sequence[Finding]) -> None:
        if not findings:
            msg = "a PolicyError needs at least one finding"
            raise ValueError(msg)
        first = findings[0]
        super().__init__(first.code, first.message, hint=first.hint, location=first.location)
        self.findings = tuple(findings)

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


class InputError(PrivreleaseError):
    """The data or the environment is not what the policy says (exit 3); may hold several findings."""

    exit_code: ClassVar[int] = 3

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        location: Location | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        super().__init__(code, message, hint=hint, location=location)
        self.findings = tuple(findings)

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings) if self.findings else super().__str__()


class BudgetError(PrivreleaseError):
    """The privacy budget does not allow it (exit 4)."""

    exit_code: ClassVar[int] = 4


class UnseenReleaseError(PrivreleaseError):
    """Refusal to publish what was audited without another release that is already published (exit 1)."""

    exit_code: ClassVar[int] = 1


class InternalError(PrivreleaseError):
    """A fault of ours (exit 70)."""

    exit_code: ClassVar[int] = 70
