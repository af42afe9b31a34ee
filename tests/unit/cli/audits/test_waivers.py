from __future__ import annotations

import json

import pytest

from tests.unit.cli.conftest import POLICY

CHECKS = """checks:
  - {id: U-1, release: r, expect: suppressed_cells, max: 0}
  - {id: U-2, release: r, expect: rows, min: 1000}
"""
WAIVER = "{{check: {check}, release: r, reason: 'known <gap>', owner: steward, approved_by: {by}, expires: {until}}}"


def waivers(*checks, by="dpo", until="2999-12-31"):
    listed = ", ".join(WAIVER.format(check=check, by=by, until=until) for check in checks)
    return f"{POLICY}{CHECKS}waivers: [{listed}]\n"


@pytest.fixture
def audit(desk):
    def read():
        state = desk.folder / ".privrelease"
        newest = max([*(state / "runs").iterdir(), *(state / "quarantine").iterdir()], key=lambda path: path.name)
        return newest, json.loads((newest / "internal" / "audit.json").read_text(encoding="utf-8"))

    return read


def test_open_waivers_let_their_failed_checks_pass_and_stay_in_sight(desk, audit):
    desk.policy(waivers("U-1", "U-2"))
    said = desk.run()
    assert said.code == 0
    assert desk.released.exists()
    folder, result = audit()
    assert result["decision"]["outcome"] == "pass"
    assert sum("open waiver" in reason for reason in result["decision"]["reasons"]) == 2
    checks = {check["id"]: check for check in result["checks"]}
    assert [(checks[name]["outcome"], checks[name]["waived"]) for name in ("U-1", "U-2")] == [("fail", True)] * 2
    page = (folder / "internal" / "report.html").read_text(encoding="utf-8")
    assert "known &lt;gap&gt;" in page
    assert "known <gap>" not in page
    outside = next((folder / "outgoing").glob("*.report.html")).read_text(encoding="utf-8")
    assert "&lt;gap&gt;" not in outside
    assert "U-2" in outside
    assert desk.run("--fail-on", "warn").code == 1


def test_a_waiver_covers_one_check_and_no_other(desk, audit):
    desk.policy(waivers("U-1"))
    assert desk.run().code == 1
    assert not desk.released.exists()
    _, result = audit()
    waived = {check["id"] for check in result["checks"] if check.get("waived")}
    assert waived == {"U-1"}


@pytest.mark.parametrize(
    ("options", "state", "why"),
    [
        ({"until": "2026-01-01"}, "expired", "it expired on 2026-01-01"),
        ({"by": "STEWARD"}, "self_approved", "its owner approved it"),
    ],
)
def test_a_waiver_that_expired_or_that_its_owner_approved_does_not_count_and_is_told(desk, audit, options, state, why):
    desk.policy(waivers("U-1", "U-2", **options))
    said = desk.run()
    assert said.code == 1
    assert why in said.err
    assert all(f"  waiver of {check} does not count: {why}\n" in said.out for check in ("U-1", "U-2"))
    _, result = audit()
    assert [one["state"] for one in result["waivers"]["waivers"]] == [state] * 2
    assert not any(check.get("waived") for check in result["checks"])


def test_a_waiver_of_a_check_that_holds_changes_nothing(desk, audit):
    desk.policy(waivers("U-2").replace("min: 1000", "min: 1").replace("max: 0}", "max: 1}"))
    said = desk.run()
    assert said.code == 0
    assert "  waiver of U-2 is not used: the check did not fail\n" in said.out
    _, result = audit()
    assert [one["state"] for one in result["waivers"]["waivers"]] == ["unused"]
    assert result["decision"]["reasons"] == []


def test_no_waiver_lets_a_threshold_or_an_integrity_check_pass(desk, audit):
    desk.policy(waivers("U-1", "U-2").replace("    transform: [{suppress: cells}]\n", ""))
    assert desk.run().code == 1
    _, result = audit()
    assert {finding["code"] for finding in result["findings"] if finding["severity"] == "error"} == {"A101"}


def test_auditing_a_file_applies_the_waivers_of_its_release(desk):
    desk.policy(waivers("U-2").replace("  - {id: U-1, release: r, expect: suppressed_cells, max: 0}\n", ""))
    desk.run()
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "out/r.csv", "--format", "json")
    assert said.code in {0, 5}
    assert {check["id"] for check in said.json["checks"] if check.get("waived")} == {"U-2"}


def test_an_environment_may_drop_waivers_and_never_add_one(desk):
    desk.policy(waivers("U-1") + "environments: {ci: {waivers: []}}\n")
    assert desk("validate", "policy.yaml").code == 0
    base = waivers("U-1").split("waivers:")
    desk.policy(f"{base[0]}environments: {{ci: {{waivers: {base[1].strip()}}}}}\n")
    said = desk("validate", "policy.yaml")
    assert said.code == 2
    assert "P504" in said.out


def test_the_text_of_an_audit_says_of_every_waiver_whether_it_counts_and_why_not(desk):
    text = waivers("U-1", "U-2").replace("approved_by: dpo", "approved_by: steward", 1)
    more = ", ".join(WAIVER.format(check=check, by="dpo", until="2999-12-31") for check in ("U-3",))
    checks = CHECKS + "  - {id: U-3, release: r, expect: rows, min: 1000, severity: warn}\n"
    desk.policy(text.replace(CHECKS, checks).replace("waivers: [", f"waivers: [{more}, "))
    desk.run()
    lines = (desk.folder / "data.csv").read_text(encoding="utf-8").splitlines()
    theirs = "\n".join(line.partition(",")[2] for line in lines[:-1])
    (desk.folder / "theirs.csv").write_text(theirs + "\n", encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv")
    assert said.code == 1
    assert [line.strip() for line in said.out.splitlines() if line.startswith("  waiver of")] == [
        "waiver of U-3 is not used: the check only warns",
        "waiver of U-1 does not count: its owner approved it",
        "waiver of U-2 lets it pass until 2999-12-31",
    ]


def test_a_waiver_of_a_check_that_could_not_be_made_does_not_count_and_says_why(desk):
    desk.policy(waivers("U-1").replace("  - {id: U-2, release: r, expect: rows, min: 1000}\n", ""))
    desk.run()
    lines = (desk.folder / "data.csv").read_text(encoding="utf-8").splitlines()
    (desk.folder / "theirs.csv").write_text("\n".join(line.partition(",")[2] for line in lines[:-2]) + "\n", encoding="utf-8")
    said = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv", "--format", "json")
    (finding,) = [finding for finding in said.json["findings"] if finding["code"] == "A303"]
    assert finding["severity"] == "warn"
    assert finding["message"].endswith("does not count: the check could not be made, and only one that fails can be let pass")
    text = desk("audit", "policy.yaml", "--release", "r", "--file", "theirs.csv").out
    assert "  waiver of U-1 does not count: the check could not be made" in text
