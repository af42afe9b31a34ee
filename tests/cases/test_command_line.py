"""The c* cases: exit codes, policies that mislead, old releases, pseudonyms."""

from __future__ import annotations

import hashlib

import pytest

DATASET = """datasets:
  d:
    source: input.csv
    columns:
      id: {role: direct, type: string}
      g: {role: quasi, type: category}
"""


def one_release(threat: str) -> str:
    return (
        DATASET
        + f"threats:\n  t: {threat}\n"
        + "releases:\n  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}\n"
    )


@pytest.mark.anew
@pytest.mark.case("c01-exit-status")
def test_exit_codes_tell_pass_fail_nothing_checked_and_bad_policy_apart(case):
    case.policy(one_release("{dataset: d, knows: [g], highest_risk: 0.5}"))
    passed = case("run", "policy.yaml")
    assert passed.code == 0, passed.err
    assert (case.folder / "out/r.csv").exists()

    case.policy(one_release("{dataset: d, knows: [g], highest_risk: 0.2}"))
    before = (case.folder / "out/r.csv").read_bytes()
    failed = case("run", "policy.yaml")
    assert failed.code == 1
    assert (case.folder / "out/r.csv").read_bytes() == before
    assert case.audit()["decision"]["outcome"] == "fail"
    assert list(case.folder.glob(".privrelease/quarantine/*/internal/report.html"))

    case.policy(DATASET + "releases:\n  - {id: r, kind: microdata, from: d, output: {path: out/n.csv}}\n")
    nothing = case("run", "policy.yaml")
    assert nothing.code != 0
    assert not (case.folder / "out/n.csv").exists()

    case.policy(one_release("{dataset: d, knows: [gg], highest_risk: 0.5}"))
    broken = case("run", "policy.yaml")
    assert broken.code == 2
    assert "gg" in broken.err
    assert "did you mean" in broken.err.lower()
    assert broken.code != failed.code
    for ran in (passed, failed, nothing, broken):
        assert f"exit {ran.code}" in ran.last_line or str(ran.code) in ran.last_line


@pytest.mark.case("c02-key-twice-in-the-policy")
def test_a_key_twice_is_refused_with_both_lines(case):
    policy = case.policy(
        one_release("{dataset: d, knows: [g], highest_risk: 0.5}")
        + "threats:\n  t: {dataset: d, knows: [g], highest_risk: 1}\n"
    )
    lines = [n for n, line in enumerate(policy.read_text(encoding="utf-8").splitlines(), 1) if line.startswith("threats:")]
    ran = case("validate", "policy.yaml")
    assert ran.code == 2
    assert "threats" in ran.err + ran.out
    assert f"policy.yaml:{lines[1]}:1" in ran.err + ran.out
    assert str(lines[0]) in ran.err + ran.out


@pytest.mark.case("c02-key-twice-in-the-policy")
def test_a_key_twice_one_level_down_is_refused_with_both_lines(case):
    case.policy(
        one_release("{dataset: d, knows: [g], highest_risk: 0.5}").replace(
            "  t: {dataset: d, knows: [g], highest_risk: 0.5}",
            "  t:\n    dataset: d\n    knows: [g]\n    highest_risk: 0.2\n    highest_risk: 0.5",
        )
    )
    ran = case("validate", "policy.yaml")
    assert ran.code == 2
    assert "highest_risk" in ran.err + ran.out
    assert "policy.yaml:17:5" in ran.err + ran.out
    assert "16" in ran.err + ran.out


@pytest.mark.case("c02-key-twice-in-the-policy")
def test_an_unknown_key_is_refused_with_a_suggestion(case):
    case.policy(one_release("{dataset: d, knwos: [g], highest_risk: 0.5}"))
    ran = case("validate", "policy.yaml")
    assert ran.code == 2
    assert "knwos" in ran.err + ran.out
    assert "knows" in ran.err + ran.out
    assert "policy.yaml:13:" in ran.err + ran.out


@pytest.mark.case("c03-no-on-and-leading-zeros-in-yaml")
def test_no_on_and_leading_zeros_stay_as_written(case):
    case.policy("""datasets:
  d:
    source: input.csv
    columns:
      country: {role: quasi, type: category, domain: [DK, NO, SE], outside: drop}
      on: {role: quasi, type: category, domain: [08, 010, 12]}
threats:
  t: {dataset: d, knows: [country, on], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.parquet}}
""")
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert case.released("out/r.parquet") == [("DK", "08"), ("NO", "010"), ("NO", "12")]


