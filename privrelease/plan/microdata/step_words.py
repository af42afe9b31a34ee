"""Transform steps in words: what becomes of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.relational.hierarchies import number_text

if TYPE_CHECKING:
    from privrelease.relational.hierarchies import Coded, Generalised, RoundedTo
    from privrelease.relational.treatments import Pseudonym

__all__ = ["end_words", "label_words", "multiple_words", "pseudonym_words"]


def pseudonym_words(column: str, treatment: Pseudonym) -> str:
    """Say that a column is replaced by pseudonyms.

    >>> from privrelease.relational.treatments import Pseudonym
    >>> pseudonym_words("id", Pseudonym("KEY"))
    'replace id by a pseudonym, keyed by the environment variable KEY'
    """
    return f"replace {column} by a pseudonym, keyed by the environment variable {treatment.key}"


_KEPT = {"label": "", "low": ", by the lowest value of each", "middle": ", by the middle of each"}


def label_words(column: str, declared: Generalised) -> str:
    """Say that a column is written at a level of its hierarchy.

    >>> from privrelease.relational.hierarchies import Dates, Generalised
    >>> label_words("birth", Generalised(Dates(("month", "year")), 2, "low", "year"))
    'generalise birth to level 2 (year), by the lowest value of each'
    """
    return f"generalise {column} to level {declared.level} ({declared.name}){_KEPT[declared.write]}"


def end_words(column: str, declared: Coded) -> str:
    """Say which values of a column are written as one.

    >>> from decimal import Decimal
    >>> from privrelease.relational.hierarchies import Coded
    >>> end_words("age", Coded(None, Decimal(90)))
    'write values of age from 90 on as 90+'
    """
    parts = []
    if declared.top is not None:
        top = number_text(declared.top)
        parts.append(f"from {top} on as {top}{'+' if declared.write == 'label' else ''}")
    if declared.bottom is not None:
        bottom = number_text(declared.bottom)
        parts.append(f"below {bottom} as <{bottom}")
    return f"write values of {column} {' and '.join(parts)}"


def multiple_words(column: str, declared: RoundedTo) -> str:
    """Say to which multiples a column is rounded.

    >>> from decimal import Decimal
    >>> from privrelease.relational.hierarchies import RoundedTo
    >>> multiple_words("weight", RoundedTo(Decimal(5), Decimal(1)))
    'round weight to the nearest multiple of 5'
    """
    return f"round {column} to the nearest multiple of {number_text(declared.to)}"
