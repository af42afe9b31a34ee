"""What every change of datasets, threats and releases of rows must read as."""

from __future__ import annotations

from typing import Any

from tests.unit.policy.changes.diff_keys import Base, Row, rows

HEAD: Base = {
    "apiVersion": "privrelease/v1",
    "kind": "ReleasePolicy",
    "id": "registry",
    "version": "1",
    "title": "A registry",
}
DATA: Base = HEAD | {
    "datasets": {
        "patients": {
            "source": {"path": "data/patients.csv"},
            "unit": {"column": "patient", "max_rows": "1"},
            "columns": {
                "patient": {"role": "direct", "type": "string"},
                "other_id": {"role": "direct", "type": "string"},
                "age": {"role": "quasi", "type": "integer", "domain": {"range": "[18, 85]"}},
                "sex": {"role": "quasi", "type": "category", "domain": {"values": "[F, M]"}},
                "glucose": {"role": "sensitive", "type": "number"},
                "town": {"role": "insensitive", "type": "string"},
                "weight": {"role": "insensitive", "type": "number"},
                "factor": {"role": "insensitive", "type": "number"},
            },
        },
        "all": {
            "source": {"path": "data/all.csv"},
            "columns": {
                "age": {"role": "quasi", "type": "integer"},
                "sex": {"role": "quasi", "type": "category", "domain": {"values": "[F, M]"}},
            },
        },
        "more": {
            "source": {"path": "data/more.csv"},
            "columns": {
                "age": {"role": "quasi", "type": "integer"},
                "sex": {"role": "quasi", "type": "category", "domain": {"values": "[F, M]"}},
            },
        },
    },
    "threats": {
        "t": {"dataset": "patients", "knows": "[age, sex]", "highest_risk": "0.2"},
        "u": {"dataset": "patients", "knows": "[sex]", "highest_risk": "0.2"},
        "j": {
            "dataset": "patients",
            "knows": "[age]",
            "attacker": "journalist",
            "population": {"size": "1000", "estimator": "pitman"},
            "highest_risk": "0.2",
        },
    },
    "releases": {
        "m": {
            "kind": "microdata",
            "from": "patients",
            "protect": "[t]",
            "transform": [{"drop": "[town]"}, {"suppress": "cells", "limit": "0.05"}],
            "output": "out/m.csv",
        }
    },
    "checks": {"c": {"release": "m", "expect": "rows", "min": "10"}},
}
WEIGHTED: Base = DATA | {"threats": DATA["threats"] | {"j": DATA["threats"]["j"] | {"population": {"weight": "weight"}}}}
TABLED: Base = DATA | {"threats": DATA["threats"] | {"j": DATA["threats"]["j"] | {"population": {"table": "all"}}}}
SQLITE: Base = DATA | {
    "datasets": DATA["datasets"]
    | {"patients": DATA["datasets"]["patients"] | {"source": {"sqlite": "data/p.sqlite", "table": "a"}}}
}


def data(at: str, first: Any, second: Any, verdicts: str, **other: Any) -> list[Row]:
    return rows(DATA, at, (first, second), verdicts, **other)


