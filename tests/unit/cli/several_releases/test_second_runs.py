"""What a second release of the same persons says, from the command line: again, with more persons, with changes, under other rules."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.unit.cli.several_releases.test_audit_against import AREA_GOES, DATA, HEAD, JOB_GOES, release

BESIDE = "AUDIT-EARLIER-"
HOLD = {"AUDIT-EARLIER-INTERSECT": "pass", "AUDIT-EARLIER-DIFFERENCE": "pass"}


@pytest.fixture
def published(desk):
    """One release of made-up people is published."""
    desk.data(DATA)
    desk.policy(HEAD + JOB_GOES)
    assert desk.run_once().code == 0
    return desk


def runs(desk):
    return sorted((desk.folder / ".privrelease").glob("[rq]*/*/internal/audit.json"), key=lambda path: path.parent.parent.name)


def audit(desk, place=-1):
    return json.loads(runs(desk)[place].read_text(encoding="utf-8"))


def beside(document):
    return {check["id"]: check["outcome"] for check in document["checks"] if check["id"].startswith(BESIDE)}


def hint(document, code):
    return next(finding["hint"] for finding in document["findings"] if finding["code"] == code)


def words(said) -> set[str]:
    """What stands by itself in what a run says: the digits of a run's id are no cell."""
    return {*re.findall(r"\w+", said.err + said.out)}


# ------------------------------------------------------------------------------------------------------------- as a user walks through


def test_the_same_again_is_the_same_bytes_and_is_said_to_be(published):
    before = published.released.parent.joinpath("a.csv").read_bytes()
    for _ in range(2):
        said = published.run()
        assert said.code == 0, said.err
        assert (published.folder / "out" / "a.csv").read_bytes() == before
        document = audit(published)
        assert beside(document) == HOLD
        assert [one["looked"] for one in document["earlier"]["releases"]] == ["same_file"]
        assert "holds the same" in next(check["message"] for check in document["checks"] if check["id"].endswith("INTERSECT"))


def test_many_who_joined_are_no_small_group(published):
    published.data(DATA + "".join(f"q{n},west,baker,{500 + n}\n" for n in range(4)))
    said = published.run()
    assert said.code == 0, said.err
    assert beside(audit(published)) == HOLD


def test_one_who_joined_fails_and_is_told_what_to_do_without_a_cell(published):
    published.data(DATA + "q1,south,smith,500\n")
    said = published.run()
    assert said.code == 1
    document = audit(published)
    assert beside(document)["AUDIT-EARLIER-DIFFERENCE"] == "fail"
    assert "recipients_hold_previous: false" in hint(document, "A282")
    assert not {"q1", "smith", "500"} & words(said)
    assert (published.folder / "out" / "a.csv").exists()


def test_another_value_of_one_person_fails(published):
    published.data(DATA.replace("p4,south,smith,104", "p4,south,smith,999"))
    said = published.run()
    assert said.code == 1
    assert beside(audit(published))["AUDIT-EARLIER-DIFFERENCE"] == "fail"
    assert not {"p4", "smith", "999"} & words(said)


def test_other_rules_on_the_same_source_fail_and_pass_where_nobody_holds_both(published):
    other = release("a", "{area: 1, job: 9}")
    published.policy(HEAD + other)
    said = published.run()
    assert said.code == 1
    assert "recipients_hold_previous: false" in hint(audit(published), "A281")
    published.policy(HEAD + release("a", "{area: 1, job: 9}", "recipients_hold_previous: false, "))
    said = published.run()
    assert said.code == 0, said.err
    assert any("recipients_hold_previous" in text for text in audit(published)["decision"]["assessment_remaining"])


@pytest.mark.parametrize("first", [True, False], ids=["the earlier policy named it", "the later policy names it"])
def test_a_population_that_only_one_of_two_policies_names_separates_no_persons(desk, first):
    """Other bytes, so that only the words of the policies say whose rows both are of."""
    named = HEAD.replace("    unit:", "    population: members\n    unit:")
    heads = (named, HEAD) if first else (HEAD, named)
    desk.data(DATA)
    desk.policy(heads[0] + JOB_GOES)
    assert desk.run().code == 0
    top, *lines = DATA.splitlines(keepends=True)
    desk.data(top + "".join(reversed(lines)))
    desk.policy(heads[1] + release("a", "{area: 1, job: 9}"))
    said = desk.run()
    assert said.code == 1, said.err
    assert "A281" in said.err


def test_a_withdrawn_release_still_counts(published):
    assert published("withdraw", "policy.yaml", "a", "--reason", "made up").code == 0
    published.policy(HEAD + release("a", "{area: 1, job: 9}"))
    said = published.run()
    assert said.code == 1
    assert "A281" in said.err


# ------------------------------------------------------------------------------------------------------- what could not be looked at


