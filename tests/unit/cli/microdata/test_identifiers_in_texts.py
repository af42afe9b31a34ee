"""Identifiers inside texts never leave, in whatever form: as a run, and as a file from elsewhere that is audited."""

from __future__ import annotations

import csv
import json
import unicodedata

import pytest

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: notes
version: 1.0.0
title: Notes of the ward
datasets:
  d:
    source: data.csv
    unit: {column: name, max_rows: 1}
    columns:
      name: {role: direct, type: string}
      age: {role: quasi, type: integer}
      note: {role: insensitive, type: string}
threats:
  t: {dataset: d, knows: [age], highest_risk: 0.2}
releases:
  - {id: rows, kind: microdata, from: d, protect: [t], columns: [age, note], output: out/rows.csv}
"""
ROWS = 40


def letters(number: int, alphabet: str = "abcdefghijklmnopqrst") -> str:
    return alphabet[number % 20] + alphabet[number * 7 % 20] + alphabet[(number // 20 + 3) % 20]


def full_name(number: int) -> tuple[str, str]:
    return f"Given{letters(number)}", f"Family{letters(3 * number + 1)}"


def accented(number: int) -> str:
    return f"Jönå{letters(number)}ssé"


def uuid(number: int) -> str:
    return f"{0xABC0_0000 + 7919 * number:08x}-12ab-4cd3-8e{number:02d}-{0x0123_4567_89AB + 104_729 * number:012x}"


def iban(number: int) -> str:
    digits = f"{10**19 + 7_919_104_729 * number:020d}"
    return f"XX{digits}"


def grouped(text: str) -> str:
    return " ".join(text[place : place + 4] for place in range(0, len(text), 4))


def wide(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


FORMS = {
    "two words in a sentence": (lambda n: " ".join(full_name(n)), lambda name: f"visit of {name}; no complaint"),
    "last first": (lambda n: " ".join(full_name(n)), lambda name: f"saw {' '.join(name.split()[::-1])} at noon"),
    "last, first": (lambda n: " ".join(full_name(n)), lambda name: ", ".join(name.split()[::-1])),
    "hyphenated number": (lambda n: f"{190_000 + 37 * n}-{1000 + 91 * n}", lambda name: f"no. {name} came back"),
    "hyphens left out": (
        lambda n: f"{190_000 + 37 * n}-{1000 + 91 * n}",
        lambda name: f"no. {name.replace('-', '')} came back",
    ),
    "UUID": (uuid, lambda name: f"record {{{name.upper()}}} merged"),
    "e-mail": (lambda n: f"{letters(n)}.{letters(n + 5)}@mail.invalid", lambda name: f"write to <{name}>, please"),
    "IBAN in groups": (iban, lambda name: f"paid from {grouped(name)} twice"),
    "IBAN without spaces": (lambda n: grouped(iban(n)), lambda name: f"paid from {name.replace(' ', '')} twice"),
    "telephone": (
        lambda n: f"+99 70 {1_000_000 + 7919 * n}",
        lambda name: f"call (+99) {name[4:6]}-{name[7:10]} {name[10:]} at six",
    ),
    "word with umlauts": (accented, lambda name: f"told {name} so"),
    "decomposed": (accented, lambda name: f"told {unicodedata.normalize('NFD', name)} so"),
    "upper case": (lambda n: f"Strauß{letters(n)}", lambda name: f"told {name.upper()} so"),
    "without accents": (accented, lambda name: f"told {name.replace('ö', 'o').replace('å', 'a').replace('é', 'e')} so"),
    "full width": (lambda n: " ".join(full_name(n)), lambda name: f"visit of {wide(name)}; no complaint"),
    "Cyrillic": (lambda n: f"Имя{letters(n, 'абвгдежзиклмнопрстуф')}", lambda name: f"была {name.upper()}, жалоб нет"),
    "Greek": (lambda n: f"Όνομα{letters(n, 'αβγδεζηθικλμνξοπρστυ')}ς", lambda name: f"ήρθε {name.upper()} χθες"),
    "no spaces": (
        lambda n: f"山田{letters(n, '一二三四五六七八九十百千万円月火水木金土')}",
        lambda name: f"患者{name}さんは来院した",
    ),
    "brackets and quotes": (lambda n: " ".join(full_name(n)), lambda name: f"note by “{name}” (nurse)"),
}


def written(desk, header, direct, rows):
    """Write the source, and a file from elsewhere without its first columns, ``direct`` of them."""
    for name, first, cells in (("data.csv", 0, rows), ("theirs.csv", direct, sorted(row[direct:] for row in rows))):
        with (desk.folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header[first:], *cells])


@pytest.fixture
def notes(desk):
    """Write a source of names and one column of notes, or several."""

    def write(named, *noted):
        columns = [f"note{place}" for place in range(len(noted))] if len(noted) > 1 else ["note"]
        rows = [(named(number), 30 + number % 4, *(one(number) for one in noted)) for number in range(ROWS)]
        assert len({row[0] for row in rows}) == ROWS
        written(desk, ("name", "age", *columns), 1, rows)
        declared = "".join(f"      {column}: {{role: insensitive, type: string}}\n" for column in columns)
        text = POLICY.replace("      note: {role: insensitive, type: string}\n", declared)
        desk.policy(text.replace("[age, note]", f"[age, {', '.join(columns)}]"))
        return desk

    return write


def together(desk, forms, keep=lambda number: True):
    """Write a source with a column of names and one of notes for each form: one run and one audit say what is found of each.

    Rows of which ``keep`` is not true have a note about no one.
    """
    names, texts = ([f"{kind}_{place}" for place in range(len(forms))] for kind in ("name", "note"))
    rows = []
    for number in range(ROWS):
        made = [FORMS[form][0](number) for form in forms]
        said = [
            FORMS[form][1](name) if keep(number) else f"slept well {number}" for form, name in zip(forms, made, strict=True)
        ]
        rows.append((f"zk{1000 + 37 * number}q", *made, 30 + number % 4, *said))
    assert {len({row[place] for row in rows}) for place in range(len(forms) + 1)} == {ROWS}
    written(desk, ("id", *names, "age", *texts), 1 + len(forms), rows)
    direct = "".join(f"      {name}: {{role: direct, type: string}}\n" for name in ("id", *names))
    declared = "".join(f"      {name}: {{role: insensitive, type: string}}\n" for name in texts)
    text = POLICY.replace("column: name", "column: id").replace("      name: {role: direct, type: string}\n", direct)
    text = text.replace("      note: {role: insensitive, type: string}\n", declared)
    desk.policy(text.replace("[age, note]", f"[age, {', '.join(texts)}]"))


def names_of(said, place, words="holds"):
    """Whether a command that failed says that the notes at this place hold the names at it."""
    pair = f"note_{place} {words} name_{place}"
    return any(
        one == pair or one.startswith(f"{pair} ") for one in said.last.rpartition(" under another name: ")[2].split(", ")
    )


def hidden(desk, *more):
    """The outcome of the check in an audit of the file as one from elsewhere, and the exit code."""
    said = desk.once("audit", "policy.yaml", "--release", "rows", "--file", "theirs.csv", "-o", "a.json", *more)
    checks = json.loads((desk.folder / "a.json").read_text(encoding="utf-8"))["checks"]
    return next(check for check in checks if check["id"] == "AUDIT-HIDDEN")["outcome"], said


@pytest.mark.parametrize("form", FORMS)
def test_identifiers_in_texts_are_never_released(desk, form):
    place = list(FORMS).index(form)
    together(desk, FORMS)
    said = desk.run_once()
    assert said.code == 1
    assert "AUDIT-HIDDEN" in said.last
    assert names_of(said, place)
    assert not (desk.folder / "out" / "rows.csv").exists()
    outcome, said = hidden(desk)
    assert (outcome, said.code) == ("fail", 1)
    assert names_of(said, place, "holds values of")


HALF = ("two words in a sentence", "last, first", "decomposed", "UUID")


@pytest.mark.parametrize("form", HALF)
def test_half_of_the_rows_are_enough_and_both_orders_count_together(desk, form):
    together(desk, HALF, lambda number: number % 2)
    said = desk.run_once()
    assert said.code == 1
    assert names_of(said, HALF.index(form))
    outcome, said = hidden(desk)
    assert outcome == "fail"
    assert names_of(said, HALF.index(form), "holds values of")


def test_names_in_one_order_or_the_other_count_together(notes):
    """Each order alone is in fewer than half of the rows."""

    def noted(number):
        first, last = full_name(number)
        return {0: f"saw {first} {last}", 1: f"{last}, {first}"}.get(number % 3, f"slept well {number}")

    desk = notes(lambda number: " ".join(full_name(number)), noted)
    assert desk("run", "policy.yaml").code == 1
    assert hidden(desk)[0] == "fail"


def test_texts_that_hold_no_identifier_pass(notes):
    desk = notes(
        lambda number: " ".join(full_name(number)),
        lambda number: f"slept well {number}",
        lambda number: f"visit of {full_name(number)[0]} alone",
        lambda number: f"{full_name(number)[0]} and {full_name(number + 1)[1]}",
        lambda number: f"x{''.join(full_name(number))}x",
    )
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    assert hidden(desk)[0] == "pass"


def test_a_text_of_ten_megabytes_is_searched_to_its_end(notes):
    long = "slept well, ate nothing. " * 400_000
    assert len(long) == 10_000_000

    def noted(number):
        return f"{long if number == 5 else ''}Visit of {' '.join(full_name(number))}"

    desk = notes(lambda number: " ".join(full_name(number)), noted)
    said = desk("run", "policy.yaml")
    assert said.code == 1
    assert "note holds name" in said.last


def one_letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else chr(0x0430 + number - 26)


def test_identifiers_of_one_letter_are_found_beyond_chance(notes):
    """Of 40 rows one would agree by chance; all do."""
    desk = notes(one_letter, lambda number: f"seen by {one_letter(number).upper()}.")
    said = desk("run", "policy.yaml")
    assert said.code == 1
    assert "note holds name" in said.last


def test_a_text_that_holds_every_letter_says_nothing_of_its_row(notes):
    """Every row agrees, as it would if the texts were shuffled."""
    desk = notes(one_letter, lambda number: " ".join(map(one_letter, range(ROWS))))
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err


def test_recipients_read_no_count_of_rows_that_hold_their_name(notes):
    """Two rows of 40 hold their own name: a warning, and no figure for recipients."""
    desk = notes(lambda n: " ".join(full_name(n)), lambda n: f"saw {' '.join(full_name(n))}" if n < 2 else f"slept well {n}")
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    assert "too few to distinguish from chance: note and name" in said.err
    page = (desk.folder / "out" / "rows.report.html").read_text(encoding="utf-8")
    assert "too few to distinguish from chance" not in page
