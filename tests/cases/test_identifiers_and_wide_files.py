"""The cases w07 and w12: names inside notes, and files of very many columns."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys

import pytest

from tests.depth import depth

W07 = "w07-names-in-free-text"
W12 = "w12-four-hundred-columns"


def hidden(case):
    return next(check for check in case.audit()["checks"] if check["id"] == "AUDIT-HIDDEN")


@pytest.mark.case(W07)
def test_names_of_two_words_inside_notes_are_never_released(case, shared):
    shutil.copyfile(shared / "cases" / W07 / "policy.yaml", case.folder / "policy.yaml")
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    assert hidden(case)["outcome"] == "fail"
    assert "note holds name within other text" in ran.last_line
    assert not (case.folder / "out" / "rows.csv").exists()


@pytest.mark.case(W07)
def test_names_of_two_words_inside_notes_are_found_in_an_external_file(case, shared):
    shutil.copyfile(shared / "cases" / W07 / "policy.yaml", case.folder / "policy.yaml")
    with (case.folder / "input.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted((row["age"], row["note"]) for row in csv.DictReader(file))
    with (case.folder / "theirs.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("age", "note"), *rows])
    ran = case("audit", "policy.yaml", "--release", "rows", "--file", "theirs.csv")
    assert ran.code == 1
    assert "note holds values of name within other text" in ran.last_line


@pytest.mark.case(W12)
def test_a_file_of_many_columns_is_released_with_every_check_made(case):
    """How long it takes is in benchmarks/wide_files.py."""
    columns = depth(140, 300)
    subprocess.run([sys.executable, "gen.py", str(columns)], cwd=case.folder, check=True)
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert hidden(case)["outcome"] == "pass"
    assert {check["outcome"] for check in case.audit()["checks"]} == {"pass", "not_asked"}
    header, *rows = (case.folder / "out" / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",") == [f"v{place}" for place in range(columns)]
    assert len(rows) == 300


@pytest.mark.case(W12)
def test_an_identifier_among_many_columns_is_found(case):
    subprocess.run([sys.executable, "gen.py", "150"], cwd=case.folder, check=True)
    source = case.folder / "input.csv"
    head, *lines = source.read_text(encoding="utf-8").splitlines()
    altered = [
        f"p{line.partition(',')[0]},{line.rpartition(',')[0].partition(',')[2]},4-p{line.partition(',')[0]}" for line in lines
    ]
    source.write_text("\n".join([head, *altered]) + "\n", encoding="utf-8")
    policy = case.folder / "policy.yaml"
    policy.write_text(
        policy.read_text(encoding="utf-8").replace(
            "v149: {role: insensitive, type: integer}", "v149: {role: insensitive, type: string}"
        ),
        encoding="utf-8",
    )
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    assert "v149 holds id" in ran.last_line
    assert "v148" not in ran.last_line
