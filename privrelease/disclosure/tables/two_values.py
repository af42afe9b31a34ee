"""Sums and means of a column with two values: they are counts, of who has the one value and of who has the other.

Of 105 persons with a mean of 0.019 two have the value 1 (case t05). So such a sum is judged as the two counts that it gives away, as if these
were printed: neither may be below the minimum count, and an empty one is what an empty cell of a table by that column would be.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.figures import SumFigure
from privrelease.disclosure.tables.rules import Magnitude
from privrelease.relational.filters import Comparison
from privrelease.relational.tables import Membership, TableQuery
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable, TwoValues
    from privrelease.relational.tables import TableCells

__all__ = ["Side", "both_sides", "columns_of_two", "side_figures"]


@dataclass(frozen=True, eq=False, slots=True)
class Side:
    """Rows and persons by cell, (n,), that have one of the two values."""

    rows: NDArray[np.int64]
    persons: NDArray[np.int64]


def columns_of_two(tables: Sequence[PrintedTable], fetch: Callable[[TableQuery], TableCells]) -> dict[str, TwoValues]:
    """Return the columns with two values that some table adds up, by their domains or since the source has no third one; weights are no values of persons."""
    found: dict[str, TwoValues | None] = {}
    for table in tables:
        for one in table.sums:
            if one.column not in found and not one.weights:
                found[one.column] = one.values or _seen(table, one, fetch)
    return {column: values for column, values in found.items() if values is not None}


def _seen(table: PrintedTable, one: PrintedSum, fetch: Callable[[TableQuery], TableCells]) -> TwoValues | None:
    """The only two values of a column in the source: its largest, and what all other rows have on average, if all have that."""
    alone = TableQuery(table.by[:1], table.keys[:1], (one.column,), largest=1, others=True)
    highest = int(fetch(alone).largest[0, -1, 0])
    below = Membership(Comparison(one.column, "<", _value(highest, one.step)), ())
    cells = fetch(replace(alone, largest=0, members=(below,)))
    rows, added = (part.reshape(-1, 3)[-1, :] for part in (cells.known_rows[0], cells.sums[0]))
    if not rows[0] or not rows[1] or added[0] % rows[0]:
        return None
    lowest = _value(int(added[0] // rows[0]), one.step)
    same = Membership(Comparison(one.column, "<=", lowest), ())
    other = Membership(Comparison(one.column, "<", lowest), ())
    at_most, less = (
        int(fetch(replace(alone, largest=0, members=(member,))).known_rows[0].reshape(-1, 3)[-1, 0]) for member in (same, other)
    )
    return (lowest, _value(highest, one.step)) if at_most == rows[0] and not less else None


def _value(steps: int, step: Fraction) -> Decimal:
    return Decimal(steps) * step.numerator / step.denominator


def both_sides(
    asked: TableQuery, column: str, values: TwoValues, fetch: Callable[[TableQuery], TableCells]
) -> tuple[Side, Side]:
    """Return who has the lower value and who has the higher one, by cell of a query."""
    lower, higher = (Membership(Comparison(column, sign, values[1]), ()) for sign in ("<", ">="))
    query = replace(asked, sums=(), largest=0, several=False, members=(*asked.members, lower, higher))
    cells = fetch(query)
    every, (inside, outside) = query.shape[:-2], (0, 1)
    either = 2 if asked.margins else outside  # who has the one value does not have the other

    def side(first: int, second: int) -> Side:
        rows, persons = (
            one.reshape(*every, *query.shape[-2:])[..., first, second].reshape(-1) for one in (cells.rows, cells.persons)
        )
        return Side(rows, persons)

    return side(inside, either), side(either, inside)


def side_figures(
    column: str, values: TwoValues, sides: tuple[Side, Side], printed: NDArray[np.bool_], number: int
) -> Iterator[SumFigure]:
    """Yield the two counts as figures that are printed wherever the sum or the mean is."""
    there = (sides[0].rows + sides[1].rows) > 0
    for value, side in zip(values, sides, strict=True):
        nothing = np.zeros((len(side.rows), 0), np.int64)
        yield SumFigure(
            Magnitude(side.rows, nothing),
            0,
            1,
            side.persons,
            printed,
            whole=True,
            name=f"rows_with_{column}_{value}",
            column=column,
            number=number,
            valued=there,
        )
