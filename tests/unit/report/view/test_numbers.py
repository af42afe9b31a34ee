from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.audit.document.model import Figure
from privrelease.report.view.numbers import beside, number, part_of, percent, risk
from privrelease.report.view.page import shown_beside
from privrelease.texts.catalogue import english

SHARES = st.fractions(min_value=0, max_value=1, max_denominator=10**7)


def test_two_of_six_thousand_is_neither_nothing_nor_all():
    assert part_of(2, 6000) == "2 of 6,000 (<0.1 %)"
    assert percent(Fraction(5998, 6000)) == ">99.9 %"


@given(SHARES, st.integers(0, 4))
def test_a_share_reads_as_nothing_or_all_only_if_it_is(share, decimals):
    text = percent(share, decimals)
    assert (text in {"0 %", "0.0 %"}) == (share == 0)
    assert (text in {"100 %", "100.0 %"}) == (share == 1)


@given(SHARES, SHARES)
def test_a_figure_is_never_written_like_a_threshold_it_differs_from(share, threshold):
    figure, limit = beside(share, threshold)
    assert (figure == limit) == (share == threshold) or "<" in figure or ">" in figure


@pytest.mark.parametrize(
    ("share", "threshold", "figure"),
    [("0.2", "0.2", "20 %"), ("0.20001", "0.2", "20.001 %"), ("0.334", "0.333", "33.4 %"), ("0.0004", "0.0005", "0.04 %")],
)
def test_a_figure_has_as_many_decimals_as_tell_it_from_its_threshold(share, threshold, figure):
    assert beside(Fraction(share), Fraction(threshold))[0] == figure


def test_a_difference_beyond_nine_decimals_is_said_in_words():
    assert beside(Fraction(1, 5) + Fraction(1, 10**14), Fraction(1, 5)) == ("just above 20 %", "20 %")


@given(SHARES)
def test_rounding_is_off_by_at_most_half_a_unit_of_the_last_place(share):
    text = percent(share)
    if text[0] not in "<>":
        assert abs(Fraction(text.removesuffix(" %")) - share * 100) <= Fraction(1, 20)


def test_short_numbers_are_exact_and_long_ones_have_four_digits():
    assert [number(Fraction(value)) for value in ("0.05", "7", "1/3", "1234567.891", "-2.5")] == [
        "0.05",
        "7",
        "0.3333",
        "1,234,567.891",
        "-2.5",
    ]


def test_a_risk_of_one_in_k_says_so():
    assert risk(Fraction(1, 12)) == "8.3 % (1 in 12)"
    assert risk(Fraction(3, 4)) == "75 %"


@pytest.mark.parametrize(
    ("share", "threshold", "texts"),
    [
        ("0.0117", "0.0001", ("1.2 %", "0.01 %")),
        ("0.5", "0.0125", ("50 %", "1.25 %")),
        ("0.0124", "0.0122", ("1.24 %", "1.22 %")),
        ("0.0005", "0.0001", ("0.05 %", "0.01 %")),
        ("0.00005", "0.0001", ("<0.01 %", "0.01 %")),
        ("0.00001", "0", ("<0.1 %", "0 %")),
        ("0.99999", "1", (">99.9 %", "100 %")),
    ],
)
def test_a_limit_is_written_as_the_policy_has_it_and_the_figure_on_its_side_of_it(share, threshold, texts):
    assert beside(Fraction(share), Fraction(threshold)) == texts


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_share_is_never_written_on_the_other_side_of_its_limit(share, threshold):
    figure, limit = beside(Fraction(share, 10**6), Fraction(threshold, 10**6))
    bare = [Fraction(text.removesuffix(" %").strip("<>")) for text in (figure, limit)]
    assert bare[1] == Fraction(threshold, 10**4)
    if share == threshold:
        assert figure == limit
    elif figure[0] in "<>":
        reach = (0, bare[0]) if figure[0] == "<" else (bare[0], 100)
        assert reach[0] >= bare[1] if share > threshold else reach[1] <= bare[1]
    else:
        assert (bare[0] > bare[1]) is (share > threshold)
        assert bare[0] != bare[1]


def test_a_limit_beside_a_figure_that_is_not_shown_is_written_as_it_is():
    withheld = Figure.of(None, "share", note="not shown in this edition")
    for share, expected in ((Fraction(3, 10_000), "0.03 %"), (Fraction(1, 50), "2 %")):
        assert shown_beside(withheld, Figure.of(share, "share"), english())[1].text == expected
