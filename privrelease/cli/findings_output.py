"""What an audit found, told on stderr: place, code, what is wrong, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from privrelease.audit.document.model import FindingRecord
    from privrelease.cli.console import Console

__all__ = ["report_findings"]


def report_findings(findings: Iterable[FindingRecord], console: Console, *, but: Collection[str] = ()) -> None:
    """Log findings, errors also where little is said; those about the subjects ``but`` are told elsewhere."""
    for finding in findings:
        if finding.subject in but:
            continue
        where = f"{finding.file}:{finding.line}:{finding.column}: " if finding.file and finding.line else ""
        mark = "" if finding.severity == "error" else f"{finding.severity}: "
        level = -1 if finding.severity == "error" else 0
        console.log(f"{where}{finding.code} {mark}{finding.message}", level=level)
        if finding.hint:
            console.log(f"hint: {finding.hint}", level=level)
