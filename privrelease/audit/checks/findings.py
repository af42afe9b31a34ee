"""Findings of other rooms as JSON.

Shares as per cent in sentences: never rounded to nothing or to everything where they are not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypedDict

from privrelease.audit.document.model import FindingRecord
from privrelease.audit.document.sentences import coded

if TYPE_CHECKING:
    from privrelease.findings import Finding, Location

__all__ = ["Place", "finding_record", "per_cent", "place"]


class Place(TypedDict):
    """Place of a text in a file, as the fields of a finding or a check; line and column 0 where unknown."""

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
        message_coded=coded(finding.message),
        severity=finding.severity.value,
        hint=finding.hint,
        subject=finding.subject,
        **place(finding.location),
    )


_LEAST = Fraction(1, 10**6)


def per_cent(share: Fraction) -> str:
    """Write a share in [0, 1] as per cent, with six significant digits.

    >>> per_cent(Fraction(1, 3)), per_cent(Fraction(1)), per_cent(Fraction(1, 10**9)), per_cent(1 - Fraction(1, 10**9))
    ('33.3333 %', '100 %', 'less than 0.0001 %', 'more than 99.9999 %')
    """
    if 0 < share < _LEAST:
        return "less than 0.0001 %"
    if 1 - _LEAST < share < 1:
        return "more than 99.9999 %"
    return f"{float(100 * share):.6g} %"
