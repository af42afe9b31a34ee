"""The keys of a table's groups: those of the domain, or those that a file lists."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from pathlib import Path

    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.policy.language.tables import TableRelease
    from privrelease.policy.validation.paths import Roots

__all__ = ["MOST_KEYS", "KeysFault", "keys_of", "listed_keys", "table_keys"]

MOST_KEYS: Final = 1_000
_LONGEST: Final = 1_000_000


class KeysFault(Exception):  # noqa: N818  becomes a finding where it is caught
    """Why a list of keys cannot be used."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def table_keys(spec: ColumnSpec) -> tuple[str, ...] | None:
    """Return the declared keys of a column, as the engine writes them; None where they are not declared, or too many."""
    domain = spec.domain
    if spec.type is ColumnType.BOOLEAN:
        return ("false", "true")
    if domain is None:
        return None
    if spec.type in {ColumnType.STRING, ColumnType.CATEGORY}:
        return domain.values
    if spec.type is not ColumnType.INTEGER:
        return None
    if domain.values is not None:
        return domain.values
    assert domain.range is not None
    low, high = (Decimal(text) for text in domain.range)
    return tuple(str(key) for key in range(int(low), int(high) + 1)) if high - low < MOST_KEYS else None


def keys_of(release: TableRelease, name: str, spec: ColumnSpec, roots: Roots) -> tuple[str, ...] | None:
    """Return the keys of a group column of a table. Raises PathFault, KeysFault."""
    written = release.keys.get(name)
    return table_keys(spec) if written is None else listed_keys(roots.inside(written, roots.folder), written, spec)


def listed_keys(path: Path, written: str, spec: ColumnSpec) -> tuple[str, ...]:
    """Return the keys in the first column of a CSV file, below its heading. Raises KeysFault."""
    try:
        if path.stat().st_size > _LONGEST:
            message = f"{written} is longer than a list of {MOST_KEYS} keys"
            raise KeysFault(message, "list the keys, one a line")
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error):
        message = f"{written} cannot be read as a list of keys"
        raise KeysFault(message, "write a CSV file in UTF-8 with a heading and one key a line") from None
    keys = [line[0] for line in lines[1:] if line]
    if not keys or len(keys) > MOST_KEYS or any(not key for key in keys):
        message = f"{written} holds {'no' if not keys else 'too many, or empty,'} keys"
        raise KeysFault(message, f"list 1 to {MOST_KEYS} keys below a heading, one a line")
    if len(set(keys)) < len(keys):
        message = f"{written} lists a key twice"
        raise KeysFault(message, "list each key once")
    if spec.type is ColumnType.INTEGER:
        if not all(_is_whole(key) for key in keys):
            message = f"{written} lists a key that is not a whole number as it is written here"
            raise KeysFault(message, "write 7, not 07 or 7.0")
    elif spec.type not in {ColumnType.STRING, ColumnType.CATEGORY}:
        message = f"keys of type {spec.type.value} are not listed in a file"
        raise KeysFault(message, "group by a text, a category or a whole number")
    known = table_keys(spec)
    if known is not None and not set(keys) <= set(known):
        message = f"{written} lists a key that the column's domain does not hold"
        raise KeysFault(message, "add it to the domain, or leave the domain out")
    return tuple(keys)


def _is_whole(key: str) -> bool:
    try:
        return str(int(key)) == key
    except ValueError:
        return False
