"""Hierarchies and coarser steps that cannot be used: every fault at once, at its line of the policy or of the file, and what to write instead."""

from __future__ import annotations

import os

import pytest

TEXT = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  people:
    source: people.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      age: {role: quasi, type: integer, domain: [0, 120], hierarchy: {widths: [5, 10], top: 90}}
      pay: {role: quasi, type: number, domain: [0, 5000], grid: 0.5, hierarchy: {edges: [[0, 100, 5000.5], [0, 5000.5]]}}
      born: {role: quasi, type: date, hierarchy: {date: [month, year]}}
      zip: {role: quasi, type: string, hierarchy: {prefix: [3, 2]}}
      town: {role: quasi, type: category, hierarchy: {csv: towns.csv}}
      note: {role: insensitive, type: string}
threats:
  T: {dataset: people, knows: [age, pay, born, zip, town], highest_risk: 0.5}
releases:
  - id: rows
    kind: microdata
    from: people
    protect: [T]
    transform:
      - {generalise: [age, pay, born, zip, town]}
      - {suppress: cells}
    output: out/rows.csv
"""
AGE, PAY = "{widths: [5, 10], top: 90}", "{edges: [[0, 100, 5000.5], [0, 5000.5]]}"
BORN, ZIP, TOWN, STEP = (
    "{date: [month, year]}",
    "{prefix: [3, 2]}",
    "{csv: towns.csv}",
    "{generalise: [age, pay, born, zip, town]}",
)
TOWNS = "Ahlen;north;*\nBeck;north;*\nCarl;south;*\n"
AREAS = "area,persons\n010,5\n011,500\n"


@pytest.fixture
def found(folder):
    def check(*edits, **files):
        text = TEXT
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        for name, lines in ({"towns": TOWNS, "areas": AREAS} | files).items():
            (folder.path / f"{name}.csv").write_text(lines, encoding="utf-8")
        return [line.split("\nhint: ") for line in folder.check(text) if " info:" not in line]

    return check


def test_what_is_right_is_valid(found):
    assert found() == []
    assert found((STEP, "{generalise: [age, born], level: 2, write: low}"), (AGE, "{widths: [5, 10]}")) == []
    assert found((STEP, "{generalise: born, level: year, write: middle}")) == []
    assert found((ZIP, "{prefix: [3, 2], fill: '*', small: {file: areas.csv, above: 20, label: '000'}}")) == []
    assert found((ZIP, "{prefix: [3, 2], then: {parents: up.csv}}"), up="01;low\n02;low\nlow;all\n") == []
    assert found((TOWN, "{parents: up.csv}"), up="Ahlen;north\nBeck;north\nnorth;all\nCarl;south\nsouth;all\n") == []
    assert (
        found(
            (STEP, "{code: [age, pay], top: 90, write: low}\n      - {round: note, to: 5}"),
            ("note: {role: insensitive, type: string}", "note: {role: insensitive, type: integer}"),
        )
        == []
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "code", "words"),
    [
        (AGE, "{}", 12, "P565", "a hierarchy needs one form"),
        (AGE, "{widths: [5], csv: towns.csv}", 12, "P565", "a hierarchy has one form, not widths and csv"),
        (AGE, "{widths: [5], fill: x}", 12, "P565", "fill says nothing about widths"),
        (ZIP, "{prefix: [3], top: 5}", 15, "P565", "top says nothing about prefix"),
        (AGE, "{date: [month]}", 12, "P566", "date is for columns of type date or datetime, not integer"),
        (TOWN, "{widths: [5]}", 16, "P566", "widths is for columns of type integer or number, not category"),
        (AGE, "{widths: [5, 12]}", 12, "P567", "width 12 is not a multiple of the 5 before it"),
        (AGE, "{widths: [5, 5]}", 12, "P567", "width 5 is not a multiple of the 5 before it"),
        (AGE, "{widths: [2.5]}", 12, "P567", "2.5 is not a whole number"),
        (PAY, "{widths: [0.75]}", 13, "P567", "0.75 is not on the grid 0.5"),
        (PAY, "{widths: [1234567890123456789]}", 13, "P567", "has more than 15 digits"),
        (PAY, "{edges: [[0, 200, 100, 5000.5]]}", 13, "P567", "edges do not ascend"),
        (PAY, "{edges: [[0, 100, 5000.5], [0, 200, 5000.5]]}", 13, "P567", "edges of level 2 are not some of level 1"),
        (PAY, "{edges: [[0, 100, 6000]]}", 13, "P568", "edge 6000 is outside the domain [0, 5000]"),
        (PAY, "{edges: [[100, 5000.5]]}", 13, "P568", "edges begin at 100, and the domain at 0"),
        (PAY, "{edges: [[0, 5000]]}", 13, "P568", "edges end below 5000, and the domain holds 5000"),
        (PAY, "{edges: [[0, 100, 5000.5]], top: 200}", 13, "P568", "top is 200, and the edges end at 5000.5"),
        (AGE, "{widths: [5], top: 130}", 12, "P568", "top 130 is outside the domain [0, 120]"),
        (AGE, "{widths: [5], top: -1}", 12, "P568", "top -1 is outside the domain [0, 120]"),
        (AGE, "{widths: [5], bottom: 50, top: 40}", 12, "P568", "top is not above bottom"),
        (BORN, "{date: [week, month]}", 14, "P569", "weeks do not nest in months"),
        (BORN, "{date: [day]}", 14, "P569", "day is not coarser than a day, which the column holds"),
        (BORN, "{date: [year, month]}", 14, "P569", "month is not coarser than year"),
        (ZIP, "{prefix: [2, 3]}", 15, "P570", "a prefix of 3 characters is not shorter than the one before"),
        (
            TOWN,
            "{prefix: [5]}, domain: [Ahlen, Beck]",
            16,
            "P570",
            "1 of the values of the domain is shorter than the prefix of 5 characters",
        ),
        (
            ZIP,
            "{prefix: [3], fill: x, then: {parents: towns.csv}}",
            15,
            "P565",
            "fill says nothing about prefixes with levels of a file",
        ),
        (TOWN, "{csv: nowhere.csv}", 16, "P571", "nowhere.csv cannot be read as a hierarchy"),
        (TOWN, "{csv: ../towns.csv}", 16, "P403", "outside the policy's folder"),
        (TOWN, "{csv: towns.csv}, domain: [Ahlen, Dorf]", 16, "P579", "towns.csv lacks 1 of the 2 values of the domain"),
        (AGE, "{csv: towns.csv}", 12, "P566", "towns.csv lists a value that is not a whole number"),
        (PAY, "{edges: [[0]]}", 13, "P203", "item 1 of edges needs at least 2 items"),
        (ZIP, '{prefix: [3, 2], fill: "\\u202e"}', 15, "P203", "fill holds a control character, or a sign that turns"),
        (STEP, "{generalise: agee}", 26, "P302", "column agee does not exist in dataset people"),
        (STEP, "{generalise: note}", 26, "P574", "note has no hierarchy"),
        (STEP, "{generalise: age, level: 3}", 26, "P575", "age has no level 3"),
        (STEP, "{generalise: age, level: month}", 26, "P575", "age has no level month"),
        (STEP, "{generalise: born, level: quarter}", 26, "P575", "born has no level quarter"),
        (STEP, "{generalise: zip, write: low}", 26, "P576", "low cannot be written of zip: its labels are names"),
        (
            STEP,
            "{generalise: age, write: middle}",
            26,
            "P576",
            "middle cannot be written of age: what is from 90 on has no middle",
        ),
        (STEP, "{code: age}", 26, "P577", "code draws nothing together"),
        (STEP, "{code: age, top: 10, bottom: 20}", 26, "P577", "top is not above bottom"),
        (STEP, "{code: age, top: 121}", 26, "P577", "top 121 is outside the domain [0, 120] of age"),
        (STEP, "{code: age, top: 89.5}", 26, "P577", "top 89.5 of age is not a whole number"),
        (
            STEP,
            "{code: age, bottom: 18, write: low}",
            26,
            "P576",
            "low cannot be written: what is below 18 has no lowest value",
        ),
        (STEP, "{code: town, top: 5}", 26, "P563", "code cannot change town, which is of type category"),
        (STEP, "{round: age, to: 1}", 26, "P578", "to 1 rounds nothing of age"),
        (STEP, "{round: age, to: 2.5}", 26, "P578", "to 2.5 is not a whole number"),
        (
            "threats:",
            "attacks: {inference: {target: age, tolerance: 0.1}}\nthreats:",
            18,
            "P581",
            "tolerance says nothing about age in release rows",
        ),
        (
            "threats:",
            "checks: [{id: G-1, release: rows, expect: generalised_cells, column: note, max: 1}]\nthreats:",
            18,
            "P582",
            "note is released as it is in rows: no cell of it is generalised",
        ),
        (STEP, "{generalise: id}", 26, "P560", "id is a direct identifier"),
        (STEP, "{drop: [age]}\n      - {generalise: age}", 27, "P408", "age is to drop and to generalise"),
        (STEP, "{generalise: age}\n      - {code: age, top: 90}", 27, "P408", "age is to generalise and to code"),
    ],
)
def test_a_fault_is_told_at_its_place_with_its_rule(found, old, new, place, code, words):
    told = found((old, new))
    wanted = [one for one in told if f" {code} " in one[0] and words in one[0]]
    assert wanted, told
    assert wanted[0][0].startswith(f"p.yaml:{place}:"), wanted
    assert len(wanted[0]) == 2 or code in {"P567", "P577", "P578"}, "there is no hint"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("{generalise: [age, zip]}", None),
        ("{generalise: zip}\n      - {code: age, top: 90}", "age has none"),
        ("{round: [age, pay], to: 5}", "age, pay have none"),
        ("{code: age, top: 90}\n      - {drop: [age]}", "release rows has none"),
    ],
)
def test_precision_is_of_columns_with_levels(found, step, told):
    check = "checks: [{id: G-1, release: rows, expect: precision, min: 0.1}]\nthreats:"
    lines = [line for line, *_ in found((STEP, step), ("threats:", check)) if " P583 " in line or " P582 " in line]
    assert [line.partition(":")[2][:3] for line in lines] == ([] if told is None else ["18:"])
    assert told is None or told in lines[0]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            "Ahlen;north;*\nBeck;north\nCarl;*\n",
            ["2: P572", "lines 2 and 3 are of another depth than line 1, which has 3 cells"],
        ),
        ("Ahlen\nBeck\n", ["1: P572", "line 1 holds a value and no label"]),
        ("Ahlen;;*\nBeck;north;*\n", ["1: P572", "line 1: a label is empty, which would read as missing"]),
        ("Ahlen;north;*\nBeck;north;*\nAhlen;north;*\n", ["1: P573", "one value is listed twice, in lines 1 and 3"]),
        ("Ahlen;north;*\nBeck;north;*\nAhlen;south;*\n", ["1: P573", "one value has different labels in lines 1 and 3"]),
        ("Ahlen;north;a\nBeck;north;b\n", ["1: P573", "one label of level 1 has 2 labels at level 2, in lines 1 and 2"]),
        ("Ahlen;Beck;*\nBeck;south;*\n", ["1: P573", "line 1: a label is also a value, which has another label"]),
        ("Ahlen;*;all\nBeck;north;*\n", ["1: P573", "line 1: a label is also that of another level, for other values"]),
        ("Ahlen;no\x1brth;*\nBeck;north;*\n", ["1: P572", "line 1: a label holds a control character"]),
        ("Ahlen;no\u202erth;*\nBeck;north;*\n", ["1: P572", "line 1: a label holds a control character, or a sign that turns"]),
        ("Ahlen;north;*\nBeck;no\x00rth;*\n", ["2: P572", "line 2: a label holds a control character"]),
        ("", ["16:", "P571", "towns.csv holds no line"]),
        ('Ahlen;"north;*\n', ["16:", "P571", "towns.csv cannot be read as a hierarchy"]),
    ],
)
def test_faults_of_a_file_are_told_by_line_and_never_by_cell(found, lines, told):
    (one,) = found(towns=lines)
    assert one[0].startswith(f"towns.csv:{told[0]}" if "P57" in told[0] else f"p.yaml:{told[0]}"), one
    assert all(words in one[0] for words in told[1:])
    assert not any(name in " ".join(one) for name in ("Ahlen", "Beck", "north", "south"))


def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(found, folder):
    os.mkfifo(folder.path / "pipe.csv")
    for old, new in (
        (TOWN, "{csv: pipe.csv}"),
        (TOWN, "{parents: pipe.csv}"),
        (ZIP, "{prefix: [2], then: {parents: pipe.csv}}"),
    ):
        (one,) = found((old, new))
        assert "P571" in one[0]
        assert "pipe.csv is no regular file" in one[0]


def test_a_label_that_is_a_prefix_or_value_of_other_values_is_refused(found):
    domain = "{prefix: [3, 2], then: {parents: up.csv}}, domain: [3100, 3200]"
    for up in ("31;320\n32;310\n", "31;3200\n32;x\n", "31;x\n32;310\nx;all\n310;all\n"):
        told = found((ZIP, domain), up=up)
        assert [one[0].split(" ")[1] for one in told] == ["P573"], told
        assert "label" in told[0][0]
        assert "of other values" in told[0][0]
    # a label of the value itself, and a block that is called by its first code
    assert found((ZIP, domain), up="31;310\n32;32-39\n") == []


def test_a_label_that_reads_as_missing_is_refused_where_it_is_written(found):
    marked = ("    columns:", "    format: {missing: ['north'], suppression_mark: '*'}\n    columns:")
    steps = {level: (STEP, f"{{generalise: town, level: {level}}}") for level in (1, 2)}
    for level in (1, 2):
        (one,) = found(marked, steps[level])
        assert " P573 " in one[0]
        assert "town has a label at level" in one[0]
    assert found(("    columns:", "    format: {suppression_mark: '*'}\n    columns:"), steps[1]) == []
    own = (TOWN, TOWN + ", format: {missing: [south]}")
    assert " P573 " in found(own, steps[1])[0][0]
    area = (ZIP, "{prefix: [3], small: {file: areas.csv, above: 20, label: 'north'}}")
    (one,) = found(marked, area, (STEP, "{generalise: zip}"))
    assert " P573 " in one[0]


def test_all_faults_of_a_file_are_told_at_once(found):
    told = found(towns="Ahlen;north;*\nBeck;;*\nAhlen;south;*\nCarl;south\n")
    assert [line[0].split(": ")[0] for line in told] == ["towns.csv:1", "towns.csv:2", "towns.csv:4"]


@pytest.mark.parametrize(
    ("lines", "place", "words"),
    [
        ("Ahlen;north\nAhlen;south\n", "1: P573", "one child has several lines: lines 1 and 2"),
        ("Ahlen;north\nnorth;Ahlen\n", "1: P573", "lines 1 and 2: a name is above itself"),
        (
            "Ahlen;north\nnorth;all\nBeck;all\n",
            "3: P572",
            "line 3: a value has another number of levels above it than the first, which has 2",
        ),
        ("Ahlen;north\nBeck\n", "2: P572", "line 2: not a child and its parent"),
    ],
)
def test_faults_of_parents_are_told_by_line(found, lines, place, words):
    told = found((TOWN, "{parents: up.csv}"), up=lines)
    assert any(one[0].startswith(f"up.csv:{place}") and words in one[0] for one in told), told


@pytest.mark.parametrize(
    ("lines", "label", "place", "words"),
    [
        ("area,persons\n010,5\n010,7\n", "000", "areas.csv:2: P573", "one area has several lines: lines 2 and 3"),
        (
            "area,persons\n010,5\n01,7\n",
            "000",
            "areas.csv:3: P572",
            "line 3: the area does not have the 3 characters of the first prefix",
        ),
        ("area,persons\n010,many\n", "000", "areas.csv:2: P572", "line 2: not an area and its number of persons"),
        (
            "area,persons\n010,5\n011,500\n",
            "011",
            "areas.csv:3: P573",
            "line 3: the label of small areas is, or begins with, that of an area which is not small",
        ),
        (
            "area,persons\n010,5\n011,500\n",
            "01199",
            "areas.csv:3: P573",
            "line 3: the label of small areas is, or begins with, that of an area which is not small",
        ),
        (
            "area,persons\n010,5\n011,500\n",
            "01",
            "areas.csv:3: P573",
            "line 3: the label of small areas is, or begins with, that of an area which is not small",
        ),
    ],
)
def test_faults_of_areas_are_told_by_line(found, lines, label, place, words):
    told = found((ZIP, f"{{prefix: [3, 2], small: {{file: areas.csv, above: 20, label: '{label}'}}}}"), areas=lines)
    assert any(one[0].startswith(place) and words in one[0] for one in told), told


@pytest.mark.parametrize(
    ("base", "overlay", "words"),
    [
        ("{generalise: born, level: month}", "{generalise: born, level: year}", None),
        ("{generalise: age, level: 1}", "{generalise: age, level: 2}", None),
        ("{generalise: age, level: 2}", "{generalise: age, level: 1}", "level may become higher only"),
        ("{generalise: born, level: year}", "{generalise: born, level: 2}", "level may become higher only"),
        ("{generalise: age}", "{generalise: age, write: low}", "write must not change"),
        ("{generalise: age}", "{generalise: [age, born]}", "born must not be added"),
        ("{generalise: [age, born]}", "{generalise: age}", "born must not be removed"),
        ("{code: age, top: 90}", "{code: age, top: 80}", "top must not change"),
    ],
)
def test_an_environment_may_raise_a_level_and_nothing_else(folder, base, overlay, words):
    text = TEXT.replace(STEP, base)
    release = f"{{id: rows, kind: microdata, from: people, protect: [T], output: out/rows.csv, transform: [{overlay}, {{suppress: cells}}]}}"
    (folder.path / "towns.csv").write_text(TOWNS, encoding="utf-8")
    told = [
        line
        for line in folder.check(text + f"environments:\n  test:\n    releases:\n      - {release}\n", env="test")
        if "P504" in line
    ]
    assert (words is None and not told) or any(words in line for line in told), told


def test_a_household_is_read_as_it_is(found):
    told = found(("town: {role: quasi,", "town: {role: quasi, links: household,"))
    assert any("P560 town is the number of a household, which is read as it is in the source" in line[0] for line in told), told


def test_labels_have_no_order_by_which_distributions_are_compared(found):
    check = "\nchecks:\n  - {id: C, release: rows, expect: t_closeness, threat: T, column: pay, max: 0.5DISTANCE}\n"
    known, output = "knows: [age, pay, born, zip, town]", "    output: out/rows.csv\n"
    for step, distance, faults in (
        (
            STEP,
            ", distance: ordered",
            ["P540 pay is released as labels, whose alphabet is not the order of what they stand for"],
        ),
        (STEP, ", distance: equal", []),
        (STEP, "", []),
        ("{generalise: pay, write: low}", ", distance: ordered", []),
    ):
        told = found(
            (known, "knows: [age, born, zip, town]"),
            (STEP, step),
            (output, output.rstrip() + check.replace("DISTANCE", distance)),
        )
        assert [line[0].split(" ", 1)[1] for line in told if "P540" in line[0]] == faults
