"""`init` reads what it is pointed at: encodings, delimiters, databases; it proposes in comments, and never shows a cell."""

from __future__ import annotations

import re
import sqlite3

import pytest

from privrelease.engine.open import likely_encodings, profile_file
from privrelease.relational.profile import ColumnProfile, proposal, proposed_type, unit_candidates
from privrelease.relational.schema import ColumnType, FileFormat, SourceKind

ROWS = 40
#: Cells of a made-up file; those that are no number or date are words that no message may hold.
CELLS = [
    {
        "Fall": f"F{n:03d}",
        "PatientID": f"{n % 25:04d}",
        "Aufnahme": f"{n % 28 + 1:02d}.03.2024",
        "Kanton": ("Zürich", "Genève")[n % 2],
        "Alter": str(20 + n),
        "Kosten": f"{n},5",
        "Labor": ("NA", "0.5")[n % 2],
        "wach": ("true", "false")[n % 2],
        "Zeit": f"2024-03-{n % 28 + 1:02d}T10:00:00",
    }
    for n in range(ROWS)
]


def text(delimiter=";"):
    return "\n".join([delimiter.join(CELLS[0]), *(delimiter.join(row.values()) for row in CELLS)]) + "\n"


def proposals(desk, name="s.yaml"):
    lines = (desk.folder / name).read_text(encoding="utf-8").splitlines()
    return {
        found[1]: (found[2], found[3]) for line in lines if (found := re.match(r" +# +(\S+) +(\d+ of \d+) +(\{.*\})", line))
    }


def test_a_file_of_latin_letters_is_asked_for_its_encoding_and_read_with_it(desk):
    (desk.folder / "a.csv").write_bytes(text().encode("latin-1"))
    said = desk("init", "a.csv", "-o", "s.yaml")
    assert said.code == 3
    assert "C170" in said.err
    assert '--encoding latin-1 --delimiter ";"' in said.err
    assert not (desk.folder / "s.yaml").exists()
    assert desk("init", "a.csv", "-o", "s.yaml", "--encoding", "latin-1", "--delimiter", ";").code == 0
    written = (desk.folder / "s.yaml").read_text(encoding="utf-8")
    assert 'format: {delimiter: ";", encoding: latin-1}' in written
    assert proposals(desk) == {
        "Fall": ("40 of 40", "{role: direct, type: string}"),
        "PatientID": ("25 of 40", "{role: direct, type: string}"),
        "Aufnahme": ("28 of 40", '{role: quasi, type: date, format: {date: "%d.%m.%Y"}}'),
        "Kanton": ("2 of 40", "{role: quasi, type: category}"),
        "Alter": ("40 of 40", "{role: quasi, type: integer}"),
        "Kosten": ("40 of 40", '{role: sensitive, type: number, format: {decimal: ","}}'),
        "Labor": ("1 of 20", "{role: quasi, type: number}"),
        "wach": ("2 of 40", "{role: quasi, type: boolean}"),
        "Zeit": ("28 of 40", "{role: quasi, type: datetime}"),
    }
    assert "unit: {column: PatientID, max_rows: 2}, or {column: Fall, max_rows: 1}" in written
    for cell in ("Zürich", "Genève", "F001", "0.5", "03.2024"):
        assert cell not in written + said.err


def test_the_proposals_taken_over_make_a_policy_that_reads_the_file(desk):
    (desk.folder / "a.csv").write_bytes(text().encode("latin-1"))
    desk("init", "a.csv", "-o", "s.yaml", "--encoding", "latin-1", "--delimiter", ";")
    written = (desk.folder / "s.yaml").read_text(encoding="utf-8")
    for name, (_, keys) in proposals(desk).items():
        marked = keys.replace("type: number}", 'type: number, format: {missing: ["", NA]}}') if name == "Labor" else keys
        written = written.replace(f"      {name}: {{role: , type: string}}", f"      {name}: {marked}")
    written = written.replace("# unit: {column: …, max_rows: 1}", "unit: {column: PatientID, max_rows: 2}")
    written = written.replace("knows: []", "knows: [Kanton]").replace("highest_risk:  ", "highest_risk: 0.5 ")
    written = written.replace("protect: [external]", "protect: [external]\n    columns: [Kanton, Kosten]")
    (desk.folder / "s.yaml").write_text(written, encoding="utf-8")
    planned = desk("plan", "s.yaml", "--data", "--format", "json")
    assert planned.code == 0, planned.err
    assert planned.json["forecasts"][0]["source_rows"] == ROWS


