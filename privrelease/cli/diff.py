"""``privrelease diff``: what changed between two policies, or between the audits of two releases."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from privrelease.cli.ending import Ending

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.policy.diff import PolicyChange
    from privrelease.report.changes import ChangeRow
    from privrelease.report.forms.results import Result

__all__ = ["DiffFormat", "StopAt", "diff"]


class DiffFormat(StrEnum):
    """Form of what goes to stdout."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"


class StopAt(StrEnum):
    """What makes the exit code 1: ``breaking`` stops at what weakens, too."""

    NEVER = "never"
    WEAKER = "weaker"
    BREAKING = "breaking"


def diff(old: Path, new: Path, environment: str | None, form: DiffFormat, stop: StopAt, console: Console) -> Ending:
    """Compare two policies, or two audits (``audit.json`` or folders of runs)."""
    if _is_audit(old) and _is_audit(new):
        return _audits(old, new, form, stop, console)
    from privrelease.policy.diff import EFFECTS, environment_changes, policy_changes, sorted_changes
    from privrelease.policy.loader import load_policy

    before, after = load_policy(old, env=environment), load_policy(new, env=environment)
    found = policy_changes(before, after)
    if environment is None:
        over = [{name: load_policy(path, env=name) for name in one.environments} for path, one in ((old, before), (new, after))]
        found = sorted_changes((*found, *environment_changes(over[0], over[1], after, found)))
    counts = {effect: sum(change.effect == effect for change in found) for effect in EFFECTS}
    match form:
        case DiffFormat.JSON:
            console.document({"old": str(old), "new": str(new), "counts": counts, "changes": [_value(one) for one in found]})
        case DiffFormat.MARKDOWN:
            console.data(_markdown(found))
        case DiffFormat.GITHUB:
            from privrelease.report.forms.github import render_annotations

            console.data(render_annotations([_result(one) for one in found]))
        case DiffFormat.TEXT:
            for change in found:
                console.data(str(change))
    said = ", ".join(f"{number} {effect}" for effect, number in counts.items() if number) or "nothing changed"
    stopped = (counts["weaker"] and stop is not StopAt.NEVER) or (counts["breaking"] and stop is StopAt.BREAKING)
    return Ending(1 if stopped else 0, said)


def _is_audit(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".json"


def _value(change: PolicyChange) -> dict[str, object]:
    place = change.location
    return {
        "effect": change.effect,
        "subject": change.subject,
        "message": change.message,
        "file": place.file,
        "line": place.line,
        "column": place.column,
    }


def _result(change: PolicyChange) -> Result:
    from privrelease.report.forms.results import Result

    level: Literal["warn", "info"] = "warn" if change.effect in {"weaker", "breaking"} else "info"
    place = change.location
    return Result(change.effect, level, change.message, None, change.subject, place.file, place.line, place.column)


def _markdown(changes: tuple[PolicyChange, ...]) -> str:
    from privrelease.report.forms.markdown import escaped

    if not changes:
        return "The policy says the same."
    marks = {"weaker": "⚠️", "breaking": "💥", "stricter": "🔒", "neutral": "▫️"}
    lines = ["| Effect | Change | Where |", "|---|---|---|"]
    lines += [
        f"| {marks[one.effect]} {one.effect} | {escaped(one.message)} | {escaped(str(one.location))} |" for one in changes
    ]
    return "\n".join(lines)


def _audits(old: Path, new: Path, form: DiffFormat, stop: StopAt, console: Console) -> Ending:
    from privrelease.audit.differences import differences
    from privrelease.report.catalogue import english
    from privrelease.report.changes import change_rows
    from privrelease.report.json_report import read_audit

    audits = [read_audit(path / "internal" / "audit.json" if path.is_dir() else path) for path in (old, new)]
    found = differences(*audits)
    rows = change_rows(found, english())
    if form is DiffFormat.JSON:
        console.document({"old": str(old), "new": str(new), "changes": [one.model_dump(mode="json") for one in found]})
    elif form is DiffFormat.MARKDOWN:
        console.data(_rows_markdown(rows))
    else:
        for row in rows:
            about = f" of {row.about}" if row.about else ""
            console.data(f"{row.effect}: {row.label}{about}: {row.before} -> {row.after}")
    worse = sum(one.effect == "worse" for one in found)
    said = f"{len(found)} changes, {worse} for the worse" if found else "nothing changed"
    return Ending(1 if worse and stop is not StopAt.NEVER else 0, said)


def _rows_markdown(rows: tuple[ChangeRow, ...]) -> str:
    from privrelease.report.forms.markdown import escaped

    lines = ["| Effect | What | Before | Now |", "|---|---|---|---|"]
    for row in rows:
        cells = (row.effect, f"{row.label} {row.about}", row.before, row.after)
        lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
    return "\n".join(lines)
