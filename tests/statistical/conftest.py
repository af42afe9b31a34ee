"""What the statistical tests share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.dp import rules


@pytest.fixture
def visible_deltas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a delta be up to 1: one that a policy may have is too rare to be seen in the releases that a test can make."""
    monkeypatch.setattr(rules, "_ABSURD_DELTA", Fraction(1))
