"""Findings of other rooms as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.audit.model import FindingRecord

if TYPE_CHECKING:
    from privrelease.findings import Finding

__all__ = ["finding_record"]


def finding_record(finding: Finding) -> FindingRecord:
    """Give a finding of another room as JSON."""
    place = finding.location
    return FindingRecord(
        code=finding.code,
        message=finding.message,
        severity=finding.severity.value,
        hint=finding.hint,
        subject=finding.subject,
        file=None if place is None else place.file,
        line=0 if place is None else place.line,
        column=0 if place is None else place.column,
    )
