from __future__ import annotations

import json
import re
import resource
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.duckdb.engine import DuckDBEngine
from privrelease.errors import InputError
from privrelease.execute.common.scope import engine_settings
from privrelease.execute.microdata.forecast import forecast, separating_column
from privrelease.execute.microdata.suppression import limit_exceeded
from privrelease.plan.model import ReleasedColumn, SuppressStep, ThreatPlan, UnitPlan
from privrelease.relational.schema import ColumnType, Role
from privrelease.relational.treatments import AS_IS, Pseudonym, Recoded
from privrelease.release.runs import RunState

COLUMNS = (
    ("id", "string", "direct"),
    ("sex", "category", "quasi"),
    ("region", "category", "quasi"),
    ("x", "integer", "sensitive"),
)
DATA = {
    "id": ["p1", "p2", "p3", "p4", "p5", "p6"],
    "sex": ["f", "f", "f", "m", "m", "m"],
    "region": ["n", "n", "s", "n", "s", "s"],
    "x": [1, 2, 3, 4, 5, 6],
}
KEY = {"PSEUDONYM_KEY": "0123456789abcdef0123456789abcdef"}


def pseudonym(name="id"):
    return ReleasedColumn(name, ColumnType.STRING, Role.DIRECT, Pseudonym("PSEUDONYM_KEY"))


def test_cells_are_suppressed_until_the_threshold_holds_and_nothing_else_changes(desk):
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)])
    parked = desk.publish(plan)
    rows = desk.rows()
    assert {row["x"] for row in rows} == set(DATA["x"])
    classes = [(row["sex"], row["region"]) for row in rows]
    assert all(classes.count(key) >= 2 for key in classes)
    for row in rows:
        source = DATA["x"].index(row["x"])
        assert row["sex"] in {None, DATA["sex"][source]}
        assert row["region"] in {None, DATA["region"][source]}
    gone = {name: sum(row[name] is None for row in rows) for name in ("sex", "region")}
    assert parked.internal.claims.suppressed == gone
    assert parked.internal.claims.lost == gone
    assert gone == {"sex": 2, "region": 2}  # the two singletons hide together; any other way costs six cells


def test_the_manifest_describes_the_released_file_and_nothing_of_the_source(desk):
    parked = desk.publish(desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)]))
    manifest = json.loads((desk.folder / "out" / "data.manifest.json").read_text())
    (output,) = manifest["outputs"]
    assert (output["label"], output["kind"], output["rows"]) == ("out/data.parquet", "parquet", 6)
    assert [(column["name"], column["type"], column["treatment"]) for column in output["columns"]] == [
        ("sex", "category", "as_is"),
        ("region", "category", "as_is"),
        ("x", "integer", "as_is"),
    ]
    assert "data.parquet" in json.dumps(parked.internal.model_dump(mode="json")["inputs"])
    assert parked.internal.inputs[0].hmac_sha256 not in json.dumps(manifest)
    assert parked.internal.manifest_sha256 == parked.manifest.digest()


def test_the_release_is_parked_with_its_row_map_and_without_spill(desk):
    parked = desk.run(desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)]))
    assert desk.store.record(parked.run.id).state is RunState.PARKED
    assert not (desk.folder / "out").exists()
    assert not parked.run.temporary.exists()
    mapping = pq.read_table(parked.run.row_map).to_pylist()
    assert sorted(row["source_row"] for row in mapping) == list(range(6))
    assert sorted(path.name for path in parked.run.outgoing.iterdir()) == ["data.manifest.json", "data.parquet"]


def test_steps_are_told_and_not_printed(desk, capsys):
    desk.run(desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)]))
    steps = [step for step, _ in desk.steps]
    assert list(dict.fromkeys(steps)) == ["digest", "read", "classes", "suppress", "write", "manifest"]
    assert all(fraction is None or 0 <= fraction <= 1 for _, fraction in desk.steps)
    assert capsys.readouterr() == ("", "")


