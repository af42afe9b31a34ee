"""Errors about data and environment, as values to raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.errors import InputError, InternalError
from privrelease.findings import Location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.findings import Finding
    from privrelease.relational.schema import TableSource

__all__ = ["fault", "raise_all", "refusal", "source_refusal"]


def refusal(message: str, code: str, *, hint: str, location: Location | None = None) -> InputError:
    """Return an InputError: what is wrong and what to do, never a cell."""
    return InputError(code, message, hint=hint, location=location)


def fault(message: str) -> InternalError:
    """Return an InternalError: something that only a mistake of ours can cause."""
    return InternalError("D199", message)


def source_refusal(source: TableSource, code: str, message: str, hint: str) -> InputError:
    """Return an InputError about a source as a whole; its place is the line of the policy that names it, where known."""
    return refusal(message, code, hint=hint, location=source.location or Location(source.label))


def raise_all(findings: Sequence[Finding]) -> None:
    """Raise one InputError that holds every finding; return where there is none."""
    if findings:
        first = findings[0]
        raise InputError(first.code, first.message, hint=first.hint, location=first.location, findings=findings)
