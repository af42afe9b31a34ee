"""Totals of whole releases against brute force over persons, and against a numeric integration that shares no code with dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privrelease.dp.budget import Budget
from privrelease.dp.calibration import draws
from privrelease.dp.composition import apart_of, composed, covers, rho_of
from privrelease.dp.domains import NumericDomain
from privrelease.dp.queries import Count, CountPersons, Setting, Sum
from privrelease.dp.sensitivity import Contribution, Neighbours
from privrelease.relational.filters import Among, Both, Comparison, Missing
from privrelease.units import Delta, Epsilon
from tests.depth import depth
from tests.property.test_disjoint_filters import holds

# ------------------------------------------------------------------------------------------------------------- parts, brute force

KINDS = [{"sex": sex, "age": age} for sex in ("F", "M", None) for age in (0, 1, 2)]
FILTERS = [
    None,
    Comparison("sex", "=", "F"),
    Comparison("sex", "=", "M"),
    Missing("sex"),
    Comparison("sex", "<>", "F"),
    Among("sex", ("F", "M")),
    Comparison("age", "<", 1),
    Comparison("age", "=", 1),
    Comparison("age", ">", 1),
    Both(Comparison("sex", "=", "F"), Comparison("age", "<", 2)),
    Both(Comparison("sex", "=", "M"), Comparison("age", ">=", 1)),
]
STEPS = NumericDomain("0", "2", grid="1")


def held(most):
    """Everything that one person can hold after bounding, nothing included."""
    return [rows for size in range(most + 1) for rows in combinations_with_replacement(KINDS, size)]


def answer(kind, where, rows):
    kept = [row for row in rows if where is None or holds(where, row) is True]
    return {"count": len(kept), "persons": bool(kept), "sum": sum(row["age"] for row in kept)}[kind]


@st.composite
def releases(draw):
    kinds = st.sampled_from(["count", "persons", "sum"])
    epsilons = st.sampled_from(["0.1", "0.25", "1"])
    asked = draw(st.lists(st.tuples(kinds, st.sampled_from(FILTERS), epsilons), min_size=1, max_size=6))
    most = draw(st.integers(1, 2))
    return asked, Setting(Contribution(most), draw(st.sampled_from(Neighbours)))


def planned(asked, setting, noise):
    forms = {"count": Count, "persons": CountPersons}
    drawn = []
    for number, (kind, where, epsilon) in enumerate(asked):
        text = None if where is None else "a filter"
        name = f"q{number}"
        query = Sum(name, "age", STEPS, where=text, complete=True) if kind == "sum" else forms[kind](name, where=text)
        drawn += draws(query, setting, Budget(Epsilon(epsilon), Delta("1e-6")), noise)
    return tuple(drawn), apart_of([(f"q{n}", where) for n, (_, where, _) in enumerate(asked)], setting)


def moves(asked, setting):
    """By pair of neighbours, how far each query moves: what matters is what one person, or each of two, holds."""
    rows = held(setting.contribution.max_rows)
    pairs = product(rows, rows[1:]) if setting.neighbours is Neighbours.REPLACE else (((), one) for one in rows)
    for before, after in pairs:
        yield [abs(answer(kind, where, after) - answer(kind, where, before)) for kind, where, _ in asked]


WHOLE = Budget(Epsilon(100), Delta("1e-5"))


@settings(max_examples=depth(20, 60), deadline=None)
@given(releases())
def test_no_person_loses_more_than_a_release_of_laplace_noise_says(release):
    asked, setting = release
    drawn, apart = planned(asked, setting, "laplace")
    assume(len(drawn) == len(asked) and all(draw.mechanism == "discrete_laplace" for draw in drawn))
    stated = composed(drawn, "approximate", WHOLE, apart).cost.epsilon.value
    # the largest loss of independent Laplace noise on integers that move by d is the sum of d / b, and is reached
    worst = max(sum(Fraction(d) / draw.scale for d, draw in zip(by, drawn, strict=True)) for by in moves(asked, setting))
    assert worst <= stated
    assert stated <= sum(draw.epsilon.value for draw in drawn)


@settings(max_examples=depth(15, 40), deadline=None)
@given(releases())
def test_no_person_loses_more_rho_than_a_release_of_gaussian_noise_says(release):
    asked, setting = release
    drawn, apart = planned(asked, setting, "gaussian")
    assume(len(drawn) == len(asked) and all(draw.mechanism == "discrete_gaussian" for draw in drawn))
    worst = max(
        sum(Fraction(d * d) / (2 * draw.scale) for d, draw in zip(by, drawn, strict=True)) for by in moves(asked, setting)
    )
    assert worst <= rho_of(drawn, apart)[0]


def test_parts_by_filters_are_as_tight_as_the_dearest_part():
    asked = [("count", Comparison("sex", "=", key), "0.25") for key in ("F", "M")] + [("count", Missing("sex"), "0.1")]
    drawn, apart = planned(asked, Setting(Contribution(1)), "laplace")
    worst = max(
        sum(Fraction(d) / draw.scale for d, draw in zip(by, drawn, strict=True))
        for by in moves(asked, Setting(Contribution(1)))
    )
    assert composed(drawn, "pure", WHOLE, apart).cost.epsilon.value == worst == Fraction(1, 4)


def test_a_wrong_proof_of_parts_would_be_found():
    """Overlapping filters taken for parts state less than a person loses."""
    asked = [("count", Comparison("sex", "=", "F"), "0.25"), ("count", Comparison("age", "<", 1), "0.25")]
    setting = Setting(Contribution(1))
    drawn, apart = planned(asked, setting, "laplace")
    assert apart == ()
    worst = max(sum(Fraction(d) / draw.scale for d, draw in zip(by, drawn, strict=True)) for by in moves(asked, setting))
    assert worst == Fraction(1, 2) > max(draw.epsilon.value for draw in drawn)


# ------------------------------------------------------------------------------------------------------------ numeric integration

GRID = 2e-4
REACH = 40.0


def loss_of(draw):
    """Losses of a draw's noise against itself moved by its sensitivity, and their probabilities."""
    shift = draw.sensitivity.largest
    span = (
        int(60 * float(draw.scale)) + shift if draw.mechanism == "discrete_laplace" else int(12 * math.sqrt(draw.scale)) + shift
    )
    at = np.arange(-span, span + 1)
    if draw.mechanism == "discrete_laplace":
        exponent = -np.abs(at) / float(draw.scale)
        loss = (np.abs(at - shift) - np.abs(at)) / float(draw.scale)
    else:
        exponent = -(at.astype(float) ** 2) / (2 * float(draw.scale))
        loss = ((at - shift).astype(float) ** 2 - at.astype(float) ** 2) / (2 * float(draw.scale))
    weight = np.exp(exponent)
    return loss, weight / weight.sum()


