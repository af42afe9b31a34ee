"""``privrelease diff``: what changed between two policies, or between the audits of two releases."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from privrelease.cli.ci_output import from_root, repository_root, seen_from
from privrelease.cli.console import DiffFormat, PlainFormat, StopAt
from privrelease.cli.exit import Ending, ending_of
from privrelease.cli.findings_output import finding_value
from privrelease.cli.policy_inputs import STDIN, for_each, policy_inputs, stdin_text
from privrelease.errors import InputError, PrivreleaseError, UsageError
from privrelease.findings import Location
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.cli.console import Console
    from privrelease.pipeline.comparison import LoadIn
    from privrelease.policy.changes.diff import PolicyChange
    from privrelease.report.forms.results import Result

__all__ = ["diff"]


def diff(
    old: Path,
    named: Sequence[Path],
    environment: str | None,
    form: DiffFormat,
    stop: StopAt,
    console: Console,
    *,
    only_policies: bool = False,
) -> Ending:
    """Compare two policies, or two audits (``audit.json`` or folders of runs). ``old`` may be a folder of policies: the one of the same id.

    Several new policies, or a folder of them, are compared with a folder, each with its own; a policy that the folder has no longer is listed.
    A policy on stdin is read as if it was the other file: relative paths count from there.
    """
    from privrelease.cli.policy_before import holds_policies, policies_gone

    if len(named) == 1 and not only_policies and not holds_policies(named[0]):
        return _diff(old, named[0], environment, form, stop, console)
    if not old.is_dir():
        raise UsageError(
            code="C164",
            message=f"several policies are compared with a folder, and {old} is none",
            hint="name the folder that holds the policies as they were",
        )
    inputs = policy_inputs(named, console, only_policies=only_policies)
    if form is DiffFormat.JSON:
        console = replace(console, form=PlainFormat.JSON)
    heading = {DiffFormat.MARKDOWN: "### `{path}`\n\n", DiffFormat.TEXT: "== {path}"}.get(form, "")
    ending = for_each(inputs, lambda one, kept: _diff(old, one.path, environment, form, stop, kept), console, heading=heading)
    for gone in policies_gone(old, [one.path for one in inputs], [path for path in named if path.is_dir()]):
        if heading:
            console.data("\n" + heading.format(path=gone))
            console.data("No policy has this id or path any more.")
    return ending


def _diff(old: Path, new: Path, environment: str | None, form: DiffFormat, stop: StopAt, console: Console) -> Ending:
    from privrelease.cli.policy_before import holds_policies, policy_before

    if STDIN in {str(old), str(new)}:
        return _diff_stdin(old, new, environment, form, stop, console)
    if holds_policies(old) and not _is_audit(new):
        found_old = policy_before(old, new)
        if found_old is None:
            return _new_policy(old, new, form, console)
        old = found_old
    if _are_audits(old, new, environment):
        from privrelease.cli.commands.diff_audits import diff_audits

        return diff_audits(old, new, form, stop, console)
    return _diff_policies(_Sides(old, new), environment, form, stop, console)


def _diff_stdin(old: Path, new: Path, environment: str | None, form: DiffFormat, stop: StopAt, console: Console) -> Ending:
    """Compare the policy on stdin with a file."""
    file = new if str(old) == STDIN else old
    if str(file) == STDIN or file.is_dir() or _is_audit(file):
        raise UsageError(
            code="C165",
            message="the policy on stdin is compared with the file of another policy",
            hint="write e.g. `git show HEAD:policy.yaml | privrelease diff - policy.yaml`",
        )
    text = stdin_text()
    contents = (text, None) if str(old) == STDIN else (None, text)
    return _diff_policies(_Sides(old, new, file, contents), environment, form, stop, console)


@dataclass(frozen=True, slots=True)
class _Sides:
    """Two policies as they were named. ``file`` and ``contents``: where one of them was on stdin, the file that it is read as, and its text."""

    old: Path
    new: Path
    file: Path | None = None
    contents: tuple[bytes | None, bytes | None] = (None, None)

    def loaders(self) -> tuple[LoadIn, LoadIn]:
        """Return what loads each of them in an environment."""
        from privrelease.policy.loader import load_policy

        paths = (self.file or self.old, self.file or self.new)
        first, second = (
            partial(load_policy, path, content=text, label=None if text is None else STDIN)
            for path, text in zip(paths, self.contents, strict=True)
        )
        return first, second


def _diff_policies(sides: _Sides, environment: str | None, form: DiffFormat, stop: StopAt, console: Console) -> Ending:
    from privrelease.pipeline.comparison import compared_policies
    from privrelease.policy.changes.diff import EFFECTS

    old, new = sides.old, sides.new
    with _stopped_in_form(old, new, form, console):
        found = compared_policies(*sides.loaders(), environment, in_one_place=sides.file is not None)
    counts = {effect: sum(change.effect == effect for change in found) for effect in EFFECTS}
    match form:
        case DiffFormat.JSON:
            console.document({"old": str(old), "new": str(new), "counts": counts, "changes": [_value(one) for one in found]})
        case DiffFormat.MARKDOWN:
            console.data(_markdown(found))
        case DiffFormat.GITHUB:
            from privrelease.report.forms.github import render_annotations

            if found:
                console.data(render_annotations(from_root(map(_result, found))))
        case DiffFormat.TEXT:
            for change in found:
                console.data(str(change))
    said = ", ".join(f"{number} {effect}" for effect, number in counts.items() if number) or "nothing changed"
    stopped = (counts["weaker"] and stop is not StopAt.NEVER) or (counts["breaking"] and stop is StopAt.BREAKING)
    return Ending(1 if stopped else 0, said)


def _new_policy(old: Path, new: Path, form: DiffFormat, console: Console) -> Ending:
    """Say that a policy is new; one that cannot be loaded is refused as ever."""
    from privrelease.policy.changes.diff import EFFECTS
    from privrelease.policy.loader import load_policy

    with _stopped_in_form(old, new, form, console):
        load_policy(new)
    if form is DiffFormat.JSON:
        console.document({"old": None, "new": str(new), "counts": dict.fromkeys(EFFECTS, 0), "changes": []})
    elif form in {DiffFormat.MARKDOWN, DiffFormat.TEXT}:
        console.data("A new policy: there is nothing to compare it with.")
    return Ending(0, f"no policy below {old} has the id of {new.name}: it is new")


@contextmanager
def _stopped_in_form(old: Path, new: Path, form: DiffFormat, console: Console) -> Iterator[None]:
    """A policy that cannot be compared is reported on stdout too, where a pipeline reads it. The error is raised again."""
    try:
        yield
    except PrivreleaseError as error:
        findings = ending_of(error).findings
        if form is DiffFormat.JSON:
            console.document({"old": str(old), "new": str(new), "findings": [*map(finding_value, findings)]})
        elif form is DiffFormat.GITHUB:
            from privrelease.report.forms.github import render_annotations
            from privrelease.report.forms.results import results_of_policy

            console.data(render_annotations(from_root(results_of_policy(findings))))
        elif form is DiffFormat.MARKDOWN:
            from privrelease.report.forms.markdown import render_results_markdown
            from privrelease.report.forms.results import results_of_policy

            console.data("It cannot be compared: the policy, or what it was, is not valid.\n\n")
            console.data(render_results_markdown(from_root(results_of_policy(findings))))
        raise


def _are_audits(old: Path, new: Path, environment: str | None) -> bool:
    """Return True if audits are compared, not policies. Raises UsageError (C142, C143), InputError (C301): one of each, or none
    of either.
    """
    audits = [_is_audit(path) for path in (old, new)]
    if not all(audits):
        if any(audits):
            audit, other = (old, new) if audits[0] else (new, old)
            if not other.exists():
                raise InputError(
                    code="C301",
                    message="there is no such file or folder",
                    hint="name an audit.json, or the folder of a run that holds internal/audit.json",
                    location=Location(str(other)),
                )
            raise UsageError(
                code="C142",
                message=f"{audit} is read as an audit, {other} as a policy: they cannot be compared",
                hint="name two policies, or two audits (an audit.json or the folder of a run each)",
            )
        return False
    if environment is not None:
        raise UsageError(code="C143", message="--env is for policies: an audit is of one environment", hint="leave out --env")
    return True


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
    root = repository_root(Path.cwd())
    for one in changes:
        place = replace(one.location, file=seen_from(root, one.location.file) or one.location.file)
        lines.append(f"| {marks[one.effect]} {one.effect} | {escaped(one.message)} | {escaped(str(place))} |")
    return "\n".join(lines)
