"""A policy's days, durations and thresholds are values once it is read, and are written as they were."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from pydantic import TypeAdapter, ValidationError

from privrelease.policy.language.number_values import Risk, exact_decimal
from privrelease.policy.language.values import Day, Duration, Period
from privrelease.policy.output.dump import plain_values
from privrelease.policy.text.nodes import Plain

DAY, DURATION, RISK = (TypeAdapter(kind) for kind in (Day, Duration, Risk))


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        (DAY, "2027-01-15", date(2027, 1, 15)),
        (DURATION, "P10Y", Period("P10Y")),
        (DURATION, "PT36H", Period("PT36H")),
        (RISK, "0.20", Fraction(1, 5)),
        (RISK, "1e-5", Fraction(1, 100_000)),
        (RISK, "1", Fraction(1)),
        (RISK, "0.123456789012345678901234567890123", Fraction(123456789012345678901234567890123, 10**33)),
    ],
)
def test_what_is_written_becomes_a_value_that_is_read_as_itself(kind, written, value):
    found = kind.validate_python(Plain(written))
    assert (type(found), found) == (type(value), value)
    assert kind.validate_python(found) == value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (date(2027, 1, 15), "2027-01-15"),
        (Period("P1Y6M"), "P1Y6M"),
        (Fraction(1, 5), Decimal("0.2")),
        (Fraction(1, 8), Decimal("0.125")),
        (Fraction(1, 10**30), Decimal("1e-30")),
    ],
)
def test_a_value_is_written_as_the_policy_has_it(value, written):
    assert plain_values(value) == written
    assert plain_values([value]) == [written]


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(5, 6), Fraction(1, 7 * 10)])
def test_a_fraction_that_no_decimal_is_cannot_be_a_threshold(number):
    with pytest.raises(ValueError, match="not a finite decimal"):
        exact_decimal(number)
    with pytest.raises(ValidationError):
        RISK.validate_python(number)


@pytest.mark.parametrize(("first", "second"), [("P1D", "P1DT1S"), ("P119M", "P10Y"), ("P1W", "P8D"), ("PT59M", "PT1H")])
def test_a_longer_period_has_more_days(first, second):
    assert Period(first).days < Period(second).days


def test_the_json_form_of_a_duration_is_its_text():
    assert DURATION.dump_python(Period("P5Y"), mode="json") == "P5Y"
    assert DAY.dump_python(date(2027, 1, 15), mode="json") == "2027-01-15"
