"""Envelopes: no sequence of questions spends more than was reserved; what does not fit is refused before it is drawn."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from privrelease.dp import envelope as envelopes
from privrelease.dp.accountants import ZcdpAccountant
from privrelease.dp.accountants.events import Together
from privrelease.dp.budget import Budget
from privrelease.dp.conversion import delta_of_rho
from privrelease.dp.envelope import Envelope, Marginal, Score
from privrelease.dp.envelope_records import EnvelopeDraw, Reserved, Transcript
from privrelease.dp.queries import Setting
from privrelease.dp.randomness import TestRandomness
from privrelease.dp.sensitivity import Contribution, Neighbours, Sensitivity
from privrelease.errors import BudgetError, InternalError, PolicyError
from privrelease.units import Delta, Epsilon, Rho

ALPHA = 1e-9
N = 40_000


class Exact:
    """Counts that were asked for, and how often."""

    def __init__(self, rows, persons=((("a",), ("b",)), (40, 1))):
        self._rows = {name: np.array(cells, np.int64) for name, cells in rows.items()}
        self._persons = persons
        self.asked = 0

    def rows(self, query):
        self.asked += 1
        return self._rows[query.name]

    def persons(self, query):
        self.asked += 1
        return self._persons[0], np.array(self._persons[1], np.int64)


class Counting(TestRandomness):
    """Repeatable bytes, counted."""

    __test__ = False
    __slots__ = ("bytes",)

    def __init__(self, seed):
        super().__init__(seed)
        self.bytes = 0

    def draw(self, size):
        self.bytes += size
        return super().draw(size)


ONE = Setting(Contribution(1))
A, B = Marginal("a", (2,)), Marginal("a x b", (2, 3))
CELLS = {"a": [5, 7], "a x b": [1, 2, 3, 4, 5, 6]}


def opened(rho="1/10", failure="0", setting=ONE, rows=None, seed=1):
    charged = []
    envelope = Envelope(
        Reserved(Rho(Fraction(rho)), Delta(failure)), setting, Exact(rows or CELLS), charged.append, Counting(seed)
    )
    assert charged == [envelope.reserved]
    return envelope


def scores(*models, weight=1):
    return [Score(np.array(model), weight=weight) for model in models]


# --------------------------------------------------------------------------------------------------------------------- spending


@pytest.mark.parametrize("sequences", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_sequence_of_questions_spends_more_than_was_reserved(sequences):
    made = random.Random(15)
    refused = drawn = 0
    for number in range(sequences):
        reserved = Reserved(Rho(Fraction(made.randint(1, 400), 1000)), Delta(Fraction(made.randint(0, 3), 10**6)))
        neighbours = made.choice(list(Neighbours))
        setting = Setting(Contribution(made.randint(1, 4), made.choice([None, 2])), neighbours)
        envelope = Envelope(reserved, setting, Exact(CELLS), lambda _: None, Counting(number))
        for _ in range(made.randint(1, 8)):
            rho = Rho(Fraction(made.randint(1, 300), 1000))
            before = (envelope.left, envelope._counts.asked, envelope._randomness.bytes)
            try:
                kind = made.randrange(3)
                if kind == 0:
                    envelope.measure(made.choice([A, B]), rho)
                elif kind == 1:
                    grid = made.choice([1, 10])
                    envelope.select([A, B], scores([0, 3], [1] * 6, weight=made.randint(1, 3)), rho, grid=grid)
                else:
                    envelope.discover("k", rho, Delta(Fraction(made.randint(1, 20), 10**7)))
                drawn += 1
                # a cost is at most what was asked for
                assert before[0].rho.value - envelope.left.rho.value <= rho.value
            except BudgetError as error:
                refused += error.code == "L135"
                assert before == (envelope.left, envelope._counts.asked, envelope._randomness.bytes)
        records = [EnvelopeDraw.from_record(draw.record()) for draw in envelope.close()]
        # the sum by hand, in fractions, next to the accountant's
        by_hand = sum(
            (
                (2 * Fraction(d.sensitivity.l1) / d.scale) ** 2 / 8
                if d.figure == "choice"
                else Fraction(d.sensitivity.l2_squared) / (2 * d.scale)
                for d in records
            ),
            Fraction(0),
        )
        failures = sum((d.selection.delta() for d in records if d.figure == "keys"), Fraction(0))
        assert by_hand <= reserved.rho.value
        assert failures <= reserved.failure.value
        assert reserved.covers(records)
        composed = ZcdpAccountant().compose(Together(tuple(d.event for d in records)))
        assert (composed.rho.value, composed.failure.value) == (by_hand, failures)
        assert envelope.left == Reserved(Rho(reserved.rho.value - by_hand), Delta(reserved.failure.value - failures))
    assert refused > sequences
    assert drawn > sequences / 2


def test_the_whole_envelope_can_be_used_and_nothing_beyond():
    envelope = opened("1/8")
    for _ in range(4):
        assert envelope.measure(A, Rho(Fraction(1, 32))).shape == (2,)  # sigma squared 16 each
    assert envelope.left.rho == Rho(0)
    used = envelope._randomness.bytes
    with pytest.raises(BudgetError, match="L135"):
        envelope.measure(A, Rho(Fraction(1, 10**9)))
    assert envelope._randomness.bytes == used
    assert [draw.scale for draw in envelope.close()] == [Fraction(16)] * 4


def test_a_reservation_that_is_refused_opens_nothing():
    def refuse(_):
        raise BudgetError(code="L120", message="too much")

    counts = Exact(CELLS)
    with pytest.raises(BudgetError, match="L120"):
        Envelope(Reserved(Rho(1), Delta(0)), ONE, counts, refuse, Counting(1))
    assert counts.asked == 0


def test_nothing_is_drawn_after_it_was_closed():
    envelope = opened()
    envelope.close()
    with pytest.raises(InternalError, match="R210"):
        envelope.measure(A, Rho(Fraction(1, 100)))
    assert envelope._randomness.bytes == 0


def test_an_envelope_is_all_of_a_budget_but_the_failures_and_no_more():
    budget = Budget(Epsilon(1), Delta("1e-6"))
    whole, less = Reserved.of(budget), Reserved.of(budget, Delta("5e-7"))
    assert whole.within(budget)
    assert less.within(budget)
    assert less.rho < whole.rho
    assert not replace(whole, rho=Rho(whole.rho.value * Fraction("1.001"))).within(budget)
    assert not replace(whole, failure=Delta("1e-9")).within(budget)
    assert Reserved.from_record(less.record()) == less


# --------------------------------------------------------------------------------------------------------------------- questions


def test_measurements_are_exact_counts_plus_noise_of_the_recorded_scale():
    envelope = opened("1/2", rows={"wide": [100] * N})
    noisy = envelope.measure(Marginal("wide", (N,)), Rho(Fraction(1, 50)))
    (draw,) = envelope.close()
    assert draw.scale == 25
    assert abs(noisy.mean() - 100) < 6.5 * 5 / math.sqrt(N)
    assert abs(noisy.var() / 25 - 1) < 6.5 * math.sqrt(2 / N)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_score_moves_by_at_most_its_sensitivity_between_all_small_neighbours(neighbours):
    """Two rows a person, two cells: every pair of neighbours and every model; the bound is met."""
    setting = Setting(Contribution(2), neighbours)
    envelope = opened("100", setting=setting)
    grid, weight = 3, 2
    envelope.select([A], scores([0, 0], weight=weight), Rho(1), grid=grid)
    (draw,) = envelope.close()
    person = [own for own in product(range(3), repeat=2) if sum(own) <= 2]
    worst = 0
    for base, one, other in product([(0, 0), (1, 2)], person, person):
        if neighbours is Neighbours.ADD_REMOVE and one != (0, 0):
            continue
        for model in product((-1, 0, 2, 5, 9), repeat=2):
            here, there = (
                weight * sum(abs(grid * (b + p) - m) for b, p, m in zip(base, who, model, strict=True)) for who in (one, other)
            )
            worst = max(worst, abs(here - there))
    assert worst == draw.sensitivity.l1
    assert draw.sensitivity == Sensitivity.of_one_number((2 if neighbours is Neighbours.ADD_REMOVE else 4) * grid * weight)


def test_a_choice_is_the_candidate_that_the_model_fits_worst_where_rho_is_large():
    envelope = opened("1000")
    assert [envelope.select([A, B], scores([5, 7], [9] * 6), Rho(100)) for _ in range(5)] == [1] * 5
    assert [envelope.select([A, B], scores([50, 70], [1, 2, 3, 4, 5, 6]), Rho(100)) for _ in range(5)] == [0] * 5


def test_discovery_publishes_what_many_hold_and_not_what_one_does():
    found = opened("2", "1e-6").discover("k", Rho(1), Delta("1e-6"))
    assert set(found) == {("a",)}
    assert abs(found["a",] - 40) < 8


# ------------------------------------------------------------------------------------------------------------ serving again


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


# --------------------------------------------------------------------------------------------------------- empirical privacy


def delta_bound(there, here, epsilon):
    """A lower bound on delta at ``epsilon``: Clopper-Pearson at alpha 1e-9 on both probabilities of the event."""
    low = float(stats.beta.ppf(ALPHA / 2, there.sum(), there.size - there.sum() + 1)) if there.any() else 0.0
    hits = here.sum()
    high = float(stats.beta.isf(ALPHA / 2, hits + 1, here.size - hits)) if hits < here.size else 1.0
    return low - math.exp(epsilon) * high


RHO = Fraction(1, 2)
EPSILON = 2
CLAIM = float(delta_of_rho(RHO, Fraction(EPSILON)))


@pytest.fixture(params=["used up", "one charge for two"])
def unpaid(request, monkeypatch):
    """Plants a fault: a draw after the envelope is used up is made all the same, or every other draw is not charged."""
    if request.param == "used up":
        monkeypatch.setattr(Reserved, "holds", lambda *_: True)
        return
    spend = Envelope._spend

    def every_other(self, draw):
        self.asked = getattr(self, "asked", -1) + 1
        if self.asked % 2 == 0:
            spend(self, draw)

    monkeypatch.setattr(Envelope, "_spend", every_other)


def measured(count, seed, times=1, setting=ONE):
    """Ten N independent means of ``times`` measurements of one cell that holds ``count``, from envelopes of RHO that one of them uses up."""
    envelope = opened(RHO, rows={"cell": [count] * 10 * N}, seed=seed, setting=setting)
    return sum(envelope.measure(Marginal("cell", (10 * N,)), Rho(RHO)) for _ in range(times)) / times


def gained(with_person, without, least):
    return delta_bound(with_person >= least, without >= least, EPSILON)


def test_measurements_stay_within_the_claim():
    assert 0 < gained(measured(1, 2), measured(0, 3), 3) <= CLAIM
    two = Setting(Contribution(2))
    assert 0 < gained(measured(2, 2, setting=two), measured(0, 3, setting=two), 6) <= CLAIM


def test_measurements_that_are_not_paid_for_are_found_out(unpaid):
    assert gained(measured(1, 2, times=2), measured(0, 3, times=2), 1.5) > CLAIM


def test_measurements_of_a_sensitivity_of_2_that_is_declared_1_are_found_out(monkeypatch):
    monkeypatch.setattr(envelopes, "of_group_counts", lambda *_: Sensitivity.of_one_number(1))
    two = Setting(Contribution(2))
    assert gained(measured(2, 2, setting=two), measured(0, 3, setting=two), 2) > CLAIM


def chosen(moved, seed, n=4_000, times=1, setting=ONE):
    """N envelopes of epsilon 2 (rho 1/2) with ``times`` choices between two candidates of scores ``moved`` and 4 - ``moved``: a person's
    rows move both, apart. Where all of them are the first."""
    candidates = [Marginal("a", (2,)), Marginal("b", (2,))]
    models = scores([0, 0], [4, 0])
    counts = Exact({"a": [moved, 0], "b": [moved, 0]})
    source = Counting(seed)
    lent = (Envelope(Reserved(Rho(RHO), Delta(0)), setting, counts, lambda _: None, source) for _ in range(n))
    return np.array([sum(envelope.select(candidates, models, Rho(RHO)) for _ in range(times)) == 0 for envelope in lent])


def ratio_bound(there, here):
    """A lower bound on the epsilon of a pure mechanism from one event."""
    low = stats.beta.ppf(ALPHA / 2, there.sum(), there.size - there.sum() + 1)
    return math.log(low / stats.beta.isf(ALPHA / 2, here.sum() + 1, here.size - here.sum()))


def test_choices_stay_within_the_claim():
    assert 0.5 < ratio_bound(chosen(1, 5), chosen(0, 6)) <= 2
    two = Setting(Contribution(2))
    assert 0.5 < ratio_bound(chosen(2, 5, setting=two), chosen(0, 6, setting=two)) <= 2


def test_choices_that_are_not_paid_for_are_found_out(unpaid):
    assert ratio_bound(chosen(2, 5, 5_000, 2), chosen(1, 6, 5_000, 2)) > 2


def test_choices_of_a_sensitivity_of_2_that_is_declared_1_are_found_out(monkeypatch):
    monkeypatch.setattr(envelopes, "of_group_counts", lambda *_: Sensitivity.of_one_number(1))
    two = Setting(Contribution(2))
    assert ratio_bound(chosen(2, 5, setting=two), chosen(0, 6, setting=two)) > 2


FAILURE = Delta("0.05")
#: Sigma 5: fine steps of the threshold, so that the failure is nearly all used.
WEAK = Rho(Fraction(1, 50))


def discovered(keys, seed, n=2_500, times=1, setting=ONE):
    """N envelopes with ``times`` discoveries of ``keys`` that one person holds: which of them publish any."""
    counts = Exact({}, (tuple((str(key),) for key in range(keys)), (1,) * keys))
    source = Counting(seed)
    lent = (Envelope(Reserved(WEAK, FAILURE), setting, counts, lambda _: None, source) for _ in range(n))
    return np.array([any(tuple(envelope.discover("k", WEAK, FAILURE) for _ in range(times))) for envelope in lent])


def failures(found):
    """A lower bound on delta: without the person nobody holds the key, and it is never published."""
    return float(stats.beta.ppf(ALPHA / 2, found.sum(), found.size - found.sum() + 1))


def test_discovered_keys_betray_one_person_within_the_failure():
    assert 0.01 < failures(discovered(1, 10)) <= 0.05
    assert 0.01 < failures(discovered(2, 11, setting=Setting(Contribution(2)))) <= 0.05


def test_discoveries_that_are_not_paid_for_are_found_out(unpaid):
    assert failures(discovered(1, 10, times=2)) > 0.05


def test_discoveries_of_a_person_of_more_keys_than_declared_are_found_out():
    # two keys of one person, where one is declared
    assert failures(discovered(2, 10)) > 0.05


# -------------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("budget", "failure", "code"),
    [
        (Budget(Epsilon(0), Delta("1e-6")), None, "DP101"),
        (Budget(Epsilon(1)), Delta("1e-7"), "DP103"),
        (Budget(Epsilon(1), Delta("0.5")), None, "DP108"),
        (Budget(Epsilon(1), Delta("1e-6")), Delta("1e-6"), "DP104"),
    ],
)
def test_a_budget_that_holds_no_envelope_is_refused(budget, failure, code):
    with pytest.raises(PolicyError, match=code):
        Reserved.of(budget, failure)


def test_bad_questions_are_refused_before_anything_is_drawn_or_spent():
    envelope = opened()
    rho = Rho(Fraction(1, 100))
    for call, error, match in (
        (lambda: envelope.measure(A, Rho(0)), PolicyError, "DP124"),
        (lambda: envelope.measure(Marginal("big", (60_001, 1_000)), rho), PolicyError, "DP123"),
        (lambda: envelope.select([], [], rho), PolicyError, "DP125"),
        (lambda: envelope.select([A], scores([0.5, 1.0]), rho), TypeError, "integers"),
        (lambda: envelope.select([A], scores([0, 1], weight=0.5), rho), TypeError, "integers"),
        (lambda: envelope.select([A], scores([0, 2**40]), rho), ValueError, "out of bounds"),
        (lambda: envelope.select([A], scores([0, 1, 2]), rho), ValueError, "each cell"),
        (lambda: envelope.select([A, B], scores([0, 1]), rho), ValueError, "one score"),
        (lambda: envelope.discover("k", rho, Delta(0)), PolicyError, "DP103"),
    ):
        with pytest.raises(error, match=match):
            call()
    assert (envelope._randomness.bytes, envelope._counts.asked, envelope.close()) == (0, 0, ())


@pytest.mark.parametrize(
    "changes",
    [
        {"mechanism": "exponential"},
        {"figure": "sum"},
        {"scale": "0"},
        {"scale": "1/0"},
        {"threshold": 5},
        {"size": None},
        {"sensitivity.l1": 0, "sensitivity.l2_squared": 0, "sensitivity.largest": 0, "sensitivity.coordinates": 0},
        {"more": 1},
    ],
)
def test_a_record_that_is_not_one_is_refused(changes):
    envelope = opened()
    envelope.measure(A, Rho(Fraction(1, 100)))
    (draw,) = envelope.close()
    assert EnvelopeDraw.from_record(draw.record()) == draw
    with pytest.raises(ValueError, match=r"."):
        EnvelopeDraw.from_record(draw.record() | changes)


# ------------------------------------------------------------------------------------------------------- cells counted as one

MERGED = Marginal("a x b", (2, 3), ((), (0, 1, 0)))


def test_cells_that_are_counted_as_one_are_summed_before_the_noise():
    envelope = opened("1e9")
    assert MERGED.size == 4
    assert envelope.measure(MERGED, Rho(10**8)).tolist() == [4, 2, 10, 5]
    both = Marginal("a x b", (2, 3), ((0, 0), (1, 0, 1)))
    assert envelope.measure(both, Rho(10**8)).tolist() == [7, 14]
    (first, _) = envelope.close()
    assert (first.query, first.size, first.sensitivity) == ("a x b", 4, Sensitivity(1, 1, 1, 1))


def test_a_score_of_merged_cells_is_of_their_sums():
    envelope = opened("1000")
    other = Marginal("a", (2,))
    assert [envelope.select([other, MERGED], scores([5, 7], [4, 2, 10, 9]), Rho(100)) for _ in range(3)] == [1] * 3
    assert [envelope.select([other, MERGED], scores([9, 7], [4, 2, 10, 5]), Rho(100)) for _ in range(3)] == [0] * 3
    with pytest.raises(ValueError, match="each cell"):
        envelope.select([MERGED], scores([0] * 6), Rho(1))


def test_counts_that_are_not_those_of_the_merged_columns_are_refused():
    envelope = opened(rows={"a x b": [1, 2, 3]})
    with pytest.raises(InternalError, match="R211"):
        envelope.measure(MERGED, Rho(Fraction(1, 50)))
