"""Figures of statistics as the plain engine counts them, row by row: filters, bounded contributions, cells; and persons put aside."""

from __future__ import annotations

import hashlib
import hmac
import operator
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from math import floor, isfinite, prod

import numpy as np

from privrelease.relational.aggregates import Aggregated, BinKey, CodedRows
from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated, columns_of
from privrelease.relational.schema import ColumnType
from tests.contract.engine.plain_audit import text

__all__ = ["PlainStatistics", "holds", "worth"]

COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def worth(value):
    """A literal of a filter as cells are held: moments as nanoseconds since 1970."""
    if isinstance(value, datetime):
        return round((value.replace(tzinfo=UTC) - EPOCH).total_seconds() * 10**6) * 1000
    return value


def holds(of, row):
    """True, False or None (unknown): a filter of one row, cells by name."""
    match of:
        case Both(left, right):
            sides = {holds(left, row), holds(right, row)}
            return False if False in sides else None if None in sides else True
        case Either(left, right):
            sides = {holds(left, row), holds(right, row)}
            return True if True in sides else None if None in sides else False
        case Negated(inner):
            found = holds(inner, row)
            return None if found is None else not found
        case Missing(column):
            return row[column] is None
        case Among(column, values):
            return None if row[column] is None else any(row[column] == worth(value) for value in values)
        case Comparison(column, sign, value):
            return None if row[column] is None else COMPARE[sign](row[column], worth(value))


def nearest(value):
    """The nearest whole number, halves away from zero."""
    return floor(value + Fraction(1, 2)) if value >= 0 else -floor(-value + Fraction(1, 2))


def integers(values):
    """Figures as int64, or as Python's integers where one is wider."""
    fit = all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, np.int64 if fit else np.object_)


