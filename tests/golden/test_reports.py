"""The committed reports of the examples are what their audit.json renders to, byte for byte (`make golden` renders them anew)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from privrelease.examples.reports import KEPT, rendered, rendered_indices
from privrelease.report.forms.json_report import read_audit

REPORTS = Path(__file__).parents[2] / "reports"
FOLDERS = sorted(path.parent for path in REPORTS.glob("*/audit.json"))
POLICIES = sorted((REPORTS.parent / "policies").glob("*.yaml"))


def test_every_release_of_every_example_has_its_report():
    from privrelease.policy.loader import check_policy

    expected = set()
    for path in POLICIES:
        loaded, _ = check_policy(path)
        assert loaded is not None
        expected |= {(loaded.policy.id, release.id) for release in loaded.policy.releases}
    identities = [read_audit(folder / "audit.json").identity for folder in FOLDERS]
    assert {(one.policy_id, one.release) for one in identities} == expected
    assert len(identities) == len(expected)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_of_a_report_is_rendered_from_its_audit(folder, golden):
    files = rendered(folder)
    for name, content in files.items():
        golden(folder / name, content)
        assert len(content) < 1_000_000
    assert {path.name for path in folder.iterdir()} - set(KEPT) == set(files)


def test_the_index_over_the_reports_is_current(golden):
    for name, content in rendered_indices(REPORTS).items():
        golden(REPORTS / name, content)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_report_was_made_by_the_policy_of_this_commit_and_names_no_path_of_a_machine(folder):
    from privrelease.policy.loader import check_policy

    audit = read_audit(folder / "audit.json")
    digests = {loaded.sha256 for path in POLICIES if (loaded := check_policy(path)[0]) is not None}
    assert audit.identity.policy_sha256 in digests
    assert audit.identity.commit
    for path in folder.iterdir():
        assert not re.search(rb"(?<![\w.:/])/(?:home|root|tmp|usr|var|opt|mnt|work)/", path.read_bytes()), path.name


def test_the_complete_example_states_every_legal_field():
    audit = read_audit(REPORTS / "diabetes-microdata" / "audit.json")
    assert audit.legal.profile == "gdpr"
    assert audit.legal.missing == ()
    assert "not stated in the policy" not in (REPORTS / "diabetes-microdata" / "report.html").read_text(encoding="utf-8")
