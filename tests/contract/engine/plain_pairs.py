"""What the plain engine says of two releases of the same persons: links as lists of pairs, classes as dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

from privrelease.engine.protocol.release_pairs import ColumnMap, CombinedClasses, Links, RowPattern, SharedValues
from privrelease.relational.filters import Both, Either, Missing, Negated, columns_of
from tests.contract.engine.plain_audit import text
from tests.contract.engine.plain_statistics import holds

__all__ = ["PlainPairs"]

MISSING = (0, 0)


def asks_for_missing(of):
    match of:
        case Both(left, right) | Either(left, right):
            return asks_for_missing(left) or asks_for_missing(right)
        case Negated(inner):
            return asks_for_missing(inner)
        case _:
            return isinstance(of, Missing)


def combined(rows):
    """Classes from tuples of their figures, the last one whether every known cell is missing."""
    columns = list(zip(*rows, strict=True)) or [()] * 6
    return CombinedClasses(*(np.array(column, np.int64) for column in columns[:5]), np.array(columns[5], np.bool_))


class PlainPairs:
    """See :class:`privrelease.engine.protocol.release_pairs.AcrossEngine`."""

    def _linked(self, pairs, complete=True):
        name = f"links{len(self._kept)}"
        self._kept[name] = sorted(pairs)
        return Links(name, len(pairs), complete)

    def links_by_maps(self, first_map, second_map):
        theirs = defaultdict(list)
        for source, output in self._map(second_map):
            theirs[source].append(output)
        return self._linked([(one, other) for source, one in self._map(first_map) for other in theirs[source]])

    def links_by_place(self, first, second):
        return self._linked([(row, row) for row in range(min(self._of(first).n, self._of(second).n))])

    def links_by_columns(self, first, second, exact, loose, most_pairs):
        sides = [list(zip(self._rows(of, exact), self._rows(of, loose), strict=True)) for of in (first, second)]
        counts = [Counter(ours for ours, _ in side) for side in sides]
        if sum(n * counts[1][ours] for ours, n in counts[0].items()) > most_pairs:
            alone = [{one: row for row, one in enumerate(side) if side.count(one) == 1} for side in sides]
            return self._linked([(row, alone[1][one]) for one, row in alone[0].items() if one in alone[1]], not loose)

        def agree(one, other):
            return one[0] == other[0] and all(a == b or MISSING in (a, b) for a, b in zip(one[1], other[1], strict=True))

        whole = [Counter(side) for side in sides]
        met = [{one: [other for other in theirs if agree(one, other)] for one in ours} for ours, theirs in (whole, whole[::-1])]
        alone = [
            {one for one, others in met[side].items() if sum(whole[1 - side][other] for other in others) == 1}
            for side in (0, 1)
        ]
        place = {other: row for row, other in enumerate(sides[1])}
        found = ((row, one, met[0][one][0]) for row, one in enumerate(sides[0]) if one in alone[0])
        return self._linked([(row, place[other]) for row, one, other in found if other in alone[1]])

    def combined_classes(self, first, second, links, known_first, known_second, persons=None, *, unlinked=True):
        pairs = self._kept[links.handle]
        sides = [self._rows(of, names) for of, names in ((first, known_first), (second, known_second))]
        whose = [dict(enumerate(range(len(side)))) for side in sides]
        if persons is not None:
            cells = self._of(persons.source).cells[persons.unit]
            whose = [
                {output: cells[source] for source, output in self._map(one)} for one in (persons.first_map, persons.second_map)
            ]
        alone, apart = ([defaultdict(set), defaultdict(set)] for _ in range(2))
        for side in (0, 1):
            named = {pair[side] for pair in pairs}
            for row, one in enumerate(sides[side]):
                if row in whose[side] and whose[side][row] is not None:
                    alone[side][one].add(whose[side][row])
                    if row not in named:
                        apart[side][one].add(whose[side][row])
        groups = defaultdict(set)
        for a, b in pairs:
            if (who := whose[1].get(b)) is not None:
                groups[sides[0][a], sides[1][b]].add(who)
        return combined(
            [
                (
                    len(who),
                    len(alone[0][p]),
                    len(alone[1][q]),
                    len(apart[0][p]) if unlinked else 0,
                    len(apart[1][q]) if unlinked else 0,
                    bool(p + q) and all(cell == MISSING for cell in p + q),
                )
                for (p, q), who in sorted(groups.items())
            ]
        )

    def block_classes(self, first, second, shared, known_first, known_second):
        blocks = [self._rows(of, shared) for of in (first, second)]
        common = set(blocks[0]) & set(blocks[1])
        known = [self._rows(first, known_first), self._rows(second, known_second)]
        inside = [defaultdict(Counter), defaultdict(Counter)]
        apart, alone = [Counter(), Counter()], [Counter(), Counter()]
        for side in (0, 1):
            for block, one in zip(blocks[side], known[side], strict=True):
                alone[side][one] += 1
                if block in common:
                    inside[side][block][one] += 1
                else:
                    apart[side][one] += 1
        certain = {
            (p, q)
            for block in common
            if len(inside[0][block]) == 1 or len(inside[1][block]) == 1
            for p in inside[0][block]
            for q in inside[1][block]
        }
        rows = []
        for p, q in sorted(certain):
            both = [block for block in common if inside[0][block][p] and inside[1][block][q]]
            linked = min(sum(inside[0][block][p] for block in both), sum(inside[1][block][q] for block in both))
            lost = bool(p + q) and all(cell == MISSING for cell in p + q)
            rows.append((linked, alone[0][p], alone[1][q], apart[0][p], apart[1][q], lost))
        return combined(rows)

    def only_in_one(self, first, second, shared, known):
        counts = [Counter(self._rows(of, shared)) for of in (first, second)]
        places = [shared.index(name) for name in known]
        left = []
        for ours, theirs in (counts, counts[::-1]):
            sizes = Counter()
            for row, n in (ours - theirs).items():
                cells = tuple(row[place] for place in places)
                if not known or any(cell != MISSING for cell in cells):
                    sizes[cells] += n
            left.append(np.array(sorted(sizes.values()), np.int64))
        return left[0], left[1]

    def shared_values(self, first, second, pairs):
        found = []
        for names in pairs:
            ours, theirs = (
                {text(cell) for cell in self._of(of).cells[name] if cell is not None}
                for of, name in zip((first, second), names, strict=True)
            )
            found.append(SharedValues(len(ours), len(theirs), len(ours & theirs)))
        return tuple(found)

    def same_coding(self, first, second, columns):
        found = zip(columns, self.shared_values(first, second, [(name, name) for name in columns]), strict=True)
        return tuple(name for name, one in found if 2 * one.both >= min(one.first, one.second) > 0)

    def column_maps(self, of, asked):
        return tuple(self._column_map(of, one) for one in asked)

    def _column_map(self, of, asked):
        numbers, counts = {key: place for place, key in enumerate(asked.keys)}, Counter()
        for cells in self._listed(of):
            if cells[asked.column] is None:
                continue
            if isinstance(asked.on, str):
                on = text(cells[asked.on])
                if asked.each and on is not None:
                    numbers.setdefault(on, len(numbers))
                place = -1 if on is None else numbers.get(on, asked.places)
            else:
                place = 0 if holds(asked.on, cells) else 1
            counts[text(cells[asked.column]), place] += 1
        known = [pair for pair in counts if pair[1] >= 0]
        values, keys = Counter(value for value, _ in known), Counter(key for _, key in known)
        forward = all(n == 1 for n in values.values())
        backward = all(n == 1 for key, n in keys.items() if asked.each or key < asked.places)
        found = ColumnMap(len(values), len(keys), sum(counts[pair] for pair in known), forward=forward, backward=backward)
        if asked.each or not (forward or backward):
            return found
        sets = defaultdict(list)
        for value, place in sorted(counts):
            sets[value].append(place)
        distinct = sorted({tuple(places) for places in sets.values()})
        name = f"map{len(self._kept)}"
        self._kept[name] = {value: distinct.index(tuple(places)) for value, places in sets.items()}
        return replace(found, handle=name, sets=tuple(distinct))

    def row_patterns(self, released, asked):
        groups = defaultdict(lambda: [0] * (1 + len(asked.sums)))
        for cells in self._listed(released):
            within = tuple(self._kept[handle].get(text(cells[name])) for name, handle in asked.maps)
            also = tuple(self._inside(replace(asked, where=one), cells) for one in asked.also)
            own = groups[tuple(text(cells[name]) for name in asked.by), self._inside(asked, cells), within, also]
            own[0] += 1
            for place, name in enumerate(asked.sums, 1):
                own[place] += cells[name] is not None
        return tuple(RowPattern(*seen[:2], own[0], tuple(own[1:]), *seen[2:]) for seen, own in groups.items())

    @staticmethod
    def _inside(asked, cells):
        """Whether the filter holds; None where a cell that may have been suppressed leaves it open."""
        if asked.where is None:
            return True
        cells = {**cells, **dict.fromkeys(asked.unseen)}
        found = holds(asked.where, cells)
        lossy = any(cells[name] is None for name in columns_of(asked.where) & (asked.lossy | asked.unseen))
        return None if lossy and (found is None or asks_for_missing(asked.where)) else found is True
