"""The log of publications: what is known of earlier releases without the state folder, and what makes it believable."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from privrelease.release import publication_log
from privrelease.release.publications import Publications
from privrelease.release.signing import SigningKey
from tests.unit.cli.conftest import DATA, POLICY, signed

#: One more person in the south: a class of one is new between two releases.
MORE = DATA + "13,north,clerk,120\n"
STATISTICS = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: counts
version: "1"
title: Counts
datasets:
  d:
    source: data.csv
    snapshot: first
    population: q
    unit: {column: id, max_rows: 1}
    unlisted_columns: drop
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south, west]}
releases:
  - {id: s, kind: statistics, from: d, budget: {epsilon: 1}, queries: [{id: n, count: {}, epsilon: 1}], output: out/s.csv}
ledger: {cap: {epsilon: 3}, url: "sqlite:///ledger.db"}
"""


def lines(desk, name="publications.jsonl"):
    return [json.loads(line) for line in (desk.folder / name).read_text(encoding="utf-8").splitlines()]


def events(desk):
    return [line["event"] for line in lines(desk)]


def forget(desk):
    """As on a fresh runner: the repository is there, the state folder is not."""
    kept = desk.folder / "kept"
    (desk.folder / ".privrelease").rename(kept)
    return kept


def report(desk):
    (page,) = (desk.folder / ".privrelease").glob("runs/*/outgoing/r.report.html")
    return page.read_text(encoding="utf-8")


@pytest.fixture
def published(desk):
    assert desk.run_once().code == 0
    return desk


# ------------------------------------------------------------------------------------------------------------------ what is known


def test_a_publication_is_a_line_that_names_what_was_published(published):
    (line,) = lines(published)
    assert (line["event"], line["policy"], line["release"], line["dataset"]) == ("published", "made", "r", "d")
    assert line["columns"] == ["area", "job", "pay"]
    assert len(line["files"]) == 1
    assert "north" not in (published.folder / "publications.jsonl").read_text(encoding="utf-8")


def test_the_first_release_says_that_none_was_known(published):
    assert "No earlier release of the same persons was known" in report(published)
    (page,) = (published.folder / ".privrelease").glob("runs/*/internal/report.html")
    assert "No earlier release of the same persons was known" in page.read_text(encoding="utf-8")


def test_a_fresh_state_folder_parks_and_the_runs_that_are_brought_are_judged(published):
    kept = forget(published)
    published.data(MORE)
    said = published.run()
    assert said.code == 5
    assert "A291" in said.err
    assert "digest.key" in said.err
    page = report(published)
    assert "not all of them were available" in page
    assert "and holds" not in page
    for run in (kept / "runs").iterdir():
        shutil.copytree(run, published.folder / ".privrelease" / "runs" / run.name)
    shutil.copy(kept / "digest.key", published.folder / ".privrelease" / "digest.key")
    said = published.run()
    assert said.code == 1
    assert "A282" in said.err


def test_the_same_content_tells_nothing_more_on_a_fresh_runner(published):
    forget(published)
    said = published.run()
    assert said.code == 0, said.err
    assert "holds the same as this release" in report(published)


def test_releases_of_other_persons_and_statistics_do_not_park(published):
    forget(published)
    published.policy(POLICY.replace("id: made", "id: other").replace("source: data.csv", "source: data.csv\n    population: q"))
    published.data(MORE)
    (published.folder / "out").rename(published.folder / "old")
    assert published.run().code == 0


def test_of_one_population_another_policy_of_the_folder_parks_too(desk):
    named = POLICY.replace("source: data.csv", "source: data.csv\n    population: q")
    desk.policy(named)
    assert desk.run().code == 0
    forget(desk)
    desk.policy(named.replace("id: made", "id: other").replace("out/r.csv", "out/s.csv"))
    desk.data(MORE)
    said = desk.run()
    assert said.code == 5
    assert "A291" in said.err


def test_recipients_who_hold_no_previous_release_do_not_park(published):
    forget(published)
    published.data(MORE)
    published.policy(POLICY.replace("    kind: microdata", "    kind: microdata\n    recipients_hold_previous: false"))
    assert published.run().code == 0


def test_without_any_line_what_the_output_paths_show_counts(published):
    forget(published)
    (published.folder / "publications.jsonl").unlink()
    published.data(MORE)
    said = published.run()
    assert said.code == 5
    assert "what out/r.csv showed" in said.err


