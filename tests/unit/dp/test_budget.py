from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privrelease.dp.budget import Budget, Request, split, total
from privrelease.dp.rules import CODES, check_delta, check_epsilon, check_unit
from privrelease.errors import PolicyError
from privrelease.findings import Severity
from privrelease.units import Delta, Epsilon


def test_a_tenth_ten_times_is_one():
    assert total([Budget(Epsilon("0.1"), Delta("1e-7"))] * 10) == Budget(Epsilon(1), Delta("1e-6"))


def test_the_rest_is_shared_exactly():
    parts = split(Budget(Epsilon(1)), [Request("a"), Request("b"), Request("c")])
    assert total(parts).epsilon == Epsilon(1)
    assert parts[0].epsilon.value == Fraction(1, 3)


def test_delta_goes_only_to_those_who_need_it():
    whole = Budget(Epsilon(1), Delta("1e-6"))
    requests = [
        Request("laplace"),
        Request("gaussian", needs_delta=True),
        Request("keys", needs_delta=True, delta=Delta("4e-7")),
    ]
    assert [part.delta for part in split(whole, requests)] == [Delta(0), Delta("6e-7"), Delta("4e-7")]


@given(
    st.fractions(min_value="1/100", max_value=50, max_denominator=1000),
    st.lists(
        st.tuples(st.booleans(), st.fractions(min_value="1/1000", max_value=3, max_denominator=1000), st.booleans()),
        min_size=1,
        max_size=8,
    ),
)
@example(
    Fraction(11, 600),
    [
        (False, Fraction(1, 1000), False),
        (False, Fraction(161, 500), False),
        (True, Fraction(11, 677), False),
        (True, Fraction(1, 545), False),
    ],
)
def test_parts_never_exceed_the_whole(epsilon, asked):
    whole = Budget(Epsilon(epsilon), Delta("1e-6"))
    requests = [
        Request(f"q{i}", Epsilon(x) if fixed else None, None if fixed else x, needs)
        for i, (fixed, x, needs) in enumerate(asked)
    ]
    asked_for = sum((x for fixed, x, _ in asked if fixed), Fraction(0))
    left = epsilon - asked_for
    if left < 0 or (left == 0 and any(not fixed for fixed, _, _ in asked)):
        with pytest.raises(PolicyError, match="DP105"):
            split(whole, requests)
        return
    shares = [x for fixed, x, _ in asked if not fixed]
    if shares and left * min(shares) / sum(shares) < Fraction(1, 1_000_000):
        with pytest.raises(PolicyError, match="DP102"):  # what is left is too little to be a budget
            split(whole, requests)
        return
    parts = split(whole, requests)
    assert total(parts).fits(whole)
    if any(not fixed for fixed, _, _ in asked):
        assert total(parts).epsilon == whole.epsilon


@pytest.mark.parametrize(
    ("whole", "requests", "code"),
    [
        (Budget(Epsilon(1)), [Request("a", Epsilon("0.7")), Request("b", Epsilon("0.4"))], "DP105"),
        (Budget(Epsilon(1)), [Request("a", Epsilon(1)), Request("b")], "DP105"),
        (Budget(Epsilon(1)), [Request("a", share=Fraction(0))], "DP106"),
        (Budget(Epsilon(1)), [Request("a", share=Fraction(-1))], "DP106"),
        (Budget(Epsilon(1)), [Request("a", Epsilon(1), Fraction(1))], "DP106"),
        (Budget(Epsilon(1)), [Request("a", Epsilon(0))], "DP101"),
        (Budget(Epsilon(0)), [Request("a")], "DP101"),
        (Budget(Epsilon("1e-300")), [Request("a")], "DP102"),
        (Budget(Epsilon(1)), [Request("a", share=Fraction(1, 10**9)), Request("b")], "DP102"),
        (Budget(Epsilon(101)), [Request("a")], "DP102"),
        (Budget(Epsilon(1)), [Request("a", needs_delta=True)], "DP103"),
        (Budget(Epsilon(1), Delta("1e-6")), [Request("a", needs_delta=True, delta=Delta("1e-5"))], "DP105"),
        (Budget(Epsilon(1), Delta("1e-6")), [Request("a", needs_delta=True, delta=Delta(0))], "DP103"),
    ],
)
def test_a_bad_split_is_named(whole, requests, code):
    with pytest.raises(PolicyError) as caught:
        split(whole, requests)
    assert caught.value.findings[0].code == code
    assert caught.value.findings[0].hint


def test_a_negative_epsilon_cannot_even_be_written():
    with pytest.raises(ValueError, match="negative"):
        Epsilon("-1")


def test_one_budget_for_count_sum_and_mean():
    # case d03: two draws of 0.6 for a count, a sum, and a mean made of them; four draws at 0.3 where the mean draws its own
    two = split(Budget(Epsilon("1.2")), [Request("count"), Request("sum")])
    four = split(Budget(Epsilon("1.2")), [Request(name) for name in ("count", "sum", "mean.sum", "mean.count")])
    assert {str(part.epsilon) for part in two} == {"0.6"}
    assert {str(part.epsilon) for part in four} == {"0.3"}
    assert total(two).epsilon == total(four).epsilon == Epsilon("1.2")


def test_checks_return_findings_and_a_large_delta_warns_until_it_is_absurd():
    assert check_epsilon(Epsilon("0.5")) == ()
    assert check_delta(Delta(0)) == ()
    assert check_delta(Delta("0.001")) == ()
    for large in ("0.0011", "0.0099999999999999999999"):
        (told,) = check_delta(Delta(large))
        assert (told.code, told.severity) == ("DP107", Severity.WARN)
    for absurd in ("0.01", "0.99"):
        (told,) = check_delta(Delta(absurd))
        assert (told.code, told.severity) == ("DP108", Severity.ERROR)
    assert check_delta(Delta(1))[0].code == "DP104"
    assert check_delta(Delta("1e-31"))[0].code == "DP104"
    assert check_delta(Delta(0), needed_by="threshold")[0].code == "DP103"
    assert check_unit(None)[0].code == check_unit(0)[0].code == "DP121"
    assert check_unit(1) == ()


def test_the_table_of_codes_is_the_list_of_codes():
    from privrelease.dp import rules

    listed = [line.split()[0] for line in (rules.__doc__ or "").splitlines() if line.startswith("DP")]
    assert tuple(listed) == CODES
