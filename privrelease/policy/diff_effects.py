"""Which way a change of a policy points where the direction of a number does not tell: the judges of all its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.diff_checks import CHECK_JUDGES
from privrelease.policy.diff_figures import FIGURE_JUDGES
from privrelease.policy.diff_judging import EFFECTS, Effect, fits
from privrelease.policy.diff_words import WORD_JUDGES

if TYPE_CHECKING:
    from privrelease.policy.tightening import Changed

__all__ = ["EFFECTS", "Effect", "verdict"]


def verdict(change: Changed) -> Effect | None:
    """Return the effect of a change; None where the direction of its values decides."""
    for pattern, judge in (*FIGURE_JUDGES, *CHECK_JUDGES, *WORD_JUDGES):
        if fits(pattern, change.names) and (found := judge(change)) is not None:
            return found
    return None
