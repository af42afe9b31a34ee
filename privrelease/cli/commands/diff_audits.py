"""``privrelease diff`` of the audits of two releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.cli.commands.diff import DiffFormat, StopAt
from privrelease.cli.exit import Ending
from privrelease.errors import InputError, UsageError
from privrelease.findings import Location

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.audit.document.model import AuditResult
    from privrelease.cli.console import Console
    from privrelease.report.forms.results import Result
    from privrelease.report.view.changes import ChangeRow

__all__ = ["diff_audits"]

_EFFECTS = ("worse", "better", "changed")


def diff_audits(old: Path, new: Path, form: DiffFormat, stop: StopAt, console: Console) -> Ending:
    """Compare two audits. Raises InputError (C301, C302): one cannot be read; UsageError (C144): only one is the edition for recipients."""
    from privrelease.audit.comparison.audits import differences
    from privrelease.report.view.changes import change_rows
    from privrelease.texts.catalogue import english

    audits = [_read(path) for path in (old, new)]
    withheld = [_withholds(audit.model_dump(mode="json")) for audit in audits]
    if withheld[0] != withheld[1]:
        recipients, internal = (old, new) if withheld[0] else (new, old)
        raise UsageError(
            code="C144",
            message=f"{recipients} is the edition for recipients and {internal} the internal one: what one withholds cannot be compared",
            hint="name two audits of one edition",
        )
    found = differences(*audits)
    rows = change_rows(found, english())
    counts = {effect: sum(one.effect == effect for one in found) for effect in _EFFECTS}
    match form:
        case DiffFormat.JSON:
            changes = [one.model_dump(mode="json") for one in found]
            console.document({"old": str(old), "new": str(new), "counts": counts, "changes": changes})
        case DiffFormat.MARKDOWN:
            console.data(_markdown(rows))
        case DiffFormat.GITHUB:
            from privrelease.report.forms.github import render_annotations

            if rows:
                console.data(render_annotations([_result(row) for row in rows]))
        case DiffFormat.TEXT:
            for row in rows:
                console.data(f"{row.effect}: {_said(row)}".replace("\n", "\\n"))
    said = (
        f"{len(found)} change{'' if len(found) == 1 else 's'}, {counts['worse']} for the worse" if found else "nothing changed"
    )
    return Ending(1 if counts["worse"] and stop is not StopAt.NEVER else 0, said)


def _read(path: Path) -> AuditResult:
    """Read an audit, by its file, the folder of its run, or the folder of its reports; see that it can be compared at all."""
    from privrelease.audit.comparison.audits import differences
    from privrelease.report.forms.json_report import read_audit

    file = path
    if path.is_dir():
        beside = path / "audit.json"
        file = beside if beside.is_file() else path / "internal" / "audit.json"
    audit = read_audit(file)
    try:
        differences(audit, audit)
    except (ValueError, ArithmeticError):  # of the section's model, or of a figure that is none: neither is repeated
        raise InputError(
            code="C302",
            message="this is no audit of a known version: a section or figure cannot be read",
            hint="name the audit.json as it was written",
            location=Location(str(file)),
        ) from None
    return audit


def _withholds(value: object) -> bool:
    """Whether a figure anywhere is withheld, as in the edition for recipients."""
    from privrelease.report.view.edition import WITHHELD

    if isinstance(value, dict):
        return value.get("note") == WITHHELD or any(map(_withholds, value.values()))
    return isinstance(value, list | tuple) and any(map(_withholds, value))


def _said(row: ChangeRow) -> str:
    return f"{row.label}{f' {row.about}' if row.about else ''}: {row.before} -> {row.after}"


def _result(row: ChangeRow) -> Result:
    from privrelease.report.forms.results import Result

    return Result(row.effect, "warn" if row.status == "warn" else "info", _said(row), subject=row.about)


def _markdown(rows: tuple[ChangeRow, ...]) -> str:
    from privrelease.report.forms.markdown import escaped

    if not rows:
        return "The audits say the same."
    lines = ["| Effect | What | Before | Now |", "|---|---|---|---|"]
    for row in rows:
        cells = (row.effect, f"{row.label} {row.about}".strip(), row.before, row.after)
        lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
    return "\n".join(lines)