def test_a_copy_at_the_output_path_with_an_unknown_run_counts(published):
    kept = forget(published)
    (published.folder / "publications.jsonl").unlink()
    for path in (published.folder / "out").iterdir():
        name = path.name
        path.unlink()
        shutil.copy(next(kept.glob(f"runs/*/outgoing/{name}")), published.folder / "out" / name)
    published.data(MORE)
    said = published.run()
    assert said.code == 5
    assert "A291" in said.err


def test_a_person_can_answer_for_an_unknown_release_by_approval(office):
    desk = office.desk
    run = signed(office)
    assert office.publish(run).code == 0
    forget(desk)
    desk.data(MORE)
    run = office.run()
    assert office.approve(run, "ann", "dpo").code == office.approve(run, "bob", "steward").code == 0
    said = office.publish(run)
    assert said.code == 0, said.err
    assert events(desk) == ["published", "published"]


# -------------------------------------------------------------------------------------------------- stops, withdrawals and other hands


def test_a_crash_between_line_and_rename_is_settled_by_the_next_command(desk, monkeypatch):
    class Killed(BaseException):
        """The process ends here: nothing is caught."""

    def kill(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Publications, "switch", kill)
        patch.setattr(Publications, "settle_stopped", kill)
        with pytest.raises(Killed):
            desk.run()
    assert events(desk) == ["published"]
    assert not desk.released.exists()
    said = desk.run()
    assert said.code == 0, said.err
    assert events(desk) == ["published", "stopped", "published"]
    assert lines(desk)[0]["run"] == lines(desk)[1]["run"] != lines(desk)[2]["run"]


def test_a_withdrawal_is_a_line_and_a_withdrawn_release_still_parks(published):
    assert published("withdraw", "policy.yaml", "r", "--reason", "wrong").code == 0
    assert events(published) == ["published", "withdrawn"]
    forget(published)
    published.data(MORE)
    assert published.run().code == 5


def test_a_withdrawal_whose_line_cannot_be_written_is_recorded_by_the_next_command(published):
    log = published.folder / "publications.jsonl"
    whole = log.read_bytes()
    log.unlink()
    log.mkdir()
    said = published("withdraw", "policy.yaml", "r", "--reason", "wrong")
    assert said.code == 3
    assert "R195" in said.err
    assert not published.released.exists()
    log.rmdir()
    log.write_bytes(whole)
    assert published.run().code == 0
    assert events(published) == ["published", "withdrawn", "published"]


def test_what_another_state_folder_published_meanwhile_is_seen_under_the_lock(published, monkeypatch):
    published.data(MORE)
    own = publication_log.FileLog._locked
    wrote = []

    def late(log):
        if not wrote:
            wrote.append(1)
            other = json.loads(log.path.read_text(encoding="utf-8"))
            text = json.dumps(
                other
                | {"sequence": 1, "run": "elsewhere", "previous": publication_log._hash(log.texts()[-1]), "files": ["0" * 64]},
                sort_keys=True,
                separators=(",", ":"),
            )
            with log.path.open("a", encoding="utf-8") as file:
                file.write(text + "\n")
        return own(log)

    published.policy(POLICY.replace("highest_risk: 0.2", "highest_risk: 1"))
    monkeypatch.setattr(publication_log.FileLog, "_locked", late)
    said = published.run()
    assert said.code == 1
    assert "R167" in said.err
    assert "elsewhere" in said.err


def test_a_run_with_test_noise_has_no_line(desk):
    desk.policy(STATISTICS)
    said = desk.run("--test-noise", "1")
    assert "R128" in said.err + said.out or said.code in {1, 5}, said.err
    assert not (desk.folder / "publications.jsonl").exists()


def test_a_full_disk_publishes_nothing_and_leaves_no_part_of_a_line(published, monkeypatch):
    log = published.folder / "publications.jsonl"
    before = log.read_bytes()
    write = os.write

    def full(handle, content):
        if content.endswith(b"}\n"):
            write(handle, content[:20])
            raise OSError(28, "No space left on device")
        return write(handle, content)

    shown = published.released.read_bytes()
    monkeypatch.setattr(publication_log.os, "write", full)
    said = published.run()
    assert said.code == 3
    assert "R102" in said.err
    assert log.read_bytes() == before
    assert published.released.read_bytes() == shown


