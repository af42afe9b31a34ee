"""`frontier` from the command line: exact figures by hand, one reading of the source, nothing published, no cell in what it says."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from xml.etree import ElementTree as ET

import pytest

from privrelease.execute.microdata import frontier as executed

HAND = (  # six persons: classes (x, p) of 3, (x, q) of 2, (y, q) of 1
    "id,area,job,pay\n1,zaunkoenig,pip,1\n2,zaunkoenig,pip,2\n3,zaunkoenig,pip,3\n4,zaunkoenig,quod,4\n5,zaunkoenig,quod,5\n6,yttrium,quod,6\n"
)
ROWS = [("x", "p")] * 3 + [("x", "q")] * 2 + [("y", "q")]


def fewest_cells(k: int) -> int:
    """Of all ways to hide cells of the six rows, the fewest lost cells such that every class has k records; rows with both hidden are lost."""
    best = len(ROWS) * 2
    for hidden in product(range(4), repeat=len(ROWS)):
        lost = sum(mask.bit_count() for mask in hidden)
        if lost >= best:
            continue
        classes: dict[tuple[str, str], int] = {}
        for (area, job), mask in zip(ROWS, hidden, strict=True):
            key = "" if mask & 1 else area, "" if mask & 2 else job
            classes[key] = classes.get(key, 0) + 1
        classes.pop(("", ""), None)
        if min(classes.values(), default=k) >= k:
            best = lost
    return best


@pytest.fixture
def hand(desk):
    desk.data(HAND)
    return desk


def points(said) -> dict[int, dict]:
    return {point["k"]: point for point in said.json["points"]}


def test_cells_at_every_k_are_those_of_a_brute_force(hand):
    said = hand("frontier", "policy.yaml", "--k", "1,2,3,4,6", "--format", "json")
    assert said.code == 0
    found = points(said)
    assert sorted(found) == [1, 2, 3, 4, 5, 6]
    assert {k: found[k]["cells_lost"] for k in found} == {k: fewest_cells(k) if k > 1 else 0 for k in found}
    assert found[1]["highest_risk"] == "1"
    assert found[1]["average_risk"] == "1/2"
    assert found[1]["records_at_risk"] == 6
    assert Fraction(found[1]["cells_share"]) == 0
    assert (found[1]["entropy_whole_file"], found[1]["granularity"]) == (1.0, "1")
    assert [k for k in found if found[k]["policy"]] == [5]
    assert found[5]["threshold"] == "1/5"


def test_a_point_that_another_beats_is_marked(hand):
    found = points(hand("frontier", "policy.yaml", "--k", "1,2,3,4,5,6", "--format", "json"))
    met = [one for one in found.values() if one["highest_risk"] is not None]
    assert len(met) > 3
    for one in met:
        better = [
            other
            for other in met
            if Fraction(other["highest_risk"]) <= Fraction(one["highest_risk"])
            and other["cells_lost"] <= one["cells_lost"]
            and (other["highest_risk"], other["cells_lost"]) != (one["highest_risk"], one["cells_lost"])
        ]
        assert one["dominated"] == bool(better), one["k"]


def test_the_policys_point_is_what_plan_forecasts_and_run_takes(desk):
    found = points(desk("frontier", "policy.yaml", "--format", "json"))
    assert sorted(found) == [2, 3, 5, 10, 20, 50]
    planned = desk("plan", "policy.yaml", "--data", "--format", "json").json["forecasts"][0]
    assert (found[5]["cells_lost"], found[5]["rows_dropped"]) == (planned["cells_lost"], planned["rows_dropped"])
    lost = {column["column"]: column["suppressed"] + column["in_dropped_rows"] for column in planned["columns"]}
    assert lost[found[5]["costliest_column"]] == max(lost.values()) > 0
    assert f"cells, most of {found[5]['costliest_column']}; " in desk("plan", "policy.yaml", "--data").out
    assert f"most cells in {found[5]['costliest_column']}" in desk("frontier", "policy.yaml").out
    assert desk("run", "policy.yaml").code == 0
    (audit,) = (desk.folder / ".privrelease" / "runs").glob("*/internal/audit.json")
    utility = json.loads(audit.read_text(encoding="utf-8"))["utility"]
    assert utility["cells_lost"]["value"] == found[5]["cells_lost"]


def test_risk_never_passes_its_threshold_and_what_can_be_met_follows_k(desk):
    found = points(desk("frontier", "policy.yaml", "--format", "json"))
    for k, one in found.items():
        if one["highest_risk"] is not None:
            assert Fraction(one["highest_risk"]) <= Fraction(1, k)


def test_risks_are_exact_and_one_k_is_solved_once(desk):
    found = points(desk("frontier", "policy.yaml", "--risk", "0.33,0.3,0.5", "--format", "json"))
    assert {k: found[k]["threshold"] for k in found} == {2: "1/2", 4: "3/10", 5: "1/5"}


def test_rows_are_read_and_collapsed_once(desk, monkeypatch):
    calls = []
    prepare = executed.prepare
    monkeypatch.setattr(executed, "prepare", lambda *given: calls.append(1) or prepare(*given))
    assert desk("frontier", "policy.yaml", "--k", "2,3,4,5,6").code == 0
    assert calls == [1]


def test_the_same_bytes_twice_and_no_cell_in_any_of_them(hand):
    first = hand("frontier", "policy.yaml", "--html", "a.html", "--chart", "a.svg")
    second = hand("frontier", "policy.yaml", "--html", "b.html", "--chart", "b.svg")
    assert first.out == second.out
    texts = [first.out, first.err]
    for name in ("html", "svg"):
        one, other = ((hand.folder / f"{letter}.{name}").read_text(encoding="utf-8") for letter in "ab")
        assert one == other
        texts.append(one)
    for text in texts:
        assert not any(cell in text for cell in ("zaunkoenig", "yttrium", "quod"))
    assert not (hand.folder / "out").exists()
    assert not (hand.folder / ".privrelease").exists()
    drawing = ET.fromstring((hand.folder / "a.svg").read_text(encoding="utf-8"))
    assert drawing.tag.endswith("svg")


def test_what_is_swept_is_said(desk):
    said = desk("frontier", "policy.yaml", "--k", "2")
    assert "Swept: the highest risk of threat t (area, job)" in said.out
    assert "No other threat is protected" in said.out
    assert "protecting at each threshold" in said.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--k", ""], "C121"),
        (["--k", "0"], "C121"),
        (["--k", "2,x"], "C121"),
        (["--k", "2,"], "C121"),
        (["--k", "1" * 30], "C121"),
        (["--risk", "0"], "C121"),
        (["--risk", "NaN"], "C121"),
        (["--risk", "1.1"], "C121"),
        (["--risk", "0.5", "--k", "2"], "C121"),
        (["--threat", "other"], "C123"),
        (["--html", "a.txt"], "C124"),
        (["--chart", "a.png"], "C124"),
        (["--html", "policy.yaml"], "C124"),
        (["--release", "none"], "C103"),
    ],
)
def test_bad_usage_is_named(desk, words, code):
    said = desk("frontier", "policy.yaml", *words)
    assert (said.code, code in said.err) == (2, True)


def test_a_release_that_suppresses_nothing_has_nothing_to_sweep(desk):
    text = (desk.folder / "policy.yaml").read_text(encoding="utf-8")
    desk.policy(text.replace("    transform: [{suppress: cells}]\n", ""))
    said = desk("frontier", "policy.yaml")
    assert (said.code, "C122" in said.err) == (2, True)
