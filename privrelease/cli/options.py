"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from privrelease.cli.console import FailOn, Format, PlainFormat
from privrelease.errors import UsageError

__all__ = [
    "DataRoot",
    "Environment",
    "FailOnOption",
    "Force",
    "FormatOption",
    "KeyFile",
    "KeyVariable",
    "MemoryLimit",
    "OnlyPolicies",
    "PlainFormatOption",
    "PolicyFile",
    "PolicyFiles",
    "Quiet",
    "Releases",
    "RunId",
    "State",
    "Temp",
    "TestNoise",
    "Threads",
    "Verbose",
    "checked_memory",
]

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.", show_default=False)]
PolicyFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="POLICY...",
        help="Policy files, folders of them, or - for the text on stdin; in a folder other files are passed over.",
        show_default=False,
    ),
]
OnlyPolicies = Annotated[
    bool, typer.Option("--only-policies", help="Pass over named files that are no release policies, as in folders.")
]
Environment = Annotated[str | None, typer.Option("--env", metavar="NAME", help="Overlay this environment of the policy.")]
DataRoot = Annotated[
    Path | None,
    typer.Option(
        "--data-root",
        metavar="FOLDER",
        exists=True,
        file_okay=False,
        help="Sources may also lie below this folder, and are looked up there.",
    ),
]
State = Annotated[
    Path | None,
    typer.Option("--state", metavar="FOLDER", help="State folder. Default: .privrelease next to the policy."),
]
Releases = Annotated[
    list[str] | None, typer.Option("--release", metavar="ID", help="Only this release; may be given several times.")
]
RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="The run's id, as `list` shows it, or its folder.", show_default=False)
]
MemoryLimit = Annotated[
    str,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory the engine may use, e.g. 1GiB. The process adds about 350 MiB, and up to 0.6 KiB for each equivalence class.",
    ),
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, max=256, metavar="N", help="Threads of the engine. Default: all cores.")
]
Temp = Annotated[Path | None, typer.Option("--temp", metavar="FOLDER", help="Where the engine spills to disk.")]
TestNoise = Annotated[
    int | None,
    typer.Option(
        "--test-noise", min=0, metavar="SEED", help="Repeatable noise for tests; what it makes can never be published."
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Form of what goes to stdout.")]
PlainFormatOption = Annotated[PlainFormat, typer.Option("--format", help="Form of what goes to stdout.")]
KeyFile = Annotated[Path | None, typer.Option("--key", metavar="FILE", help="The private key, a file of mode 0600.")]
KeyVariable = Annotated[
    str | None, typer.Option("--key-env", metavar="NAME", help="The environment variable that holds the private key.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a result that exists; never what was read or published.")]
FailOnOption = Annotated[FailOn, typer.Option("--fail-on", help="With warn, a warning counts as a failed check (exit 1).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; only errors and the last line on stderr.")]
Verbose = Annotated[int, typer.Option("--verbose", "-v", count=True, help="More on stderr.")]

_SIZE = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B)\Z", re.IGNORECASE)


def checked_memory(text: str) -> str:
    """Return a memory limit as the engine takes it. Raises UsageError where it is not valid.

    >>> checked_memory("4GiB")
    '4GiB'
    """
    if not _SIZE.match(text.strip()):
        raise UsageError(
            code="C102", message="--memory-limit is not a size", hint="write a number and a unit, e.g. 800MB or 4GiB"
        )
    return text.strip()


def checked_temp(folder: Path | None) -> Path | None:
    """Return the temporary folder that was asked for. Raises UsageError (C104) where it is none."""
    if folder is not None and not folder.is_dir():
        raise UsageError(code="C104", message=f"--temp is not a folder: {folder}", hint="make it first, or name another one")
    return folder
