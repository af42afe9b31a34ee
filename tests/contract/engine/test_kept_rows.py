"""Rows that are kept of a person: where no one, one person or everyone has more than `max_rows`, and whatever the others have."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from privrelease.engine.duckdb import DuckDBEngine, connection, sql
from privrelease.engine.duckdb.measuring import aggregates
from privrelease.engine.protocol.base import EngineSettings
from privrelease.relational.aggregates import Aggregate, Bounding, ColumnKey, Measure
from privrelease.relational.schema import Column, ColumnType, Role
from tests.contract.engine.conftest import Bench
from tests.depth import depth

UNITS = {ColumnType.STRING: (pa.string(), lambda person: f"p{person}"), ColumnType.INTEGER: (pa.int64(), lambda person: person)}


def kept(bench, rows, kind, max_rows, salt):
    """Return the numbers of the rows that count, of (person or None, number of the row)."""
    type_, cell = UNITS[kind]
    persons = [None if person is None else cell(person) for person, _ in rows]
    numbers = [number for _, number in rows]
    columns = [Column("id", kind, Role.DIRECT), Column("row", ColumnType.INTEGER, Role.QUASI)]
    schema = pa.schema([("id", type_), ("row", pa.int64())])
    staged = bench.engine.stage(bench.parquet(pa.table({"id": persons, "row": numbers}, schema=schema), columns))
    key = ColumnKey("row", tuple(map(str, numbers)))
    (found,) = bench.engine.aggregates(staged, Bounding("id", max_rows, salt), (Aggregate((Measure("rows"),), (key,)),))
    return {number for number, count in zip(numbers, found.figures[0].tolist(), strict=True) if count}


@st.composite
def tables(draw):
    """Rows of up to six persons in a drawn order, of whom no one, one or everyone is above ``max_rows``; some rows have no person."""
    max_rows, above = draw(st.sampled_from([1, 2, 5])), draw(st.sampled_from(["no one", "one", "everyone"]))
    few, many = st.integers(1, max_rows), st.integers(max_rows + 1, 3 * max_rows + 2)
    persons = draw(st.integers(1, 6))
    counts = [draw(many if above == "everyone" or (above == "one" and person == 0) else few) for person in range(persons)]
    owners = [person for person, count in enumerate(counts) for _ in range(count)] + [None] * draw(st.integers(0, 3))
    return max_rows, [(person, number) for number, person in enumerate(draw(st.permutations(owners)))]


@pytest.mark.parametrize("kind", UNITS)
@settings(max_examples=depth(12, 30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=tables(), salt=st.integers(0, 2**64 - 1))
def test_rows_kept_of_a_person_are_those_kept_of_the_person_alone(bench, kind, case, salt):
    max_rows, rows = case
    found = kept(bench, rows, kind, max_rows, salt)
    alone = set()
    for person in {person for person, _ in rows} - {None}:
        own = [row for row in rows if row[0] == person]
        theirs = kept(bench, own, kind, max_rows, salt)
        assert len(theirs) == min(max_rows, len(own))
        alone |= theirs
    assert found == alone


def test_statements_do_not_depend_on_who_has_more_than_max_rows(tmp_path, monkeypatch):
    asked, rendered = [], connection.render
    for name, persons in {
        "no one": range(60),
        "one": [0] * 6 + list(range(1, 55)),
        "everyone": [i % 10 for i in range(60)],
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        statements = []

        def noted(tree, statements=statements):
            statements.append(rendered(tree))
            return statements[-1]

        with (
            DuckDBEngine(EngineSettings(readable=(folder,), writable=(folder,), threads=2)) as engine,
            monkeypatch.context() as patch,
        ):
            patch.setattr(connection, "render", noted)
            kept(Bench(engine, folder), list(zip(persons, range(60), strict=True)), ColumnType.INTEGER, 5, 7)
        asked.append([text.replace(str(folder), "folder") for text in statements])
    assert len(asked[0]) > 1
    assert asked[0] == asked[1] == asked[2]


def evenness(bench, max_groups=None):
    """How likely chance keeps the values 1 to 10 of 3,000 persons, who have one row of each, no more evenly than they are kept."""
    ids = [person for person in range(3_000) for _ in range(10)]
    columns = [Column("id", ColumnType.INTEGER, Role.DIRECT), Column("x", ColumnType.INTEGER, Role.QUASI)]
    staged = bench.engine.stage(bench.parquet(pa.table({"id": ids, "x": [*range(1, 11)] * 3_000}), columns))
    asked = Aggregate((Measure("rows"),), (ColumnKey("x", tuple(map(str, range(1, 11)))),), max_groups=max_groups)
    (found,) = bench.engine.aggregates(staged, Bounding("id", 10 if max_groups else 1, 2**40 + 7), (asked,))
    assert found.figures[0].sum() == 3_000
    return stats.chisquare(found.figures[0].astype(float)).pvalue


@pytest.mark.parametrize("max_groups", [None, 1])
def test_every_row_and_group_of_a_person_is_as_likely_to_be_kept(bench, monkeypatch, max_groups):
    """Planted: the engine's hash of several values alone, which is an exclusive or."""
    assert evenness(bench, max_groups) > 1e-4
    if not isinstance(bench.engine, DuckDBEngine):
        return  # the plain engine has a hash of its own
    monkeypatch.setattr(
        aggregates, "_shuffled", lambda salt, *cells: sql.call("hash", sql.cast(sql.text(str(salt)), "UBIGINT"), *cells)
    )
    assert evenness(bench, max_groups) < 1e-12
