"""Columns of a database with a collation are read letter by letter; who the person is must be said (case w09)."""

from __future__ import annotations

import csv
from collections import Counter

import duckdb
import pytest

pytestmark = pytest.mark.case("w09-collated-columns")
#: Two texts that the collation calls equal.
PAIRS = [("nocase", "A", "a"), ("noaccent", "\u00e9", "e"), ("nfc", "\u00e9", "e\u0301"), ("nocase.noaccent", "\u00c9", "e")]


def made(case, collation, one, other, *, unit="", view=False):
    """The case's table with ``one`` ten times and ``other`` twenty; the ward, or the person, has the collation."""
    with duckdb.connect(str(case.folder / "in.db")) as base:
        ward = "" if unit else f"COLLATE {collation}"
        base.execute(f"CREATE TABLE base(pid VARCHAR {unit and f'COLLATE {collation}'}, ward VARCHAR {ward}, x INTEGER)")
        wards = [one] * 10 + [other] * 20 + ["B"] * 30
        pids = [unit + (str(number) if not unit else (one, other)[number % 2] + str(number // 2)) for number in range(60)]
        base.executemany("INSERT INTO base VALUES (?, ?, 10)", [list(row) for row in zip(pids, wards, strict=True)])
        base.execute(f"CREATE {'VIEW' if view else 'TABLE'} t AS SELECT * FROM base")
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    (case.folder / "policy.yaml").write_text(text.replace("[A, a, B]", f'["{one}", "{other}", B]'), encoding="utf-8")


@pytest.mark.parametrize(("collation", "one", "other"), PAIRS)
def test_what_a_collation_calls_equal_is_kept_apart(case, collation, one, other):
    made(case, collation, one, other, view=collation == "nocase")
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    with (case.folder / "out/rows.csv").open(encoding="utf-8", newline="") as file:
        assert Counter(row["ward"] for row in csv.DictReader(file)) == {one: 10, other: 20, "B": 30}
    with (case.folder / "out/cells.csv").open(encoding="utf-8", newline="") as file:
        cells = {row["ward"]: (row["count"], row["sum_x"]) for row in csv.DictReader(file)}
    assert cells == {one: ("10", "100"), other: ("20", "200"), "B": ("30", "300"), "": ("60", "600")}


@pytest.mark.parametrize(("collation", "one", "other"), PAIRS)
def test_a_unit_with_a_collation_is_refused_until_its_spelling_is_declared(case, collation, one, other):
    made(case, collation, one, other, unit="p")
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    assert "D252 the unit column pid has a collation" in ran.err
    text = (case.folder / "policy.yaml").read_text(encoding="utf-8")
    decided = text.replace("{role: direct, type: string}", "{role: direct, type: string, format: {normalise: [nfc]}}")
    (case.folder / "policy.yaml").write_text(decided.replace("max_rows: 1", "max_rows: 2"), encoding="utf-8")
    assert "D252" not in case("run", "policy.yaml", "--release", "rows").err


def test_an_audited_file_with_a_collation_is_read_letter_by_letter(case):
    made(case, "nocase", "A", "a")
    assert case("run", "policy.yaml", "--release", "rows").code == 0
    with duckdb.connect(str(case.folder / "file.duckdb")) as file:
        file.execute("CREATE TABLE data(ward VARCHAR COLLATE nocase, x INTEGER)")
        file.execute("INSERT INTO data SELECT ward, x FROM read_csv('" + str(case.folder / "out/rows.csv") + "')")
    ran = case("audit", "policy.yaml", "--release", "rows", "--file", "file.duckdb")
    assert "k 10 (before: 10)" in ran.out, ran.out + ran.err
