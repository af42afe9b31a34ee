"""`init` on headers as spreadsheets of Europe export them: quoted names, semicolons, names twice."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import POLICY

QUOTED = '"Patienten Nr";"Geburts datum"; Ort ;"Diagnose, Haupt"\r\n"P1";"01.02.1980";"Köniz";"J44, akut"\r\n'


def header(desk, text: str, *options: str, encoding: str = "utf-8"):
    (desk.folder / "a.csv").write_bytes(text.encode(encoding))
    return desk("init", "a.csv", "-o", "s.yaml", *options)


@pytest.mark.parametrize(("sign", "word"), [(";", '";"'), ("\t", "tab"), ("|", '"|"')])
def test_quoted_names_at_another_delimiter_are_told_as_such(desk, sign, word):
    said = header(desk, QUOTED.replace(";", sign))
    assert said.code == 3
    assert f"hint: name the delimiter: privrelease init a.csv --delimiter {word}\n" in said.err
    assert "D112" not in said.err
    assert header(desk, QUOTED, "--delimiter", ";").code == 0
    assert '"Diagnose, Haupt": {role: , type: string}' in (desk.folder / "s.yaml").read_text(encoding="utf-8")


def test_the_encoding_and_the_delimiter_of_quoted_names_are_asked_for_together(desk):
    said = header(desk, QUOTED, encoding="latin-1")
    assert 'hint: name it: --encoding latin-1 --delimiter ";"' in said.err


def test_a_quote_that_is_not_closed_at_any_delimiter_stays_a_quote(desk):
    said = header(desk, 'id,"age\n1,2\n')
    assert "D112 a quote is not closed" in said.err


@pytest.mark.parametrize("options", [(), ("--delimiter", ";")])
def test_a_name_that_is_there_twice_is_to_be_renamed(desk, options):
    said = header(desk, '"a";"b";"a"\n1;2;3\n', *options)
    assert said.code == 3
    if options:
        assert (
            "a.csv:1:3: D117 the first line does not seem to hold column names: its field 3 repeats an earlier one" in said.err
        )
        assert "hint: rename one of the two columns; if this is a row of data" in said.err
    else:
        assert "C114" in said.err


def test_a_policy_over_quoted_names_is_told_its_delimiter(desk):
    (desk.folder / "data.csv").write_text('"id";"area";"job";"pay"\n1;x;p;1\n', encoding="utf-8")
    desk.policy(POLICY)
    said = desk("validate", "policy.yaml", "--data")
    assert said.code == 3
    assert 'data.csv:1: D109 the header does not split at the delimiter ",": a quoted name ends before ";"' in said.out
    assert 'hint: declare `format: {delimiter: ";"}`' in said.out
