"""What every change of statistics and tables must read as."""

from __future__ import annotations

from typing import Any

from tests.unit.policy.changes.diff_keys import Base, Row, rows
from tests.unit.policy.changes.diff_rows_data import GIVEN_TO, HEAD

FIGURES: Base = HEAD | {
    "datasets": {
        "patients": {
            "source": "data/patients.csv",
            "unit": {"column": "patient", "max_rows": "2", "max_groups": "1"},
            "columns": {
                "patient": {"role": "direct", "type": "string"},
                "age": {"role": "quasi", "type": "integer", "domain": {"range": "[0, 100]"}},
                "size": {"role": "quasi", "type": "integer", "domain": {"range": "[0, 200]"}},
                "sex": {"role": "quasi", "type": "category", "domain": {"values": "[F, M]"}},
                "arm": {"role": "quasi", "type": "category", "domain": {"values": "[a, b, c]"}},
            },
        },
        "other": {
            "source": "data/other.csv",
            "unit": {"column": "patient", "max_rows": "2"},
            "columns": {
                "patient": {"role": "direct", "type": "string"},
                "age": {"role": "quasi", "type": "integer", "domain": {"range": "[0, 100]"}},
                "sex": {"role": "quasi", "type": "category", "domain": {"values": "[F, M]"}},
            },
        },
    },
    "releases": {
        "s": {
            "kind": "statistics",
            "from": "patients",
            "budget": {"epsilon": "2", "delta": "0.000001"},
            "queries": {"q": {"count": "true", "epsilon": "0.5"}, "r": {"sum": "age", "epsilon": "0.5"}},
            "output": "out/s.csv",
        },
        "t": {
            "kind": "table",
            "from": "patients",
            "by": "[sex, arm]",
            "measures": "[{count: true}]",
            "protect": {"min_count": "10"},
            "output": "out/t.csv",
        },
    },
}
S, Q, R, T = "releases.s", "releases.s.queries.q", "releases.s.queries.r", "releases.t"


def figures(at: str, first: Any, second: Any, verdicts: str, **other: Any) -> list[Row]:
    return rows(FIGURES, at, (first, second), verdicts, **other)


def of(release: str) -> list[Row]:
    """What releases of both kinds have."""
    at = f"releases.{release}"
    return [
        *figures(f"{at}.description", "a", "b", "added N altered N removed N"),
        *figures(f"{at}.output", "[out/x.csv]", "[out/x.csv, out/x.parquet]", "more N fewer B"),
        *figures(f"{at}.output.[].path", "[{path: out/x.csv}]", "[{path: out/y.csv}]", "altered B"),
        *figures(f"{at}.output.[].format", "[{path: out/x, format: csv}]", "[{path: out/x, format: parquet}]", "altered B"),
        *figures(f"{at}.output.[].table", "[{path: out/x.csv}]", "[{path: out/x.csv, table: x}]", "altered B"),
        *figures(f"{at}.output.[].delimiter", "[{path: out/x.csv}]", "[{path: out/x.csv, delimiter: ';'}]", "altered B"),
        *figures(
            f"{at}.output.[].decimal",
            "[{path: out/x.csv, delimiter: ';'}]",
            "[{path: out/x.csv, delimiter: ';', decimal: ','}]",
            "altered B",
        ),
        *figures("releases.new", FIGURES["releases"][release] | {"output": "out/new.csv"}, None, "added W removed B"),
    ]


def _figure(key: str, value: Any, other: str = "age", **beside: Any) -> list[Row]:
    """Another figure is another thing that leaves, whichever it was before."""
    count = ((f"{Q}.count", None), *((f"{Q}.{name}", value) for name, value in beside.items()))
    told = (f"{Q}.count", *(f"{Q}.{name}" for name in beside))
    found = [
        Row(FIGURES, f"{Q}.{key}", None, value, "weaker", only_new=count, beside=told),
        Row(FIGURES, f"{Q}.{key}", value, None, "weaker", only_old=count, beside=told),
    ]
    if isinstance(value, str):
        given = ((f"{Q}.count", None), *((f"{Q}.{name}", one) for name, one in beside.items()))
        found += figures(f"{Q}.{key}", value, other, "altered W", given=given)
    return found


