"""The attack by contributors: whoever has a part in one suppressed cell knows it, and with it more about other cells than
someone outside.

Who alone fills a cell knows its sum; else the largest contributor knows that it is at least their own part. Either moves the
bounds of cells that are with it in totals, in other rows and columns too: three cells of a rectangle of four give the fourth.
So an unsafe sum must be as uncertain to each of them as to everybody. Those who contribute to the unsafe cell itself are what
the rules are about (p-percent is said of the second largest). Who has a part in several suppressed cells knows something of
each of them at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.disclosure.tables.figures import ProtectedTable
    from privrelease.disclosure.tables.layout import Relation

__all__ = ["allowed_moves", "finest_cells", "insiders", "known_to_insider", "parts_within"]


def known_to_insider(table: ProtectedTable, figure: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return by cell how large its largest contributor knows the sum to be at least, 0 where that is not looked at, and where this
    is the sum itself: (n,) float64 and (n,) bool. Weights are no contributions. Where values may be negative, a part is no bound: -inf.
    """
    size = table.layout.size
    if figure < 0 or table.sums[figure].whole:
        return np.zeros(size), np.zeros(size, np.bool_)
    magnitude, persons = table.sums[figure].magnitude, table.persons(figure)
    largest = magnitude.largest[:, 0] if magnitude.largest.shape[1] else np.zeros(size, np.int64)
    alone = np.zeros(size, np.bool_) if table.sums[figure].weights else persons == 1
    if table.sums[figure].signed:  # the others may have less than nothing: only who is alone knows a sum
        return np.where(alone, magnitude.values, -np.inf), alone
    least = np.where(alone, magnitude.values, np.where(persons > 0, largest, 0))
    return least.astype(np.float64), alone


def allowed_moves(table: ProtectedTable, figure: int, held: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how far up and down ``held`` cells may move and still fit what their contributors know: two (len(held),) float64."""
    cells = np.array(held, np.int64)
    least, alone = known_to_insider(table, figure)
    down = np.where(alone[cells], 0, table.values(figure)[cells] - least[cells])
    return np.where(alone[cells], 0, np.inf), np.maximum(down, 0)


def finest_cells(table: ProtectedTable) -> NDArray[np.bool_]:
    """Tell which cells are no total of cells that are printed or suppressed: (n,) bool. What a contributor knows of a total follows from what they
    know of its parts. Of tables in a ring these are their inner cells, not those of all columns, which are far more.
    """
    together = table.layout.together is not None
    silent = table.silent
    found = ~silent if together else np.ones(table.layout.size, np.bool_)
    totals = [one.total for one in table.layout.relations if not (together and silent[list(one.parts)].any())]
    found[totals] = False
    return found


def parts_within(relations: Sequence[Relation], cells: Sequence[int]) -> Mapping[int, set[int]]:
    """Return the cells that each of ``cells`` is made of, however many totals lie between, itself among them.

    >>> from privrelease.disclosure.tables.layout import Relation
    >>> parts_within([Relation(4, (3, 2)), Relation(3, (0, 1))], [4, 1])
    {4: {0, 1, 2, 3, 4}, 1: {1}}
    """
    below: dict[int, list[int]] = {}
    for relation in relations:
        below.setdefault(relation.total, []).extend(relation.parts)
    found = {}
    for cell in cells:
        seen, left = {cell}, [cell]
        while left:
            new = [part for part in below.get(left.pop(), ()) if part not in seen]
            seen.update(new)
            left += new
        found[cell] = seen
    return found


def insiders(
    table: ProtectedTable, figure: int, unsafe: Sequence[int], hidden: NDArray[np.bool_]
) -> Iterator[tuple[dict[int, tuple[float, float]], list[int]]]:
    """Yield what somebody knows of suppressed cells, bounds by cell, with the ``unsafe`` cells that they have no part in."""
    relations = table.layout.relations
    least, alone = known_to_insider(table, figure)
    finest = hidden & finest_cells(table)
    cells = np.flatnonzero(finest & ((least > 0) | alone)).tolist()
    within = parts_within(relations, [*unsafe, *cells])
    there = {cell: {part for part in within[cell] if table.contributors[part]} for cell in cells}
    for cell in cells:
        others = [other for other in unsafe if there[cell].isdisjoint(within[other])]
        if others:
            yield {cell: (float(least[cell]), float(least[cell]) if alone[cell] else np.inf)}, others
    yield from _in_several(table, figure, unsafe, cells, finest)


def _in_several(
    table: ProtectedTable, figure: int, unsafe: Sequence[int], cells: Sequence[int], finest: NDArray[np.bool_]
) -> Iterator[tuple[dict[int, tuple[float, float]], list[int]]]:
    """Go through the persons that are the largest contributor of one of ``cells`` and have a part in another suppressed one."""
    if table.holders is None or figure < 0:
        return
    entries, number = table.holders.entries, table.sums[figure].number
    least, alone = known_to_insider(table, figure)
    mine = table.holders.of(cells)
    if table.sums[figure].signed:
        finest = finest & alone
    largest = mine[(entries.sums[number, mine] >= least[entries.cells[mine]]) & finest[entries.cells[mine]]]
    persons = np.unique(entries.persons[largest])
    theirs = np.flatnonzero(np.isin(entries.persons, persons))
    for person in persons.tolist():
        own = theirs[entries.persons[theirs] == person]
        parts = own[finest[entries.cells[own]]]
        if len(parts) < 2:
            continue
        held = {
            cell: (float(value), float(value) if alone[cell] else np.inf)
            for cell, value in zip(entries.cells[parts].tolist(), entries.sums[number, parts].tolist(), strict=True)
        }
        others = [other for other in unsafe if other not in set(entries.cells[own].tolist())]
        if others:
            yield held, others