def integrated(drawn, epsilon, rounding):
    """The delta of all draws at epsilon, with every loss rounded to a grid, down or up: below or above the truth (but for 1e-12)."""
    size = int(2 * REACH / GRID)
    total = None
    for draw in drawn:
        loss, weight = loss_of(draw)
        place = rounding(np.clip(loss, -REACH / 2, REACH / 2) / GRID).astype(int)
        one = np.bincount(place % size, weight, minlength=size)
        spectrum = np.fft.rfft(one)
        total = spectrum if total is None else total * spectrum
    together = np.fft.irfft(total, size)
    at = np.arange(size, dtype=float)
    at[at >= size / 2] -= size
    gain = np.maximum(0.0, 1 - np.exp(np.minimum(0.0, epsilon - at * GRID)))
    return float(np.sum(together * gain))


laws = st.lists(
    st.tuples(st.sampled_from(["laplace", "gaussian"]), st.sampled_from(["0.1", "0.2", "0.4"]), st.integers(1, 3)),
    min_size=2,
    max_size=8,
)


@settings(max_examples=depth(5, 15), deadline=None)
@given(laws, st.sampled_from(["1e-3", "1e-5"]))
def test_the_total_of_a_release_is_never_below_the_truth_and_that_by_pld_close_to_it(asked, delta):
    whole = Budget(Epsilon(100), Delta(delta))
    drawn = tuple(
        draw
        for number, (noise, epsilon, rows) in enumerate(asked)
        for draw in draws(
            Count(f"q{number}"),
            Setting(Contribution(rows)),
            Budget(Epsilon(epsilon), Delta(Fraction(delta) / len(asked))),
            noise,
        )
    )
    for rule in ("approximate", "zcdp", "pld"):
        found = composed(drawn, rule, whole)
        truth = integrated(drawn, float(found.cost.epsilon.value), np.floor)
        assert truth <= float(found.cost.delta.value) + 1e-12
        assert covers(found.cost, drawn, found.accountant)
        if found.accountant == "pld":
            near = float(found.exact.epsilon.value) * 0.97 - 2 * len(drawn) * GRID
            assert integrated(drawn, near, np.ceil) > float(delta)


def test_the_integration_finds_a_total_that_is_too_small():
    """The witness itself: noise of half the scale has a delta that it calls above the stated one."""
    drawn = tuple(
        draw
        for number in range(6)
        for draw in draws(Count(f"q{number}"), Setting(Contribution(1)), Budget(Epsilon("0.2"), Delta("1e-6")), "gaussian")
    )
    found = composed(drawn, "pld", Budget(Epsilon(1), Delta("1e-5")))
    assert integrated(drawn, float(found.cost.epsilon.value), np.floor) <= 1e-5
    assert integrated(drawn * 4, float(found.cost.epsilon.value), np.floor) > 1e-5


def test_the_integration_agrees_with_the_closed_form_of_one_laplace_draw():
    """A discrete Laplace of scale 1/e moved by one has delta (1 - exp(e' - e)) / (1 + exp(-e)) at e' < e, for either way of rounding."""
    (draw,) = draws(Count("q"), Setting(Contribution(1)), Budget(Epsilon("0.4")))
    for epsilon in (0.0, 0.1, 0.3):
        exact = (1 - math.exp(epsilon - 0.4)) / (1 + math.exp(-0.4))
        below, above = (integrated((draw,), epsilon, rounding) for rounding in (np.floor, np.ceil))
        assert below - 1e-12 <= exact <= above + 1e-12
        assert above - below < 3e-4


@pytest.mark.parametrize("times", [2, 5, 20])
def test_pld_of_several_equal_laplace_draws_is_the_sum_over_their_binomial_losses_or_less(times):
    """Each draw is dominated by randomised response, whose composition is a binomial sum (Kairouz, Oh, Viswanath 2015, theorem 3.3)."""
    drawn = tuple(
        draw for number in range(times) for draw in draws(Count(f"q{number}"), Setting(Contribution(1)), Budget(Epsilon("0.1")))
    )
    found = composed(drawn, "pld", Budget(Epsilon(100), Delta("1e-5")))

    def dominating(epsilon):
        p = math.exp(0.1) / (1 + math.exp(0.1))
        terms = (
            math.comb(times, k) * p ** (times - k) * (1 - p) ** k * max(0.0, 1 - math.exp(epsilon - 0.1 * (times - 2 * k)))
            for k in range(times + 1)
        )
        return math.fsum(terms)

    assert dominating(float(found.cost.epsilon.value) * 1.02) <= 1e-5
    assert integrated(drawn, float(found.cost.epsilon.value), np.floor) <= float(found.cost.delta.value) + 1e-12
