"""Findings of an audit, reported on stderr: place, code, what is wrong, what to do.

Values for machines: what ``--format json`` prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.findings import Location, one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from privrelease.audit.document.model import FindingRecord
    from privrelease.cli.console import Console
    from privrelease.findings import Finding

__all__ = ["finding_value", "record_value", "report_findings"]


def report_findings(findings: Iterable[FindingRecord], console: Console, *, but: Collection[str] = ()) -> None:
    """Log findings, errors also where little is said; those about the subjects ``but`` are reported elsewhere."""
    for finding in findings:
        if finding.subject in but:
            continue
        where = f"{Location(finding.file, finding.line, finding.column)}: " if finding.file and finding.line else ""
        mark = "" if finding.severity == "error" else f"{finding.severity}: "
        level = -1 if finding.severity == "error" else 0
        console.log(f"{where}{finding.code} {mark}{one_line(finding.message)}", level=level)
        if finding.hint:
            console.log(f"hint: {one_line(finding.hint)}", level=level)


def finding_value(finding: Finding) -> dict[str, object]:
    """Return a finding as plain data; ``line`` and ``column`` count from 1, 0 where unknown."""
    where = finding.location
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "subject": finding.subject,
        "file": None if where is None else where.file,
        "line": 0 if where is None else where.line,
        "column": 0 if where is None else where.column,
    }


def record_value(record: FindingRecord) -> dict[str, object]:
    """Return a finding of an audit in the same form."""
    value = record.model_dump(mode="json", include={"code", "severity", "message", "hint", "subject", "file", "line", "column"})
    return {name: value[name] for name in ("code", "severity", "message", "hint", "subject", "file", "line", "column")}
