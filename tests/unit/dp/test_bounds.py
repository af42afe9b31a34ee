from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.dp.bounds import exp_bracket, float_up, rounded_down, rounded_up

numbers = st.fractions(min_value=-50, max_value=50, max_denominator=10**9)


@given(numbers)
def test_the_bracket_holds_the_exponential_and_is_narrow(x):
    from mpmath import mp, mpf

    mp.dps = 80
    low, high = exp_bracket(x)
    true = mp.exp(mpf(x.numerator) / x.denominator)
    assert mpf(low.numerator) / low.denominator <= true <= mpf(high.numerator) / high.denominator
    assert high / low < 1 + Fraction(1, 10**40)


def test_the_bracket_refuses_what_it_was_not_made_for():
    with pytest.raises(ValueError, match="10"):
        exp_bracket(Fraction(10**6 + 1))


@given(numbers, st.integers(1, 10**6))
def test_rounding_goes_the_way_its_name_says(x, denominator):
    assert rounded_down(x, denominator) <= x <= rounded_up(x, denominator)
    assert rounded_up(x, denominator) - rounded_down(x, denominator) <= Fraction(1, denominator)


@given(st.floats(min_value=1e-30, max_value=1e30))
def test_float_up_never_goes_below_the_float(x):
    assert x <= float_up(x) <= Fraction(x) * (1 + Fraction(1, 10**11))
