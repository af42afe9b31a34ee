from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from privrelease.policy.output.dump import dump

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.policy.conftest import Folder

ORGANISATION = """\
legal: {profile: gdpr, controller: {name: Registry}}
threats:
  external: {dataset: patients, knows: [age], highest_risk: 0.1, average_risk: 0.05}
"""


def extending(sound: str, names: str) -> str:
    return sound.replace("datasets:\n", f"extends: {names}\ndatasets:\n", 1)


def test_mappings_merge_lists_and_scalars_are_replaced_and_the_file_itself_wins(folder: Folder, sound: str) -> None:
    loaded, _ = folder.load(extending(sound, "[org.yaml]"), org=ORGANISATION)
    assert loaded is not None
    threat = loaded.policy.threats["external"]
    assert threat.knows == ("age", "sex")
    assert threat.highest_risk == Fraction(1, 5)
    assert threat.average_risk == Fraction(1, 20)
    assert loaded.policy.legal is not None
    assert [path.name for path in loaded.files] == ["org.yaml", "p.yaml"]


def test_the_later_file_wins(folder: Folder, sound: str) -> None:
    text = extending(sound.replace("title: A registry\n", ""), "[a.yaml, b.yaml]")
    loaded, _ = folder.load(text, a="title: from a", b="title: from b")
    assert loaded is not None
    assert loaded.policy.title == "from b"


def test_a_value_keeps_the_place_where_it_was_written(folder: Folder, sound: str) -> None:
    loaded, _ = folder.load(extending(sound, "org.yaml"), org=ORGANISATION)
    assert loaded is not None
    places = {key: str(loaded.location("threats", "external", key)) for key in ("highest_risk", "average_risk")}
    assert {key: place.replace(f"{folder.path}/", "") for key, place in places.items()} == {
        "highest_risk": "p.yaml:20:19",
        "average_risk": "org.yaml:3:80",
    }


def test_a_resolved_policy_is_shown_with_the_origin_of_every_value(folder: Folder, sound: str) -> None:
    loaded, _ = folder.load(extending(sound, "org.yaml"), org=ORGANISATION)
    assert loaded is not None
    text = dump(loaded.policy, origin=lambda path: str(loaded.location(*path)).replace(f"{folder.path}/", ""))
    lines = text.splitlines()
    assert "    highest_risk: 0.2  # p.yaml:20:19" in lines
    assert "    average_risk: 0.05  # org.yaml:3:80" in lines
    assert "      max_rows: 1  # p.yaml:10:42" in lines
    shown, findings = folder.load(text)
    assert shown is not None
    assert shown.policy == loaded.policy
    assert all(finding.severity.value != "error" for finding in findings)


def test_faults_of_all_files_are_told_each_in_its_file(folder: Folder, sound: str) -> None:
    text = extending(sound, "[org.yaml]").replace("limit: 0.05", "limit: 5")
    assert folder.check(text, org="legal: {profil: gdpr}\nlegal: {}\n") == [
        "org.yaml:1:9: P200 unknown key profil in legal\nhint: did you mean profile?",
        "org.yaml:2:1: P103 duplicate key legal (lines 1 and 2)\nhint: keep one of the two",
        "p.yaml:27:34: P104 limit must be in [0, 1], got 5\nhint: write 0.05 for 5 %",
    ]


@pytest.mark.parametrize(
    ("names", "others", "says"),
    [
        ("[p.yaml]", {}, "p.yaml:6:11: P502 extends goes in a circle: p.yaml"),
        (
            "[a.yaml]",
            {"a": "extends: [b.yaml]", "b": "extends: [a.yaml]"},
            "b.yaml:1:11: P502 extends goes in a circle: a.yaml",
        ),
        ("[none.yaml]", {}, "p.yaml:6:11: P101 none.yaml does not exist\nhint: check the path"),
        (
            "[../org.yaml]",
            {},
            "p.yaml:6:11: P403 ../org.yaml is outside the policy's folder\nhint: move it below, or name its folder with --data-root",
        ),
        ("[{a: b}]", {}, "p.yaml:6:11: P203 extends needs a list of paths\nhint: write `extends: [org-base.yaml]`"),
    ],
)
def test_what_cannot_be_extended_is_told(names: str, others: dict[str, str], says: str, folder: Folder, sound: str) -> None:
    assert folder.check(extending(sound, names), **others) == [says]


def test_two_ways_to_one_file_are_no_circle(folder: Folder, sound: str) -> None:
    text = extending(sound, "[a.yaml, b.yaml]")
    assert folder.check(text, a="extends: c.yaml", b="extends: c.yaml", c="review: {next: 2027-01-01}") == []


def test_a_file_in_a_folder_extends_relative_to_itself(folder: Folder, sound: str, tmp_path: Path) -> None:
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "a.yaml").write_text("extends: b.yaml")
    (tmp_path / "org" / "b.yaml").write_text("titel: x")
    assert folder.check(extending(sound, "[org/a.yaml]")) == [
        "org/b.yaml:1:1: P200 unknown key titel\nhint: did you mean title?"
    ]


def test_an_extended_file_is_no_output(folder: Folder, change: Callable[..., str]) -> None:
    text = extending(change(("out/patients.parquet", "{path: org.yaml, format: csv}")), "[org.yaml]")
    assert folder.check(text, org="review: {next: 2027-01-01}") == [
        "p.yaml:28:20: P405 org.yaml would overwrite the policy\nhint: publish somewhere else"
    ]
