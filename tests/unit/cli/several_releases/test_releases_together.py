"""Releases of one source that only together single someone out, from the command line: each link, order, number and name of releases."""

from __future__ import annotations

import json
import shutil

import pytest

HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: {id}
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    unit: {{column: pid, max_rows: {rows}}}
    columns:
      pid: {{role: direct, type: string}}
      age: {{role: quasi, type: integer}}
      sex: {{role: quasi, type: category}}
      reg: {{role: quasi, type: category}}
      ward: {{role: insensitive, type: integer}}
      diag: {{role: sensitive, type: category}}
threats:
  t: {{dataset: d, knows: [age, sex, reg], highest_risk: 0.5}}
releases:
"""
TOKEN = "{pseudonymise: [pid], key: PKEY}, "
#: Two persons of each age and sex, of each age and region, of each sex and region: one of each age, sex and region.
PEOPLE = [(age, sex, reg) for age in (30, 40) for sex in "FM" for reg in "ab"]
HOLD = "AUDIT-EARLIER-INTERSECT"


def data(wards=(531, 207, 918, 644, 375, 862, 150, 793), times=1):
    rows = [
        f"p{number},{age},{sex},{reg},{ward},{'xy'[number % 2]}"
        for number, ((age, sex, reg), ward) in enumerate(zip(PEOPLE, wards, strict=True))
        for _ in range(times)
    ]
    return "pid,age,sex,reg,ward,diag\n" + "\n".join(rows) + "\n"


def release(name, columns, *, more=""):
    steps = TOKEN if "pid" in columns else ""
    return (
        f"  - {{id: {name}, kind: microdata, from: d, columns: [{columns}], protect: [t], {more}"
        f"transform: [{steps}{{suppress: cells}}], output: {{path: out/{name}.csv}}}}\n"
    )


def policy(*releases, name="made", rows=1):
    return HEAD.format(id=name, rows=rows) + "".join(releases)


@pytest.fixture
def people(desk, monkeypatch):
    monkeypatch.setenv("PKEY", "k" * 40)
    desk.data(data())
    return desk


def newest(desk):
    found = sorted((desk.folder / ".privrelease").glob("[rq]*/*/internal/audit.json"), key=lambda path: path.parent.parent.name)
    return json.loads(found[-1].read_text(encoding="utf-8"))


LINKS = {
    "pseudonym": (release("a", "pid, age, sex"), release("b", "pid, reg, diag"), "pseudonym"),
    "order": (release("a", "age, sex", more="order: source, "), release("b", "reg, diag", more="order: source, "), "place"),
    "column": (release("a", "age, sex, ward"), release("b", "reg, diag, ward"), "columns"),
}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("first", ["a", "b"])
def test_whatever_links_them_the_second_fails_in_either_order_and_every_time(people, link, first):
    one, two, by = LINKS[link]
    second = "ab".replace(first, "")
    people.policy(policy(one, two))
    assert people.run("--release", first).code == 0
    for name in ("made", "renamed"):
        people.policy(policy(one, two, name=name))
        said = people.run("--release", second)
        assert said.code == 1
        assert HOLD in said.err
        assert f"with {first} (run" in said.err
        assert "8 persons can be singled out among fewer than 2 (smallest 1)" in said.err
        (beside,) = newest(people)["earlier"]["releases"]
        assert (beside["looked"], beside["linked_by"]) == ("combined", by)
    people.policy(policy(one, two))
    again = people.run("--release", first)
    assert again.code == 0, again.err


def test_a_shared_column_that_leaves_enough_records_to_each_target_passes(people):
    """Four persons have each ward, among them two of each age and two of each sex... and each region: two records remain for everyone."""
    people.data(data(wards=[0, 1, 1, 0, 1, 0, 0, 1]))
    people.policy(policy(release("a", "age, ward"), release("b", "reg, ward, diag")))
    said = people.run()
    assert said.code == 0, said.err
    assert newest(people)["earlier"]["verdict"] == "pass"


@pytest.mark.parametrize(
    "two",
    [release("b", "reg, diag"), release("b", "reg, diag").replace("[{s", "[{pseudonymise: [diag], key: PKEY}, {s")],
    ids=["disjoint", "a pseudonym that only one shows"],
)
def test_where_nothing_links_them_that_is_said(people, two):
    people.policy(policy(release("a", "pid, age, sex"), two))
    said = people.run()
    assert said.code == 0, said.err
    section = newest(people)["earlier"]
    assert ([one["looked"] for one in section["releases"]], section["verdict"]) == (["nothing_shared"], "unlinked")
    page = (people.folder / "out" / "b.report.html").read_text(encoding="utf-8")
    assert "Nothing in the files links their records" in page


def test_three_releases_of_which_each_two_hold_fail_together(people):
    people.policy(policy(release("a", "pid, age"), release("b", "pid, sex"), release("c", "pid, reg")))
    said = people.run()
    assert said.code == 1
    assert (people.folder / "out" / "b.csv").exists()
    assert not (people.folder / "out" / "c.csv").exists()
    assert "and a (run" in said.err
    assert "together, threat t: 8 persons can be singled out" in said.err


def test_releases_that_only_a_third_one_connects_fail_together(people):
    """a and c share nothing; b shares the pseudonym with a and the ward with c."""
    people.policy(policy(release("a", "pid, age"), release("b", "pid, sex, ward"), release("c", "ward, reg")))
    said = people.run()
    assert said.code == 1
    assert not (people.folder / "out" / "c.csv").exists()
    assert "together, threat t: 8 persons can be singled out" in said.err


def test_rows_of_one_person_are_joined_on_the_pseudonym_and_counted_as_one(people):
    people.data(data(times=2))
    people.policy(policy(release("a", "pid, age, sex"), release("b", "pid, reg, diag"), rows=2))
    said = people.run()
    assert said.code == 1
    assert "8 persons can be singled out among fewer than 2 (smallest 1)" in said.err


def test_rows_that_cannot_be_brought_together_are_counted_as_persons_too(people):
    """Both rows of a person have one ward, which both releases show: two rows remain, of one person."""
    people.data(data(times=2))
    people.policy(policy(release("a", "age, sex, ward"), release("b", "reg, diag, ward"), rows=2))
    said = people.run()
    assert said.code == 1
    assert "8 persons can be singled out among fewer than 2 (smallest 1)" in said.err


def test_attackers_of_either_release_are_one_where_no_threat_is_in_both(people):
    text = policy(release("a", "pid, age, sex"), release("b", "pid, reg, diag").replace("[t]", "[u]"))
    people.policy(
        text.replace("releases:\n", "  u: {dataset: d, knows: [reg], highest_risk: 0.5}\nreleases:\n").replace(
            "knows: [age, sex, reg]", "knows: [age, sex]"
        )
    )
    said = people.run()
    assert said.code == 1
    assert "8 persons can be singled out" in said.err


@pytest.mark.parametrize("link", ["pseudonym", "column", "block"])
def test_an_external_file_is_linked_by_what_it_shares_and_the_audit_fails(people, link):
    """A block: each ward has two persons of one age, one of either region, where four are asked for."""
    if link == "block":
        people.data(data(wards=[531, 531, 918, 918, 375, 375, 150, 150]))
        one, two = (text.replace("sex, ", "") for text in LINKS["column"][:2])
    else:
        one, two, _ = LINKS[link]
    risk = "0.25" if link == "block" else "0.5"
    people.policy(policy(one).replace("0.5", risk))
    assert people.run().code == 0
    shutil.copy(people.folder / "out" / "a.csv", people.folder / "theirs.csv")
    shutil.rmtree(people.folder / ".privrelease")
    (people.folder / "publications.jsonl").unlink()
    people.policy(policy(two).replace("0.5", risk))
    assert people.run().code == 0
    said = people("audit", "policy.yaml", "--release", "b", "--file", "out/b.csv", "--against", "theirs.csv")
    assert said.code == 1
    assert HOLD in said.err
