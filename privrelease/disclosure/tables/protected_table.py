"""The protected table of what several tables print: its sums, the cells that print them, and the steps of printed counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure
from privrelease.disclosure.tables.rules import Magnitude
from privrelease.disclosure.tables.two_values import Side, side_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Layout
    from privrelease.disclosure.tables.linked import LinkedCells
    from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable, TwoValues
    from privrelease.disclosure.tables.rules import CellRules
    from privrelease.relational.tables import TableCells

__all__ = ["protected_table"]


def protected_table(
    layout: Layout | LinkedCells,
    cells: TableCells,
    tables: Sequence[PrintedTable],
    places: Sequence[NDArray[np.int64]],
    rules: CellRules,
    most: float,
    names: tuple[str, ...],
    sides: Mapping[str, tuple[TwoValues, tuple[Side, Side]]],
) -> ProtectedTable:
    """Return the table of everything that several tables print, on the cells of ``layout``.

    ``places``: by table, the numbers of its own cells; ``sides``: the columns with two values, and who has each of them.
    """

    def of(wanted: Callable[[PrintedTable], bool]) -> NDArray[np.bool_]:
        found = np.zeros(layout.size, np.bool_)
        for table, mine in zip(tables, places, strict=True):
            if wanted(table):
                found[mine] = True
        return found

    step = np.full(layout.size, np.iinfo(np.int64).max)
    impossible = np.zeros(layout.size, np.bool_)
    for table, mine in zip(tables, places, strict=True):
        if table.counted:
            exact = any(one.mean for one in table.sums)
            step[mine] = np.minimum(step[mine], 1 if exact else table.round_up)
        if table.impossible is not None:
            impossible[mine[table.impossible]] = True
    step[step == np.iinfo(np.int64).max] = 1
    sums: list[SumFigure] = []
    for one in dict.fromkeys((one.column, one.weights) for table in tables for one in table.sums):
        sums += _figures(one, cells, tables, names, of)
    adding_up: list[tuple[int, tuple[int, ...]]] = []
    for name, (values, both) in sides.items():
        i = names.index(name)
        printed_there = of(_adds_up(name))
        rows = next((place for place, one in enumerate(sums) if one.whole and one.column == name), None)
        if rows is not None or not (cells.known_rows[i] < cells.rows).any():
            adding_up.append((-1 if rows is None else rows, (len(sums), len(sums) + 1)))
        sums += side_figures(name, values, both, printed_there, i)
    return ProtectedTable(
        layout=layout,
        rules=rules,
        contributors=cells.persons,
        rows=cells.rows,
        sums=tuple(sums),
        counted=any(table.counted for table in tables),
        round_up=step,
        most=most,
        printable=of(lambda _: True),
        count_printed=of(lambda table: table.counted),
        impossible=impossible,
        adding_up=tuple(adding_up),
    )


def _adds_up(name: str) -> Callable[[PrintedTable], bool]:
    """Return the test of whether a table prints a sum or a mean of a column."""
    return lambda table: any(one.column == name and not one.weights for one in table.sums)


def _figures(
    of_what: tuple[str, bool],
    cells: TableCells,
    tables: Sequence[PrintedTable],
    names: tuple[str, ...],
    of: Callable[[Callable[[PrintedTable], bool]], NDArray[np.bool_]],
) -> Iterator[SumFigure]:
    """A sum, and where its mean is printed and values are missing, the rows that have one: with the mean they give the sum."""
    column, weights = of_what

    def mine(table: PrintedTable) -> list[PrintedSum]:
        return [one for one in table.sums if (one.column, one.weights) == of_what]

    first = next(one for table in tables for one in mine(table))
    i = names.index(column)
    missing = bool((cells.known_rows[i] < cells.rows).any())
    magnitude = Magnitude(cells.sums[i], cells.largest[i] * (not weights))
    holders = cells.known_persons[i] if missing else None
    name = f"weighted_count_{column}" if weights else f"sum_{column}"
    low, high = (min(0, first.low), None if first.high is None else max(0, first.high)) if missing else (first.low, first.high)
    yield SumFigure(
        magnitude,
        low,
        high,
        holders,
        of(lambda table: bool(mine(table))),
        weights=weights,
        name=name,
        column=column,
        number=i,
    )
    means = of(lambda table: any(one.mean for one in mine(table)))
    if missing and means.any():
        nothing = np.zeros((len(cells.rows), 0), np.int64)
        name = f"rows_with_{column}"
        rows = Magnitude(cells.known_rows[i], nothing)
        yield SumFigure(rows, 0, 1, holders, means, whole=True, name=name, column=column, number=i)
