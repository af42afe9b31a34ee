"""Envelopes in every ledger: reserved as a whole, committed with their draws, spent whatever becomes of the run."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.envelope import Envelope, EnvelopeDraw, Marginal, Reserved, Score
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


# ------------------------------------------------------------------------------------------------------------ races and kills


@pytest.mark.parametrize("races", [20, pytest.param(1_000, marks=pytest.mark.slow)])
def test_two_envelopes_at_one_moment_never_spend_more_than_the_cap(tmp_path, budget, racing, races) -> None:
    caps = {"patients": budget("1", "1e-5")}
    for number in range(races):
        create_ledger(f"sqlite:///{number}.db", populations=caps, datasets={"visits": "patients"}, folder=tmp_path)
    out, err = racing("sqlite:///{}.db").run("envelope_race.py", "2", "0.6", str(races)).communicate(timeout=600)
    assert out.splitlines() == ["0 4"] * races, err
    for number in range(races):
        assert open_ledger(f"sqlite:///{number}.db", folder=tmp_path).balance("patients").spent == budget("0.6", "1e-6")


@pytest.mark.slow
def test_two_hundred_envelopes_at_one_server_or_file_never_spend_more_than_the_cap(durable) -> None:
    durable.create("1", "1e-4")
    out, err = durable.run("envelope_race.py", "50", "0.1", "20").communicate(timeout=600)
    codes = out.split()
    assert (codes.count("0"), codes.count("4"), len(codes)) == (10, 990, 1000), err
    assert durable.open().balance("patients").spent.epsilon.value == 1


@pytest.mark.parametrize("kills", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_leaves_an_envelope_spent_and_stores_no_answer(tmp_path, budget, racing, kills) -> None:
    """The child may be between any two lines; its last line tells what must be in the ledger at least."""
    create_ledger(
        "sqlite:///k.db", populations={"patients": budget("1e9", "0.9")}, datasets={"visits": "patients"}, folder=tmp_path
    )
    made = random.Random(15)
    trials = 0
    while trials < kills:
        process = racing("sqlite:///k.db").run("envelope_run.py", "1")
        process.stdout.readline()
        time.sleep(made.random() * 0.02)
        os.kill(process.pid, signal.SIGKILL)
        told = process.communicate()[0].split("\n")
        ledger = open_ledger("sqlite:///k.db", folder=tmp_path)
        book = ledger.book()
        reserved = {entry.sequence for entry in book.entries if entry.kind == "reserve"}
        assert {int(line.split()[1]) for line in told if line.startswith("reserved ")} <= reserved
        assert ledger.balance("patients").spent.epsilon.value == len(reserved)
        committed = {int(line.split()[1]) for line in told if line.startswith("committed ")}
        assert not committed & set(book.waiting)
        for sequence in book.waiting:
            assert sequence not in book.from_envelope
        trials += 1
    found = verify(open_ledger("sqlite:///k.db", folder=tmp_path))
    assert not found.problems
    assert found.uncommitted