class PlainStatistics:
    """See :class:`privrelease.engine.protocol.base.Engine`."""

    def _listed(self, staged):
        """Each row as a dictionary."""
        table = self._of(staged)
        return [{name: cells[row] for name, cells in table.cells.items()} for row in range(table.n)]

    @staticmethod
    def _step(cell, kind, grid):
        """A number in whole steps: days of a date, seconds of a moment; None where it is missing or not finite."""
        if cell is None or (isinstance(cell, float) and not isfinite(cell)):
            return None
        if kind is ColumnType.DATE:
            return cell.toordinal() - 719_163
        if kind is ColumnType.DATETIME:
            return cell // 10**9
        return nearest(Fraction(str(cell)) / grid)

    @staticmethod
    def _digest(secret, *words):
        return hashlib.sha256(repr((secret, words)).encode()).digest()

    def _counting(self, staged, bounding, names):
        """The rows that count: at most ``max_rows`` of each person, in the order of a hash of the row's own cells in ``names``."""
        rows = self._listed(staged)
        if bounding.unit is None:
            return rows
        own = defaultdict(list)
        for row in rows:
            if row[bounding.unit] is not None:
                own[row[bounding.unit]].append(row)
        asked = (bounding.unit, *sorted(set(names) - {bounding.unit}))
        return [
            row
            for theirs in own.values()
            for row in sorted(theirs, key=lambda row: self._digest(bounding.salt, *(text(row[name]) for name in asked)))[
                : bounding.max_rows
            ]
        ]

    def _key(self, asked, row, types):
        """The key of a row as it is grouped: a text, or the number of a bin; None where it is missing."""
        cell = row[asked.column]
        if not isinstance(asked, BinKey):
            shown = text(cell)
            return asked.other if asked.other is not None and shown is not None and shown not in asked.values else shown
        kind = types[asked.column]
        grid = Fraction(1) if kind in {ColumnType.DATE, ColumnType.DATETIME} else asked.grid
        step = self._step(cell, kind, asked.grid)
        if step is None:
            return None
        value, last = step * grid, asked.edges[-1]
        if asked.outside and value < asked.edges[0]:
            return 0
        if asked.outside and (value > last or (value == last and not asked.closed)):
            return len(asked.edges)
        inner = sum(value >= edge for edge in asked.edges[1:-1])
        return inner + asked.outside

    def _place(self, asked, found):
        """The number of the cell that a key has, -1 where it has none."""
        missing = asked.size - 1 if asked.missing else -1
        if found is None:
            return missing
        if isinstance(asked, BinKey):
            return found
        listed = [*asked.values, *([] if asked.other is None else [asked.other])]
        return listed.index(found) if found in listed else missing if asked.strays else -1

    def aggregates(self, staged, bounding, asked):
        types = self._of(staged).types
        names = {key.column for one in asked for key in one.keys} | {name for one in asked for name in one.complete}
        names |= {measure.column for one in asked for measure in one.measures if measure.column is not None}
        names |= {name for one in asked if one.where is not None for name in columns_of(one.where)}
        rows = self._counting(staged, bounding, names)
        return tuple(self._aggregated(one, rows, bounding, types) for one in asked)

    def _aggregated(self, asked, rows, bounding, types):
        rows = [row for row in rows if all(row[name] is not None for name in asked.complete)]
        rows = [row for row in rows if asked.where is None or holds(asked.where, row) is True]
        groups = [tuple(self._key(key, row, types) for key in asked.keys) for row in rows]
        if asked.private:
            whole = [place for place, group in enumerate(groups) if None not in group]
            rows, groups = [rows[place] for place in whole], [groups[place] for place in whole]
        if bounding.unit is not None and asked.max_groups is not None and asked.keys:
            of_person = defaultdict(set)
            for row, group in zip(rows, groups, strict=True):
                of_person[row[bounding.unit]].add(group)
            few = {
                who: sorted(own, key=lambda group: self._digest(~bounding.salt, who, *map(str, group)))[: asked.max_groups]
                for who, own in of_person.items()
            }
            there = [place for place, group in enumerate(groups) if group in few[rows[place][bounding.unit]]]
            rows, groups = [rows[place] for place in there], [groups[place] for place in there]
        if asked.private:
            cells = sorted(set(groups))
            held = {cell: [row for row, group in zip(rows, groups, strict=True) if group == cell] for cell in cells}
            figures = tuple(
                integers([self._figure(measure, held[cell], bounding, types) for cell in cells]) for measure in asked.measures
            )
            return Aggregated(figures, tuple(cells))
        inside = [[] for _ in range(prod(key.size for key in asked.keys))]
        for row, group in zip(rows, groups, strict=True):
            places = [self._place(key, found) for key, found in zip(asked.keys, group, strict=True)]
            if -1 not in places:
                number = 0
                for key, place in zip(asked.keys, places, strict=True):
                    number = number * key.size + place
                inside[number].append(row)
        if asked.measures[0].kind == "steps":
            counted = [Counter(self._steps_of(asked.measures[0], here, types)) for here in inside]
            return Aggregated(
                (),
                steps=tuple(
                    (np.array(sorted(times), np.int64), np.array([times[step] for step in sorted(times)], np.int64))
                    for times in counted
                ),
            )
        return Aggregated(
            tuple(integers([self._figure(measure, here, bounding, types) for here in inside]) for measure in asked.measures)
        )

    def _steps_of(self, measure, rows, types):
        """The clamped steps of the rows that have one."""
        found = (self._step(row[measure.column], types[measure.column], measure.grid) for row in rows)
        clamped = (measure.fill if step is None else max(measure.low, min(measure.high, step)) for step in found)
        return [step for step in clamped if step is not None]

    def _figure(self, measure, rows, bounding, types):
        if measure.kind == "rows" or (measure.kind == "persons" and bounding.unit is None):
            return len(rows)
        if measure.kind == "persons":
            return len({row[bounding.unit] for row in rows})
        distances = [step - measure.centre for step in self._steps_of(measure, rows, types)]
        return sum(distances) if measure.kind == "sum" else sum(one**2 - measure.offset for one in distances)

    def coded_rows(self, staged, bounding, keys):
        types = self._of(staged).types
        rows = self._counting(staged, bounding, {key.column for key in keys})
        tuples = [tuple(self._place(key, self._key(key, row, types)) for key in keys) for row in rows]
        counted = sorted(Counter(one for one in tuples if -1 not in one).items())
        codes = np.array([one for one, _ in counted], np.int32).reshape(len(counted), len(keys))
        return CodedRows(codes, np.array([times for _, times in counted], np.int64))

    def divided(self, staged, unit, share, key):
        table = self._of(staged)
        names = [unit] if unit is not None else list(table.cells)
        aside = []
        for row in self._listed(staged):
            content = repr([text(row[name]) for name in names]).encode()
            aside.append(Fraction(int.from_bytes(hmac.digest(key, content, "sha256")[:8], "big"), 2**64) < share)
        sides = []
        for side in (False, True):
            there = [row for row, out in enumerate(aside) if out is side]
            cells = {name: [column[row] for row in there] for name, column in table.cells.items()}
            made = type(table)(cells, table.types, len(there))
            sides.append(replace(staged, handle=self._named(made), n_rows=len(there)))
        return tuple(sides)
