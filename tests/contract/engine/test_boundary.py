"""What crosses the boundary of an engine does not grow with the rows: every method is asked of 1,000 and of 4,000 rows of the same classes.

Sizes are counted in numbers and texts, of arguments and of answers, whatever they are wrapped in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privrelease.engine.assignment_protocol import JoinedUnit, SharedColumn
from privrelease.engine.protocol.attacks import Drawn
from privrelease.engine.protocol.audit import AuditEngine
from privrelease.engine.protocol.base import Offer, OutputColumn, OutputTable, Parts, PersonsFrom, Recode
from privrelease.engine.protocol.identifiers import FORMS, ExpectationEngine
from privrelease.engine.protocol.release_pairs import LinkedPersons, MapQuery, PatternQuery
from privrelease.relational.aggregates import Aggregate, Bounding, ColumnKey, Measure
from privrelease.relational.expectations import Expectation
from privrelease.relational.schema import Column, ColumnType, Role, Sink, SinkKind
from privrelease.relational.tables import TableQuery

CLASSES, ROWS_OF_ONE = 50, 2
TYPES = {
    "a": ColumnType.CATEGORY,
    "b": ColumnType.CATEGORY,
    "n": ColumnType.INTEGER,
    "who": ColumnType.STRING,
    "row": ColumnType.STRING,
    "w": ColumnType.NUMBER,
}
COLUMNS = [
    Column(name, type_, Role.DIRECT if name in {"who", "row"} else Role.QUASI if name in "abn" else Role.INSENSITIVE)
    for name, type_ in TYPES.items()
]


def size(value: object) -> int:
    """Numbers and texts in a value."""
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        return len(value)
    if value is None or isinstance(value, (str, bytes, int, float, bool, Path)):
        return 1
    if is_dataclass(value):
        return sum(size(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(size(one) for pair in value.items() for one in pair)
    if isinstance(value, (tuple, list, set, frozenset, Iterator)):
        return sum(map(size, value))
    return 1


@dataclass
class Crossed:
    """An engine of which every call is measured: ``sizes`` by method, or by the name of a variant of it."""

    engine: object
    folder: Path
    sizes: dict[str, int]

    def ask(self, method, *given, variant=None, **named):
        answer = getattr(self.engine, method)(*given, **named)
        if isinstance(answer, Iterator):
            answer = list(answer)
        name = variant or method
        self.sizes[name] = self.sizes.get(name, 0) + size(given) + size(named) + size(answer)
        return answer


def cells(n):
    """``n`` rows of 50 classes; each person has two rows in every class, so that persons and their classes grow with the rows."""
    row = np.arange(n)
    who = row // (CLASSES * ROWS_OF_ONE)
    return {
        "a": [f"v{v}" for v in row % 5],
        "b": [f"v{v}" for v in row % CLASSES // 5],
        "n": row % CLASSES,
        "who": [f"person-{v:05}" for v in who],
        "row": [f"row-{v:07}" for v in row],
        "w": (who % 10 + 1).astype(np.float64),
    }


def crossed(bench, n):
    """Ask every method of ``n`` rows; what crossed, by method."""
    told = Crossed(bench.engine, bench.folder, {})
    source = bench.parquet(cells(n), COLUMNS, name=f"in{n}.parquet")
    staged = told.ask("stage", source)
    files, maps = [], []
    for number, unit in enumerate((None, "who")):
        found = told.ask("classes", staged, ("a", "b", "n"), unit=unit, weight="w", variant=None if unit else "classes of rows")
        p = found.table.n_classes
        pairs = None if unit is None else found.table.pairs_class.astype(np.uint32)
        assert unit is None or found.table.alike.sum() == n // (CLASSES * ROWS_OF_ONE)
        parts = Parts(
            found.handle,
            np.arange(p, dtype=np.uint32),
            found.table.counts,
            ("a", "b", "n"),
            np.where(np.arange(p)[:, None] == [number, 7, 9], 255, 0).astype(np.uint8),
            np.arange(p) == 40,
            pairs,
        )
        columns = tuple(OutputColumn(name, TYPES[name], b"k" if name == "who" else None) for name in TYPES if name != "row")
        sink, row_map = bench.sink(name=f"out{n}-{number}"), bench.folder / f"{n}-{number}.map"
        told.ask("write", staged, OutputTable(columns, parts, (sink,), row_map), variant=None if unit else "write of rows")
        told.ask("leftovers", sink)
        opened = told.ask("open_release", sink, COLUMNS)
        files.append(told.ask("hold", opened, staged))
        maps.append(row_map)
    (first, second), (map_, second_map) = files, maps
    measured(told, staged, first, second, map_)
    compared(told, staged, files, maps)
    tables(told, staged)
    attacked(told, staged, first, map_)
    told.ask("links_by_maps", map_, second_map)
    return told.sizes


def measured(told, staged, first, second, map_):
    known = ["a", "b", "n"]
    for of in (staged, first):
        told.ask("size_histogram", of, known)
        told.ask("class_table", of, known)
        told.ask("number_counts", of, "n")
        told.ask("text_counts", of, "a", ["v1"])
        if Offer.EXPECTATIONS in told.engine.offers:
            known_values = Expectation("expect_column_values_to_not_be_null", (("column", "a"),))
            told.ask("count_expectation", of, known_values, places=True)
            told.ask("great_expectations", of, [(known_values, 1.0)])
    told.ask("size_histogram", first, known, persons_from=PersonsFrom(staged, map_, "who"))
    told.ask("class_tables", [staged, first], known)
    told.ask("changes", staged, first, map_, known)
    told.ask("row_map_faults", staged, first, map_)
    told.ask("unsorted_rows", first)
    told.ask("left_rows", staged, map_, known, "who")
    told.ask("unequal_rows", first, second, known)
    told.ask("same_cells", staged, first, map_, [("who", "a")])
    told.ask("token_facts", staged, first, map_, "who")
    told.ask("unit_facts", staged, "who")
    told.ask("person_classes", staged, None, None, known, "who")
    told.ask("person_classes", staged, first, map_, known, "who")
    told.ask("weighted_classes", staged, first, map_, known, "w")
    told.ask("number_distances", staged, first, map_, "n")
    copy = as_it_is(told, staged)
    found = told.ask("identifier_matches", staged, copy, [("row", "row")], FORMS)
    assert found[0].links == staged.n_rows
    told.ask("linked_rows", staged, copy, found[0], ["a", "n"], shuffles=2, seed=1)
    told.ask("own_identifiers", staged, [("who", "a")], FORMS)
    told.ask("value_pairs", staged, first, map_, ["n"])
    told.ask("value_rows", first, "n")
    told.ask("value_sizes", staged, known)
    told.ask("value_sizes", first, known, persons_from=PersonsFrom(staged, map_, "who"))
    recoded(told, staged)
    beside = told.ask("beside_source", staged, first, known)
    told.ask("patterns", beside, known)
    told.ask("beyond_source", beside, [], ["a"])


def attacked(told, staged, first, map_):
    """Ask for distinct records and for a sample of five rows."""
    some = np.arange(5)
    names = ["n", "b"]
    ours, theirs = told.ask("distinct_records", [staged, first], [names, ["a", *names]], ["who", None])
    told.ask("drawn_counts", ours, Drawn(1, 5))
    told.ask("records_at", theirs, some)
    told.ask("rows_at", theirs, some)
    told.ask("persons_at", staged, "who", some)
    told.ask("source_rows", map_, some)
    told.ask("shared_at", told.ask("shared_persons", staged, staged, "who"), some)
    for persons in (None, PersonsFrom(staged, map_, "who")):
        told.ask("household_counts", first, "a", ["n"], persons_from=persons)
    told.ask("household_counts", first, "a", ["n"], unit="who", knows_rows=True)


def recoded(told, staged):
    """Replace a column of few values; what is handed over for it counts, too."""

    def values(found):
        told.sizes["recode"] = told.sizes.get("recode", 0) + len(found)
        return found

    told.ask("recode", staged, [Recode(COLUMNS[2], values)])


def as_it_is(told, staged):
    """A file of the source's rows, with what identifies them."""
    path = told.folder / f"copy{staged.n_rows}.parquet"
    pq.write_table(pa.table(cells(staged.n_rows)), path)
    return told.ask("open_release", Sink(SinkKind.PARQUET, path, "copy"), COLUMNS)


