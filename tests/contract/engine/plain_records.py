"""Distinct records and single rows of the plain engine; see :class:`privrelease.engine.protocol.attacks.AttackEngine`."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privrelease.audit.attacks.sampling import Draws
from privrelease.engine.protocol.attacks import CodedColumn, DistinctRecords, SharedPersons
from tests.contract.engine.plain_audit import key

__all__ = ["PlainRecords"]


def numbers(values):
    """The numbers that values stand for, nan first; None where they are names."""
    if any(isinstance(value, (str, bool)) for value in values):
        return None
    return np.array([np.nan, *(value.toordinal() if isinstance(value, date) else value for value in values)], np.float64)


class PlainRecords:
    """See the module."""

    def distinct_records(self, of, columns, units, apart=None):
        own, kept = (-1, ()) if apart is None else apart
        codings = [{}, {}]
        for name in {name for names in columns for name in names}:
            for side, coding in enumerate(codings):
                cells = {
                    cell
                    for place, (one, names) in enumerate(zip(of, columns, strict=True))
                    if name in names and (name not in kept or (place == own) == bool(side))
                    for cell in self._rows(one, [name])
                }
                coding[name] = {cell: place for place, cell in enumerate(sorted(cells | {((0, 0),)}))}
        made = []
        for place, (one, names, unit) in enumerate(zip(of, columns, units, strict=True)):
            coding = codings[place == own]
            rows = [
                tuple(coding[name][(cell,)] for name, cell in zip(names, row, strict=True)) for row in self._rows(one, names)
            ]
            by_name = [names.index(name) for name in sorted(names)]
            records = sorted(set(rows), key=lambda row: [row[place] for place in by_name])
            person = None if unit is None else self.persons_at(one, unit, np.arange(len(rows))).tolist()
            at = {row: number for number, row in enumerate(records)}
            name = f"d{len(self._kept)}"
            self._kept[name] = ([at[row] for row in rows], person)
            counts, spans, first = self._figures(name, range(len(rows)), len(records))
            codes = [np.array([row[place] for row in records], np.uint32) for place in range(len(names))]
            values = [[cell[0][1] for cell in coding[one_] if cell != ((0, 0),)] for one_ in names]
            cells = [pa.array(each) if name_ in kept else None for name_, each in zip(names, values, strict=True)]
            coded = tuple(CodedColumn(*each) for each in zip(names, codes, map(numbers, values), cells, strict=True))
            made.append(DistinctRecords(name, coded, counts, first, spans))
        return tuple(made)

    def _figures(self, handle, rows, size):
        """Rows, lowest and highest person and first row of each record, over some rows."""
        of_row, person = self._kept[handle]
        counts, first = np.zeros(size, np.int64), np.zeros(size, np.int64)
        spans = None if person is None else np.zeros((2, size), np.int64)
        for row in rows:
            record = of_row[row]
            if not counts[record]:
                first[record] = row
            if spans is not None:
                known = counts[record] > 0
                spans[0, record] = min(spans[0, record], person[row]) if known else person[row]
                spans[1, record] = max(spans[1, record], person[row]) if known else person[row]
            counts[record] += 1
        return counts, spans, first

    def drawn_counts(self, records, part):
        of_row, person = self._kept[records.handle]
        order = Draws(part.seed).order(len(of_row)).tolist()
        rows = order[: part.most]
        if person is not None:
            chosen = list(dict.fromkeys(person[row] for row in order))[: part.most]
            rows = [row for row in range(len(of_row)) if person[row] in set(chosen)]
        counts, spans, _ = self._figures(records.handle, sorted(rows), len(records.rows))
        return counts, spans

    def records_at(self, records, rows):
        of_row, _ = self._kept[records.handle]
        return np.array([of_row[row] for row in rows.tolist()], np.int64)

    def rows_at(self, records, places):
        of_row, _ = self._kept[records.handle]
        order = sorted(range(len(of_row)), key=lambda row: (of_row[row], row))
        return np.array([order[place] for place in places.tolist()], np.int64)

    def persons_at(self, of, unit, rows):
        first = {}
        for row, cell in enumerate(self._of(of).cells[unit]):
            first.setdefault(key(cell), row)
        return np.array([first[key(self._of(of).cells[unit][row])] for row in rows.tolist()], np.int64)

    def source_rows(self, row_map, rows):
        read = pq.read_table(row_map)
        at = dict(zip(read.column("output_row").to_pylist(), read.column("source_row").to_pylist(), strict=True))
        return np.array([at.get(row, -1) for row in rows.tolist()], np.int64)

    def shared_persons(self, first, second, unit):
        number = {}
        for row, cell in enumerate(self._of(second).cells[unit]):
            if cell is not None:
                number.setdefault(cell, row)
        found = [(row, number[cell]) for row, cell in enumerate(self._of(first).cells[unit]) if cell in number]
        name = f"s{len(self._kept)}"
        self._kept[name] = found
        return SharedPersons(name, len({person for _, person in found}), len(found))

    def shared_at(self, shared, places):
        found = [self._kept[shared.handle][place] for place in places.tolist()]
        return tuple(np.array([pair[side] for pair in found], np.int64) for side in (0, 1))
