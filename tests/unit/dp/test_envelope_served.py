"""Envelopes served again: every stored answer in its order, nothing charged, counted or drawn, and no question but the same."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from privrelease.dp.envelope import Envelope, Marginal, Score
from privrelease.dp.envelope_records import Reserved, Transcript
from privrelease.dp.queries import Setting
from privrelease.dp.sensitivity import Contribution
from privrelease.errors import BudgetError, InternalError
from privrelease.units import Delta, Rho
from tests.unit.dp.envelope_examples import CELLS, ONE, A, B, Counting, Exact, opened, scores


class Forbidden:
    """Neither counts nor randomness may be asked for."""

    private = True

    def rows(self, query):
        raise AssertionError(query)

    persons = draw = rows


def again(transcript, reserved, setting=ONE):
    def charge(_):
        raise AssertionError

    return Envelope(reserved, setting, Forbidden(), charge, Forbidden(), stored=transcript.answers)


def as_stored(envelope):
    """The transcript of a run, read back from its bytes."""
    envelope.close()
    return Transcript.from_bytes(Transcript("d", "k:aa", "r1", 3, envelope.answers).to_bytes())


def asked_at_random(envelope, seed):
    """What a method that looks sees: every next question follows from the answers before, refusals included."""
    seen = []
    for step in range(8):
        made = random.Random(repr((seed, step, seen)))
        rho = Rho(Fraction(made.randint(1, 300), 1000))
        try:
            kind = made.randrange(3)
            if kind == 0:
                seen.append(envelope.measure(made.choice([A, B]), rho).tolist())
            elif kind == 1:
                seen.append(envelope.select([A, B], scores([0, 3], [1] * 6, weight=made.randint(1, 3)), rho))
            else:
                seen.append(envelope.discover("k", rho, Delta(Fraction(made.randint(1, 20), 10**7))))
        except BudgetError as error:
            seen.append(error.code)
    return seen


def test_a_served_method_receives_every_answer_in_order_and_nothing_is_charged_counted_or_drawn():
    kinds = set()
    for seed in range(150):
        made = random.Random(seed)
        reserved = Reserved(Rho(Fraction(made.randint(100, 800), 1000)), Delta("3e-6"))
        envelope = Envelope(reserved, ONE, Exact(CELLS), lambda _: None, Counting(seed))
        seen = asked_at_random(envelope, seed)
        transcript = as_stored(envelope)
        kinds |= {one.draw.figure for one in transcript.answers}
        assert (transcript.dataset, transcript.content, transcript.run, transcript.reservation) == ("d", "k:aa", "r1", 3)
        served = again(transcript, reserved)
        assert asked_at_random(served, seed) == seen
        assert served.left == envelope.left
        assert served.close() == envelope.close()
        assert len(served.answers) == len(transcript.answers)
    assert kinds == {"cells", "choice", "keys"}


@pytest.mark.parametrize("cells", [[0], [127, -128], [128], [-32769], [2**31], [2**62, -(2**62)], [3] * 1000])
def test_cells_of_every_width_are_stored_exactly(cells):
    envelope = opened("1e9", rows={"cells": cells})
    noisy = envelope.measure(Marginal("cells", (len(cells),)), Rho(10**8))
    (stored,) = as_stored(envelope).answers
    assert stored.answer.dtype == np.int64
    assert stored.answer.tolist() == noisy.tolist() == cells  # sigma is 1e-4: noise of any other than 0 is never seen


def a_method(envelope, *, second="1/50", last=True):
    first = envelope.measure(A, Rho(Fraction(1, 50)))
    best = envelope.select([A, B], [Score(first), Score(np.arange(6))], Rho(Fraction(second)))
    return first.tolist(), best, envelope.measure(B, Rho(Fraction(1, 50))).tolist() if last else None


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda lent: a_method(lent, second="1/49"), "question 2, a|a x b, is not the one"),
        (lambda lent: (a_method(lent), lent.measure(A, Rho(Fraction(1, 100)))), "question 4, a, has no stored answer"),
        (lambda lent: (a_method(lent, last=False), lent.answers), "question 3, a x b, is not asked for any more"),
        (lambda lent: lent.measure(B, Rho(Fraction(1, 50))), "question 1, a x b, is not the one"),
    ],
)
def test_a_served_method_that_asks_otherwise_is_refused_and_nothing_is_drawn(ask, match):
    envelope = opened()
    a_method(envelope)
    transcript = as_stored(envelope)
    with pytest.raises(BudgetError, match="L138") as refused:
        ask(again(transcript, envelope.reserved))
    assert match in refused.value.message
    assert refused.value.exit_code == 4


def test_a_served_method_of_persons_with_other_rows_is_another_question():
    envelope = opened()
    a_method(envelope)
    with pytest.raises(BudgetError, match="L138"):
        a_method(again(as_stored(envelope), envelope.reserved, Setting(Contribution(2))))


def test_answers_cannot_be_changed_by_the_method_that_was_given_them():
    envelope = opened()
    for lent in (envelope, again(as_stored_of(envelope), envelope.reserved)):
        noisy = lent.measure(A, Rho(Fraction(1, 50)))
        with pytest.raises(ValueError, match="read-only"):
            noisy[0] = 0


def as_stored_of(envelope):
    other = opened()
    other.measure(A, Rho(Fraction(1, 50)))
    assert other.reserved == envelope.reserved
    return as_stored(other)


def test_a_draw_that_fails_is_paid_for_and_closes_its_envelope():
    envelope = opened(rows={"a": [1, 2, 3]})  # not the cells that the query has
    with pytest.raises(InternalError, match="R211"):
        envelope.measure(A, Rho(Fraction(1, 50)))
    with pytest.raises(InternalError, match="R210"):
        envelope.measure(A, Rho(Fraction(1, 50)))
    assert len(envelope.close()) == 1
    assert envelope.answers is None  # there is nothing to be served again


def test_what_is_no_transcript_is_refused_and_another_version_is_none():
    envelope = opened()
    envelope.measure(A, Rho(Fraction(1, 50)))
    stored = Transcript("d", "k:aa", None, 3, envelope.answers).to_bytes()
    assert Transcript.from_bytes(stored.replace(b'"version": 1', b'"version": 2')) is None
    for wrong in (b"", b"{}", stored[:-1], stored.replace(b"gaussian", b"uniform"), b'{"version": 1}'):
        with pytest.raises(ValueError, match=r"."):
            Transcript.from_bytes(wrong)
