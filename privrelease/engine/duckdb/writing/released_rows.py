"""The rows that are released, in their order: cells to NULL, rows left out, pseudonyms, and nothing of a value that no cell holds any more.

The database sorts whole numbers: the codes of neighbouring columns of few values are packed into words, which compare as the released
tuples do, and a column of many values is between them as it is; the number of the row ends the key. A class's share of a word is packed once for
each part of its rows. What is sorted is what is released: blocks are unpacked from it. They have a fixed size, so that what is made of
them depends on neither threads nor memory. Where classes say all that is released, rows are placed and not sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.disclosure.classes.grouping import row_order
from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.coding import laid_out, packed
from privrelease.engine.duckdb.measuring.row_classes import cached
from privrelease.engine.duckdb.writing.blocks import BLOCK_ROWS, in_source_order, sized
from privrelease.engine.duckdb.writing.placed_rows import PlacedRows
from privrelease.engine.duckdb.writing.pseudonyms import pseudonym
from privrelease.engine.duckdb.writing.treated_rows import TreatedRows
from privrelease.errors import InternalError
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.coding import Coding, Field
    from privrelease.engine.duckdb.measuring.row_classes import RowKeys
    from privrelease.engine.protocol.base import OutputColumn, OutputTable

__all__ = ["ReleasedRows"]

_MISSING = 255
#: Bits of a row's number, and of the rank of what is released of it.
_HALF = 32


@dataclass(frozen=True, eq=False, slots=True)
class _Coded:
    """A released column of few values. ``values``: in ascending order; ``missing``: the code of a missing cell, beyond all others.

    ``ranks``: (v + 1,) the code of a class's code (0 missing) where the class says the value; None: the code comes from the row, by ``code``.
    ``places``: (v,) codes of ``values``, None where they are their indices.
    """

    values: pa.Array
    missing: int
    ranks: NDArray[np.uint64] | None
    code: exp.Expr | None
    places: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class _Unpacked:
    """Released values of a column and, by code, their index among them; the last one is missing."""

    values: pa.Array
    index: NDArray[Any]

    def block(self, codes: NDArray[np.uint64], times: NDArray[np.int64] | None = None) -> pa.Array:
        """Return cells of these codes, each as often as ``times`` says: dictionary-encoded where they are texts, plain otherwise."""
        import pyarrow as pa

        found = self.index[codes]
        if times is not None:
            found = np.repeat(found, times)
        indices = pa.array(found, mask=found == len(self.values))
        if pa.types.is_string(self.values.type):
            return pa.DictionaryArray.from_arrays(indices, self.values)
        return self.values.take(indices)


class ReleasedRows:
    """The ``n_rows`` rows that are released: streams of Arrow blocks in their order, as often as asked."""

    def __init__(self, connection: Connection, rows: RowKeys, output: OutputTable, cache: dict[int, Coding]) -> None:
        self._connection = connection
        self._rows = rows
        self._output = output
        self._cache = cache
        self._level = {name: place for place, name in enumerate(output.parts.columns)}
        self._tables: list[str] = []
        self._lookups: list[tuple[str, exp.Expr]] = []
        self._sides: list[str] = []
        self._secrets: list[bytes] = []
        self._tuples: list[NDArray[np.uint64]] | None = None
        self._placed: PlacedRows | None = None
        try:
            few, ordinal = rows.staged.few, rows.staged.ordinal
            self._coded = {
                place: self._code(column) for place, column in enumerate(output.columns) if few[ordinal(column.name)]
            }
            self._fields = self._laid_out()
            self._sorted = self._ordered()
            self._unpacked = {place: self._used(place) for place in self._coded}
            self.n_rows = self._counted() if self._placed is None else self._placed.n_rows
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Drop the tables that putting rows in order needed."""
        for name in self._tables:
            self._connection.drop("TABLE", name)
        self._tables.clear()

    def _counted(self) -> int:
        (rows,) = self._connection.row(exp.select(sql.count_all()).from_(sql.table(self._sorted), copy=False))
        parts = self._output.parts
        if rows != int(parts.records[~parts.dropped].sum()):
            raise InternalError(code="R201", message="the engine has another number of rows than their parts")
        return int(rows)

    # codes
    def _code(self, column: OutputColumn) -> _Coded:
        coding = cached(self._connection, self._rows.staged, self._rows.staged.ordinal(column.name), self._cache)
        assert coding.values is not None
        values, order, places = coding.values, None, coding.places
        if column.pseudonym_key is not None:
            values, order = self._tokens_of(values, column.pseudonym_key)
        if column.name in self._rows.table.columns:
            ranks = np.arange(-1, len(values)).astype(np.uint64)
            ranks[0] = len(values)
            if order is not None:
                ranks[1:] = order
            return _Coded(values, len(values), ranks, None)
        if coding.side is not None:
            self._sides.append(coding.side)
        code = coding.code
        if order is not None:
            code = self._looked_up(code, np.arange(len(order)) if places is None else places, order)
            places = None
        missing = len(values) if places is None else coding.size
        return _Coded(values, missing, None, sql.call("coalesce", code, sql.cast(sql.integer(missing), "UBIGINT")), places)

    def _looked_up(self, code: exp.Expr, from_: NDArray[np.int64], to: NDArray[np.int64]) -> exp.Expr:
        """Replace codes by others, by a join with the small table of both."""
        given, name = self._connection.fresh("given"), self._connection.fresh("tokens")
        self._connection.register(given, {"x": from_.astype(np.uint64), "y": to.astype(np.uint64)})
        self._tables.append(name)
        self._connection.run(sql.create_table(name, exp.select(exp.Star()).from_(sql.table(given), copy=False)))
        self._connection.unregister(given)
        self._lookups.append((name, exp.EQ(this=code.copy(), expression=sql.column("x", name))))
        return sql.column("y", name)

    def _tokens_of(self, values: pa.Array, key: bytes) -> tuple[pa.Array, NDArray[np.int64]]:
        """Tokens of a dictionary in ascending order, and the rank of the token of each value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        given = self._connection.fresh("given")
        self._connection.register(given, pa.table({"v": values}))
        secrets: list[bytes] = []
        token = sql.aliased(pseudonym(sql.column("v"), key, secrets), "t")
        tokens = (
            self._connection.arrow(exp.select(token).from_(sql.table(given), copy=False), secrets).column(0).combine_chunks()
        )
        self._connection.unregister(given)
        order = pc.array_sort_indices(tokens)
        ranks = np.empty(len(tokens), np.int64)
        ranks[np.asarray(order)] = np.arange(len(tokens))
        return tokens.take(order), ranks

    def _laid_out(self) -> dict[int, Field]:
        """Place the coded columns in words, each run of neighbours in words of its own."""
        fields: dict[int, Field] = {}
        run: list[int] = []
        words = 0
        for place in range(len(self._output.columns) + 1):
            if place in self._coded:
                run.append(place)
                continue
            found = laid_out([self._coded[one].missing for one in run], words)
            fields.update(zip(run, found, strict=True))
            words = max((field.word + 1 for field in found), default=words)
            run = []
        return fields

    # order
    def _ordered(self) -> str:
        """Store the released rows in their order; return the table's name."""
        of_part: dict[str, NDArray[Any]] = {}
        of_row: dict[int, list[tuple[exp.Expr, Field]]] = {}
        cells: dict[str, exp.Expr] = {}
        names: dict[int, str] = {}
        for place, column in enumerate(self._output.columns):
            names[place] = f"w{self._fields[place].word}" if place in self._fields else f"o{place}"
            if place not in self._fields:
                cells[names[place]] = self._missing_where(column, self._cell(column), of_part)
                continue
            field, coded = self._fields[place], self._coded[place]
            cells.setdefault(names[place], exp.null())
            if coded.ranks is not None:
                word = of_part.setdefault(names[place], np.zeros(len(self._output.parts.records), np.uint64))
                word |= self._released(place) << np.uint64(field.shift)
            else:
                assert coded.code is not None
                missing = sql.cast(sql.integer(coded.missing), "UBIGINT")
                code = self._missing_where(column, coded.code.copy(), of_part, missing)
                of_row.setdefault(field.word, []).append((sql.cast(code, "UBIGINT"), field))
        for name in list(cells):
            if name.startswith("w"):
                own = of_row.get(int(name[1:]), [])
                shared = sql.column(name, "w")
                if name not in of_part:
                    cells[name] = packed(own)
                else:
                    cells[name] = exp.BitwiseOr(this=shared, expression=packed(own)) if own else shared
        if self._output.order == "values" and not of_row and cells.keys() == of_part.keys():
            return self._ordered_by_rank([of_part[name] for name in cells])
        treated = TreatedRows(self._connection, self._rows, self._output.parts, of_part)
        try:
            number = sql.aliased(sql.cast(treated.row, "UINTEGER"), "r")
            chosen = [*(sql.aliased(cell, name) for name, cell in cells.items()), number]
            rows = treated.select(chosen, self._sides, self._lookups)
            by = [sql.column(name) for name in cells] if self._output.order == "values" else []
            ordered = exp.select(exp.Star()).from_(rows.subquery("rows"), copy=False)
            keys = [exp.Ordered(this=one, nulls_first=False) for one in (*by, sql.column("r"))]
            name = self._connection.fresh("sorted")
            self._tables.append(name)
            self._connection.run(sql.create_table(name, ordered.order_by(*keys)), self._secrets)
        finally:
            treated.close()
        return name

    def _ordered_by_rank(self, words: list[NDArray[np.uint64]]) -> str:
        """Rank released tuples where its part says everything of a row. Nothing is stored where rows are placed by their tuple; else one number for
        each: its rank, and in the low half the row.
        """
        narrow = len(words) == 1 and words[0].max(initial=0) < 1 << 63
        order = row_order(words[0].view(np.int64)[None]) if narrow else np.lexsort(words[::-1])
        new = np.zeros(len(order), np.bool_)
        new[:1] = True
        for word in words:
            new[1:] |= word[order[1:]] != word[order[:-1]]
        ranks = np.empty(len(order), np.uint64)
        ranks[order] = np.cumsum(new, dtype=np.uint64) - np.uint64(1)
        self._tuples = [word[order[new]] for word in words]
        if PlacedRows.serves(self._connection, self._rows, self._output.parts):
            self._placed = PlacedRows(self._connection, self._rows, self._output.parts, ranks.astype(np.int64))
            return ""
        treated = TreatedRows(self._connection, self._rows, self._output.parts, {"rank": ranks << np.uint64(_HALF)})
        try:
            row = sql.cast(treated.row, "UBIGINT")
            cell = sql.aliased(exp.BitwiseOr(this=sql.column("rank", "w"), expression=row), "z")
            rows = exp.select(sql.column("z")).from_(treated.select([cell], (), ()).subquery("rows"), copy=False)
            name = self._connection.fresh("sorted")
            self._tables.append(name)
            self._connection.run(sql.create_table(name, rows.order_by(sql.column("z"))))
        finally:
            treated.close()
        return name

    def _released(self, place: int) -> NDArray[np.uint64]:
        """Return the code of a column that its class says, for each part: (P,)."""
        column, coded, parts = self._output.columns[place], self._coded[place], self._output.parts
        assert coded.ranks is not None
        table = self._rows.table
        codes: NDArray[np.uint64] = coded.ranks[table.codes[parts.class_index, table.columns.index(column.name)]]
        if (at := self._level.get(column.name)) is not None:
            codes[parts.levels[:, at] == _MISSING] = coded.missing
        return codes

    def _missing_where(
        self, column: OutputColumn, cell: exp.Expr, of_part: dict[str, NDArray[Any]], missing: exp.Expr | None = None
    ) -> exp.Expr:
        """Make a cell missing in the parts that say so."""
        at = self._level.get(column.name)
        if at is None:
            return cell
        name = f"m{at}"
        of_part[name] = self._output.parts.levels[:, at] == _MISSING
        return sql.when((sql.column(name, "w"), missing or exp.null()), otherwise=cell)

    def _cell(self, column: OutputColumn) -> exp.Expr:
        """A cell of a column of many values, or its pseudonym."""
        cell = sql.column(f"c{self._rows.staged.ordinal(column.name)}", "s")
        return cell if column.pseudonym_key is None else pseudonym(cell, column.pseudonym_key, self._secrets)

    def _used(self, place: int) -> _Unpacked:
        """Codes over the values that occur only: a value that no cell holds any more must not stay in a dictionary."""
        import pyarrow as pa

        coded, field = self._coded[place], self._fields[place]
        if coded.ranks is not None:
            parts = self._output.parts
            used = np.flatnonzero(np.bincount(self._released(place)[(parts.records > 0) & ~parts.dropped].astype(np.int64)))
        else:
            word = exp.BitwiseRightShift(this=sql.column(f"w{field.word}"), expression=sql.integer(field.shift))
            mask = sql.cast(sql.integer((1 << field.bits) - 1), "UBIGINT")
            code = exp.BitwiseAnd(this=exp.Paren(this=word), expression=mask)
            found = self._connection.arrays(
                exp.select(sql.aliased(code, "c")).distinct(copy=False).from_(sql.table(self._sorted), copy=False)
            )
            used = np.sort(np.asarray(found["c"]).astype(np.int64))
        used = used[used != coded.missing]
        size = len(coded.values)
        index = np.full(coded.missing + 1, len(used), np.uint8 if size < 256 else np.uint16 if size < 65_536 else np.uint32)
        index[used] = np.arange(len(used))
        at = used if coded.places is None else np.searchsorted(coded.places, used)
        return _Unpacked(coded.values.take(pa.array(at)), index)

    # blocks
    def stream(self) -> pa.RecordBatchReader:
        """Return a new stream of blocks of :data:`BLOCK_ROWS` rows, in output order."""
        import pyarrow as pa

        none = np.zeros(0, np.uint64)
        types = {place: unpacked.block(none).type for place, unpacked in self._unpacked.items()}
        if self._placed is not None:
            schema = pa.schema([pa.field(column.name, types[place]) for place, column in enumerate(self._output.columns)])
            return pa.RecordBatchReader.from_batches(schema, self._repeated(schema, self._placed))
        columns = exp.select(*(sql.column(name) for name in self._columns())).from_(sql.table(self._sorted), copy=False)
        stored = self._connection.side_blocks(columns.copy().limit(0), BLOCK_ROWS).schema
        schema = pa.schema(
            [
                pa.field(column.name, types[place] if place in types else stored.field(f"o{place}").type)
                for place, column in enumerate(self._output.columns)
            ]
        )
        return pa.RecordBatchReader.from_batches(schema, self._blocks(schema, columns))

    def _repeated(self, schema: pa.Schema, placed: PlacedRows) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        assert self._tuples is not None
        for some, times in placed.tuples():
            split = [word[some] for word in self._tuples]
            cells = [self._unpacked[place].block(field.of(split), times) for place, field in sorted(self._fields.items())]
            yield pa.RecordBatch.from_arrays(cells, schema=schema)

    def _columns(self) -> list[str]:
        if self._tuples is not None:
            return ["z"]
        places = range(len(self._output.columns))
        return list(dict.fromkeys(f"w{self._fields[place].word}" if place in self._fields else f"o{place}" for place in places))

    def _blocks(self, schema: pa.Schema, columns: exp.Select) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        names = self._columns()
        for block in sized(self._connection.blocks(columns, BLOCK_ROWS)):
            cells = dict(zip(names, block, strict=True))
            if self._tuples is None:
                words = {name: np.asarray(cell) for name, cell in cells.items() if name.startswith("w")}
                split = [words[f"w{word}"] for word in range(len(words))]
            else:
                rank = np.asarray(cells["z"]) >> np.uint64(_HALF)
                split = [word[rank] for word in self._tuples]
            arrays = [
                self._unpacked[place].block(self._fields[place].of(split)) if place in self._fields else cells[f"o{place}"]
                for place in range(len(self._output.columns))
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def row_map(self) -> pa.RecordBatchReader:
        """Return a stream of blocks of the source row and the output row of every released row, in source order.

        Not sorted: the output rows are put in their places, a window of source rows at a time.
        """
        import pyarrow as pa

        schema = pa.schema({"source_row": pa.uint32(), "output_row": pa.uint32()})
        if self._placed is not None:
            blocks = (pa.RecordBatch.from_arrays(block, schema=schema) for block in sized(self._placed.batches()))
            return pa.RecordBatchReader.from_batches(schema, blocks)
        low = sql.cast(sql.integer((1 << _HALF) - 1), "UBIGINT")
        source: exp.Expr = sql.column("r")
        if self._tuples is not None:
            source = sql.cast(exp.Paren(this=exp.BitwiseAnd(this=sql.column("z"), expression=low)), "UINTEGER")

        batches = in_source_order(self._connection, self._sorted, source, self._rows.staged.n_rows)
        blocks = (pa.RecordBatch.from_arrays(block, schema=schema) for block in sized(batches))
        return pa.RecordBatchReader.from_batches(schema, blocks)