@pytest.mark.parametrize(
    ("content", "likely"),
    [
        ("a,b\nä,1\n".encode(), ("utf-8",)),
        (b"a,b\nx,1\n", ("utf-8",)),
        ("\ufeffa,b\nä,1\n".encode(), ("utf-8",)),
        ("a,b\nä,1\n".encode("utf-16"), ("utf-16",)),
        ("a,b\nä,1\n".encode("utf-16-le"), ("utf-16-le", "utf-16-be")),
        ("a,b\nä,1\n".encode("utf-16-be"), ("utf-16-be", "utf-16-le")),
        ("a,b\nä,1\n".encode("latin-1"), ("latin-1", "iso-8859-15", "cp1252")),
        ("a,b\n€,1\n".encode("cp1252"), ("cp1252", "cp1250", "mac-roman")),
        ("a,b\nx,1\nä".encode()[:-1], ("latin-1", "iso-8859-15", "cp1252")),
    ],
)
def test_an_encoding_is_taken_where_it_can_be_proven(tmp_path, content, likely):
    (tmp_path / "a.csv").write_bytes(content)
    assert likely_encodings(tmp_path / "a.csv") == likely


def test_a_file_with_the_mark_of_utf_16_needs_no_option(desk):
    (desk.folder / "a.csv").write_bytes("name,plz\nÄnne,8001\nJosé,8002\n".encode("utf-16"))
    said = desk("init", "a.csv", "-o", "s.yaml")
    assert said.code == 0, said.err
    assert "format: {encoding: utf-16}" in (desk.folder / "s.yaml").read_text(encoding="utf-8")
    assert list(proposals(desk)) == ["name", "plz"]


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_database_is_read_by_its_table(desk, kind):
    import duckdb

    path = desk.folder / f"a.{kind}"
    with sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path)) as database:
        database.execute("create table visits (patient_id integer, plz varchar)")
        for n in range(ROWS):
            database.execute("insert into visits values (?, ?)", (n, f"0{n % 4}"))
        if kind == "sqlite":
            database.commit()
    assert desk("init", path.name, "-o", "one.yaml").code == 0
    written = (desk.folder / "one.yaml").read_text(encoding="utf-8")
    assert "    table: visits\n" in written
    assert "      patient_id: {role: , type: integer}\n" in written
    assert proposals(desk, "one.yaml")["patient_id"] == ("40 of 40", "{role: direct, type: integer}")
    assert proposals(desk, "one.yaml")["plz"] == ("4 of 40", "{role: quasi, type: category}")
    with sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path)) as database:
        database.execute("create table others (a integer)")
    said = desk("init", path.name, "-o", "two.yaml")
    assert (said.code, "C171" in said.err, "others, visits" in said.err) == (2, True, True)
    assert desk("init", path.name, "-o", "two.yaml", "--table", "visits").code == 0
    assert "C171" in desk("init", path.name, "-o", "three.yaml", "--table", "absent").err
    (desk.folder / f"b.{kind}").write_text("no database", encoding="utf-8")
    assert "D103" in desk("init", f"b.{kind}", "-o", "three.yaml").err
    assert "C171" in desk("init", "data.csv", "-o", "three.yaml", "--table", "visits").err


def test_rows_that_cannot_be_counted_leave_a_starter_without_proposals(desk):
    (desk.folder / "a.csv").write_text("id,age\n1,2,3\n", encoding="utf-8")
    said = desk("init", "a.csv", "-o", "s.yaml")
    assert (said.code, "D111" in said.err) == (0, True)
    assert "distinct" not in (desk.folder / "s.yaml").read_text(encoding="utf-8")


def test_quick_reads_no_row(desk, monkeypatch):
    from privrelease.engine import open as engines

    monkeypatch.delattr(engines, "profile_file")
    monkeypatch.setattr(engines, "profile_file", None, raising=False)
    assert desk("init", "data.csv", "-o", "s.yaml", "--quick").code == 0
    assert "distinct" not in (desk.folder / "s.yaml").read_text(encoding="utf-8")


def test_counts_are_those_of_brute_force(tmp_path):
    (tmp_path / "a.csv").write_text(text(), encoding="utf-8")
    found = profile_file(tmp_path / "a.csv", SourceKind.CSV, FileFormat(delimiter=";"))
    assert (found.rows, found.whole) == (ROWS, True)
    for one in found.columns:
        cells = [row[one.name] for row in CELLS]
        filled = [cell for cell in cells if cell != "NA"]
        assert (one.filled, one.marks) == (len(filled), len(cells) - len(filled))
        assert (one.distinct, one.most) == (len(set(filled)), max(map(filled.count, filled)))
        assert one.fits["integer"] == sum(re.fullmatch(r"\d+", cell) is not None for cell in filled)
        assert one.fits["zeros"] == sum(re.fullmatch(r"0\d+", cell) is not None for cell in filled)


