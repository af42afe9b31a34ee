from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.units import Delta, Epsilon, Rho

NUMBERS = (
    Fraction(0),
    Fraction(1),
    Fraction(1, 3),
    Fraction(1, 10**30),
    Fraction(22, 7),
    Fraction(1, 3_000_000),
    Fraction(10**40, 3),
)


@pytest.mark.parametrize("unit", [Epsilon, Rho, Delta])
def test_every_unit_reads_the_text_that_it_writes(unit) -> None:
    for number in NUMBERS if unit is not Delta else (one for one in NUMBERS if one <= 1):
        assert unit(str(unit(number))) == unit(number)


@pytest.mark.parametrize("text", ["", "/", "1/0", "1/3/4", "a/b", "nan", "inf", "-1/3", "1/-3", "0x1", "1.5/2"])
def test_what_is_no_exact_number_is_refused(text) -> None:
    with pytest.raises(ValueError, match=r"Epsilon (needs|cannot)"):
        Epsilon(text)
