"""Tables that are out stay with their recipients: they are looked at though no policy describes them any more, or now prints other cells."""

from __future__ import annotations

import pytest

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: {id}
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    population: everybody
    columns:
      area: {{role: quasi, type: category, domain: [north, south, east]}}
      sex: {{role: quasi, type: category, domain: [F, M]}}
      pay: {{role: sensitive, type: integer, domain: [0, 1000]}}
tables: {{min_count: 3}}
releases:
{releases}"""
AREAS = (
    "  - {id: areas, kind: table, from: d, by: [area], measures: [{count: true}, {sum: pay}], output: {path: out/areas.csv}}\n"
)
SEXES = "  - {id: sexes, kind: table, from: d, by: [sex], measures: [{count: true}], margins: true, output: {path: out/sexes.csv}}\n"
#: Two persons in the north, 9 in the south, 9 in the east: with the total of 20, the north is 2.
ROWS = "area,sex,pay\n" + "north,F,10\n" * 2 + "south,F,10\n" * 5 + "south,M,10\n" * 4 + "east,F,10\n" * 4 + "east,M,10\n" * 5


@pytest.fixture
def areas(desk):
    """The table by area is out; it prints the south and the east."""
    desk.data(ROWS)
    desk.policy(POLICY.format(id="first", releases=AREAS))
    assert desk.run_once().code == 0
    assert "north,,,,suppressed" in (desk.folder / "out" / "areas.csv").read_text(encoding="utf-8")
    return desk


def total(desk):
    return (desk.folder / "out" / "sexes.csv").read_text(encoding="utf-8").splitlines()[-1]


@pytest.mark.parametrize("policy", ["first", "second"])
def test_a_table_that_the_policy_no_longer_has_binds_the_next(areas, policy):
    areas.policy(POLICY.format(id=policy, releases=SEXES))
    said = areas.run()
    assert said.code == 0, said.err
    assert total(areas) == ",sex,,suppressed"


def test_a_file_that_gives_the_difference_to_it_fails(areas):
    areas.policy(POLICY.format(id="second", releases=SEXES))
    (areas.folder / "sexes.csv").write_text(
        "sex,total_over,count,status\nF,,11,shown\nM,,9,shown\n,sex,20,shown\n", encoding="utf-8"
    )
    said = areas("audit", "policy.yaml", "--release", "sexes", "--file", "sexes.csv", "--against", "out/areas.csv")
    assert said.code == 1
    assert "AUDIT-TABLE-INTERVAL" in said.err


def test_that_recipients_do_not_hold_it_is_believed(areas):
    areas.policy(POLICY.format(id="second", releases=SEXES.replace("output", "recipients_hold_previous: false, output")))
    said = areas.run()
    assert said.code == 0, said.err
    assert total(areas) == ",sex,20,shown"


def test_a_table_made_of_other_rows_is_no_part_of_it(areas):
    """Ten more in the south: what the old table prints is not of these rows."""
    areas.data(ROWS + "south,M,10\n" * 10)
    areas.policy(POLICY.format(id="first", releases=SEXES))
    said = areas.run()
    assert said.code == 0, said.err
    assert total(areas) == ",sex,30,shown"


def test_what_an_older_version_of_a_table_prints_is_known(areas):
    """With both in the policy the south would go in the first: it is out already."""
    areas.policy(POLICY.format(id="first", releases=AREAS + SEXES))
    said = areas.run()
    assert said.code == 0, said.err
    assert "south,,9,90,shown" in (areas.folder / "out" / "areas.csv").read_text(encoding="utf-8")
    assert total(areas) == ",sex,,suppressed"
