"""Faults of files: altered, damaged or absent, unlike each other, or holding more than their rows."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privrelease.relational.schema import SinkKind
from tests.contract.planted_faults.parked_release import parked


def test_a_file_altered_after_its_digest(release):
    with release.csv.open("a", encoding="utf-8") as stream:
        stream.write("\n")
    assert "AUDIT-DIGEST" in release.failing()


def test_a_digest_altered(release):
    outputs = tuple(output.model_copy(update={"sha256": "0" * 64}) for output in release.target.manifest.outputs)
    release.target = replace(release.target, manifest=release.target.manifest.model_copy(update={"outputs": outputs}))
    assert release.failing() == {"AUDIT-DIGEST"}


@pytest.mark.parametrize("place", ["file", "schema", "field"])
def test_metadata_in_a_file(release, place):
    table = pq.read_table(release.parquet)
    author = {"author": "somebody"}
    if place == "schema":
        table = table.replace_schema_metadata(author)
    if place == "field":
        schema = table.schema.set(4, table.schema.field(4).with_metadata(author))
        table = pa.Table.from_arrays(table.columns, schema=schema)
    with pq.ParquetWriter(release.parquet, table.schema, store_schema=place != "file") as writer:
        writer.write_table(table)
        if place == "file":
            writer.add_key_value_metadata(author)
    release.agree()
    assert release.failing() == {"AUDIT-LEFTOVER"}


def test_a_suppressed_value_left_in_a_dictionary(release):
    """The rows are right; the value that was made missing can still be read."""
    table = pq.read_table(release.parquet)
    place = table.schema.get_field_index("age")
    codes = table.column("age").combine_chunks().dictionary_encode()
    with_more = pa.DictionaryArray.from_arrays(codes.indices, pa.concat_arrays([codes.dictionary, pa.array(["50"])]))
    pq.write_table(table.set_column(place, "age", with_more), release.parquet)
    release.agree()
    assert release.failing() == {"AUDIT-LEFTOVER"}


def test_a_table_beside_the_released_one(tmp_path):
    with parked(tmp_path, kind=SinkKind.DUCKDB) as release:
        with duckdb.connect(str(release.parquet)) as connection:
            connection.execute("CREATE TABLE notes AS SELECT 1 AS a")
        release.agree()
        assert release.failing() == {"AUDIT-LEFTOVER"}


def test_a_csv_file_that_differs_from_the_parquet_file(release):
    lines = release.csv.read_text(encoding="utf-8").splitlines()
    cells = lines[5].split(",")
    cells[4] = str(int(cells[4]) + 1)
    lines[5] = ",".join(cells)
    release.csv.write_text("\n".join(lines) + "\n", encoding="utf-8")
    release.agree()
    assert release.failing() == {"AUDIT-SAME"}


def test_a_csv_file_with_a_cell_of_another_type(release):
    lines = release.csv.read_text(encoding="utf-8").splitlines()
    cells = lines[5].split(",")
    cells[4] = "many"
    lines[5] = ",".join(cells)
    release.csv.write_text("\n".join(lines) + "\n", encoding="utf-8")
    release.agree()
    assert {"AUDIT-FILES", "AUDIT-SAME"} <= release.failing()


def test_a_file_that_is_not_there(release):
    release.csv.unlink()
    assert {"AUDIT-FILES", "AUDIT-DIGEST"} <= release.failing()


def test_a_damaged_file(release):
    """The footer is whole, a page of cells is not."""
    content = bytearray(release.parquet.read_bytes())
    content[8:200] = bytes(192)
    release.parquet.write_bytes(bytes(content))
    release.agree()
    assert {"AUDIT-FILES", "AUDIT-SAME"} <= release.failing()