def compared(told, staged, files, maps):
    first, second = files
    links = told.ask("links_by_place", first, second)
    told.ask("links_by_columns", first, second, ["b"], ["a"], 10**9)
    told.ask("combined_classes", first, second, links, ["a"], ["b"], LinkedPersons(staged, *maps, "who"))
    told.ask("block_classes", first, second, ["a"], ["b"], ["n"])
    told.ask("only_in_one", first, second, ["a", "b"], ["a"])
    told.ask("shared_values", staged, second, [("a", "a")])
    told.ask("same_coding", first, second, ["a", "b"])
    known = tuple(f"v{place}" for place in range(4))
    found = told.ask("column_maps", staged, [MapQuery("n", "a", known), MapQuery("n", "b", known), MapQuery("row", "a", known)])
    looked_up = tuple(zip(("n", "n", "row"), (one.handle for one in found), strict=True))[:2]
    told.ask("row_patterns", first, PatternQuery(("a", "b"), ("n",), maps=looked_up))
    told.ask("differing", tuple(files), tuple(maps), ["a", "n"])
    shared = [SharedColumn("a", (0, 1)), SharedColumn("b", (0, 1), exact=False)]
    joined = told.ask("join_releases", files, maps, shared, JoinedUnit(staged, "who", together=True))
    told.ask("agreement", told.ask("join_releases", files, maps, shared), 1, 10**9)
    assert told.engine.agreement(joined, 1, 10**9) is None  # a record is a person with a list of rows
    told.ask("candidates", joined, joined.vectors, [["a"], ["b"]])


def tables(told, staged):
    asked = TableQuery(("a",), (("v0", "v1", "v2"),), ("n",), unit="who", largest=2)
    told.ask("table_cells", staged, asked)
    told.ask("contributions", staged, asked)
    told.ask("changed_contributions", staged, staged, asked)
    alone = TableQuery(("a",), (("v0", "v1", "v2"),), ("n",))
    told.ask("contributions", staged, alone, variant="contributions of rows")
    measures = (Measure("rows"), Measure("sum", "n", 0, 50))
    keys = (ColumnKey("a", ("v0", "v1")),)
    told.ask("aggregates", staged, Bounding("who", 10**6, 7), [Aggregate(measures, keys)])
    told.ask("coded_rows", staged, Bounding("who", 10**6, 7), keys)
    told.ask("divided", staged, "who", Fraction(1, 2), b"k")
    sink = Sink(SinkKind.PARQUET, told.folder / f"drawn{staged.n_rows}.parquet", "drawn")
    told.ask("write_tables", [(pa.table({"a": ["v0"]}), sink)])


def test_every_method_is_asked_and_what_crosses_does_not_grow_with_the_rows(bench):
    few, many = (crossed(bench, n) for n in (1_000, 4_000))
    lacks = () if Offer.EXPECTATIONS in bench.engine.offers else dir(ExpectationEngine)
    methods = {name for name in dir(AuditEngine) if not name.startswith("_")} - {"libraries", "offers", *lacks}
    assert {name.partition(" ")[0] for name in few} == methods
    assert [name for name in few if many[name] > few[name]] == []