def test_without_a_suppression_step_nothing_is_suppressed(desk):
    parked = desk.run(desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)], suppress=None))
    assert parked.internal.claims.suppressed == {"sex": 0, "region": 0}
    assert [row["region"] for row in pq.read_table(parked.run.data[0]).to_pylist()].count(None) == 0


def test_a_release_without_threats_leaves_as_it_is(desk):
    parked = desk.publish(desk.plan(desk.source(DATA, COLUMNS), threats=[]))
    assert len(desk.rows()) == 6
    assert parked.internal.claims.cells_total == 0


def test_fewer_rows_than_k_leave_nothing(desk):
    parked = desk.publish(desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 7)]))
    assert desk.rows() == []
    claims = parked.internal.claims
    assert (claims.released_rows, claims.dropped_rows) == (0, 6)
    assert claims.lost == {"sex": 6, "region": 6}
    assert claims.suppressed == {"sex": 0, "region": 0}


def test_a_source_without_rows_gives_an_output_without_rows(desk):
    empty = {name: [] for name, _, _ in COLUMNS}
    desk.publish(desk.plan(desk.source(empty, COLUMNS), threats=[("t", ["sex", "region"], 2)]))
    assert desk.rows() == []


def test_an_exceeded_limit_says_by_how_much_and_which_columns_cost_most(desk):
    step = SuppressStep(limit=Fraction("0.1"))
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)], suppress=step)
    parked = desk.run(plan)
    (finding,) = parked.findings
    assert finding.code == "R170"
    assert re.fullmatch(
        r"generalise sex \(`generalise`\), drop it \(`drop`\), or raise `limit`: without it fewest records are in groups that are too small",
        finding.hint,
    )
    assert finding.message == "4 of 12 cells are lost, 3 more than the limit of 0.1 allows; most: region 2, sex 2"
    assert desk.store.record(parked.run.id).state is RunState.PARKED
    met = desk.plan(plan.source, threats=plan.threats, suppress=SuppressStep(limit=Fraction(4, 12)))
    assert desk.run(met).findings == ()


@pytest.mark.parametrize(
    ("treatment", "begins"), [(AS_IS, "generalise region (`generalise`)"), (Recoded(None), "write region coarser still")]
)
def test_the_hint_names_the_column_that_lost_most_and_a_step_that_it_does_not_have_yet(desk, treatment, begins):
    plan = desk.plan(
        desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)], suppress=SuppressStep(limit=Fraction("0.1"))
    )
    plan = replace(plan, columns=tuple(replace(one, treatment=treatment) for one in plan.columns))
    finding = limit_exceeded(plan, {"sex": 1, "region": 3}, 12)
    assert finding.hint.startswith(begins)
    assert finding.hint.endswith("drop it (`drop`), or raise `limit`: it lost most cells")
    caused = limit_exceeded(plan, {"sex": 1, "region": 3}, 12, lambda: "sex")
    assert caused.hint.endswith("or raise `limit`: without it fewest records are in groups that are too small")
    assert caused.hint.startswith(begins.replace("region", "sex"))


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=12),
    known=st.lists(st.sets(st.sampled_from("abc"), min_size=1), min_size=1, max_size=2),
    k=st.integers(2, 4),
)
def test_the_column_that_separates_most_records_is_that_of_brute_force(rows, known, k):
    codes, counts = np.unique(np.array(rows, np.int32) + 1, axis=0, return_counts=True)
    table = ClassTable(("a", "b", "c"), codes.astype(np.int32), counts)
    threats = tuple(
        ThreatPlan(f"t{number}", tuple(sorted(columns)), Thresholds(Fraction(1, k))) for number, columns in enumerate(known)
    )
    plan = SimpleNamespace(threats=threats, quasi_identifiers=("a", "b", "c"), source=SimpleNamespace(columns=()))

    def below(left_out):
        total = 0
        for columns in known:
            places = [place for place, name in enumerate("abc") if name in columns and name != left_out]
            groups = Counter(tuple(row[place] for place in places) for row in rows)
            total += sum(size for size in groups.values() if size < k) if places else 0
        return total

    found = separating_column(plan, table, False)
    best = min(below(name) for columns in known for name in columns)
    assert (found is None) == (best == below(None))
    assert found is None or below(found) == best


