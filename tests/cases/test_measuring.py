"""The k* and l* cases: what k means, and that it is found on wide and on large data."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import duckdb
import pytest


def release(dataset: str, threats: str, protect: str, transform: str = "") -> str:
    return f"""datasets:
  d:
    source: {dataset}
threats:
{threats}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [{protect}]
{transform}    output: {{path: out/r.parquet}}
"""


K01_SETS = {"g": ["grp"], "gs": ["grp", "site"], "gn": ["grp", "note"], "gsn": ["grp", "site", "note"]}


@pytest.mark.case("k01-null-and-constant-columns")
@pytest.mark.parametrize(("missing", "k", "code"), [("category", 1, 1), ("wildcard", 5, 0)])
def test_constant_and_missing_columns_change_no_class(case, missing, k, code):
    threats = "".join(
        f"  {name}: {{dataset: d, knows: [{', '.join(columns)}], highest_risk: 0.2, missing: {missing}}}\n"
        for name, columns in K01_SETS.items()
    )
    columns = """
    columns:
      grp: {role: quasi, type: category}
      site: {role: quasi, type: category}
      note: {role: quasi, type: category}
"""
    case.policy(release("input.csv" + columns.rstrip("\n"), threats.rstrip("\n"), ", ".join(K01_SETS)))
    assert case("run", "policy.yaml").code == code
    for name in K01_SETS:
        after = case.threat(name)["after"]
        assert after["reading"] == missing
        assert after["records"]["value"] == 5
        assert after["k"]["value"] == k
        other = case.threat(name)["after_other_reading"]
        assert other["k"]["value"] == (5 if missing == "category" else 1)


K03 = """datasets:
  d:
    source: FILE
    format: {suppression_mark: "*"}
    columns:
      age: {role: quasi, type: category}
      sex: {role: quasi, type: category}
      zone: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [age, sex, zone], highest_risk: 0.5}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
"""


@pytest.mark.case("k03-fully-suppressed-rows")
def test_a_fully_suppressed_row_is_lost_and_no_class(case):
    case.policy(K03.replace("FILE", "input.csv").replace("output:", "transform: [{suppress: cells, residual: keep}], output:"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "records without any known value 1 of 8" in " ".join(ran.out.split())
    after = case.threat("t")["after"]
    assert after["k"]["value"] == 2
    assert after["records"]["value"] == 7
    assert after["classes"]["value"] == 3
    assert after["residual"]["value"] == 1
    assert after["highest"]["exact"] == "1/2"


@pytest.mark.case("k03-fully-suppressed-rows")
def test_a_file_that_is_all_suppressed_has_no_k_and_does_not_pass(case):
    case.policy(K03.replace("FILE", "input_all_suppressed.csv"))
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    after = case.threat("t")["after"]
    assert after["k"]["value"] is None
    assert after["residual"]["value"] == 6
    assert "no released records" in (after["k"]["note"] or "")


def audited(case, file, *options):
    """Audit a file that no run made, and return how it ended with the threat's figures."""
    ran = case("audit", "policy.yaml", "--release", "r", "--file", file, "-o", "found.json", "--force", *options)
    document = json.loads((case.folder / "found.json").read_text(encoding="utf-8"))
    return ran, document["threats"][0]["after"]


@pytest.mark.case("k03-fully-suppressed-rows")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_marks_in_a_file_that_another_tool_made_are_suppressed_cells(case, ending):
    case.policy(K03.replace("FILE", "input.csv"))
    for name in ("input", "input_all_suppressed"):
        rows = duckdb.read_csv(str(case.folder / f"{name}.csv"), all_varchar=True, header=True)
        if ending == "parquet":
            rows.write_parquet(str(case.folder / f"{name}.parquet"))
    ran, after = audited(case, f"input_all_suppressed.{ending}", "--no-source")
    assert ran.code == 1
    assert "no released records" in ran.last_line
    assert after["k"]["value"] is None
    assert after["residual"]["value"] == 6
    for options in (("--no-source",), ()):
        _, after = audited(case, f"input.{ending}", *options)
        assert after["k"]["value"] == 2
        assert after["records"]["value"] == 7
        assert after["residual"]["value"] == 1
        assert after["highest"]["exact"] == "1/2"


