"""Several releases of one source as the plain engine joins them: records by source row or person, their types and classes as tuples of cells."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

import numpy as np

from privrelease.engine.assignment_protocol import Agreement, Candidates, Differing, JoinedReleases
from tests.contract.engine.plain_audit import key, text

__all__ = ["PlainAssignments"]

MISSING = (0, 0)


class PlainAssignments:
    """See :class:`privrelease.engine.assignment_protocol.AssignmentEngine`."""

    def _cell(self, files, side, name, row):
        """A cell as all releases that have the column can compare it: as text where its types differ."""
        cell = self._of(files[side]).cells[name][row]
        types = {dict(file.columns)[name] for file in files if name in dict(file.columns)}
        return key(cell if len(types) == 1 else text(cell))

    def differing(self, files, maps, columns):
        sides = [dict(self._map(one)) for one in maps]
        common = sides[0].keys() & sides[1].keys()
        found = []
        for name in columns:
            pairs = [tuple(self._cell(files, side, name, sides[side][row]) for side in (0, 1)) for row in common]
            values = sum(MISSING not in pair and pair[0] != pair[1] for pair in pairs)
            found.append(Differing(values, sum((one == MISSING) != (other == MISSING) for one, other in pairs)))
        return tuple(found)

    def join_releases(self, files, maps, shared, unit=None):
        """Keep, of each release, its records with their type (a tuple of cells, or of a person's tuples) and the person."""
        person = {}
        if unit is not None:
            cells = self._of(unit.source).cells[unit.unit]
            person = {row: ("alone", row) if cell is None else ("person", key(cell)) for row, cell in enumerate(cells)}
        sides, types = [], []
        for side, row_map in enumerate(maps):
            mine = [one for one in shared if side in one.sides]
            rows = {
                source: tuple((1, source) if one.name is None else self._cell(files, side, one.name, row) for one in mine)
                for source, row in self._map(row_map)
                if unit is None or source in person
            }
            records = {source: (person.get(source, source), kind) for source, kind in rows.items()}
            if unit is not None and unit.together:
                own = defaultdict(list)
                for who, kind in records.values():
                    own[who].append(kind)
                records = {who: (who, tuple(sorted(kinds))) for who, kinds in own.items()}
            numbers = {kind: number for number, kind in enumerate(sorted({kind for _, kind in records.values()}))}
            sides.append({record: (who, numbers[kind]) for record, (who, kind) in records.items()})
            types.append(list(numbers))
        everyone = set().union(*sides)
        vectors = sorted({tuple(side[one][1] if one in side else -1 for side in sides) for one in everyone})
        name = f"j{len(self._kept)}"
        self._kept[name] = (sides, types, person)
        found = np.array(vectors, np.int64).reshape(len(vectors), len(files))
        return JoinedReleases(name, tuple(files), tuple(maps), tuple(shared), unit, found)

    def agreement(self, joined, side, most_pairs):
        if joined.unit is not None and joined.unit.together:
            return None
        sides, types, _ = self._kept[joined.handle]
        others = [other for other in range(len(sides)) if other != side]
        inside = set.intersection(*(set(sides[other]) for other in others))
        rest = Counter(tuple(sides[other][one][1] for other in others) for one in inside)
        listed, near, pairs = sorted(rest), 0, []
        for kind, number in product(range(len(types[side])), range(len(listed))):
            met = list(self._met(joined, side, kind, dict(zip(others, listed[number], strict=True))))
            if all(ours == theirs for ours, theirs, exact in met if exact):
                near += 1
                if all(exact or ours == theirs or MISSING in (ours, theirs) for ours, theirs, exact in met):
                    pairs.append((kind, number))
        if near > most_pairs:
            return None
        times = Counter(kind for _, kind in sides[side].values())
        return Agreement(
            np.array([times[kind] for kind in range(len(types[side]))], np.int64),
            np.array(listed, np.int64).reshape(len(listed), len(others)),
            np.array([rest[vector] for vector in listed], np.int64),
            np.array(pairs, np.int64).reshape(len(pairs), 2),
        )

    def _met(self, joined, side, kind, vector):
        """The cells of a type and of types of other releases that say the same of a record: (ours, theirs, whether missing ones count)."""
        _, types, _ = self._kept[joined.handle]
        for other, number in vector.items():
            for one in joined.shared:
                if side in one.sides and other in one.sides:
                    ours, theirs = (
                        types[at][of][[here for here in joined.shared if at in here.sides].index(one)]
                        for at, of in ((side, kind), (other, number))
                    )
                    yield ours, theirs, one.exact

    def _known(self, joined, side, names, knows_rows):
        """What is known of each record of a release, and whether all of it is missing."""
        sides, _, person = self._kept[joined.handle]
        table = self._of(joined.files[side])
        rows = {
            source: tuple(key(table.cells[name][row]) for name in names)
            for source, row in self._map(joined.maps[side])
            if joined.unit is None or source in person
        }
        own = {source: [cells] for source, cells in rows.items()}
        if joined.unit is not None and joined.unit.together:
            own = defaultdict(list)
            for source, cells in rows.items():
                own[person[source]].append(cells)
        classes = {record: tuple(sorted(cells if knows_rows else set(cells))) for record, cells in own.items()}
        return {one: (classes[one], all(cell == MISSING for cells in classes[one] for cell in cells)) for one in sides[side]}

    def candidates(self, joined, vectors, known, *, knows_rows=False):
        sides, _, _ = self._kept[joined.handle]
        m, last = len(sides), len(sides) - 1
        classes = [self._known(joined, side, known[side], knows_rows) for side in range(m)]
        by_row = joined.unit is None or joined.unit.together
        of_class, kinds = [], []
        for side in range(m):
            people, there = defaultdict(set), defaultdict(set)
            for record, (who, kind) in sides[side].items():
                people[classes[side][record][0]].add((record if by_row else who, kind))
                there[classes[side][record][0]].add(kind)
            of_class.append(people)
            kinds.append(there)
        targets = defaultdict(set)
        lost = {}
        for record in set().union(*sides):
            held = tuple(side for side in range(m) if record in sides[side])
            if len(held) > 1 and held[-1] == last:
                sign = (held, tuple(classes[side][record][0] for side in held))
                targets[sign].add(sides[held[0]][record][0])
                lost[sign] = all(classes[side][record][1] for side in held if known[side])
        lines = []
        for (held, own), people in targets.items():
            possible = {tuple(vector[side] for side in held) for vector in vectors.tolist()}
            fits = [
                vector
                for vector in possible
                if all(kind >= 0 and kind in kinds[side][one] for kind, side, one in zip(vector, held, own, strict=True))
            ]
            alone, remain = [-1] * m, [-1] * m
            for place, (side, one) in enumerate(zip(held, own, strict=True)):
                allowed = {vector[place] for vector in fits}
                alone[side] = len({who for who, _ in of_class[side][one]})
                remain[side] = len({who for who, kind in of_class[side][one] if kind in allowed})
            lines.append((len(people), alone, remain, lost[held, own]))
        return Candidates(
            np.array([line[0] for line in lines], np.int64),
            np.array([line[1] for line in lines], np.int64).reshape(len(lines), m),
            np.array([line[2] for line in lines], np.int64).reshape(len(lines), m),
            np.array([line[3] for line in lines], np.bool_),
        )
