"""Rules of attacks: a policy that breaks each, the message word for word; and what is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.policy.conftest import Folder

TABLE = "releases: [{id: t, kind: table, from: patients, by: [sex], measures: [{count: true}], protect: {min_count: 10}, output: t.csv}]\n"

SOUND = (
    "singling_out: {max_risk: 0.1}, linkability: {auxiliary: aux.csv, max_risk: 0.1}, inference: {target: glucose, max_advantage: 0.05}",
    "control: h.csv, membership: {max_advantage: 0}, sample: 100000, confidence: 0.99, closest_record: false",
    "releases: [microdata], record_linkage: {knows: [age]}, linkability: {columns: [[age], [sex, glucose]]}",
    "inference: {target: [glucose, sex], knows: [age], tolerance: 0.05}",
)

BROKEN = [
    (
        "sample: 10",
        ["P460 attacks names no attack\nhint: write one of: singling_out, linkability, inference, record_linkage, membership"],
    ),
    (
        "membership: {max_risk: 0.1}",
        [
            "P460 membership needs persons who are not in the data: control is missing\nhint: write `control: holdout.csv` under attacks"
        ],
    ),
    ("releases: [micro], singling_out: {}", ["P304 release micro does not exist\nhint: did you mean microdata?"]),
    ("releases: [microdata, microdata], singling_out: {}", ["P408 microdata appears twice in releases\nhint: remove one"]),
    (
        "singling_out: {combine: 4}",
        [
            "P460 combine 4 is more than the 3 columns that leave in microdata\nhint: write `combine: 3` under singling_out; without the key it is 3"
        ],
    ),
    ("singling_out: {combine: 21}", ["P104 combine must be at most 20"]),
    ("singling_out: {}, confidence: 1", ["P104 confidence must be in (0, 1), got 1"]),
    ("singling_out: {max_risk: 10}", ["P104 max_risk must be in [0, 1], got 10\nhint: write 0.1 for 10 %"]),
    (
        "inference: {target: patient_id}",
        [
            (
                "P461 patient_id does not leave as it is in release microdata: nothing could be compared\n"
                "hint: name columns that leave as they are, or limit the attacks with `attacks.releases`"
            )
        ],
    ),
    ("inference: {target: glucos}", ["P302 column glucos does not exist in dataset patients\nhint: did you mean glucose?"]),
    ("inference: {target: sex, knows: [sex, age]}", ["P460 sex is known and guessed at once\nhint: remove it from `knows`"]),
    ("record_linkage: {knows: [age, age]}", ["P408 age appears twice in knows\nhint: remove one"]),
    (
        "linkability: {columns: [[age], [age, sex]]}",
        ["P460 age is in both sets: the two lists would have a key in common\nhint: remove it from one of them"],
    ),
    ("singling_out: {}, control: h.duckdb", ["P404 h.duckdb is not a single file of rows\nhint: name one csv or parquet file"]),
    (
        "singling_out: {}, control: ../h.csv",
        ["P403 ../h.csv is outside the policy's folder\nhint: move it below, or name its folder with --data-root"],
    ),
]


@pytest.mark.parametrize("attacks", SOUND)
def test_attacks_that_can_be_made_are_sound(attacks: str, folder: Folder, sound: str) -> None:
    assert folder.check(sound + f"attacks: {{{attacks}}}\n") == []


@pytest.mark.parametrize(("attacks", "says"), BROKEN, ids=[attacks for attacks, _ in BROKEN])
def test_a_broken_rule_of_attacks_is_told(attacks: str, says: list[str], folder: Folder, sound: str) -> None:
    found = folder.check(sound + f"attacks: {{{attacks}}}\n")
    assert [finding.split(": ", 1)[1] for finding in found] == says
    assert all(finding.startswith("p.yaml:30:") for finding in found)


def test_an_auxiliary_file_needs_a_unit(folder: Folder, change: object) -> None:
    text = change(("    unit: {column: patient_id, max_rows: 1}\n", ""))  # type: ignore[operator]  # a fixture that builds policies
    found = folder.check(text + "attacks: {linkability: {auxiliary: aux.csv}}\n")
    assert [finding for finding in found if "P460" in finding] == [
        (
            "p.yaml:29:36: P460 an auxiliary file is led to persons by the unit, and dataset patients has none\n"
            "hint: write `unit: {column: …}` in the dataset"
        )
    ]


def test_attacks_need_a_release_of_rows(folder: Folder, sound: str) -> None:
    head = sound[: sound.index("threats:")]
    found = folder.check(head + TABLE + "attacks: {singling_out: {}}\n")
    assert (
        "p.yaml:16:1: P460 no release is of kind microdata: attacks are tried on rows about persons\nhint: remove attacks"
        in found
    )
    found = folder.check(head + TABLE + "attacks: {singling_out: {}, releases: [t]}\n")
    assert any("P460 release t is of kind table: attacks are tried on rows about persons" in finding for finding in found)


@pytest.mark.parametrize(
    ("attack", "knows"),
    [
        ("linkability", "two sets of columns"),
        ("inference", "a column that the attacker knows"),
        ("record_linkage", "a column that the attacker knows"),
    ],
)
def test_an_attacker_needs_something_to_go_by(attack: str, knows: str, folder: Folder, change: object) -> None:
    text = change(
        ("protect: [external]", "protect: []"),
        ("{suppress: cells, limit: 0.05, weights: {age: 2}}", "{drop: [age, sex]}"),
        ("expect: suppressed_cells, max: 0.05", "expect: rows, min: 1"),
    )  # type: ignore[operator]  # a fixture that builds policies
    spec = "{target: glucose}" if attack == "inference" else "{}"
    found = folder.check(text + f"attacks: {{{attack}: {spec}}}\n")
    assert any(f"P460 {attack} needs {knows}, and release microdata gives none" in finding for finding in found)


def test_a_column_that_does_not_leave_is_told_at_its_place(folder: Folder, sound: str) -> None:
    assert folder.check(sound + "attacks: {inference: {target: glucose, knows: [age, patient_id]}}\n") == [
        (
            "p.yaml:30:53: P461 patient_id does not leave as it is in release microdata: nothing could be compared\n"
            "hint: name columns that leave as they are, or limit the attacks with `attacks.releases`"
        )
    ]


LOOSE = [
    ("sample: 900", "attacks.sample may become higher only"),
    ("confidence: 0.9", "attacks.confidence may become higher only"),
    ("singling_out: {max_risk: 0.2}", "attacks.singling_out.max_risk may become lower only"),
    ("releases: [microdata]", "attacks.releases must not change"),
    ("control: null", "attacks.control may be added or pointed elsewhere only"),
]
TIGHT = (
    "sample: 1100",
    "confidence: 0.99",
    "singling_out: {max_risk: 0.05}",
    "control: other.csv",
    "record_linkage: {max_risk: 0.1}",
)


def with_environment(sound: str, overlay: str) -> str:
    return (
        sound
        + f"attacks: {{control: h.csv, singling_out: {{max_risk: 0.1}}}}\nenvironments: {{ci: {{attacks: {{{overlay}}}}}}}\n"
    )


@pytest.mark.parametrize(("overlay", "words"), LOOSE)
def test_an_environment_may_not_weaken_attacks(overlay: str, words: str, folder: Folder, sound: str) -> None:
    found = folder.check(with_environment(sound, overlay), env="ci")
    assert any(f"P504 {words}" in finding or ("P504" in finding and words in finding) for finding in found), found


@pytest.mark.parametrize("overlay", TIGHT)
def test_an_environment_may_tighten_attacks(overlay: str, folder: Folder, sound: str) -> None:
    assert folder.check(with_environment(sound, overlay), env="ci") == []
