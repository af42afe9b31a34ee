"""One abstract suite that every accountant inherits; the truth comes from enumerating outcomes, never from an accountant."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privrelease.dp.accountants import (
    ACCOUNTANTS,
    ApproximateAccountant,
    PldAccountant,
    PureAccountant,
    UnsupportedEventError,
    ZcdpAccountant,
)
from privrelease.dp.accountants.events import (
    Approximate,
    BoundedRange,
    Charged,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Pure,
    Together,
    parallel,
)
from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.dp.sensitivity import Neighbours, Sensitivity
from privrelease.units import Delta, Epsilon, Rho

ONE = Sensitivity.of_one_number(1)
LAPLACE = LaplaceNoise(Fraction(2), ONE)
GAUSSIAN = GaussianNoise(Fraction(9), ONE)
CHARGED = Charged(GAUSSIAN, Fraction(1), Fraction("0.02"))


def true_delta(laws, epsilon):
    """The exact delta of independent integer noises, each shifted by 1 (or the listed shift), by enumeration of a product of pmfs."""
    losses, masses = np.zeros(1), np.ones(1)
    for noise, shift in laws:
        reach = int(12 * noise.standard_deviation()) + 12
        values = range(-reach, reach + 1)
        here = np.array([noise.probability(k) for k in values])
        there = np.array([noise.probability(k - shift) for k in values])
        loss = np.log(here) - np.log(there)
        losses = (losses[:, None] + loss[None, :]).ravel()
        masses = (masses[:, None] * here[None, :]).ravel()
    gains = masses * -np.expm1(np.minimum(0.0, epsilon - losses))
    return math.fsum(gains.tolist())


EVENTS = [
    Pure(Fraction("0.1")),
    Approximate(Fraction("0.1"), Fraction("1e-7")),
    BoundedRange(Fraction("0.4")),
    LAPLACE,
    CHARGED,
    Together((LAPLACE, Pure(Fraction(1, 3)))),
    Parallel((LAPLACE, LAPLACE, LAPLACE), 2),
    Charged(Together((LAPLACE, Approximate(Fraction(0), Fraction("1e-8")))), Fraction("0.5"), Fraction("1e-8")),
]


class AccountantContract:
    accountant: type
    #: whether sums are exact
    exact = True

    def supported(self):
        return [event for event in EVENTS if self.accountant.supports(event)]

    def test_it_is_listed_and_named(self):
        assert self.accountant in ACCOUNTANTS
        assert self.accountant.name

    def test_nothing_costs_nothing(self):
        assert self.accountant().epsilon(Delta(0)) == Epsilon(0)
        assert self.accountant().delta(Epsilon(0)) == Delta(0)
        empty = self.accountant().compose(Together(()))
        assert empty.epsilon(Delta(0)) == Epsilon(0)

    def test_composing_is_never_cheaper(self):
        for event in self.supported():
            once = self.accountant().compose(event)
            twice = once.compose(event)
            for delta in (Delta("1e-6"), Delta("0.1")):
                one, two = once.epsilon(delta), twice.epsilon(delta)
                assert two is None or (one is not None and two.value >= one.value)

    def test_times_is_repetition(self):
        for event in self.supported():
            together = self.accountant().compose(event, 3)
            again = self.accountant().compose(event).compose(event).compose(event)
            assert together == again
            assert self.accountant().compose(event, 0) == self.accountant()

    def test_the_order_of_events_does_not_matter(self):
        events = self.supported()
        forward, backward = self.accountant(), self.accountant()
        for event in events:
            forward = forward.compose(event)
        for event in reversed(events):
            backward = backward.compose(event)
        left, right = forward.epsilon(Delta("0.5")), backward.epsilon(Delta("0.5"))
        assert (left is None) == (right is None)
        if left is not None:
            assert math.isclose(left.value, right.value, rel_tol=0 if self.exact else 1e-6)

    def test_composing_leaves_the_former_accountant_as_it_was(self):
        before = self.accountant().compose(Pure(Fraction(1)))
        before.compose(Pure(Fraction(1)))
        assert before == self.accountant().compose(Pure(Fraction(1)))

    def test_an_event_without_a_bound_is_refused(self):
        for event in [*EVENTS, GAUSSIAN]:
            if not self.accountant.supports(event):
                with pytest.raises(UnsupportedEventError, match=self.accountant.name):
                    self.accountant().compose(event)

    def test_an_event_cannot_be_taken_back(self):
        with pytest.raises(ValueError, match="taken back"):
            self.accountant().compose(Pure(Fraction(1)), -1)

    def test_delta_falls_as_epsilon_grows(self):
        for event in self.supported():
            spent = self.accountant().compose(event, 2)
            deltas = [spent.delta(Epsilon(e)).value for e in ("0", "0.1", "0.5", "1", "3")]
            assert deltas == sorted(deltas, reverse=True)

    def test_one_person_in_one_part_pays_for_the_dearest_part(self):
        parts = parallel((LAPLACE,) * 4, groups=1, neighbours=Neighbours.ADD_REMOVE)
        assert self.accountant().compose(parts) == self.accountant().compose(LAPLACE)

    def test_one_person_in_g_parts_pays_g_times_and_twice_that_under_replace(self):
        parts = (LAPLACE,) * 7
        three = self.accountant().compose(parallel(parts, groups=3, neighbours=Neighbours.ADD_REMOVE))
        six = self.accountant().compose(parallel(parts, groups=3, neighbours=Neighbours.REPLACE))
        assert three == self.accountant().compose(LAPLACE, 3)
        assert six == self.accountant().compose(LAPLACE, 6)

    def test_more_parts_than_there_are_cost_all_of_them(self):
        some = Parallel((LAPLACE, Pure(Fraction("0.3"))), 5)
        assert self.accountant().compose(some) == self.accountant().compose(LAPLACE).compose(Pure(Fraction("0.3")))

    @pytest.mark.parametrize("epsilon", ["0", "0.2", "0.7", "1", "1.4"])
    @pytest.mark.parametrize(
        "laws", [[LAPLACE], [LAPLACE, LAPLACE], [LaplaceNoise(Fraction(1), Sensitivity.of_one_number(2)), LAPLACE]]
    )
    def test_delta_is_never_below_the_truth(self, laws, epsilon):
        spent = self.accountant()
        for event in laws:
            spent = spent.compose(event)
        true = true_delta(
            [(DiscreteLaplace(event.scale), event.sensitivity.largest) for event in laws], float(Fraction(epsilon))
        )
        assert float(spent.delta(Epsilon(epsilon)).value) >= true * (1 - 1e-9) - 1e-15

    def test_what_is_spent_at_delta_is_private_at_it(self):
        spent = self.accountant().compose(LAPLACE, 2)
        for delta in ("1e-9", "0.001", "0.05"):
            epsilon = spent.epsilon(Delta(delta))
            true = true_delta([(DiscreteLaplace(Fraction(2)), 1)] * 2, float(epsilon.value))
            assert true <= float(Fraction(delta)) * (1 + 1e-9)


class TestPure(AccountantContract):
    accountant = PureAccountant

    def test_a_tenth_ten_times_is_one(self):
        assert PureAccountant().compose(Pure(Fraction("0.1")), 10).spent == Epsilon(1)

    def test_it_has_no_word_on_gaussian_noise_or_delta(self):
        assert not PureAccountant.supports(GAUSSIAN)
        assert not PureAccountant.supports(CHARGED)
        assert not PureAccountant.supports(Together((LAPLACE, Approximate(Fraction(0), Fraction("1e-9")))))

    def test_in_parallel_the_dearest_parts_count(self):
        parts = Parallel(tuple(Pure(Fraction(n, 10)) for n in (1, 4, 2, 3)), 2)
        assert str(PureAccountant().compose(parts).spent) == "0.7"


class TestApproximate(AccountantContract):
    accountant = ApproximateAccountant

    def test_a_tenth_ten_times_is_one_and_deltas_add(self):
        spent = ApproximateAccountant().compose(Approximate(Fraction("0.1"), Fraction("1e-7")), 10)
        assert (spent.spent_epsilon, spent.spent_delta) == (Epsilon(1), Delta("1e-6"))

    def test_a_gaussian_counts_with_its_charge_and_not_without(self):
        assert not ApproximateAccountant.supports(GAUSSIAN)
        assert ApproximateAccountant().compose(CHARGED, 2).spent_delta == Delta("0.04")

    def test_no_epsilon_is_stated_below_the_total_delta(self):
        spent = ApproximateAccountant().compose(CHARGED)
        assert spent.epsilon(Delta("0.019")) is None
        assert spent.epsilon(Delta("0.02")) == Epsilon(1)
        assert spent.delta(Epsilon("0.99")) == Delta(1)

    def test_delta_stops_at_one(self):
        assert ApproximateAccountant().compose(Approximate(Fraction(0), Fraction("0.3")), 9).spent_delta == Delta(1)


class TestZcdp(AccountantContract):
    accountant = ZcdpAccountant

    def test_rho_is_its_formula_and_adds_exactly(self):
        spent = ZcdpAccountant().compose(GaussianNoise(Fraction(50), Sensitivity(2, 2, 1, 2)), 10)
        assert spent.rho == Rho("0.2")
        assert ZcdpAccountant().compose(Pure(Fraction("0.1")), 10).rho == Rho("0.05")
        assert ZcdpAccountant().compose(LAPLACE).rho == Rho("0.125")

    def test_a_bounded_range_costs_a_quarter_of_what_pure_costs(self):
        assert ZcdpAccountant().compose(BoundedRange(Fraction("0.4"))).rho == Rho("0.02")
        assert ZcdpAccountant().compose(Pure(Fraction("0.4"))).rho == Rho("0.08")

    def test_failures_add_to_delta(self):
        spent = ZcdpAccountant().compose(GAUSSIAN).compose(Approximate(Fraction(0), Fraction("1e-6")))
        assert spent.epsilon(Delta("1e-6")) is None
        plain = ZcdpAccountant().compose(GAUSSIAN)
        assert spent.epsilon(Delta("2e-6")) == plain.epsilon(Delta("1e-6"))
        assert spent.delta(Epsilon(1)).value == plain.delta(Epsilon(1)).value + Fraction("1e-6")

    @pytest.mark.parametrize("s2", ["2", "14", "300"])
    @pytest.mark.parametrize("times", [1, 2])
    def test_gaussian_delta_is_never_below_the_truth(self, s2, times):
        spent = ZcdpAccountant().compose(GaussianNoise(Fraction(s2), ONE), times)
        for epsilon in ("0.05", "0.5", "1", "2"):
            true = true_delta([(DiscreteGaussian(Fraction(s2)), 1)] * times, float(Fraction(epsilon)))
            assert float(spent.delta(Epsilon(epsilon)).value) >= true


class TestPld(AccountantContract):
    accountant = PldAccountant
    exact = False

    @pytest.mark.parametrize("s2", ["2", "14", "300"])
    @pytest.mark.parametrize("times", [1, 2])
    def test_gaussian_delta_is_never_below_the_truth_and_near_it(self, s2, times):
        spent = PldAccountant().compose(GaussianNoise(Fraction(s2), ONE), times)
        for epsilon in ("0.05", "0.5", "1", "2"):
            true = true_delta([(DiscreteGaussian(Fraction(s2)), 1)] * times, float(Fraction(epsilon)))
            stated = float(spent.delta(Epsilon(epsilon)).value)
            assert true * (1 - 1e-9) <= stated <= true * 1.01 + 3e-4

    def test_one_gaussian_is_theorem_seven(self):
        noise = DiscreteGaussian.for_one_number(sensitivity=1, epsilon=Fraction(1), delta=Fraction("1e-5"))
        stated = PldAccountant().compose(GaussianNoise(noise.scale, ONE)).epsilon(Delta("1e-5"))
        assert 1 <= stated.value < Fraction("1.0003")

    def test_randomised_response_has_its_closed_form(self):
        # k times epsilon-DP: the truth is a sum over binomial outcomes (Kairouz, Oh, Viswanath 2015)
        k, step = 4, 0.3
        spent = PldAccountant().compose(Pure(Fraction("0.3")), k)
        yes = math.exp(step) / (1 + math.exp(step))
        for epsilon in ("0.2", "0.6", "0.9"):
            true = math.fsum(
                math.comb(k, j) * yes**j * (1 - yes) ** (k - j) * max(0.0, 1 - math.exp(float(epsilon) - (2 * j - k) * step))
                for j in range(k + 1)
            )
            stated = float(spent.delta(Epsilon(epsilon)).value)
            assert true * (1 - 1e-9) <= stated <= true * 1.01 + 3e-4

    def test_it_is_tighter_than_basic_composition_and_never_above_it(self):
        small = LaplaceNoise(Fraction(20), ONE)
        many = PldAccountant().compose(small, 60)
        basic = ApproximateAccountant().compose(small, 60)
        assert many.epsilon(Delta("1e-6")).value < basic.epsilon(Delta("1e-6")).value * Fraction("0.7")
        assert PldAccountant().compose(LAPLACE, 2).epsilon(Delta("1e-30")) <= Epsilon(1)

    def test_a_failure_alone_leaves_no_epsilon_below_it(self):
        spent = PldAccountant().compose(Approximate(Fraction("0.5"), Fraction("1e-6")))
        assert spent.epsilon(Delta("1e-7")) is None
        assert spent.epsilon(Delta("1e-6")) == Epsilon("0.5")

    def test_vectors_enter_by_what_dominates_them(self):
        two_of_one = LaplaceNoise(Fraction(2), Sensitivity(2, 2, 1, 2))
        assert PldAccountant().compose(two_of_one) == PldAccountant().compose(LAPLACE, 2)
        anyhow = LaplaceNoise(Fraction(2), Sensitivity(3, 9, 3, 3))
        assert PldAccountant().compose(anyhow) == PldAccountant().compose(Pure(Fraction(3, 2)))
        assert not PldAccountant.supports(GaussianNoise(Fraction(2), Sensitivity(3, 9, 3, 3)))
        assert PldAccountant.supports(GaussianNoise(Fraction(1 << 40), ONE))

    @pytest.mark.parametrize("shifts", [s for s in product(range(4), repeat=3) if sum(s) == 3])
    def test_a_laplace_vector_is_no_worse_than_randomised_response(self, shifts):
        spent = PldAccountant().compose(LaplaceNoise(Fraction(2), Sensitivity(3, 9, 3, 3)))
        laws = [(DiscreteLaplace(Fraction(2)), shift) for shift in shifts if shift]
        for epsilon in ("0.1", "0.7", "1.2"):
            assert float(spent.delta(Epsilon(epsilon)).value) >= true_delta(laws, float(epsilon)) - 1e-12

    def test_unequal_parts_enter_by_their_largest_epsilons(self):
        parts = Parallel((LAPLACE, Pure(Fraction("0.2")), Pure(Fraction("0.3"))), 2)
        assert PldAccountant().compose(parts) == PldAccountant().compose(Pure(Fraction("0.5"))).compose(Pure(Fraction("0.3")))
        assert not PldAccountant.supports(Parallel((GAUSSIAN, LAPLACE), 1))
