"""Which way a change of a policy points where the direction of a number does not tell: the judges of all its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.changes.checks import CHECK_JUDGES
from privrelease.policy.changes.data_changes import FIGURE_JUDGES
from privrelease.policy.changes.directions import EFFECTS, Effect, fits
from privrelease.policy.changes.governance_changes import WORD_JUDGES

if TYPE_CHECKING:
    from privrelease.policy.changes.environment_rules import Changed

__all__ = ["EFFECTS", "Effect", "verdict"]


def verdict(change: Changed) -> Effect | None:
    """Return the effect of a change; None where the direction of its values decides."""
    for pattern, judge in (*FIGURE_JUDGES, *CHECK_JUDGES, *WORD_JUDGES):
        if fits(pattern, change.names) and (found := judge(change)) is not None:
            return found
    return None