NO_COUNT = (f"{Q}.count", None)
FILTER, ANOTHER = "\"sex = 'F'\"", "\"sex = 'M'\""
ROUNDED = ((f"{Q}.count", None), (f"{Q}.mean", "age"))
HISTOGRAM = ((f"{Q}.count", None), (f"{Q}.histogram", "age"))
WIDE = (*HISTOGRAM, (f"{Q}.bins", {"width": "10"}))
GAUSSIAN = ((f"{Q}.mechanism", "gaussian"),)
BY = ((f"{Q}.by", "[sex, arm]"),)
STATISTICS: list[Row] = [
    *of("s"),
    *figures("releases.s.from", "patients", "other", "altered W", given=((f"{S}.queries.r", None),)),
    *figures(f"{S}.budget.epsilon", "2", "3", "raised W lowered S"),
    *figures(f"{S}.budget.delta", "0.000001", "0.00001", "added W raised W lowered S removed S"),
    # each rule of accounting includes those before it; nothing written stands for zcdp where a query needs a delta, else for pure
    *figures(f"{S}.budget.accounting", "pure", None, "added N removed N", given=((f"{S}.budget.delta", None),)),
    *figures(f"{S}.budget.accounting", "zcdp", "pld", "added W altered W removed S"),
    *figures(f"{S}.budget.accounting", "zcdp", "approximate", "added N altered S removed N", given=GAUSSIAN),
    *figures(f"{S}.budget.accounting", "pld", "approximate", "added W altered S removed S", given=GAUSSIAN),
    *figures(f"{S}.budget.accounting", "approximate", None, "added S removed W", given=GAUSSIAN),
    *figures(f"{S}.neighbours", "add_remove", "replace", "on W off W"),
    *figures(f"{S}.queries.new", {"count": "true", "epsilon": "0.5"}, None, "added W removed B"),
    *figures(f"{S}.min_count", "5", "10", "added S raised S lowered W removed W"),
    *figures(f"{S}.min_count", "10", None, "added N removed N", given=(("tables", {"min_count": "10"}),)),
    *figures(f"{S}.groups", "json", "columns", "on B off B"),
    *figures(f"{S}.post", "[non_negative]", "[non_negative, integer]", "added N more N fewer B removed B"),
    Row(
        FIGURES,
        Q,
        {"count": "true", "epsilon": "0.5"},
        None,
        "weaker",
        said=f"{S}.queries.renamed",
        beside=(Q,),
        only_new=((f"{S}.queries.renamed", {"count": "true", "epsilon": "0.5"}),),
        line=f"{S}.queries.renamed",
        does="renamed",
    ),
    Row(FIGURES, f"{Q}.count_persons", None, "true", "weaker", only_new=(NO_COUNT,), beside=(f"{Q}.count",)),
    Row(FIGURES, f"{Q}.count_persons", "true", None, "weaker", only_old=(NO_COUNT,), beside=(f"{Q}.count",)),
    Row(FIGURES, f"{Q}.count", None, "true", "weaker", only_old=((f"{Q}.sum", "age"),), beside=(f"{Q}.sum",)),
    Row(FIGURES, f"{Q}.count", "true", None, "weaker", only_new=((f"{Q}.sum", "age"),), beside=(f"{Q}.sum",)),
    *_figure("sum", "age", "size"),
    *_figure("mean", "age", "size"),
    *_figure("variance", "age", "size"),
    *_figure("stddev", "age", "size"),
    *_figure("median", "age", "size"),
    *_figure("quantile", "age", "size", at="0.5"),
    *_figure("histogram", "age", "size", bins={"width": "10"}),
    *(
        row
        for key in ("count", "count_persons")
        for row in (
            *figures(
                f"{Q}.{key}.where",
                FILTER,
                ANOTHER,
                "added W altered W removed W",
                given=(NO_COUNT, (f"{Q}.{key}", {"column": "age"})),
            ),
            *figures(
                f"{Q}.{key}.column",
                "age",
                "arm",
                "added W altered W removed W",
                given=(NO_COUNT, (f"{Q}.{key}", {"where": FILTER})),
            ),
        )
    ),
    *figures(f"{Q}.at", "0.5", "0.9", "raised W lowered W", given=(NO_COUNT, (f"{Q}.quantile", "age"))),
    # two figures more, or fewer
    *figures(f"{Q}.interval", "false", "true", "on W off B", given=(NO_COUNT, (f"{Q}.median", "age"))),
    *figures(f"{Q}.fill", "10", "20", "added W raised W lowered W removed W", given=ROUNDED),
    *figures(f"{Q}.bins.width", "10", "20", "raised W lowered W", given=HISTOGRAM),
    *figures(f"{Q}.bins.edges", "[0, 100]", "[0, 50, 100]", "more W fewer B", given=HISTOGRAM),
    *(
        Row(
            FIGURES,
            f"{Q}.bins.{key}",
            *sides,
            "weaker",
            given=HISTOGRAM,
            beside=(f"{Q}.bins.{other}",),
            **{only: ((f"{Q}.bins.{other}", stands),)},
        )
        for key, value, other, stands in (("width", "10", "edges", "[0, 50, 100]"), ("edges", "[0, 50, 100]", "width", "10"))
        for sides, only in (((None, value), "only_old"), ((value, None), "only_new"))
    ),
    *figures(f"{Q}.by", "[sex]", "[sex, arm]", "added W more W fewer B removed B"),
    # some keys instead of all are fewer rows; those of the data are others
    Row(FIGURES, f"{Q}.keys", None, "{arm: [a, b]}", "breaking", given=((f"{Q}.by", "[arm]"),)),
    Row(FIGURES, f"{Q}.keys", "{arm: [a, b]}", None, "weaker", given=((f"{Q}.by", "[arm]"),)),
    Row(FIGURES, f"{Q}.keys", "{arm: [a]}", "{arm: [a, b]}", "weaker", given=BY, said=f"{Q}.keys.listed.arm", does="altered"),
    *(
        Row(
            FIGURES,
            f"{Q}.keys",
            *sides,
            effect,
            given=BY,
            said=f"{Q}.keys.listed.arm",
            does=does,
            within="listed.*",
            in_old=does == "removed",
        )
        for sides, effect, does in (
            (("{sex: [F]}", "{sex: [F], arm: [a]}"), "breaking", "added"),
            (("{sex: [F], arm: [a]}", "{sex: [F]}"), "weaker", "removed"),
            (("{sex: [F], arm: [a]}", "{sex: [F], arm: [a, b]}"), "weaker", "more"),
            (("{sex: [F], arm: [a, b]}", "{sex: [F], arm: [a]}"), "breaking", "fewer"),
        )
    ),
    *(
        Row(
            FIGURES,
            f"{Q}.keys",
            *sides,
            "weaker",
            given=BY,
            said=f"{Q}.keys.private",
            beside=(f"{Q}.keys.listed.arm",),
            does=does,
            within="private",
        )
        for sides, does in ((("{arm: [a]}", "private"), "false>true"), (("private", "{arm: [a]}"), "true>false"))
    ),
    # all declared keys instead of those that many share in the data: others all the same
    Row(FIGURES, f"{Q}.keys", "private", None, "weaker", given=BY, does="altered"),
    Row(FIGURES, f"{Q}.keys", None, "private", "weaker", given=BY, does="altered"),
    *figures(f"{Q}.other", "false", "true", "on W off B", given=((f"{Q}.by", "[arm]"),)),
    *figures(f"{Q}.missing", "false", "true", "on W off B", given=((f"{Q}.by", "[arm]"),)),
    *figures(f"{Q}.where", FILTER, ANOTHER, "added W altered W removed W"),
    # not given it is a share of what is left, which may be more or less
    *figures(f"{Q}.epsilon", "0.4", "0.5", "added W raised W lowered S removed W"),
    *figures(f"{Q}.share", "1", "2", "added W raised W lowered W removed W", given=((f"{Q}.epsilon", None),)),
    *figures(f"{Q}.mechanism", "laplace", "gaussian", "on W off S"),
    *figures(f"{Q}.post", "[non_negative]", "[non_negative, integer]", "added B more N fewer B removed B"),
    # it is for the forecast alone
    *figures(f"{Q}.expected_rows", "10", "20", "added N raised N lowered N removed N", given=ROUNDED),
    *figures(f"{Q}.fresh", "false", "true", "on W off S"),
    *figures(f"{Q}.description", "a", "b", "added N altered N removed N"),
]
COMMON = ("tables", {"min_count": "5", "dominance": "[2, 0.8]", "p_percent": "0.1"})
OWN = (f"{T}.protect.secondary", "true")
TABLES: list[Row] = [
    *of("t"),
    *figures("releases.t.from", "patients", "other", "altered W", given=((f"{T}.by", "[sex]"),)),
    *figures(f"{T}.by", "[sex]", "[sex, arm]", "more W fewer B"),
    *figures(f"{T}.by", "[sex, arm]", "[arm, sex]", "reordered B"),
    # a file of keys instead of the declared ones: nobody can tell from its name which cells there are
    *figures(f"{T}.keys.arm", "arms.csv", "more.csv", "added W altered W removed W", given=((f"{T}.keys.sex", "sexes.csv"),)),
    *figures(f"{T}.keys", {"arm": "arms.csv"}, None, "added W removed W", said=f"{T}.keys.arm", line=f"{T}.keys.arm"),
    *figures(f"{T}.where", FILTER, ANOTHER, "added W altered W removed W"),
    # what everybody knows to be empty: an attacker knows it too, and not to say so is to count on less
    *figures(f"{T}.impossible", "\"sex = 'F' AND arm = 'a'\"", "\"sex = 'F' AND arm = 'b'\"", "added W altered W removed W"),
    *figures(f"{T}.measures", "[{count: true}]", "[{count: true}, {sum: age}]", "more W fewer B"),
    *figures(f"{T}.measures", "[{count: true}, {sum: age}]", "[{sum: age}, {count: true}]", "reordered B"),
    *figures(f"{T}.measures.[].count", "[{count: true}]", "[{sum: age}]", "altered W"),
    *figures(f"{T}.measures.[].weight", "[{count: true}]", "[{count: true, weight: age}]", "altered W"),
    *figures(f"{T}.measures.[].sum", "[{sum: age}]", "[{sum: size}]", "altered W"),
    *figures(f"{T}.measures.[].mean", "[{mean: age}]", "[{mean: size}]", "altered W"),
    *figures(f"{T}.margins", "false", "true", "on W off B"),
    *figures(f"{T}.round_up", "5", "10", "added S raised S lowered W removed W"),
    *figures(f"{T}.round_up", "5", "7", "raised W"),
    *figures(f"{T}.protect.min_count", "10", "12", "raised S lowered W"),
    *figures(f"{T}.protect.min_count", "10", None, "added S removed W", given=(COMMON, OWN)),
    *figures(f"{T}.protect.min_count", "5", None, "added N removed N", given=(COMMON, OWN)),
    *figures(f"{T}.protect.dominance", "[1, 0.8]", None, "added S removed W"),
    *figures(f"{T}.protect.dominance", "[2, 0.8]", None, "added N removed N", given=(COMMON,)),
    *figures(f"{T}.protect.dominance", "[1, 0.8]", "[2, 0.8]", "altered S"),
    *figures(f"{T}.protect.dominance", "[1, 0.8]", "[1, 0.9]", "altered W"),
    *figures(f"{T}.protect.dominance", "[1, 0.8]", "[2, 0.9]", "altered W"),
    *figures(f"{T}.protect.p_percent", "0.1", "0.2", "added S raised S lowered W removed W"),
    *figures(f"{T}.protect.p_percent", "0.1", None, "added N removed N", given=(COMMON,)),
    *figures(f"{T}.protect.secondary", "false", "true", "on S off W"),
    *figures(f"{T}.protect.prefer", "persons", "cells", "on N off N"),
    *figures(f"{T}.protect.interval", "0.1", "0.2", "added S raised S lowered W removed W"),
    *figures(f"{T}.protect.zeros", "show", "suppress", "on S off W"),
    *figures(f"{T}.protect.class_disclosure", "false", "true", "on S off W"),
    *figures(f"{T}.protect.class_disclosure", "true", None, "added S removed W"),
    *figures(f"{T}.protect.class_disclosure", "false", None, "added W removed S"),
    *figures(f"{T}.recipients", "[u]", "[u, v]", "added W more W fewer W removed W", given=GIVEN_TO),
    *figures(f"{T}.recipients", "[u, v]", "[v, u]", "reordered N", given=GIVEN_TO),
    *figures(f"{T}.recipients_hold_previous", "false", "true", "on S off W"),
    *figures("tables", {"min_count": "5"}, None, "added S removed W"),
    *figures("tables.min_count", "5", "6", "added S raised S lowered W removed W", given=(("tables", {"p_percent": "0.1"}),)),
    *figures(
        "tables.dominance", "[1, 0.8]", "[1, 0.9]", "added S altered W removed W", given=(("tables", {"min_count": "5"}),)
    ),
    *figures("tables.dominance", "[1, 0.8]", "[2, 0.7]", "altered S", given=(("tables", {"min_count": "5"}),)),
    *figures("tables.p_percent", "0.1", "0.2", "added S raised S lowered W removed W", given=(("tables", {"min_count": "5"}),)),
]
