"""Publications and withdrawals that were killed half way: asked for again they are done, and nothing is left half done."""

from __future__ import annotations

import stat

import pytest

from tests.unit.cli.conftest import signed


def killed(monkeypatch, place):
    """A process that is killed at ``place``: nothing after it is done, and nothing is settled."""
    from privrelease.release.publications import Publications

    def stop(*_, **__):
        raise KeyboardInterrupt

    for name in {place, "settle_stopped"}:
        monkeypatch.setattr(Publications, name, stop)


@pytest.mark.parametrize("place", ["_link", "switch"])
def test_a_publication_that_was_killed_half_way_is_made_again_by_the_same_command(office, monkeypatch, place):
    run = signed(office)
    with monkeypatch.context() as patch:
        killed(patch, place)
        assert office.publish(run).code != 0
    assert not office.desk.released.exists()
    assert office.publish(run).code == 0
    assert office.desk.released.exists()


def test_a_publication_that_was_killed_after_its_moment_is_out_and_says_so(office, monkeypatch):
    run = signed(office)
    with monkeypatch.context() as patch:
        killed(patch, "_settle")
        assert office.publish(run).code != 0
    assert office.desk.released.exists()
    said = office.publish(run)
    assert (said.code, "is published, not parked" in said.err) == (3, True)
    assert office.desk("withdraw", "policy.yaml", "r", "--reason", "made up").code == 0


def test_a_withdrawal_that_was_killed_half_way_leaves_no_link_behind_once_it_is_asked_for_again(office, monkeypatch):
    run = signed(office)
    assert office.publish(run).code == 0
    with monkeypatch.context() as patch:
        killed(patch, "_unlink")
        assert office.desk("withdraw", "policy.yaml", "r", "--reason", "made up").code != 0
    assert not office.desk.released.exists()
    assert office.desk("withdraw", "policy.yaml", "r", "--reason", "made up").code == 3
    assert not office.desk.released.is_symlink()
    folder = office.internal(run).parent
    assert stat.S_IMODE((folder / "outgoing").stat().st_mode) == 0o700
    assert "made up" in (folder / "internal" / "state.json").read_text(encoding="utf-8")
