"""``privrelease init``: a commented starter policy from the columns of a data file, and from counts over its rows."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from privrelease.cli.exit import Ending
from privrelease.errors import InputError, PrivreleaseError, UsageError
from privrelease.findings import one_line
from privrelease.relational.schema import SourceKind
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from privrelease.cli.console import Console
    from privrelease.relational.schema import FileFormat

__all__ = ["Asked", "init"]

_KINDS = {
    (".csv", ".csv.gz", ".csv.zst", ".tsv", ".txt"): SourceKind.CSV,
    (".parquet", ".pq"): SourceKind.PARQUET,
    (".duckdb", ".db"): SourceKind.DUCKDB,
    (".sqlite", ".sqlite3"): SourceKind.SQLITE,
}
_HINT = "name a csv, parquet, duckdb or sqlite file"
_OTHER_DELIMITERS = {";": '";"', "|": '"|"', "\t": "tab"}


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of ``init``: how the data file is written, and the table of a database."""

    delimiter: str | None = None
    encoding: str | None = None
    table: str | None = None
    quick: bool = False


def init(data_file: Path, output: Path, console: Console, asked: Asked) -> Ending:
    """Write the starter, never over a file that exists. Reads names and types of columns, and counts over rows unless that is to be ``quick``."""
    from privrelease.cli.output_files import Writer
    from privrelease.engine.open import columns_of_table, profile_file, read_header
    from privrelease.policy.output.starter import starter_policy
    from privrelease.relational.schema import FileFormat

    if os.path.lexists(output):
        raise _taken(output)
    if not data_file.is_file():
        what = "does not exist" if not data_file.exists() else "is a folder" if data_file.is_dir() else "is not a file"
        raise InputError(code="C111", message=f"{data_file} {what}", hint=_HINT)
    if one_line(data_file.name) != data_file.name:
        raise InputError(
            code="C111",
            message=f"the name of {data_file} holds a line break, which no policy can name",
            hint="rename the file",
        )
    kind = next((kind for ends, kind in _KINDS.items() if data_file.name.lower().endswith(ends)), None)
    if kind is None:
        raise UsageError(code="C112", message=f"the kind of {data_file.name} is not known", hint=_HINT)
    written = _delimiter(asked.delimiter)
    writer = Writer()
    writer.check(output)
    table = _table(data_file, kind, asked.table)
    encoding = _encoding(data_file, asked.encoding, written, console) if kind is SourceKind.CSV else None
    form = FileFormat(delimiter=written or ",", encoding=encoding or "utf-8")
    if written is None and kind is SourceKind.CSV and (found := _sign(data_file, form)) is not None:
        raise InputError(
            code="C114",
            message=f"{data_file.name} has one column only if cells end at a comma; another delimiter occurs in its first line",
            hint=f"name the delimiter: privrelease init {data_file}{'' if encoding is None else f' --encoding {encoding}'} --delimiter {found}",
        )
    columns = read_header(data_file, form) if table is None else columns_of_table(data_file, kind, table)
    names = [name for name, _ in columns]
    profile = None
    if not asked.quick and not _alike(names):
        try:
            profile = profile_file(data_file, kind, form, table)
        except PrivreleaseError as error:
            console.say(f"warning: rows could not be counted, so nothing is proposed: {error}")
    if profile is not None and profile.rows == 0:
        console.say(f"warning: {data_file.name} has column names and no row, so that nothing can be proposed from rows")
        profile = None
    source = os.path.relpath(data_file.resolve(), output.resolve().parent)
    types = {name: declared for name, declared in columns if declared is not None}
    text = starter_policy(names, source, types=types, table=table, delimiter=written, encoding=encoding, profile=profile)
    writer.write(output, text.encode())
    columns_said = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
    console.log(f"wrote {output} with {columns_said}; every role in it is open")
    for first, second in _alike(names):
        console.say(
            f"warning: columns {first} and {second} differ only in case, which a policy refuses: rename one in the source"
        )
    console.log(f"next: decide each role, then `privrelease validate {output}`")
    return Ending(0, f"{output} is a starting point; nothing in it was judged")


def _encoding(data_file: Path, asked: str | None, delimiter: str | None, console: Console) -> str | None:
    """Return the encoding to write down, None for UTF-8. Raises InputError (C170) where none is named and none can be proven."""
    from privrelease.engine.open import likely_encodings
    from privrelease.relational.schema import FileFormat

    if asked is not None:
        return asked
    likely = likely_encodings(data_file)
    if len(likely) > 1:
        sign = None if delimiter is not None else _sign(data_file, FileFormat(encoding=likely[0]))
        more = f" --delimiter {sign}" if sign is not None else ""
        raise InputError(
            code="C170",
            message=f"{data_file.name} is not UTF-8, and which other encoding it is cannot be proven",
            hint=f"name it: --encoding {likely[0]}{more}; else {' or '.join(likely[1:])} is likely",
        )
    if likely[0] == "utf-8":
        return None
    console.log(f"{data_file.name} begins with the mark of {likely[0]}")
    return likely[0]


def _table(data_file: Path, kind: SourceKind, asked: str | None) -> str | None:
    """Return the table of a database file, None for a file without tables. Raises UsageError (C171) where it is not clear."""
    from privrelease.engine.open import tables_of

    if kind not in {SourceKind.DUCKDB, SourceKind.SQLITE}:
        if asked is not None:
            raise UsageError(code="C171", message=f"{data_file.name} has no tables", hint="leave out --table")
        return None
    known = tables_of(data_file, kind)
    if asked in known or (asked is None and len(known) == 1):
        return asked or known[0]
    listed = ", ".join(known[:_MOST_TABLES]) + (f" and {len(known) - _MOST_TABLES} more" if len(known) > _MOST_TABLES else "")
    raise UsageError(
        code="C171",
        message=f"{data_file.name} has {'no table ' + asked if asked else f'{len(known)} tables'}",
        hint=f"name one with --table: {listed}" if known else "name a database with a table",
    )


_MOST_TABLES = 10


def _delimiter(asked: str | None) -> str | None:
    """Return the character that was asked for; a tab may be written as a word.

    >>> _delimiter("tab") == chr(9), _delimiter(";"), _delimiter(None)
    (True, ';', None)
    """
    written = "\t" if asked in {"tab", "\\t"} else asked
    if written is not None and (len(written) != 1 or written in '"\r\n'):
        raise UsageError(code="C116", message="--delimiter is not a single character", hint='write e.g. --delimiter ";" or tab')
    return written


def _sign(data_file: Path, form: FileFormat) -> str | None:
    """Return how to write the delimiter of a file whose header has one name at the form's, or quotes that are sound at another; None for any other file."""
    from privrelease.engine.open import read_header

    try:
        return _hidden([name for name, _ in read_header(data_file, form)])
    except InputError as error:
        if error.code != "D109":
            raise
    for sign, word in _OTHER_DELIMITERS.items():
        try:
            if len(read_header(data_file, replace(form, delimiter=sign))) > 1:
                return word
        except InputError as error:
            if error.code == "D117":  # it splits, into what does not seem to be names
                return word
    return None


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
