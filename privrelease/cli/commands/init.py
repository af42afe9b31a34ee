"""``privrelease init``: a commented starter policy from the header of a data file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.cli.console import Console

__all__ = ["init"]

_ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".txt", ".parquet", ".pq")


_OTHER_DELIMITERS = {";": '";"', "|": '"|"', "\t": "tab"}


def init(data_file: Path, output: Path, console: Console, delimiter: str | None = None) -> Ending:
    """Write the starter, never over a file that exists. Reads names and declared types of columns, no row."""
    from privrelease.cli.output_files import Writer
    from privrelease.engine.open import read_header
    from privrelease.policy.output.starter import starter_policy
    from privrelease.relational.schema import FileFormat

    if os.path.lexists(output):
        raise _taken(output)
    if not data_file.is_file():
        raise InputError(code="C111", message=f"{data_file} is no file", hint="name a csv or parquet file")
    if not data_file.name.lower().endswith(_ENDINGS):
        raise UsageError(code="C112", message=f"the kind of {data_file.name} is not known", hint="name a csv or parquet file")
    written = _delimiter(delimiter)
    writer = Writer()
    writer.check(output)
    columns = read_header(data_file, None if written is None else FileFormat(delimiter=written))
    names = [name for name, _ in columns]
    if written is None and (found := _hidden(names)) is not None:
        raise InputError(
            code="C114",
            message=f"{data_file.name} has one column only if cells end at a comma; another delimiter stands in its first line",
            hint=f"name the delimiter: privrelease init {data_file} --delimiter {found}",
        )
    source = os.path.relpath(data_file.resolve(), output.resolve().parent)
    types = {name: kind for name, kind in columns if kind is not None}
    text = starter_policy(names, source, types=types, delimiter=written)
    writer.write(output, text.encode())
    columns_said = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
    console.log(f"wrote {output} with {columns_said}; every role in it is open")
    for first, second in _alike(names):
        console.say(
            f"warning: columns {first} and {second} differ only in case, which a policy refuses: rename one in the source"
        )
    console.log(f"next: decide each role, then `privrelease validate {output}`")
    return Ending(0, f"{output} is a starting point; nothing in it was judged")


def _delimiter(asked: str | None) -> str | None:
    """Return the character that was asked for; a tab may be written as a word.

    >>> _delimiter("tab") == chr(9), _delimiter(";"), _delimiter(None)
    (True, ';', None)
    """
    written = "\t" if asked in {"tab", "\\t"} else asked
    if written is not None and (len(written) != 1 or written in '"\r\n'):
        raise UsageError(code="C116", message="--delimiter is no single character", hint='write e.g. --delimiter ";" or tab')
    return written


def _hidden(names: Sequence[str]) -> str | None:
    """Return how to write the delimiter that appears in the only name; None where there is none, or there are several names.

    >>> _hidden(["id;age"]), _hidden(["id;age", "sex"]), _hidden(["age"])
    ('";"', None, None)
    """
    if len(names) != 1:
        return None
    return next((word for sign, word in _OTHER_DELIMITERS.items() if sign in names[0]), None)


def _alike(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of names that differ only in case, each with the first of its kind.

    >>> _alike(["id", "Age", "AGE"])
    [('Age', 'AGE')]
    """
    first: dict[str, str] = {}
    return [(other, name) for name in names if (other := first.setdefault(name.casefold(), name)) != name]


def _taken(output: Path) -> UsageError:
    return UsageError(code="C110", message=f"{output} exists already", hint="name another file with -o, or move it away")
