"""Files that a source names, and what a reader hands to staging: rows as they are in the source, nothing converted, and a way back to the
place of a cell.
"""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.engine.duckdb.errors import raise_all, source_refusal
from privrelease.findings import Finding, Location, pluralise
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from sqlglot import exp

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.relational.schema import Column, TableSource

__all__ = ["Raw", "SourceFile", "check_header", "files_of"]

_HEADER_LINE = "has the file a header line? a CSV file begins with a line of column names"
_SHOWN = 5


class SourceFile:
    """One file of a source: ``path`` to read, ``label`` for messages."""

    __slots__ = ("label", "path")

    def __init__(self, path: Path, label: str) -> None:
        self.path = path
        self.label = label


def files_of(connection: Connection, source: TableSource, *, many: bool) -> tuple[SourceFile, ...]:
    """Return the files of a source, sorted by name; a glob only where ``many``.

    Raises InputError: D101 no such file, D102 outside the folders that may be read.
    """
    exact = Path(source.path)
    pattern = many and not exact.exists() and any(sign in source.path for sign in "*?[")
    paths = sorted(Path(found) for found in glob.glob(source.path, recursive=True)) if pattern else [exact]  # noqa: PTH207 - the pattern is absolute
    paths = [path for path in paths if path.is_file()]
    if not paths:
        message = f"no file matches {source.label}" if pattern else f"the file {source.label} does not exist"
        hint = f"check the path in `{source.key}`; it is relative to the policy"
        if exact.is_dir():
            message, hint = (
                f"{source.label} is a folder",
                f"name a file, or a pattern such as {source.label}/*.csv or *.parquet",
            )
        raise source_refusal(source, "D101", message, hint)
    if any(not connection.readable(path) for path in paths):
        message = f"{source.label} leads outside the folders that may be read"
        raise source_refusal(source, "D102", message, "keep the data below the policy's folder or the data root")
    parent = Path(source.label).parent
    return tuple(
        SourceFile(
            path.resolve() if path.suffix == path.resolve().suffix else path,
            str(parent / path.name) if pattern else source.label,
        )
        for path in paths
    )


@dataclass(frozen=True, slots=True)
class Raw:
    """Rows of a source. ``rows`` goes into FROM; ``cells``, ``physical`` (DuckDB's type names) follow the declared columns.

    ``empty_is_null``: the reader gave NULL for an empty text (CSV). ``place``: the location of a cell by row (from 0, in order of the
    rows) and declared column (ordinal), with a text that says where. ``n_rows``: where the reader counted them. ``close``: called after staging.
    """

    rows: exp.Table
    cells: tuple[exp.Expr, ...]
    physical: tuple[str, ...]
    place: Callable[[int, int], tuple[Location, str]]
    empty_is_null: bool = False
    close: Callable[[], None] | None = None
    n_rows: int | None = None


