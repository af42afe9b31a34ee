"""What a reader hands to staging: rows as they are in the source, nothing converted, and a way back to the place of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from privrelease.engine.duckdb.refusals import raise_all
from privrelease.findings import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from sqlglot import exp

    from privrelease.relational.schema import Column

__all__ = ["Raw", "check_header"]


@dataclass(frozen=True, slots=True)
class Raw:
    """Rows of a source. ``rows`` goes into FROM; ``cells``, ``physical`` (DuckDB's type names) follow the declared columns.

    ``empty_is_null``: the reader gave NULL for an empty text (CSV). ``place``: the location of a cell by row (from 0, in order of the
    rows) and declared column (ordinal), with a text that says where. ``table``: a table to drop after staging.
    """

    rows: exp.Table
    cells: tuple[exp.Expr, ...]
    physical: tuple[str, ...]
    place: Callable[[int, int], tuple[Location, str]]
    empty_is_null: bool = False
    close: Callable[[], None] | None = None


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
    """
    findings = _ambiguous(names, label, line)
    known = {column.name for column in declared}
    missing = [column.name for column in declared if column.name not in set(names)]
    if missing and delimiter is not None and len(names) == 1:
        raise_all(_unsplit(names[0], delimiter, Location(label, line)))
    for name in missing:
        near = _near(name, [other for other in names if other not in known])
        hint = f"did you mean {near}?" if near else "correct the name, or remove the column from `columns`"
        findings.append(
            Finding("D107", f"the declared column {name} is not in the file", location=Location(label, line), hint=hint)
        )
    extra = [name for name in dict.fromkeys(names) if name and name not in known]
    if extra and unlisted == "error":
        place = Location(label, line, names.index(extra[0]) + 1)
        message = f"the file has columns that the policy does not list: {', '.join(extra)}"
        findings.append(Finding("D108", message, location=place, hint="declare them, or write `unlisted_columns: drop`"))
    raise_all(findings)


def _ambiguous(names: Sequence[str], label: str, line: int) -> list[Finding]:
    """Find names that are empty, doubled, or alike but for their case."""
    findings: list[Finding] = []

    def fault(code: str, message: str, hint: str, name: str) -> None:
        place = Location(label, line, names.index(name) + 1)
        findings.append(Finding(code, message, location=place, hint=hint))

    if "" in names:
        fault(
            "D104", f"the header has no name for column {names.index('') + 1}", "name every column, or remove the empty one", ""
        )
    for name in dict.fromkeys(name for name in names if name and names.count(name) > 1):
        fault("D105", f"the header names the column {name} {names.count(name)} times", "rename or remove the others", name)
    folded: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        folded.setdefault(name.casefold(), []).append(name)
    for alike in folded.values():
        if len(alike) > 1:
            fault(
                "D106", f"the columns {' and '.join(alike)} differ only in case", "rename one of them in the source", alike[1]
            )
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


def _near(name: str, others: Sequence[str]) -> str | None:
    import difflib

    close = difflib.get_close_matches(name.casefold(), [other.casefold() for other in others], n=1, cutoff=0.6)
    return next((other for other in others if close and other.casefold() == close[0]), None)
