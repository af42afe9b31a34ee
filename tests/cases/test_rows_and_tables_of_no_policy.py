"""Rows next to tables that no policy describes any more: removed, renamed, changed since, or made by a policy that is not read. What the run kept of a
table decides, against an attacker who tries every population that fits the files and the rules that the table was published under.
"""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from itertools import product

import pytest

from privrelease.audit.tables import beside_rows
from tests.cases.test_rows_and_determined_columns import CASE, COLUMNS, GIVEN, outcome, persons, policy, source
from tests.cases.test_rows_and_several_tables import FEW, table

__all__ = ["CASE"]

PLACES = ("b1", "b2", "b3")
DOMAINS = {"a": ["a1", "a2", "a3"], "b": list(PLACES)}
#: One and one of an area are suppressed: together two, of which each is at least one.
ONES = (("a1", "b1", 1), ("a1", "b2", 1), ("a1", "b3", 20), *((area, place, 9) for area in ("a2", "a3") for place in PLACES))
#: Four and four under a minimum of five: together eight, of which none is more than four.
FOURS = (("a1", "b1", 4), ("a1", "b2", 4), *ONES[2:])
#: One and two: either may be the one.
OPEN = (("a1", "b1", 1), ("a1", "b2", 2), *ONES[2:])


def written(case, tables, ident="case", path="policy.yaml", *, rows=True, shows=("a", "x")):
    """Write a policy of rows and of these tables."""
    policy(case, shows=shows, path=path, columns=COLUMNS, domains=DOMAINS, knows=["a"])
    found = json.loads((case.folder / path).read_text(encoding="utf-8"))
    found["id"] = ident
    found["releases"] = [one for one in found["releases"] if one["id"] == "rows"] * rows + list(tables)
    if not rows:
        del found["threats"]
    (case.folder / path).write_text(json.dumps(found, indent=1), encoding="utf-8")


def cells(minimum=3, **more):
    return table("cells", ["a", "b"], protect={"min_count": minimum}, **more)


def published(case, name, path="policy.yaml"):
    ran = case("run", path, "--release", name)
    assert ran.code == 0, ran.err


def internal(case, release="cells"):
    """Return the paths of what stays inside of the published runs of a release."""
    found = case.folder.glob(".privrelease/runs/*/internal/manifest.json")
    return [
        path for path in found if json.loads((path.parent / "state.json").read_text(encoding="utf-8"))["release"] == release
    ]


