"""Envelopes: no sequence of questions spends more than was reserved; what does not fit is refused before it is drawn."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from privrelease.dp.accountants import ZcdpAccountant
from privrelease.dp.accountants.events import Together
from privrelease.dp.budget import Budget
from privrelease.dp.envelope import Envelope, Marginal
from privrelease.dp.envelope_records import EnvelopeDraw, Reserved
from privrelease.dp.queries import Setting
from privrelease.dp.sensitivity import Contribution, Neighbours, Sensitivity
from privrelease.errors import BudgetError, InternalError, PolicyError
from privrelease.units import Delta, Epsilon, Rho
from tests.unit.dp.envelope_examples import CELLS, ONE, A, B, Counting, Exact, N, opened, scores

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
