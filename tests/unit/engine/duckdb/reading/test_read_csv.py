"""A CSV file is read as the text it is, or refused with the place."""

from __future__ import annotations

import gzip
from decimal import Decimal

import pytest

from privrelease.relational.schema import Column, ColumnFormat, ColumnType, FileFormat, Role, SourceKind, TableSource


def text(name, **form):
    return Column(name, ColumnType.STRING, Role.INSENSITIVE, format=ColumnFormat(**form))


def test_text_stays_text(engine, csv_source, values):
    source = csv_source('a,b\n007,+5\n1e3,"x, ""y"""\n  pad ,NULL\nnan,0x10\n', "a", "b")
    assert values(engine.stage(source)) == [("007", "+5"), ("1e3", 'x, "y"'), ("  pad ", "NULL"), ("nan", "0x10")]


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,x\n2,y\n",
        b"a,b\n1,x\n2,y",
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"a,b\r1,x\r2,y\r",
        b"\xef\xbb\xbfa,b\n1,x\n2,y\n",
        b'"a","b"\n"1","x"\n"2","y"\n',
        b"a,b\n1,x\n\n2,y\n",
    ],
    ids=["lf", "no last line break", "crlf", "cr", "bom", "quoted", "blank line"],
)
def test_line_breaks_byte_order_marks_and_quotes_make_no_difference(engine, csv_source, values, data):
    assert values(engine.stage(csv_source(data, "a", "b"))) == [("1", "x"), ("2", "y")]


def test_quoted_line_breaks_stay_in_the_cell(engine, csv_source, values):
    assert values(engine.stage(csv_source(b'a,b\n"1\n2","x\r\ny"\n', "a", "b"))) == [("1\n2", "x\r\ny")]


def test_delimiter_quote_and_encoding_are_as_declared(engine, csv_source, values):
    source = csv_source("a;b\n'1;2';é\n".encode("cp1252"), "a", "b", format=FileFormat(";", "'", "cp1252"))
    assert values(engine.stage(source)) == [("1;2", "é")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "utf-8-sig", "UTF8"])
def test_other_encodings_are_transcoded(engine, csv_source, values, encoding):
    source = csv_source("a,b\né,ü\n".encode(encoding), "a", "b", format=FileFormat(encoding=encoding))
    assert values(engine.stage(source)) == [("é", "ü")]


def test_compression_follows_the_name(engine, csv_source, values):
    import pyarrow as pa

    data = b"a\nx\ny\n"
    assert values(engine.stage(csv_source(gzip.compress(data), "a", name="in.csv.gz"))) == [("x",), ("y",)]
    zstd = pa.compress(data, codec="zstd", asbytes=True)
    assert values(engine.stage(csv_source(zstd, "a", name="in.csv.zst"))) == [("x",), ("y",)]


def test_files_of_a_glob_are_read_in_the_order_of_their_names(engine, csv_source, values, tmp_path):
    csv_source("a,b\n3,z\n", "a", name="part2.csv")
    source = csv_source("b,a\nx,1\ny,2\n", "a", "b", name="part1.csv")
    glob = TableSource("d", SourceKind.CSV, str(tmp_path / "part*.csv"), "data/part*.csv", source.columns)
    assert values(engine.stage(glob)) == [("1", "x"), ("2", "y"), ("3", "z")]


def test_a_header_alone_is_a_source_of_no_rows(engine, csv_source):
    assert engine.stage(csv_source("a,b\n", "a", "b")).n_rows == 0
    assert engine.stage(csv_source("a,b", "a", "b", name="other.csv")).n_rows == 0


def test_an_empty_text_is_missing_unless_the_marks_say_otherwise(engine, csv_source, values):
    data = 'a,b\n,x\n"",y\nNA,z\n'
    assert [row[0] for row in values(engine.stage(csv_source(data, "a", "b")))] == [None, None, "NA"]
    other = csv_source(data, text("a", missing=("NA",)), "b")
    assert [row[0] for row in values(engine.stage(other))] == ["", "", None]


def test_unlisted_columns_are_left_out_where_the_policy_says_so(engine, csv_source, values):
    assert values(engine.stage(csv_source("a,b,c\n1,2,3\n", "c", "a", unlisted_columns="drop"))) == [("3", "1")]


