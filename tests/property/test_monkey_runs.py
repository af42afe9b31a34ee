"""Random policies of every kind, each run three times with edits that must not matter and with one that must.

Never a fault of ours (exit 70), never a second charge for an edit that does not matter, never a draw without a charge. Policies are drawn from
fixed seeds: 7 in the gate, which make every kind of release, edit and change, and 300 in the slow lane.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections import Counter

import pytest
from ruamel.yaml import YAML

from privrelease.cli.main import main
from tests.depth import depth

DATA = "id,sex,area,age,pay,free\n" + "".join(
    f"p{n % 90},{'FM'[n % 2]},{('north', 'south', 'east')[n % 3]},{18 + n * 7 % 60},{n * 13 % 200},{'xyz'[n * n % 3] if n % 11 else ''}\n"
    for n in range(180)
)
GATE, SLOW = depth((0, 2, 6, 10, 12, 13, 17), range(20)), range(20, 300)


# ------------------------------------------------------------------------------------------------------------------ random policies


def query(draw, name):
    """A random query; every figure, key and mechanism that a policy can ask for."""
    kinds = ["count", "count_persons", "sum", "mean", "variance", "stddev", "median", "quantile", "histogram"]
    figure = draw.choice(kinds)
    found = {"id": name}
    column = draw.choice(["age", "pay"])
    if figure in {"count", "count_persons"}:
        found[figure] = draw.choice([True, {"where": "area = 'north' AND age >= 30"}, {"column": "free"}])
    else:
        found[figure] = column
    if figure == "quantile":
        found["at"] = draw.choice([0.25, 0.9])
    if figure == "histogram":
        found["bins"] = draw.choice([{"width": 20}, {"edges": [0, 30, 60, 90]}])
    if figure in {"median", "quantile"} and draw.random() < 0.3:
        found["interval"] = True
    if draw.random() < 0.5:
        found |= keys(draw, figure)
    return found | rest(draw, figure, filtered=isinstance(found.get(figure), dict) and "where" in found[figure])


def keys(draw, figure):
    by = draw.choice([["sex"], ["area"], ["sex", "area"]])
    if figure in {"count", "count_persons", "sum", "mean"} and draw.random() < 0.4:
        return {"by": by, "keys": "private"}
    return {"by": by} | ({"keys": {"area": ["north", "south"]}} if "area" in by and draw.random() < 0.3 else {})


def rest(draw, figure, *, filtered):
    found = {}
    if draw.random() < 0.3 and not filtered:
        found["where"] = draw.choice(["sex = 'F'", "age < 50 AND sex IN ('F', 'M')", "NOT area = 'north'"])
    if figure not in {"median", "quantile"} and draw.random() < 0.4:
        found["mechanism"] = "gaussian"
    if draw.random() < 0.3:
        found["share"] = draw.choice([2, 3, 7])
    if draw.random() < 0.2:
        found["post"] = ["non_negative"]
    return found


def statistics(draw, name, dataset):
    """A random release of statistics: shares that are no finite decimal, every rule that adds up."""
    budget = {"epsilon": draw.choice([1, 0.7, 3]), "delta": 1e-5}
    rule = draw.choice([None, "approximate", "zcdp", "pld"])
    found = {
        "id": name,
        "kind": "statistics",
        "from": dataset,
        "budget": budget | ({} if rule is None else {"accounting": rule}),
        "neighbours": draw.choice(["add_remove", "add_remove", "replace"]),
        "queries": [query(draw, f"q{n}") for n in range(draw.choice([1, 2, 3, 3]))],
        "output": {"path": f"out/{name}.csv"},
    }
    if draw.random() < 0.3:
        found["min_count"] = draw.choice([5, 20])
    if draw.random() < 0.3:  # parts of which no row is in two
        found["queries"] += [{"id": f"w{sex}", "count": {"where": f"sex = '{sex}'"}, "epsilon": 0.1} for sex in "FM"]
    return found


def policy(draw):
    unit = draw.choice(
        [{"column": "id", "max_rows": 2}, {"column": "id", "max_rows": 1}, {"column": "id", "max_rows": 3, "max_groups": 1}]
    )
    columns = {
        "id": {"role": "direct", "type": "string"},
        "sex": {"role": "quasi", "type": "category", "domain": ["F", "M"]},
        "area": {"role": "quasi", "type": "category", "domain": ["north", "south", "east"]},
        "age": {"role": "quasi", "type": "integer", "domain": [0, 100]},
        "pay": {"role": "sensitive", "type": "integer", "domain": [0, 150]},
        "free": {"role": "quasi", "type": "string"},
    }
    releases = [statistics(draw, f"s{n}", "d") for n in range(draw.choice([1, 1, 2]))]
    if draw.random() < 0.4:
        releases.append(
            {
                "id": "t",
                "kind": "table",
                "from": "d",
                "by": ["sex", "area"],
                "measures": [{"count": True}],
                "protect": {"min_count": 3},
                "output": {"path": "out/t.csv"},
            }
        )
    if draw.random() < 0.4:
        releases.append(microdata(0.2 if draw.random() < 0.5 else 0.001))
    return {
        "apiVersion": "privrelease/v1",
        "kind": "ReleasePolicy",
        "id": "monkey",
        "version": "1",
        "title": "monkey",
        "datasets": {"d": {"source": "data.csv", "population": "p", "snapshot": "s1", "unit": unit, "columns": columns}},
        "threats": {"k": {"dataset": "d", "knows": ["sex", "area", "age"], "highest_risk": 0.2}},
        "releases": releases,
        "ledger": {"cap": {"epsilon": 1000, "delta": 0.1}, "url": "sqlite:///ledger.db"},
    }


def microdata(limit):
    """Rows, some of which cannot be protected within their limit: a release that fails beside those that are paid."""
    return {
        "id": "m",
        "kind": "microdata",
        "from": "d",
        "protect": ["k"],
        "transform": [{"drop": ["id", "free"]}, {"suppress": "cells", "limit": limit}],
        "output": {"path": "out/m.csv"},
    }


# ------------------------------------------------------------------------------------------------------------------------ edits


def words(document, _draw):
    document["title"] = "another title"
    document["version"] = "2"
    for release in document["releases"]:
        for one in release.get("queries", ()):
            one["description"] = "said otherwise"


def order(document, draw):
    """Keys in another order, at every depth; and releases."""

    def turned(value):
        if isinstance(value, dict):
            keys = list(value)
            draw.shuffle(keys)
            return {key: turned(value[key]) for key in keys}
        return value

    for name in list(document):
        document[name] = turned(document.pop(name))
    document["releases"] = [turned(one) for one in reversed(document["releases"])]


def group_keys(document, _draw):
    """Group columns, keys of a domain and parts of a filter in another order."""
    document["datasets"]["d"]["columns"]["area"]["domain"] = ["east", "north", "south"]
    for release in document["releases"]:
        for one in release.get("queries", ()):
            if "by" in one:
                one["by"] = one["by"][::-1]
            if one.get("where") == "age < 50 AND sex IN ('F', 'M')":
                one["where"] = "sex IN ('M', 'F') AND NOT age >= 50"


def checks(document, _draw):
    document["checks"] = [
        {"id": "C", "release": "s0", "expect": "expect_table_row_count_to_be_between", "min_value": 1, "severity": "warn"}
    ]


def roles(document, _draw):
    document["datasets"]["d"]["columns"]["pay"]["category"] = "special"
    document["releases"] = [one for one in document["releases"] if one["id"] != "t"]


def another_release(document, _draw):
    document["releases"].append(microdata(0.3) | {"id": "m2", "output": {"path": "out/m2.csv"}})


def names(document, _draw):
    """Queries and releases under other names, written to another file."""
    for number, release in enumerate(document["releases"]):
        if release["kind"] == "statistics":
            release["id"] = f"renamed{number}"
            release["output"] = {"path": f"out/renamed{number}.csv"}
            for one in release["queries"]:
                one["id"] = f"x{one['id']}"
    document.pop("checks", None)


DOES_NOT_MATTER = [words, order, group_keys, checks, roles, another_release, names]


def scale(document, _draw):
    statistics_of(document)["budget"]["epsilon"] = 0.9


def fresh(document, _draw):
    statistics_of(document)["queries"][0]["fresh"] = True


def bound(document, _draw):
    document["datasets"]["d"]["unit"]["max_rows"] += 1


def label(document, _draw):
    document["datasets"]["d"]["snapshot"] = "s2"


def missing(document, _draw):
    document["datasets"]["d"]["format"] = {"missing": ["", "NA"]}


MATTERS = [scale, fresh, bound, label, missing]


def statistics_of(document):
    return next(one for one in document["releases"] if one["kind"] == "statistics")


# ------------------------------------------------------------------------------------------------------------------------ the run


class Desk:
    def __init__(self, folder, capsys):
        self.folder, self.capsys, self.state = folder, capsys, ".privrelease"
        (folder / "data.csv").write_text(DATA, encoding="utf-8")

    def write(self, document, name="p.yaml"):
        with (self.folder / name).open("w", encoding="utf-8") as file:
            YAML(typ="safe").dump(document, file)

    def command(self, *words):
        self.capsys.readouterr()
        code = main([*words, "--state", self.state])
        return code, self.capsys.readouterr()

    def run(self, name="p.yaml"):
        code, said = self.command("run", name)
        assert code in {0, 1, 2, 3, 4, 5}, said.err
        return code, said

    def entries(self):
        with sqlite3.connect(f"file:{self.folder / 'ledger.db'}?mode=ro", uri=True) as raw:
            return [json.loads(text) for (text,) in raw.execute("SELECT entry FROM privrelease_entries ORDER BY sequence")]

    def charges(self):
        return [one for one in self.entries() if one["kind"] == "reserve"]

    def figures(self):
        return {path.name: path.read_bytes() for path in sorted((self.folder / "out").glob("*.csv"))}


def tried(desk, seed):
    """Run one policy three times; return its edits."""
    draw = random.Random(seed)
    document = policy(draw)
    desk.write(document)
    code, said = desk.command("ledger", "init", "p.yaml")
    if code == 2:  # what cannot be asked for is refused before anything is spent
        assert "p.yaml" in said.err
        return None
    assert code == 0, said.err
    desk.run()
    charged = desk.charges()
    paid = [one for one in document["releases"] if one["kind"] == "statistics"]
    assert len(charged) == len(paid), "every release of statistics is charged once"
    before = {name: content for name, content in desk.figures().items() if name.startswith("s")}
    edit = draw.choice(DOES_NOT_MATTER)
    edit(document, draw)
    place = draw.choice(["same", "file", "state", "folder"])
    name = "p.yaml"
    if place == "file":
        name = "q.yaml"
    if place == "state":
        desk.state = "elsewhere"
    if place == "folder":
        (desk.folder / "moved").mkdir()
        shutil.copy(desk.folder / "data.csv", desk.folder / "moved" / "again.csv")
        document["datasets"]["d"]["source"] = "moved/again.csv"
    desk.write(document, name)
    desk.run(name)
    assert desk.charges() == charged, f"charged for {edit.__name__}, {place}"
    after = desk.figures()
    if edit in {words, order, checks, another_release}:
        assert {one: after[one] for one in before} == before
    change = draw.choice(MATTERS)
    change(document, draw)
    desk.write(document, name)
    code, said = desk.run(name)
    more = desk.charges()
    if code != 2:
        assert len(more) > len(charged), f"{change.__name__} was not charged: {said.err}"
    committed = {one["body"]["reservation"] for one in desk.entries() if one["kind"] == "commit"}
    assert committed == {one["sequence"] for one in more}, "nothing was drawn without a charge, and every answer was stored"
    assert desk.command("ledger", "verify", name)[0] == 0
    return edit.__name__, place, change.__name__


@pytest.fixture
def desk(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


@pytest.mark.parametrize("seed", GATE)
def test_a_random_policy_is_charged_once_whatever_does_not_matter(desk, seed):
    assert tried(desk, seed) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_many_random_policies_are_charged_once_whatever_does_not_matter(desk, seed):
    tried(desk, seed)


def test_most_of_many_random_policies_are_valid(desk):
    """Else the tests above would test nothing: those of the slow lane, that is; each of the gate must be valid."""
    refused = 0
    for seed in range(0, 300, depth(60, 10)):
        desk.write(policy(random.Random(seed)))
        refused += main(["validate", "p.yaml"]) != 0
    assert refused <= depth(1, 3)


def test_the_random_policies_of_the_gate_are_of_every_kind():
    kinds = Counter(one["kind"] for seed in GATE for one in policy(random.Random(seed))["releases"])
    assert set(kinds) == {"statistics", "table", "microdata"}