def rewritten(case, change, release="cells"):
    (path,) = internal(case, release)
    written = json.loads(path.read_text(encoding="utf-8"))
    change(written)
    path.write_text(json.dumps(written, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")


# the attacker


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def released_rows(case):
    """Return the rows that the newest run made, published or not."""
    found = sorted(case.folder.glob(".privrelease/*/*/outgoing/rows.csv"), key=lambda path: path.stat().st_mtime_ns)
    return read(found[-1])


def bounds(row, minimum, step):
    """Return the counts that a cell can have by its line of the table; None: no suppressed cell is small by the rules, and all are possible."""
    if row["status"] == "shown":
        count = int(row["count"])
        return [range(max(0, count - step + 1), count + 1)]
    return [range(1, minimum), range(minimum, 99)] if minimum else [range(99)]


def splits(total, sides):
    """Yield every way to split a number of persons into cells."""
    if not sides:
        if total == 0:
            yield ()
        return
    for first in sides[0]:
        if first <= total:
            yield from ((first, *rest) for rest in splits(total - first, sides[1:]))


def follows(case, *, minimum, truth, inside=lambda _: True, step=1, places=None):
    """Return the cells below the minimum that have one count in every population that fits the rows and the tables. ``truth``: which of the suppressed
    cells are below the minimum, which the attacker is granted.
    """
    totals = {area: sum(row["a"] == area and inside(row) for row in released_rows(case)) for area in DOMAINS["a"]}
    lines = {(row["a"], row["b"]): row for row in read(case.folder / "out" / "cells.csv")}
    keys = sorted({place for _, place in lines})
    by_area = []
    for area, total in totals.items():
        sides = []
        for place in keys:
            ranges = bounds(lines[area, place], minimum, step)
            sides.append(ranges[0] if len(ranges) == 1 or (area, place) in truth else ranges[1])
        by_area.append(list(splits(total, sides)))
    fits = list(product(*by_area))
    if places is not None:
        fits = [one for one in fits if all(sum(area[keys.index(place)] for area in one) == places[place] for place in places)]
    assert fits
    found = set()
    for (i, area), (j, place) in product(enumerate(totals), enumerate(keys)):
        counts = {one[i][j] for one in fits}
        if lines[area, place]["status"] != "shown" and len(counts) == 1 and 0 < min(counts) < minimum:
            found.add((area, place))
    return found


def small(few, minimum):
    return {(area, place) for area, place, number in few if number < minimum}


def told(case, ran, known):
    """Check that the run of rows says what the attacker knows, and publishes nothing then."""
    assert ran.code == int(bool(known)), ran.err
    assert outcome(case) == ("fail" if known else "pass")
    for area, place in known:
        assert f"{area} / {place}" in ran.err
    assert (case.folder / "out" / "rows.csv").exists() == (not known)


# the policy does not describe the table any more

LATER = {
    "removed": [],
    "renamed": [{**cells(), "id": "others", "output": "out/others.csv"}],
    "of places only": [{**cells(), "by": ["b"]}],
    "with another filter": [cells(where="x = 1")],
    "rounded": [cells(round_up=3)],
    "of a higher minimum": [cells(9)],
}


@pytest.mark.parametrize("few", [ONES, OPEN], ids=["ones", "open"])
@pytest.mark.parametrize("later", LATER)
def test_rows_are_judged_by_the_rules_that_a_table_was_published_under(case, later, few):
    source(case, persons(few, NAMED.__getitem__))
    written(case, [cells()])
    published(case, "cells")
    written(case, LATER[later])
    ran = case("run", "policy.yaml", "--release", "rows")
    known = follows(case, minimum=3, truth=small(few, 3))
    assert known == (small(ONES, 3) if few is ONES else set())
    told(case, ran, known)


NAMED = {"b1": "north", "b2": "south", "b3": "east"}


@pytest.mark.parametrize("few", [FOURS, (("a1", "b1", 3), *FOURS[1:])], ids=["fours", "open"])
def test_a_minimum_that_was_lowered_since_hides_nothing(case, few):
    """By the minimum of today four are not few, and who has the table still knows that each of both suppressed cells has at most four."""
    source(case, persons(few, NAMED.__getitem__))
    written(case, [cells(5)])
    published(case, "cells")
    written(case, [cells(3)])
    ran = case("run", "policy.yaml", "--release", "rows")
    told(case, ran, follows(case, minimum=5, truth=small(few, 5)))


@pytest.mark.parametrize("few", [ONES, OPEN], ids=["ones", "open"])
@pytest.mark.parametrize("where", ["same folder", "other folder", "elsewhere"])
def test_a_table_of_a_policy_that_is_not_read_is_judged_by_its_own_rules(case, where, few):
    source(case, persons(few, NAMED.__getitem__))
    made, state = "tables.yaml", ("--state", str(case.folder / ".privrelease"))
    if where == "other folder":
        (case.folder / "deep" / "er").mkdir(parents=True)
        made = "deep/er/tables.yaml"
    written(case, [cells()], ident="tables", path=made, rows=False)
    if where == "other folder":  # outputs are next to the policy
        found = json.loads((case.folder / made).read_text(encoding="utf-8"))
        found["releases"][0]["output"] = "cells.csv"
        (case.folder / made).write_text(json.dumps(found), encoding="utf-8")
    assert case("run", made, *state, "--data-root", case.folder).code == 0
    if where == "other folder":
        (case.folder / "out").mkdir(exist_ok=True)
        shutil.copy(case.folder / "deep" / "er" / "cells.csv", case.folder / "out" / "cells.csv")
    (case.folder / made).unlink()
    written(case, [], ident="rows")
    (case.folder / "elsewhere").mkdir()
    runs = replace(case, folder=case.folder / "elsewhere") if where == "elsewhere" else case
    for _ in range(2):
        ran = runs("run", case.folder / "policy.yaml", *state)
        told(case, ran, follows(case, minimum=3, truth=small(few, 3)))


@pytest.mark.parametrize("few", [ONES, OPEN], ids=["ones", "open"])
@pytest.mark.parametrize("change", [{"where": "x < 2"}, {"round_up": 5}], ids=["filter", "rounded"])
def test_the_filter_and_the_rounding_of_a_removed_table_are_known(case, change, few):
    """By its file alone the table would not fit the rows, or have many ways to: now both orders of publication say the same."""
    rows = persons(few, NAMED.__getitem__)
    source(case, [{**one, "x": 0 if one["a"] == "a1" and one["b"] != "b3" else i % 3} for i, one in enumerate(rows)])
    written(case, [cells(**change)])
    published(case, "cells")
    written(case, [])
    ran = case("run", "policy.yaml", "--release", "rows")
    step = change.get("round_up", 1)
    known = follows(case, minimum=3, truth=small(few, 3), inside=lambda row: step > 1 or int(row["x"]) < 2, step=step)
    assert bool(known) == (few is ONES and step == 1)
    told(case, ran, known)


# several tables

TWO = (cells(), table("places", ["b"]))


@pytest.mark.parametrize("few", [FEW, (*FEW[:3], ("a2", "b2", 1), *FEW[4:])], ids=["known", "open"])
def test_two_tables_that_the_policy_does_not_have_any_more_are_judged_together_by_their_rules(case, few):
    """Without the rules any number up to seven may be in the first square's corner; that two corners are below three leaves one."""
    source(case, persons(few))
    written(case, [*TWO], shows=("a", "x"))
    for name in ("cells", "places"):
        published(case, name)
    written(case, [])
    totals = {row["b"]: int(row["count"]) for row in read(case.folder / "out" / "places.csv") if row["status"] == "shown"}
    for _ in range(2):
        ran = case("run", "policy.yaml", "--release", "rows")
        told(case, ran, follows(case, minimum=3, truth=small(few, 3), places=totals))


# descriptions that are missing, damaged, or do not fit


def without(written):
    del written["description"]


def of_other_filter(written):
    written["description"]["where"] = ["=", "x", ["integer", "1"]]


def of_other_run(written):
    written["manifest_sha256"] = "0" * 64


@pytest.mark.parametrize("change", [without, of_other_filter, of_other_run])
def test_without_a_description_that_fits_a_table_is_judged_by_its_file(case, change):
    """A filter is then not known, and rows that do not fit are left to a person."""
    few = (*ONES[:2], ("a1", "b3", 20), *ONES[3:])
    source(case, [{**one, "x": 0 if one["b"] != "b3" or i % 2 else 5} for i, one in enumerate(persons(few, NAMED.__getitem__))])
    written(case, [cells(where="x = 0")], shows=("a", "b", "x"))
    published(case, "cells")
    rewritten(case, change)
    written(case, [], shows=("a", "b", "x"))
    ran = case("run", "policy.yaml", "--release", "rows")
    assert ran.code == 5, ran.err
    assert "though both are of one source" in ran.err


def less_than_three(written):
    written["description"]["rules"]["min_count"] = 2


def no_record(written):
    written["description"]["where"] = ["like", "x"]


def no_such_column(written):
    written["description"]["by"] = ["a", "c"]


def more_keys(written):
    written["description"]["secret"] = 1


@pytest.mark.parametrize("change", [less_than_three, no_record, no_such_column, more_keys])
def test_a_description_that_is_damaged_parks_the_rows(case, change):
    source(case, persons(OPEN, NAMED.__getitem__))
    written(case, [cells()])
    published(case, "cells")
    rewritten(case, change)
    written(case, [])
    ran = case("run", "policy.yaml", "--release", "rows")
    assert ran.code == 5, ran.err
    assert "A286" in ran.err


def test_recipients_get_no_description(case):
    source(case, persons(ONES, NAMED.__getitem__))
    written(case, [cells(where="x < 7")])
    published(case, "cells")
    (path,) = internal(case)
    assert json.loads(path.read_text(encoding="utf-8"))["description"]["where"] == ["<", "x", ["integer", "7"]]
    (run,) = {one.resolve().parent for one in (case.folder / "out").iterdir()}
    shown = [one for one in run.rglob("*") if one.is_file()]
    assert any(one.name.endswith(".manifest.json") for one in shown)
    for one in shown:
        content = one.read_bytes()
        assert b'["<","x"' not in content
        assert b'"description"' not in content or not one.name.endswith(".manifest.json")
    assert GIVEN not in {check["id"] for check in case.audit()["checks"]}


# the attacker finds a judge that does not read descriptions

FAULTS = {
    "descriptions ignored": lambda patch: patch.setattr(beside_rows, "_as_made", lambda *_: None),
    "the policy's rules alone": lambda patch: patch.setattr(beside_rows, "_by_either", lambda _, now: now),
}


@pytest.mark.parametrize(("fault", "later"), [("descriptions ignored", []), ("the policy's rules alone", [cells(3)])])
def test_a_judge_that_does_not_know_the_rules_is_found(case, fault, later, monkeypatch):
    FAULTS[fault](monkeypatch)
    source(case, persons(FOURS, NAMED.__getitem__))
    written(case, [cells(5)])
    published(case, "cells")
    written(case, later)
    assert case("run", "policy.yaml", "--release", "rows").code == 0
    assert follows(case, minimum=5, truth=small(FOURS, 5))