def check_header(
    names: Sequence[str],
    declared: Sequence[Column],
    label: str,
    unlisted: Literal["error", "drop"],
    *,
    delimiter: str | None = None,
    line: int = 0,
) -> None:
    """Check the column names of a file against the declared columns; every fault is in the InputError that is raised.

    D104 no name, D105 a name twice, D106 names that differ only in case, D107 a declared column is missing, D108 undeclared columns.

    The first line of a CSV file (``line`` 1) may be a row of data: names out of it are told only where every declared column is among
    them, those of other files where one is; else columns are told by their positions.
    """
    there = set(names)
    known = {column.name for column in declared}
    missing = [column.name for column in declared if column.name not in there]
    told = bool(known) and (not missing if line else bool(known & there))
    findings = _ambiguous(names, label, line, told=told)
    if missing and delimiter is not None and len(names) == 1:
        raise_all(_unsplit(names[0], delimiter, Location(label, line)))
    others = [place for place, name in enumerate(names) if name not in known]
    likes = {name: _near(name, names, others) for name in missing}
    if line and known and not known & there and all(near is None for near in likes.values()):
        message = f"none of the {len(known)} declared columns is in the first line, which has {pluralise(len(names), 'field', 'fields')}"
        raise_all([*findings, Finding("D107", message, location=Location(label, line), hint=_HEADER_LINE)])
    for name, near in likes.items():
        hint = "correct the name, or remove the column from `columns`"
        hint = hint if near is None else f"is column {near + 1} of the file meant? its name is almost {name}"
        findings.append(
            Finding("D107", f"the declared column {name} is not in the file", location=Location(label, line), hint=hint)
        )
    extra = [place for place in others if names[place]]
    if extra and unlisted == "error":
        place = Location(label, line, extra[0] + 1)
        if told:
            listed = ", ".join(dict.fromkeys(names[place] for place in extra))
            message = f"the file has columns that the policy does not list: {listed}"
            hint = "declare them, or write `unlisted_columns: drop`"
        else:
            message = f"the file has columns that the policy does not list: {len(extra)} of {len(names)}, {_positions(extra)}"
            hint = _HEADER_LINE if line else "check `source` and `columns`"
        findings.append(Finding("D108", message, location=place, hint=hint))
    raise_all(findings)


def _positions(places: Sequence[int]) -> str:
    """Say which columns, by position from 1; the first few of many.

    >>> _positions([0, 2]), _positions([1]), _positions(range(9))
    ('columns 1, 3', 'column 2', 'columns 1, 2, 3, 4, 5, …')
    """
    first = [str(place + 1) for place in places[:_SHOWN]]
    return f"column{'s' if len(places) > 1 else ''} {', '.join(first)}{', …' if len(places) > _SHOWN else ''}"


def _ambiguous(names: Sequence[str], label: str, line: int, *, told: bool) -> list[Finding]:
    """Find names that are empty, doubled, or alike but for their case."""
    findings: list[Finding] = []
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)

    def fault(code: str, message: str, hint: str, place: int) -> None:
        hint = hint if told or not line else f"{hint}; {_HEADER_LINE}"
        findings.append(Finding(code, message, location=Location(label, line, place + 1), hint=hint))

    if empty := places.pop("", None):
        message = f"the header has no name for column {empty[0] + 1}"
        fault("D104", message, "name every column, or remove the empty one", empty[0])
    for name, found in places.items():
        if len(found) > 1:
            what = f"the column {name}" if told else "a column"
            message = f"the header names {what} {len(found)} times ({_positions(found)})"
            fault("D105", message, "rename or remove the others", found[0])
    folded: dict[str, list[str]] = {}
    for name in places:
        folded.setdefault(name.casefold(), []).append(name)
    for alike in folded.values():
        if len(alike) > 1:
            what = f"the columns {' and '.join(alike)}" if told else _positions([places[name][0] for name in alike])
            fault("D106", f"{what} differ only in case", "rename one of them in the source", places[alike[1]][0])
    return findings


def _unsplit(name: str, delimiter: str, location: Location) -> list[Finding]:
    """Find a header of one field that another delimiter would split."""
    shown = {"\t": "\\t"}
    for other in (";", "\t", "|", ","):
        if other != delimiter and other in name:
            sign = shown.get(other, other)
            message = f'the header does not split at the delimiter "{shown.get(delimiter, delimiter)}"'
            hint = f'the header holds "{sign}": declare `format: {{delimiter: "{sign}"}}`'
            return [Finding("D109", message, location=location, hint=hint)]
    return []


def _near(name: str, names: Sequence[str], places: Sequence[int]) -> int | None:
    """Return the place of a name that is nearly ``name``; None where there is none."""
    import difflib

    close = difflib.get_close_matches(name.casefold(), [names[place].casefold() for place in places], n=1, cutoff=0.6)
    return next((place for place in places if close and names[place].casefold() == close[0]), None)
