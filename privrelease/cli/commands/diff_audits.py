"""``privrelease diff`` of the audits of two releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.cli.console import DiffFormat, StopAt
from privrelease.cli.exit import Ending

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.report.forms.results import Result
    from privrelease.report.view.changes import ChangeRow

__all__ = ["diff_audits"]

_EFFECTS = ("worse", "better", "changed")


def diff_audits(old: Path, new: Path, form: DiffFormat, stop: StopAt, console: Console) -> Ending:
    """Compare two audits. Raises InputError (C301, C302): one cannot be read; UsageError (C144): only one is the edition for recipients."""
    from privrelease.pipeline.comparison import comparable_audit, compared_audits
    from privrelease.report.view.changes import change_rows
    from privrelease.texts.catalogue import english

    found = compared_audits((comparable_audit(old), comparable_audit(new)), (str(old), str(new)))
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
