"""A second engine that is as plain as can be: Python lists, no SQL. It is slow, and it is the oracle of the suite.

It reads and writes CSV and Parquet files. Expectations and database files are not among what it offers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.engine.protocol.base import (
    ColumnChange,
    Offer,
    ReleasedFile,
    RowClasses,
    RowMapFaults,
    SizeHistogram,
    Staged,
)
from privrelease.errors import InputError
from privrelease.relational.recoding import Lookup
from privrelease.relational.schema import ColumnType, SinkKind, SourceKind
from tests.contract.engine.plain_assignments import PlainAssignments
from tests.contract.engine.plain_audit import PlainAudit, key, one
from tests.contract.engine.plain_files import ARROW, csv_cells, csv_records, from_text, moments, parquet_cells
from tests.contract.engine.plain_identifiers import PlainIdentifiers
from tests.contract.engine.plain_pairs import PlainPairs
from tests.contract.engine.plain_recoding import listed, representative
from tests.contract.engine.plain_records import PlainRecords
from tests.contract.engine.plain_statistics import PlainStatistics
from tests.contract.engine.plain_tables import PlainTables
from tests.contract.engine.plain_writing import PlainWriting

__all__ = ["PlainEngine"]


@dataclass
class Table:
    """Columns by name: a list of cells each, None where missing. Moments are nanoseconds since 1970."""

    cells: dict[str, list]
    types: dict[str, ColumnType]
    n: int


class PlainEngine(
    PlainAudit, PlainAssignments, PlainIdentifiers, PlainPairs, PlainRecords, PlainStatistics, PlainTables, PlainWriting
):
    """See the module; see :class:`privrelease.engine.protocol.audit.MeasuringEngine` for what the methods do."""

    def __init__(self, settings):
        self._settings = settings
        self._tables = {}
        self._classes = {}
        self._kept = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._tables.clear()

    @property
    def offers(self):
        return frozenset({Offer.ATTACKS})

    @property
    def libraries(self):
        return ("pyarrow",)

    def _named(self, table):
        name = f"t{len(self._tables)}"
        self._tables[name] = table
        return name

    def _of(self, of) -> Table:
        return self._tables[of.handle]

    def _rows(self, of, names):
        """The cells of each row over some columns, as they are grouped."""
        table = self._of(of)
        return list(zip(*([key(cell) for cell in table.cells[name]] for name in names), strict=True)) or [()] * table.n

    # reading
    def stage(self, source):
        forms = {column.name: column.format for column in source.columns}
        types = {column.name: column.type for column in source.columns}
        if source.kind is SourceKind.CSV:
            header, *records = csv_records(Path(source.path).read_bytes().decode())
            found = {name: [record[place] or "" for record in records] for place, name in enumerate(header)}
            n = len(records)
        else:
            read = pq.read_table(source.path)
            found = {
                name: moments(read.column(name)) if types.get(name) is ColumnType.DATETIME else read.column(name).to_pylist()
                for name in read.column_names
            }
            n = read.num_rows
        cells = {}
        for name, type_ in types.items():
            marks = set(forms[name].missing)
            there = [None if isinstance(cell, str) and cell in marks else cell for cell in found[name]]
            if source.kind is SourceKind.CSV:
                there = [None if cell is None else from_text(cell, type_) for cell in there]
            if type_ is ColumnType.NUMBER:
                there = [None if cell is None else float(cell) for cell in there]
            cells[name] = [one(cell) for cell in there]
        return Staged(self._named(Table(cells, types, n)), tuple(source.columns), n)

    def open_release(self, sink, columns, *, marked=False):
        if not sink.path.is_file():
            raise InputError("D101", f"the file {sink.label} does not exist")
        declared = {column.name: column for column in columns}
        if sink.kind is SinkKind.DUCKDB:
            raise InputError("D103", f"{sink.label} cannot be read as {sink.kind.value}")
        try:
            cells, types, n = parquet_cells(sink, declared) if sink.kind is SinkKind.PARQUET else csv_cells(sink, declared)
        except (pa.ArrowInvalid, UnicodeDecodeError, KeyError):
            raise InputError("D103", f"{sink.label} cannot be read as {sink.kind.value}") from None
        for name in cells.keys() & declared.keys() if marked else ():
            marks = set(declared[name].format.missing)
            cells[name] = [None if isinstance(cell, str) and cell in marks else cell for cell in cells[name]]
        table = Table({name: [one(cell) for cell in found] for name, found in cells.items()}, types, n)
        return ReleasedFile(self._named(table), tuple(types.items()), n)

    def hold(self, released, source, recoded=()):
        del recoded
        return replace(released, handle=self._named(self._of(released)))

    # making
    def recode(self, staged, recodes):
        table = self._of(staged)
        cells, types = dict(table.cells), dict(table.types)
        declared = {column.name: column for column in staged.columns}
        for asked in recodes:
            name = asked.column.name
            made = self._recoded_cells(asked, declared[name], cells[name])
            lacking = [
                row
                for row, (before, after) in enumerate(zip(cells[name], made, strict=True), 1)
                if before is not None and after is None
            ]
            if lacking:
                raise InputError("D256", f"column {name}: values are not covered by its transform step (rows {lacking})")
            cells[name], types[name] = made, asked.column.type
        named = {asked.column.name: asked.column for asked in recodes}
        columns = tuple(named.get(column.name, column) for column in staged.columns)
        return replace(staged, handle=self._named(Table(cells, types, table.n)), columns=columns)

    @staticmethod
    def _recoded_cells(asked, column, cells):
        """What is released for each cell: of representatives where the recoding is declared, and of the listed labels of a lookup."""
        if isinstance(asked.recoding, Lookup):
            return [None if cell is None else listed(asked.recoding, cell) for cell in cells]
        step = Decimal(1) if column.type is ColumnType.INTEGER else column.grid
        if column.grid is not None:  # held as doubles here, and exact in what is computed
            cells = [None if cell is None else Decimal(repr(cell)).quantize(column.grid) for cell in cells]
        if asked.recoding is not None:
            cells = [None if cell is None else representative(asked.recoding, cell, step) for cell in cells]
        distinct = list(dict.fromkeys(cell for cell in cells if cell is not None))
        kind = ARROW[column.type] if column.grid is None else pa.decimal128(18, -column.grid.as_tuple().exponent)
        found = asked.values(
            pa.array([cell // 1000 for cell in distinct] if column.type is ColumnType.DATETIME else distinct, kind)
        )
        found = moments(found) if pa.types.is_timestamp(found.type) else found.to_pylist()
        made = {cell: one(float(of) if isinstance(of, Decimal) else of) for cell, of in zip(distinct, found, strict=True)}
        return [made.get(cell) for cell in cells]

    def _coded(self, tables, names):
        """One coding of each column over tables, and the codes of every row of each."""
        sides = [[] for _ in tables]
        for name in names:
            values = {cell for of in tables for cell in self._rows(of, [name])}
            code = {cell: place for place, cell in enumerate(sorted(values | {((0, 0),)}))}
            for side, of in zip(sides, tables, strict=True):
                side.append([code[cell] for cell in self._rows(of, [name])])
        return [
            list(zip(*side, strict=True)) if names else [()] * self._of(of).n for side, of in zip(sides, tables, strict=True)
        ]

    def _table(self, names, rows, weights=None):
        counts = Counter(rows)
        tuples = sorted(counts)
        codes = np.array(tuples, np.int32).reshape(len(tuples), len(names))
        return tuples, ClassTable(tuple(names), codes, np.array([counts[row] for row in tuples], np.int64), weights)

    def classes(self, staged, columns, *, unit=None, weight=None):
        (rows,) = self._coded([staged], columns)
        tuples, table = self._table(columns, rows)
        place = {row: number for number, row in enumerate(tuples)}
        weights = pair_rows = None
        if weight is not None:
            cells = self._of(staged).cells[weight]
            if unfit := sum(cell is None or not cell > 0 for cell in cells):
                raise InputError("D212", f"{unfit} row has no positive value in the weight column {weight}")
            weights = np.zeros(len(tuples))
            for row, cell in zip(rows, cells, strict=True):
                weights[place[row]] += cell
            table = replace(table, weights=weights)
        persons = None
        if unit is not None:
            cells = self._of(staged).cells[unit]
            if missing := sum(cell is None for cell in cells):
                raise InputError("D211", f"{missing} row has no value in the unit column {unit}")
            table, pair_rows, persons = self._with_persons(
                table, [place[row] for row in rows], cells, None if weight is None else self._of(staged).cells[weight]
            )
        name = f"c{len(self._classes)}"
        self._classes[name] = (staged, [place[row] for row in rows], persons, table)
        return RowClasses(table, name, pair_rows)

    @staticmethod
    def _with_persons(table, of_class, cells, weights):
        """Add persons to a class table, those who are alike under the number of the first; also the rows of each pair, and each row's number."""
        own = defaultdict(lambda: defaultdict(list))
        for place, person, weight in zip(of_class, cells, weights or [0] * len(cells), strict=True):
            own[person][place].append(weight)
        kinds, number = {}, {}
        for person in sorted(own):
            kind = tuple((place, len(some), min(some)) for place, some in sorted(own[person].items()))
            number[person] = kinds.setdefault(kind, len(kinds))
        times = Counter(number.values())
        pairs = sorted((place, kind, n, least) for one, kind in kinds.items() for place, n, least in one)
        columns = list(zip(*pairs, strict=True)) or [()] * 4
        table = replace(
            table,
            pairs_class=np.array(columns[0], np.uint32),
            pairs_person=np.array(columns[1], np.uint32),
            alike=np.array([times[kind] for kind in range(len(kinds))], np.int64),
            pair_weights=None if weights is None else np.array(columns[3], np.float64),
        )
        return table, np.array(columns[2], np.int64), [number[cell] for cell in cells]

    # counting
    def _whose(self, of, unit, persons_from):
        """The person of each row, a number for each row where they are not asked for; rows that no one leads to the source are left out."""
        table = self._of(of)
        if persons_from is not None:
            person = self._of(persons_from.staged).cells[persons_from.unit]
            return {output: key(person[source]) for source, output in self._map(persons_from.row_map)}
        if unit is not None:
            return dict(enumerate(map(key, table.cells[unit])))
        return dict(enumerate(range(table.n)))

    def size_histogram(self, of, columns, *, unit=None, residual=False, persons_from=None):
        rows = self._rows(of, columns)
        groups = defaultdict(set)
        for row, person in self._whose(of, unit, persons_from).items():
            groups[rows[row]].add(person)
        lost = tuple((0, 0) for _ in columns)
        apart = rows.count(lost) if residual and columns else 0
        if apart:
            groups.pop(lost, None)
        sizes = Counter(map(len, groups.values()))
        return SizeHistogram(
            np.array(sorted(sizes), np.int64), np.array([sizes[size] for size in sorted(sizes)], np.int64), apart
        )

    def value_sizes(self, of, columns, *, unit=None, persons_from=None):
        found = (self.size_histogram(of, [name], unit=unit, residual=True, persons_from=persons_from) for name in columns)
        return tuple(SizeHistogram(one_.sizes, one_.classes) for one_ in found)

    def class_table(self, of, columns):
        return self.class_tables([of], columns)[0]

    def class_tables(self, of, columns):
        tables = list(of)
        return tuple(self._table(columns, rows)[1] for rows in self._coded(tables, columns))

    # against the source
    def _map(self, row_map):
        read = pq.read_table(row_map)
        return list(zip(read.column("source_row").to_pylist(), read.column("output_row").to_pylist(), strict=True))

    def _traced(self, source, released, row_map):
        """Pairs of a source row and a released row that both are there."""
        n, m = self._of(source).n, self._of(released).n
        return [(ours, theirs) for ours, theirs in self._map(row_map) if ours < n and theirs < m]

    def changes(self, source, released, row_map, columns):
        found = []
        for name in columns:
            ours, theirs = self._of(source).cells[name], self._of(released).cells[name]
            pairs = [(ours[row], theirs[at]) for row, at in self._traced(source, released, row_map)]
            kinds = Counter(
                "equal"
                if key(before) == key(after)
                else "nulled"
                if after is None
                else "invented"
                if before is None
                else "changed"
                for before, after in pairs
            )
            found.append(ColumnChange(name, kinds["equal"], kinds["nulled"], kinds["changed"], kinds["invented"]))
        return tuple(found)

    def row_map_faults(self, source, released, row_map):
        n, m = self._of(source).n, self._of(released).n
        pairs = self._map(row_map)
        ours, theirs = Counter(row for row, _ in pairs if row < n), Counter(at for _, at in pairs if at < m)
        beyond = sum(row >= n for row, _ in pairs) + sum(at >= m for _, at in pairs)
        twice = [sum(times > 1 for times in side.values()) for side in (ours, theirs)]
        return RowMapFaults(beyond, twice[0], twice[1], m - len(theirs), n - len(ours))

    def unsorted_rows(self, released):
        table = self._of(released)
        rows = list(zip(*([(cell is None, key(cell)) for cell in cells] for cells in table.cells.values()), strict=True))
        return sum(after < before for before, after in pairwise(rows))
