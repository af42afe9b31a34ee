"""The f* cases: reading loses nothing and guesses nothing. What asks for generalisation waits for the release step that does it."""

from __future__ import annotations

import duckdb
import pytest


@pytest.mark.case("f01-postal-code-leading-zero")
@pytest.mark.parametrize(
    ("file", "codes"),
    [("input.csv", ["00501", "01234", "01239", "10001", "90210"]), ("zip_only_plain.csv", ["10001", "90210"])],
)
def test_postal_codes_stay_text_whatever_the_file_holds(case, file, codes):
    case.policy(f"""datasets:
  d:
    source: {file}
    columns:
      zip: {{role: insensitive, type: string}}
      g: {{role: quasi, type: category}}
threats:
  t: {{dataset: d, knows: [g], highest_risk: 1}}
releases:
  - {{id: r, kind: microdata, from: d, protect: [t], output: [{{path: out/r.parquet}}, {{path: out/r.csv}}]}}
""")
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert sorted(row[0] for row in case.released("out/r.parquet")) == codes
    described = duckdb.sql(f"DESCRIBE FROM read_parquet('{case.folder / 'out/r.parquet'}')").fetchall()
    assert described[0][:2] == ("zip", "VARCHAR")
    lines = (case.folder / "out/r.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(line.split(",")[0].strip('"') for line in lines[1:]) == codes


F03 = """datasets:
  d:
    source: input.csv
    unit: {column: person}
    columns:
      person: {role: insensitive, type: string}
      area: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [area], highest_risk: RISK}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    output: [{path: out/r.csv}, {path: out/r.parquet}]
"""
PERSONS = ["90000000000000000001", "90000000000000000001", "90000000000000000002", "90000000000000000003"]


@pytest.mark.case("f03-twenty-digit-identifiers")
def test_long_identifiers_count_persons_and_leave_digit_for_digit(case):
    case.policy(F03.replace("RISK", "0.34"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert sorted(row[0] for row in case.released("out/r.parquet")) == PERSONS
    lines = (case.folder / "out/r.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(line.split(",")[0].strip('"') for line in lines[1:]) == PERSONS
    after = case.audit()["threats"][0]["after"]
    assert after["k"]["value"] == 3
    assert after["counted"] != "records"


@pytest.mark.case("f03-twenty-digit-identifiers")
def test_three_persons_with_four_rows_are_not_four_anonymous(case):
    case.policy(F03.replace("RISK", "0.25"))
    assert case("run", "policy.yaml").code == 1
    assert not (case.folder / "out/r.csv").exists()


@pytest.mark.case("f03-twenty-digit-identifiers")
def test_an_integer_over_64_bits_is_an_error_that_says_string(case):
    case.policy(F03.replace("RISK", "0.34").replace("type: string", "type: integer"))
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    assert "person" in ran.err
    assert "string" in ran.err
    assert "9000000" not in ran.err


F04 = """datasets:
  d:
    source: FILE
    FORMAT
    columns:
      id: {role: direct, type: string}
      visit: {role: quasi, type: date}
threats:
  t: {dataset: d, knows: [visit], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.parquet}}
"""


@pytest.mark.case("f04-day-or-month-first")
@pytest.mark.parametrize("file", ["input_ambiguous.csv", "input_mixed.csv"])
def test_a_date_that_is_not_iso_is_an_error_with_column_and_row(case, file):
    case.policy(F04.replace("FILE", file).replace("FORMAT", "unlisted_columns: error"))
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    assert f"{file}:2:" in ran.err
    assert "visit" in ran.err
    assert "03/04/2021" not in ran.err
    assert not (case.folder / "out").exists() or not any((case.folder / "out").iterdir())


@pytest.mark.case("f04-day-or-month-first")
def test_a_declared_date_format_is_read_as_declared(case):
    case.policy(F04.replace("FILE", "input_ambiguous.csv").replace("FORMAT", 'format: {date: "%d/%m/%Y"}'))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert [row[0].isoformat() for row in case.released("out/r.parquet")] == ["2021-04-03", "2021-06-05", "2021-08-07"]


@pytest.mark.case("f04-day-or-month-first")
def test_a_declared_date_format_that_some_rows_contradict_is_an_error_at_the_first(case):
    case.policy(F04.replace("FILE", "input_mixed.csv").replace("FORMAT", 'format: {date: "%d/%m/%Y"}'))
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    assert "input_mixed.csv:4:" in ran.err
    assert "12/25/2021" not in ran.err


@pytest.mark.case("f06-columns-that-differ-only-in-case")
@pytest.mark.parametrize("declared", [("Age", "AGE"), ("Age",)])
def test_columns_that_differ_only_in_case_are_refused_naming_both(case, declared):
    columns = "".join(f"      {name}: {{role: quasi, type: string}}\n" for name in declared)
    case.policy(f"""datasets:
  d:
    source: input.csv
    unlisted_columns: drop
    columns:
      id: {{role: direct, type: string}}
{columns}threats:
  t: {{dataset: d, knows: [Age], highest_risk: 1}}
releases:
  - {{id: r, kind: microdata, from: d, protect: [t], output: {{path: out/r.csv}}}}
""")
    ran = case("run", "policy.yaml")
    assert ran.code in {2, 3}
    assert "Age" in ran.err
    assert "AGE" in ran.err
    assert not (case.folder / "out/r.csv").exists()


F07 = """datasets:
  d:
    source: input.csv
    FORMAT
    columns:
      id: {role: quasi, type: string}
      amount: {role: sensitive, type: number, grid: 0.01}
threats:
  t: {dataset: d, knows: [id], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.parquet}}
"""


@pytest.mark.case("f07-decimal-comma")
def test_a_declared_decimal_comma_is_exact(case):
    case.policy(F07.replace("FORMAT", 'format: {delimiter: ";", decimal: ",", thousands: "."}'))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert str(sum(row[1] for row in case.released("out/r.parquet"))) == "1338.00"


@pytest.mark.case("f07-decimal-comma")
@pytest.mark.parametrize("form", ["unlisted_columns: error", 'format: {delimiter: ";"}'])
def test_an_undeclared_decimal_comma_is_an_error_and_never_a_number(case, form):
    case.policy(F07.replace("FORMAT", form))
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    assert "amount" in ran.err or "delimiter" in ran.err
    assert not (case.folder / "out/r.parquet").exists()


F09 = """datasets:
  d:
    source: input.csv
    columns:
      id: {role: direct, type: string}
      imd_band: {role: quasi, type: category, domain: ["0-10%", "10-20%", "20-30%"]FORMAT}
threats:
  t: {dataset: d, knows: [imd_band], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.parquet}}
"""


@pytest.mark.case("f09-category-labels-that-do-not-match")
def test_labels_outside_the_domain_are_an_error_with_rows_and_counts(case):
    case.policy(F09.replace("FORMAT", ""))
    ran = case("run", "policy.yaml")
    assert ran.code == 3
    assert "imd_band" in ran.err
    assert "input.csv:3:" in ran.err
    assert "2 " in ran.err
    assert "?" not in ran.err.replace("did you mean", "")


@pytest.mark.case("f09-category-labels-that-do-not-match")
def test_aliases_and_missing_marks_mend_labels(case):
    case.policy(F09.replace("FORMAT", ', format: {aliases: {10-20: "10-20%"}, missing: ["", "?"]}'))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    values = [row[0] for row in case.released("out/r.parquet")]
    assert sorted(value or "" for value in values) == ["", "", "0-10%", "10-20%", "10-20%", "20-30%"]


F10 = """datasets:
  d:
    source: input.csv
    columns:
      city: {role: quasi, type: stringFORMAT}
threats:
  t: {dataset: d, knows: [city], highest_risk: 0.2}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.parquet}}
"""


@pytest.mark.case("f10-look-alike-text-keys")
def test_look_alike_texts_are_apart_and_told(case):
    case.policy(F10.replace("FORMAT", ""))
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    assert "city" in ran.err
    assert "3 " in ran.err
    assert "nfc" in ran.err
    assert "Orl" not in ran.err
    after = case.audit()["threats"][0]["after"]
    assert after["k"]["value"] == 1
    assert after["classes"]["value"] == 3


@pytest.mark.case("f10-look-alike-text-keys")
def test_declared_normalisation_makes_one_class(case):
    case.policy(F10.replace("FORMAT", ", format: {normalise: [nfc, trim]}"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert case.audit()["threats"][0]["after"]["k"]["value"] == 5
    assert len({row[0] for row in case.released("out/r.parquet")}) == 1


F12 = """datasets:
  d:
    source: input.csv
    columns:
      id: {role: insensitive, type: string}
      code: {role: quasi, type: TYPE}
threats:
  t: {dataset: d, knows: [code], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: out/r.csv}
"""


@pytest.mark.case("f12-zeros-before-an-integer")
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_zeros_before_a_number_are_told(case, kind):
    case.policy(F12.replace("TYPE", kind))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "D251 warn: 2 cells of the column code have zeros before the number" in ran.err
    assert "codes are texts" in ran.err
    assert "070" not in ran.err


@pytest.mark.case("f12-zeros-before-an-integer")
@pytest.mark.parametrize(
    ("cells", "kind"), [("0 -0 +0 10 -7", "integer"), ("0 0.5 -0.7 0e3 10", "number"), ("007 7 070", "string")]
)
def test_a_zero_alone_or_before_a_point_is_no_zero_before_a_number(case, cells, kind):
    lines = [f"r{number},{cell}" for number, cell in enumerate(cells.split())]
    (case.folder / "input.csv").write_text("\n".join(["id,code", *lines]) + "\n", encoding="utf-8")
    case.policy(F12.replace("TYPE", kind))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert "D251" not in ran.err


@pytest.mark.case("f11-quoted-empty-cells-in-audited-files")
@pytest.mark.parametrize(("release", "k"), [("own", 1), ("match", 3)])
@pytest.mark.parametrize("kind", ["category", "integer"])
def test_a_quoted_empty_cell_is_missing_in_an_audited_file_as_in_the_source(case, release, k, kind):
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    if kind == "integer":
        text = text.replace("status: {role: quasi, type: category}", "status: {role: quasi, type: integer}")
        rows = (case.folder / "input.csv").read_text(encoding="utf-8").replace("married", "1").replace("single", "2")
        (case.folder / "input.csv").write_text(rows, encoding="utf-8")
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")
    ran = case("audit", "policy.yaml", "--release", release, "--file", "input.csv")
    assert f"k {k} (before: {k})" in ran.out
    assert "values not in the source" not in ran.out + ran.err
    assert "cannot be read" not in ran.out + ran.err


TWO_DIGITS = 'format: {date: "%d.%m.%y"}'


def _births(case, pivot: str, *edits: tuple[str, str]):
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    for old, new in ((TWO_DIGITS, TWO_DIGITS.replace("}", f"{pivot}}}")), *edits):
        assert old in text
        text = text.replace(old, new)
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")
    return case("run", "policy.yaml")


def _born(case) -> list[str]:
    lines = (case.folder / "out/rows.csv").read_text(encoding="utf-8").splitlines()[1:]
    return sorted({line.split(",")[0] for line in lines})


@pytest.mark.case("w04-two-digit-birth-years")
def test_years_of_two_digits_need_a_century(case):
    ran = _births(case, "")
    assert ran.code == 2
    assert "P530 born has years of two digits (%y)" in ran.err
    assert "pivot" in ran.err


@pytest.mark.case("w04-two-digit-birth-years")
@pytest.mark.parametrize(
    ("pivot", "years"),
    [
        (1926, ["1964", "1968", "1969", "2025"]),
        (1900, ["1925", "1964", "1968", "1969"]),
        (1968, ["1968", "1969", "2025", "2064"]),
        (1969, ["1969", "2025", "2064", "2068"]),
    ],
)
def test_years_of_two_digits_are_those_from_the_pivot_on(case, pivot, years):
    ran = _births(case, f", pivot: {pivot}")
    assert ran.code == 0, ran.err
    assert [day[:4] for day in _born(case)] == years
    assert [day[5:] for day in _born(case) if day[2:4] == "68"] == ["07-16"]


@pytest.mark.case("w04-two-digit-birth-years")
def test_the_29_february_of_a_year_that_has_none_is_refused(case):
    (case.folder / "input.csv").write_text("born,ward\n29.02.00,a\n29.02.00,b\n", encoding="utf-8")
    assert _births(case, ", pivot: 1900").code == 3
    ran = _births(case, ", pivot: 1901")
    assert ran.code == 0, ran.err
    assert _born(case) == ["2000-02-29"]


@pytest.mark.case("w04-two-digit-birth-years")
@pytest.mark.parametrize(
    ("pivot", "domain", "code"),
    [
        (", pivot: 2030", "[1900-01-01, 2026-11-28]", "P532"),
        (", pivot: 1700", "[1900-01-01, 2026-11-28]", "P532"),
        (", pivot: 64", "[1900-01-01, 2026-11-28]", "P531"),
        (", pivot: 1950", "[1900-01-01, 2026-11-28]", None),
        (", pivot: 1960", "[1900-01-01, 2026-11-28]", None),
        (", pivot: 1969", "[1900-01-01, 2026-11-28]", "D209"),
    ],
)
def test_a_pivot_outside_the_domain_is_told(case, pivot, domain, code):
    ran = _births(case, pivot, ("type: date}", f"type: date, domain: {domain}}}"))
    assert (ran.code == 0) is (code is None), ran.err
    assert code is None or code in ran.err


@pytest.mark.case("w04-two-digit-birth-years")
def test_a_pivot_of_dates_with_four_digits_says_nothing(case):
    ran = _births(case, ", pivot: 1930", ("%y", "%Y"))
    assert ran.code == 2
    assert "P401" in ran.err