@pytest.mark.case("k03-fully-suppressed-rows")
def test_without_a_declared_mark_a_star_is_a_value(case):
    case.policy(K03.replace("FILE", "input.csv").replace('    format: {suppression_mark: "*"}\n', ""))
    ran, after = audited(case, "input_all_suppressed.csv", "--no-source")
    assert ran.code == 0, ran.err
    assert after["k"]["value"] == 6


@pytest.mark.case("k03-fully-suppressed-rows")
def test_declared_marks_of_missing_values_are_missing_in_a_file_of_others_too(case):
    case.policy(K03.replace("FILE", "input.csv").replace('suppression_mark: "*"', 'missing: ["", "*"], suppression_mark: "?"'))
    (case.folder / "theirs.csv").write_text("age,sex,zone\n" + "?,*,*\n" * 2 + "<50,*,?\n" * 3, encoding="utf-8")
    _, after = audited(case, "theirs.csv", "--no-source")
    assert after["residual"]["value"] == 2
    assert after["k"]["value"] == 3


@pytest.mark.case("k04-records-versus-classes-below-k")
def test_records_and_classes_below_k_are_two_numbers(case):
    figures = [("0.5", 2, 2), ("0.34", 8, 5), ("0.25", 11, 6), ("0.2", 15, 7)]
    columns = "".join(f"      {name}: {{role: quasi, type: category}}\n" for name in ("zone", "sex", "band"))
    case.policy(
        release(
            f"input.csv\n    columns:\n{columns.rstrip()}",
            "\n".join(
                f"  t{n}: {{dataset: d, knows: [zone, sex, band], highest_risk: {one[0]}}}" for n, one in enumerate(figures)
            ),
            "t0, t1, t2, t3",
        )
    )
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    for place, (_, records, classes) in enumerate(figures):
        assert f"highest_risk of threat t{place} is " in ran.err
        after = case.threat(f"t{place}")["after"]
        assert after["records"]["value"] == 15
        assert after["records_below_k"]["value"] == records
        assert after["classes_below_k"]["value"] == classes


K09 = """datasets:
  d:
    source: input.csv
    columns:
      key: {role: quasi, type: category}
      w: {role: insensitive, type: number, domain: [1, 1000], grid: 1}
threats:
  t: {dataset: d, knows: [key], attacker: journalist, population: {weight: w}, highest_risk: RISK}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], columns: [key], output: {path: out/r.csv}}
"""