def test_a_date_must_have_the_very_length_of_its_form(tmp_path):
    cells = ["01.02.2024", "1.2.2024", "31.02.2024", "2024-01-01", "20240101", "32.01.2024", ""]
    (tmp_path / "a.csv").write_text("\n".join(["d", *cells, "x"]) + "\n", encoding="utf-8")
    (one,) = profile_file(tmp_path / "a.csv", SourceKind.CSV, FileFormat()).columns
    assert (one.fits["%d.%m.%Y"], one.fits["%Y-%m-%d"], one.fits["%Y%m%d"]) == (1, 1, 1)


def profile(name, *, filled=100, distinct=50, most=2, **fits):
    return ColumnProfile(name, filled, 0, distinct, most, fits)


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (profile("nothing said"), "quasi"),
        (profile("nothing", distinct=100, most=1), "direct"),
        (profile("nothing", filled=10, distinct=10, most=1), "quasi"),
        (profile("visit_date", distinct=100, most=1), "quasi"),
        (profile("VisitNo", distinct=100, most=1, zeros=100), "direct"),
        (profile("VisitNo", distinct=50), "quasi"),
        (profile("EMail"), "direct"),
        (profile("customer-number"), "direct"),
        (profile("ICD10"), "sensitive"),
        (profile("paid"), "quasi"),
        (profile("identity"), "quasi"),
        (profile("cost", distinct=100, most=1, number=100), "sensitive"),
    ],
)
def test_a_role_is_proposed_by_name_and_uniqueness(column, role):
    assert proposal(column)[0].startswith(f"{{role: {role},")


def test_codes_with_zeros_and_empty_columns_keep_every_cell():
    assert proposed_type(profile("c", integer=100, zeros=1)) == (ColumnType.CATEGORY, "")
    assert proposed_type(ColumnProfile("c", 0, 0, 0, 0, {})) == (ColumnType.STRING, "")
    assert unit_candidates(profile_of_nothing()) == ()


def profile_of_nothing():
    from privrelease.relational.profile import FileProfile

    return FileProfile((ColumnProfile("patient_id", 0, 0, 0, 0, {}),), 0, True)


def test_the_remedy_for_a_delimiter_keeps_the_encoding_that_was_named(desk):
    (desk.folder / "a.csv").write_bytes(text().encode("latin-1"))
    said = desk("init", "a.csv", "-o", "s.yaml", "--encoding", "latin-1")
    assert (said.code, 'privrelease init a.csv --encoding latin-1 --delimiter ";"' in said.err) == (3, True)
    (desk.folder / "a.csv").write_text(text(), encoding="utf-8")
    assert 'privrelease init a.csv --delimiter ";"' in desk("init", "a.csv", "-o", "s.yaml").err


def test_what_is_not_there_and_what_is_a_folder_are_named_as_such(desk):
    (desk.folder / "folder.csv").mkdir()
    assert "C111 folder.csv is a folder" in desk("init", "folder.csv", "-o", "s.yaml").err
    assert "C111 absent.csv does not exist" in desk("init", "absent.csv", "-o", "s.yaml").err
    assert "C111 absent.yaml does not exist" in desk("fmt", "absent.yaml").err


def test_of_a_file_of_names_alone_nothing_is_proposed(desk):
    (desk.folder / "a.csv").write_text("id,age\n", encoding="utf-8")
    said = desk("init", "a.csv", "-o", "s.yaml")
    assert (said.code, "a.csv has column names and no row" in said.err) == (0, True)
    assert proposals(desk) == {}
    assert "age: {role: , type: }" in (desk.folder / "s.yaml").read_text(encoding="utf-8").replace("string", "")


@pytest.mark.parametrize(
    ("names", "likely"),
    [
        (("case_id", "patient_id"), "patient_id"),
        (("Fallnr", "Patientennr"), "Patientennr"),
        (("Fallnummer", "Pnr"), "Pnr"),
        (("id", "kunden_nummer"), "kunden_nummer"),
        (("visit_no", "insured_number"), "insured_number"),
    ],
)
def test_the_number_that_repeats_is_proposed_as_the_person(desk, names, likely):
    """A number that each row has once names a case: taken for the person, rows of one person would be protected one by one."""
    case, person = names
    rows = [f"{n},{n % 90 + 500},{n % 7}" for n in range(200)]
    (desk.folder / "a.csv").write_text("\n".join([f"{case},{person},plz", *rows]) + "\n", encoding="utf-8")
    assert desk("init", "a.csv", "-o", "s.yaml").code == 0
    written = (desk.folder / "s.yaml").read_text(encoding="utf-8")
    assert f"unit: {{column: {likely}, max_rows: 3}}, or {{column: {case}, max_rows: 1}}\n" in written
    assert f"# {likely} repeats, as a person with several rows does; {case} is different in every row and would" in written


