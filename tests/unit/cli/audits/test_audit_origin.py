"""A file that a run of ours made is audited with what that run knows; of any other file it is said what could not be checked."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

AUDIT = ("audit", "policy.yaml", "--release", "r", "--file")


def unlooked(document):
    return [check["id"] for check in document["checks"] if check["outcome"] == "not_evaluated"]


def newest(desk):
    return max((desk.folder / ".privrelease" / "runs").iterdir()).name


@pytest.fixture
def measured(desk):
    """A published release of two files, of which the policy asks for a figure that only the source can give."""
    policy = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    policy = policy.replace("output: {path: out/r.csv}", "output: [{path: out/r.csv}, {path: out/r.parquet}]")
    desk.policy(policy + "checks:\n  - {id: UTIL-001, release: r, expect: suppressed_cells, max: 0.2}\n")
    said = desk.run_once()
    assert said.code == 0, said.err
    return desk


@pytest.mark.parametrize("file", ["out/r.csv", "out/r.parquet", "copy.csv"])
def test_what_a_run_published_is_audited_with_everything_the_run_knows(measured, file):
    shutil.copy(measured.released, measured.folder / "copy.csv")
    said = measured(*AUDIT, file, "--format", "json")
    assert said.code == 0, said.err
    assert f"made by run {newest(measured)} (published)" in said.err
    assert unlooked(said.json) == []
    assert said.json["decision"]["outcome"] == "pass"
    assert said.json["identity"]["run"] == newest(measured)


def test_of_two_runs_that_made_the_same_the_published_one_is_named(measured):
    first = newest(measured)
    assert measured.run().code == 0
    said = measured(*AUDIT, "out/r.csv")
    assert said.code == 0, said.err
    assert newest(measured) != first
    assert f"made by run {newest(measured)} (published)" in said.err


def altered(desk):
    """A file of others that breaks no limit: a row of a class of six is not in it."""
    lines = desk.released.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.remove(next(line for line in lines if line.startswith("south")))
    (desk.folder / "theirs.csv").write_text("".join(lines), encoding="utf-8")


def test_what_could_not_be_checked_is_told_once_and_is_no_failed_check(measured):
    altered(measured)
    said = measured(*AUDIT, "theirs.csv")
    assert said.code == 1
    assert "made by run" not in said.err
    assert said.last.startswith("exit 1: not everything could be checked: UTIL-001 (suppressed_cells)")
    assert "a check failed" not in said.err
    before_last = "\n".join(said.err.splitlines()[:-1])
    for name in ("UTIL-001", "AUDIT-ROWMAP"):
        assert (said.out + before_last).count(name) == 1


def test_a_check_that_fails_is_still_a_failed_check(measured):
    (measured.folder / "theirs.csv").write_text("area,job,pay\nnorth,clerk,1\nsouth,clerk,2\n", encoding="utf-8")
    said = measured(*AUDIT, "theirs.csv")
    assert said.code == 1
    assert said.last.startswith("exit 1: a check failed: highest_risk")


@pytest.mark.parametrize("change", ["source", "outputs"])
def test_a_run_whose_record_leads_nowhere_any_more_is_named_and_not_used(measured, change):
    if change == "source":
        text = (measured.folder / "data.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        measured.data("".join([text[0], *reversed(text[1:])]))
    else:
        policy = (measured.folder / "policy.yaml").read_text(encoding="utf-8")
        measured.policy(policy.replace(", {path: out/r.parquet}", ""))
    said = measured(*AUDIT, "out/r.csv", "--format", "json")
    assert said.code == 1
    assert f"made by run {newest(measured)} (published)" in said.err
    assert "audited as a file of others" in said.err
    assert "AUDIT-ROWMAP" in unlooked(said.json)


def failed(document):
    return [check["id"] for check in document["checks"] if check["outcome"] == "fail"]


@pytest.mark.parametrize("file", ["out/r.csv", "out/r.parquet"])
def test_a_file_altered_where_the_run_put_it_is_not_the_manifests(measured, file):
    """Cells of a sensitive column, which no threat looks at and of which a Parquet page keeps no checksum."""
    path = measured.folder / file
    if file.endswith("csv"):
        path.write_bytes(path.read_bytes().replace(b",101\n", b",777\n"))
    else:
        table = pq.read_table(path)
        pay = pa.array(
            [777 if cell == 101 else cell for cell in table.column("pay").to_pylist()], table.schema.field("pay").type
        )
        pq.write_table(table.set_column(2, "pay", pay), path, store_schema=False)
    said = measured(*AUDIT, file, "--format", "json")
    assert said.code == 1
    assert f"made by run {newest(measured)} (published)" in said.err
    assert set(failed(said.json)) == {"AUDIT-DIGEST", "AUDIT-SAME"} | (
        {"AUDIT-CHANGED", "AUDIT-ORDER"} if file.endswith("csv") else set()
    )
    assert "A202" in said.err


@pytest.mark.parametrize("change", ["altered", "removed"])
def test_a_manifest_that_is_not_the_one_decided_upon_is_named(measured, change):
    place = next((measured.folder / ".privrelease" / "runs" / newest(measured) / "outgoing").glob("*.manifest.json"))
    if change == "altered":
        text = place.read_text(encoding="utf-8")
        place.write_text(text.replace('"version": "1.0.0"', '"version": "1.0.1"'), encoding="utf-8")
        assert place.read_text(encoding="utf-8") != text
    else:
        place.unlink()
    said = measured(*AUDIT, "out/r.csv", "--format", "json")
    assert said.code == 1
    assert failed(said.json) == ["AUDIT-DIGEST"]
    assert f"{place.name} is not the manifest that was decided upon" in said.err
