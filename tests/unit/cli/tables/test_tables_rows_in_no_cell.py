"""Rows with a missing key are in no cell of a table: both editions say so, neither to recipients how many."""

from __future__ import annotations

import csv
import re

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
      sex: {role: quasi, type: category, domain: [F, M]}
tables: {min_count: 3}
releases:
  - {id: r, kind: table, from: d, by: [area, sex], measures: [{count: true}], margins: true, output: {path: out/r.csv}}
"""
)
WHOLE = [(area, sex) for area in ("north", "south") for sex in "FM" for _ in range(11)]
SAYS = "A row in which a key is missing, or is none of the declared ones, is in no cell, and in no total either."


@pytest.mark.parametrize("lacking", [[], [("", "M")] * 257])
def test_rows_without_a_key_are_in_no_cell_and_no_total_and_that_is_said_without_their_number(desk, lacking):
    desk.data("id,area,sex\n" + "".join(f"p{n},{area},{sex}\n" for n, (area, sex) in enumerate([*WHOLE, *lacking])))
    desk.policy(POLICY)
    said = desk.run()
    assert said.code == 0, said.err
    with desk.released.open(encoding="utf-8", newline="") as stream:
        counts = {(row["area"], row["sex"]): row["count"] for row in csv.DictReader(stream)}
    assert counts["", "M"] == "22"
    assert counts["", ""] == "44"
    (run,) = map(str, desk.folder.glob(".privrelease/runs/*"))
    for edition in ("internal", "recipient"):
        page = desk("report", run, "--edition", edition, "--format", "html").out
        assert SAYS in page
        text = re.sub(r"<[^>]+>", " ", page[page.index("</style>") :])
        assert bool(re.search(r"\b(257|301)\b", text)) == (edition == "internal" and bool(lacking))
