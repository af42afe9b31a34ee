"""A table's file as it is: keys, totals, figures and what each row says of itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from privrelease.audit.checks.aggregate_checks import cells_of_file, number_text
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.plan.tables.plan import TablePlan
    from privrelease.relational.schema import Sink

__all__ = ["TableRow", "places_of", "read_table", "round_half_up"]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A cell of a file. ``over``: the columns that it is a total over; ``figures``: in the order of the measures, None where blank."""

    keys: tuple[str, ...]
    over: str
    figures: tuple[Fraction | None, ...]
    status: str


def read_table(plan: TablePlan, sink: Sink) -> tuple[TableRow, ...] | None:
    """Return the rows of a file as they are; None where it is no such table."""
    try:
        names, rows = cells_of_file(sink)
        if tuple(names) != tuple(name for name, _ in plan.columns):
            return None
        return tuple(_row(plan, row, sink) for row in rows)
    except (OSError, ValueError, TypeError):
        return None


def places_of(plan: TablePlan) -> list[tuple[tuple[str, ...], str]]:
    """Return keys and totals of every cell of a table, in order."""
    sides = [(*keys, None) if plan.margins else keys for keys in plan.keys]
    found = []
    for place in product(*sides):
        over = " ".join(name for name, key in zip(plan.by, place, strict=True) if key is None)
        found.append((tuple(key or "" for key in place), over))
    return found


def round_half_up(value: Fraction, unit: Fraction) -> Fraction:
    """Return the multiple of a unit that is nearest to a value, the upper one of two.

    >>> round_half_up(Fraction(5, 2), Fraction(1)), round_half_up(Fraction(1, 3), Fraction(1, 1000))
    (Fraction(3, 1), Fraction(333, 1000))
    """
    return (2 * value + unit) // (2 * unit) * unit


def _row(plan: TablePlan, cells: Sequence[object], sink: Sink) -> TableRow:
    if len(cells) != len(plan.columns):
        raise ValueError
    width = len(plan.by)
    keys = tuple("" if key is None else str(key) for key in cells[:width])
    texts = (number_text(cell, sink) for cell in cells[width + 1 : -1])
    figures = tuple(None if text is None else Fraction(text) for text in texts)
    return TableRow(keys, str(cells[width]), figures, str(cells[-1]))
