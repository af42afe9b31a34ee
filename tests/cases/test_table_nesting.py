"""Groupings that nest or cross: who knows which municipality lies in which county adds up the cells of both tables."""

from __future__ import annotations

import csv
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

CASE = "w02-nested-and-crossing-groupings"

HEAD = """datasets:
  cases:
    source: input.csv
    unit: {column: pid, max_rows: 1}
    columns:
      pid: {role: direct, type: string}
"""
PLACES = """      municipality: {role: quasi, type: category, domain: [Aby, Bro, Cal, Dal, Eka, Fors, Gro, Hov]}
      county: {role: quasi, type: category, domain: [c1, c2]}
      place: {role: quasi, type: category, domain: [town, rural]}
tables: {min_count: 5}
releases:
"""
TABLE = "  - {{id: t{0}, kind: table, from: cases, by: [{1}], measures: [{{count: true}}], margins: true, {2}output: out/t{0}.csv}}\n"


def policy(*tables, columns=PLACES):
    return HEAD + columns + "".join(TABLE.format(i, by, more) for i, (by, more) in enumerate(tables))


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def intervals(case, filters):
    """The least and the largest count of each small municipality (band), by linear programs over the atoms that occur: who knows the map."""
    source = rows_of(case.folder / "input.csv")
    columns = [name for name in source[0] if name != "pid"]
    atoms = sorted({tuple(row[name] for name in columns) for row in source})
    true = [sum(tuple(row[name] for name in columns) == atom for row in source) for atom in atoms]
    equations, values = [], []
    for number, keep in enumerate(filters):
        for row in rows_of(case.folder / "out" / f"t{number}.csv"):
            if row["status"] == "shown":
                keys = {name: row[name] for name in columns if row.get(name)}
                mine = [keep(atom) and all(atom[columns.index(name)] == key for name, key in keys.items()) for atom in atoms]
                equations.append(mine)
                values.append(float(row["count"]))
    found = {}
    for i, name in product(range(len(atoms)), (0,)):
        group = atoms[i][name]
        goal = np.array([float(atom[name] == group) for atom in atoms])
        small = sum(n for n, atom in zip(true, atoms, strict=True) if atom[name] == group)
        if small < 5:
            ends = [
                sign * linprog(sign * goal, A_eq=np.array(equations, float), b_eq=values, bounds=(0, None)).fun
                for sign in (1, -1)
            ]
            found[group] = tuple(ends)
    return found


def every(atom):
    return True


def in_c1(atom):
    return atom[1] == "c1"


@pytest.mark.parametrize(
    ("tables", "filters"),
    [
        ([("municipality", ""), ("county", ""), ("place", "")], [every, every, every]),
        ([("municipality", ""), ("county", "")], [every, every]),
        ([("municipality", ""), ("place", "where: \"county = 'c1'\", ")], [every, in_c1]),
        ([("county, municipality", "protect: {zeros: suppress}, ")], [every]),
    ],
    ids=["three tables", "two tables", "a filter", "one table"],
)
def test_the_small_municipality_stays_uncertain_to_who_knows_the_map(case, tables, filters):
    case.policy(policy(*tables))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    found = intervals(case, filters)
    assert found
    assert all(high - low >= 1 for low, high in found.values())


LEVELS = """      municipality: {role: quasi, type: category, domain: [Aby, Bro, Cal, Dal, Eka, Fors, Gro, Hov]}
      county: {role: quasi, type: category, domain: [c1, c2, c3]}
      land: {role: quasi, type: category, domain: [l1, l2]}
tables: {min_count: 5}
releases:
"""


@pytest.mark.parametrize(
    "order", [("municipality", "county", "land"), ("land", "municipality"), ("land", "county", "municipality")]
)
def test_two_levels_of_nesting_are_one_system(case, order):
    """Municipalities lie in counties, and these in lands: with one small municipality hidden, the levels above must not give it back."""
    county = {"Aby": "c1", "Bro": "c1", "Cal": "c1", "Dal": "c2", "Eka": "c2", "Fors": "c2", "Gro": "c3", "Hov": "c3"}
    counts = {"Aby": 2, "Bro": 20, "Cal": 17, "Dal": 30, "Eka": 12, "Fors": 9, "Gro": 41, "Hov": 14}
    places = [name for name, many in counts.items() for _ in range(many)]
    rows = [f"p{number},{name},{county[name]},{'l1' if county[name] < 'c3' else 'l2'}" for number, name in enumerate(places)]
    (case.folder / "input.csv").write_text("\n".join(["pid,municipality,county,land", *rows]) + "\n", encoding="utf-8")
    case.policy(policy(*((by, "") for by in order), columns=LEVELS))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    low, high = intervals(case, [every] * len(order))["Aby"]
    assert high - low >= 1


def test_a_table_of_municipalities_alone_keeps_its_cells(case):
    """What is public of the map changes nothing where only one of the columns is printed: two cells are hidden, as before."""
    case.policy(policy(("municipality", "")))
    assert case("run", "policy.yaml").code == 0
    assert sum(row["status"] == "suppressed" for row in rows_of(case.folder / "out" / "t0.csv")) == 2


def test_bands_of_five_and_of_ten_years(case):
    counts = {"0-4": 3, "5-9": 12, "10-14": 20, "15-19": 21}
    lines = ["pid,five,ten"]
    for band, count in counts.items():
        ten = "0-9" if band in {"0-4", "5-9"} else "10-19"
        lines += [f"p{len(lines) + i},{band},{ten}" for i in range(count)]
    (case.folder / "input.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = """      five: {role: quasi, type: category, domain: [0-4, 5-9, 10-14, 15-19]}
      ten: {role: quasi, type: category, domain: [0-9, 10-19]}
tables: {min_count: 5}
releases:
"""
    case.policy(policy(("five", ""), ("ten", ""), columns=columns))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert all(high - low >= 1 for low, high in intervals(case, [every, every]).values())
    hidden = {row["five"] for row in rows_of(case.folder / "out" / "t0.csv") if row["status"] == "suppressed"}
    coarse = {row["ten"] for row in rows_of(case.folder / "out" / "t1.csv") if row["status"] == "suppressed"}
    assert "5-9" in hidden or "0-9" in coarse


def test_a_plan_on_the_data_names_the_dependency(case):
    case.policy(policy(("municipality", ""), ("county", "")))
    ran = case("plan", "policy.yaml", "--data")
    assert ran.code == 0, ran.err
    assert "municipality determines county" in ran.out + ran.err


def test_a_table_of_a_column_that_decides_its_own_filter(case):
    """Municipalities of one county, by a filter, beside all of them: cells that the filter leaves empty are printed as such, and none is lost."""
    case.policy(policy(("municipality", ""), ("municipality", "where: \"county = 'c1'\", ")))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert all(high - low >= 1 for low, high in intervals(case, [every, in_c1]).values())
