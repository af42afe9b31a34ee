"""Rows with the treatment of their class: every row meets its part by the key of its class, and a class split over several parts by order.

A join by key loses the order of rows, so a row's number goes with it; whoever needs an order sorts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.coding import staged_rows
from privrelease.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.row_classes import RowKeys
    from privrelease.engine.protocol.base import Parts

__all__ = ["TreatedRows", "check_parts"]


def check_parts(rows: RowKeys, parts: Parts) -> None:
    """Raise InternalError (R200) where parts are not a treatment of exactly these classes."""
    n, table = len(parts.class_index), rows.table
    shapes = parts.records.shape == parts.dropped.shape == (n,) and parts.levels.shape == (n, len(parts.columns))
    covered = np.zeros(table.n_classes, np.int64)
    if shapes and (not n or int(parts.class_index.max()) < table.n_classes):
        np.add.at(covered, parts.class_index, parts.records)
    sound = (
        shapes
        and not np.any(parts.records < 0)
        and np.array_equal(covered, table.counts)
        and not np.any(np.diff(parts.class_index.astype(np.int64)) < 0)
        and bool(np.all((parts.levels == 0) | (parts.levels == 255)))
    )
    if sound and parts.pair_part is not None:
        sound = (
            rows.persons is not None
            and table.pairs_class is not None
            and parts.pair_part.shape == table.pairs_class.shape
            and (not len(parts.pair_part) or int(parts.pair_part.max()) < n)
            and np.array_equal(parts.class_index[parts.pair_part], table.pairs_class)
        )
    if not sound:
        raise InternalError(code="R200", message="the parts given to the engine do not make up its classes")


class TreatedRows:
    """Rows that are released, with columns of their part; :meth:`select` reads them in no order."""

    def __init__(self, connection: Connection, rows: RowKeys, parts: Parts, columns: Mapping[str, NDArray[Any]]) -> None:
        """``columns``: by name one value for each part; a row's are the columns of ``w``."""
        self._connection = connection
        self._rows = rows
        self._names = tuple(columns)
        self._tables: list[str] = []
        self._by_key = self._by_row = ""
        self._by: tuple[str, ...] = rows.words
        try:
            if parts.pair_part is not None and rows.persons is not None:
                self._by = (*rows.words, "p")
                kept = ~parts.dropped[parts.pair_part]
                of_pair = {name: values[parts.pair_part] for name, values in columns.items()}
                self._by_key = self._of_persons(rows.persons, kept, of_pair)
            else:
                self._join(parts, columns)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Drop the tables of parts."""
        for name in self._tables:
            self._connection.drop("TABLE", name)
        self._tables.clear()

    def _join(self, parts: Parts, columns: Mapping[str, NDArray[Any]]) -> None:
        n_classes = self._rows.table.n_classes
        filled = np.flatnonzero(parts.records > 0)
        class_index = parts.class_index[filled]
        several = np.bincount(class_index, minlength=n_classes) > 1
        whole = filled[~several[class_index]]
        of_class = np.zeros(n_classes, np.int64)
        of_class[parts.class_index[whole]] = whole
        kept = np.zeros(n_classes, np.bool_)
        kept[parts.class_index[whole]] = ~parts.dropped[whole]
        given = {name: values[of_class] for name, values in columns.items()} if len(parts.records) else {}
        self._by_key = self._keyed(
            self._rows.classes, self._rows.words, kept, given or {name: v[:0] for name, v in columns.items()}
        )
        if several.any():
            split = filled[several[class_index]]
            self._by_row = self._in_order(parts, split, several, columns)

    def _given(self, columns: Mapping[str, NDArray[Any]]) -> str:
        given, name = self._connection.fresh("given"), self._connection.fresh("parts")
        self._connection.register(given, {key: np.ascontiguousarray(values) for key, values in columns.items()})
        self._connection.run(sql.create_table(name, exp.select(exp.Star()).from_(sql.table(given), copy=False)))
        self._connection.unregister(given)
        self._tables.append(name)
        return name

    def _keyed(self, groups: str, by: Sequence[str], kept: NDArray[np.bool_], columns: Mapping[str, NDArray[Any]]) -> str:
        """Store the keys of groups of rows that are kept, with the columns of their part."""
        given = self._given({"kept": kept, **columns})
        select = exp.select(*(sql.column(one, "g") for one in by), *(sql.column(one, "v") for one in columns))
        rows = sql.positional(select.from_(sql.table(groups, alias="g")), sql.table(given, alias="v"))
        name = self._connection.fresh("treated")
        self._connection.run(sql.create_table(name, rows.where(sql.column("kept", "v"))))
        self._tables.append(name)
        return name

    def _of_persons(self, persons: str, kept: NDArray[np.bool_], columns: Mapping[str, NDArray[Any]]) -> str:
        """Store the keys of classes and persons of pairs that are kept, with the columns of their part."""
        table = self._rows.table
        assert table.pairs_class is not None
        assert table.pairs_person is not None
        pairs = {"class": table.pairs_class, "kind": table.pairs_person, **columns}
        given = self._given({name: values[kept] for name, values in pairs.items()})
        select = exp.select(*(sql.column(one, "g") for one in self._rows.words), sql.column("p", "a"))
        rows = select.select(*(sql.column(one, "v") for one in columns)).from_(sql.table(given, alias="v"))
        alike = exp.EQ(this=sql.column("kind", "a"), expression=sql.column("kind", "v"))
        of_class = exp.EQ(this=sql.column("rowid", "g"), expression=sql.column("class", "v"))
        rows = rows.join(sql.table(persons, alias="a"), on=alike).join(sql.table(self._rows.classes, alias="g"), on=of_class)
        name = self._connection.fresh("treated")
        self._connection.run(sql.create_table(name, rows))
        self._tables.append(name)
        return name

    def _in_order(
        self, parts: Parts, split: NDArray[np.int64], several: NDArray[np.bool_], columns: Mapping[str, NDArray[Any]]
    ) -> str:
        """Store the rows of classes with several parts, the first ones in source order with the columns of the first part, and so on."""
        records = parts.records[split]
        start = np.cumsum(records) - records
        of_class = np.zeros(len(several), np.int64)
        first = np.concatenate(([True], np.diff(parts.class_index[split].astype(np.int64)) != 0))
        of_class[parts.class_index[split[first]]] = start[first]
        places = self._given({"start": start, "kept": ~parts.dropped[split], **{name: v[split] for name, v in columns.items()}})
        groups = self._keyed(self._rows.classes, self._rows.words, several, {"start": of_class})
        row = sql.column("r", self._rows.keys)
        number = exp.Window(
            this=exp.RowNumber(),
            partition_by=[sql.column("start", "g")],
            order=exp.Order(expressions=[exp.Ordered(this=row.copy())]),
        )
        place = exp.Sub(this=exp.Add(this=sql.column("start", "g"), expression=number), expression=sql.integer(1))
        rows = exp.select(sql.aliased(row, "r"), sql.aliased(place, "place")).from_(sql.table(self._rows.keys), copy=False)
        rows = rows.join(sql.table(groups, alias="g"), on=self._same(self._rows.words, "g"))
        select = exp.select(sql.column("r", "n"), *(sql.column(one, "v") for one in columns)).from_(
            rows.subquery("n"), copy=False
        )
        on = exp.GTE(this=sql.column("place", "n"), expression=sql.column("start", "v"))
        select.append("joins", exp.Join(this=sql.table(places, alias="v"), method="ASOF", on=on))
        name = self._connection.fresh("treated")
        self._connection.run(sql.create_table(name, select.where(sql.column("kept", "v"))))
        self._tables.append(name)
        return name

    def _same(self, by: Sequence[str], alias: str) -> exp.Expr:
        keys = self._rows.keys
        return sql.all_of([exp.EQ(this=sql.column(one, keys), expression=sql.column(one, alias)) for one in by])

    @property
    def row(self) -> exp.Expr:
        """The number of a source row, as an expression for :meth:`select`."""
        return sql.column("r", self._rows.keys)

    def select(self, cells: Sequence[exp.Expr], sides: Sequence[str], lookups: Sequence[tuple[str, exp.Expr]]) -> exp.Query:
        """Select expressions over source rows (``s``, ``sides``), their number (``row``), their part (``w``) and ``lookups`` (table,
        condition); a source row is not read where no expression asks for a cell of it.
        """
        keys = self._rows.keys
        asked = [*cells, *(condition for _, condition in lookups)]
        of_source = bool(sides) or any(column.table == "s" for one in asked for column in one.find_all(exp.Column))
        queries: list[exp.Query] = []
        for table, on in ((self._by_key, self._same(self._by, "w")), (self._by_row, None)):
            if not table:
                continue
            if on is None and not of_source:  # the table holds the rows' numbers, and nothing else of them is asked for
                own = [cell.transform(lambda one: sql.column("r", "w") if one == self.row else one) for cell in cells]
                chosen = exp.select(*own).from_(sql.table(table, alias="w"), copy=False)
            else:
                chosen = exp.select(*(cell.copy() for cell in cells))
                sources = (self._rows.staged, [*sides, keys])
                chosen = staged_rows(chosen, *sources) if of_source else chosen.from_(sql.table(keys))
                met = exp.EQ(this=self.row, expression=sql.column("r", "w")) if on is None else on
                chosen = chosen.join(sql.table(table, alias="w"), on=met)
            for lookup, condition in lookups:
                chosen = chosen.join(sql.table(lookup), on=condition.copy(), join_type="LEFT")
            queries.append(chosen)
        return queries[0] if len(queries) == 1 else exp.union(*queries, distinct=False)
