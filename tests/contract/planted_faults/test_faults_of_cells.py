"""Faults of cells and columns: values changed, swapped, made up or lost, another type, a column too many."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from tests.contract.planted_faults.parked_release import K, whole_class


def test_a_value_changed(release):
    rows = release.rows()
    rows[3]["score"] += 1
    release.put(rows)
    assert release.failing() == {"AUDIT-CHANGED"}


def test_two_values_swapped_inside_a_class(release):
    """Every class and every column's values are as before."""
    rows = release.rows()
    members = whole_class(rows, K)
    first = members[0]
    second = next(row for row in members if row["score"] != first["score"])
    first["score"], second["score"] = second["score"], first["score"]
    release.put(rows)
    assert release.failing() == {"AUDIT-CHANGED"}


def test_rows_joined_to_the_wrong_rows(release):
    """As after a join that lost its order: the known columns are right as a whole, and beside other rows."""
    rows = release.rows()
    known = [{name: row[name] for name in ("age", "sex", "region")} for row in rows]
    moved = [row | other for row, other in zip(rows, known[1:] + known[:1], strict=True)]
    release.put(moved, cover=False)
    assert "AUDIT-CHANGED" in release.failing()


def test_a_value_made_up_in_a_missing_cell(release):
    rows = release.rows()
    next(row for row in rows if row["note"] is None)["note"] = "a"
    release.put(rows)
    assert release.failing() == {"AUDIT-INVENTED"}


def test_a_value_that_the_source_never_held(release):
    rows = release.rows()
    next(row for row in rows if row["age"] is None)["age"] = "made up"
    release.put(rows, cover=False)
    assert {"AUDIT-CHANGED", "threat outsider"} <= release.failing()


def test_a_cell_lost_in_a_column_that_nothing_protects(release):
    rows = release.rows()
    next(row for row in rows if row["note"] is not None)["note"] = None
    release.put(rows)
    assert release.failing() == {"AUDIT-NULLED"}


def test_a_type_changed(release):
    schema = pq.read_schema(release.parquet)
    place = schema.get_field_index("score")
    release.put(release.rows(), schema=schema.set(place, pa.field("score", pa.float64())))
    assert "AUDIT-TYPES" in release.failing()


def test_a_quasi_identifier_of_another_type_leaves_its_threats_unmeasured(release):
    schema = pq.read_schema(release.parquet)
    place = schema.get_field_index("sex")
    rows = [row | {"sex": row["sex"] == "F"} for row in release.rows()]
    release.put(rows, schema=schema.set(place, pa.field("sex", pa.bool_())))
    assert {"AUDIT-TYPES", "threat outsider"} <= release.failing()


def test_a_column_added(release):
    schema = pq.read_schema(release.parquet).append(pa.field("ref", pa.string()))
    source = release.source()
    release.put([row | {"ref": f"r{row['_source']}"} for row in release.rows()], schema=schema)
    assert release.failing() == {"AUDIT-COLUMNS"}
    release.put([row | {"ref": source[row["_source"]]["id"]} for row in release.rows()], schema=schema)
    assert release.failing() == {"AUDIT-COLUMNS", "AUDIT-HIDDEN"}


def test_a_column_renamed(release):
    schema = pq.read_schema(release.parquet)
    release.put(
        [row | {"Note": row["note"]} for row in release.rows()],
        schema=schema.set(schema.get_field_index("note"), pa.field("Note", pa.string())),
    )
    assert "AUDIT-COLUMNS" in release.failing()
