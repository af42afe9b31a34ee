from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from privrelease.errors import PolicyError
from privrelease.findings import Severity
from privrelease.policy.loader import MAX_FINDINGS, check_policy, load_policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.policy.conftest import Folder


def test_every_fault_of_a_file_is_told_at_once_in_the_order_of_the_file(folder: Folder, change: Callable[..., str]) -> None:
    text = change(
        ("role: quasi, type: integer", "rolle: quassi, type: intger"),
        ("knows: [age, sex]", "knows: [age, sexx]"),
        ("highest_risk: 0.2", "highest_risk: 20"),
        ("protect: [external]", "protect: [extrenal]"),
        ("limit: 0.05", "limt: 5%"),
        ("expect: suppressed_cells", "expect: supressed_cells"),
        ("data/patients.csv", "../patients.csv"),
    )
    assert [finding.split("\n")[0] for finding in folder.check(text)] == [
        "p.yaml:8:13: P403 ../patients.csv is outside the policy's folder",
        "p.yaml:12:13: P200 unknown key rolle in age",
        "p.yaml:12:34: P202 type must be string, category, integer, number, date, datetime or boolean, got intger",
        "p.yaml:18:18: P302 column sexx does not exist in dataset patients",
        "p.yaml:19:19: P104 highest_risk must be in (0, 1], got 20",
        "p.yaml:24:15: P303 threat extrenal does not exist",
        "p.yaml:26:27: P200 unknown key limt in item 1 of transform",
        "p.yaml:29:48: P305 check supressed_cells does not exist",
    ]


def test_a_policy_with_errors_is_raised_with_all_of_them_and_without_warnings(
    folder: Folder, change: Callable[..., str]
) -> None:
    folder.load(change(("highest_risk: 0.2", "highest_risk: 2\n    missing: wildcard"), ("limit: 0.05", "limit: 2")))
    with pytest.raises(PolicyError) as caught:
        load_policy(folder.path / "p.yaml")
    assert [finding.code for finding in caught.value.findings] == ["P104", "P104"]
    assert caught.value.exit_code == 2


def test_warnings_do_not_stop(folder: Folder, change: Callable[..., str]) -> None:
    folder.load(change(("highest_risk: 0.2", "highest_risk: 0.2\n    missing: wildcard")))
    loaded = load_policy(folder.path / "p.yaml")
    assert [(finding.code, finding.severity) for finding in loaded.warnings] == [("P603", Severity.WARN)]


def test_a_missing_file_is_a_finding(tmp_path: Path) -> None:
    _, findings = check_policy(tmp_path / "none.yaml")
    assert [str(finding) for finding in findings] == [
        f"{tmp_path}/none.yaml: P101 the policy file does not exist\nhint: check the path"
    ]
    _, findings = check_policy(tmp_path)
    assert [str(finding) for finding in findings] == [
        f"{tmp_path}: P101 the policy file is a directory\nhint: name the policy file in it"
    ]


def test_a_list_is_no_policy(folder: Folder) -> None:
    assert folder.check("[a, b]") == [
        "p.yaml:1:1: P201 a policy is a mapping of keys and values\nhint: start with `apiVersion: privrelease/v1`"
    ]


def test_values_keep_their_places(folder: Folder, sound: str) -> None:
    loaded, _ = folder.load(sound)
    assert loaded is not None
    assert str(loaded.location("threats", "external", "highest_risk")).endswith("p.yaml:19:19")
    assert str(loaded.location("threats", "external")).endswith("p.yaml:16:3")
    assert str(loaded.location("threats", "external", "attacker")).endswith("p.yaml:16:3")
    assert str(loaded.location("releases", 0, "protect", 0)).endswith("p.yaml:24:15")


def test_thresholds_are_the_decimals_that_are_written(folder: Folder, change: Callable[..., str]) -> None:
    loaded, _ = folder.load(change(("highest_risk: 0.2", "highest_risk: 0.1000000000000000055511151231257827")))
    assert loaded is not None
    threshold = loaded.policy.threats["external"].highest_risk
    assert threshold == Fraction("0.1000000000000000055511151231257827") != Fraction(1, 10)


def test_texts_of_a_domain_stay_as_they_are_written(folder: Folder, change: Callable[..., str]) -> None:
    loaded, findings = folder.load(change(("domain: [F, M]", "domain: [NO, on, 010, 08, 1e3, 12:30, true, 'null', 1.50]")))
    assert findings == ()
    assert loaded is not None
    domain = loaded.policy.datasets["patients"].columns["sex"].domain
    assert domain is not None
    assert domain.values == ("NO", "on", "010", "08", "1e3", "12:30", "true", "null", "1.50")


def test_a_null_in_a_domain_must_be_quoted(folder: Folder, change: Callable[..., str]) -> None:
    assert folder.check(change(("domain: [F, M]", "domain: [F, null]"))) == [
        "p.yaml:13:54: P203 item 2 of domain needs a text, got nothing\nhint: quote it if the text `null` or an empty text is meant"
    ]


def test_columns_may_be_called_on_and_no(folder: Folder, change: Callable[..., str]) -> None:
    text = change(
        ("age: {", "on: {"),
        ("sex: {", "NO: {"),
        ("knows: [age, sex]", "knows: [on, NO]"),
        ("weights: {age: 2}", "weights: {on: 2}"),
    )
    loaded, findings = folder.load(text)
    assert findings == ()
    assert loaded is not None
    assert list(loaded.policy.datasets["patients"].columns) == ["patient_id", "on", "NO", "glucose"]


