"""Tables of counts and sums as the plain engine adds them up, row by row."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

import numpy as np

from privrelease.relational.schema import ColumnType
from privrelease.relational.tables import Contributions, TableCells
from tests.contract.engine.plain_audit import key, text

__all__ = ["PlainTables"]


class PlainTables:
    """See :class:`privrelease.engine.protocol.audit.MeasuringEngine`."""

    def _steps(self, staged, name):
        column = next(one_ for one_ in staged.columns if one_.name == name)
        cells = self._of(staged).cells[name]
        if column.type is ColumnType.INTEGER:
            return cells
        return [None if cell is None else round(cell / float(column.grid)) for cell in cells]

    def contributions(self, staged, asked):
        table = self._of(staged)
        keys = [[text(cell) for cell in table.cells[name]] for name in asked.by]
        sums = [self._steps(staged, name) for name in asked.sums]
        persons = (
            {cell: code for code, cell in enumerate(sorted(set(map(key, table.cells[asked.unit]))))} if asked.unit else None
        )
        entries = defaultdict(lambda: [0, *[0] * (2 * len(sums))])
        inside = 0
        for row in range(table.n):
            place = [
                listed.index(column[row]) if column[row] in listed else -1
                for listed, column in zip(asked.keys, keys, strict=True)
            ]
            if -1 in place:
                continue
            inside += 1
            who = row if persons is None else persons[key(table.cells[asked.unit][row])]
            cell = int(np.ravel_multi_index(place, asked.inner)) if place else 0
            entry = entries[cell, who]
            entry[0] += 1
            for number, steps in enumerate(sums):
                entry[1 + number] += steps[row] or 0
                entry[1 + len(sums) + number] += steps[row] is not None
        found = [(cell, who, *entry) for (cell, who), entry in sorted(entries.items())]
        columns = np.array(found, np.int64).reshape(len(found), 3 + 2 * len(sums)).T
        added, known = columns[3 : 3 + len(sums)], columns[3 + len(sums) :]
        return Contributions(columns[0], columns[1], columns[2], added, known, table.n - inside)

    def table_cells(self, staged, asked):
        found = self.contributions(staged, asked)
        size = int(np.prod(asked.shape))
        held = [defaultdict(lambda: [0, *[0] * (2 * len(asked.sums))]) for _ in range(size)]
        rows_of = Counter()
        for entry in zip(
            found.cells.tolist(),
            found.persons.tolist(),
            found.rows.tolist(),
            *found.sums.tolist(),
            *found.known.tolist(),
            strict=True,
        ):
            cell, who, *figures = entry
            rows_of[who] += figures[0]
            place = np.unravel_index(cell, asked.inner)
            sides = [(int(at), inner) if asked.margins else (int(at),) for at, inner in zip(place, asked.inner, strict=True)]
            for over in product(*sides):
                own = held[int(np.ravel_multi_index(over, asked.shape))][who]
                for number, figure in enumerate(figures):
                    own[number] += figure
        many = len(asked.sums)

        def by_sum(figure):
            return np.array(
                [[figure(list(people.values()), number) for people in held] for number in range(many)], np.int64
            ).reshape(many, size)

        largest = np.zeros((many, size, asked.largest), np.int64)
        for number, cell in product(range(many), range(size)):
            top = sorted((own[1 + number] for own in held[cell].values() if own[1 + many + number]), reverse=True)[
                : asked.largest
            ]
            largest[number, cell, : len(top)] = top
        several = np.array([rows_of[who] > 1 for who in found.persons.tolist()], np.bool_)
        return TableCells(
            np.array([sum(own[0] for own in people.values()) for people in held], np.int64),
            np.array([len(people) for people in held], np.int64),
            by_sum(lambda people, number: sum(own[1 + number] for own in people)),
            largest,
            by_sum(lambda people, number: sum(own[1 + many + number] for own in people)),
            by_sum(lambda people, number: sum(own[1 + many + number] > 0 for own in people)),
            found.left_out,
            Contributions(
                found.cells[several],
                found.persons[several],
                found.rows[several],
                found.sums[:, several],
                found.known[:, several],
                0,
            )
            if asked.several and asked.unit
            else None,
        )
