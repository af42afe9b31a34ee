"""Rows and a table of the same persons for different recipients: who holds both, and what keeps the two apart."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cases.test_rows_and_table import CASE, GIVEN, few, other_than, outcome, policy, source

__all__ = ["CASE"]

LEGAL = "legal: {recipients: [{id: lab, name: A laboratory}, {id: press, name: The press}, {id: all_of_us, name: All, access: public}]}\n"


def given(rows, cells, legal=LEGAL):
    return policy(
        "" if rows is None else f", recipients: {rows}", "" if cells is None else f", recipients: {cells}", extra=legal
    ).replace("class_disclosure: false", "class_disclosure: true")


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_releases_for_nobody_in_common_are_named_and_not_combined(case, first):
    source(case, few())
    case.policy(given("[lab]", "[press]"))
    assert case.once("run", "policy.yaml", "--release", first).code == 0
    ran = case("run", "policy.yaml", "--release", other_than(first))
    assert ran.code == 0, ran.err
    audit = case.audit()
    assert audit["earlier"]["releases"][0]["looked"] == "not_held"
    assert any("Whether no one gets both" in text for text in audit["decision"]["assessment_remaining"])
    assert GIVEN not in {check["id"] for check in audit["checks"]}


@pytest.mark.parametrize(("rows", "cells"), [("[lab]", None), (None, "[press]"), ("[lab, press]", "[press]"), (None, None)])
def test_releases_that_somebody_may_have_both_of_are_combined(case, rows, cells):
    source(case, few())
    case.policy(given(rows, cells))
    valid = case("validate", "policy.yaml")
    assert valid.code == 0
    assert "P550" in valid.out + valid.err
    assert case("run", "policy.yaml").code == 1
    assert outcome(case) == "fail"


def test_no_warning_where_recipients_differ_or_rows_lack_a_group_column(case):
    for text in (
        given("[lab]", "[press]"),
        policy(drop="{drop: [allergic]}, "),
        policy(by="district"),
        policy(by="allergic"),
    ):
        case.policy(text)
        said = case("validate", "policy.yaml")
        assert ("P550" in said.out + said.err) == ("by: [allergic]" in text)


@pytest.mark.parametrize(
    ("rows", "legal", "code"),
    [
        ("[labs]", LEGAL, "P551"),
        ("[lab]", "", "P551"),
        ("[all_of_us]", LEGAL, "P553"),
        ("[public]", "legal: {recipients: [{id: public, name: Everybody}]}\n", "P553"),
        ("[lab]", "legal: {recipients: [{id: lab, name: A}, {id: lab, name: B}]}\n", "P552"),
        ("[lab]", "legal: {recipients: [{id: lab, name: The Lab}, {id: other, name: ' the  lab'}]}\n", "P608"),
    ],
)
def test_recipients_that_are_nobody_twice_or_everybody_are_refused(case, rows, legal, code):
    case.policy(given(rows, None, legal))
    said = case("validate", "policy.yaml")
    assert said.code == 2
    assert code in said.out + said.err


def test_ids_of_another_policy_keep_nothing_apart(case):
    source(case, few())
    case.policy(given("[lab]", "[press]"))
    assert case.once("run", "policy.yaml", "--release", "rows").code == 0
    text = (case.folder / "policy.yaml").read_text(encoding="utf-8")
    other = (
        text.replace("id: case", "id: second").replace("out/cells.csv", "out/other.csv").replace("out/rows.csv", "out/more.csv")
    )
    (case.folder / "second.yaml").write_text(other, encoding="utf-8")
    assert case("run", "second.yaml", "--release", "cells").code == 1
    assert outcome(case) == "fail"


def test_recipients_do_not_read_who_else_gets_a_release(case):
    source(case, few())
    case.policy(given("[lab]", "[press]"))
    assert case.once("run", "policy.yaml", "--release", "rows").code == 0
    assert case.audit()["data"]["recipients"] == ["lab"]
    (run,) = (case.folder / ".privrelease" / "runs").iterdir()
    said = case("report", run, "--format", "json", "--edition", "recipient")
    assert said.code == 0, said.err
    assert "recipients" not in json.loads(said.out)["data"]


WHO = "legal: {recipients: [{id: lab, name: A laboratory}, {id: press, name: The press}, {id: archive, name: An archive}]}\n"
#: The same rows under another id and at another path.
RENAMED = (("id: rows,", "id: more,"), ("out/rows.csv", "out/more.csv"))


def give(case, release=None, *, rows="[lab]", cells="[press]", changed=(), options=()):
    """Publish what a policy gives to these recipients: one of its releases, or rows and then cells; a copy, where a test did so before."""
    text = given(rows, cells, WHO)
    for old, new in changed:
        assert old in text
        text = text.replace(old, new)
    case.policy(text)
    return case.once("run", "policy.yaml", *(() if release is None else ("--release", release)), *options).code


@pytest.mark.parametrize(
    ("before", "changed"),
    [
        pytest.param([("rows", "[press]")], (), id="to the press before"),
        pytest.param([("rows", None)], (), id="to anybody before"),
        pytest.param([("rows", "[press]")], RENAMED, id="under another id and path"),
        pytest.param([("rows", "[press]"), ("rows", "[lab]"), ("rows", "[archive]")], (), id="three times before"),
    ],
)
def test_who_got_the_same_rows_before_still_has_them(case, before, changed):
    source(case, few())
    for release, recipients in before:
        assert give(case, release, rows=recipients) == 0
    assert give(case, changed=changed) == 1
    audit = case.audit()
    assert (audit["identity"]["release"], outcome(case)) == ("cells", "fail")
    assert not (case.folder / "out" / "cells.csv").exists()


@pytest.mark.parametrize("first", ["rows", "cells"])
def test_who_got_either_before_it_was_withdrawn_still_has_it(case, first):
    source(case, few())
    other = other_than(first)
    assert give(case, first, **{first: "[press]"}) == 0
    assert case("withdraw", "policy.yaml", first, "--reason", "too early").code == 0
    assert give(case, first, **{first: "[lab]"}) == 0
    assert give(case, other, **{first: "[lab]", other: "[press]"}) == 1
    assert outcome(case) == "fail"


def test_the_same_rows_for_others_again_and_again_keep_releases_apart(case):
    source(case, few())
    for recipients in ("[lab]", "[archive]", "[lab, archive]"):
        assert give(case, "rows", rows=recipients) == 0
    assert give(case) == 0
    assert outcome(case) is None
    assert [one["looked"] for one in case.audit()["earlier"]["releases"]] == ["not_held"]


def test_the_same_rows_as_those_of_other_persons_count_too(case):
    """The policy that gave them to the press calls dataset, population and policy otherwise, and read another file."""
    source(case, few())
    (case.folder / "copy.csv").write_text((case.folder / "input.csv").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    text = given("[press]", "[press]", WHO)
    for old, new in (("  a:\n", "  b:\n"), ("dataset: a", "dataset: b"), ("from: a", "from: b"), *RENAMED):
        text = text.replace(old, new)
    path = case.policy(text.replace("population: p", "population: q").replace("input.csv", "copy.csv"), "second.yaml")
    path.write_text(path.read_text(encoding="utf-8").replace("id: case", "id: second"), encoding="utf-8")
    assert case("run", "second.yaml", "--release", "more").code == 0
    assert give(case) == 1
    assert outcome(case) == "fail"


def test_a_publication_whose_recipients_cannot_be_read_was_to_anybody(case):
    source(case, few())
    assert give(case, "rows", rows="[archive]") == 0
    (run,) = (case.folder / ".privrelease" / "runs").iterdir()
    (run / "internal" / "audit.json").unlink()
    assert give(case) == 1
    assert outcome(case) == "fail"


def test_what_another_state_folder_gave_waits_for_a_person_and_counts_once_it_is_brought(case):
    source(case, few())
    assert give(case, "rows", rows="[press]", options=("--state", "first")) == 0
    assert give(case, "rows", options=("--state", ".privrelease")) == 0
    assert give(case, "cells") == 5
    (run,) = (case.folder / "first" / "runs").iterdir()
    shutil.copytree(run, case.folder / ".privrelease" / "runs" / run.name)
    assert give(case, "cells") == 1
    assert outcome(case) == "fail"


def test_one_name_is_one_recipient_whatever_its_id(case):
    source(case, few())
    assert give(case, "rows") == 0
    swapped = (("name: A laboratory", "name: X"), ("name: The press", "name: ' a  LABORATORY'"))
    assert give(case, "cells", changed=swapped) == 1
    assert outcome(case) == "fail"
    assert give(case, "cells", changed=(("name: A laboratory", "name: X"),)) == 0
