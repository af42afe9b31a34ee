"""Settings of attacks that make a pass meaningless: refused, with the smallest upper end that they reach."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from privrelease.audit.attacks.rates import wilson
from privrelease.policy.rules.attacks import attempts_needed, smallest_upper_end

CASE = "x05-attack-on-a-number-that-was-suppressed"


@pytest.mark.parametrize("attempts", [1, 2, 10, 34, 35, 1000, 100_000])
@pytest.mark.parametrize("confidence", ["0.8", "0.9", "0.95", "0.99"])
def test_the_smallest_upper_end_is_that_of_the_interval_that_the_audit_computes(attempts, confidence):
    found = smallest_upper_end(attempts, Decimal(confidence))
    assert found == pytest.approx(wilson(0, attempts, Fraction(confidence)).high, abs=1e-11)


@pytest.mark.parametrize("limit", ["0.001", "0.01", "0.05", "0.1", "0.3", "0.5", "1"])
def test_one_attempt_less_than_needed_does_not_reach_the_limit(limit):
    needed = attempts_needed(Decimal(limit), Decimal("0.95"))
    assert wilson(0, needed, Fraction("0.95")).high <= float(limit) + 1e-12
    assert needed == 1 or wilson(0, needed - 1, Fraction("0.95")).high > float(limit)


def test_by_hand():
    """1.959964² = 3.841459: 3.841459 / 13.841459 = 0.27753; 3.841459 · 0.9 / 0.1 = 34.57."""
    assert smallest_upper_end(10, Decimal("0.95")) == pytest.approx(0.27753, abs=1e-5)
    assert attempts_needed(Decimal("0.1"), Decimal("0.95")) == 35
