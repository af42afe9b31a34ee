"""A fault leaves out the element that has it, not the section around it; what is left is read as what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import TABLE

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

INFERENCE = "inference: {target: [glucosee], max_risk: 0.1}"
GONE = "P302 column glucosee does not exist in dataset patients\nhint: did you mean glucose?"
WAIVER = "{{check: {check}, release: microdata, reason: known, owner: steward, approved_by: dpo, expires: {day}}}"


def _attacks(*lines: str) -> tuple[str, str]:
    return "checks:", "attacks:\n" + "".join(f"  {line}\n" for line in lines) + "checks:"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("sampl: 50", "p.yaml:29:3: P200 unknown key sampl in attacks\nhint: did you mean sample?"),
        ("confidence: 2", "p.yaml:29:15: P104 confidence must be in (0, 1), got 2"),
        (
            "singling_out: {max_rsk: 0.1}",
            "p.yaml:29:18: P200 unknown key max_rsk in singling_out\nhint: did you mean max_risk?",
        ),
        ("record_linkage: [age]", "p.yaml:29:3: P203 record_linkage needs a mapping (keys and values), got a list"),
        ("contrl: holdout.csv", "p.yaml:29:3: P200 unknown key contrl in attacks\nhint: did you mean control?"),
    ],
)
def test_a_column_that_does_not_exist_is_told_beside_a_fault_of_the_same_attacks(
    folder: Folder, change, fault: str, told: str
) -> None:
    found = folder.check(change(_attacks(fault, INFERENCE)))
    assert [one.partition("\n")[0] for one in found] == [told.partition("\n")[0], f"p.yaml:30:24: {GONE}".partition("\n")[0]]


def test_a_limit_out_of_range_hides_no_fault_of_the_same_attack(folder: Folder, change) -> None:
    found = folder.check(change(_attacks("inference: {target: [glucosee], max_risk: 2}")))
    assert {one.split()[1] for one in found} == {"P104", "P302"}


@pytest.mark.parametrize(
    "lines",
    [
        ("infrence: {target: [glucose]}",),
        ("membership: {max_risk: 0.1}", "contrl: holdout.csv"),
        ("singling_out: {combin: 1}",),
        ("relases: [microdata]", "inference: {target: [glucose]}"),
    ],
)
def test_a_misspelt_key_of_attacks_is_all_that_is_wrong(folder: Folder, change, lines: tuple[str, ...]) -> None:
    assert [one.split()[1] for one in folder.check(change(_attacks(*lines)))] == ["P200"]


def test_each_of_several_waivers_is_told(folder: Folder, change) -> None:
    waivers = [
        WAIVER.format(check="UTIL-001", day="tomorrow"),
        WAIVER.format(check="UTIL-002", day="2026-12-31"),
        WAIVER.format(check="UTIL-001", day="2026-12-31").replace("approved_by: dpo", "approved_by: steward"),
    ]
    found = folder.check(change(("checks:", f"waivers:\n  - {waivers[0]}\n  - {waivers[1]}\n  - {waivers[2]}\nchecks:")))
    assert [one.split()[:2] for one in found] == [
        ["p.yaml:29:101:", "P203"],
        ["p.yaml:30:13:", "P305"],
        ["p.yaml:31:87:", "P611"],
    ]


def test_a_misspelt_threshold_is_told_once(folder: Folder, change) -> None:
    found = folder.check(change(("highest_risk: 0.2", "highest_rsk: 0.2")))
    assert found == ["p.yaml:19:5: P200 unknown key highest_rsk in external\nhint: did you mean highest_risk?"]


@pytest.mark.parametrize("section", ["datasets", "threats", "releases", "checks"])
def test_a_misspelt_section_leaves_no_name_dangling(folder: Folder, change, section: str) -> None:
    waiver = WAIVER.format(check="UTIL-001", day="2026-12-31")
    text = change((f"\n{section}:\n", f"\n{section[1:]}:\n")) + f"waivers: [{waiver}]\n"
    assert [one.partition("\n")[2] for one in folder.check(text)] == [f"hint: did you mean {section}?"]


def test_a_misspelt_minimum_count_of_all_tables_is_no_table_without_one(folder: Folder, change) -> None:
    text = change(("checks:", TABLE.replace("    protect: {min_count: 10}\n", "") + "tables: {min_cont: 10}\nchecks:"))
    assert [one.split()[1] for one in folder.check(text)] == ["P200"]


def test_a_misspelt_kind_is_read_as_what_it_means(folder: Folder, change) -> None:
    text = change(("checks:", TABLE.replace("kind: table", "kindd: table") + "checks:"))
    assert [one.partition("\n")[0] for one in folder.check(text)] == [
        "p.yaml:29:5: P200 unknown key kindd in item 2 of releases"
    ]


def test_a_kind_that_is_none_leaves_open_which_keys_belong_to_it(folder: Folder, change) -> None:
    text = change(("checks:", TABLE.replace("kind: table", "kind: chart").replace("from", "fro") + "checks:"))
    assert [one.split()[1] for one in folder.check(text)] == ["P202", "P200"]


def test_legal_fields_that_are_missing_are_told_beside_a_fault_of_another(folder: Folder, change) -> None:
    legal = "legal: {profile: gdpr, safegards: secure, transfers: []}\nchecks:"
    told = folder.check(change(("checks:", legal)))
    assert [one.split()[1] for one in told] == ["P606", "P200"]
    assert "controller.name" in told[0]
    assert "safeguards" not in told[0]