def test_the_hint_names_the_cause_and_not_the_column_that_comes_first_where_rows_are_dropped(desk):
    """Each row has a day of its own: all rows are dropped, so that every column loses as many cells."""
    data = {**DATA, "sex": ["f"] * 6, "region": ["a", "b", "c", "d", "e", "f"]}
    step = SuppressStep(limit=Fraction(0))
    plan = desk.plan(desk.source(data, COLUMNS), threats=[("t", ["sex", "region"], 2)], suppress=step)
    (finding,) = desk.run(plan).findings
    assert finding.hint.startswith("generalise region (`generalise`)")


@pytest.mark.parametrize("environment", [{}, {"PSEUDONYM_KEY": ""}, {"PSEUDONYM_KEY": "short-secret"}])
def test_no_key_no_release_and_nothing_is_read(desk, environment):
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=[], released=[pseudonym(), "sex", "x"])
    with pytest.raises(InputError, match=r"D61[01]") as caught:
        desk.run(plan, environment=environment)
    assert "short-secret" not in str(caught.value)
    assert desk.steps == []
    assert not (desk.folder / "out").exists()


def test_pseudonyms_are_stable_under_a_key_and_differ_under_another(desk):
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=[], released=[pseudonym(), "sex", "x"])

    def tokens(key):
        desk.publish(plan, environment={"PSEUDONYM_KEY": key})
        return {row["x"]: row["id"] for row in desk.rows()}

    first = tokens("k" * 16)
    assert first == tokens("k" * 16)
    other = tokens("l" * 16)
    assert not set(first.values()) & (set(other.values()) | set(DATA["id"]))
    kept = [path for path in desk.folder.rglob("*") if path.is_file() and b"k" * 16 in path.read_bytes()]
    assert kept == []