@pytest.mark.parametrize(
    ("data", "code", "line", "words"),
    [
        (b"", "D104", 1, "empty"),
        (b"\na,b\n1,2\n", "D104", 1, "first line is empty"),
        (b"a,\n1,2\n", "D104", 1, "no name for column 2"),
        (b"a,b,a\n1,2,3\n", "D105", 1, "column a 2 times"),
        (b"a,b,B\n1,2,3\n", "D106", 1, "b and B"),
        (b"a,bb\n1,2\n", "D107", 1, "column b is not"),
        (b"a,b,c\n1,2,3\n", "D108", 1, "does not list: c"),
        (b"a;b\n1;2\n", "D109", 1, "delimiter"),
        (b"a,b\n1,2\n3,\xff\n", "D110", 3, "not valid utf-8"),
        (b'a,b\n"x\ny",2\n3\n', "D111", 4, "1 field,"),
        (b"a,b\n1,2\n3,4,5\n", "D111", 3, "3 fields"),
        (b"a,b\n1,2\n3,4,\n", "D111", 3, "3 fields"),
        (b'a,b\n"1",2\n"3",4,\n', "D111", 3, "3 fields"),
        (b'a,b\n1,2\n"3,4\n5,6\n', "D112", 3, "quote"),
        (b'a,b\n1,2\n"3"x,4\n', "D112", 3, "quote"),
        (b'a,b\n1,2\n3, "4"\n', "D112", 3, "blanks before"),
        (b"a,b\n1,2\n3,\x004\n", "D113", 3, "NUL"),
        (b"a,b\n1,2\r\n3,4\n", "D112", 2, "line breaks"),
        (b'a,b\r\n"1\n2",2\r\n3,4\n5,6\n', "D112", 4, "line breaks"),
    ],
)
def test_what_cannot_be_read_rightly_is_refused_with_its_line(csv_source, refused, data, code, line, words):
    found = refused(csv_source(data, "a", "b"))
    one = next(one for one in found if one.code == code)
    assert words in one.message
    assert one.location.line == line
    assert one.location.file == "in.csv"
    assert one.hint


def test_an_undecodable_byte_is_placed_in_other_encodings_too(csv_source, refused):
    data = "a,b\n1,2\n3,".encode("utf-16-le") + b"\x00\xd8" + "x\n".encode("utf-16-le")
    (one,) = refused(csv_source(data, "a", "b", format=FileFormat(encoding="utf-16-le")))
    assert (one.code, one.location.line) == ("D110", 3)
    (one,) = refused(csv_source("a\n", "a", format=FileFormat(encoding="utf-99")))
    assert one.code == "D110"


def test_a_truncated_gzip_file_is_refused(csv_source, refused):
    (one,) = refused(csv_source(gzip.compress(b"a\n" + b"x\n" * 100_000)[:-200], "a", name="in.csv.gz"))
    assert one.code in {"D103", "D112"}


def test_a_missing_file_and_an_empty_glob_are_refused(csv_source, refused, tmp_path):
    source = csv_source("a\n1\n", "a")
    (tmp_path / "in.csv").unlink()
    assert [one.code for one in refused(source)] == ["D101"]
    glob = TableSource("d", SourceKind.CSV, str(tmp_path / "no*.csv"), "no*.csv", source.columns)
    assert [one.code for one in refused(glob)] == ["D101"]


def test_a_misspelt_column_gets_a_suggestion(csv_source, refused):
    found = refused(csv_source("Age,sxe\n1,2\n", "age", "sex"))
    assert [(one.code, one.hint) for one in found if one.code == "D107"] == [
        ("D107", "is column 1 of the file meant? its name is almost age"),
        ("D107", "is column 2 of the file meant? its name is almost sex"),
    ]


@pytest.mark.parametrize("unlisted", ["error", "drop"])
@pytest.mark.parametrize(
    "first", ["1,Q9secret,p", "1,Q9secret,Q9secret", "Q9secret,,", "1,Q9secret,q9SECRET,4", "rid,Q9secret,p"]
)
def test_a_first_line_that_may_be_data_is_never_told(csv_source, refused, unlisted, first):
    found = refused(csv_source(f"{first}\n2,x,Q9other\n", "rid", "a", "b", unlisted_columns=unlisted))
    told = "\n".join(str(one) for one in found)
    assert "q9" not in told.lower()
    assert {"D107"} <= {one.code for one in found}
    if not first.startswith("rid"):
        assert "has the file a header line?" in told


def test_a_file_without_a_header_line_is_told_once_whatever_the_number_of_columns(csv_source, refused):
    (found,) = refused(csv_source("1,Q9secret,p\n2,x,y\n", "rid", "aa", "bb"))
    assert (found.code, found.location.line) == ("D107", 1)
    assert "none of the 3 declared columns is in the first line, which has 3 fields" in found.message


