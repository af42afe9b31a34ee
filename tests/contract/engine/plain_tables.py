"""Tables of counts and sums as the plain engine adds them up, row by row."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

import numpy as np

from privrelease.relational.schema import ColumnType
from privrelease.relational.tables import Contributions, TableCells
from tests.contract.engine.plain_audit import key, text
from tests.contract.engine.plain_statistics import holds

__all__ = ["PlainTables"]


class PlainTables:
    """See :class:`privrelease.engine.protocol.audit.MeasuringEngine`."""

    def _steps(self, staged, name):
        column = next(one_ for one_ in staged.columns if one_.name == name)
        cells = self._of(staged).cells[name]
        if column.type is ColumnType.INTEGER:
            return cells
        return [None if cell is None else round(cell / float(column.grid)) for cell in cells]

    @staticmethod
    def _side(listed, cell, asked):
        """The place of a key, -1 where it has none."""
        return listed.index(cell) if cell in listed else len(listed) if asked.others else -1

    @staticmethod
    def _is_member(member, cells):
        return all(text(cells[name]) in keys for name, keys in member.keys) and (
            member.where is None or holds(member.where, cells) is True
        )

    def changed_contributions(self, now, before, asked, earlier=None):
        entries = defaultdict(lambda: [0, *[0] * (2 * len(asked.sums))])
        for staged, query, sign in ((now, asked, 1), (before, earlier or asked, -1)):
            sums = [self._steps(staged, name) for name in asked.sums]
            recoded = {name: dict(pairs) for name, pairs in query.recoded}
            for row, cells in enumerate(self._listed(staged)):
                place = []
                for name, keys in zip(query.by, query.keys, strict=True):
                    cell = text(cells[name])
                    place.append(self._side(keys, recoded[name].get(cell) if name in recoded else cell, query))
                place += [int(not self._is_member(member, cells)) for member in query.members]
                if -1 in place or (query.where is not None and holds(query.where, cells) is not True):
                    continue
                own = [steps[row] for steps in sums]
                figures = [1, *(value or 0 for value in own), *(int(value is not None) for value in own)]
                who = text(cells[asked.unit]) if asked.unit else tuple(own)
                entry = entries[tuple(place), who]
                entry[:] = [one + sign * figure for one, figure in zip(entry, figures, strict=True)]
        found, persons = [], {}
        for number, ((place, who), entry) in enumerate(sorted(entries.items(), key=str)):
            cell = int(np.ravel_multi_index(place, asked.inner)) if place else 0
            if asked.unit:
                if any(entry):
                    found.append((cell, persons.setdefault(who, len(persons)), *entry))
                continue
            rows = abs(entry[0])
            found += [(cell, (number, one), *(figure // rows for figure in entry)) for one in range(rows)]
        if not asked.unit:
            found = [(cell, number, *figures) for number, (cell, _, *figures) in enumerate(found)]
        columns = np.array(found, np.int64).reshape(len(found), 3 + 2 * len(asked.sums)).T
        many = len(asked.sums)
        return Contributions(columns[0], columns[1], columns[2], columns[3 : 3 + many], columns[3 + many :], 0)

    def contributions(self, staged, asked):
        """Join persons who add the same to the same cells; those with several rows stay themselves where they are asked for."""
        found = self._each(staged, asked)
        own, rows_of = defaultdict(list), Counter()
        for cell, who, rows, *figures in zip(
            found.cells.tolist(),
            found.persons.tolist(),
            found.rows.tolist(),
            *found.sums.tolist(),
            *found.known.tolist(),
            strict=True,
        ):
            own[who].append((cell, rows, *figures))
            rows_of[who] += rows
        alike = defaultdict(list)
        for who, entries in own.items():
            apart = who if asked.unit and asked.several and rows_of[who] > 1 else None
            alike[tuple(sorted(entries)), apart].append(who)
        listed = sorted((cell, min(of), len(of), *more) for (entries, _), of in alike.items() for cell, *more in entries)
        many = len(asked.sums)
        columns = np.array(listed, np.int64).reshape(len(listed), 4 + 2 * many).T
        cells, persons, times, rows = columns[:4]
        return Contributions(cells, persons, rows, columns[4 : 4 + many], columns[4 + many :], found.left_out, times)

    def _each(self, staged, asked):
        table = self._of(staged)
        keys = [[text(cell) for cell in table.cells[name]] for name in asked.by]
        sums = [self._steps(staged, name) for name in asked.sums]
        persons = (
            {cell: code for code, cell in enumerate(sorted(set(map(key, table.cells[asked.unit]))))} if asked.unit else None
        )
        entries = defaultdict(lambda: [0, *[0] * (2 * len(sums))])
        inside = 0
        for row, cells in enumerate(self._listed(staged)):
            place = [self._side(listed, column[row], asked) for listed, column in zip(asked.keys, keys, strict=True)]
            place += [int(not self._is_member(member, cells)) for member in asked.members]
            if -1 in place or (asked.where is not None and holds(asked.where, cells) is not True):
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
        found = self._each(staged, asked)
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
