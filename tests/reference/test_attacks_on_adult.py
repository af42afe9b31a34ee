"""Attacks on Adult, unprotected and protected, and on files that others made: known orders and known extremes."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from privrelease.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

PERSONS = 4000
POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: adult
version: 1.0.0
title: Adult
datasets:
  persons:
    source: persons.csv
    columns:
      sex: {role: quasi, type: category}
      age: {role: quasi, type: integer}
      race: {role: quasi, type: category}
      marital-status: {role: quasi, type: category}
      education: {role: quasi, type: category}
      native-country: {role: sensitive, type: category}
      workclass: {role: sensitive, type: category}
      occupation: {role: sensitive, type: category}
      salary-class: {role: sensitive, type: category}
threats:
  neighbour: {dataset: persons, knows: [sex, age, race, marital-status, education], highest_risk: RISK}
releases:
  - {id: r, kind: microdata, from: persons, protect: [neighbour], transform: [{suppress: cells}], output: out/r.csv}
attacks:
  sample: 4000
  control: others.csv
  singling_out: {combine: 5}
  linkability: {columns: [[sex, age, race, marital-status, education], [native-country, workclass, occupation, salary-class]]}
  inference: {target: occupation}
  record_linkage: {}
  membership: {}
"""


@pytest.fixture(scope="module")
def halves(shared: Path) -> tuple[str, list[str], list[str], list[str]]:
    """Adult's header and three sets of different persons, drawn by a hash of their place."""
    with (shared / "data" / "adult.csv").open(newline="", encoding="utf-8") as stream:
        head, *rows = [",".join(row) for row in csv.reader(stream, delimiter=";")]
    drawn = sorted(range(len(rows)), key=lambda place: sha256(str(place).encode()).digest())
    return head, *([rows[place] for place in drawn[start : start + PERSONS]] for start in (0, PERSONS, 2 * PERSONS))


def written(path: Path, head: str, rows: list[str]) -> None:
    path.write_text("\n".join([head, *rows, ""]), encoding="utf-8")


def desk(made: Path, halves) -> Path:
    head, persons, others, _ = halves
    written(made / "persons.csv", head, persons)
    written(made / "others.csv", head, others)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory, halves) -> Path:
    return desk(tmp_path_factory.mktemp("theirs"), halves)


@pytest.fixture(scope="module", autouse=True)
def _key():
    """The key of digests chooses who is attacked: with one of its own the figures are the same in every run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVRELEASE_DIGEST_KEY", "a made-up key of digests")
        yield


@pytest.fixture(scope="module")
def attacked(tmp_path_factory, halves):
    """The attacks by name on Adult with classes of at least 1, 5 and 50, each release by itself."""
    found = []
    for risk in ("1", "0.2", "0.02"):
        folder = desk(tmp_path_factory.mktemp("adult"), halves)
        (folder / "policy.yaml").write_text(POLICY.replace("RISK", risk), encoding="utf-8")
        assert main(["run", str(folder / "policy.yaml"), "--quiet"]) == 0
        newest = max(folder.glob(".privrelease/runs/*/internal/audit.json"), key=lambda path: path.stat().st_mtime_ns)
        attacks = json.loads(newest.read_bytes())["attacks"]["attacks"]
        found.append({one["attack"]: one for one in attacks})
    return found


def over(one: dict) -> float:
    """Success less control; 0 where nothing could be tried."""
    return one["advantage"]["value"]["value"] or 0


@pytest.mark.parametrize("attack", ["singling_out_multivariate", "linkability", "inference", "record_linkage", "membership"])
def test_success_less_control_falls_with_the_size_of_classes(attacked, attack):
    unprotected, five, fifty = (tried[attack] for tried in attacked)
    # every person is attacked, and by a key of the test's own: what is left of chance is the same in every run
    assert over(unprotected) > over(five) > over(fifty)
    # and not by chance: the intervals of the first and the last do not meet
    assert unprotected["advantage"]["low"]["value"] > fifty["advantage"]["high"]["value"]


def test_few_values_are_alone_in_their_column(attacked):
    made = [tried["singling_out_univariate"]["main"]["attempts"]["value"] for tried in attacked]
    assert made[0] >= made[1] >= made[2]


def audited(folder: Path, head: str, rows: list[str]) -> dict:
    """The attacks on a file that another tool made of the persons."""
    (folder / "policy.yaml").write_text(POLICY.replace("RISK", "1"), encoding="utf-8")
    written(folder / "theirs.csv", head, rows)
    told = folder / "theirs.json"
    arguments = ["audit", str(folder / "policy.yaml"), "--release", "r", "--file", str(folder / "theirs.csv")]
    main([*arguments, "-o", str(told), "--force", "--quiet"])
    return {one["attack"]: one for one in json.loads(told.read_bytes())["attacks"]["attacks"]}


def test_an_overfitted_copy_gives_members_away(folder, halves):
    head, persons, _, _ = halves
    found = audited(folder, head, persons)["membership"]
    assert found["main"]["rate"]["value"]["exact"] == "1"
    # held-out persons are called members only where a member is exactly like them
    assert found["advantage"]["low"]["value"] > 0.5


def test_an_independent_draw_tells_nothing_of_who_was_in_the_data(folder, halves):
    head, _, _, strangers = halves
    found = audited(folder, head, strangers)
    assert found["membership"]["advantage"]["low"]["value"] < 0 < found["membership"]["advantage"]["high"]["value"]
    assert abs(over(found["membership"])) < 0.1
    for attack in ("linkability", "inference"):
        assert found[attack]["advantage"]["low"]["value"] < 0 < found[attack]["advantage"]["high"]["value"]
