"""A table of nobody is no table: zeros that come of an empty source do not pass for figures."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    columns:
      area: {role: quasi, type: category, domain: [north, south]}
releases:
  - {id: t, kind: table, from: d, by: [area], margins: true, measures: [{count: true}], protect: {min_count: 3}, output: {path: out/t.csv}}
"""
)
FILTERED = POLICY.replace("measures:", "where: \"area = 'north'\", measures:")


@pytest.mark.parametrize("policy", [POLICY, FILTERED])
def test_a_source_without_a_record_fails(desk, policy):
    desk.data("area\n")
    desk.policy(policy)
    said = desk.run()
    assert said.code == 1
    assert "A219" in said.err
    assert "the source has no record" in said.err
    assert not (desk.folder / "out" / "t.csv").exists()


def test_a_file_of_others_over_it_fails_too(desk):
    desk.data("area\n")
    desk.policy(POLICY)
    (desk.folder / "made.csv").write_text(
        "area,total_over,count,status\nnorth,,0,shown\nsouth,,0,shown\n,area,0,shown\n", encoding="utf-8"
    )
    assert desk("audit", "policy.yaml", "--release", "t", "--file", "made.csv").code == 1


def test_a_filter_that_nobody_meets_is_a_figure(desk):
    desk.data("area\n" + "south\n" * 5)
    desk.policy(FILTERED)
    said = desk.run()
    assert said.code == 0, said.err
