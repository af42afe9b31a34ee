"""A release that is published elsewhere than before says which file it takes away; a second policy of the same name takes none away."""

from __future__ import annotations

import json

from tests.unit.cli.conftest import POLICY

MOVED = POLICY.replace("out/r.csv", "out/moved.csv")


def test_a_changed_output_path_is_told(desk):
    assert desk.run_once().code == 0
    desk.policy(MOVED)
    said = desk("run", "policy.yaml")
    assert said.code == 0, said.err
    assert "out/r.csv is removed: the release was published there before" in said.err
    assert not (desk.folder / "out" / "r.csv").exists()
    assert (desk.folder / "out" / "moved.csv").is_file()
    again = desk("run", "policy.yaml", "--format", "json")
    assert "is removed" not in again.err
    desk.policy(POLICY)
    back = json.loads(desk("run", "policy.yaml", "--format", "json").out)
    assert [one["removed"] for one in back["releases"]] == [["out/moved.csv"]]


def test_an_output_path_that_stays_is_not_told(desk):
    assert desk.run_once().code == 0
    desk.policy(POLICY.replace("output: {path: out/r.csv}", "output: [{path: out/r.csv}, {path: out/s.csv}]"))
    said = desk("run", "policy.yaml")
    assert (said.code, "is removed" in said.err) == (0, False)


def test_a_second_policy_of_the_same_id_takes_no_file_away(desk):
    assert desk.run_once().code == 0
    first = (desk.folder / "out" / "r.csv").read_bytes()
    (desk.folder / "second.yaml").write_text(MOVED, encoding="utf-8")
    said = desk("run", "second.yaml")
    assert said.code == 3, said.out
    assert (
        "was published from the policy file policy.yaml, which shows it at out/r.csv: this publication would take it away"
        in said.err
    )
    assert "`id` of its own" in said.err
    assert (desk.folder / "out" / "r.csv").read_bytes() == first
    assert not (desk.folder / "out" / "moved.csv").exists()
    # with an id of its own both are there; so are they where the second replaces the first at its own place
    (desk.folder / "second.yaml").write_text(MOVED.replace("id: made", "id: second"), encoding="utf-8")
    assert desk("run", "second.yaml").code == 0
    assert (desk.folder / "out" / "r.csv").is_file()
    (desk.folder / "third.yaml").write_text(POLICY, encoding="utf-8")
    assert desk("run", "third.yaml").code == 0


def test_a_policy_that_was_renamed_or_withdrawn_stands_in_no_ones_way(desk):
    assert desk.run_once().code == 0
    (desk.folder / "policy.yaml").rename(desk.folder / "renamed.yaml")
    (desk.folder / "renamed.yaml").write_text(MOVED, encoding="utf-8")
    said = desk("run", "renamed.yaml")
    assert said.code == 0, said.err
    assert "out/r.csv is removed" in said.err
    (desk.folder / "other.yaml").write_text(POLICY, encoding="utf-8")
    assert desk("run", "other.yaml").code == 3
    assert desk("withdraw", "renamed.yaml", "r", "--reason", "replaced").code == 0
    assert desk("run", "other.yaml").code == 0
