"""Checks of the policy through the commands: what decides, what only informs, what is loaded."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.unit.cli.conftest import DATA, POLICY

CHECKS = "checks:\n"
STATISTICS = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: noisy
version: 1.0.0
title: Noisy
datasets:
  d:
    source: data.csv
    population: people
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category}
      job: {role: quasi, type: category}
      pay: {role: sensitive, type: integer, domain: [0, 1000]}
releases:
  - {id: r, kind: statistics, from: d, budget: {epsilon: 1}, queries: [{id: n, count: true}], output: {path: out/r.csv}}
ledger: {cap: {epsilon: 100}, url: "sqlite:///ledger.db"}
checks:
  - {id: PAY, release: r, on: source, severity: warn, expect: expect_column_values_to_match_regex, column: job, regex: REGEX}
"""


def audit_of(desk):
    found = sorted(desk.folder.glob(".privrelease/*/*/internal/audit.json"), key=lambda path: path.stat().st_mtime_ns)
    return json.loads(found[-1].read_text(encoding="utf-8"))


def of(audit, name):
    return next(check for check in audit["checks"] if check["id"] == name)


@pytest.fixture
def noisy(desk):
    desk.policy(STATISTICS.replace("REGEX", "clerk"))
    assert desk("ledger", "init", "policy.yaml").code == 0
    return desk


def test_whatever_a_check_on_the_source_of_noisy_statistics_finds_nothing_outside_differs(noisy):
    seen = []
    for regex, outcome in (("clerk|smith", "pass"), ("zzz", "warn")):
        noisy.policy(STATISTICS.replace("REGEX", regex))
        ran = noisy.run("--fail-on", "warn", "--format", "json")
        assert ran.code == 0, ran.err
        audit = audit_of(noisy)
        assert of(audit, "PAY")["outcome"] == outcome
        made = ran.json["releases"][0]
        outside = "".join(path.read_text(encoding="utf-8") for path in (noisy.folder / "out").iterdir())
        assert not [word for word in ("PAY", "expect_", "on the source") if word in outside]
        # a second run also looks at the release before it: those checks are no matter of this one
        earlier = sum(check["id"].startswith("AUDIT-EARLIER") for check in audit["checks"])
        decision = audit["decision"]
        assert "PAY" not in json.dumps(decision)
        seen.append(
            (made["became"], decision["outcome"], decision["checks_passed"] - earlier, decision["checks_total"] - earlier)
        )
    assert seen[0] == seen[1]


def test_it_is_told_inside_with_its_figure_and_without_places(noisy):
    noisy.policy(STATISTICS.replace("REGEX", "zzz"))
    ran = noisy.run()
    assert (
        "PAY expect_column_values_to_match_regex on the source (job): 13 of 13 values fail (100 %); at most 0 % may" in ran.err
    )
    assert of(audit_of(noisy), "PAY")["private"] is True


def test_a_source_that_cannot_be_read_for_a_check_stops_no_release(noisy):
    # the query reads no pay; the check does, and pay is no number in one row
    noisy.policy(
        STATISTICS.replace(
            "expect_column_values_to_match_regex, column: job, regex: REGEX", "expect_column_values_to_not_be_null, column: pay"
        )
    )
    noisy.data(DATA.replace("900", "many"))
    ran = noisy.run("--fail-on", "warn")
    assert ran.code == 0, ran.err
    assert of(audit_of(noisy), "PAY")["message"] == "the source was not read"


def test_audit_of_a_file_without_its_source_says_that_checks_on_the_source_were_not_made(noisy):
    noisy.run_once()
    said = noisy("audit", "policy.yaml", "--release", "r", "--file", "out/r.csv", "--format", "json")
    assert of(said.json, "PAY")["outcome"] == "not_evaluated"


def test_figures_of_source_and_release_are_judged_exactly_and_stay_inside(desk):
    desk.policy(
        POLICY
        + CHECKS
        + "  - {id: NEAR, release: r, expect: marginal_error, columns: [area, job], max: 0.5}\n"
        + "  - {id: FAR, release: r, severity: warn, expect: marginal_error, columns: [area, job], max: 0.07}\n"
        + "  - {id: PAY, release: r, expect: distribution_shift, column: pay, max: 0.08}\n"
        + "  - {id: JOB, release: r, severity: warn, expect: distribution_shift, column: job, max: 0.07, distance: equal}\n"
    )
    ran = desk.run()
    audit = audit_of(desk)
    # one row of thirteen, west and smith, is residual and leaves: its share of 1/13 is what the marginal lost
    assert ran.code == 0, ran.err
    assert (of(audit, "NEAR")["outcome"], of(audit, "FAR")["outcome"]) == ("pass", "warn")
    assert of(audit, "FAR")["observed"]["exact"] == "1/13"
    assert (of(audit, "PAY")["outcome"], of(audit, "PAY")["observed"]["exact"]) == ("pass", "1/13")
    assert (of(audit, "JOB")["outcome"], of(audit, "JOB")["observed"]["exact"]) == ("warn", "1/13")
    outside = "".join(path.read_text(encoding="utf-8") for path in (desk.folder / "out").iterdir())
    assert not [name for name in ("NEAR", "FAR", "JOB", "marginal_error") if name in outside]


