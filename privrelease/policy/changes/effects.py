"""Which way a change of a policy points where the direction of a number does not tell: as the key's own judges say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privrelease.policy.changes.directions import EFFECTS, Effect

if TYPE_CHECKING:
    from privrelease.policy.changes.environment_rules import Changed

__all__ = ["EFFECTS", "Effect", "verdict"]


def verdict(change: Changed) -> Effect | None:
    """Return the effect of a change; None where the direction of its values decides."""
    effects = (judge(change) for judge in change.declared.judges)
    return next((effect for effect in effects if effect is not None), None)
