"""Class tables of any engine against a brute-force count."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

from privrelease.errors import InputError
from privrelease.relational.schema import Column, ColumnType, Role

CELLS = {
    ColumnType.STRING: lambda rng, n: [f"s{v:03}" for v in rng.integers(0, 5, n)],
    ColumnType.CATEGORY: lambda rng, n: [chr(97 + v) * 2 for v in rng.integers(0, 3, n)],
    ColumnType.INTEGER: lambda rng, n: rng.integers(-2, 3, n).tolist(),
    ColumnType.NUMBER: lambda rng, n: (rng.integers(-2, 3, n) / 2).tolist(),
    ColumnType.DATE: lambda rng, n: rng.integers(0, 4, n).astype("datetime64[D]").astype(object).tolist(),
    ColumnType.DATETIME: lambda rng, n: rng.integers(0, 4, n).astype("datetime64[s]").astype(object).tolist(),
    ColumnType.BOOLEAN: lambda rng, n: (rng.integers(0, 2, n) == 1).tolist(),
}


def random_source(bench, seed, n=400, name="in.parquet"):
    rng = np.random.default_rng(seed)
    columns = [Column(type_.value, type_, Role.QUASI) for type_ in CELLS]
    cells = {}
    for column in columns:
        made = CELLS[column.type](rng, n)
        cells[column.name] = pa.array([None if lost else cell for cell, lost in zip(made, rng.random(n) < 0.15, strict=True)])
    cells["who"] = pa.array([f"p{v}" for v in rng.integers(0, n // 2, n)])
    cells["w"] = pa.array(rng.integers(1, 50, n) / 4)
    columns += [Column("who", ColumnType.STRING, Role.DIRECT), Column("w", ColumnType.NUMBER, Role.INSENSITIVE)]
    return bench.parquet(cells, columns, name=name), pa.table(cells).to_pylist()


def codes_by_hand(rows, name):
    known = sorted({row[name] for row in rows if row[name] is not None})
    return {None: 0, **{value: place for place, value in enumerate(known, 1)}}


@pytest.mark.parametrize("seed", range(4))
def test_classes_are_the_distinct_tuples_in_lexicographic_order(bench, seed):
    source, rows = random_source(bench, seed)
    staged = bench.engine.stage(source)
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation([type_.value for type_ in CELLS])[: int(rng.integers(1, 8))]]
    found = bench.engine.classes(staged, names, unit="who", weight="w")
    coding = {name: codes_by_hand(rows, name) for name in names}
    tuples = [tuple(coding[name][row[name]] for name in names) for row in rows]
    counts = Counter(tuples)
    assert [tuple(code) for code in found.table.codes.tolist()] == sorted(counts)
    assert found.table.counts.tolist() == [counts[one] for one in sorted(counts)]
    weights, persons = defaultdict(float), defaultdict(set)
    for one, row in zip(tuples, rows, strict=True):
        weights[one] += row["w"]
        persons[one].add(row["who"])
    assert found.table.weights.tolist() == pytest.approx([weights[one] for one in sorted(counts)], rel=1e-12)
    in_class = np.bincount(found.table.pairs_class, found.table.alike[found.table.pairs_person])
    assert in_class.tolist() == [len(persons[one]) for one in sorted(counts)]
    who = {name: place for place, name in enumerate(sorted({row["who"] for row in rows}))}
    pairs = Counter((sorted(counts).index(one), who[row["who"]]) for one, row in zip(tuples, rows, strict=True))
    assert np.iinfo(found.table.codes.dtype).max > found.table.codes.max()  # one more has its place
    least = {}
    for one, row in zip(tuples, rows, strict=True):
        pair = sorted(counts).index(one), who[row["who"]]
        least[pair] = min(row["w"], least.get(pair, row["w"]))
    by_hand = {}
    for person in range(len(who)):
        own = tuple(
            (place, pairs[place, person], least[place, person]) for place in range(len(counts)) if (place, person) in pairs
        )
        by_hand.setdefault(own, []).append(person)
    assert found.table.alike.tolist() == [len(alike) for alike in by_hand.values()]
    listed = zip(
        found.table.pairs_class.tolist(),
        found.table.pairs_person.tolist(),
        found.pair_rows.tolist(),
        found.table.pair_weights.tolist(),
        strict=True,
    )
    assert list(listed) == sorted((place, kind, n, w) for kind, own in enumerate(by_hand) for place, n, w in own)

    measured = bench.engine.class_table(staged, names)
    grouped = bench.engine.person_classes(staged, None, None, names, "who")
    for table in (measured, grouped.table):
        np.testing.assert_array_equal(table.codes, found.table.codes)
        np.testing.assert_array_equal(table.counts, found.table.counts)
    rows_of = defaultdict(list)
    for (class_, person), number in sorted(pairs.items()):
        rows_of[person].append((class_, number))
    kinds = defaultdict(list)
    listed = zip(grouped.table.pairs_class.tolist(), grouped.table.pairs_person.tolist(), strict=True)
    assert list(listed) == sorted(zip(grouped.table.pairs_class.tolist(), grouped.table.pairs_person.tolist(), strict=True))
    for class_, kind, number in zip(
        grouped.table.pairs_class.tolist(), grouped.table.pairs_person.tolist(), grouped.pair_rows.tolist(), strict=True
    ):
        kinds[kind].append((class_, number))
    alike = {tuple(kinds[kind]): times for kind, times in enumerate(grouped.table.alike.tolist())}
    assert len(alike) == len(kinds)
    assert alike == Counter(map(tuple, rows_of.values()))


@pytest.mark.parametrize("seed", range(3))
def test_size_histograms_count_rows_or_persons(bench, seed):
    source, rows = random_source(bench, seed)
    staged = bench.engine.stage(source)
    names = ["boolean", "category", "integer"]
    keys = [tuple(row[name] for name in names) for row in rows]
    lost = (None,) * 3
    for unit, residual in ((None, False), (None, True), ("who", False), ("who", True)):
        groups = defaultdict(list)
        for key, row in zip(keys, rows, strict=True):
            groups[key].append(row["who"] if unit else len(groups[key]))
        apart = len([key for key in keys if key == lost]) if residual else 0
        sizes = Counter(len(set(members)) for key, members in groups.items() if not (residual and key == lost))
        found = bench.engine.size_histogram(staged, names, unit=unit, residual=residual)
        assert dict(zip(found.sizes.tolist(), found.classes.tolist(), strict=True)) == sizes
        assert found.residual == apart
        assert found.sizes.tolist() == sorted(sizes)


@pytest.mark.parametrize("unit", [None, "who"])
def test_values_of_many_columns_are_counted_as_those_of_each(bench, unit):
    source, _ = random_source(bench, 5)
    staged = bench.engine.stage(source)
    names = [column.name for column in staged.columns]
    for found, name in zip(bench.engine.value_sizes(staged, names, unit=unit), names, strict=True):
        alone = bench.engine.size_histogram(staged, [name], unit=unit, residual=True)
        assert found.sizes.tolist() == alone.sizes.tolist()
        assert found.classes.tolist() == alone.classes.tolist()
    assert bench.engine.value_sizes(staged, []) == ()


def test_one_row_no_row_and_equal_rows_are_classes_too(bench):
    column = Column("a", ColumnType.CATEGORY, Role.QUASI)
    for text, codes, counts in (("a\n", [], []), ("a\nx\n", [[1]], [1]), ("a\nx\nx\n", [[1]], [2]), ('a\n""\n', [[0]], [1])):
        staged = bench.engine.stage(bench.csv(text, [column]))
        found = bench.engine.classes(staged, ["a"])
        assert found.table.codes.tolist() == codes
        assert found.table.counts.tolist() == counts
        measured = bench.engine.class_table(staged, ["a"])
        assert (measured.codes.tolist(), measured.counts.tolist()) == (codes, counts)
        assert bench.engine.size_histogram(staged, ["a"]).classes.sum() == len(counts)


@pytest.mark.parametrize("width", [33, 65, 130])
def test_any_number_of_columns_can_be_key_columns(bench, width):
    rng = np.random.default_rng(width)
    rows = rng.integers(0, 3, (60, width))
    rows[:, 5:] = rows[0, 5:]
    rows[7:9, -1] = 9
    table = {f"q{i}": pa.array(rows[:, i].astype(str)) for i in range(width)}
    staged = bench.engine.stage(bench.parquet(table, [Column(name, ColumnType.CATEGORY, Role.QUASI) for name in table]))
    found = bench.engine.classes(staged, list(table))
    counts = Counter(map(tuple, rows.tolist()))
    assert found.table.counts.tolist() == [counts[one] for one in sorted(counts)]
    sizes = bench.engine.size_histogram(staged, list(table))
    assert dict(zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True)) == Counter(counts.values())


def test_a_column_of_many_values_is_coded_in_ascending_order_too(bench):
    n = 66_000  # more than two bytes can number
    rng = np.random.default_rng(1)
    values = rng.permutation(n)
    cells = {"t": pa.array([f"v{v:06}" for v in values]), "x": pa.array(values / 3), "i": pa.array(values)}
    columns = [
        Column("t", ColumnType.STRING, Role.QUASI),
        Column("x", ColumnType.NUMBER, Role.QUASI),
        Column("i", ColumnType.INTEGER, Role.QUASI),
    ]
    staged = bench.engine.stage(bench.parquet(cells, columns))
    for name in cells:
        found = bench.engine.classes(staged, [name])
        np.testing.assert_array_equal(found.table.codes[:, 0], np.arange(1, n + 1))
    paired = bench.engine.classes(staged, ["i"], unit="t").table
    np.testing.assert_array_equal(paired.pairs_person, np.arange(n))
    np.testing.assert_array_equal(paired.alike, np.ones(n))


def test_twenty_digit_identifiers_stay_apart(bench):
    who = Column("person", ColumnType.STRING, Role.DIRECT)
    area = Column("area", ColumnType.CATEGORY, Role.QUASI)
    text = "person,area\n90000000000000000001,W\n90000000000000000002,W\n90000000000000000003,W\n90000000000000000001,W\n"
    staged = bench.engine.stage(bench.csv(text, [who, area]))
    table = bench.engine.classes(staged, ["area"], unit="person").table
    assert (table.counts.tolist(), sorted(table.alike.tolist())) == ([4], [1, 2])


def test_negative_zero_is_zero(bench):
    x = Column("x", ColumnType.NUMBER, Role.QUASI)
    staged = bench.engine.stage(bench.csv("x\n-0.0\n0.0\n0\n-0\n", [x]))
    assert bench.engine.classes(staged, ["x"]).table.counts.tolist() == [4]
    assert bench.engine.class_table(staged, ["x"]).counts.tolist() == [4]
    assert bench.engine.size_histogram(staged, ["x"]).sizes.tolist() == [4]


def test_a_row_without_its_person_is_refused(bench):
    source = bench.csv(
        "who,a\np1,x\n,y\n", [Column("who", ColumnType.STRING, Role.DIRECT), Column("a", ColumnType.CATEGORY, Role.QUASI)]
    )
    staged = bench.engine.stage(source)
    for ask in (lambda: bench.engine.classes(staged, ["a"], unit="who"),):
        with pytest.raises(InputError, match="1 row has no value in the unit column who") as caught:
            ask()
        assert caught.value.code == "D211"


@pytest.mark.parametrize("cell", ["", "0", "-1"])
def test_a_row_without_a_positive_weight_is_refused(bench, cell):
    source = bench.csv(
        f"w,a\n1,x\n{cell},y\n",
        [Column("w", ColumnType.NUMBER, Role.INSENSITIVE), Column("a", ColumnType.CATEGORY, Role.QUASI)],
    )
    with pytest.raises(InputError, match="weight column w") as caught:
        bench.engine.classes(bench.engine.stage(source), ["a"], weight="w")
    assert caught.value.code == "D212"


@pytest.mark.parametrize("values", [254, 255, 256])
def test_codes_leave_a_place_for_a_value_that_no_record_has(bench, values):
    """A class table may be as narrow as its codes; the code after the last stands for what no record shows, and must not become 0."""
    table = {"v": [f"v{n:03}" for n in range(values)]}
    found = bench.engine.classes(
        bench.engine.stage(bench.parquet(table, [Column("v", ColumnType.CATEGORY, Role.QUASI)])), ("v",)
    ).table
    assert found.codes[:, 0].tolist() == list(range(1, values + 1))
    assert (found.codes.max(axis=0) + 1).tolist() == [values + 1]
