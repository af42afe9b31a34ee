"""Many processes at one ledger, and processes that die: nothing is overspent, and nothing comes back."""

from __future__ import annotations

import os
import signal
import time

from privrelease.ledger.open import create_ledger, open_ledger
from privrelease.ledger.verify import verify
from privrelease.units import Epsilon
from tests.depth import depth


def test_of_many_processes_that_race_for_a_budget_that_fits_ten_exactly_ten_succeed(durable) -> None:
    durable.create("1")
    many = depth(20, 50)
    out, err = durable.run("race.py", str(many), "0.1").communicate(timeout=120)
    assert out.split() == ["0"] * 10 + ["4"] * (many - 10), err
    ledger = durable.open()
    assert ledger.balance("patients").spent.epsilon == Epsilon(1)
    assert len({entry.body["claim"]["run"] for entry in ledger.book().entries if entry.kind == "reserve"}) == 10
    assert not verify(ledger).problems


def test_of_two_processes_that_ask_for_more_than_half_at_once_one_is_refused_every_time(tmp_path, budget, racing) -> None:
    times = depth(8, 20)
    for number in range(times):
        create_ledger(
            f"sqlite:///{number}.db", populations={"patients": budget("1.0")}, datasets={"visits": "patients"}, folder=tmp_path
        )
    out, err = racing("sqlite:///{}.db").run("race.py", "2", "0.6", str(times)).communicate(timeout=120)
    assert out.splitlines() == ["0 4"] * times, err
    for number in range(times):
        assert open_ledger(f"sqlite:///{number}.db", folder=tmp_path).balance("patients").spent == budget("0.6")


def test_a_process_killed_between_reserve_and_commit_gives_nothing_back(durable, claim) -> None:
    durable.create("1")
    process = durable.run("spend.py", "0.6")
    assert process.stdout.readline() == "1\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    ledger = durable.open()
    assert ledger.balance("patients").spent.epsilon == Epsilon("0.6")
    assert ledger.answer("q1") is None
    assert not verify(ledger).problems
    ledger.reserve(claim("0.4"))


def test_a_kill_at_any_moment_of_a_reservation_loses_nothing_that_was_granted(durable) -> None:
    durable.create("1000")
    told = 0
    for kills, delay in enumerate(depth((0.0, 0.007), (0.0, 0.003, 0.007, 0.011)), 1):
        process = durable.run("spend.py", "1")
        process.stdout.readline()
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        told += 1 + len(process.stdout.read().split())  # not communicate, which passes over what readline has read ahead
        process.communicate()
        ledger = durable.open()
        spent = ledger.balance("patients").spent.epsilon.value
        # one more of each may be on disk and not yet told; a server may finish it after its client is dead
        assert spent - told in range(kills + 1)
        assert not verify(ledger).problems


def test_a_writer_that_waits_too_long_is_told_so_and_spends_nothing(durable, claim) -> None:
    import pytest
    import sqlalchemy

    from privrelease.errors import BudgetError
    from privrelease.ledger.locations import place_of

    durable.create("1")
    ledger = durable.open(patience=0.2)
    engine = place_of(durable.url, durable.folder, os.environ).engine()
    with engine.begin() as other:
        other.execute(sqlalchemy.text("UPDATE privrelease_ledger SET format = 1"))
        with pytest.raises(BudgetError, match=r"L108 .* is busy"):
            ledger.reserve(claim("0.1"))
    ledger.reserve(claim("0.1"))
    assert ledger.balance("patients").spent.epsilon == Epsilon("0.1")
