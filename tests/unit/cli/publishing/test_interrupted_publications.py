"""A command that is interrupted says what was published and what was not, although the moment of publication passed unreported."""

from __future__ import annotations

import os

import pytest

from privrelease.release.publications import Publications
from tests.unit.cli.conftest import POLICY, signed

SECOND = POLICY.partition("releases:\n")[2].replace("id: r", "id: second").replace("out/r.csv", "out/second.csv")
ONE = POLICY.replace("highest_risk: 0.2", "highest_risk: 1")

#: A signal at the very place: `current` leads to the new release, and nothing is recorded or said yet.
SIGNALLED = """
import os, signal
from privrelease.release.publications import Publications
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts the tests in the background ignores it, and children inherit that
real, seen = Publications.switch, []
def switch(self, name, folder):
    real(self, name, folder)
    seen.append(name)
    if len(seen) == {number}:
        os.kill(os.getpid(), signal.{name})
        for _ in range(10**7):
            pass
Publications.switch = switch
"""


def interrupted(fork, desk, number: int, name: str) -> str:
    ran = fork(["run", "policy.yaml", "-q"], desk.folder, dict(os.environ), SIGNALLED.format(number=number, name=name))
    assert ran.returncode == 3, ran.stderr
    return ran.stderr.splitlines()[-1]


def published(desk, release: str) -> str:
    """Return the run that is shown."""
    link = desk.folder / ".privrelease" / "current" / "made" / release
    return link.resolve().parent.name


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_only_release_was_published_and_that_is_said(desk, name, fork):
    desk.policy(ONE)
    said = interrupted(fork, desk, 1, name)
    run = published(desk, "r")
    assert said == f"exit 3: input or environment: interrupted; release r was published, as run {run}"
    assert (desk.folder / "out/r.csv").exists()
    listed = desk("list", "policy.yaml", "--format", "json").json
    assert [one["state"] for one in listed["runs"]] == ["published"]


@pytest.mark.parametrize(
    ("number", "rest"),
    [(1, "; of the others nothing was published"), (2, "; before that: r (published)")],
)
def test_of_two_releases_each_is_said_to_be_what_it_is(desk, number, rest, fork):
    desk.policy(ONE + SECOND)
    name = ("r", "second")[number - 1]
    said = interrupted(fork, desk, number, "SIGINT")
    assert (
        said == f"exit 3: input or environment: interrupted; release {name} was published, as run {published(desk, name)}{rest}"
    )
    assert (desk.folder / "out/second.csv").exists() == (number == 2)


def test_an_interruption_before_the_moment_says_that_nothing_was_published(desk, monkeypatch):
    desk.policy(ONE)
    assert desk.run().code == 0
    before = published(desk, "r")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Publications, "switch", stop)
        said = desk.run()
    assert (said.code, published(desk, "r")) == (3, before), "what was published before stays, and is no news"
    assert said.last == "exit 3: input or environment: interrupted; nothing was published by what was interrupted"


def test_a_publication_by_hand_that_is_interrupted_after_its_moment_says_so(office, monkeypatch):
    run = signed(office)

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Publications, "_settle", stop)
        said = office.publish(run)
    assert said.code == 3
    assert said.last == f"exit 3: input or environment: interrupted; release r was published, as run {run}"


def test_an_interruption_while_the_end_is_written_does_not_deny_what_was_published(desk, monkeypatch):
    desk.policy(ONE)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("privrelease.cli.commands.run.for_pipeline", stop)
    said = desk.run()
    assert said.code == 3
    assert said.last == "exit 3: input or environment: interrupted; before that: r (published)"


#: A signal whose exception a library drops, or gives back as an error of its own, before the run has come to its publication.
LOST = """
import os, signal
import privrelease.pipeline.run as module
signal.signal(signal.SIGINT, signal.default_int_handler)
real, seen = module._since_previous, []
def since(work, release, audit):
    seen.append(release.id)
    if seen[-1] == {release!r}:
        try:
            os.kill(os.getpid(), signal.{name})
            for _ in range(10**7):
                pass
        except KeyboardInterrupt:
            {lost}
    return real(work, release, audit)
module._since_previous = since
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    "lost", ["pass", "import duckdb; raise duckdb.InvalidInputException('made up') from None", "raise ValueError from None"]
)
def test_a_signal_that_a_library_swallows_publishes_nothing_more(desk, name, lost, fork):
    desk.policy(ONE + SECOND)
    ran = fork(["run", "policy.yaml", "-q"], desk.folder, dict(os.environ), LOST.format(release="second", name=name, lost=lost))
    assert ran.returncode == 3, ran.stderr
    assert "interrupted" in ran.stderr.splitlines()[-1]
    assert "fault of ours" not in ran.stderr
    assert (desk.folder / "out/r.csv").exists()
    assert not (desk.folder / "out/second.csv").exists()
    again = desk.run()
    assert again.code == 0, "nothing is left that stands in the way"


def test_the_releases_after_a_swallowed_signal_are_not_begun(desk, fork):
    desk.policy(ONE + SECOND)
    ran = fork(
        ["run", "policy.yaml", "-q"], desk.folder, dict(os.environ), LOST.format(release="r", name="SIGINT", lost="pass")
    )
    assert (ran.returncode, (desk.folder / "out").exists() and list((desk.folder / "out").iterdir())) in ((3, False), (3, []))
