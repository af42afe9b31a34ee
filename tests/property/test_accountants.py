"""Accountants over random events: composing is never cheaper, order and grouping do not matter, nothing is below the truth."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.dp.accountants import ApproximateAccountant, PldAccountant, PureAccountant, ZcdpAccountant
from privrelease.dp.accountants.events import Approximate, GaussianNoise, LaplaceNoise, Parallel, Pure, Together
from privrelease.dp.conversion import delta_of_rho, epsilon_of_rho, rho_within
from privrelease.dp.mechanisms import DiscreteLaplace
from privrelease.dp.sensitivity import Sensitivity
from privrelease.units import Delta, Epsilon
from tests.depth import depth

CHEAP = [PureAccountant, ApproximateAccountant, ZcdpAccountant]

epsilons = st.fractions(min_value="1/100", max_value=3, max_denominator=100)
deltas = st.fractions(min_value="1/1000000", max_value="1/10", max_denominator=10**6)
moves = st.integers(1, 5).map(Sensitivity.of_one_number)
scales = st.fractions(min_value="1/10", max_value=50, max_denominator=20)
leaves = st.one_of(
    st.builds(Pure, epsilons),
    st.builds(Approximate, epsilons, deltas),
    st.builds(LaplaceNoise, scales, moves),
    st.builds(GaussianNoise, scales, moves),
)
events = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Together, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Parallel, st.lists(inner, min_size=1, max_size=3).map(tuple), st.integers(1, 4)),
    ),
    max_leaves=6,
)


def state(accountant):
    return {part.name: getattr(accountant, part.name).value for part in fields(accountant)}


@pytest.mark.parametrize("kind", CHEAP)
@settings(max_examples=depth(12, 30))
@given(events, events)
def test_composing_is_never_cheaper(kind, first, second):
    if not (kind.supports(first) and kind.supports(second)):
        return
    one = kind().compose(first)
    both = one.compose(second)
    assert all(after >= before for before, after in zip(state(one).values(), state(both).values(), strict=True))
    assert both == kind().compose(second).compose(first) == kind().compose(Together((first, second)))


@pytest.mark.parametrize("kind", CHEAP)
@settings(max_examples=depth(12, 30))
@given(st.lists(events, min_size=1, max_size=4), st.integers(1, 5))
def test_parallel_costs_at_least_its_dearest_part_and_at_most_all(kind, parts, count):
    if not all(kind.supports(part) for part in parts):
        return
    apart = state(kind().compose(Parallel(tuple(parts), count)))
    whole = state(kind().compose(Together(tuple(parts))))
    for part in parts:
        assert all(apart[name] >= value for name, value in state(kind().compose(part)).items())
    assert all(apart[name] <= value for name, value in whole.items())


@given(st.lists(st.integers(1, 999), min_size=1, max_size=40))
def test_decimals_add_exactly(thousandths):
    spent = PureAccountant()
    for n in thousandths:
        spent = spent.compose(Pure(Fraction(n, 1000)))
    assert spent.spent == Epsilon(Fraction(sum(thousandths), 1000))


@given(st.fractions(min_value="1/100000", max_value=20), deltas)
def test_a_converted_epsilon_gives_back_at_most_its_delta(rho, delta):
    epsilon = epsilon_of_rho(rho, delta)
    assert delta_of_rho(rho, epsilon) <= delta * Fraction("1.000001")
    assert epsilon <= rho + Fraction(2 * math.sqrt(float(rho) * math.log(1 / float(delta)))) + Fraction(1, 10**6)


@settings(max_examples=depth(10, 25))
@given(epsilons, deltas)
def test_the_largest_rho_stays_within_its_budget(epsilon, delta):
    rho = rho_within(epsilon, delta)
    assert delta_of_rho(rho, epsilon) <= delta
    assert delta_of_rho(rho * Fraction("1.001"), epsilon) > delta


@settings(max_examples=depth(5, 12))
@given(
    st.lists(st.tuples(st.sampled_from(["1", "2", "5/2", "8"]), st.integers(1, 3)), min_size=1, max_size=3),
    st.sampled_from(["0", "0.4", "1"]),
)
def test_what_is_stated_for_laplace_noise_is_never_below_the_truth(laws, epsilon):
    true = _true_delta([(DiscreteLaplace(Fraction(scale)), move) for scale, move in laws], float(epsilon))
    for kind in (ApproximateAccountant, ZcdpAccountant, PldAccountant):
        spent = kind()
        for scale, move in laws:
            spent = spent.compose(LaplaceNoise(Fraction(scale), Sensitivity.of_one_number(move)))
        assert float(spent.delta(Epsilon(epsilon)).value) >= true * (1 - 1e-9) - 1e-14
        at = spent.epsilon(Delta("0.01"))
        assert at is not None
        assert _true_delta([(DiscreteLaplace(Fraction(scale)), move) for scale, move in laws], float(at.value)) <= 0.01 * (
            1 + 1e-9
        )


def _true_delta(laws, epsilon):
    """By the distribution of the loss: a discrete Laplace against itself shifted by d has losses (|k - d| - |k|) / b."""
    losses = {Fraction(0): 1.0}
    for noise, shift in laws:
        one: dict[Fraction, float] = {}
        for k in range(-400, 401):
            loss = Fraction(abs(k - shift) - abs(k)) / noise.scale
            one[loss] = one.get(loss, 0.0) + noise.probability(k)
        both: dict[Fraction, float] = {}
        for left, p in losses.items():
            for right, r in one.items():
                both[left + right] = both.get(left + right, 0.0) + p * r
        losses = both
    return math.fsum(p * -math.expm1(min(0.0, epsilon - float(loss))) for loss, p in losses.items())