def test_a_number_of_each_row_alone_is_proposed_with_its_condition(desk):
    rows = [f"{n},{n % 7},{n % 3}" for n in range(60)]
    (desk.folder / "a.csv").write_text("\n".join(["case_id,Hausnr,plz", *rows]) + "\n", encoding="utf-8")
    assert desk("init", "a.csv", "-o", "s.yaml").code == 0
    written = (desk.folder / "s.yaml").read_text(encoding="utf-8")
    assert "named by: unit: {column: case_id, max_rows: 1}\n" in written
    assert "case_id is different in every row: that is right only where no person has several rows" in written


@pytest.mark.parametrize(
    ("cells", "format_", "words"),
    [
        (
            ("1.234,56", "78,90", "3.000"),
            '{decimal: ",", thousands: "."}',
            "decimal commas, and points between thousands, as `format` says",
        ),
        (("12,5", "1200,75", "3"), '{decimal: ","}', "read as numbers with decimal commas, as `format` says"),
        (("1,234.56", "78.90", "3,000"), '{thousands: ","}', "commas between thousands"),
        (("1'234.56", "78.90", "3"), '{thousands: "\'"}', "apostrophes between thousands"),
        (("1 234,56", "78,90", "3"), '{decimal: ",", thousands: " "}', "blanks between thousands"),
        (
            ("1,234", "78", "3,000"),
            '{decimal: ","}',
            "each comma stands before three digits: where it separates thousands, write `format: {thousands",
        ),
        (
            ("1.234", "78", "3.000"),
            None,
            "each point stands before three digits: where it separates thousands, write `format: {decimal",
        ),
        (("1.2345", "78", "3.000"), None, ""),
    ],
)
def test_how_amounts_are_read_is_said_and_what_to_do(desk, cells, format_, words):
    lines = [f"{n};{cell}" for n, cell in enumerate(cells * 20)]
    (desk.folder / "a.csv").write_text("\n".join(["n;Betrag", *lines]) + "\n", encoding="utf-8")
    assert desk("init", "a.csv", "-o", "s.yaml", "--delimiter", ";").code == 0
    written = (desk.folder / "s.yaml").read_text(encoding="utf-8")
    (line,) = (line for line in written.splitlines() if re.match(r" +# +Betrag ", line))
    assert f"type: number{'' if format_ is None else f', format: {format_}'}}}" in line
    assert words in line
    assert bool(words) == ("separates" in line or "read as" in line)
    declared = f"Betrag: {{role: sensitive, type: number{'' if format_ is None else f', format: {format_}'}}}"
    (desk.folder / "p.yaml").write_text(READ.replace("BETRAG", declared), encoding="utf-8")
    said = desk("validate", "p.yaml", "--data")
    assert said.code == 0, said.out


READ = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: amounts
version: 1.0.0
title: Amounts
datasets:
  a: {source: a.csv, format: {delimiter: ";"}, unit: rows, columns: {n: {role: quasi, type: integer}, BETRAG}}
threats:
  t: {dataset: a, knows: [n], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: a, protect: [t], output: out/r.csv}
"""


def test_a_column_that_is_nearly_one_of_numbers_says_so(desk):
    lines = [*(f"{n};{n},5" for n in range(58)), "58;k.A.", "59;offen"]
    (desk.folder / "a.csv").write_text("\n".join(["n;Betrag", *lines]) + "\n", encoding="utf-8")
    assert desk("init", "a.csv", "-o", "s.yaml", "--delimiter", ";").code == 0
    written = (desk.folder / "s.yaml").read_text(encoding="utf-8")
    assert (
        '58 of 60 cells are numbers with decimal commas (`type: number, format: {decimal: ","}`): correct the others' in written
    )
    assert "offen" not in written


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "idna", "punycode", "unicode_escape", "undefined", "utf\0"])
def test_what_is_no_encoding_of_files_is_refused_before_a_byte_is_read(desk, encoding):
    """The file is plain ASCII, which most of these would take."""
    said = desk("init", "data.csv", "-o", "s.yaml", "--encoding", encoding)
    assert said.code == 3
    assert "D110" in said.err
    assert "is not known" in said.err
    assert not (desk.folder / "s.yaml").exists()