def test_names_are_told_where_the_first_line_holds_every_declared_column(csv_source, refused):
    (found,) = refused(csv_source("a,new,b\n1,2,3\n", "a", "b"))
    assert (found.code, found.message) == ("D108", "the file has columns that the policy does not list: new")


def test_damage_of_a_compressed_file_is_refused_wherever_it_lies(csv_source, refused):
    import pyarrow as pa

    data = b"a,b\n" + b"".join(b"%d,%d\n" % (n, n * n * 7919 % 100_003) for n in range(5_000))
    zipped, zstd = gzip.compress(data), pa.compress(data, codec="zstd", asbytes=True)
    half = len(zipped) // 2
    damaged = {
        "half.csv.gz": zipped[:half],
        "end.csv.gz": zipped[:-1],
        "sum.csv.gz": zipped[:-8] + b"\0\0\0\0" + zipped[-4:],
        "bits.csv.gz": zipped[:60] + b"\xff\xff\xff\xff" + zipped[64:],
        "plain.csv.gz": data,
        "half.csv.zst": zstd[: len(zstd) // 2],
        "plain.csv.zst": data,
    }
    for name, content in damaged.items():
        for form in (FileFormat(), FileFormat(encoding="latin-1")):
            found = refused(csv_source(content, "a", "b", name=name, format=form))
            assert [(one.code, one.location.file, bool(one.hint)) for one in found] == [("D103", name, True)], name


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a,,c", "2 is empty"),
        ("a,2021,c", "2 is a number"),
        ("Q9x,1.5,c", "2 is a number"),
        ("a,2021-04-03,c", "2 is a date"),
        ("a,b," + "Q9" * 33, "3 is longer than 64 characters"),
        ("Q9@mail.example,b,c", "1 holds an @"),
        ("Q9,b,Q9", "3 repeats"),
        ("Q9;17;c", "2 is a number"),
    ],
)
def test_names_for_a_new_policy_are_not_taken_from_a_row_of_data(tmp_path, line, fault):
    from privrelease.engine.duckdb.reading.header import read_header
    from privrelease.errors import InputError

    path = tmp_path / "in.csv"
    path.write_text(f"{line}\nx,y,z\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_header(path)
    assert caught.value.code == "D117"
    assert f"field {fault}" in caught.value.message
    assert "Q9" not in str(caught.value)
    assert "header line" in str(caught.value.hint)


def test_every_kind_of_misfit_in_every_column_is_reported_at_once(csv_source, refused):
    def column(name, type_, **more):
        return Column(name, type_, Role.INSENSITIVE, **more)

    data = (
        "note,whole,wide,real,grid,day,stamp,yes\n"
        '"two\nlines",1,1,1,0.1,2021-04-03,2021-04-03T10:00:00,true\n'
        "x,1.0,1,1,0.1,2021-04-03,2021-04-03T10:00:00,true\n"
        "x,1,99999999999999999999,1,0.1,03/04/2021,2021-04-03T10:00:00,true\n"
        "x,2x,1,1.1234567890123456,0.15,2021-02-30,2021-04-03,TRUE\n"
        "x,1,1,1;5,zero,2021-04-03,2021-04-03 10:00:00.5,false\n"
    )
    found = refused(
        csv_source(
            data,
            "note",
            column("whole", ColumnType.INTEGER),
            column("wide", ColumnType.INTEGER),
            column("real", ColumnType.NUMBER),
            column("grid", ColumnType.NUMBER, grid=Decimal("0.1")),
            column("day", ColumnType.DATE),
            column("stamp", ColumnType.DATETIME),
            column("yes", ColumnType.BOOLEAN),
        )
    )
    assert [(one.subject, one.code, one.location.line, one.location.column) for one in found] == [
        ("whole", "D201", 4, 2),
        ("wide", "D202", 5, 3),
        ("real", "D204", 6, 4),
        ("real", "D203", 7, 4),
        ("grid", "D205", 6, 5),
        ("grid", "D203", 7, 5),
        ("day", "D206", 5, 6),
        ("stamp", "D207", 6, 7),
        ("yes", "D208", 6, 8),
    ]
    told = "\n".join(str(one) for one in found)
    for cell in ("2x", "99999999999999999999", "1.1234567890123456", "0.15", "03/04/2021", "2021-02-30", "TRUE", "1;5", "zero"):
        assert cell not in told
    assert "2 cells in all" in next(one.message for one in found if one.subject == "day")