def persons(rows):
    return {
        "id": rows,
        "sex": ["f"] * len(rows),
        "region": ["n", "s"] * (len(rows) // 2),
        "x": list(range(len(rows))),
    }


def test_persons_with_too_many_rows_are_counted_and_not_named(desk):
    source = desk.source(persons(["anna", "anna", "anna", "ben", "ben", "carla"]), COLUMNS)
    with pytest.raises(InputError, match="2 of 3 persons have more than max_rows = 1 row") as caught:
        desk.run(desk.plan(source, threats=[("t", ["sex"], 2)], unit=UnitPlan("id", 1)))
    assert caught.value.code == "D602"
    assert not any(name in str(caught.value) for name in ("anna", "ben", "carla"))


def test_rows_without_a_person_are_refused(desk):
    source = desk.source(persons(["anna", None, "ben", None]), COLUMNS)
    with pytest.raises(InputError, match="2 rows have no value in the unit column id"):
        desk.run(desk.plan(source, threats=[("t", ["sex"], 2)], unit=UnitPlan("id")))


def test_classes_count_persons_and_not_rows(desk):
    source = desk.source(persons(["anna", "ben", "anna", "ben", "anna", "carla"]), COLUMNS)
    parked = desk.publish(desk.plan(source, threats=[("t", ["region"], 2)], unit=UnitPlan("id")))
    assert parked.internal.claims.source_persons == 3
    assert not parked.internal.claims.linkable
    # north holds three rows of one person: they go; south holds two persons and stays, or all is suppressed
    assert all(row["region"] in {"s", None} for row in desk.rows())


def test_rows_of_one_person_under_one_pseudonym_are_linkable(desk):
    source = desk.source(persons(["anna", "ben", "anna", "ben"]), COLUMNS)
    plan = desk.plan(source, threats=[("t", ["region"], 2)], unit=UnitPlan("id"), released=[pseudonym(), "region", "x"])
    assert desk.run(plan, environment=KEY).internal.claims.linkable


@pytest.mark.parametrize("threats", [[], [("t", ["region"], 2)]])
def test_a_pseudonym_that_repeats_is_refused_where_no_person_is_declared(desk, threats):
    """Anna and Ben have two rows each, Carla one, one row names nobody."""
    source = desk.source(persons(["anna", "ben", "anna", "ben", "carla", None]), COLUMNS)
    plan = desk.plan(source, threats=threats, released=[pseudonym(), "region", "x"])
    with pytest.raises(InputError, match="2 values of id occur in several rows") as caught:
        desk.run(plan, environment=KEY)
    assert (caught.value.code, caught.value.exit_code) == ("D603", 3)
    assert "unit: {column: …}" in str(caught.value)
    assert not any(name in str(caught.value) for name in ("anna", "ben", "carla"))
    assert not [path for path in desk.folder.rglob("*") if path.suffix in {".parquet", ".csv"} and path.name != "data.parquet"]


def test_a_pseudonym_that_names_every_row_apart_needs_no_person(desk):
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex"], 2)], released=[pseudonym(), "sex", "x"])
    assert not desk.run(plan, environment=KEY).internal.claims.linkable


VISITS = (*COLUMNS, ("phone", "string", "direct"))


@pytest.mark.parametrize(
    ("phones", "linkable"),
    [
        (["1", "2", "1", "2"], True),  # one telephone a person, in every row of theirs
        (["1", "2", "3", "1"], False),  # shared by rows of two persons only
        (["1", None, "3", None], False),  # missing twice is no name
        (["1", "2", "3", "2"], True),  # of one person alone
    ],
)
def test_rows_are_linkable_by_another_pseudonym_where_the_unit_does_not_leave(desk, phones, linkable):
    source = desk.source(persons(["anna", "ben", "anna", "ben"]) | {"phone": phones}, VISITS)
    plan = desk.plan(source, threats=[("t", ["region"], 2)], unit=UnitPlan("id"), released=[pseudonym("phone"), "region", "x"])
    assert desk.run(plan, environment=KEY).internal.claims.linkable is linkable


def test_one_row_per_person_is_not_linkable(desk):
    plan = desk.plan(
        desk.source(DATA, COLUMNS), threats=[("t", ["sex"], 2)], unit=UnitPlan("id", 1), released=[pseudonym(), "sex", "x"]
    )
    claims = desk.run(plan, environment=KEY).internal.claims
    assert (claims.source_persons, claims.linkable) == (6, False)


def test_a_source_that_changes_while_it_is_read_is_refused(desk, monkeypatch):
    source = desk.source(DATA, COLUMNS)
    plan = desk.plan(source, threats=[("t", ["sex", "region"], 2)])

    def meddling(step, _fraction):
        if step == "suppress":
            desk.source(DATA | {"x": [9, 8, 7, 6, 5, 4]}, COLUMNS)

    monkeypatch.setattr(desk, "progress", meddling)
    with pytest.raises(InputError, match="D620"):
        desk.run(plan)


def test_the_forecast_is_what_the_run_then_takes_and_writes_nothing(desk):
    plan = desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)])
    before = sorted(desk.folder.rglob("*"))
    with DuckDBEngine(engine_settings(plan, None)) as engine:
        ahead = forecast(plan, engine)
    assert sorted(desk.folder.rglob("*")) == before
    (threat,) = ahead.threats
    assert (threat.k, threat.smallest, threat.classes, threat.uniques, threat.below_k) == (2, 1, 4, 2, 2)
    assert (threat.highest, threat.average) == (Fraction(1), Fraction(4, 6))
    claims = desk.run(plan).internal.claims
    assert {column.column: column.suppressed for column in ahead.columns} == claims.suppressed
    assert ahead.cells_lost == sum(claims.lost.values())


def test_the_forecast_counts_persons(desk):
    source = desk.source(persons(["anna", "ben", "anna", "ben", "anna", "carla"]), COLUMNS)
    plan = desk.plan(source, threats=[("t", ["region"], 2)], unit=UnitPlan("id"))
    with DuckDBEngine(engine_settings(plan, None)) as engine:
        (threat,) = forecast(plan, engine).threats
    assert (threat.counted, threat.smallest, threat.classes) == ("persons", 1, 2)


