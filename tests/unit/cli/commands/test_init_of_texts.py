"""`init` on cells with blanks at their ends, and on files that are no text: what it proposes is read, and what it refuses is named."""

from __future__ import annotations

import re

import pytest

ROWS = 24
#: (cells, what is proposed for the column): blanks of files of fixed width, of a spreadsheet, and of a cell that is blank altogether.
PADDED = {
    "left": (lambda n: f" {n % 3}", "{role: quasi, type: integer, format: {normalise: [trim]}}"),
    "right": (lambda n: f"{n % 5}\u00a0 ", "{role: quasi, type: integer, format: {normalise: [trim]}}"),
    "one": (lambda n: "7 " if n == 3 else str(n % 4), "{role: quasi, type: integer, format: {normalise: [trim]}}"),
    "blank": (lambda n: "  " if n == 3 else str(n % 4), "{role: quasi, type: integer, format: {normalise: [trim]}}"),
    "comma": (lambda n: f"{n % 4},5 ", '{role: quasi, type: number, format: {decimal: ",", normalise: [trim]}}'),
    "day": (lambda n: f" {n % 9 + 1:02d}.03.2024", '{role: quasi, type: date, format: {date: "%d.%m.%Y", normalise: [trim]}}'),
    "word": (lambda n: ("a", "a ")[n % 2], "{role: quasi, type: category}"),
    "plain": (lambda n: str(n % 4), "{role: quasi, type: integer}"),
}
KEYS = re.compile(r"^ +# +(\S+) +\d+ of \d+ +(\{.*\})  (.*)$", re.MULTILINE)


@pytest.fixture
def starter(desk) -> str:
    rows = [";".join(cell(n) for cell, _ in PADDED.values()) for n in range(ROWS)]
    (desk.folder / "a.csv").write_text("\n".join([";".join(PADDED), *rows]) + "\n", encoding="utf-8")
    said = desk("init", "a.csv", "-o", "s.yaml", "--delimiter", ";")
    assert said.code == 0, said.err
    return (desk.folder / "s.yaml").read_text(encoding="utf-8")


def test_blanks_at_the_ends_of_numbers_and_dates_are_taken_off(starter):
    found = {name: keys for name, keys, _ in KEYS.findall(starter)}
    assert found == {name: keys for name, (_, keys) in PADDED.items()}


def test_the_starter_says_how_many_cells_have_blanks(starter):
    why = {name: words for name, _, words in KEYS.findall(starter)}
    assert why["left"].endswith("; 24 cells have blanks at the ends, which `normalise` takes off")
    assert why["one"].endswith("; 1 cell has blanks at the ends, which `normalise` takes off")
    assert why["word"].endswith(
        "; 12 cells have blanks at the ends: where they mean nothing, write `format: {normalise: [trim]}`"
    )
    assert "blanks" not in why["plain"]


def test_what_is_proposed_for_padded_cells_is_read_and_without_it_refused(desk, starter):
    def checked(policy: str):
        (desk.folder / "s.yaml").write_text(policy, encoding="utf-8")
        return desk("validate", "s.yaml", "--data")

    filled = starter.replace("# unit: {column: …, max_rows: 1}", "unit: rows")
    filled = filled.replace("knows: []", "knows: [left, plain]").replace("highest_risk:  ", "highest_risk: 0.5 ")
    for name, (_, keys) in PADDED.items():
        filled = filled.replace(f"      {name}: {{role: , type: string}}", f"      {name}: {keys}")
    taken = checked(filled)
    assert taken.code == 0, taken.out + taken.err
    for trimmed in (", format: {normalise: [trim]}", ", normalise: [trim]"):
        said = checked(filled.replace(trimmed, ""))
        assert said.code == 3
        assert re.search(r"D20[1-7] the column (left|day|comma):", said.out)


@pytest.mark.parametrize(("rows", "words"), [(1, "What its only row shows (counts"), (2, "What all 2 rows show (counts")])
def test_a_starter_counts_rows_in_words(desk, rows, words):
    (desk.folder / "a.csv").write_text("n\n" + "1\n" * rows, encoding="utf-8")
    assert desk("init", "a.csv", "-o", "s.yaml").code == 0
    assert words in (desk.folder / "s.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"PK\x03\x04\x14\x00\x08\x00" + bytes(range(256)) * 9, 1),
        (b"a,b\n1,2\n3,\x004\n", 3),
        (b"SQLite format 3\x00" + b"\x10\x00\x01\x01\x00\x40\x20\x20" * 40, 1),
    ],
    ids=["archive", "one NUL", "database"],
)
def test_a_file_with_nul_bytes_is_called_no_text_and_no_utf_16(desk, content, line):
    (desk.folder / "a.csv").write_bytes(content)
    said = desk("init", "a.csv", "-o", "s.yaml")
    assert said.code == 3
    assert said.err.startswith(f"a.csv:{line}: D113 the file holds NUL bytes, which text in no usual encoding has")
    assert "hint: export the data as CSV in UTF-8" in said.err
    assert "D110" not in said.err


@pytest.mark.parametrize(("order", "other"), [("utf-16-le", "utf-16-be"), ("utf-16-be", "utf-16-le")])
def test_utf_16_without_a_mark_is_named_with_the_order_of_its_bytes(desk, order, other):
    (desk.folder / "a.csv").write_bytes("plz;Größe\n8001;3\n".encode(order))
    said = desk("init", "a.csv", "-o", "s.yaml")
    assert said.code == 3
    assert (
        f'C170 a.csv is not UTF-8, and which other encoding it is cannot be proven\nhint: name it: --encoding {order} --delimiter ";"'
        in said.err
    )
    assert f"else {other} is likely" in said.err
    assert desk("init", "a.csv", "-o", "s.yaml", "--encoding", order, "--delimiter", ";").code == 0