def test_the_digest_is_of_what_is_said_not_of_how_it_is_laid_out(
    folder: Folder, change: Callable[..., str], sound: str
) -> None:
    def digest(text: str) -> str:
        loaded, _ = folder.load(text)
        assert loaded is not None
        return loaded.sha256

    same = change(
        ("highest_risk: 0.2", "highest_risk: 0.200  # k = 5"), ("knows: [age, sex]", "knows:\n      - age\n      - sex")
    )
    assert digest(same) == digest(sound)
    assert digest(change(("highest_risk: 0.2", "highest_risk: 0.201"))) != digest(sound)
    assert digest(change(("domain: [F, M]", "domain: [M, F]"))) != digest(sound)


def test_a_source_below_the_data_root_is_found_there(folder: Folder, tmp_path: Path, sound: str) -> None:
    root = tmp_path / "elsewhere"
    (root / "data").mkdir(parents=True)
    (root / "data" / "patients.csv").write_text("")
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "p.yaml").write_text(sound)
    loaded = load_policy(policies / "p.yaml", data_root=root)
    dataset = loaded.policy.datasets["patients"]
    assert loaded.roots.source(dataset).path == str(root / "data" / "patients.csv")
    (policies / "data").mkdir()
    (policies / "data" / "patients.csv").write_text("")
    assert loaded.roots.source(dataset).path == str(policies / "data" / "patients.csv")


def test_an_absolute_source_must_be_below_a_root(folder: Folder, tmp_path: Path, change: Callable[..., str]) -> None:
    text = change(("data/patients.csv", f"{tmp_path}/x/patients.csv"))
    assert folder.check(text) == []
    outside = change(("data/patients.csv", "/var/x.csv"))
    assert [finding.split("\n")[0] for finding in folder.check(outside, data_root=tmp_path / "y")] == [
        "p.yaml:8:13: P403 /var/x.csv is outside the policy's folder and the data root"
    ]


def test_a_folder_whose_name_is_a_pattern_is_refused(tmp_path: Path, sound: str) -> None:
    (tmp_path / "a[b]").mkdir()
    (tmp_path / "a[b]" / "p.yaml").write_text(sound)
    _, findings = check_policy(tmp_path / "a[b]" / "p.yaml")
    assert [finding.code for finding in findings] == ["P403"]


def test_a_link_that_leads_outside_is_outside(tmp_path: Path, sound: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret").mkdir()
    (inner / "data").symlink_to(tmp_path / "secret")
    (inner / "out").symlink_to(tmp_path / "secret")
    (inner / "p.yaml").write_text(sound)
    _, findings = check_policy(inner / "p.yaml")
    assert [finding.code for finding in findings] == ["P403", "P403"]


def test_a_link_that_leads_in_a_circle_is_no_fault_of_ours(tmp_path: Path, sound: str) -> None:
    (tmp_path / "data").symlink_to(tmp_path / "data")
    (tmp_path / "p.yaml").write_text(sound)
    loaded, _ = check_policy(tmp_path / "p.yaml")
    assert loaded is not None


def test_an_output_may_be_the_link_that_publication_made(tmp_path: Path, sound: str) -> None:
    (tmp_path / ".privrelease" / "current").mkdir(parents=True)
    (tmp_path / "out").symlink_to(tmp_path / ".privrelease" / "current")
    (tmp_path / "p.yaml").write_text(sound)
    loaded, findings = check_policy(tmp_path / "p.yaml")
    assert findings == ()
    assert loaded is not None


def test_an_output_that_is_a_folder_is_refused(tmp_path: Path, sound: str) -> None:
    (tmp_path / "out" / "patients.parquet").mkdir(parents=True)
    (tmp_path / "p.yaml").write_text(sound)
    _, findings = check_policy(tmp_path / "p.yaml")
    assert [(finding.code, finding.message) for finding in findings] == [("P404", "out/patients.parquet is a folder")]


def test_the_schema_key_of_an_editor_is_no_fault(folder: Folder, sound: str) -> None:
    assert (
        folder.check("# yaml-language-server: $schema=./policy-v1.schema.json\n$schema: ./policy-v1.schema.json\n" + sound)
        == []
    )


def test_a_flood_of_findings_is_cut(folder: Folder, change: Callable[..., str]) -> None:
    unknown = ", ".join(f"c{number}" for number in range(MAX_FINDINGS + 100))
    findings = folder.check(change(("knows: [age, sex]", f"knows: [{unknown}]")))
    assert len(findings) == MAX_FINDINGS + 1
    assert findings[-1].endswith("P107 info: 100 more findings are not shown")


def test_no_value_of_a_policy_that_may_be_a_secret_is_shown(folder: Folder, change: Callable[..., str]) -> None:
    step = "      - {suppress: cells, limit: 0.05, weights: {age: 2}}"
    text = change((step, "      - {pseudonymise: [patient_id], key: hunter2}"), ("data/patients.csv", "sqlite://u:hunter2@h/x"))
    findings = folder.check(text)
    assert len(findings) == 2
    assert not any("hunter2" in finding for finding in findings)


def test_a_text_that_was_read_before_is_not_taken_for_another_of_that_name(folder: Folder, change: Callable[..., str]) -> None:
    """Trees of short texts are kept: each says what its own text says, at its own places, however often either is read."""
    texts = [change(), change(("title: A registry", "# moved\ntitle: Another registry"))]
    found = [folder.load(text)[0] for text in (*texts, *texts)]
    for number, loaded in enumerate(found):
        assert loaded is not None
        assert (loaded.policy.title, loaded.location("title").line) == (("A registry", 5), ("Another registry", 6))[number % 2]
    (folder.path / "other.yaml").write_text(texts[0], encoding="utf-8")
    assert load_policy(folder.path / "other.yaml").location("title").file.endswith("other.yaml")
