"""GitHub Actions: annotations as workflow commands on stdout; the job summary is the Markdown form.

Source: GitHub, "Workflow commands for GitHub Actions": values are escaped so that no text of a policy starts a command of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.report.forms.results import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.report.forms.results import Result

__all__ = ["render_annotations"]

_COMMANDS = {"error": "error", "warn": "warning", "info": "notice"}


def _data(text: str) -> str:
    r"""Escape a message.

    >>> _data("50 %\n::error::x")
    '50 %25%0A::error::x'
    """
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def render_annotations(results: Sequence[Result]) -> str:
    """Return a line per result. A waived one is a notice, with the waiver's expiry."""
    return "".join(f"{_annotation(result)}\n" for result in results)


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
