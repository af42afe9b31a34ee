"""Rows and several tables of the same persons: what who has them all learns of suppressed cells, and neither table alone gives back.

The attacker puts every row into one of the cells of all columns together: the keys of all group columns of the tables, or a key that none of them
lists, and, for each filter, whether the row satisfies it. He keeps every way in which that gives what all tables print. Where rows show a column
of every person, tables that have no other column in common say nothing more together: each is then a matter of its own. Tables that are left
together are judged as one system of whole numbers. It has a box of cells for each of a few sets of columns that are linked without a ring
(:func:`clusters`), in which every table, what the rows show and every dependency has its place: whole numbers in the boxes that agree in what
these have in common are those of one population, so that no more cells are needed, and nothing is lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.comparison.earlier.granted_maps import determined_sums, granted_maps
from privrelease.audit.comparison.earlier.joint_axes import JointAxes
from privrelease.audit.comparison.earlier.joint_boxes import JointBoxes
from privrelease.audit.comparison.earlier.rows_and_table import COUNT, CellsByRows, TableShown
from privrelease.disclosure.tables.attacker import Knowledge, Polytope
from privrelease.disclosure.tables.layout import Relation
from privrelease.relational.schema import ColumnType
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.comparison.earlier.granted_maps import GrantedMap
    from privrelease.audit.comparison.earlier.joint_boxes import Kind
    from privrelease.audit.comparison.earlier.rows_and_table import Cell, RowsOut
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.release_pairs import RowPattern

__all__ = ["JointCells", "cells_together"]


@dataclass(frozen=True, slots=True)
class JointCells:
    """Figures that rows and the tables of these numbers give together: ``learnt`` of each. ``agree``: as of one table. ``summed``: printed figures that add up
    a column of the rows, which narrows suppressed cells of the other tables down, and how far is not computed.
    """

    tables: tuple[int, ...]
    learnt: tuple[CellsByRows, ...] = ()
    agree: bool | None = True
    summed: frozenset[str] = frozenset()


def cells_together(tables: Sequence[TableShown], rows: RowsOut, engine: MeasuringEngine) -> tuple[JointCells, ...]:
    """Return what follows from rows and tables that tell more together than each with the rows; empty where none do."""
    if len(tables) < 2 or not any(one.hiding for one in tables):
        return ()
    found = JointAxes(tables, rows, engine)
    return tuple(_System(found, group).read() for group in found.groups() if any(tables[i].hiding for i in group))


class _System:
    """The tables of a group with the rows, as unknowns and what they add up to."""

    def __init__(self, axes: JointAxes, tables: tuple[int, ...]) -> None:
        self._axes, self._numbers = axes, tables
        self._tables = [axes.tables[place] for place in tables]
        own = axes.with_linked(frozenset[int]().union(*map(axes.of_table, self._tables)))
        width = len(axes.columns)
        self._filters = sorted(axis for axis in own if axis >= width)
        self._own = own.union(*map(axes.of_filter, self._filters))
        self._asked, self._read = axes.asked(self._own)
        self._low: list[float] = []
        self._high: list[float] = []
        self._relations: list[Relation] = []

    def read(self) -> JointCells:
        """Return what follows, with as much of what is known of columns as fits."""
        summed = self._summed()
        patterns = self._axes.engine.row_patterns(self._axes.rows.file, self._asked)
        maps, listed = self._maps()
        found: tuple[CellsByRows, ...] | None = None
        for strict in (True, False) if maps or listed or self._axes.absent else ():
            asked = replace(self._asked, maps=tuple((one.column, one.handle) for _, one in maps))
            seen = self._axes.engine.row_patterns(self._axes.rows.file, asked) if maps else patterns
            found = self._learnt(seen, maps, listed if strict else frozenset(), dependent=True, strict=strict)
            if found is None or found:
                break
        else:
            found = self._learnt(patterns, (), frozenset(), dependent=False, strict=True)
        if not found:
            return JointCells(self._numbers, agree=None if found is None else False, summed=summed)
        return JointCells(self._numbers, found, summed=summed)

    def _summed(self) -> frozenset[str]:
        """Return the figures that a table prints and that add up a column of the rows, where another one hides something."""
        rows, own = self._axes.rows, self._axes.own
        found = set[str]()
        for table in self._tables:
            if not any(one.hiding for one in self._tables if one is not table):
                continue
            printed = {name for figures in table.printed.values() for name, figure in figures.items() if figure is not None}
            sums = {figure: column for figure, column in table.added.items() if figure in printed}
            found |= {figure for figure, column in sums.items() if column in own}
            found |= determined_sums(rows, sums, self._axes.engine)
            if any(self._axes.types[name] in {ColumnType.INTEGER, ColumnType.NUMBER} for name in own):
                found |= table.unnamed & printed
        return frozenset(found)

    def _maps(self) -> tuple[list[tuple[int, GrantedMap]], frozenset[int]]:
        """Return what columns of the rows say of axes that they do not show of everybody, and the columns whose key is always listed."""
        axes = self._axes
        names = [axes.columns[axis] for axis in sorted(self._own) if axis < len(axes.columns)]
        union = TableShown(tuple(names), tuple(axes.keys[axes.number[name]] for name in names), {}, apart=axes.apart)
        sides = [side for side, name in enumerate(names) if axes.number[name] not in axes.certain]
        found = [
            (axes.number[names[one.side]], one)
            for one in granted_maps(union, axes.rows, sides, axes.engine)
            if one.side is not None
        ]
        for axis in self._filters:
            if axis not in axes.certain:
                where = axes.filters[axis - len(axes.columns)]
                of_filter = granted_maps(replace(union, where=where), axes.rows, [None], axes.engine)
                found += [(axis, one) for one in of_filter if one.side is None]
        return [one for one in found if one[1].handle], frozenset(axis for axis, one in found if not one.handle)

    def _learnt(
        self,
        patterns: Sequence[RowPattern],
        maps: Sequence[tuple[int, GrantedMap]],
        listed: frozenset[int],
        *,
        dependent: bool,
        strict: bool,
    ) -> tuple[CellsByRows, ...] | None:
        """Return what is learnt of each table; empty where no way fits, None where too much is open."""
        self._low, self._high, self._relations = [], [], []
        seen = tuple(sorted({*(self._axes.number[name] for name in self._asked.by), *self._read, *(axis for axis, _ in maps)}))
        alike: dict[Kind, float] = {}
        for pattern in patterns:
            kind = tuple(self._places(axis, pattern, maps, listed, strict=strict) for axis in seen)
            alike[kind] = alike.get(kind, 0.0) + pattern.rows
        kinds = list(alike.items())
        left_out = self._axes.rows.left_out
        if left_out != 0:
            any_ = tuple(tuple(range(self._axes.size(axis) - (axis in listed))) for axis in seen)
            kinds.append((any_, float("inf") if left_out is None else float(left_out)))
        boxes = JointBoxes(self._axes, self._own, seen, self._tables, listed, dependent=dependent)
        return None if not boxes.reached(kinds) else self._attacked(boxes, kinds)

    def _places(
        self,
        axis: int,
        pattern: RowPattern,
        maps: Sequence[tuple[int, GrantedMap]],
        listed: frozenset[int],
        *,
        strict: bool,
    ) -> tuple[int, ...]:
        """Return the places of an axis that such a row can have."""
        axes = self._axes
        said = [
            one.sets[number]
            for (of, one), number in zip(maps, pattern.within, strict=True)
            if of == axis and number is not None
        ]
        known = [one for one in said if one is not None]
        if axis >= len(axes.columns):
            inside = pattern.also[self._read.index(axis)] if axis in self._read else None
            if inside is not None:
                return (0 if inside else 1,)
            return tuple(place for place in (0, 1) if all(place in states for states, _ in known))
        name = axes.columns[axis]
        key = pattern.keys[self._asked.by.index(name)] if name in self._asked.by else None
        if name in self._asked.by and not (key is None and name in self._asked.lossy):
            return (axes.place(axis, key),)
        places = [place for place in range(len(axes.keys[axis])) if all(place in keys for keys, _ in known)]
        other = not strict or (axis not in listed and all(lacking for _, lacking in known))
        return (*places, *((len(axes.keys[axis]),) if other else ()))

    def _unknown(self, low: float, high: float) -> int:
        self._low.append(low)
        self._high.append(high)
        return len(self._low) - 1

    def _attacked(self, boxes: JointBoxes, kinds: Sequence[tuple[Kind, float]]) -> tuple[CellsByRows, ...]:
        for _ in range(boxes.cells):
            self._unknown(0.0, float("inf"))
        self._spread(boxes, kinds)
        for ours, theirs in boxes.common():
            whole = self._unknown(0.0, float("inf"))
            self._relations += [Relation(whole, ours), Relation(whole, theirs)]
        numbers: list[dict[Cell, int]] = []
        for table in self._tables:
            places = {cell: self._unknown(*table.bounds(cell)) for cell in table.printed}
            self._relations += [Relation(place, boxes.of_cell(table, cell)) for cell, place in places.items()]
            numbers.append(places)
        idle = self._unknown(0.0, 1.0)
        hidden = [
            (place, max(1.0, table.widths.get(cell, 1.0)))
            for table, places in zip(self._tables, numbers, strict=True)
            for cell, place in places.items()
            if table.hides(cell)
        ]
        try:
            attack = Polytope(self._relations, Knowledge(np.array(self._low), np.array(self._high), integral=True))
            attack.interval((idle,))
            attack.explore(np.array([place for place, _ in hidden]), np.array([width for _, width in hidden]))
            ends = {place: attack.enough(place, width) for place, width in hidden}
        except ValueError:
            return ()
        known = {place for place, width in hidden if ends[place][1] - ends[place][0] < width}
        return tuple(
            CellsByRows(
                {
                    cell: frozenset({COUNT} if place in known and COUNT in table.printed[cell] else ())
                    for cell, place in places.items()
                }
            )
            for table, places in zip(self._tables, numbers, strict=True)
        )

    def _spread(self, boxes: JointBoxes, kinds: Sequence[tuple[Kind, float]]) -> None:
        """Put the rows into the cells of what they show."""
        certain: dict[int, float] = {}
        loose: dict[int, list[int]] = {}
        for kind, rows in kinds:
            cells = boxes.seen_cells(kind)
            if len(cells) == 1 and np.isfinite(rows):
                certain[cells[0]] = certain.get(cells[0], 0.0) + rows
                continue
            parts = [self._unknown(0.0, rows) for _ in cells]
            for cell, part in zip(cells, parts, strict=True):
                loose.setdefault(cell, []).append(part)
            if np.isfinite(rows):
                self._relations.append(Relation(self._unknown(rows, rows), tuple(parts)))
        for cell, own in boxes.by_seen():
            fixed = self._unknown(certain.get(cell, 0.0), certain.get(cell, 0.0))
            open_ = loose.get(cell, [])
            whole = self._unknown(0.0, float("inf")) if open_ else fixed
            self._relations.append(Relation(whole, own))
            if open_:
                self._relations.append(Relation(whole, (fixed, *open_)))
