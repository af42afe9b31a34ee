"""Two releases of the same persons, each audited before the other was published: the second is not published on an audit that lacks the first."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from privrelease.release import runs
from privrelease.release.store import ReleaseStore
from tests.unit.cli.conftest import Office
from tests.unit.cli.several_releases.test_audit_against import AREA_GOES, DATA, HEAD, JOB_GOES, release
from tests.unit.cli.several_releases.test_tables_against import CELLS, COARSE, FINE, people
from tests.unit.cli.several_releases.test_tables_against import POLICY as TABLES

APPROVALS = "approvals: {required: [dpo], keys: approvers.yaml}\n"
MORE = "".join(f"q{n},west,baker,{500 + n}\n" for n in range(4))


@pytest.fixture
def office(desk):
    """Releases wait for one approval."""
    made = Office(desk)
    made.list(made.person("ann", ["dpo"]))
    desk.data(DATA)
    desk.policy(HEAD + JOB_GOES + AREA_GOES + APPROVALS)
    return made


def parked(office, name):
    """Run one release, approve it, and return its run: a copy, where a test had it before."""
    said = office.desk.run_once("--release", name)
    assert said.code == 5, said.err
    run = max(path.name for path in (office.desk.folder / ".privrelease" / "runs").iterdir())
    assert office.desk.once("approve", "policy.yaml", run, "--role", "dpo", "--key", "ann.key").code == 0
    return run


def published(office, run):
    """Publish a run that may be: a copy, where a test did so before."""
    said = office.desk.once("publish", "policy.yaml", run)
    assert said.code == 0, said.err


def state(office, run):
    return json.loads((office.internal(run) / "state.json").read_text(encoding="utf-8"))["history"][-1]["state"]


def refused(office, run, *, names):
    said = office.publish(run)
    assert said.code == 1, said.err
    assert "R167" in said.err
    assert run in said.err
    assert names in said.err
    assert "audited together" in said.err
    assert state(office, run) == "parked"


def test_of_two_parked_runs_that_intersect_the_second_is_refused_and_its_next_run_fails(office):
    first, second = parked(office, "a"), parked(office, "b")
    published(office, first)
    refused(office, second, names=f"a (run {first})")
    assert not (office.desk.folder / "out" / "b.csv").exists()
    said = office.desk.run("--release", "b")
    assert said.code == 1
    assert "A281" in said.err


def test_a_killed_publication_may_be_out_and_counts(office):
    first, second = parked(office, "a"), parked(office, "b")
    published(office, first)
    path = office.internal(first) / "state.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert [record["history"].pop()["state"], record["history"][-1]["state"]] == ["published", "publishing"]
    path.write_text(json.dumps(record), encoding="utf-8")
    refused(office, second, names=first)


def test_what_cannot_be_looked_at_any_more_is_refused_too_and_the_next_run_names_it(office):
    first, second = parked(office, "a"), parked(office, "b")
    published(office, first)
    (office.internal(first) / "audit.json").unlink()
    refused(office, second, names=first)
    assert office.publish(parked(office, "b")).code == 0


def test_the_next_run_is_audited_beside_the_first_and_is_published(office):
    first = parked(office, "a")
    office.desk.data(DATA + MORE)
    second = parked(office, "a")
    published(office, first)
    refused(office, second, names=f"a (run {first})")
    third = parked(office, "a")
    audit = json.loads((office.internal(third) / "audit.json").read_text(encoding="utf-8"))
    assert [one["run"] for one in audit["earlier"]["releases"]] == [first]
    assert office.publish(third).code == 0


def test_two_runs_of_the_same_content_are_both_published(office):
    first, second = parked(office, "a"), parked(office, "a")
    assert office.publish(first).code == 0
    assert office.publish(second).code == 0


def test_what_was_looked_at_under_another_run_of_the_same_content_is_no_other(office):
    """The same content is published once more between the audit and the publication."""
    first, again = parked(office, "a"), parked(office, "a")
    published(office, first)
    office.desk.data(DATA + MORE)
    last = parked(office, "a")
    assert office.publish(again).code == 0
    assert office.publish(last).code == 0


LEGAL = "legal: {recipients: [{id: u, name: U}, {id: v, name: V}]}\n"


def for_each(a, b):
    """A policy that gives each of its two releases to one recipient."""
    releases = release("a", "{area: 9, job: 1}", f"recipients: [{a}], ") + release(
        "b", "{area: 1, job: 9}", f"recipients: [{b}], "
    )
    return HEAD + releases + LEGAL + APPROVALS


def test_what_was_left_out_because_others_had_it_is_asked_for_once_it_is_given_to_the_same(office):
    """The file that the audit left aside is published a second time, unchanged, for those who get this one."""
    office.desk.policy(for_each("u", "v"))
    published(office, parked(office, "a"))
    second = parked(office, "b")
    office.desk.policy(for_each("v", "v"))
    again = parked(office, "a")
    assert office.publish(again).code == 0
    office.desk.policy(for_each("u", "v"))  # the parked run is of this policy
    refused(office, second, names=f"a (run {again})")
    said = office.desk.run("--release", "b")
    assert said.code == 1
    assert "A281" in said.err


def test_what_was_left_out_because_others_had_it_is_not_asked_for_where_it_is_given_to_others_again(office):
    office.desk.policy(for_each("u", "v"))
    published(office, parked(office, "a"))
    again, second = parked(office, "a"), parked(office, "b")
    assert office.publish(again).code == 0
    assert office.publish(second).code == 0


def test_where_no_recipient_holds_the_first_both_are_published(office):
    office.desk.policy(HEAD + JOB_GOES + release("b", "{area: 1, job: 9}", "recipients_hold_previous: false, ") + APPROVALS)
    first, second = parked(office, "a"), parked(office, "b")
    published(office, first)
    assert office.publish(second).code == 0


def test_older_releases_than_an_audit_looks_at_refuse_nothing(office, monkeypatch):
    monkeypatch.setattr("privrelease.pipeline.previous.published.MOST_EARLIER", 2)
    text = DATA
    for more in range(4):
        text += "".join(f"q{more}{n},area{more},baker,{1000 * (more + 1) + n}\n" for n in range(4))
        office.desk.data(text)
        if more < 3:
            office.desk.policy(HEAD + JOB_GOES)
            assert office.desk.run().code == 0
    office.desk.policy(HEAD + JOB_GOES + APPROVALS)
    assert office.desk.run().code == 5
    run = max(path.name for path in (office.desk.folder / ".privrelease" / "runs").iterdir())
    assert office.approve(run, "ann", "dpo").code == 0
    assert office.publish(run).code == 0
    audit = json.loads((office.internal(run) / "audit.json").read_text(encoding="utf-8"))
    assert audit["earlier"]["left"] == 1


def test_of_two_parked_tables_the_second_is_refused_until_it_is_protected_beside_the_first(office):
    office.desk.data(people(CELLS))
    office.desk.policy(TABLES + FINE + COARSE + APPROVALS)
    first, second = parked(office, "fine"), parked(office, "coarse")
    published(office, first)
    refused(office, second, names=f"fine (run {first})")
    assert office.publish(parked(office, "coarse")).code == 0


def test_a_table_published_meanwhile_refuses_rows_that_were_not_audited_beside_it(office):
    rows = "  - {id: r, kind: microdata, from: d, protect: [t], transform: [{suppress: cells}], output: {path: out/r.csv}}\n"
    threat = "threats:\n  t: {dataset: d, knows: [area, sex], highest_risk: 0.5}\n"
    office.desk.data(people(CELLS))
    office.desk.policy(TABLES.replace("tables:", threat + "tables:") + COARSE + rows + APPROVALS)
    first, second = parked(office, "coarse"), parked(office, "r")
    published(office, first)
    refused(office, second, names=f"coarse (run {first})")


@pytest.fixture
def meanwhile(desk, monkeypatch):
    """When release ``a`` has been audited and decided upon, a run of ``b`` comes in between, from start to publication."""
    desk.data(DATA)
    desk.policy(HEAD + JOB_GOES + AREA_GOES)
    decide = ReleaseStore.decide
    codes = []

    def decided(store, run, *rest):
        record = decide(store, run, *rest)
        if record.release == "a" and not codes:
            codes.append(None)
            codes[0] = desk.run("--release", "b").code
        return record

    monkeypatch.setattr(ReleaseStore, "decide", decided)
    return desk, codes


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_of_two_runs_at_the_same_moment_one_is_published_and_the_other_is_kept_in_quarantine(meanwhile, form):
    desk, codes = meanwhile
    said = desk.run("--release", "a", "--format", form)
    assert codes == [0]
    assert said.code == 1
    assert "R167" in said.last
    assert "audited together" in said.err
    assert [path.name for path in (desk.folder / "out").glob("*.csv")] == ["b.csv"]
    (kept,) = (desk.folder / ".privrelease" / "quarantine").iterdir()
    assert (kept / "outgoing" / "a.csv").is_file()
    if form == "json":
        (one,) = said.json["releases"]
        assert (one["became"], [finding["code"] for finding in one["findings"]]) == ("quarantined", ["R167"])
    elif form == "sarif":
        assert "R167" in said.out
    again = desk.run("--release", "a")
    assert again.code == 1
    assert "A281" in again.err


def test_a_release_parses_the_audit_of_each_run_once(desk, monkeypatch):
    for _ in range(3):
        assert desk.run().code == 0
    parsed = Counter()
    sections = runs._sections

    def counted(content, path):
        parsed[path] += 1
        return sections(content, path)

    monkeypatch.setattr(runs, "_sections", counted)
    assert desk.run().code == 0
    assert len(parsed) >= 3
    assert set(parsed.values()) == {1}
