"""Policies that a command is given: files, folders of them, and ``-`` for the text on stdin.

In a folder, files that are no release policy (a list of approvers, a fragment that policies extend) are passed over, and named on stderr.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from privrelease.cli.console import Collecting, Console
from privrelease.cli.exit import Ending, ended, worst
from privrelease.errors import UsageError
from privrelease.findings import pluralise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["STDIN", "PolicyInput", "are_many", "common_name", "for_each", "policy_inputs", "stdin_text"]

STDIN: Final = "-"
_ENDINGS = frozenset({".yaml", ".yml"})
#: A line that only a policy has, outside comments. What does not parse and has it is a policy with an error.
_MARK = re.compile(
    rb"""^[^#\n]*\b(?:kind["']?\s*:\s*["']?ReleasePolicy\b|apiVersion["']?\s*:\s*["']?privrelease/)""", re.MULTILINE
)
_RELEASES = re.compile(rb"""^\s*["']?releases["']?\s*:|[{,]\s*["']?releases["']?\s*:""", re.MULTILINE)
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """A policy as it was named. ``content``: the text on stdin, whose relative paths count from the working folder; None: that of the file."""

    path: Path
    content: bytes | None = None


def are_many(named: Sequence[Path]) -> bool:
    """Return whether a command is about several policies by what it was given, however many a folder has."""
    return len(named) > 1 or any(path.is_dir() for path in named)


def policy_inputs(named: Sequence[Path], console: Console, *, only_policies: bool = False) -> tuple[PolicyInput, ...]:
    """Return the policies that are meant, in the order in which they were named, those of a folder by path, each once.

    ``only_policies``: files that are named and no policies are passed over, too. Raises UsageError (C162): a folder without policies.
    """
    found: dict[str, PolicyInput] = {}
    passed_over: list[Path] = []
    for path in named:
        if str(path) == STDIN:
            found.setdefault(STDIN, PolicyInput(path, stdin_text()))
            continue
        if path.is_dir():
            files, others = _below(path)
            if not files:
                raise UsageError(
                    code="C162",
                    message=f"there is no release policy below {path}",
                    hint="name a folder of files with `kind: ReleasePolicy`, or a file",
                )
        else:
            other = only_policies and not _is_policy(path)
            files, others = ([], [path]) if other else ([path], [])
        passed_over += others
        for file in files:
            found.setdefault(os.path.realpath(file), PolicyInput(file))
    if passed_over:
        more = f" and {len(passed_over) - _NAMED} more" if len(passed_over) > _NAMED else ""
        names = ", ".join(map(str, passed_over[:_NAMED]))
        console.log(f"passed over {pluralise(len(passed_over), 'file')} without a release policy: {names}{more}")
    return tuple(found.values())


def for_each(
    inputs: Sequence[PolicyInput],
    work: Callable[[PolicyInput, Console], Ending],
    console: Console,
    *,
    heading: str = "== {path}",
) -> Ending:
    """Do some work for several policies, one after the other, each under a heading, and end with the worst exit code.

    What stops one does not stop the others. As JSON: one document, with the file and the exit code of each next to what the work prints.
    """
    endings: list[Ending] = []
    values: list[dict[str, object]] = []
    for number, one in enumerate(inputs):
        kept = Collecting(console.form, console.verbosity)
        if heading and not console.json:
            console.data(("\n" if number else "") + heading.format(path=one.path))
        ending = ended(lambda one=one, kept=kept: work(one, kept))  # type: ignore[misc]
        if ending.said:
            console.say(ending.said)
        console.log(f"{one.path}: {ending.reason}")
        endings.append(ending)
        value = {"file": str(one.path), "exit_code": ending.code}
        for document in kept.documents:
            value |= document if isinstance(document, dict) else {}
        values.append(value)
    if console.json:
        console.document({"policies": values})
    code = worst([one.code for one in endings])
    bad = [str(one.path) for one, ending in zip(inputs, endings, strict=True) if ending.code]
    said = pluralise(len(inputs), "policy", "policies")
    return Ending(code, f"{said}; {len(bad)} of them not with 0: {', '.join(bad[:_NAMED])}" if bad else said)


def common_name(named: Sequence[Path]) -> Path:
    """Return what several inputs are called together: the folder that they have in common.

    >>> common_name([Path("policies/a.yaml"), Path("policies/b.yaml")]).as_posix()
    'policies'
    """
    return named[0] if len(named) == 1 else Path(os.path.relpath(os.path.commonpath([path.absolute() for path in named])))


def stdin_text() -> bytes:
    """Return the text on stdin. No more than a policy may have is kept: the loader refuses what is longer."""
    from privrelease.policy.text.yaml import MAX_BYTES

    return sys.stdin.buffer.read(MAX_BYTES + 1)


def _below(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the policies below a folder, and its other YAML files."""
    files = list(_yaml_files(folder))
    policies = [file for file in files if _is_policy(file)]
    extended = set().union(*map(_extended_by, policies))
    kept = [file for file in policies if os.path.realpath(file) not in extended or _RELEASES.search(_head(file))]
    return kept, [file for file in files if file not in kept]


def _yaml_files(folder: Path) -> Iterator[Path]:
    for home, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(home) / name for name in sorted(files) if Path(name).suffix.lower() in _ENDINGS)


def _is_policy(path: Path) -> bool:
    """Return whether a file is a release policy, or cannot be read, which its loader then reports."""
    try:
        return _MARK.search(_head(path)) is not None
    except OSError:
        return True


def _head(path: Path) -> bytes:
    from privrelease.policy.text.yaml import MAX_BYTES

    with path.open("rb") as file:
        return file.read(MAX_BYTES)


def _extended_by(path: Path) -> set[str]:
    """Return the files that a policy extends, as far as it can be read."""
    from privrelease.policy.text.nodes import Mapping, Scalar, Sequence_
    from privrelease.policy.text.yaml import parse_yaml

    tree, _ = parse_yaml(_head(path), path.name)
    extends = tree.get("extends") if isinstance(tree, Mapping) else None
    items = extends.items if isinstance(extends, Sequence_) else (extends,)
    return {os.path.realpath(path.parent / item.text) for item in items if isinstance(item, Scalar) and "\0" not in item.text}