C05 = """datasets:
  d:
    source: input.csv
    columns:
      id: {role: direct, type: string}
      g: {role: quasi, type: category}
      x: {role: insensitive, type: TYPE}
threats:
  t: {dataset: d, knows: [g], highest_risk: 0.02}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/release.csv}}
"""


@pytest.mark.case("c05-failed-run-and-the-old-release")
@pytest.mark.parametrize(("declared", "code"), [("string", 1), ("integer", 3)])
def test_a_failed_run_leaves_the_old_release_byte_for_byte(case, declared, code):
    (case.folder / "out").mkdir()
    old = (case.folder / "old_release.csv").read_bytes()
    (case.folder / "out/release.csv").write_bytes(old)
    case.policy(C05.replace("TYPE", declared))
    ran = case("run", "policy.yaml")
    assert ran.code == code
    assert (case.folder / "out/release.csv").read_bytes() == old
    assert [path.name for path in (case.folder / "out").iterdir()] == ["release.csv"]
    if code == 3:
        assert "x" in ran.err
        assert "input.csv:21:" in ran.err
        assert "not-a-number" not in ran.err
    else:
        assert "50" in ran.err
        assert "9" in ran.err


C06 = """datasets:
  d:
    source: input.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: quasi, type: string}
      mail: {role: direct, type: string}
      contact_mail: {role: direct, type: string}
      phone: {role: direct, type: string}
releases:
  - id: r
    kind: microdata
    from: d
    columns: [id, mail, contact_mail, phone]
    transform: [{pseudonymise: [mail, contact_mail, phone], key: CASE_KEY}]
    output: {path: out/r.parquet}
checks:
  - {id: rows, release: r, expect: rows, min: 3}
"""


@pytest.mark.case("c06-pseudonyms-need-a-secret")
def test_pseudonyms_need_a_secret_and_only_it(case):
    case.policy(C06)
    refused = case("run", "policy.yaml")
    assert refused.code == 3
    assert "CASE_KEY" in refused.err
    assert not (case.folder / "out/r.parquet").exists()

    key = "a made-up key of thirty-two bytes"
    case.environment["CASE_KEY"] = key
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    first = sorted(case.released("out/r.parquet"))
    assert case("run", "policy.yaml").code == 0
    assert sorted(case.released("out/r.parquet")) == first
    written = case.everything_written()

    (_, mail1, contact1, phone1), (_, mail2, contact2, phone2), (_, mail3, contact3, phone3) = first
    assert mail1 == mail3 == contact2
    assert mail2 == contact1
    assert mail1 != mail2
    assert contact3 is None
    assert phone1 == phone3 != phone2
    assert "pseudonym" in str(case.audit()["data"]["columns"])

    case.environment["CASE_KEY"] = "another made-up key of many bytes"
    assert case("run", "policy.yaml").code == 0
    tokens = {value for row in first for value in row[1:] if value}
    assert not tokens & {value for row in case.released("out/r.parquet") for value in row[1:]}

    for value in ("anna@example.org", "ben@example.org", "5550101", "5550102"):
        for form in (value, value.upper(), f" {value} "):
            for name in ("md5", "sha1", "sha256", "sha512"):
                digest = hashlib.new(name, form.encode()).hexdigest()
                assert not any(token in digest or digest in token for token in tokens)
    assert key.encode() not in written
    assert b"anna@example.org" not in written


@pytest.mark.case("c06-pseudonyms-need-a-secret")
def test_pseudonyms_that_repeat_without_a_person_are_refused(case):
    case.policy(C06.replace("    unit: {column: id, max_rows: 1}\n", ""))
    case.environment["CASE_KEY"] = "a made-up key of thirty-two bytes"
    refused = case("run", "policy.yaml")
    assert refused.code == 3
    assert "D603 1 values of mail" in refused.err
    assert "D603 1 values of phone" in refused.err
    assert "contact_mail" not in refused.err
    assert "unit: {column: …}" in refused.err
    assert not (case.folder / "out").exists()
    assert not list(case.folder.glob(".privrelease/*/*/outgoing/*"))
