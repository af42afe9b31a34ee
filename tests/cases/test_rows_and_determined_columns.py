"""Rows that show a column which goes with a group column of a table, or one of its group columns alone: what both give back together."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from itertools import cycle

import pytest

CASE = "t07-rows-and-table-of-one-dataset"
GIVEN = "AUDIT-EARLIER-ROWS"
#: Nobody here is real: an area, a place, and how many persons live there. Two are few.
FEW = (("a1", "b1", 8), ("a1", "b2", 9), ("a2", "b1", 7), ("a2", "b2", 2), ("a3", "b1", 9), ("a3", "b2", 8))
NAMES = {"b1": "north", "b2": "south"}

PLACES = {name: {"role": "quasi", "type": "category"} for name in ("a", "b", "bn")}
COLUMNS = {
    "id": {"role": "direct", "type": "string"},
    **PLACES,
    "x": {"role": "insensitive", "type": "integer", "domain": [0, 9]},
    "fee": {"role": "insensitive", "type": "integer", "domain": [0, 10000]},
}
DOMAINS = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2"]}


def persons(few=FEW, name=NAMES.__getitem__):
    places = [(area, place) for area, place, number in few for _ in range(number)]
    return [
        {"id": f"p{i}", "a": area, "b": place, "bn": name(place), "x": i % 3, "fee": 100 + i}
        for i, (area, place) in enumerate(places)
    ]


def source(case, rows, columns=tuple(COLUMNS), path="d.csv"):
    with (case.folder / path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def policy(
    case,
    *,
    shows=("a", "bn"),
    path="policy.yaml",
    columns=COLUMNS,
    domains=DOMAINS,
    knows=None,
    risk=0.5,
    rows=(),
    cells=(),
    dataset=(),
    **more,
):
    """Rows with some columns, and a table by area and place of which the totals are not printed."""
    known = {name: {**spec, "domain": domains[name]} if name in domains else dict(spec) for name, spec in columns.items()}
    risk = {
        "dataset": "d",
        "knows": knows or [name for name in shows if columns[name]["role"] == "quasi"],
        "highest_risk": risk,
    }
    described = {
        "apiVersion": "privrelease/v1",
        "kind": "ReleasePolicy",
        "id": "case",
        "version": "1.0.0",
        "title": "Case",
        "datasets": {
            "d": {
                "source": "d.csv",
                "population": "P",
                "unit": {"column": "id", "max_rows": 1},
                "columns": known,
                **dict(dataset),
            }
        },
        "threats": {"t": risk},
        "releases": [
            {
                "id": "rows",
                "kind": "microdata",
                "from": "d",
                "columns": list(shows),
                "protect": ["t"],
                "output": "out/rows.csv",
                **dict(rows),
            },
            {
                "id": "cells",
                "kind": "table",
                "from": "d",
                "by": ["a", "b"],
                "measures": [{"count": True}],
                "margins": False,
                "protect": {"min_count": 3},
                "output": "out/cells.csv",
                **dict(cells),
            },
        ],
        **more,
    }
    (case.folder / path).write_text(json.dumps(described, indent=1), encoding="utf-8")


def other_than(first):
    return "cells" if first == "rows" else "rows"


def both(case, first="rows"):
    """Publish one, then try the other."""
    ran = case.once("run", "policy.yaml", "--release", first)
    assert ran.code == 0, ran.err
    return case("run", "policy.yaml", "--release", other_than(first))


def outcome(case):
    return {check["id"]: check["outcome"] for check in case.audit()["checks"]}.get(GIVEN)


@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("first", ["rows", "cells"])
def test_names_of_places_count_the_persons_of_a_place(case, first, margins):
    source(case, persons())
    policy(case, cells={"margins": margins})
    ran = both(case, first)
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err
    assert "A294" in ran.err
    assert "a2 / b2" in ran.err
    again = case("run", "policy.yaml", "--release", other_than(first))
    assert (again.code, outcome(case)) == (1, "fail")
    assert not (case.folder / "out" / f"{other_than(first)}.csv").exists()


def test_a_second_run_of_everything_from_elsewhere_fails_too(case):
    source(case, persons())
    policy(case)
    assert case("run", "policy.yaml").code == 1
    elsewhere = case.folder / "elsewhere"
    elsewhere.mkdir()
    away = replace(case, folder=elsewhere)
    again = away("run", case.folder / "policy.yaml", "--state", case.folder / ".privrelease")
    assert again.code == 1, again.err
    assert "a2 / b2" in again.err
    assert outcome(case) == "fail"


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_an_edit_that_does_not_matter_changes_no_verdict(case, first):
    source(case, persons())
    policy(case)
    assert case.once("run", "policy.yaml", "--release", first).code == 0
    source(case, persons(), columns=("fee", "bn", "x", "b", "id", "a"))
    policy(case, columns=dict(reversed(COLUMNS.items())), title="Another title")
    ran = case("run", "policy.yaml", "--release", other_than(first))
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_without_names_of_places_pass(case, first):
    source(case, persons())
    policy(case, shows=("a", "x"), cells={"margins": True})
    assert (both(case, first).code, outcome(case)) == (0, "pass")


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_names_that_determine_no_place_pass(case, first):
    names = cycle(("north", "north", "south"))
    source(case, persons(name=lambda _: next(names)))
    policy(case, cells={"margins": True})
    assert (both(case, first).code, outcome(case)) == (0, "pass")


REGIONS = (("a1", "b1", 8), ("a1", "b2", 9), ("a1", "b3", 7), ("a2", "b1", 6), ("a2", "b2", 2), ("a2", "b3", 5))


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_of_a_region_are_in_one_of_its_places(case, first):
    """North has b1 and b2: who subtracts the printed b1 from the rows of north in a2 knows how many are in b2."""
    source(case, persons(REGIONS, lambda place: "south" if place == "b3" else "north"))
    policy(case, domains={"a": ["a1", "a2"], "b": ["b1", "b2", "b3"]})
    ran = both(case, first)
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err
    assert "a2 / b2" in ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_a_suppressed_place_is_read_from_its_name(case, first):
    """The five persons of a2 lose their place, and keep its name, which no threat knows."""
    source(case, persons((*FEW[:2], ("a2", "b1", 3), *FEW[3:])))
    policy(
        case,
        shows=("a", "b", "bn"),
        knows=["a", "b"],
        risk=0.2,
        rows={"transform": [{"suppress": "cells", "limit": 0.9, "weights": {"a": 9, "b": 1}}]},
        cells={"protect": {"min_count": 5}},
    )
    ran = both(case, first)
    with next(iter(case.folder.glob(".privrelease/*/*/outgoing/rows.csv"))).open(encoding="utf-8") as file:
        lost = [row for row in csv.DictReader(file) if not row["b"]]
    assert lost
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err


@pytest.mark.parametrize(("shows", "code"), [(("a", "bn"), 1), (("a", "x"), 0)])
@pytest.mark.parametrize("first", ["rows", "cells"])
def test_a_filter_of_a_place_is_read_from_its_name(case, first, shows, code):
    source(case, persons())
    policy(case, shows=shows, cells={"by": ["a"], "where": "b = 'b2'"})
    ran = both(case, first)
    assert ran.code == code, ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_a_row_whose_place_follows_adds_its_value_with_certainty(case, first):
    source(case, persons())
    policy(case, shows=("a", "bn", "x"), cells={"measures": [{"sum": "x"}]})
    ran = both(case, first)
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
@pytest.mark.parametrize(("sensitive", "code"), [(("b",), 0), (("b", "bn"), 1)])
def test_only_a_sensitive_column_may_determine_a_sensitive_one(case, first, sensitive, code):
    """That all of a group have one diagnosis is no map; that a code of diagnoses has one chapter is one. Two names are of b2."""
    names = cycle(("south", "west"))
    source(case, persons(name=lambda place: "north" if place == "b1" else next(names)))
    columns = {name: {**spec, "role": "sensitive"} if name in sensitive else spec for name, spec in COLUMNS.items()}
    policy(case, knows=["a"], columns=columns, cells={"margins": True, "protect": {"min_count": 3, "class_disclosure": False}})
    ran = both(case, first)
    assert ran.code == code, ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_an_amount_that_nobody_shares_is_no_map(case, first):
    source(case, persons())
    policy(case, shows=("a", "fee"), cells={"margins": True})
    assert (both(case, first).code, outcome(case)) == (0, "pass")


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_a_table_by_three_columns_is_counted_too(case, first):
    source(
        case,
        [{**row, "c": f"c{i % 2}"} for i, row in enumerate(persons((*FEW[:3], ("a2", "b2", 2), *FEW[4:])))],
        (*COLUMNS, "c"),
    )
    columns = {**COLUMNS, "c": {"role": "insensitive", "type": "category", "domain": ["c0", "c1"]}}
    policy(case, shows=("a", "bn", "c"), columns=columns, cells={"by": ["a", "b", "c"]})
    ran = both(case, first)
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err
    assert "a2 / b2 / c0" in ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_a_table_of_another_policy_that_does_not_declare_the_name_is_judged(case, first):
    source(case, persons())
    policy(
        case,
        path="rows.yaml",
        dataset={"unlisted_columns": "drop"},
        columns={name: one for name, one in COLUMNS.items() if name != "b"},
        cells={"by": ["a"]},
    )
    policy(
        case,
        path="cells.yaml",
        id="second",
        shows=("a", "x"),
        dataset={"unlisted_columns": "drop"},
        columns={name: one for name, one in COLUMNS.items() if name != "bn"},
    )
    assert case("run", f"{first}.yaml", "--release", first).code == 0
    ran = case("run", f"{other_than(first)}.yaml", "--release", other_than(first))
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_persons_who_joined_do_not_take_the_map_away(case, first):
    """The source of the second release is another state: two more persons, of whom the counts tell."""
    source(case, persons())
    policy(case)
    assert case.once("run", "policy.yaml", "--release", first).code == 0
    source(case, [{**row, "x": 9 - row["x"]} for row in persons()])
    ran = case("run", "policy.yaml", "--release", other_than(first))
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_by_area_count_what_a_table_without_totals_leaves_out(case, first):
    """Nine rows are of a2, and each is of b1 or b2: seven are printed, so two are not."""
    source(case, persons())
    policy(case, shows=("a",))
    ran = both(case, first)
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err
    assert "A294" in ran.err
    assert "a2 / b2" in ran.err
    again = case("run", "policy.yaml", "--release", other_than(first))
    assert (again.code, outcome(case)) == (1, "fail")
    elsewhere = case.folder / "elsewhere"
    elsewhere.mkdir()
    away = replace(case, folder=elsewhere)
    ran = away("run", case.folder / "policy.yaml", "--release", other_than(first), "--state", case.folder / ".privrelease")
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err
    assert not (case.folder / "out" / f"{other_than(first)}.csv").exists()


@pytest.mark.parametrize("seed", range(4))
def test_in_no_order_of_runs_are_rows_by_area_and_such_a_table_both_published(case, seed):
    """Runs of one, of the other and of both, edits that do not matter between them: one is published, and whatever would be the second fails."""
    draw = random.Random(seed)
    source(case, persons())
    published = set()
    for step in draw.sample(["rows", "cells", "all", "rows", "cells"], 5):
        if draw.random() < 0.5:
            rows, columns = persons(), [*COLUMNS]
            draw.shuffle(columns)
            source(case, rows, columns)
        policy(case, shows=("a",), title=f"Title {draw.random()}")
        ran = case("run", "policy.yaml", *([] if step == "all" else ["--release", step]))
        fails = step == "all" or bool(published - {step})
        assert ran.code == fails, (step, ran.err)
        if fails:
            assert "a2 / b2" in ran.err
        published = {one for one in ("rows", "cells") if (case.folder / "out" / f"{one}.csv").exists()}
        assert len(published) < 2


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_rows_by_area_beside_a_table_that_prints_their_totals_pass(case, first):
    source(case, persons())
    policy(case, shows=("a",), cells={"margins": True})
    assert (both(case, first).code, outcome(case)) == (0, "pass")
    with (case.folder / "out" / "cells.csv").open(encoding="utf-8") as file:
        lost = {(row["a"], row["b"]) for row in csv.DictReader(file) if not row["count"]}
    assert ("a2", "b2") in lost
    assert len(lost) > 3


def with_one_in(place):
    """One of the two persons of a2 and b2 is in another place, or in none: nine rows are of a2 still, and seven are printed."""
    return (*FEW[:3], ("a2", "b2", 1), ("a2", place, 1), *FEW[4:])


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_one_person_without_a_place_leaves_open_how_many_are_in_the_other(case, first):
    """Two of a2 are not printed, and who knows that somebody has no place does not know of which area: none, one or two are of b2."""
    source(case, persons(with_one_in(""), lambda _: "north"))
    policy(case, shows=("a",))
    assert (both(case, first).code, outcome(case)) == (0, "pass")


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_one_person_of_a_place_that_the_table_does_not_list_leaves_it_open_too(case, first):
    source(case, persons(with_one_in("b3"), lambda _: "north"))
    (case.folder / "places.csv").write_text("place\nb1\nb2\n", encoding="utf-8")
    policy(case, shows=("a",), domains={"a": DOMAINS["a"]}, cells={"keys": {"b": "places.csv"}})
    ran = both(case, first)
    assert (ran.code, outcome(case)) == (0, "pass"), ran.err


def dropping():
    """A dataset that leaves out whoever is in a place that its table does not list."""
    known = {
        column: {**spec, "domain": DOMAINS[column]} if column in DOMAINS else dict(spec) for column, spec in COLUMNS.items()
    }
    known["b"]["outside"] = "drop"
    return {"source": "d.csv", "population": "P", "unit": {"column": "id", "max_rows": 1}, "columns": known}


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_persons_whom_rows_and_table_both_drop_leave_nothing_open(case, first):
    source(case, persons((*FEW, ("a2", "b3", 1)), lambda _: "north"))
    policy(case, shows=("a",), dataset=dropping())
    ran = both(case, first)
    assert (ran.code, outcome(case)) == (1, "fail"), ran.err
    assert "a2 / b2" in ran.err


@pytest.mark.parametrize(("first", "code"), [("cells", 0), ("rows", 1)])
def test_persons_whom_the_table_alone_drops_leave_it_open_where_the_rows_are_audited(case, first, code):
    """The table knows its own source alone, in which each has a listed place: there the audit errs on the safe side, and takes the one for two."""
    source(case, persons(with_one_in("b3"), lambda _: "north"))
    policy(case, shows=("a",), domains={"a": DOMAINS["a"], "b": ["b1", "b2", "b3"]}, cells={"from": "narrow"})
    described = json.loads((case.folder / "policy.yaml").read_text(encoding="utf-8"))
    described["datasets"]["narrow"] = dropping()
    (case.folder / "policy.yaml").write_text(json.dumps(described), encoding="utf-8")
    assert both(case, first).code == code
