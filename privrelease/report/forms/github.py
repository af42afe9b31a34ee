"""GitHub Actions: annotations as workflow commands on stdout; the job summary is the Markdown form.

Source: GitHub, "Workflow commands for GitHub Actions": values are escaped so that no text of a policy starts a command of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.forms.results import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from privrelease.audit.document.model import State
    from privrelease.report.forms.results import Case, Result

__all__ = ["render_annotations"]

#: States in which a check was not made, and what is said of them.
_UNMADE: dict[State, str] = {"not_assessed": "not assessed", "not_asked": "not asked for"}
_COMMANDS = {"error": "error", "warn": "warning", "info": "notice"}


def _data(text: str) -> str:
    r"""Escape a message.

    >>> _data("50 %\n::error::x")
    '50 %25%0A::error::x'
    """
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def render_annotations(results: Sequence[Result], cases: Sequence[Case] = ()) -> str:
    """Return a line per result; a waived one is a notice, with the waiver's expiry. Then, for each release, a notice that names what was not
    assessed of its ``cases`` and one that names what was not asked for: GitHub shows few annotations of a step, so that no check has a line of its own.
    """
    lines = [*map(_annotation, results), *_unmade(cases)]
    return "".join(f"{line}\n" for line in lines)


def _unmade(cases: Sequence[Case]) -> Iterator[str]:
    for release in dict.fromkeys(case.suite for case in cases):
        for state, words in _UNMADE.items():
            names = [case.name for case in cases if case.suite == release and case.state == state]
            if names:
                title, message = _property(f"{words} {release}".strip()), _data(f"{words} ({len(names)}): {', '.join(names)}")
                yield f"::notice title={title}::{message}"


def _annotation(result: Result) -> str:
    title = f"{result.code} {result.release}".strip()
    properties = {"title": title}
    if result.file:
        properties["file"] = result.file
    if result.file and result.line:
        properties["line"] = str(result.line)
        if result.column:
            properties["col"] = str(result.column)
    message = result.message if result.hint is None else f"{result.message}\nhint: {result.hint}"
    command = _COMMANDS[result.level]
    if result.waiver is not None:
        said = f"waived until {result.waiver.expires}: "
        command, message = "notice", f"{said}{message.removeprefix(said)}"
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{command} {listed}::{_data(message)}"
