from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from privrelease.dp.domains import Bins, CategoryDomain, NumericDomain
from privrelease.errors import PolicyError


@pytest.mark.parametrize(
    ("low", "high", "grid", "code"),
    [
        (None, None, 1, "DP111"),
        (None, 5, 1, "DP111"),
        (5, None, 1, "DP111"),
        (5, 5, 1, "DP112"),
        ("5.0", 5, 1, "DP112"),
        (6, 5, 1, "DP113"),
        ("NaN", 5, 1, "DP114"),
        (Decimal("NaN"), 5, 1, "DP114"),
        (0, "Infinity", 1, "DP114"),
        (0, "-inf", 1, "DP114"),
        (0, "five", 1, "DP114"),
        (0.1, 5, 1, "DP114"),
        (0, float("inf"), 1, "DP114"),
        (True, 5, 1, "DP114"),
        (0, 5, 0, "DP115"),
        (0, 5, -1, "DP115"),
        (0, "5.5", 1, "DP115"),
        ("0.05", 5, "0.1", "DP115"),
        (0, 10**13, 1, "DP116"),
        (-(10**13), 0, 1, "DP116"),
        (0, 1, "1e-13", "DP116"),
    ],
)
def test_a_bad_domain_is_named(low, high, grid, code):
    with pytest.raises(PolicyError) as caught:
        NumericDomain(low, high, grid=grid, column="duration")
    assert caught.value.findings[0].code == code
    assert "duration" in str(caught.value)
    assert caught.value.findings[0].subject == "duration"


def test_missing_bounds_name_both_bounds_and_the_column():
    # case d01
    with pytest.raises(PolicyError, match="lower and upper bound of duration are missing"):
        NumericDomain(None, None, column="duration")


def test_a_domain_is_exact_on_its_grid():
    domain = NumericDomain("50", "400", grid="0.1")
    assert domain.steps == (500, 4000)
    assert domain.centre == 2250
    assert domain.reach == 1750
    assert NumericDomain(-3, 4).centre == 0
    assert NumericDomain(-4, 3).centre == -1
    assert NumericDomain(-4, 3).reach == 4


def test_squares_of_the_largest_domain_fit_128_bits_over_2_to_the_46_rows():
    domain = NumericDomain(-(1 << 40), 1 << 40)
    low, high = domain.steps
    most = max((low - domain.centre) ** 2, (high - domain.centre) ** 2)
    assert most * (1 << 46) < 1 << 127


def test_bins_lie_between_multiples_of_their_width():
    bins = Bins.of_width(NumericDomain(18, 85), 10)
    assert bins.labels[1] == "[20, 30)"
    assert bins.size == 8
    assert Bins.of_width(NumericDomain(20, 80), 10).labels[-1] == "[70, 80]"
    assert Bins.of_width(NumericDomain(-5, 5, grid="0.5"), "2.5").labels == ("[-5, -2.5)", "[-2.5, 0)", "[0, 2.5)", "[2.5, 5]")


@pytest.mark.parametrize("edges", [[], [1], [1, 1], [2, 1], [0, 5, 5, 10]])
def test_bad_edges_are_named(edges):
    with pytest.raises(PolicyError, match="DP117"):
        Bins(edges, column="age")


@pytest.mark.parametrize(
    ("width", "code"), [(0, "DP117"), (-1, "DP117"), ("0.00009999", "DP123"), ("1e-9", "DP123"), ("x", "DP114")]
)
def test_a_bad_width_is_named(width, code):
    with pytest.raises(PolicyError, match=code):
        Bins.of_width(NumericDomain(0, 100), width, column="age")


@pytest.mark.parametrize(("values", "other"), [([], None), (["a", "a"], None), (["a", "other"], "other")])
def test_a_bad_category_domain_is_named(values, other):
    with pytest.raises(PolicyError, match="DP118"):
        CategoryDomain(values, other=other, column="sex")


def test_other_is_a_key_of_its_own():
    assert CategoryDomain(["a", "b"], other="else").size == 3
    assert NumericDomain(0, 1, grid=Fraction(1, 3)).steps == (0, 3)
