"""What recipients may know: never a figure about few cells, never one that tells them by its digits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privrelease.audit.document.model import Visibility
from privrelease.audit.microdata.utility.rounding import Change, rounded, step_of


@pytest.mark.parametrize(
    ("changed", "cells", "told"),
    [
        (0, 1000, False),  # nothing changed: by the rule no figure leaves
        (9, 1000, False),
        (10, 1000, True),
        (990, 1000, True),
        (991, 1000, False),  # nine are as they were: the complement would tell
        (1000, 1000, True),
        (None, 1000, False),  # not known how many
        (50, 99, False),  # ten cells are more than a tenth
        (0, 0, False),
    ],
)
def test_recipients_get_a_figure_only_where_neither_part_is_few(changed, cells, told):
    figure = Change(changed, cells, 10).figure(Fraction(1, 3), "share")
    assert (figure.rounded is not None) is told
    assert figure.exact.visibility is Visibility.INTERNAL
    assert figure.exact.exact == "1/3"
    if figure.rounded is not None:
        assert figure.rounded.visibility is Visibility.RECIPIENT


@given(st.integers(1, 10**7), st.integers(1, 50), st.data())
def test_a_rounded_share_leaves_at_least_the_minimum_of_counts_open(cells, minimum, data):
    changed = data.draw(st.integers(0, cells))
    figure = Change(changed, cells, minimum).figure(Fraction(changed, cells), "share", least=Fraction(1, 1000)).rounded
    if figure is None:
        return
    told, step = Fraction(figure.exact), step_of(cells, minimum, Fraction(1, 1000))
    assert step * cells >= minimum
    assert abs(told - Fraction(changed, cells)) <= step
    assert told.denominator <= step.denominator
    assert (told == 0) is (changed == 0)
    assert (told == 1) is (changed == cells)


def test_rounding_is_half_away_from_zero():
    half = Fraction(1, 100)
    assert [rounded(Fraction(v), half, share=False) for v in ("0.005", "-0.005", "0.0049")] == [half, -half, 0]


def test_a_float_keeps_nine_digits_and_a_missing_figure_its_reason():
    assert Change(0, 10, 5).figure(0.123456789123).exact.value == 0.123456789
    assert Change(50, 100, 5).figure(None, why="no cell").exact.note == "no cell"
    assert Change(50, 100, 5).figure(None, why="no cell").rounded is None
