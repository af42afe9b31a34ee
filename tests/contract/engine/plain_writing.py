"""Outputs as the plain engine writes them: the part of every row, its cells one by one, then files."""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.parquet as pq

from privrelease.engine.protocol.base import WrittenOutput
from privrelease.errors import InputError, InternalError
from privrelease.relational.schema import ColumnType, SinkKind
from tests.contract.engine.plain_audit import key, text
from tests.contract.engine.plain_files import array_of, write_csv

__all__ = ["PlainWriting"]


class PlainWriting:
    """See :class:`privrelease.engine.protocol.base.Engine`."""

    def _parts(self, parts):
        """The part of every row."""
        _, of_class, persons, table = self._classes[parts.classes]
        n = len(parts.class_index)
        sound = parts.records.shape == parts.dropped.shape == (n,) and parts.levels.shape == (n, len(parts.columns))
        counted = Counter()
        for one_, records in zip(parts.class_index.tolist(), parts.records.tolist(), strict=False):
            counted[one_] += records
        sound = (
            sound and dict(+counted) == dict(enumerate(table.counts.tolist())) and min(parts.records.tolist(), default=0) >= 0
        )
        sound = (
            sound
            and parts.class_index.tolist() == sorted(parts.class_index.tolist())
            and set(parts.levels.reshape(-1).tolist()) <= {0, 255}
        )
        if parts.pair_part is not None:
            sound = sound and table.pairs_class is not None and len(parts.pair_part) == len(table.pairs_class)
            sound = sound and parts.class_index[parts.pair_part].tolist() == table.pairs_class.tolist()
        if not sound:
            raise InternalError("R200", "the parts given to the engine do not make up its classes")
        if parts.pair_part is not None:
            pairs = zip(table.pairs_class.tolist(), table.pairs_person.tolist(), strict=True)
            of_pair = dict(zip(pairs, parts.pair_part.tolist(), strict=True))
            return [of_pair[pair] for pair in zip(of_class, persons, strict=True)]
        waiting = defaultdict(list)
        for part, (one_, records) in enumerate(zip(parts.class_index.tolist(), parts.records.tolist(), strict=True)):
            waiting[one_] += [part] * records
        return [waiting[one_].pop(0) for one_ in of_class] if len(of_class) < 10_000 else self._long(waiting, of_class)

    def _long(self, waiting, of_class):
        turned = {one_: iter(parts) for one_, parts in waiting.items()}
        return [next(turned[one_]) for one_ in of_class]

    def write(self, staged, output):
        table, parts = self._of(staged), output.parts
        of_row = self._parts(parts)
        gone = [{name for name, level in zip(parts.columns, levels, strict=True) if level} for levels in parts.levels.tolist()]
        kept = [row for row, part in enumerate(of_row) if not parts.dropped[part]]

        def cell(row, column):
            value = None if column.name in gone[of_row[row]] else table.cells[column.name][row]
            if value is None or column.pseudonym_key is None:
                return value
            return hmac.new(column.pseudonym_key, text(value).encode(), "sha256").hexdigest()[:32]

        rows = {row: [cell(row, column) for column in output.columns] for row in kept}
        if output.order == "values":
            kept.sort(key=lambda row: [(value is None, key(value)) for value in rows[row]])
        types = [ColumnType.STRING if column.pseudonym_key else column.type for column in output.columns]
        cells = {column.name: [rows[row][place] for row in kept] for place, column in enumerate(output.columns)}
        for sink in output.sinks:
            arrays = [array_of(cells[column.name], type_) for column, type_ in zip(output.columns, types, strict=True)]
            written = pa.Table.from_arrays(arrays, names=list(cells))
            self._written(written, sink)
        at = {row: place for place, row in enumerate(kept)}
        sides = {"source_row": sorted(kept), "output_row": [at[row] for row in sorted(kept)]}
        pq.write_table(pa.table({name: pa.array(side, pa.uint32()) for name, side in sides.items()}), output.row_map)
        return WrittenOutput(len(kept), tuple(sink.path for sink in output.sinks))

    def write_tables(self, tables):
        written = []
        try:
            for table, sink in tables:
                self._written(table, sink, written)
        except BaseException:
            for path in written:
                path.unlink(missing_ok=True)
            raise

    def _written(self, table, sink, written=None):
        if sink.path.exists():
            raise InputError("D132", f"{sink.label} exists already")
        if written is not None:
            written.append(sink.path)
        if sink.kind is SinkKind.PARQUET:
            pq.write_table(table, sink.path, store_schema=False)
        else:
            write_csv(sink.path, table)
