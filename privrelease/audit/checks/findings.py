"""Findings of other rooms as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from privrelease.audit.document.model import FindingRecord

if TYPE_CHECKING:
    from privrelease.findings import Finding, Location

__all__ = ["Place", "finding_record", "place"]


class Place(TypedDict):
    """Where something was written, as the fields of a finding or a check; line and column 0 where unknown."""

    file: str | None
    line: int
    column: int


def place(location: Location | None) -> Place:
    """Give a location as these fields.

    >>> place(None)
    {'file': None, 'line': 0, 'column': 0}
    """
    if location is None:
        return {"file": None, "line": 0, "column": 0}
    return {"file": location.file, "line": location.line, "column": location.column}


def finding_record(finding: Finding) -> FindingRecord:
    """Give a finding of another room as JSON."""
    return FindingRecord(
        code=finding.code,
        message=finding.message,
        severity=finding.severity.value,
        hint=finding.hint,
        subject=finding.subject,
        **place(finding.location),
    )
