"""Findings: what a check, a validator or an audit returns. Frozen values; never a cell of the data in one.

Codes are append-only: P policy, D data and environment, A audit, L ledger, R release, C command line.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from privrelease.value_classes import dataclass

__all__ = ["Finding", "Location", "Severity", "one_line", "pluralise"]

_BREAKS = {number: ascii(chr(number))[1:-1] for number in (0x0A, 0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029)}


def one_line(text: str) -> str:
    r"""Write line breaks out: names of files may hold them, and whoever reads a log counts on a message being a line.

    >>> one_line("a\nb.csv")
    'a\\nb.csv'
    """
    return text.translate(_BREAKS)


def pluralise(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun, and a verb where one belongs to it; ``many``: the plural, by default with an s.

    >>> pluralise(1, "row"), pluralise(3, "row"), pluralise(1, "query has", "queries have")
    ('1 row', '3 rows', '1 query has')
    """
    return f"{number} {one}" if number == 1 else f"{number} {many or one + 's'}"


class Severity(StrEnum):
    """The weight of a finding: ``error`` fails, ``warn`` is shown (exit 0 unless ``--fail-on warn``), ``info`` is reported."""

    ERROR = "error"
    WARN = "warn"
    INFO = "info"


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file; ``line`` and ``column`` count from 1, 0 where unknown.

    >>> str(Location("policies/a.yaml", 12, 9))
    'policies/a.yaml:12:9'
    >>> str(Location("data/a.csv"))
    'data/a.csv'
    """

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return (
            one_line(self.file)
            + (f":{self.line}" if self.line else "")
            + (f":{self.column}" if self.line and self.column else "")
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    >>> print(
    ...     Finding(
    ...         "P104", "highest_risk must be in (0, 1], got 20", location=Location("a.yaml", 12, 9), hint="write 0.2 for 20 %"
    ...     )
    ... )
    a.yaml:12:9: P104 highest_risk must be in (0, 1], got 20
    hint: write 0.2 for 20 %
    """

    code: str
    message: str
    severity: Severity = Severity.ERROR
    location: Location | None = None
    hint: str | None = None
    #: Dotted names of what it is about, e.g. ``threats.external``; empty where it is about the whole.
    subject: str = field(default="", compare=False)

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location is not None else ""
        mark = "" if self.severity is Severity.ERROR else f"{self.severity.value}: "
        hint = f"\nhint: {one_line(self.hint)}" if self.hint else ""
        return f"{where}{self.code} {mark}{one_line(self.message)}{hint}"