P = "datasets.patients"
AGE, SEX, GLUCOSE = f"{P}.columns.age", f"{P}.columns.sex", f"{P}.columns.glucose"
ONE = {"source": "data/x.csv", "columns": {"a": {"role": "insensitive", "type": "string"}}}
TOWN = f"{P}.columns.town"
TRIMMED = tuple((f"{column}.format.normalise", "[trim]") for column in (AGE, GLUCOSE, TOWN))
FORMATS: list[Row] = [
    *data(f"{P}.format.delimiter", "','", "';'", "altered N", given=((f"{P}.format.decimal", "'.'"),)),
    # what one decodes or quotes otherwise reads as other texts, silently
    *data(f"{P}.format.quote", "'\"'", '"\'"', "altered B"),
    *data(f"{P}.format.encoding", "cp1252", "latin-1", "altered B"),
    *data(f"{P}.format.decimal", "'.'", "','", "on B off B"),
    *data(f"{P}.format.thousands", "' '", '"\'"', "added B altered B removed B", given=((f"{P}.format.delimiter", "','"),)),
    *data(
        f"{P}.format.date", '"%d.%m.%Y"', '"%m.%d.%Y"', "added B altered B removed B", given=((f"{P}.format.delimiter", "','"),)
    ),
    *data(
        f"{P}.format.pivot",
        "1930",
        "1940",
        "added B raised B lowered B removed B",
        # the column has a pivot of its own, since two-digit years need one
        given=((f"{P}.format.date", "'%d.%m.%y'"), (f"{P}.columns.town.type", "date"), (f"{TOWN}.format.pivot", "1950")),
    ),
    *data(
        f"{P}.format.datetime",
        '"%d.%m.%Y"',
        '"%m.%d.%Y"',
        "added B altered B removed B",
        given=((f"{P}.format.delimiter", "','"),),
    ),
    *data(
        f"{P}.format.missing",
        '["NA"]',
        '["NA", "99"]',
        "added B more B fewer B removed B",
        given=((f"{P}.format.delimiter", "','"),),
    ),
    *data(f"{P}.format.suppression_mark", "'*'", "x", "added B altered B removed B", given=((f"{P}.format.delimiter", "','"),)),
    *data(f"{AGE}.format", {"missing": '["99"]'}, None, "added B removed B"),
    *data(f"{GLUCOSE}.format.decimal", "'.'", "','", "added B on B off B removed B", given=TRIMMED),
    *data(f"{GLUCOSE}.format.thousands", "' '", '"\'"', "added B altered B removed B", given=TRIMMED),
    *data(f"{AGE}.format.missing", '["98"]', '["98", "99"]', "added B more B fewer B removed B", given=TRIMMED),
    *data(f"{AGE}.format.suppression_mark", "'*'", "x", "added B altered B removed B", given=TRIMMED),
    *data(
        f"{TOWN}.format.aliases",
        {"A": "B"},
        None,
        "added B removed B",
        given=TRIMMED,
        said=f"{TOWN}.format.aliases.A",
        line=f"{TOWN}.format.aliases.A",
    ),
    *data(f"{TOWN}.format.aliases.C", "D", "E", "added B altered B removed B", given=((f"{TOWN}.format.aliases.A", "B"),)),
    *data(
        f"{TOWN}.format.normalise",
        "[nfc]",
        "[nfc, trim]",
        "added B more B fewer B removed B",
        given=((f"{TOWN}.format.missing", '["-"]'),),
    ),
    *data(
        f"{TOWN}.format.date",
        '"%d.%m.%Y"',
        '"%m.%d.%Y"',
        "added B altered B removed B",
        given=(*TRIMMED, (f"{TOWN}.type", "date")),
    ),
    *data(
        f"{TOWN}.format.pivot",
        "1930",
        "1940",
        "added B raised B lowered B removed B",
        given=(*TRIMMED, (f"{TOWN}.type", "date"), (f"{TOWN}.format.date", "'%d.%m.%y'"), (f"{P}.format.pivot", "1950")),
    ),
    *data(
        f"{TOWN}.format.datetime",
        '"%d.%m.%Y"',
        '"%m.%d.%Y"',
        "added B altered B removed B",
        given=(*TRIMMED, (f"{TOWN}.type", "datetime")),
    ),
]
DATASETS: list[Row] = [
    *data("id", "registry", "register", "altered B"),
    *data("version", "1", "2", "altered N"),
    *data("title", "A registry", "Another", "altered N"),
    *data("datasets.extra", ONE, None, "added N removed B"),
    *data(f"{P}.source.path", "data/a.csv", "data/b.csv", "altered N"),
    *(
        row
        for kind in ("csv", "parquet")
        for row in data(f"{P}.source.{kind}", "data/a", "data/b", "altered N", given=((f"{P}.source.path", None),))
    ),
    *(
        row
        for kind in ("duckdb", "sqlite")
        for row in rows(SQLITE, f"{P}.source.{kind}", ("data/a", "data/b"), "altered N", given=((f"{P}.source.sqlite", None),))
    ),
    # another kind of file: one key is new and one is gone
    *(
        row
        for kind in ("csv", "parquet")
        for row in (
            Row(
                DATA,
                f"{P}.source.{kind}",
                None,
                "data/a",
                "neutral",
                only_new=((f"{P}.source.path", None),),
                beside=(f"{P}.source.path",),
            ),
            Row(
                DATA,
                f"{P}.source.{kind}",
                "data/a",
                None,
                "neutral",
                only_old=((f"{P}.source.path", None),),
                beside=(f"{P}.source.path",),
            ),
        )
    ),
    Row(
        SQLITE,
        f"{P}.source.duckdb",
        None,
        "data/a",
        "neutral",
        only_new=((f"{P}.source.sqlite", None),),
        beside=(f"{P}.source.sqlite",),
    ),
    Row(
        SQLITE,
        f"{P}.source.sqlite",
        None,
        "data/a",
        "neutral",
        only_old=((f"{P}.source.duckdb", "d"), (f"{P}.source.sqlite", None)),
        beside=(f"{P}.source.duckdb",),
    ),
    Row(
        SQLITE,
        f"{P}.source.duckdb",
        "data/a",
        None,
        "neutral",
        only_old=((f"{P}.source.sqlite", None),),
        beside=(f"{P}.source.sqlite",),
    ),
    Row(
        SQLITE,
        f"{P}.source.sqlite",
        "data/a",
        None,
        "neutral",
        only_new=((f"{P}.source.duckdb", "d"), (f"{P}.source.sqlite", None)),
        beside=(f"{P}.source.duckdb",),
    ),
    Row(
        DATA,
        f"{P}.source.path",
        None,
        "data/a.csv",
        "neutral",
        only_old=((f"{P}.source.csv", "data/a"), (f"{P}.source.path", None)),
        beside=(f"{P}.source.csv",),
    ),
    Row(
        DATA,
        f"{P}.source.path",
        "data/a.csv",
        None,
        "neutral",
        only_new=((f"{P}.source.csv", "data/a"),),
        beside=(f"{P}.source.csv",),
    ),
    *rows(SQLITE, f"{P}.source.table", ("a", "b"), "altered N"),
    *data(f"{P}.table", "a", "b", "altered N", given=((f"{P}.source.path", "data/p.sqlite"),)),
    # without a label nothing says that other content came under it, and no answer is served again
    *data(f"{P}.snapshot", "2026-Q3", "2026-Q4", "added S altered N removed W"),
    # another account of the budget, which may be a fresh one
    *data(f"{P}.population", "patients", "people", "added W altered W removed W"),
    *data(f"{P}.unit", {"column": "patient"}, None, "added S removed W", given=((f"{P}.unit", None),)),
    # without a unit a repeating identifier is refused, with `rows` it is not
    *data(f"{P}.unit", "rows", None, "added W removed S"),
    Row(DATA, f"{P}.unit", {"column": "patient"}, "rows", "weaker", given=((f"{P}.unit", None),), does="column>rows"),
    Row(DATA, f"{P}.unit", "rows", {"column": "patient"}, "stricter", given=((f"{P}.unit", None),), does="rows>column"),
    *data(f"{P}.unit.column", "patient", "other_id", "altered W"),
    *data(f"{P}.unit.max_rows", "1", "2", "added S raised W lowered S removed W"),
    *data(f"{P}.unit.max_groups", "1", "2", "added S raised W lowered S removed W", given=((f"{P}.unit.max_rows", "3"),)),
    *data(f"{P}.unlisted_columns", "error", "drop", "on W off S"),
    *data(f"{P}.columns.new", {"role": "insensitive", "type": "string"}, None, "added W removed B"),
    # a direct identifier leaves by a pseudonym only
    *data(f"{P}.columns.new", {"role": "direct", "type": "string"}, None, "added N"),
    *data(f"{P}.columns.glucose.role", "sensitive", "quasi", "altered S"),
    *data(f"{P}.columns.glucose.role", "quasi", "insensitive", "altered W"),
    *data(f"{P}.columns.glucose.role", "insensitive", "sensitive", "altered S"),
    # what names the person leaves no more
    *data(f"{P}.columns.glucose.role", "sensitive", "direct", "altered B"),
    *data(f"{P}.columns.glucose.role", "direct", "sensitive", "altered W"),
    *data(f"{P}.columns.town.role", "insensitive", "direct", "altered S"),
    *data(f"{P}.columns.glucose.type", "number", "integer", "altered B"),
    *data(
        f"{P}.columns.town.domain",
        {"values": "[a, b]"},
        None,
        "added S removed W",
        given=((f"{P}.columns.town.type", "category"),),
    ),
    *data(f"{SEX}.domain.values", "[F, M]", "[F, M, X]", "more W fewer B"),
    *data(f"{SEX}.domain.values", "[F, M]", "[M, F]", "reordered W"),
    *data(f"{AGE}.domain.range", "[18, 85]", "[9, 85]", "altered W"),
    *data(f"{AGE}.domain.range", "[9, 85]", "[18, 84]", "altered B"),
    *data(f"{SEX}.outside", "error", "drop", "on W off S"),
    # a finer step of figures tells more, a coarser one takes digits from readers
    *data(f"{GLUCOSE}.grid", "0.1", "0.5", "added W raised B lowered W removed W"),
    *data(f"{GLUCOSE}.unit", "mg/dL", "mmol/L", "added N altered N removed N"),
    *data(f"{GLUCOSE}.category", "special", None, "added S removed W"),
    *data(f"{GLUCOSE}.category", "ordinary", None, "added N removed N"),
    *data(f"{GLUCOSE}.category", "ordinary", "special", "on S off W"),
    *data(f"{GLUCOSE}.category", "ordinary", "criminal", "on S off W"),
    *data(f"{GLUCOSE}.category", "special", "criminal", "on W off W"),
    # households are judged, what is not declared is suspected, and `none` is believed
    *data(f"{TOWN}.links", "household", None, "added S removed W"),
    *data(f"{TOWN}.links", "none", None, "added W removed S"),
    *data(f"{TOWN}.links", "none", "household", "on S off W"),
    *data(f"{GLUCOSE}.description", "a", "b", "added N altered N removed N"),
    *data(f"{P}.description", "a", "b", "added N altered N removed N"),
]
T, J = "threats.t", "threats.j"
THREATS: list[Row] = [
    *data("threats.new", {"dataset": "patients", "knows": "[age]", "highest_risk": "0.2"}, None, "added S removed W"),
    *data(
        "threats.new.dataset", "all", "more", "altered W", given=(("threats.new", {"knows": "[age]", "highest_risk": "0.2"}),)
    ),
    *data(f"{T}.knows", "[age]", "[age, sex]", "more S fewer W"),
    *data(f"{T}.knows", "[age, sex]", "[sex, age]", "reordered N"),
    *data(f"{T}.knows", "[age]", "[sex]", "altered W"),
    # a journalist's risk is at most a prosecutor's, a marketer's at most a journalist's
    *data(f"{J}.attacker", "prosecutor", "journalist", "on W off S"),
    *data(
        f"{J}.attacker",
        "prosecutor",
        "marketer",
        "on W off S",
        given=((f"{J}.highest_risk", None), (f"{J}.average_risk", "0.1")),
    ),
    *data(
        f"{J}.attacker",
        "journalist",
        "marketer",
        "on W off S",
        given=((f"{J}.highest_risk", None), (f"{J}.average_risk", "0.1")),
    ),
    *data(f"{T}.highest_risk", "0.1", "0.2", "added S raised W lowered S removed W", given=((f"{T}.average_risk", "0.05"),)),
    *data(f"{T}.average_risk", "0.05", "0.1", "added S raised W lowered S removed W"),
    *data(f"{T}.records_at_risk", {"above": "0.1", "share": "0.1"}, None, "added S removed W"),
    *data(f"{T}.records_at_risk.above", "0.1", "0.15", "raised W lowered S", given=((f"{T}.records_at_risk.share", "0.1"),)),
    *data(f"{T}.records_at_risk.share", "0.1", "0.2", "raised W lowered S", given=((f"{T}.records_at_risk.above", "0.1"),)),
    # what matches anything makes classes larger
    *data(f"{T}.missing", "category", "wildcard", "on W off S"),
    *data(f"{T}.population", {"size": "1000", "estimator": "pitman"}, None, "added W removed W"),
    *rows(TABLED, f"{J}.population.table", ("all", "more"), "altered W"),
    *rows(WEIGHTED, f"{J}.population.weight", ("weight", "factor"), "altered W"),
    *data(f"{J}.population.size", "1000", "2000", "raised W lowered W"),
    *data(f"{J}.population.estimator", "pitman", "zayatz", "altered W"),
    *(
        Row(
            base,
            f"{J}.population.{key}",
            *sides,
            "weaker",
            only_new=((f"{J}.population", {}),)
            if sides[0] is None
            else ((f"{J}.population.size", "1000"), (f"{J}.population.estimator", "pitman")),
            beside=(f"{J}.population.size", f"{J}.population.estimator"),
        )
        for key, value, base in (("table", "all", TABLED), ("weight", "weight", WEIGHTED))
        for sides, base in (((None, value), DATA), ((value, None), base))
    ),
    *data(f"{T}.knows_rows", "false", "true", "on S off W"),
    *data(f"{T}.also", {"subsets": {"up_to": "1", "k": "3"}}, None, "added S removed W"),
    *data(
        f"{T}.also.subsets",
        {"up_to": "1", "k": "3"},
        None,
        "added S removed W",
        given=((f"{T}.also.subsets", None),),
        said=f"{T}.also",
        line=f"{T}.also",
    ),
    *data(f"{T}.also.subsets.up_to", "1", "2", "raised S lowered W", given=((f"{T}.also.subsets.k", "3"),)),
    *data(f"{T}.also.subsets.k", "3", "4", "raised S lowered W", given=((f"{T}.also.subsets.up_to", "1"),)),
]
M = "releases.m"
STEP = f"{M}.transform.1"
OUT = f"{M}.output"
#: Recipients that releases can name.
GIVEN_TO = (("legal", {"recipients": "[{name: U, id: u}, {name: V, id: v}]"}),)
ONCE = {"kind": "microdata", "from": "patients", "protect": "[t]", "output": "out/x.csv"}
PSEUDONYMS: Base = DATA | {
    "releases": {
        "m": DATA["releases"]["m"]
        | {
            "transform": [
                {"drop": "[town]"},
                {"pseudonymise": "[other_id]", "key": "KEY_A"},
                {"pseudonymise": "[weight]", "key": "KEY_A"},
            ]
        }
    }
}
FIRST, SECOND = f"{M}.transform.1", f"{M}.transform.2"
RELEASES: list[Row] = [
    *data("releases.x", ONCE, None, "added W removed B"),
    Row(
        DATA,
        M,
        DATA["releases"]["m"],
        None,
        "weaker",
        only_new=(("releases.x", DATA["releases"]["m"]), ("checks", None)),
        only_old=(("checks", None),),
        said="releases.x",
        beside=(M,),
        line="releases.x",
        does="renamed",
    ),
    Row(
        DATA,
        f"{M}.from",
        "patients",
        "more",
        "weaker",
        given=((f"{M}.protect", "[]"), (f"{M}.transform", None)),
    ),
    *data(f"{M}.protect", "[t]", "[t, u]", "more S fewer W"),
    *data(f"{M}.protect", "[t, u]", "[u, t]", "reordered N"),
    *data(f"{M}.protect", "[t]", None, "added S removed W", given=((STEP, {"drop": "[factor]"}),)),
    *data(f"{M}.columns", "[age, sex]", "[age, sex, glucose]", "added B more W fewer B removed W"),
    *data(f"{M}.columns", "[age, sex]", "[sex, age]", "reordered B"),
    # all columns that leave, by their names and in their order: nothing changes
    *data(f"{M}.columns", "[age, sex, glucose, weight, factor]", None, "added N removed N"),
    *data(f"{M}.transform.0.drop", "[town]", "[town, factor]", "more B fewer W", said=f"{M}.drop"),
    Row(PSEUDONYMS, f"{FIRST}.pseudonymise", "[other_id]", "[other_id, patient]", "weaker", said=f"{M}.pseudonymise.patient"),
    Row(
        PSEUDONYMS,
        f"{FIRST}.pseudonymise",
        "[other_id, patient]",
        "[other_id]",
        "breaking",
        said=f"{M}.pseudonymise.patient",
        in_old=True,
    ),
    # what is no direct identifier is released as it is without a pseudonym
    Row(PSEUDONYMS, f"{SECOND}.pseudonymise", "[weight]", "[weight, factor]", "breaking", said=f"{M}.pseudonymise.factor"),
    Row(
        PSEUDONYMS,
        f"{SECOND}.pseudonymise",
        "[weight, factor]",
        "[weight]",
        "weaker",
        said=f"{M}.pseudonymise.factor",
        in_old=True,
    ),
    *rows(PSEUDONYMS, f"{FIRST}.key", ("KEY_A", "KEY_B"), "altered W", said=f"{M}.pseudonymise.other_id"),
    *data(f"{STEP}.limit", "0.05", "0.1", "added S raised W lowered S removed W", said=f"{M}.suppress.limit"),
    # which cells go first: every threshold holds all the same, and the limit counts all cells alike
    *data(
        f"{STEP}.weights", {"age": "2"}, None, "added N removed N", said=f"{M}.suppress.weights.age", line=f"{STEP}.weights.age"
    ),
    *data(
        f"{STEP}.weights.age",
        "2",
        "3",
        "added N raised N lowered N removed N",
        said=f"{M}.suppress.weights.age",
        given=((f"{STEP}.weights.sex", "2"),),
    ),
    *data(f"{STEP}.prefer", "cells", "balanced", "on N off N", said=f"{M}.suppress.prefer"),
    *data(f"{STEP}.prefer", "cells", "information", "on N off N", said=f"{M}.suppress.prefer"),
    *data(f"{STEP}.prefer", "balanced", "information", "on N off N", said=f"{M}.suppress.prefer"),
    *data(f"{STEP}.residual", "drop", "keep", "on W off S", said=f"{M}.suppress.residual"),
    *data(f"{M}.order", "values", "source", "on W off S"),
    *data(OUT, "[out/m.csv]", "[out/m.csv, out/m.parquet]", "more N fewer B"),
    *data(OUT, "[out/m.csv, out/m.parquet]", "[out/m.parquet, out/m.csv]", "reordered N"),
    *data(f"{OUT}.[].path", "[{path: out/m.csv}]", "[{path: out/n.csv}]", "altered B"),
    *data(f"{OUT}.[].format", "[{path: out/m, format: csv}]", "[{path: out/m, format: parquet}]", "altered B"),
    *data(f"{OUT}.[].table", "[{path: out/m.duckdb}]", "[{path: out/m.duckdb, table: x}]", "altered B"),
    *data(f"{OUT}.[].delimiter", "[{path: out/m.csv}]", "[{path: out/m.csv, delimiter: ';'}]", "altered B"),
    *data(
        f"{OUT}.[].decimal",
        "[{path: out/m.csv, delimiter: ';'}]",
        "[{path: out/m.csv, delimiter: ';', decimal: ','}]",
        "altered B",
    ),
    *data(f"{M}.recipients", "[u]", "[u, v]", "added W more W fewer W removed W", given=GIVEN_TO),
    *data(f"{M}.recipients", "[u, v]", "[v, u]", "reordered N", given=GIVEN_TO),
    *data(f"{M}.recipients_hold_previous", "false", "true", "on S off W"),
    *data(f"{M}.frontier", "[2]", "[2, 3]", "added N more N fewer N removed N"),
    *data(f"{M}.description", "a", "b", "added N altered N removed N"),
]
DROP, NAME, HIDE = (f"{M}.transform.[]<{step}>" for step in ("DropStep", "PseudonymiseStep", "SuppressCells"))
STEPS: list[Row] = [
    Row(DATA, DROP, "[{drop: [factor]}]", "[{drop: [town]}]", "weaker", said=f"{M}.drop", does="altered"),
    Row(DATA, DROP, "[{suppress: cells}]", "[{drop: [town]}, {suppress: cells}]", "breaking", said=f"{M}.drop", does="added"),
    Row(DATA, DROP, "[{drop: [town]}, {suppress: cells}]", "[{suppress: cells}]", "weaker", said=f"{M}.drop", does="removed"),
    # what would have been refused may leave with cells missing; and the reverse
    Row(DATA, HIDE, "[{drop: [town]}]", "[{drop: [town]}, {suppress: cells}]", "weaker", said=f"{M}.suppress", does="added"),
    Row(
        DATA,
        HIDE,
        "[{drop: [town]}, {suppress: cells}]",
        "[{drop: [town]}]",
        "stricter",
        said=f"{M}.suppress",
        does="removed",
        in_old=True,
    ),
    Row(DATA, NAME, "[]", "[{pseudonymise: [other_id], key: KEY}]", "weaker", said=f"{M}.pseudonymise.other_id", does="added"),
    Row(
        DATA,
        NAME,
        "[{pseudonymise: [other_id], key: KEY}]",
        "[]",
        "breaking",
        said=f"{M}.pseudonymise.other_id",
        does="removed",
        in_old=True,
    ),
    Row(DATA, NAME, "[]", "[{pseudonymise: [town], key: KEY}]", "breaking", said=f"{M}.pseudonymise.town", does="added"),
    Row(
        DATA,
        NAME,
        "[{pseudonymise: [town], key: KEY}]",
        "[]",
        "weaker",
        said=f"{M}.pseudonymise.town",
        does="removed",
        in_old=True,
    ),
    *(
        Row(DATA, f"{M}.transform", *sides, effect, said=f"{M}.drop", does=does)
        for sides, effect, does in (
            ((None, "[{drop: [town]}]"), "breaking", "added"),
            (("[{drop: [town]}]", None), "weaker", "removed"),
            (("[{drop: [town]}]", "[{drop: [town]}, {drop: [factor]}]"), "breaking", "more"),
            (("[{drop: [town]}, {drop: [factor]}]", "[{drop: [town]}]"), "weaker", "fewer"),
        )
    ),
]
