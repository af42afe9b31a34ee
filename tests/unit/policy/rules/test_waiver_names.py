from __future__ import annotations

import pytest

from privrelease.policy.language.approvals import same_person


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jos\u00e9", "Jose\u0301"),
        ("dpo", "dp\u200bo"),
        ("dpo", "\u2060DPO"),
        ("role:steward", "Steward"),
        ("role: steward", "role:steward"),
        ("Ann  Lee", "ann\u00a0lee"),
    ],
)
def test_a_name_written_in_another_way_is_the_same_person(one, other):
    assert same_person(one, other)
    assert same_person(other, one)


@pytest.mark.parametrize(("one", "other"), [("Ann", "Anna"), ("role:dpo", "role:steward"), ("Jose", "Jos\u00e9")])
def test_another_name_is_another_person(one, other):
    assert not same_person(one, other)