def test_the_forecast_counts_a_row_without_known_values_as_the_audit_does(desk):
    source = desk.source({"sex": ["A", "A", "A", "A", None]}, (("sex", "string", "quasi"),))
    plan = desk.plan(source, threats=[("t", ["sex"], 4)], suppress=None)
    with DuckDBEngine(engine_settings(plan, None)) as engine:
        ahead = forecast(plan, engine)
    (threat,) = ahead.threats
    assert (threat.smallest, threat.classes, threat.uniques, threat.below_k, threat.highest) == (1, 2, 1, 1, Fraction(1))
    assert ahead.unmet == ("t",)


def test_the_forecast_sets_such_a_row_aside_where_the_source_marks_suppressed_cells(desk):
    source = desk.source({"sex": ["A", "A", "A", "A", None]}, (("sex", "string", "quasi"),))
    marked = tuple(replace(one, format=replace(one.format, suppression_mark="*")) for one in source.columns)
    plan = desk.plan(replace(source, columns=marked), threats=[("t", ["sex"], 4)], suppress=None)
    with DuckDBEngine(engine_settings(plan, None)) as engine:
        ahead = forecast(plan, engine)
    (threat,) = ahead.threats
    assert (threat.smallest, threat.below_k, ahead.unmet) == (4, 0, ())


def test_the_forecast_of_persons_reads_missing_as_the_threat_does(desk):
    rows = persons(["anna", "ben", "anna", "ben", "anna", "carla"]) | {"region": ["n", "n", "n", "n", "n", None]}
    threat = ThreatPlan("t", ("region",), Thresholds(highest=Fraction(1, 3)), missing="wildcard")
    plan = desk.plan(desk.source(rows, COLUMNS), threats=[threat], unit=UnitPlan("id"), suppress=None)
    with DuckDBEngine(engine_settings(plan, None)) as engine:
        ahead = forecast(plan, engine)
    assert (ahead.threats[0].reading, ahead.threats[0].smallest, ahead.unmet) == ("wildcard", 3, ())


def test_several_sinks_hold_the_same_rows(desk):
    sinks = ("out/data.parquet", "out/data.csv")
    parked = desk.publish(desk.plan(desk.source(DATA, COLUMNS), threats=[("t", ["sex", "region"], 2)], sinks=sinks))
    assert [output.rows for output in parked.manifest.outputs] == [6, 6]
    lines = (desk.folder / "out" / "data.csv").read_text().splitlines()
    assert lines[1:] == [",".join("" if value is None else str(value) for value in row.values()) for row in desk.rows()]


@pytest.fixture
def full_disk():
    """Files of more than 20 kB cannot be written, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("ending", ["parquet", "csv", "duckdb"])
def test_a_disk_that_fills_while_writing_leaves_the_previous_release_and_nothing_else(desk, request, ending):
    sinks = (f"out/data.{ending}",)
    desk.publish(desk.plan(desk.source(DATA, COLUMNS), threats=[], sinks=sinks))
    old = (desk.folder / sinks[0]).read_bytes()
    big = {"id": list("pq") * 4000, "sex": list("fm") * 4000, "region": list("ns") * 4000, "x": [n * 7919 for n in range(8000)]}
    plan = desk.plan(desk.source(big, COLUMNS), threats=[("t", ["sex", "region"], 2)], sinks=sinks)
    request.getfixturevalue("full_disk")
    with pytest.raises(InputError) as caught:
        desk.run(plan)
    assert caught.value.exit_code == 3
    assert caught.value.hint
    assert (desk.folder / sinks[0]).read_bytes() == old
    record = desk.store.records()[-1]
    assert record.state is RunState.FAILED
    folder = desk.store.folder(record.run)
    assert sorted(path.name for path in folder.path.rglob("*")) == ["internal", "lock", "state.json"]