def test_the_beginning_of_a_line_of_a_killed_process_is_dropped(published):
    log = published.folder / "publications.jsonl"
    log.write_bytes(log.read_bytes() + b'{"at":"2026-')
    assert published.run().code == 0
    assert events(published) == ["published", "published"]


# -------------------------------------------------------------------------------------------------------------------- altered, cut, signed


@pytest.mark.parametrize("change", [("r.csv", "x.csv"), ('"release":"r"', '"release":"s"'), ('"sequence":0', '"sequence":3')])
def test_an_altered_line_stops_before_any_work(published, change):
    assert published.run_once().code == 0
    log = published.folder / "publications.jsonl"
    text = log.read_text(encoding="utf-8")
    if change[0] not in text:
        change = (lines(published)[0]["files"][0], "f" * 64)
    log.write_text(text.replace(*change, 1), encoding="utf-8")
    said = published.run()
    assert said.code == 3
    assert "R191" in said.err
    assert "reading the source" not in said.err


def test_a_line_that_was_cut_off_is_missed_by_the_state_folder(published):
    assert published.run_once().code == 0
    log = published.folder / "publications.jsonl"
    first = log.read_text(encoding="utf-8").splitlines(keepends=True)[0]
    log.write_text(first, encoding="utf-8")
    said = published.run()
    assert said.code == 3
    assert "R192" in said.err
    log.unlink()
    assert "R192" in published.run().err


def test_another_log_gets_the_lines_of_the_runs_that_are_here(published):
    published.policy(POLICY + "publications: other.jsonl\n")
    (published.folder / "publications.jsonl").unlink()
    assert published.run().code == 0
    assert [line["event"] for line in lines(published, "other.jsonl")] == ["published", "published"]


def test_a_state_folder_that_kept_no_log_gets_its_lines(published):
    """As version 0.1 left it: records without a line, and no log."""
    published("withdraw", "policy.yaml", "r", "--reason", "wrong")
    (published.folder / "publications.jsonl").unlink()
    for path in (published.folder / ".privrelease").glob("runs/*/internal/state.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        del record["logged"]
        path.write_text(json.dumps(record), encoding="utf-8")
    assert published.run().code == 0
    assert events(published) == ["published", "withdrawn", "published"]
    assert published.run().code == 0


def test_lines_are_signed_with_the_key_and_no_other_hand_can_add_one(desk, monkeypatch):
    key = SigningKey.generate()
    key.save(desk.folder / "log.key")
    monkeypatch.setenv("PRIVRELEASE_LOG_KEY", (desk.folder / "log.key").read_text(encoding="utf-8"))
    assert desk.run().code == 0
    assert lines(desk)[0]["signature"]["key"] == key.public.id
    assert desk.run().code == 0
    monkeypatch.delenv("PRIVRELEASE_LOG_KEY")
    assert "R194" in desk.run().err
    SigningKey.generate().save(desk.folder / "other.key")
    monkeypatch.setenv("PRIVRELEASE_LOG_KEY", (desk.folder / "other.key").read_text(encoding="utf-8"))
    forget(desk)
    said = desk.run()
    assert said.code == 3
    assert "R193" in said.err


def test_a_key_that_is_configured_later_covers_what_this_state_folder_wrote(published, monkeypatch):
    SigningKey.generate().save(published.folder / "log.key")
    monkeypatch.setenv("PRIVRELEASE_LOG_KEY", (published.folder / "log.key").read_text(encoding="utf-8"))
    assert published.run().code == 0
    assert [line.get("signature") is not None for line in lines(published)] == [False, True]
    forget(published)
    assert published.run().code == 0


def test_a_log_that_cannot_be_written_stops_before_any_work(published, monkeypatch):
    log = published.folder / "publications.jsonl"
    monkeypatch.setattr(publication_log.os, "access", lambda path, _: Path(path) != log)
    said = published.run()
    assert said.code == 3
    assert "R190" in said.err
    assert "reading the source" not in said.err


def test_a_log_in_a_folder_that_is_not_there_stops_before_any_work(desk):
    desk.policy(POLICY + "publications: logs/all.jsonl\n")
    said = desk.run()
    assert said.code == 3
    assert "R190" in said.err
    (desk.folder / "logs").mkdir()
    assert desk.run().code == 0
    assert len(lines(desk, "logs/all.jsonl")) == 1
