"""Rates, their intervals, and risk: figures of the case, of theory, and of brute force."""

from __future__ import annotations

from fractions import Fraction
from math import comb, isclose

import pytest

from privrelease.audit.attacks.rates import Interval, Rate, advantage, exceeds, residual_risk, wilson, wilson_centre

NINETY_FIVE = Fraction("0.95")


@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    [(100, 100, 0.963007, 1), (20, 100, 0.133367, 0.288829), (0, 10, 0, 0.277533), (1, 1, 0.206549, 1), (98, 98, 0.96228, 1)],
)
def test_wilson_intervals_are_those_of_the_formula(successes, attempts, low, high):
    found = wilson(successes, attempts, NINETY_FIVE)
    assert (round(found.low, 6), round(found.high, 6)) == (low, high)


@pytest.mark.parametrize("attempts", [1, 2, 3, 98, 100, 977, 10**6])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999999"])
def test_an_interval_holds_its_rate_and_stays_within_zero_and_one(attempts, confidence):
    for successes in {0, 1, attempts // 3, attempts - 1, attempts}:
        found = wilson(successes, attempts, Fraction(confidence))
        assert 0 <= found.low <= successes / attempts <= found.high <= 1
        assert found.low <= wilson_centre(successes, attempts, Fraction(confidence)) <= found.high


def test_a_rate_counts_the_attempts_that_were_made():
    assert Rate(98, 98).value == 1
    assert Rate(0, 0).value is None
    assert Rate(0, 0).interval(NINETY_FIVE) is None
    with pytest.raises(ValueError, match="successes"):
        Rate(3, 2)


def test_a_known_rate_has_no_width():
    assert Rate(known=Fraction(1, 4)).interval(NINETY_FIVE) == Interval(0.25, 0.25)


@pytest.mark.parametrize(
    ("main", "control", "value"),
    [
        (Rate(100, 100), Rate(20, 100), Fraction(1)),
        (Rate(7, 10), Rate(4, 10), Fraction(1, 2)),
        (Rate(2, 10), Rate(6, 10), Fraction(-1)),
        (Rate(3, 10), Rate(known=Fraction(0)), Fraction(3, 10)),
    ],
)
def test_risk_is_what_is_had_beyond_the_control(main, control, value):
    risk = residual_risk(main, control, NINETY_FIVE)
    assert risk.value == value
    assert risk.interval.low <= value <= risk.interval.high <= 1


@pytest.mark.parametrize(
    ("main", "control", "why"),
    [
        (Rate(100, 100), Rate(100, 100), "undefined (0/0): the control always succeeds"),
        (Rate(5, 100), Rate(3, 3), "undefined (0/0): the control always succeeds"),
        (Rate(), Rate(3, 10), "undefined (0/0): no attempt could be made"),
        (Rate(3, 10), Rate(), "undefined (0/0): no attempt could be made on the control"),
    ],
)
def test_an_undefined_risk_is_said_to_be_so(main, control, why):
    risk = residual_risk(main, control, NINETY_FIVE)
    assert (risk.value, risk.interval, risk.why) == (None, None, why)


def test_a_control_known_to_be_zero_leaves_the_interval_of_the_main_rate():
    risk, own = residual_risk(Rate(30, 100), Rate(known=Fraction(0)), NINETY_FIVE), wilson(30, 100, NINETY_FIVE)
    assert isclose(risk.interval.low, own.low, abs_tol=1e-9)
    assert isclose(risk.interval.high, own.high, abs_tol=1e-9)


def test_an_advantage_is_the_difference_with_newcombes_interval():
    # Newcombe 1998, table II, example (a): 56/70 against 48/80, method 10: 0.0524 to 0.3339
    found = advantage(Rate(56, 70), Rate(48, 80), NINETY_FIVE)
    assert found.value == Fraction(1, 5)
    assert (round(found.interval.low, 4), round(found.interval.high, 4)) == (0.0524, 0.3339)


@pytest.mark.parametrize(("p", "q"), [(0.9, 0.2), (0.5, 0.45), (0.1, 0.05), (0.02, 0.9)])
def test_intervals_of_risk_cover_about_as_often_as_they_say(p, q):
    # exact: over every outcome of 40 and 60 attempts, weighted by its probability
    risk = (p - q) / (1 - q)
    covered = total = 0.0
    for a in range(41):
        for b in range(60):  # of 60 control successes the risk is undefined
            weight = comb(40, a) * p**a * (1 - p) ** (40 - a) * comb(60, b) * q**b * (1 - q) ** (60 - b)
            found = residual_risk(Rate(a, 40), Rate(b, 60), NINETY_FIVE).interval
            total += weight
            covered += weight * (found.low <= risk <= found.high)
    assert 0.925 < covered / total <= 1


def by_division(main, control):
    """The share of all divisions of the attempts that give the first part so many successes: counted with whole numbers."""
    attempts, successes = main.attempts + control.attempts, main.successes + control.successes
    ways = sum(
        comb(main.attempts, one) * comb(control.attempts, successes - one)
        for one in range(main.successes, min(main.attempts, successes) + 1)
    )
    return Fraction(ways, comb(attempts, successes))


def test_fishers_test_by_hand():
    # 10 of 14 and 0 of 4: C(14, 10) ways of C(18, 10) put all ten successes into the first part: 1001 / 43758
    assert isclose(exceeds(Rate(10, 14), Rate(0, 4)), 1001 / 43758, rel_tol=1e-12)
    # Fisher's tea: 3 of 4 and 1 of 4: (16 + 1) / 70
    assert isclose(exceeds(Rate(3, 4), Rate(1, 4)), 17 / 70, rel_tol=1e-12)


def test_fishers_test_counts_divisions():
    for n in range(6):
        for m in range(6):
            for a in range(n + 1):
                for b in range(m + 1):
                    main, control = Rate(a, n), Rate(b, m)
                    assert isclose(exceeds(main, control), by_division(main, control), rel_tol=1e-9), (main, control)


@pytest.mark.parametrize(
    ("main", "control"), [(Rate(700, 1000), Rate(600, 1000)), (Rate(10, 4000), Rate(9, 3000)), (Rate(999, 1000), Rate(0, 500))]
)
def test_fishers_test_of_many_attempts(main, control):
    assert isclose(exceeds(main, control), by_division(main, control), rel_tol=1e-9)
    assert exceeds(Rate(500_000, 10**6), Rate(500_000, 10**6)) == pytest.approx(0.5, abs=1e-3)


def test_an_arbitrary_division_is_called_beyond_chance_no_more_often_than_said():
    # every division of 18 rows of which 10 are present: the chance of a warning is at most one in 200, where Newcombe's interval had one in 43
    warned = {"exact": Fraction(0), "interval": Fraction(0)}
    for found in range(6, 11):
        main, control = Rate(found, 14), Rate(10 - found, 4)
        chance = Fraction(comb(14, found) * comb(4, 10 - found), comb(18, 10))
        warned["exact"] += chance * (exceeds(main, control) <= 1 / 200)
        warned["interval"] += chance * (advantage(main, control, Fraction("0.99")).interval.low > 0)
    assert warned["exact"] <= Fraction(1, 200) < warned["interval"]
