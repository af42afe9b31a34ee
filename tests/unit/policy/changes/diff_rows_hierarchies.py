"""What every change of hierarchies, and of the steps that write values coarser, must read as."""

from __future__ import annotations

import copy
from typing import Any

from tests.unit.policy.changes.diff_keys import Base, Row, rows
from tests.unit.policy.changes.diff_rows_data import DATA

#: Files of hierarchies, which the fixture writes.
FILES = {
    "tree1.csv": "a;x;*\nb;x;*\n",
    "tree2.csv": "a;y;*\nb;y;*\n",
    "tree3.csv": "a,y,*\nb,y,*\n",
    "up1.csv": "a;x\nb;x\n",
    "up2.csv": "a;y\nb;y\n",
    "area1.csv": "area,persons\nab,5\nac,900\n",
    "area2.csv": "area,persons\nab,5\nac,901\n",
    "pre1.csv": "ab;x\nac;x\n",
    "pre2.csv": "ab;y\nac;y\n",
    "pre3.csv": "ab,y\nac,y\n",
}
C = "datasets.patients.columns"
T = "releases.m.transform"


def of(column: str, hierarchy: dict[str, Any], *steps: dict[str, str]) -> Base:
    """The base with a hierarchy of a column, and steps before the others."""
    made = copy.deepcopy(DATA)
    if hierarchy:
        made["datasets"]["patients"]["columns"][column]["hierarchy"] = hierarchy
    made["datasets"]["patients"]["columns"]["factor"] |= {"grid": "0.1"}
    made["releases"]["m"]["transform"] = [*steps, *made["releases"]["m"]["transform"]]
    return made


AGES = of("age", {"widths": "[5, 10, 20]"}, {"generalise": "age"})
BANDS = of("age", {"edges": "[[18, 40, 60, 86]]"})
DAYS = of("town", {"date": "[month, year]"})
DAYS["datasets"]["patients"]["columns"]["town"]["type"] = "date"
DAYS["releases"]["m"]["transform"] = [{"generalise": "town", "level": "month"}, {"suppress": "cells"}]
CODES = of("town", {"prefix": "[2, 1]"})
AREAS = of("town", {"prefix": "[2, 1]", "small": {"file": "area1.csv", "above": "20", "label": "'00'"}})
ABOVE = of("town", {"prefix": "[3, 2]", "then": {"parents": "pre1.csv"}})
NAMES = of("town", {"csv": "tree1.csv"})
PARENTS = of("town", {"parents": "up1.csv"})
ENDS = of("age", {}, {"code": "age", "top": "80"})
ROUNDED = of("age", {}, {"round": "age", "to": "5"})
COARSE = {"release": "m", "expect": "generalised_cells"}
FINE = {"release": "m", "expect": "precision", "max": "0.9"}
AGE, TOWN, M = f"{C}.age.hierarchy", f"{C}.town.hierarchy", "releases.m"


def stepwise(base: Base, key: str, other: dict[str, str]) -> list[Row]:
    """Rows of a step that is new, removed, and about one column more."""
    bare, at = copy.deepcopy(base), f"{T}.0"
    bare["releases"]["m"]["transform"] = []
    for column in ("age", "factor"):
        bare["datasets"]["patients"]["columns"][column].setdefault("hierarchy", {"widths": "[5]"})
    words = "".join(f", {name}: {value}" for name, value in other.items())
    one, two = f"[{{{key}: age{words}}}]", f"[{{{key}: [age, factor]{words}}}]"
    name = f"{T}.[]<{key.capitalize()}Step>"
    return [
        Row(bare, name, "[]", one, "breaking", said=f"{M}.{key}.age", does="added"),
        Row(bare, name, one, "[]", "weaker", said=f"{M}.{key}.age", does="removed", in_old=True),
        Row(base, f"{at}.{key}", "[age]", "[age, factor]", "breaking", said=f"{M}.{key}.factor", given=FACTOR),
        Row(base, f"{at}.{key}", "[age, factor]", "[age]", "weaker", said=f"{M}.{key}.factor", given=FACTOR, in_old=True),
        Row(bare, T, one, two, "breaking", said=f"{M}.{key}.factor", does="altered"),
    ]


FACTOR = ((f"{C}.factor.hierarchy", {"widths": "[5, 10, 20]"}),)


def words(base: Base, key: str, *pairs: tuple[str, str], **other: Any) -> list[Row]:
    return [Row(base, f"{T}.0.{key}", old, new, "breaking", **other) for old, new in pairs]


