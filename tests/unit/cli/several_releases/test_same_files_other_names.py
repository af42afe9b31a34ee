"""Releases of the same files are of the same persons, whatever their dataset, policy or population is called."""

from __future__ import annotations

import pytest

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: {id}
version: 1.0.0
title: Made-up
datasets:
"""
DATASET = """  {name}:
    source: data.csv
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: string}}
      area: {{role: quasi, type: category, domain: [north, south]}}
      job: {{role: quasi, type: category, domain: [cook, nurse]}}
      ill: {{role: sensitive, type: category}}
"""
THREATS = "threats:\n"
THREAT = "  of_{name}: {{dataset: {name}, knows: [area, job], attacker: prosecutor, highest_risk: 0.5}}\n"
RELEASE = (
    "  - {{id: {id}, kind: microdata, from: {name}, protect: [of_{name}], "
    "transform: [{{suppress: cells, weights: {{{dear}: 5}}}}], output: {{path: out/{id}.csv}}}}\n"
)
TABLE = "  - {{id: {id}, kind: table, from: {name}, by: [{by}], margins: {margins}, measures: [{{count: true}}], protect: {{min_count: 3}}, output: {{path: out/{id}.csv}}}}\n"
#: Each alone is in classes of two by area, and of two by job; both columns name everybody.
PEOPLE = "id,area,job,ill\np-1,north,cook,flu\np-2,north,nurse,gout\np-3,south,cook,acne\np-4,south,nurse,angina\n"


@pytest.fixture
def people(desk):
    desk.data(PEOPLE)
    return desk


def one(policy, name, release, dear):
    head = HEAD.format(id=policy) + DATASET.format(name=name) + THREATS + THREAT.format(name=name)
    return head + "releases:\n" + RELEASE.format(id=release, name=name, dear=dear)


@pytest.mark.parametrize("policy", ["made", "other"])
def test_another_name_of_the_dataset_or_the_policy_hides_no_intersection(people, policy):
    people.policy(one("made", "people", "areas", "area"))
    assert people.run_once().code == 0
    people.policy(one(policy, "persons", "jobs", "job"))
    said = people.run()
    assert said.code == 1
    assert "AUDIT-EARLIER-INTERSECT" in said.err


def test_two_names_of_one_file_in_a_policy_are_of_the_same_persons(people):
    names = {"people": ("areas", "area"), "persons": ("jobs", "job")}
    text = HEAD.format(id="made") + "".join(DATASET.format(name=name) for name in names)
    text += THREATS + "".join(THREAT.format(name=name) for name in names) + "releases:\n"
    text += "".join(RELEASE.format(id=release, name=name, dear=dear) for name, (release, dear) in names.items())
    people.policy(text)
    said = people.run()
    assert said.code == 1
    assert "AUDIT-EARLIER-INTERSECT" in said.err


def test_other_files_are_of_others(people):
    people.policy(one("made", "people", "areas", "area"))
    assert people.run_once().code == 0
    people.data(PEOPLE.replace("p-", "q-"))
    people.policy(one("other", "persons", "jobs", "job"))
    said = people.run()
    assert said.code == 0, said.err


def test_tables_of_two_names_are_protected_together(people):
    rows = ["north,cook"] * 2 + ["south,cook"] * 9 + ["south,nurse"] * 9
    people.data("id,area,job,ill\n" + "".join(f"p-{n},{row},flu\n" for n, row in enumerate(rows)))
    text = HEAD.format(id="made") + DATASET.format(name="people") + DATASET.format(name="persons") + "releases:\n"
    text += TABLE.format(id="areas", name="people", by="area", margins="false")
    text += TABLE.format(id="jobs", name="persons", by="job", margins="true")
    people.policy(text)
    said = people.run()
    assert said.code == 0, said.err
    read = {name: (people.folder / "out" / f"{name}.csv").read_text(encoding="utf-8") for name in ("areas", "jobs")}
    assert "north,,,suppressed" in read["areas"]
    assert "south,,18,shown" in read["areas"]
    assert ",job,,suppressed" in read["jobs"]
