"""Stored answers leave at the end of their retention, in every ledger alike; what was spent for them stays spent."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

import pytest

from privrelease.errors import BudgetError
from privrelease.ledger.caps import before
from privrelease.ledger.memory import MemoryLedger
from privrelease.ledger.verify import verify
from privrelease.units import Epsilon

START = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened(bench, budget, clock):
    if bench.url is None:
        ledger = MemoryLedger(budget("1", "1e-5"), clock=clock)
        return lambda: ledger
    bench.create("1", clock=clock)
    return lambda: bench.open(clock=clock)


def test_answers_are_deleted_when_their_time_is_over_and_not_a_moment_before(opened, clock, claim) -> None:
    ledger = opened()
    ledger.commit(ledger.reserve(claim("0.1")), {"q1": b"12", "q2": b"13"})
    clock.now = datetime(2027, 1, 31, 12, tzinfo=UTC)
    assert ledger.forget("registry", "P1Y") == 0
    assert ledger.answer("q1") == b"12"
    clock.now = datetime(2027, 1, 31, 12, 0, 1, tzinfo=UTC)
    assert ledger.forget("registry", "P1Y") == 2
    for again in (ledger, opened()):
        assert (again.answer("q1"), again.answer("q2")) == (None, None)
        assert again.balance("patients").spent.epsilon == Epsilon("0.1")
    assert ledger.forget("registry", "P1Y") == 0


def test_answers_of_other_policies_and_younger_ones_stay(opened, clock, claim) -> None:
    ledger = opened()
    ledger.commit(ledger.reserve(claim("0.1")), {"q1": b"12"})
    other = claim("0.1", release="registry-2/counts", queries=("q3",))
    ledger.commit(ledger.reserve(other), {"q3": b"14"})
    clock.now = datetime(2026, 6, 1, tzinfo=UTC)
    ledger.commit(ledger.reserve(claim("0.1")), {"q2": b"13"})
    clock.now = datetime(2026, 7, 1, tzinfo=UTC)
    assert ledger.forget("registry", "P3M") == 1
    assert [ledger.answer(key) for key in ("q1", "q2", "q3")] == [None, b"13", b"14"]


def test_a_fresh_answer_is_kept_from_the_day_it_was_drawn(opened, clock, claim) -> None:
    ledger = opened()
    ledger.commit(ledger.reserve(claim("0.1")), {"q1": b"12"})
    clock.now = datetime(2026, 6, 1, tzinfo=UTC)
    ledger.commit(ledger.reserve(claim("0.1")), {"q1": b"13"})
    clock.now = datetime(2026, 7, 1, tzinfo=UTC)
    assert ledger.forget("registry", "P3M") == 0
    assert ledger.answer("q1") == b"13"


def test_nothing_is_written_where_nothing_is_old_and_an_entry_says_what_went(opened, clock, claim) -> None:
    ledger = opened()
    ledger.commit(ledger.reserve(claim("0.1")), {"q1": b"12"})
    head = ledger.head()
    assert ledger.forget("registry", "P1Y") == 0
    assert ledger.head() == head
    clock.now = datetime(2028, 1, 1, tzinfo=UTC)
    ledger.forget("registry", "P1Y")
    last = ledger.book().entries[-1]
    assert (last.kind, dict(last.body)) == ("forget", {"policy": "registry", "retention": "P1Y", "answers": ["q1"]})


def test_a_ledger_verifies_after_answers_went_and_one_that_is_put_back_is_told(durable, clock, claim) -> None:
    durable.create("1", clock=clock)
    ledger = durable.open(clock=clock)
    ledger.commit(ledger.reserve(claim("0.1")), {"q1": b"12"})
    clock.now = datetime(2028, 1, 1, tzinfo=UTC)
    ledger.forget("registry", "P1Y")
    assert verify(durable.open(clock=clock)).problems == ()
    durable.tamper("INSERT INTO privrelease_answers (query, answer) VALUES ('q1', '12')")
    with pytest.raises(BudgetError, match="L110"):
        durable.open(clock=clock).answer("q1")
    assert [one.code for one in verify(durable.open(clock=clock)).problems] == ["L110"]


def test_what_is_deleted_is_not_left_in_the_file(tmp_path, racing, clock, claim) -> None:
    bench = racing("sqlite:///ledger.db")
    bench.create("1", clock=clock)
    ledger = bench.open(clock=clock)
    ledger.commit(ledger.reserve(claim("0.1")), {"q1": b"a noisy answer that must go"})
    path = tmp_path / "ledger.db"
    assert b"a noisy answer that must go" in path.read_bytes()
    clock.now = datetime(2028, 1, 1, tzinfo=UTC)
    ledger.forget("registry", "P1Y")
    assert b"a noisy answer that must go" not in path.read_bytes()
    assert sqlite3.connect(path).execute("SELECT count(*) FROM privrelease_answers").fetchone() == (0,)


CASES = [
    ("2028-03-31", "P1M", "2028-02-29"),
    ("2027-03-31", "P1M", "2027-02-28"),
    ("2028-02-29", "P1Y", "2027-02-28"),
    ("2026-01-15", "P2M", "2025-11-15"),
    ("2026-01-15", "P1W1D", "2026-01-07"),
    ("2026-01-15", "P3000Y", "0001-01-01"),
    ("2026-01-15", "P999999999D", "0001-01-01"),
]


@pytest.mark.parametrize(("now", "duration", "then"), CASES)
def test_durations_are_of_the_calendar(now, duration, then) -> None:
    found = before(datetime.fromisoformat(now).replace(tzinfo=UTC), duration)
    assert found.date().isoformat() == then


@pytest.mark.parametrize("text", ["", "P", "1Y", "P1Y2", "P-1Y"])
def test_what_is_no_duration_is_refused(text) -> None:
    with pytest.raises(ValueError, match="duration"):
        before(START, text)