OF_CLASSES = (
    ("l_diversity, column: pay, min: 6", "pass", "6"),
    ("l_diversity, column: pay, min: 6.5", "fail", "6"),
    ("l_diversity, column: pay, min: 6, kind: entropy", "pass", None),
    ("l_diversity, column: pay, min: 6, kind: recursive, c: 2", "pass", "6"),
    ("l_diversity, column: pay, min: 6, kind: recursive, c: 1", "fail", "5"),
    ("t_closeness, column: pay, max: 0.5, distance: equal", "pass", "1/2"),
    ("t_closeness, column: pay, max: 0.28", "pass", "273/1000"),
    ("t_closeness, column: pay, max: 0.27", "fail", "3/11"),
)


@pytest.mark.parametrize(("check", "outcome", "exact"), OF_CLASSES)
def test_diversity_and_closeness_of_two_classes_of_six_different_values_each(desk, check, outcome, exact):
    """Pay is 100..105 in the north and 106..111 in the south: 6 values each, half of the distribution away from the whole.

    Ordered: |F - G| over ranks of the north is (1..6)/6 - (1..12)/12: the sum is (1 + 2 + 3 + 4 + 5 + 6 + 5 + 4 + 3 + 2 + 1)/12 = 3, by 11.
    """
    alike = [one for one, becomes, _ in OF_CLASSES if becomes == outcome]
    desk.policy(POLICY + CHECKS + "".join(f"  - {{id: C-{n}, release: r, expect: {one}}}\n" for n, one in enumerate(alike)))
    ran = desk.run_once()
    assert ran.code == (outcome == "fail"), ran.err
    made = of(audit_of(desk), f"C-{alike.index(check)}")
    assert made["outcome"] == outcome
    if exact is not None:
        assert made["observed"]["exact"] == exact


def test_l_diversity_is_not_measured_where_persons_have_several_rows(desk):
    text = POLICY.replace("max_rows: 1", "max_rows: 2").replace("highest_risk: 0.2", "highest_risk: 0.9")
    desk.policy(text + CHECKS + "  - {id: L, release: r, expect: l_diversity, column: pay, min: 1}\n")
    desk.data(DATA + "".join(f"{n},{'north' if n < 6 else 'south'},clerk,{200 + n}\n" for n in range(12)))
    assert desk.run().code == 1
    made = of(audit_of(desk), "L")
    assert (made["outcome"], made["message"]) == (
        "not_evaluated",
        "l_diversity could not be measured: persons have several rows, and these measures count rows",
    )


def test_a_check_with_nothing_to_look_at_parks_the_release_and_only_a_person_publishes_it(desk):
    desk.policy(
        POLICY + CHECKS + "  - {id: E, release: r, expect: expect_column_values_to_match_regex, column: job, regex: a}\n"
    )
    desk.data("id,area,job,pay\n" + "".join(f"{n},north,,1\n" for n in range(6)))
    ran = desk.run()
    assert ran.code == 5, ran.err
    assert not desk.released.exists()
    assert "E expect_column_values_to_match_regex (job): no values" in ran.last
    assert desk("publish", audit_of(desk)["identity"]["run"], "--policy", "policy.yaml").code != 0


def test_plan_says_what_checks_ask(desk):
    desk.policy(
        POLICY + CHECKS + "  - {id: A, release: r, on: source, severity: warn, expect: expect_column_values_to_be_in_set,"
        " column: job, value_set: [clerk, smith], mostly: 0.9}\n"
    )
    assert (
        "A: expect_column_values_to_be_in_set (column job) (value_set clerk, smith) by a share of at least 0.9,"
        " on the source, only a warning" in desk("plan", "policy.yaml").out
    )


OF_OURS = (
    "k, min: 2",
    "l_diversity, column: pay, min: 2",
    "expect_column_values_to_match_regex, column: job, regex: '^[a-z]+$'",
    "expect_column_values_to_be_of_type, column: pay, type_: integer",
)


@pytest.mark.parametrize(
    ("checks", "loads"), [(OF_OURS, False), (("expect_column_values_to_be_in_set, column: job, value_set: [clerk]",), True)]
)
def test_the_library_is_loaded_only_where_it_is_asked(desk, checks, loads):
    asked = "".join(f"  - {{id: C{n}, release: r, severity: warn, expect: {check}}}\n" for n, check in enumerate(checks))
    desk.policy(POLICY + CHECKS + asked)
    program = (
        "import sys\nfrom privrelease.cli.main import main\n"
        "assert main(['run', 'policy.yaml']) == 0\nprint('great_expectations' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(loads)
