"""A sparse table may have no pattern of suppression that holds: it does not leave, and what is said of it is what there is to do."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    columns:
      area: {role: quasi, type: category, domain: [north, south, west]}
      sex: {role: quasi, type: category, domain: [F, M]}
releases:
  - {id: t, kind: table, from: d, by: [area, sex], margins: true, measures: [{count: true}], protect: {min_count: 3}, output: {path: out/t.csv}}
"""
)
#: Two in the north are one woman and one man, whatever is blank: each cell has one at least, and both together fewer than three.
ROWS = "area,sex\nnorth,F\nnorth,M\n" + "south,F\nsouth,M\n"


@pytest.fixture
def refused(desk):
    desk.data(ROWS)
    desk.policy(POLICY)
    return desk.run()


def test_it_says_that_nothing_is_left_to_suppress_and_what_to_do_then(desk, refused):
    assert refused.code == 1
    assert "A259" in refused.err
    said = " ".join(refused.err.split())
    assert "no pattern holds: every cell with somebody in it is suppressed" in said
    assert "north / F" in said
    assert "`zeros: suppress`" in said
    assert "what is printed gives suppressed cells back" not in said
    assert not (desk.folder / "out" / "t.csv").exists()


@pytest.mark.parametrize(
    "policy",
    [
        POLICY.replace("min_count: 3", "min_count: 8"),
        POLICY.replace("min_count: 3", "min_count: 3, zeros: suppress"),
        POLICY.replace("margins: true", "margins: false"),
        POLICY.replace("[area, sex]", "[area]").replace("domain: [north, south, west]", "domain: [north, south]"),
    ],
)
def test_each_way_out_that_it_names_is_one(desk, refused, policy):
    assert refused.code == 1
    desk.policy(policy)
    said = desk.run()
    assert said.code == 0, said.err


def test_a_file_that_could_hide_more_is_told_so(desk):
    desk.data("area,sex\n" + "north,F\n" + "north,M\n" * 9 + "south,F\n" * 8 + "south,M\n" * 9)
    desk.policy(POLICY)
    cells = {("north", "F"): 1, ("north", "M"): 9, ("north", ""): 10, ("south", "F"): 8, ("south", "M"): 9, ("south", ""): 17}
    cells |= {("west", "F"): 0, ("west", "M"): 0, ("west", ""): 0, ("", "F"): 9, ("", "M"): 18, ("", ""): 27}
    over = {("area", ""): "area", ("sex", ""): "sex"}
    lines = []
    for (area, sex), count in cells.items():
        totals = " ".join(name for name, key in (("area", area), ("sex", sex)) if (name, key) in over)
        hidden = (area, sex) == ("north", "F")
        lines.append(f"{area},{sex},{totals},{'' if hidden else count},{'suppressed' if hidden else 'shown'}\n")
    (desk.folder / "made.csv").write_text("area,sex,total_over,count,status\n" + "".join(lines), encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "t", "--file", "made.csv")
    assert said.code == 1
    assert "what is printed gives suppressed cells back: north / F" in " ".join(said.err.split())
    assert "no pattern holds" not in said.err