def broken(how, folder):
    outgoing, internal = folder / "outgoing", folder / "internal"
    if how == "no audit":
        (internal / "audit.json").unlink()
    elif how == "another audit":
        (internal / "audit.json").write_text("[]", encoding="utf-8")
    elif how == "no manifest":
        next(outgoing.glob("*.manifest.json")).unlink()
    elif how == "no data":
        (outgoing / "a.csv").unlink()
    elif how == "other data":
        (outgoing / "a.csv").write_text("area,job,pay\n", encoding="utf-8")
    elif how == "no folder":
        shutil.rmtree(outgoing)


@pytest.mark.parametrize("how", ["no audit", "another audit", "no manifest", "no data", "other data", "no folder"])
def test_what_was_published_and_cannot_be_looked_at_is_left_to_a_person(published, how):
    """Two releases that intersect: the second run would fail, had it looked at the first."""
    first = next((published.folder / ".privrelease" / "runs").iterdir())
    broken(how, first)
    published.policy(HEAD + JOB_GOES + AREA_GOES)
    said = published.run("--release", "b")
    assert said.code == 5, said.err
    assert not (published.folder / "out" / "b.csv").exists()
    document = audit(published)
    assert beside(document) == {"AUDIT-EARLIER-LOOKED": "not_evaluated"}
    assert (document["decision"]["outcome"], document["earlier"]["verdict"]) == ("review", "unknown")
    assert f"could not be looked at: a (run {first.name})" in said.err
    assert "A286" in said.err
    decision = document["decision"]
    assert (decision["checks_passed"], decision["checks_not_made"]) == (decision["checks_total"], 1)
    assert any(first.name in text for text in decision["assessment_remaining"])
    assert [one["looked"] for one in document["earlier"]["releases"]] == ["unreadable"]
    report = next((published.folder / ".privrelease" / "runs").glob("*/outgoing/b.report.html"))
    assert first.name not in report.read_text(encoding="utf-8")


def test_it_only_warns_where_no_recipient_can_hold_it(published):
    broken("other data", next((published.folder / ".privrelease" / "runs").iterdir()))
    published.policy(HEAD + release("b", "{area: 1, job: 9}", "recipients_hold_previous: false, "))
    said = published.run("--fail-on", "warn")
    assert said.code == 1
    assert "A286" in said.err
    assert published.run().code == 0


def test_it_only_warns_of_the_content_that_is_released_again(published):
    """Somebody edited the published file in place: the next run of the release makes what was published, which reveals nothing more."""
    broken("other data", next((published.folder / ".privrelease" / "runs").iterdir()))
    said = published.run()
    assert said.code == 0
    assert "A286" in said.err


def test_a_broken_release_of_another_policy_and_other_files_is_no_matter_of_this_one(published):
    broken("no audit", next((published.folder / ".privrelease" / "runs").iterdir()))
    head, *lines = DATA.splitlines(keepends=True)
    published.data(head + "".join(f"other-{line}" for line in lines))
    published.policy(HEAD.replace("id: made", "id: another") + AREA_GOES)
    assert published.run().code == 0
    assert beside(audit(published)) == {}


# ----------------------------------------------------------------------------------------------------------------- which are looked at


def test_every_release_of_other_content_is_looked_at_and_older_ones_are_counted_in_both_editions(published, monkeypatch):
    """Each state of the data adds four people; with room for the newest two, older ones of other content are counted."""
    monkeypatch.setattr("privrelease.pipeline.previous.published.MOST_EARLIER", 2)
    text, seen = DATA, []
    for state in range(4):
        text += "".join(f"q{state}{n},area{state},baker,{1000 * (state + 1) + n}\n" for n in range(4))
        published.data(text)
        said = published.run()
        assert said.code == 0, said.err
        section = audit(published)["earlier"]
        seen.append((len(section["releases"]), section["left"]))
    assert seen == [(1, 0), (2, 0), (2, 1), (2, 2)]
    order = [one["run"] for one in section["releases"]]
    assert order == sorted(order, reverse=True)
    assert any("2 older releases" in rest for rest in audit(published)["decision"]["assessment_remaining"])
    assert "Older releases that were not combined" in (published.folder / "out" / "a.report.html").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------- several rows of a person


SEVERAL = HEAD.replace("max_rows: 1", "max_rows: 3") + JOB_GOES.replace("weights", "limit: 1, weights")


def several(rows):
    return "id,area,job,pay\n" + "".join(f"{who},{area},clerk,{pay}\n" for who, area, pay in rows)


def test_rows_that_may_all_be_of_one_person_are_a_small_group(desk):
    """Three rows more in one class, where a person may have three: counted as rows they were enough for two persons."""
    before = [(f"p{n}", "north", n) for n in range(4)] + [("q", "south", 7)] * 3 + [("r", "south", 8)] * 3
    desk.data(several(before))
    desk.policy(SEVERAL)
    said = desk.run()
    assert said.code == 0, said.err
    desk.data(several([*before, *[("s", "north", 9)] * 3]))
    said = desk.run()
    assert said.code == 1
    assert "1 class of fewer than 2 persons is in this release" in said.err
    desk.data(several([*before, *[("s", "north", 9)] * 3, ("t", "north", 9)]))
    said = desk.run()
    assert said.code == 0, said.err
