"""Treatment by class against rows treated one by one in Python: cells are compared row by row, never only counted."""

from __future__ import annotations

import hmac
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.engine.protocol.base import OutputColumn, OutputTable, Parts
from privrelease.errors import InternalError
from privrelease.relational.schema import Column, ColumnType, Role

TYPES = {
    "a": ColumnType.CATEGORY,
    "n": ColumnType.INTEGER,
    "x": ColumnType.NUMBER,
    "t": ColumnType.STRING,
    "free": ColumnType.INTEGER,
    "who": ColumnType.STRING,
}
KEY = b"key"


def made(bench, seed, n):
    """A source of ``n`` rows: three columns of few values, two of many, and persons with several rows."""
    rng = np.random.default_rng(seed)
    there = rng.random((4, n)) > 0.1
    cells = {
        "a": [f"v{v}" if ok else None for v, ok in zip(rng.integers(0, 4, n), there[0], strict=True)],
        "n": [int(v) if ok else None for v, ok in zip(rng.choice([-7, 0, 3, 900], n), there[1], strict=True)],
        "x": [float(v) if ok else None for v, ok in zip(rng.choice([-0.5, 0.0, 0.25], n), there[2], strict=True)],
        "t": [f"t{v}" if ok else None for v, ok in zip(rng.permutation(n), there[3], strict=True)],
        "free": rng.integers(0, 3, n).tolist(),
        "who": [f"p{v}" for v in rng.integers(0, max(1, n // 3), n)],
    }
    columns = [Column(name, type_, Role.INSENSITIVE) for name, type_ in TYPES.items()]
    arrow = {"a": pa.string(), "n": pa.int64(), "x": pa.float64(), "t": pa.string(), "free": pa.int64(), "who": pa.string()}
    table = pa.table({name: pa.array(cells[name], kind) for name, kind in arrow.items()})
    return bench.engine.stage(bench.parquet(table, columns)), table.to_pylist()


def tuples_of(rows, names):
    """The class of every row by hand: distinct tuples in ascending order, missing first."""
    keys = [tuple((row[name] is not None, row[name] if row[name] is not None else 0) for name in names) for row in rows]
    order = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [order[key] for key in keys]


def released(rows, part_of, parts, columns):
    """Cells as they are released, by source row; a pseudonym for ``who``."""
    found = {}
    for place, (row, part) in enumerate(zip(rows, part_of, strict=True)):
        if parts.dropped[part]:
            continue
        gone = {name for name, level in zip(parts.columns, parts.levels[part].tolist(), strict=True) if level}
        token = hmac.new(KEY, row["who"].encode(), "sha256").hexdigest()[:32]
        found[place] = tuple(None if name in gone else token if name == "who" else row[name] for name in columns)
    return found


def check(bench, staged, parts, expected, columns, name, order):
    out = tuple(OutputColumn(one, TYPES[one], KEY if one == "who" else None) for one in columns)
    row_map = bench.folder / f"{name}-map.parquet"
    sink = bench.sink(name=name)
    bench.engine.write(staged, OutputTable(out, parts, (sink,), row_map, order=order))
    mapped = pq.read_table(row_map).to_pydict()
    assert mapped["source_row"] == sorted(expected)
    cells = [tuple(row.values()) for row in pq.read_table(sink.path).to_pylist()]
    assert [cells[place] for place in mapped["output_row"]] == [expected[row] for row in sorted(expected)]
    by = [(tuple((cell is None, "" if cell is None else cell) for cell in expected[row]), row) for row in sorted(expected)]
    in_order = [row for _, row in sorted(by)] if order == "values" else sorted(expected)
    assert [mapped["source_row"][place] for place in np.argsort(mapped["output_row"])] == in_order


@pytest.mark.parametrize("order", ["values", "source"])
@pytest.mark.parametrize("n", [0, 1, 5, 700])
@pytest.mark.parametrize("known", [(), ("a",), ("x", "n"), ("t", "a"), ("n", "a", "x")])
def test_a_class_split_over_parts_gives_its_first_rows_to_the_first_part(bench, known, n, order):
    staged, rows = made(bench, n, n)
    found = bench.engine.classes(staged, known)
    classes = tuples_of(rows, known)
    assert np.bincount(np.array(classes, np.int64), minlength=found.table.n_classes).tolist() == found.table.counts.tolist()
    rng = np.random.default_rng(n)
    class_index, records = [], []
    for place, count in enumerate(found.table.counts.tolist()):
        cut = sorted({0, count, *rng.integers(0, count + 1, int(rng.integers(0, 3))).tolist()})
        records += np.diff(cut).tolist()
        class_index += [place] * (len(cut) - 1)
    columns = tuple(known) + (("free",) if known else ())
    levels = (rng.integers(0, 2, (len(records), len(columns))) * 255).astype(np.uint8)
    dropped = rng.random(len(records)) < 0.2
    parts = Parts(found.handle, np.array(class_index, np.uint32), np.array(records, np.int64), columns, levels, dropped)
    starts = {place: [p for p, one in enumerate(class_index) if one == place] for place in set(class_index)}
    left = list(records)
    part_of = []
    for one in classes:
        while not left[starts[one][0]]:
            starts[one].pop(0)
        left[starts[one][0]] -= 1
        part_of.append(starts[one][0])
    for number, names in enumerate((("a", "n", "x", "t", "free"), ("free", "t", "x", "a", "who"), ("a", "x", "n"))):
        check(bench, staged, parts, released(rows, part_of, parts, names), names, f"out{number}", order)


@pytest.mark.parametrize("n", [1, 6, 500])
def test_rows_of_a_person_go_to_the_part_of_their_pair(bench, n):
    staged, rows = made(bench, n, n)
    found = bench.engine.classes(staged, ("a", "n"), unit="who")
    table, rng = found.table, np.random.default_rng(n)
    chosen = rng.integers(0, 3, len(table.pairs_class))
    keys, pair_part = np.unique(table.pairs_class.astype(np.int64) * 3 + chosen, return_inverse=True)
    records = np.bincount(pair_part, weights=found.pair_rows * table.alike[table.pairs_person]).astype(np.int64)
    levels = (rng.integers(0, 2, (len(keys), 2)) * 255).astype(np.uint8)
    dropped = rng.random(len(keys)) < 0.2
    parts = Parts(
        found.handle, (keys // 3).astype(np.uint32), records, ("a", "n"), levels, dropped, pair_part.astype(np.uint32)
    )
    classes = tuples_of(rows, ("a", "n"))
    own = {name: Counter() for name in sorted({row["who"] for row in rows})}
    for one, row in zip(classes, rows, strict=True):
        own[row["who"]][one] += 1
    kinds = list(dict.fromkeys(tuple(sorted(counts.items())) for counts in own.values()))
    kind = {name: kinds.index(tuple(sorted(counts.items()))) for name, counts in own.items()}
    assert table.alike.tolist() == [list(kind.values()).count(one) for one in range(len(kinds))]
    pairs = list(zip(table.pairs_class.tolist(), table.pairs_person.tolist(), strict=True))
    of_pair = dict(zip(pairs, pair_part.tolist(), strict=True))
    part_of = [of_pair[one, kind[row["who"]]] for one, row in zip(classes, rows, strict=True)]
    for number, names in enumerate((("who", "a", "n", "x"), ("n", "free", "a"))):
        check(bench, staged, parts, released(rows, part_of, parts, names), names, f"out{number}", "values")


def test_parts_that_are_not_of_these_classes_are_a_fault_of_ours(bench):
    staged, _ = made(bench, 1, 9)
    found = bench.engine.classes(staged, ("a",))
    n = found.table.n_classes
    sound = Parts(
        found.handle,
        np.arange(n, dtype=np.uint32),
        found.table.counts,
        ("a",),
        np.zeros((n, 1), np.uint8),
        np.zeros(n, np.bool_),
    )
    faults = [
        replace(sound, records=sound.records + 1),
        replace(sound, class_index=sound.class_index[::-1]),
        replace(sound, class_index=sound.class_index + np.uint32(1)),
        replace(sound, levels=np.full((n, 1), 3, np.uint8)),
        replace(sound, levels=np.zeros((n, 2), np.uint8)),
        replace(sound, dropped=sound.dropped[1:]),
        replace(sound, pair_part=np.zeros(n, np.uint32)),
    ]
    for number, parts in enumerate(faults):
        table = OutputTable((OutputColumn("a", TYPES["a"]),), parts, (bench.sink(name=f"f{number}"),), bench.folder / "map")
        with pytest.raises(InternalError, match="R200"):
            bench.engine.write(staged, table)
        assert not (bench.folder / "map").exists()


def test_what_a_column_no_longer_holds_is_in_no_dictionary(bench):
    """Codes that no row has, of columns coded by distance, by text and by class."""
    staged, rows = made(bench, 3, 60)
    found = bench.engine.classes(staged, ("a", "n"))
    n = found.table.n_classes
    dropped = np.arange(n) > 1
    parts = Parts(
        found.handle, np.arange(n, dtype=np.uint32), found.table.counts, ("a",), np.full((n, 1), 255, np.uint8), dropped
    )
    classes = tuples_of(rows, ("a", "n"))
    names = ("a", "free", "n", "x")
    check(bench, staged, parts, released(rows, classes, parts, names), names, "out", "values")
    released_file = bench.engine.open_release(bench.sink(name="out"), [Column(one, TYPES[one], Role.QUASI) for one in names])
    assert bench.engine.leftovers(bench.sink(name="out")) == ()
    assert released_file.n_rows == sum(one < 2 for one in classes)
