"""What the plain engine answers an auditor, and the cells that it compares."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.engine.protocol.audit import (
    HouseholdCounts,
    LeftRows,
    PersonClasses,
    SameCells,
    TokenFacts,
    UnitFacts,
    ValuePairs,
    ValueRows,
)
from privrelease.engine.protocol.source_comparison import ExcessRows, Pattern, SourceComparison
from privrelease.relational.schema import SinkKind

__all__ = ["PlainAudit", "key", "one", "text"]


def one(value):
    """A cell as it is compared: -0.0 is 0.0, decimals are doubles."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return math.nan if value != value else value + 0.0
    return value


def key(value):
    """A cell by which cells are grouped and ordered: missing first, what is no number last."""
    if value is None:
        return (0, 0)
    return (2, 0) if value != value else (1, value)


def text(value):
    """A cell as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else value if isinstance(value, str) else str(value)


def number(value):
    """A cell as a number: a date as days."""
    return float(value.toordinal()) if isinstance(value, date) else float(value)


def counted(values):
    """Finite numbers in ascending order, and how often each occurs."""
    times = Counter(float(value) for value in values if value is not None and math.isfinite(value))
    return np.array(sorted(times), np.float64), np.array([times[value] for value in sorted(times)], np.int64)


class PlainAudit:
    """See :class:`privrelease.engine.protocol.audit.MeasuringEngine`."""

    def leftovers(self, sink):
        if sink.kind is not SinkKind.PARQUET:
            return ()
        names = pq.read_schema(sink.path).names
        file = pq.ParquetFile(sink.path, read_dictionary=names)
        said = []
        for name in names:
            listed, used = set(), set()
            for group in range(file.num_row_groups):
                for chunk in file.read_row_group(group, [name]).column(0).chunks:
                    if pa.types.is_dictionary(chunk.type):
                        listed |= set(chunk.dictionary.to_pylist())
                        used |= set(chunk.to_pylist())
            if listed - used:
                said.append(f"{len(listed - used)} values that no row uses in the dictionary of {name}")
        return tuple(said)

    def left_rows(self, source, row_map, columns, unit):
        table = self._of(source)
        named = {row for row, _ in self._map(row_map)}
        left = [row for row in range(table.n) if row not in named]
        cells = tuple((name, sum(table.cells[name][row] is not None for row in left)) for name in columns)
        persons = None if unit is None else len({table.cells[unit][row] for row in left} - {None})
        return LeftRows(len(left), persons, cells)

    def unequal_rows(self, first, second, columns):
        ours, theirs = self._rows(first, columns), self._rows(second, columns)
        return max(len(ours), len(theirs)) - sum(a == b for a, b in zip(ours, theirs, strict=False))

    def same_cells(self, source, released, row_map, pairs):
        found = []
        for before, after in pairs:
            ours, theirs = self._of(source).cells[before], self._of(released).cells[after]
            cells = [(text(ours[row]), text(theirs[at])) for row, at in self._traced(source, released, row_map)]
            both = [pair for pair in cells if None not in pair]
            same = sum(a == b for a, b in both)
            most, expected = 0, None
            if same:
                times, shown = Counter(a for a, _ in both), Counter(b for _, b in both)
                most = max(Counter(map(text, ours)).items(), key=lambda item: (item[0] is not None) * item[1])[1]
                expected = sum(times[value] * shown[value] for value in times) / len(both)
            found.append(SameCells(before, after, len(both), same, most, expected))
        return tuple(found)

    def token_facts(self, source, released, row_map, column):
        ours, theirs = self._of(source).cells[column], self._of(released).cells[column]
        cells = [(text(ours[row]), text(theirs[at])) for row, at in self._traced(source, released, row_map)]
        pairs = {pair for pair in cells if None not in pair}

        def unkeyed(value, token):
            digests = (getattr(hashlib, name)(value.encode()).hexdigest() for name in ("md5", "sha1", "sha256"))
            return len(token) >= 16 and any(digest.startswith(token.lower()) for digest in digests)

        return TokenFacts(
            column,
            len({value for value, _ in pairs}),
            len({token for _, token in pairs}),
            len(pairs),
            sum((value is None) != (token is None) for value, token in cells),
            sum(value == token for value, token in pairs),
            sum(unkeyed(*pair) for pair in pairs),
        )

    def value_pairs(self, source, released, row_map, columns):
        for column in columns:
            ours, theirs = self._of(source).cells[column], self._of(released).cells[column]
            times = Counter((ours[row], theirs[at]) for row, at in self._traced(source, released, row_map))
            if times:
                before, after = (pa.array([pair[side] for pair in times]) for side in (0, 1))
                yield ValuePairs(column, before, after, np.array(list(times.values()), np.int64))

    def value_rows(self, of, column):
        times = Counter(cell for cell in self._of(of).cells[column] if cell is not None)
        if times:
            yield ValueRows(pa.array(list(times)), np.array(list(times.values()), np.int64))

    def unit_facts(self, source, unit):
        cells = self._of(source).cells[unit]
        times = Counter(cell for cell in cells if cell is not None)
        return UnitFacts(len(cells), len(times), cells.count(None), max(times.values(), default=0))

    def _sides(self, source, released, row_map):
        """The table whose columns are asked for, and pairs of its row and the row of the other."""
        if released is None or row_map is None:
            return source, [(row, row) for row in range(self._of(source).n)]
        return released, [(at, row) for row, at in self._traced(source, released, row_map)]

    def person_classes(self, source, released, row_map, columns, unit):
        if source is None:
            source, released, row_map = released, None, None
        side, pairs = self._sides(source, released, row_map)
        (codes,) = self._coded([side], columns)
        whole = [codes[at] for at, _ in pairs]
        (chosen,) = self._recoded([whole], len(columns))
        tuples, table = self._table(columns, chosen)
        place = {row: at for at, row in enumerate(tuples)}
        person = [key(self._of(source).cells[unit][row]) for _, row in pairs]
        rows = Counter(zip(person, (place[row] for row in chosen), strict=True))
        held = defaultdict(list)
        for (who, of), times in sorted(rows.items()):
            held[who].append((of, times))
        alike = Counter(map(tuple, held.values()))
        listed = sorted((of, kind, times) for kind, one_ in enumerate(alike) for of, times in one_)
        found = np.array(listed, np.int64).reshape(len(listed), 3)
        made = ClassTable(
            table.columns,
            table.codes,
            table.counts,
            None,
            found[:, 0].astype(np.uint32),
            found[:, 1].astype(np.uint32),
            np.array(list(alike.values()), np.int64),
        )
        return PersonClasses(made, found[:, 2])

    def _recoded(self, sides, width):
        """Codes without the gaps that values of other rows leave."""
        for place in range(width):
            used = {row[place] for side in sides for row in side}
            code = {old: new for new, old in enumerate(sorted(used | {0}))}
            sides = [[(*row[:place], code[row[place]], *row[place + 1 :]) for row in side] for side in sides]
        return sides

    def weighted_classes(self, source, released, row_map, columns, weight, unit=None):
        side, pairs = self._sides(source, released, row_map)
        (codes,) = self._coded([side], columns)
        (chosen,) = self._recoded([[codes[at] for at, _ in pairs]], len(columns))
        tuples, table = self._table(columns, chosen)
        sums = dict.fromkeys(tuples, Decimal(0))
        of_person = defaultdict(list)
        for place, (row, (_, at)) in enumerate(zip(chosen, pairs, strict=True)):
            who = place if unit is None else key(self._of(source).cells[unit][at])
            of_person[row, who].append(Decimal(str(self._of(source).cells[weight][at] or 0)))
        for (row, _), found in of_person.items():
            sums[row] += min(found)
        return ClassTable(table.columns, table.codes, table.counts, np.array([float(sums[row]) for row in tuples]))

    def number_counts(self, of, column):
        return counted(self._of(of).cells[column])

    def text_counts(self, of, column, values):
        cells = [text(cell) for cell in self._of(of).cells[column] if cell is not None]
        return tuple(cells.count(value) for value in values), len(cells)

    def number_distances(self, source, released, row_map, column):
        ours, theirs = self._of(source).cells[column], self._of(released).cells[column]
        pairs = [(ours[row], theirs[at]) for row, at in self._traced(source, released, row_map)]
        return counted(abs(b - a) for a, b in pairs if None not in (a, b) and a != b)

    def household_counts(self, of, household, columns, *, unit=None, persons_from=None, knows_rows=False):
        table, rows = self._of(of), self._rows(of, columns)
        person = self._whose(of, unit, persons_from)
        crowd = defaultdict(set)
        for row, who in person.items():
            crowd[rows[row]].add(who)
        members, others = defaultdict(lambda: defaultdict(list)), defaultdict(list)
        for row, who in person.items():
            if table.cells[household][row] is not None:
                members[table.cells[household][row]][who].append(rows[row])
            else:
                others[who].append(rows[row])
        alike = Counter(tuple(sorted(own if knows_rows else set(own))) for own in others.values()) if members else Counter()
        alone = Counter(alike.values())
        found, made_up = Counter(), set()
        for people in members.values():
            signs = sorted(tuple(sorted(own if knows_rows else set(own))) for own in people.values())
            found[tuple(signs)] += 1
            made_up.add(tuple(sorted(min(len(crowd[row]) for row in own) for own in people.values())))
        sizes = Counter(found.values())
        listed = [(kind, *item) for kind, one_ in enumerate(made_up) for item in Counter(one_).items()]
        kind, of_crowd, times = np.array(listed, np.int64).reshape(len(listed), 3).T
        classes = np.array([sizes[size] for size in sorted(sizes)], np.int64)
        largest = max(map(len, members.values()), default=0)
        by_size = np.array(sorted(alone.items()), np.int64).reshape(len(alone), 2).T
        return HouseholdCounts(np.array(sorted(sizes), np.int64), classes, largest, kind, of_crowd, times, *by_size)

    # without a row map
    def beside_source(self, source, released, columns, persons=None):
        name = f"b{len(self._kept)}"
        self._kept[name] = [
            list(
                zip(
                    self._rows(of, columns),
                    [row[0] for row in self._rows(of, [persons[side]])] if persons else [None] * self._of(of).n,
                    strict=True,
                )
            )
            for side, of in enumerate((source, released))
        ]
        return SourceComparison(name, tuple(columns), persons is not None)

    def patterns(self, beside, maskable):
        _, released = self._kept[beside.handle]
        at = [(name, beside.columns.index(name)) for name in maskable]
        times = Counter(tuple(name for name, place in at if row[place] != (0, 0)) for row, _ in released)
        return tuple(Pattern(kept, rows) for kept, rows in sorted(times.items(), key=lambda item: (-item[1], item[0])))

    def beyond_source(self, beside, fixed, kept, others=()):
        asked = [beside.columns.index(name) for name in (*fixed, *kept)]
        there = [beside.columns.index(name) for name in kept]
        absent = [beside.columns.index(name) for name in others]
        sides = []
        for rows in self._kept[beside.handle]:
            whole = [(row, who) for row, who in rows if all(row[place] != (0, 0) for place in there)]
            sides.append(
                [
                    (tuple(row[place] for place in asked), who, all(row[place] == (0, 0) for place in absent))
                    for row, who in whole
                ]
            )
        looked_at = {values for values, _, alone in sides[1] if alone}
        ours, theirs = (Counter(values for values, _, _ in side if values in looked_at) for side in sides)
        excess = {values: rows - ours[values] for values, rows in theirs.items() if rows > ours[values]}
        persons = 0
        if beside.persons:
            who = [defaultdict(set), defaultdict(set)]
            for found, side in zip(who, sides, strict=True):
                for values, person, _ in side:
                    found[values].add(person)
            persons = sum(max(len(who[1][values]) - len(who[0][values]), 0) for values in looked_at)
        return ExcessRows(sum(excess.values()), sum(rows for values, rows in excess.items() if not ours[values]), persons)
