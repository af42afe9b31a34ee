"""Envelopes in every ledger: reserved as a whole, committed with their draws, spent whatever becomes of the run."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.envelope import Envelope, Marginal, Score
from privrelease.dp.envelope_records import EnvelopeDraw, Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Sensitivity
from privrelease.errors import BudgetError
from privrelease.ledger.entries import claim_record, read_claim
from privrelease.ledger.open import create_ledger, open_ledger
from privrelease.ledger.verify import verify
from privrelease.units import Delta, Rho

CELLS = Marginal("n", (3,))


def lent(ledger, claim, made, counts):
    return Envelope(
        claim.envelope, Setting(Contribution(1)), counts, lambda _: made.append(ledger.reserve(claim)), TestRandomness(4)
    )


def test_an_envelope_is_charged_as_a_whole_and_its_draws_are_listed_by_its_commit(bench, budget, envelope_claim, ones) -> None:
    bench.create("1")
    ledger, claim, made = bench.open(), envelope_claim("0.6"), []
    envelope = lent(ledger, claim, made, ones)
    assert ledger.balance("patients").spent == budget("0.6", "1e-6")
    envelope.measure(CELLS, Rho(claim.envelope.rho.value / 3))
    envelope.select([CELLS, CELLS], [Score(np.array([0, 1, 2]))] * 2, Rho(claim.envelope.rho.value / 3))
    draws = envelope.close()
    ledger.commit(made[0], {"q1": b"noisy"}, draws)
    again = bench.open()
    assert again.balance("patients").spent == budget("0.6", "1e-6")  # what was not used stays spent
    assert again.answer("q1") == b"noisy"
    assert again.book().from_envelope == {made[0].head.sequence: draws}
    assert [draw.mechanism for draw in draws] == ["discrete_gaussian", "exponential"]
    held = claim.envelope
    assert again.book().concentrated("patients") == (held.rho.value, held.failure.value)


def test_an_envelope_that_the_cap_does_not_cover_reserves_nothing(bench, budget, envelope_claim, ones) -> None:
    bench.create("1")
    ledger, made = bench.open(), []
    ledger.reserve(envelope_claim("0.6"))
    with pytest.raises(BudgetError, match="L120") as refused:
        lent(ledger, envelope_claim("0.5"), made, ones)
    assert refused.value.exit_code == 4
    assert made == []
    assert ledger.balance("patients").spent == budget("0.6", "1e-6")


def test_an_envelope_that_holds_more_than_it_charges_is_refused(bench, envelope_claim) -> None:
    bench.create("1")
    ledger, claim = bench.open(), envelope_claim("0.5")
    held = claim.envelope
    for wrong in (
        replace(claim, envelope=Reserved(Rho(held.rho.value * Fraction("1.001")), held.failure)),
        replace(claim, envelope=Reserved(held.rho, Delta("1e-6"))),
        replace(claim, accountant="approximate"),
    ):
        with pytest.raises(ValueError, match="envelope"):
            ledger.reserve(wrong)
    assert ledger.balance("patients").spent.epsilon.value == 0


def test_draws_that_cost_more_than_the_envelope_are_not_committed(bench, envelope_claim) -> None:
    bench.create("1")
    ledger, claim = bench.open(), envelope_claim("0.5")
    made = ledger.reserve(claim)
    one = Sensitivity.of_one_number(1)
    exactly = 1 / (2 * claim.envelope.rho.value)
    over = EnvelopeDraw("n", "cells", "discrete_gaussian", one, exactly * Fraction("0.999"), size=1)
    small = EnvelopeDraw("n", "cells", "discrete_gaussian", one, 1000 * exactly, size=1)
    for draws in ((over,), (replace(over, scale=exactly), small)):
        with pytest.raises(BudgetError, match="L136"):
            ledger.commit(made, {"q1": b"1"}, draws)
    with pytest.raises(ValueError, match="envelope"):
        ledger.commit(made, {"q1": b"1"})
    assert ledger.answer("q1") is None
    ledger.commit(made, {"q1": b"1"}, (replace(over, scale=exactly),))
    with pytest.raises(BudgetError, match="L123"):
        ledger.commit(made, {"q1": b"1"}, ())


def test_a_claim_of_draws_lists_none_from_an_envelope(bench, claim) -> None:
    bench.create("1")
    ledger = bench.open()
    made = ledger.reserve(claim("0.1"))
    with pytest.raises(ValueError, match="envelope"):
        ledger.commit(made, {"q1": b"1"}, ())
    ledger.commit(made, {"q1": b"1"})


def test_a_claim_without_an_envelope_is_written_as_before(claim, envelope_claim) -> None:
    assert "envelope" not in claim_record(claim("0.1"))
    held = envelope_claim("0.1")
    assert read_claim(claim_record(held)) == held


def test_verify_names_an_envelope_that_was_never_committed(durable, envelope_claim) -> None:
    durable.create("1")
    ledger = durable.open()
    ledger.commit(ledger.reserve(envelope_claim("0.2", run="r7")), {}, ())
    assert not verify(ledger).uncommitted
    ledger.reserve(envelope_claim("0.2", run="r8"))
    found = verify(ledger)
    assert not found.problems
    (one,) = found.uncommitted
    assert (one.code, "entry 3" in one.message, "run r8" in one.message) == ("L137", True, True)


def test_retention_forgets_the_answers_of_an_envelope_like_others(bench, envelope_claim) -> None:
    from datetime import UTC, datetime, timedelta

    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    bench.create("1")
    ledger = bench.open() if bench.url is None else bench.open(clock=lambda: now[0])
    if bench.url is None:
        ledger._clock = lambda: now[0]
    now[0] = now[0] + timedelta(days=365 * 60)
    ledger.commit(ledger.reserve(envelope_claim("0.2")), {"q1": b"1"}, ())
    now[0] += timedelta(days=31)
    assert ledger.forget("registry", "P30D") == 1
    assert ledger.answer("q1") is None
    assert ledger.balance("patients").spent.epsilon.value == Fraction("0.2")


def test_a_ledger_of_the_format_before_replays_and_takes_an_envelope(durable, claim, envelope_claim) -> None:
    durable.create("1")
    durable.open().commit(durable.open().reserve(claim("0.1")), {"q1": b"1"})
    durable.tamper("UPDATE privrelease_ledger SET format = 3")
    ledger = durable.open()
    assert ledger.answer("q1") == b"1"
    ledger.commit(ledger.reserve(envelope_claim("0.2", queries=("q3",))), {"q3": b"3"}, ())
    assert not verify(durable.open()).problems


# -------------------------------------------------------------------------------------------------------------- serving again


def kinds_of(bench) -> list[str]:
    return [entry.kind for entry in bench.open().book().entries if entry.kind in {"reserve", "commit"}]


def test_what_was_answered_once_is_served_to_every_later_run_free(bench, budget, look) -> None:
    bench.create("1")
    seen, served = look(bench.open())
    assert not served
    for _ in range(3):
        assert look(bench.open()) == (seen, True)
    assert kinds_of(bench) == ["reserve", "commit"]
    assert bench.open().balance("patients").spent == budget("0.4", "1e-6")
    assert look(bench.open(), version=2) != (seen, True)
    assert kinds_of(bench) == ["reserve", "commit"] * 2


def test_two_runs_at_one_moment_are_each_charged_and_the_later_commit_is_served(bench, budget, look) -> None:
    bench.create("1")
    inner = []

    def meanwhile(word, *_):
        if word == "measured" and not inner:
            inner.append(())  # the other run is of the same question, between this one's answers and its commit
            inner[0] = look(bench.open())

    seen, served = look(bench.open(), meanwhile)
    assert not served
    assert not inner[0][1]
    assert kinds_of(bench) == ["reserve", "reserve", "commit", "commit"]
    assert bench.open().balance("patients").spent == budget("0.8", "2e-6")
    assert look(bench.open()) == (seen, True)
    assert len(bench.open().book().answers) == 1
    if bench.url is not None:
        assert not verify(bench.open()).problems


def test_a_run_that_does_not_fit_beside_another_is_refused_and_served_once_that_is_committed(bench, budget, look) -> None:
    bench.create("0.5")

    def meanwhile(word, *_):
        if word == "measured":
            with pytest.raises(BudgetError, match="L120"):
                look(bench.open())

    seen, _ = look(bench.open(), meanwhile)
    assert look(bench.open()) == (seen, True)
    assert bench.open().balance("patients").spent == budget("0.4", "1e-6")


def test_a_stored_transcript_that_was_altered_is_not_served(durable, look) -> None:
    durable.create("1")
    look(durable.open())
    durable.tamper(
        "UPDATE privrelease_answers SET answer = 'other'"
        if "sqlite" in durable.url
        else "UPDATE privrelease_answers SET answer = 'other'::bytea"
    )
    with pytest.raises(BudgetError, match="L110"):
        look(durable.open())
    assert kinds_of(durable) == ["reserve", "commit"]


# ------------------------------------------------------------------------------------------------------------ races and kills


def line(process, word: str) -> list[str]:
    """Read lines until one begins with a word."""
    for read in process.stdout:
        if read.split()[0] == word:
            return read.split()[1:]
    raise AssertionError(process.communicate()[1])


@pytest.mark.parametrize("word", ["reserved", "measured"])
def test_a_run_that_died_before_its_commit_is_never_taken_up_again(durable, budget, look, word) -> None:
    durable.create("1")
    process = durable.run("envelope_serve.py", word)
    line(process, word)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert kinds_of(durable) == ["reserve"]
    assert not durable.open().book().answers
    assert durable.open().balance("patients").spent == budget("0.4", "1e-6")
    seen, served = look(durable.open())
    assert not served
    assert kinds_of(durable) == ["reserve", "reserve", "commit"]
    assert list(durable.open().book().waiting) == [1]
    assert durable.open().balance("patients").spent == budget("0.8", "2e-6")
    (one,) = verify(durable.open()).uncommitted
    assert (one.code, "entry 1" in one.message) == ("L137", True)
    assert look(durable.open()) == (seen, True)  # a third envelope would not fit: what is stored is free


@pytest.fixture
def ledgers(durable, budget):
    """Makes so many ledgers of one kind, each with a cap of 1; the URL with a place for the number."""

    def make(many: int) -> str:
        server = "sqlite" not in durable.url
        url = durable.url + "&options=-csearch_path%3Ds{}" if server else "sqlite:///{}.db"
        if server:
            durable.tamper(*(f"DROP SCHEMA IF EXISTS s{number} CASCADE" for number in range(many)))
            durable.tamper(*(f"CREATE SCHEMA s{number}" for number in range(many)))
        caps = {"patients": budget("1", "1e-5")}
        for number in range(many):
            create_ledger(url.format(number), populations=caps, datasets={"visits": "patients"}, folder=durable.folder)
        return url

    return make


@pytest.mark.parametrize("races", [5, pytest.param(1_000, marks=pytest.mark.slow)])
def test_two_envelopes_at_one_moment_never_spend_more_than_the_cap(durable, budget, racing, ledgers, races) -> None:
    url = ledgers(races)
    out, err = racing(url).run("envelope_race.py", "2", "0.6", str(races)).communicate(timeout=3600)
    assert out.splitlines() == ["0 4"] * races, err
    for number in range(races):
        spent = open_ledger(url.format(number), folder=durable.folder).balance("patients").spent
        assert spent == budget("0.6", "1e-6")


@pytest.mark.parametrize("races", [3, pytest.param(1_000, marks=pytest.mark.slow)])
def test_two_runs_of_one_question_at_one_moment_never_spend_more_than_the_cap(durable, budget, racing, ledgers, races) -> None:
    url = ledgers(races)
    out, err = racing(url).run("envelope_race.py", "2", "0.6", str(races), "same").communicate(timeout=3600)
    # the other run is refused while the first is between its reservation and its commit, and served afterwards
    assert set(out.splitlines()) <= {"0 3", "0 4"}, err
    assert len(out.splitlines()) == races
    for number in range(races):
        ledger = open_ledger(url.format(number), folder=durable.folder)
        assert ledger.balance("patients").spent == budget("0.6", "1e-6")
        assert len(ledger.book().answers) == 1


@pytest.mark.slow
def test_two_hundred_envelopes_at_one_server_or_file_never_spend_more_than_the_cap(durable) -> None:
    durable.create("1", "1e-4")
    out, err = durable.run("envelope_race.py", "50", "0.1", "20").communicate(timeout=600)
    codes = out.split()
    assert (codes.count("0"), codes.count("4"), len(codes)) == (10, 990, 1000), err
    assert durable.open().balance("patients").spent.epsilon.value == 1


def killed_runs(bench, ledger, seen, moments) -> None:
    """Start runs and kill each at a moment: what they told must be in the ledger, and what they saw is what later runs are served."""
    process, done = bench.run("envelope_serve.py", "forks"), 0
    for moment in moments:
        # the last version that was committed is served first, the others are charged
        process.stdin.write(f"{max(1, done)}\n")
        process.stdin.flush()
        (child,) = line(process, "pid")
        lines = [process.stdout.readline()]
        time.sleep(moment)
        os.kill(int(child), signal.SIGKILL)
        lines += iter(process.stdout.readline, "ended\n")
        book = ledger.book()
        reserved = {entry.sequence for entry in book.entries if entry.kind == "reserve"}
        assert {int(one.split()[1]) for one in lines if one.startswith("reserved ")} <= reserved
        assert ledger.balance("patients").spent.epsilon.value == Fraction("0.4") * len(reserved)
        assert not set(book.waiting) & set(book.from_envelope)
        assert len(book.answers) == len(book.from_envelope) == len(reserved) - len(book.waiting)
        for one in lines:
            word, _, rest = one.strip().partition(" ")
            if word in {"committed", "free"}:
                version, answers = rest.split(" ", 1)
                assert seen.setdefault(version, answers) == answers
        done = len(book.answers)
        assert done >= len(seen)
    process.communicate()


@pytest.mark.parametrize("kills", [8, pytest.param(500, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_leaves_an_envelope_spent_and_stores_no_answer(tmp_path, budget, racing, look, kills) -> None:
    """The child may be between any two lines. A ledger of its own for every 25 kills, since each run replays all of it."""
    made, seen_in_all, left = random.Random(15), 0, 0
    for reach in (0.3, 0.6, 1.2, 2.4):  # where a loaded machine takes longer to get there, later moments
        for start in range(0, kills, 25):
            url, caps = f"sqlite:///{reach}-{start}.db", {"patients": budget("1e9", "0.9")}
            create_ledger(url, populations=caps, datasets={"visits": "patients"}, folder=tmp_path)
            ledger, seen = open_ledger(url, folder=tmp_path), {}
            killed_runs(racing(url), ledger, seen, [reach * made.random() ** 3 for _ in range(min(25, kills - start))])
            found = verify(ledger)
            assert not found.problems
            for version, answers in seen.items():
                assert look(ledger, version=int(version)) == (json.loads(answers), True)
            seen_in_all += len(seen)
            left += len(found.uncommitted)
        if seen_in_all > kills / 4 and left > kills / 10:
            return
    pytest.fail(f"of so many kills {seen_in_all} came after an answer and {left} between a charge and its answer")