HIERARCHIES: list[Row] = [
    # a column that newly has one is released as before: the step is a change of its own
    *rows(DATA, AGE, ({"widths": "[5]"}, None), "added N removed N"),
    *rows(AGES, f"{AGE}.widths", ("[5, 10]", "[5, 10, 20]"), "more W fewer W"),
    *rows(AGES, f"{AGE}.widths", ("[5, 10]", "[4, 8]"), "altered W"),
    *rows(BANDS, f"{AGE}.edges", ("[[18, 40, 60, 86]]", "[[18, 40, 60, 86], [18, 40, 86]]"), "more W fewer W"),
    *rows(AGES, f"{AGE}.bottom", ("20", "25"), "added B raised B lowered W removed W"),
    *rows(AGES, f"{AGE}.top", ("70", "75"), "added B raised W lowered B removed W"),
    *rows(DAYS, f"{TOWN}.date", ("[month, year]", "[month, year, decade]"), "more W fewer W"),
    *rows(CODES, f"{TOWN}.prefix", ("[2]", "[2, 1]"), "more W fewer W"),
    *rows(CODES, f"{TOWN}.fill", ("'*'", "'?'"), "added B altered B removed B"),
    *rows(
        CODES,
        f"{TOWN}.small",
        ({"file": "area1.csv", "above": "20", "label": "'00'"}, None),
        "added B removed W",
    ),
    *rows(AREAS, f"{TOWN}.small.file", ("area1.csv", "area2.csv"), "altered W"),
    *rows(AREAS, f"{TOWN}.small.above", ("20", "30"), "raised B lowered W"),
    *rows(AREAS, f"{TOWN}.small.label", ("'00'", "'99'"), "altered B"),
    *rows(CODES, f"{TOWN}.then", ({"parents": "pre1.csv"}, None), "added W removed W", given=((f"{TOWN}.prefix", "[3, 2]"),)),
    *rows(ABOVE, f"{TOWN}.then.parents", ("pre1.csv", "pre2.csv"), "altered W"),
    *rows(
        ABOVE,
        f"{TOWN}.then.delimiter",
        ("','", "';'"),
        "altered W",
        only_old=((f"{TOWN}.then.parents", "pre3.csv"),),
        only_new=((f"{TOWN}.then.parents", "pre2.csv"),),
        beside=(f"{TOWN}.then.parents",),
    ),
    *rows(ABOVE, f"{TOWN}.then.heading", ("false", "true"), "on W off W"),
    *rows(NAMES, f"{TOWN}.csv", ("tree1.csv", "tree2.csv"), "altered W"),
    *rows(PARENTS, f"{TOWN}.parents", ("up1.csv", "up2.csv"), "altered W"),
    *rows(
        NAMES,
        f"{TOWN}.delimiter",
        ("','", "';'"),
        "altered W",
        only_old=((f"{TOWN}.csv", "tree3.csv"),),
        only_new=((f"{TOWN}.csv", "tree2.csv"),),
        beside=(f"{TOWN}.csv",),
    ),
    *rows(NAMES, f"{TOWN}.heading", ("false", "true"), "on W off W"),
    *stepwise(AGES, "generalise", {}),
    *stepwise(ENDS, "code", {"top": "80"}),
    *stepwise(ROUNDED, "round", {"to": "5"}),
    *rows(AGES, f"{T}.0.level", ("1", "2"), "raised B lowered W", said=f"{M}.generalise.age.level"),
    *rows(DAYS, f"{T}.0.level", ("month", "year"), "on B off W", said=f"{M}.generalise.town.level"),
    *rows(DAYS, f"{T}.0.level", ("2", "month"), "altered W", said=f"{M}.generalise.town.level"),
    *words(
        AGES,
        "write",
        ("label", "low"),
        ("label", "middle"),
        ("low", "label"),
        ("low", "middle"),
        ("middle", "label"),
        ("middle", "low"),
        said=f"{M}.generalise.age.write",
    ),
    *rows(ENDS, f"{T}.0.top", ("70", "80"), "raised W lowered B", said=f"{M}.code.age.top"),
    *rows(
        ENDS,
        f"{T}.0.top",
        ("70", "80"),
        "added B removed W",
        said=f"{M}.code.age.top",
        given=((f"{T}.0.bottom", "20"),),
    ),
    *rows(ENDS, f"{T}.0.bottom", ("20", "30"), "added B raised B lowered W removed W", said=f"{M}.code.age.bottom"),
    *(
        Row(
            ENDS,
            f"{T}.[]<CodeStep>.write",
            f"[{{code: age, top: 80, write: {old}}}]",
            f"[{{code: age, top: 80, write: {new}}}]",
            "breaking",
            said=f"{M}.code.age.write",
            does=f"{old}>{new}",
        )
        for old, new in (("label", "low"), ("low", "label"))
    ),
    *rows(ROUNDED, f"{T}.0.to", ("5", "10"), "raised B lowered W", said=f"{M}.round.age.to"),
    *rows(ROUNDED, f"{T}.0.to", ("5", "12"), "raised W", said=f"{M}.round.age.to"),
    *rows(AGES, "checks.c.max", ("0.05", "0.1"), "raised W lowered S", given=(("checks.c", COARSE | {"min": "0"}),)),
    *rows(AGES, "checks.c.column", ("age", None), "added W removed W", given=(("checks.c", COARSE | {"max": "0.5"}),)),
    *rows(AGES, "checks.c.min", ("0.5", "0.6"), "added S raised S lowered W removed W", given=(("checks.c", FINE),)),
]