@pytest.mark.case("k09-sample-weights-individual-risk")
def test_weights_estimate_the_population_and_are_no_rows(case):
    case.policy(K09.replace("RISK", "0.012"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    after = case.threat("t")["after"]
    assert after["k"]["value"] == 1
    assert after["further"]["journalist_highest"]["exact"] == "1/90"
    assert after["further"]["expected_reidentifications_exact"]["value"] == pytest.approx(0.09299361, abs=1e-8)
    assert after["further"]["expected_reidentifications_approximation"]["value"] == pytest.approx(0.09323406, abs=1e-8)


@pytest.mark.case("k09-sample-weights-individual-risk")
def test_a_population_class_of_ninety_is_not_hundred(case):
    case.policy(K09.replace("RISK", "0.01"))
    assert case("run", "policy.yaml").code == 1


@pytest.mark.case("l01-seventy-key-columns")
def test_seventy_key_columns_are_counted(case):
    names = [f"q{i:02d}" for i in range(1, 71)]
    columns = "".join(f"      {name}: {{role: quasi, type: category}}\n" for name in names)
    case.policy(
        release(
            f"input.csv\n    columns:\n{columns.rstrip()}",
            f"  t: {{dataset: d, knows: [{', '.join(names)}], highest_risk: 0.5}}",
            "t",
        )
    )
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    after = case.threat("t")["after"]
    assert after["records"]["value"] == 401
    assert after["classes"]["value"] == 200
    assert after["k"]["value"] == 2
    assert after["records_below_k"]["value"] == 0
    assert sum(bucket["classes"]["value"] for bucket in after["buckets"] if bucket["low"] == 3) == 1


@pytest.mark.case("l01-seventy-key-columns")
def test_seventy_key_columns_are_protected_at_k_three(case):
    names = [f"q{i:02d}" for i in range(1, 71)]
    columns = "".join(f"      {name}: {{role: quasi, type: category}}\n" for name in names)
    case.policy(
        release(
            f"input.csv\n    columns:\n{columns.rstrip()}",
            f"  t: {{dataset: d, knows: [{', '.join(names)}], highest_risk: 0.34}}",
            "t",
            "    transform: [{suppress: cells}]\n",
        )
    )
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert case.threat("t")["after"]["k"]["value"] >= 3


@pytest.mark.case("l03-all-combinations-up-to-three")
@pytest.mark.parametrize("reverse", [False, True])
def test_every_combination_of_up_to_three_columns_is_looked_at(case, reverse):
    names = [f"c{i:02d}" for i in range(1, 13)]
    known = list(reversed(names)) if reverse else names
    columns = "".join(f"      {name}: {{role: quasi, type: category}}\n" for name in names)
    threat = f"  t: {{dataset: d, knows: [{', '.join(known)}], highest_risk: 1, also: {{subsets: {{up_to: 3, k: 3}}}}}}"
    case.policy(release(f"input.csv\n    columns:\n{columns.rstrip()}", threat, "t"))
    assert case("run", "policy.yaml").code == 1
    found = case.threat("t")
    assert found["subsets"]["looked_at"] == 298
    assert found["subsets"]["not_looked_at"] == 4095 - 298
    assert [list(size) for size in found["subsets"]["by_size"]] == [[1, 12, 13, 0], [2, 66, 3, 0], [3, 220, 1, 135]]
    assert found["after"]["uniques"]["value"] == 64


@pytest.mark.case("l04-column-with-300000-categories")
def test_a_column_of_300000_different_texts_stays_within_its_memory(case):
    """Synthesis of such a column waits for the release kind that makes it; a microdata release must cope as well."""
    subprocess.run([sys.executable, "gen.py"], cwd=case.folder, check=True)
    case.policy("""datasets:
  d:
    source: input.csv
    columns:
      t: {role: quasi, type: string}
      g: {role: quasi, type: category, domain: ["0", "1", "2", "3", "4"]}
threats:
  t: {dataset: d, knows: [t, g], highest_risk: 0.2}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], transform: [{suppress: cells, limit: 0.6}], output: {path: out/r.parquet}}
""")
    ran = case("run", "policy.yaml", "--memory-limit", "1GiB")
    assert ran.code == 0, ran.err
    rows = case.released("out/r.parquet")
    assert len(rows) == 300_000
    assert {row[0] for row in rows} == {None}
    assert [sum(1 for row in rows if row[1] == g) for g in "01234"] == list(itertools.repeat(60_000, 5))


@pytest.mark.case("k15-journalist-with-weights-in-forecast-and-audit")  # for its folder; every file is written here
@pytest.mark.parametrize(("value", "code"), [("A", 0), ("Z", 1), ("", 0)])
def test_without_the_source_a_text_must_be_in_its_declared_domain(case, value, code):
    case.policy(
        "datasets:\n  a:\n    source: a.csv\n    unit: {column: m, max_rows: 1}\n    columns:\n      m: {role: direct, type: string}\n"
        "      x: {role: quasi, type: category, domain: [A, B]}\n      y: {role: quasi, type: category}\n"
        "threats:\n  t: {dataset: a, knows: [x, y], highest_risk: 0.2}\n"
        "releases:\n  - {id: r, kind: microdata, from: a, protect: [t], columns: [x, y], output: out/r.csv}\n"
    )
    (case.folder / "file.csv").write_text("x,y\n" + f"{value},p\n" * 5, encoding="utf-8")
    ran = case("audit", "policy.yaml", "--release", "r", "--file", "file.csv", "--no-source")
    assert ran.code == code, ran.err
    assert ("A204 AUDIT-TYPES Types as declared: values are not in the declared `domain` of: x (5 rows)" in ran.err) == bool(
        code
    )
